"""Metrics of NVIDIA's exporters in queries, rules, dashboards and the exporters' own lists, with labels and thresholds.

A rule that asks for a metric nobody exports any more is silent, which is worse than an error: every query must be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anywarp.catalogue.migration import by
from anywarp.migrate.findings import Use
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen
from anywarp.migrate.scan.outline import Node

HINT = re.compile(
    r"\bDCGM_(?:FI|EXP)_\w+|\bnvidia_(?:smi|gpu)_\w*(?:ratio|bytes|celsius|watts|percent|info|hertz|hz|duty_cycle|utilization\w*|memory_\w+|temperature\w*|power\w*|fan\w*|num_devices|processes?)\b"
)
"""Names of metrics that NVIDIA's exporter, nvidia_gpu_exporter and older ones export."""

_COMPARED = re.compile(r"(>=|<=|==|!=|>|<)\s*(?:bool\s+)?(-?\d+(?:\.\d+)?(?:e-?\d+)?)")
_SELECTOR = re.compile(r"\{([^{}]*)\}")
_MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_GROUPED = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)")
_WORD = re.compile(r"\w+")
_FUNCTION = re.compile(r"\b([a-z_]+)\s*(?:by\s*\([^)]*\)\s*)?\($")

_LISTED = re.compile(r"^\s*DCGM_(?:FI|EXP)_\w+\s*,", re.MULTILINE)

MOST = 2000
"""Metrics in one text that are told apart."""


def in_node(lines: Lines, node: Node) -> Iterator[Use]:
    """Yield the metrics and labels that a scalar's text asks for."""
    if node.body:
        piece = Piece(node.text, node.body, node.indent + 1, node.indent)
    else:
        piece = Piece(node.text.replace("\n", " "), node.line, node.column + node.quoted, 0)
    yield from lines.found_in(
        piece, listed(node.text) if node.body and _LISTED.search(node.text) else expression(node.text)
    )


def expression(text: str) -> Iterator[Seen]:
    """Yield metrics, each where it stands, with the threshold it is compared to and the function around it, and NVIDIA's labels."""
    names = list(HINT.finditer(text))[:MOST]
    if not names:
        return
    threshold = _COMPARED.search(text, names[0].end())
    compared = f"{threshold[1]} {threshold[2]}" if threshold else ""
    for found in names:
        around = _FUNCTION.search(text, max(0, found.start() - 80), found.start())
        yield seen("metric", found[0], found.start(), threshold=compared, function=around[1] if around else "")
    if re.search(r"[\w)\]}]\s*[(\[{<>=+*/-]|^\w+$", text) and len(text) < 20_000:
        yield from _labels(text)


def _labels(text: str) -> Iterator[Seen]:
    known = by("metric_labels", "name")
    done: set[str] = set()
    spots = [
        (match[1], part.start(1) + match.start(1))
        for part in _SELECTOR.finditer(text)
        for match in _MATCHER.finditer(part[1])
    ] + [
        (word[0], part.start(1) + word.start()) for part in _GROUPED.finditer(text) for word in _WORD.finditer(part[1])
    ]
    for name, offset in sorted(spots, key=lambda one: one[1]):
        row = known.get(name)
        if row is not None and row["conversion"] != "keep" and name not in done:
            done.add(name)
            yield seen("metric.label", name, offset)


def listed(text: str) -> Iterator[Seen]:
    """Yield the metrics that an exporter is told to export: a table whose first column is a field of DCGM."""
    place = 0
    for line in text.split("\n"):
        found = re.match(r"\s*(DCGM_(?:FI|EXP)_\w+)\s*,", line)
        if found:
            yield seen("metric", found[1], place + found.start(1), use="exported")
        place += len(line) + 1
