"""Dashboards of Grafana: queries over NVIDIA's metrics become such over AMD's, with what hangs on their labels.

Values keep NVIDIA's units, so units of panels stay; thresholds of temperatures are not carried, they are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert import promql
from anywarp.deploy.convert.model import Change, Finding, Note, Options, Refusal
from anywarp.deploy.convert.quoted import inside, value
from anywarp.deploy.convert.sweep import MENTION
from anywarp.migrate.formats.json_text import NotJson, Value, read

NAME = "grafana"
_LEGEND = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_COLUMNS = ("excludeByName", "indexByName", "renameByName", "includeByName")
_WORDS = (
    "title",
    "description",
    "name",
    "label",
    "text",
    "value",
    "uid",
    "id",
    "content",
    "pluginId",
    "url",
    "alias",
    "displayName",
)


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a dashboard."""
    return path.suffix.lower() == ".json" and bool(re.search(rb'"(?:panels|rows)"\s*:', data)) and b'"expr"' in data


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a dashboard."""
    try:
        root = read(data)
    except NotJson as error:
        yield Refusal(0, min(len(data), 1), f"not read as JSON: {error}", "mend the file", "", promql.NOT_READ)
        return
    yield from dashboard(data, root, options)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """JSON has no comments."""
    return ()


def dashboard(data: bytes, root: Value, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a dashboard that was read."""
    for here in root.walk():
        if here.kind == "object":
            yield from _object(data, here, options)
        elif here.kind == "array":
            for one in here.entries:
                if one.kind == "string" and MENTION.search(one.text) and b"DCGM_" not in one.text:
                    yield Note(one.start, one.end, "a word of the dashboard's own, such as a tag")


def _object(data: bytes, here: Value, options: Options) -> Iterator[Finding]:
    expr = here.get("expr")
    if expr is not None and expr.kind == "string":
        yield from _target(data, here, expr, options)
    yield from _variable(data, here, options)
    if here.get("targets") is not None:
        yield from _panel(data, here, options)
    for key, one in here.pairs:
        named = one.kind == "string" and key.text.decode("latin-1") in _WORDS
        if named and MENTION.search(one.text) and b"DCGM_" not in one.text:
            yield Note(one.start, one.end, "words for people, or a name that others go by")


def _query(data: bytes, text: Value, options: Options) -> list[Finding]:
    return list(inside(data, text.start, text.end, "double", lambda inner: promql.expression(inner, options)))


def _converted(findings: list[Finding]) -> bool:
    return any(isinstance(one, Change) for one in findings) and not any(isinstance(one, Refusal) for one in findings)


def _target(data: bytes, here: Value, expr: Value, options: Options) -> Iterator[Finding]:
    findings = _query(data, expr, options)
    yield from findings
    if not _converted(findings):
        return
    for name in ("legendFormat", "titleFormat", "textFormat", "tagKeys"):
        text = here.get(name)
        if text is not None and text.kind == "string":
            yield from inside(data, text.start, text.end, "double", _legend)


def _legend(text: bytes) -> Iterator[Finding]:
    for found in _LEGEND.finditer(text.decode("latin-1")):
        row = promql.label(found[1])
        if row is None:
            continue
        start, end = found.span(1)
        if row["target"]:
            yield Change(start, end, row["target"].encode(), row["reason"], row["source"])
        else:
            help = "name another label in the legend"
            yield Refusal(start, end, f"the label {row['name']}: {row['reason']}", help, row["source"], promql.LABEL)


def _variable(data: bytes, here: Value, options: Options) -> Iterator[Finding]:
    """Yield what becomes of a variable: `definition` and `query` hold the same text, the latter in an object in newer dashboards."""
    kind = here.get("type")
    if kind is None or kind.text not in (b"query", b"custom", b"adhoc", b"textbox"):
        return
    for text in (here.get("definition"), here.get("query"), here.at("query", "query")):
        if text is not None and text.kind == "string" and promql.NVIDIAS.search(text.text.decode("latin-1")):
            yield from _query(data, text, options)


def _panel(data: bytes, here: Value, options: Options) -> Iterator[Finding]:
    targets = here.get("targets")
    exprs = [expr for one in (targets.entries if targets else []) if (expr := one.get("expr")) is not None]
    converted = [expr for expr in exprs if _converted(_query(data, expr, options))]
    if not converted:
        return
    yield from _columns(here)
    names = {name for expr in converted for name in promql.NVIDIAS.findall(value(data, expr.start, expr.end, "double"))}
    for name in sorted(names):
        row = next(iter(promql.alternatives(name, options)), None)
        if row is not None and row["thresholds"] in ("refuse", "review"):
            yield from _thresholds(
                here, name, row["target"], row["reason"], row["source"], row["thresholds"] == "refuse"
            )


def _thresholds(here: Value, name: str, target: str, reason: str, source: str, refuse: bool) -> Iterator[Finding]:
    """Yield the thresholds of a panel that shows a metric whose limits do not carry over."""
    for place in _limits(here):
        if refuse:
            text = f"thresholds for {name} do not carry over to {target}: {reason}"
            yield Refusal(place.start, place.end, text, "set them by AMD's data sheet", source, promql.THRESHOLD)
        else:
            yield Note(place.start, place.end, f"look at the thresholds for {name}: {reason}", source)


def _limits(here: Value) -> Iterator[Value]:
    defaults = here.at("fieldConfig", "defaults")
    if defaults is None or defaults.get("thresholds") is None:
        defaults = here.at("options", "fieldOptions", "defaults") or Value("object", 0)
    steps = defaults.at("thresholds", "steps")
    values = [one.get("value") for one in steps.entries] if steps is not None else []
    coloured = [one for one in values if one is not None and one.text not in (b"null", b"0", b"-Infinity")]
    shown = defaults.at("color", "mode")
    if (
        steps is not None
        and coloured
        and (shown is None or b"threshold" in shown.text or here.get("alert") is not None)
    ):
        yield steps
    old = here.get("thresholds")
    if old is not None and ((old.kind == "string" and old.text) or (old.kind == "array" and old.entries)):
        yield old
    conditions = here.at("alert", "conditions")
    for condition in conditions.entries if conditions is not None else []:
        params = condition.at("evaluator", "params")
        if params is not None:
            yield params


def _columns(here: Value) -> Iterator[Finding]:
    """Yield what becomes of labels that are columns of a table."""
    transformations = here.get("transformations")
    for one in transformations.entries if transformations is not None else []:
        for name in _COLUMNS:
            table = one.at("options", name)
            for key, _ in table.pairs if table is not None else []:
                row = promql.label(key.text.decode("latin-1"))
                if row is not None and row["target"]:
                    yield Change(key.start, key.end, row["target"].encode(), row["reason"], row["source"])
