"""Metrics of NVIDIA's exporters in queries, rules, dashboards and the exporters' own lists, with labels and thresholds.

A rule that asks for a metric nobody exports any more is silent, which is worse than an error: every query must be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from anywarp.catalogue.migration import by
from anywarp.migrate.findings import Use
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.formats.promql import COMPARISONS, Name, NotRead, tree
from anywarp.migrate.formats.promql import Node as Part
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

HINT = re.compile(
    r"\bDCGM_(?:FI|EXP)_\w+|\bnvidia_(?:smi|gpu)_\w*(?:ratio|bytes|celsius|watts|percent|info|hertz|hz|duty_cycle|utilization\w*|memory_\w+|temperature\w*|power\w*|fan\w*|num_devices|processes?)\b"
)
"""Names of metrics that NVIDIA's exporter, nvidia_gpu_exporter and older ones export."""

NVIDIAS = re.compile(r"\b(?:DCGM_(?:FI|EXP)_\w*|nvidia_(?:smi|gpu)_\w+)")
"""Metrics of NVIDIA's exporters, as they are written where nothing but a metric can stand."""

_LISTED = re.compile(r"^\s*DCGM_(?:FI|EXP)_\w+\s*,", re.MULTILINE)

_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}

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
    """Yield metrics, each where it stands, with the threshold it is compared to and the function around it, and NVIDIA's labels.

    Of a text that is no PromQL (prose, a template) only the names are told.
    """
    if not HINT.search(text):
        return
    try:
        root = tree(text)
    except NotRead:
        for found in islice(HINT.finditer(text), MOST):
            yield seen("metric", found[0], found.start())
        return
    parents = {id(child): node for node in root.walk() for child in node.children}
    ours = [(node, name) for node in root.walk() for name in _names(node, node is root)][:MOST]
    for node, name in ours:
        around = parents.get(id(node))
        while around is not None and around.kind in ("subquery", "paren"):
            around = parents.get(id(around))
        function = around.name.text.lower() if around and around.name and around.kind in ("call", "aggregate") else ""
        threshold = _threshold(node, parents, text)
        yield seen("metric", name.text, name.start, threshold=threshold, function=function)
    yield from _labels([node for node, _ in ours], parents)


def _names(node: Part, alone: bool) -> list[Name]:
    """Return the metrics of NVIDIA's that a selector names, by its name, a part of it (recordings) or a pattern.

    A name with nothing around it may be that of anything, a job or an exporter: it must look like a metric.
    """
    if node.kind != "selector":
        return []
    places = [node.name] if node.name else []
    places += [one.value for one in node.matchers if one.label.text == "__name__"]
    pattern = HINT if alone and not node.matchers else NVIDIAS
    return [
        Name(found[0], place.start + found.start(), place.start + found.end())
        for place in places
        for found in pattern.finditer(place.text)
    ]


def _threshold(node: Part, parents: Mapping[int, Part], text: str) -> str:
    """Return the nearest comparison with a number above a part, as `> 85`; "" where there is none."""
    child, parent = node, parents.get(id(node))
    while parent is not None:
        if parent.kind == "binary" and parent.operator in COMPARISONS:
            left, right = parent.children
            other, sign = (
                (right, parent.operator) if child is left else (left, _TURNED.get(parent.operator, parent.operator))
            )
            if other.constant():
                return f"{sign} {text[other.start : other.end]}"
        child, parent = parent, parents.get(id(parent))
    return ""


def _labels(ours: Sequence[Part], parents: Mapping[int, Part]) -> Iterator[Seen]:
    """Yield labels of NVIDIA's that parts with its metrics name, each once, where it stands first."""
    known = by("metric_labels", "name")
    parts: dict[int, Part] = {}
    for node in ours:
        above: Part | None = node
        while above is not None and id(above) not in parts:
            parts[id(above)] = above
            above = parents.get(id(above))
    done: set[str] = set()
    for one in sorted((one for part in parts.values() for one in part.label_names()), key=lambda one: one.start):
        row = known.get(one.text)
        if row is not None and row["conversion"] != "keep" and one.text not in done:
            done.add(one.text)
            yield seen("metric.label", one.text, one.start)


def listed(text: str) -> Iterator[Seen]:
    """Yield the metrics that an exporter is told to export: a table whose first column is a field of DCGM."""
    place = 0
    for line in text.split("\n"):
        found = re.match(r"\s*(DCGM_(?:FI|EXP)_\w+)\s*,", line)
        if found:
            yield seen("metric", found[1], place + found.start(1), use="exported")
        place += len(line) + 1
