"""Dashboards of Grafana: the queries of panels, variables and annotations that ask for NVIDIA's metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.catalogue.migration import by
from anywarp.migrate.findings import Use
from anywarp.migrate.scan import metrics
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

_HINT = re.compile(rb"DCGM_(?:FI|EXP)_|nvidia_(?:smi|gpu)_")
_TEXT = re.compile(r'"(expr|query|definition|metric|rawQuery|legendFormat|target)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_TITLE = re.compile(r'"title"\s*:\s*"((?:[^"\\]|\\.)*)"')
_SHOWN = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_NEAR = 1500
"""Characters between a query and the legend that belongs to it, at most."""
_ESCAPED = re.compile(r'\\(["\\/])')


def wants(path: PurePath, head: bytes) -> bool:
    """Tell whether a file is JSON that may be a dashboard, or a list of metrics for NVIDIA's exporter."""
    name = path.name.lower()
    return name.endswith((".json", ".jsonnet", ".libsonnet")) or (name.endswith(".csv") and b"DCGM_F" in head)


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the metrics and labels of every query, with the panel that it belongs to."""
    if not _HINT.search(data):
        return
    lines = Lines(data)
    if path.suffix.lower() == ".csv":
        yield from lines.found_in(Piece(lines.text), metrics.listed(lines.text))
        return
    titles = [(found.start(), found[1]) for found in _TITLE.finditer(lines.text)]
    yield from lines.found_in(Piece(lines.text), _queries(lines.text, titles))
    if path.suffix.lower() != ".json":
        yield from lines.found_in(Piece(lines.text), _loose(lines.text))


def _queries(text: str, titles: list[tuple[int, str]]) -> Iterator[Seen]:
    at, asked = -1, -_NEAR
    for found in _TEXT.finditer(text):
        if found[1] == "legendFormat" and found.start() - asked < _NEAR:
            yield from _legend(found[2], found.start(2))
        if "DCGM_" not in found[2] and "nvidia_" not in found[2]:
            continue
        asked = found.start()
        while at + 1 < len(titles) and titles[at + 1][0] < found.start():
            at += 1
        panel = _panel(text, titles, at, found.start())
        shown = _ESCAPED.sub(r" \1", found[2])  # as long as what is written, so that places stay
        for one in metrics.expression(shown):
            details = (*one.details, ("panel", panel), ("field", found[1])) if panel else one.details
            yield Seen(one.subject, one.name, found.start(2) + one.offset, details)


def _legend(text: str, offset: int) -> Iterator[Seen]:
    """Yield labels of NVIDIA's that the legend of a query shows: `GPU {{gpu}}`."""
    known = by("metric_labels", "name")
    for found in _SHOWN.finditer(text):
        row = known.get(found[1])
        if row is not None and row["conversion"] != "keep":
            yield seen("metric.label", found[1], offset + found.start(1), field="legendFormat")


def _panel(text: str, titles: list[tuple[int, str]], at: int, place: int) -> str:
    """Return the title of the panel around a query: the next one after its targets, as Grafana writes keys in alphabetical order."""
    following = titles[at + 1] if at + 1 < len(titles) else None
    if following is not None and following[0] - place < 3000:
        return following[1]
    return titles[at][1] if at >= 0 else ""


def _loose(text: str) -> Iterator[Seen]:
    quoted = re.compile(r"'([^'\n]*)'|\|\|\|(.*?)\|\|\|", re.DOTALL)
    for found in quoted.finditer(text):
        group = 1 if found[1] is not None else 2
        if metrics.HINT.search(found[group]):
            for one in metrics.expression(found[group]):
                yield Seen(one.subject, one.name, found.start(group) + one.offset, one.details)
