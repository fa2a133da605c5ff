"""Rules of Prometheus: alerts and recordings over NVIDIA's metrics become such over AMD's.

Names of alerts and recordings stay, since others go by them; a rule whose expression cannot be converted stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import PurePath

from anywarp.deploy.convert import promql
from anywarp.deploy.convert.model import Change, Finding, Note, Options, Refusal
from anywarp.deploy.convert.quoted import inside
from anywarp.deploy.convert.sweep import MENTION
from anywarp.deploy.convert.yaml_text import YamlText
from anywarp.migrate.formats.outline import Node
from anywarp.migrate.formats.quoted import Style

Callback = Callable[[bytes], Iterable[Finding]]
NAME = "prometheus"
_LABELS = re.compile(r"\$labels\.(\w+)|\.Labels\.(\w+)")
_LOOKS = re.compile(rb"(?m)^[ \t]*groups[ \t]*:")


def wants(path: PurePath, data: bytes) -> bool:
    """Say whether a text is a file of rules."""
    if path.suffix.lower() not in (".yml", ".yaml", ".rules", ".rule"):
        return False
    return bool(_LOOKS.search(data)) and b"expr" in data and b"apiVersion:" not in data


def convert(data: bytes, path: PurePath, options: Options) -> Iterator[Finding]:
    """Yield what becomes of the rules of a file."""
    text = YamlText(data)
    for root in text.documents:
        yield from rules(text, root, options)


def comments(data: bytes) -> Iterable[tuple[int, int]]:
    """Yield the places of the comments."""
    return YamlText(data).comments()


def rules(text: YamlText, holder: Node, options: Options) -> Iterator[Finding]:
    """Yield what becomes of the rules in a mapping with `groups`: a file's, or the specification of a PrometheusRule."""
    found = [rule for group in holder.items("groups") for rule in group.items("rules")]
    recorded = _recorded(text, found, options)
    for group in holder.items("groups"):
        yield from _kept(text, group.get("name"), "the name of a group stays")
    for rule in found:
        yield from _rule(text, rule, options, recorded)


def _recorded(text: YamlText, found: list[Node], options: Options) -> frozenset[str]:
    """Return the names of recordings that are made of NVIDIA's metrics and can be converted, also those made of such recordings."""
    known: set[str] = set()
    readers: dict[str, list[Node]] = {}
    waiting = [rule for rule in found if rule.value("record")]
    for rule in waiting:
        for word in promql.words(rule.value("expr")):
            readers.setdefault(word, []).append(rule)
    while waiting:
        rule = waiting.pop()
        name = rule.value("record")
        if name not in known and _converted(_expression(text, rule, options, known)):
            known.add(name)
            waiting += readers.get(name, [])
    return frozenset(known)


def _converted(findings: Iterable[Finding]) -> bool:
    found = list(findings)
    return any(isinstance(one, Change) for one in found) and not any(isinstance(one, Refusal) for one in found)


def _expression(text: YamlText, rule: Node, options: Options, recorded: Collection[str]) -> Iterator[Finding]:
    node = rule.get("expr")
    if node is not None and node.kind == "scalar":
        yield from within(text, node, lambda inner: promql.expression(inner, options, recorded))


def within(text: YamlText, node: Node, convert: Callback) -> Iterator[Finding]:
    """Yield what a conversion finds in a scalar, whatever its quotes; of one over several lines, in its lines as they stand."""
    start, end, style = _region(text, node)
    yield from inside(text.data, start, end, style, convert)


def _region(text: YamlText, node: Node) -> tuple[int, int, Style]:
    place = text.inner(node) or text.block(node)
    if place is not None:
        return text.byte(place[0]), text.byte(place[1]), "plain"
    start = text.start(node)
    quote = text.text[start : start + 1]
    if quote in ("'", '"'):
        closing = re.compile(r'"((?:[^"\\]|\\.)*)"' if quote == '"' else r"'((?:[^']|'')*)'", re.DOTALL)
        found = closing.match(text.text, start)
        if found:
            return text.byte(found.start(1)), text.byte(found.end(1)), "double" if quote == '"' else "single"
    end = start
    for part in node.text.split():  # plain, over several lines
        end = text.text.find(part, end) + len(part) if text.text.find(part, end) >= 0 else end
    return text.byte(start), text.byte(end), "plain"


def _rule(text: YamlText, rule: Node, options: Options, recorded: Collection[str]) -> Iterator[Finding]:
    findings = list(_expression(text, rule, options, recorded))
    yield from findings
    yield from _kept(text, rule.get("alert"), "the name of an alert stays, since routes and silences go by it")
    record = rule.get("record")
    yield from _kept(text, record, "the name of a recording stays, since others ask for it")
    done = _converted(findings)
    if record is not None and done:
        reason = "the series recorded here have labels as AMD's exporter names them (gpu_id, hostname): whoever reads them must use these"
        yield Note(*text.span(record), reason)
    for _, value in [pair for name in ("annotations", "labels") for pair in _pairs(rule, name)]:
        if value.kind == "scalar" and done:
            yield from within(text, value, _labels)
        if value.kind == "scalar" and "DCGM_" not in value.text:
            yield from _kept(text, value, "words for people")


def _pairs(rule: Node, name: str) -> list[tuple[Node, Node]]:
    node = rule.get(name)
    return node.pairs if node is not None else []


def _kept(text: YamlText, node: Node | None, reason: str) -> Iterator[Finding]:
    if node is not None and node.kind == "scalar":
        start, end = text.span(node)
        if MENTION.search(text.data, start, end):
            yield Note(start, end, reason)


def _labels(data: bytes) -> Iterator[Finding]:
    """Yield what becomes of the labels that the text of an alert names."""
    for found in _LABELS.finditer(data.decode("latin-1")):
        group = 1 if found[1] else 2
        row = promql.label(found[group])
        if row is None:
            continue
        start, end = found.span(group)
        if row["target"]:
            yield Change(start, end, row["target"].encode(), row["reason"], row["source"])
        else:
            help = "name another label in the text"
            yield Refusal(start, end, f"the label {row['name']}: {row['reason']}", help, row["source"], promql.LABEL)
