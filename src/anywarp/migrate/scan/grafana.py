"""Dashboards of Grafana: the queries of panels, variables and annotations that ask for NVIDIA's metrics."""

from __future__ import annotations

import contextlib
import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import PurePath

from anywarp.catalogue.migration import by
from anywarp.migrate.findings import Use
from anywarp.migrate.formats.json_text import NotJson, Value, read
from anywarp.migrate.formats.quoted import meant
from anywarp.migrate.scan import metrics
from anywarp.migrate.scan.lines import Lines, Piece, Seen, seen

_HINT = re.compile(rb"DCGM_(?:FI|EXP)_|nvidia_(?:smi|gpu)_")
_FIELDS = ("expr", "query", "definition", "metric", "rawQuery", "target")
_TEXT = re.compile(rf'"({"|".join(_FIELDS)})"\s*:\s*"((?:[^"\\]|\\.)*)"')
_LOOSE = re.compile(r"'([^'\n]*)'|\|\|\|(.*?)\|\|\|", re.DOTALL)
_SHOWN = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_WIDE = re.compile(rb"[\xc0-\xff][\x80-\xbf]+")


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
    if path.suffix.lower() == ".json":
        text = lines.text.encode("utf-8", "replace")
        with contextlib.suppress(NotJson):
            found = _dashboard(text, read(text))
            yield from lines.found_in(Piece(lines.text), _in_characters(text, found))
            return
    yield from lines.found_in(Piece(lines.text), _jsonnet(lines.text))


def _dashboard(text: bytes, root: Value) -> Iterator[Seen]:
    """Yield what the queries of a dashboard ask for, each with the title of its panel; places are bytes."""
    stack: list[tuple[Value, str]] = [(root, "")]
    while stack:
        here, panel = stack.pop()
        title = here.get("title")
        if title is not None and title.kind == "string":
            panel = meant(title.text, "double")[0].decode("utf-8", "replace")
        asked = [one for name in _FIELDS if (query := _string(here, name)) for one in _query(text, query, name, panel)]
        yield from asked
        legend = _string(here, "legendFormat")
        if asked and legend is not None:
            yield from _legend(legend)
        stack.extend((value, panel) for _, value in reversed(here.pairs))
        stack.extend((value, panel) for value in reversed(here.entries))


def _string(here: Value, name: str) -> Value | None:
    value = here.get(name)
    return value if value is not None and value.kind == "string" else None


def _query(text: bytes, query: Value, field: str, panel: str) -> Iterator[Seen]:
    if not _HINT.search(query.text):
        return
    shown, places = meant(query.text, "double")
    for one in metrics.expression(shown.decode("latin-1")):
        details = (*one.details, ("panel", panel), ("field", field)) if panel else one.details
        yield Seen(one.subject, one.name, query.start + places[one.offset], details)


def _legend(legend: Value) -> Iterator[Seen]:
    """Yield labels of NVIDIA's that the legend of a query shows: `GPU {{gpu}}`."""
    known = by("metric_labels", "name")
    for found in _SHOWN.finditer(legend.text.decode("latin-1")):
        row = known.get(found[1])
        if row is not None and row["conversion"] != "keep":
            yield seen("metric.label", found[1], legend.start + found.start(1), field="legendFormat")


def _in_characters(text: bytes, found: Iterator[Seen]) -> Iterator[Seen]:
    """Yield what was seen at bytes of a text at its characters."""
    wide = [] if text.isascii() else [one.span() for one in _WIDE.finditer(text)]
    starts = [start for start, _ in wide]
    more = list(itertools.accumulate((end - start - 1 for start, end in wide), initial=0))
    for one in found:
        yield Seen(one.subject, one.name, one.offset - more[bisect_left(starts, one.offset)], one.details)


def _jsonnet(text: str) -> Iterator[Seen]:
    """Yield what quoted texts ask for in Jsonnet, and in JSON that is none."""
    for found in itertools.chain(_TEXT.finditer(text), _LOOSE.finditer(text)):
        group = 2 if found[1] is None or found.re is _TEXT else 1
        if metrics.HINT.search(found[group]):
            for one in metrics.expression(found[group]):
                yield Seen(one.subject, one.name, found.start(group) + one.offset, one.details)
