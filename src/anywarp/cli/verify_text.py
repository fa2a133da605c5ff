"""What `anywarp verify` prints: the verdict, its cause, and the places that differ most."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from anywarp.check.numbers.results import Comparison, Layer, Report
from anywarp.cli.tables import table

_STYLES = {"pass": "green", "warn": "yellow", "fail": "bold red"}
_HEAD = ("", "place", "call", "alone", "in a row", "bound", "largest difference")


def show(report: Report, top: int) -> None:
    """Print a report: with colours and rules in a terminal, as plain lines elsewhere."""
    console = Console(soft_wrap=True, highlight=False, no_color=not sys.stdout.isatty())
    console.print(Text(f"{report.grade}: {report.reason}", style=_STYLES[report.grade] if sys.stdout.isatty() else ""))
    if report.first is not None:
        console.print(Text(f"first: {report.first.name}, call {report.first.call}"))
    if report.cause is not None:
        place = f" ({report.cause.place})" if report.cause.place else ""
        console.print(Text(f"cause: {report.cause.name}{place}: {report.cause.evidence}"))
    lines = [_line(layer) for layer in _worst(report)[:top]]
    table("", _HEAD, lines, left=(0, 1, 5), styles=_STYLES)
    for side, what in report.about.items():
        console.print(Text(f"{side}: {what}"))
    for note in report.notes:
        console.print(Text(f"note: {note}"))


def _deciding(layer: Layer) -> Comparison | None:
    return layer.isolated if layer.isolated is not None else layer.propagated


def _worst(report: Report) -> list[Layer]:
    """Return the layers, worst first; of equals, the one that was computed first."""
    order = ["fail", "warn", "pass"]

    def rank(layer: Layer) -> tuple[int, float]:
        found = _deciding(layer)
        return (len(order), 0.0) if found is None else (order.index(found.grade), -found.relative)

    return sorted(report.layers, key=rank)


def _line(layer: Layer) -> tuple[str, ...]:
    found = _deciding(layer)
    slot = "" if layer.slot == "0" else f" [{layer.slot}]"
    return (
        found.grade if found is not None else "",
        layer.name + slot,
        str(layer.call),
        _share(layer.isolated),
        _share(layer.propagated),
        found.bound if found is not None else "",
        f"{found.largest:.3g}" if found is not None else layer.note,
    )


def _share(found: Comparison | None) -> str:
    """Return the largest difference in parts of what is allowed."""
    return "-" if found is None else f"{found.relative:.3g} of allowed"
