"""PromQL: expressions over NVIDIA's metrics become expressions over AMD's with the same values in the same units.

The unit stays NVIDIA's (a percentage is divided, microjoules are divided), so that thresholds, panels and whoever else uses the
result keep their meaning. Where one metric cannot be had, its whole expression stays: half of one would be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NoReturn

from anywarp.catalogue.architectures import architecture
from anywarp.catalogue.migration import Row, by, rows
from anywarp.deploy.convert import ports
from anywarp.deploy.convert.model import Change, Finding, Note, Options, Refusal
from anywarp.migrate.formats.promql import COMPARISONS, Matcher, Name, Node, NotRead, tree
from anywarp.migrate.rulings.answer import Answer
from anywarp.migrate.scan.metrics import NVIDIAS

NO_COUNTERPART = "Y038"
LABEL = "Y039"
THRESHOLD = "Y040"
NOT_READ = "Y041"
_LINEAR = frozenset(
    "rate irate increase delta idelta deriv avg_over_time min_over_time max_over_time sum_over_time last_over_time first_over_time "
    "quantile_over_time stddev_over_time mad_over_time predict_linear holt_winters double_exponential_smoothing".split()
)
_COUNTING = frozenset("count_over_time changes resets present_over_time".split())
_OPEN = re.compile(r"\$|\[\[|^(?:\.[*+])?$")
_SUMMED = ("rate", "irate", "increase")


class Refused(Exception):
    """An expression that stays as it is: where, why, and what a person can do."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


def expression(data: bytes, options: Options, recorded: Collection[str] = ()) -> Iterator[Finding]:
    """Yield what becomes of an expression (bytes of UTF-8); `recorded` are names of recording rules made from converted ones."""
    text = data.decode("latin-1")
    if not NVIDIAS.search(text) and words(text).isdisjoint(recorded):
        return
    try:
        yield from _Conversion(text, tree(text), options, recorded).findings()
    except NotRead as error:
        reason = f"not read as PromQL: {error}"
        yield Refusal(0, len(data), reason, "convert it by hand, by the table of metrics", "", NOT_READ)
    except Refused as no:
        yield no.refusal
        yield Note(0, len(data), "the expression stays whole, because a part of it cannot be converted")


def words(text: str) -> set[str]:
    """Return the words of an expression that may be names of metrics."""
    return set(re.findall(r"[\w:]+", text))


def metric(name: str, options: Options) -> Answer | None:
    """Return what becomes of the bare name of a metric; None for one that is not NVIDIA's. Only a plain renaming is an answer."""
    if not NVIDIAS.fullmatch(name):
        return None
    found = alternatives(name, options)
    if not found or not found[0]["target"]:
        row = found[0] if found else _row(name)
        return Answer("refuse", row["reason"], help=_nearest(row), source=row["source"], code=NO_COUNTERPART)
    row = found[0]
    if len(found) > 1 or row["factor"] != "1" or row["labels"] or row["aggregate"]:
        reason = f"{row['target']} has another unit or shape, and a bare name cannot say so: {row['reason']}"
        return Answer(
            "refuse", reason, help=f"use {row['target']} and calculate", source=row["source"], code=NO_COUNTERPART
        )
    return Answer("replace", row["reason"], row["target"], source=row["source"])


def alternatives(name: str, options: Options) -> tuple[Row, ...]:
    """Return the rows of a metric that serve the target, several where its family is open; none where the family has no such metric."""
    exact = [row for row in rows("metrics") if row["name"] == name] or [_row(name)]
    facts = architecture(options.target.architecture)
    family = facts.metrics if facts is not None else ""
    return tuple(row for row in exact if not family or not row["family"] or family in row["family"].split())


def label(name: str) -> Row | None:
    """Return the row of a label of NVIDIA's exporter, None for labels that are not its own."""
    row = by("metric_labels", "name").get(name)
    return None if row is None or row["conversion"] == "keep" else row


def _row(name: str) -> Row:
    fitting = [row for row in rows("metrics") if row["name"].endswith("*") and name.startswith(row["name"][:-1])]
    return max(fitting, key=lambda row: len(row["name"]))


def _nearest(row: Row) -> str:
    return (
        f"nearest is {row['nearest']}: write the expression anew"
        if row["nearest"]
        else "leave it out, or watch it otherwise"
    )


class _Conversion:
    def __init__(self, text: str, root: Node, options: Options, recorded: Collection[str]) -> None:
        self.text, self.root, self.options, self.recorded = text, root, options, recorded
        self.parents: dict[int, Node] = {}
        self.ours: set[int] = set()  # nodes with one of NVIDIA's metrics below them
        self.found: list[Finding] = []
        self.units: set[tuple[int, int]] = set()
        order = list(root.walk())
        for node in order:
            for child in node.children:
                self.parents[id(child)] = node
        for node in reversed(order):
            if (node.kind == "selector" and self.nvidias(node)) or any(
                id(child) in self.ours for child in node.children
            ):
                self.ours.add(id(node))

    def nvidias(self, node: Node) -> bool:
        name = node.name.text.strip("\"'`") if node.name else ""
        if NVIDIAS.search(name) or name in self.recorded:
            return True
        for matcher in node.matchers:
            if matcher.label.text == "__name__" and NVIDIAS.search(matcher.value.text):
                self.refuse(
                    matcher.value, "metrics are chosen by a pattern of names", "name the metrics one by one", LABEL
                )
        return False

    def refuse(self, place: Node | Name, reason: str, help: str, code: str, source: str = "") -> NoReturn:
        raise Refused(Refusal(place.start, place.end, reason, help, source, code))

    def findings(self) -> list[Finding]:
        for node in self.root.walk():
            if id(node) not in self.ours:
                continue
            if node.kind == "selector":
                self.selector(node)
            elif node.kind == "aggregate":
                self.rename(node.labels)
            elif node.kind == "binary":
                self.binary(node)
            elif node.kind == "call":
                self.call(node)
        return self.found

    def rename(self, labels: list[Name]) -> None:
        for name in labels:
            row = label(name.text)
            if row is None:
                continue
            if not row["target"]:
                self.refuse(
                    name, f"the label {name.text}: {row['reason']}", "group by another label", LABEL, row["source"]
                )
            self.change(name.start, name.end, row["target"], row)

    def change(self, start: int, end: int, replacement: str, row: Row) -> None:
        self.found.append(Change(start, end, replacement.encode("latin-1"), row["reason"], row["source"]))

    def binary(self, node: Node) -> None:
        left, right = node.children
        if node.operator in COMPARISONS:
            for side, other in ((left, right), (right, left)):
                if id(side) in self.ours and other.constant():
                    self.threshold(side, other)
        both = id(left) in self.ours and id(right) in self.ours
        if both:
            self.rename(node.labels)
        else:
            for name in node.labels:
                if label(name.text) is not None:
                    reason = f"the label {name.text} is matched with metrics that are not NVIDIA's"
                    self.refuse(name, reason, "bring the labels together by label_replace", LABEL)
        one = {"left": right, "right": left}.get(node.many)
        if one is not None and id(one) in self.ours:
            self.rename(node.kept)

    def threshold(self, side: Node, other: Node) -> None:
        for node in side.walk():
            if node.kind != "selector" or node.name is None or not NVIDIAS.fullmatch(node.name.text):
                continue
            for row in alternatives(node.name.text, self.options)[:1]:
                if row["thresholds"] == "refuse":
                    reason = f"the threshold does not carry over: {row['target']} is {row['reason']}"
                    help = f"use {row['target']} with a threshold of AMD's data sheet"
                    self.refuse(other, reason, help, THRESHOLD, row["source"])
                if row["thresholds"] == "review":
                    self.found.append(
                        Note(other.start, other.end, f"look at the threshold: {row['reason']}", row["source"])
                    )

    def call(self, node: Node) -> None:
        name = node.name.text.lower() if node.name else ""
        if name == "label_values":
            self.rename([one.name for one in node.children[1:2] if one.kind == "selector" and one.name])
        if name not in ("label_replace", "label_join") or len(node.children) < 3:
            return
        rest = node.children[2:]
        if (
            name == "label_replace"
            and len(rest) == 3
            and rest[1].name
            and rest[1].name.text[1:-1] == "instance"
            and rest[2].name
        ):
            self.port(rest[2].name)
        for index, part in enumerate(node.label_texts()):
            row = label(part.text)
            if row is None:
                continue
            if not index or not row["target"]:
                reason = f"the label {row['name']} is made or read here, and AMD's exporter has another of that meaning"
                self.refuse(part, reason, "write the expression anew", LABEL, row["source"])
            self.change(part.start, part.end, row["target"], row)

    def selector(self, node: Node) -> None:
        name = node.name.text.strip("\"'`") if node.name else ""
        if name in self.recorded and not NVIDIAS.fullmatch(name):
            self.matchers(node, "")
            return
        if ":" in name:
            reason = f"{name} is recorded by a rule that is not converted with this file"
            self.refuse(node, reason, "convert the rule that records it, and then this expression by hand", NOT_READ)
        if node.name is None or not NVIDIAS.fullmatch(name) or node.name.text != name:
            self.refuse(node, "the metric's name is put together or quoted", "name the metric", NOT_READ)
        chosen = alternatives(name, self.options)
        if not chosen:
            everyone = ", ".join(row["target"] for row in rows("metrics") if row["name"] == name)
            reason = f"{everyone} is not reported by {self.options.target.architecture}"
            self.refuse(node, reason, "leave it out, or watch it otherwise", NO_COUNTERPART)
        for row in chosen:
            if not row["target"]:
                self.refuse(node, f"{name}: {row['reason']}", _nearest(row), NO_COUNTERPART, row["source"])
        self.unit(node, chosen)

    def unit(self, node: Node, chosen: tuple[Row, ...]) -> None:
        whole, factors, first = node, True, next(iter(chosen))
        parent = self.parents.get(id(node))
        function = parent.name.text.lower() if parent is not None and parent.kind == "call" and parent.name else ""
        complex_ = len(chosen) > 1 or bool(first["aggregate"])
        if node.ranged:
            if parent is None or function not in _LINEAR | _COUNTING:
                if complex_ or first["factor"] != "1":
                    self.refuse(
                        node,
                        f"{function or 'a bare range'} of a metric with another unit or shape",
                        "write it anew",
                        NOT_READ,
                    )
            elif complex_ or first["factor"] != "1":
                whole, factors = parent, function in _LINEAR
        elif function in ("absent", "timestamp", "label_values"):
            if complex_ and function == "timestamp":
                self.refuse(node, "the time of a metric that takes several series", "write it anew", NOT_READ)
            factors = False
            if function == "label_values" and complex_:
                self.any_of(node, chosen)
                return
        if not complex_ and (first["factor"] == "1" or not factors):
            self.plainly(node, first, function)
        else:
            self.widely(node, whole, chosen, factors, function)

    def plainly(self, node: Node, row: Row, function: str) -> None:
        assert node.name is not None
        self.change(node.name.start, node.name.end, row["target"], row)
        self.matchers(node, row["labels"])
        if row["type"] == "counter" and row["target_type"] == "gauge" and function in _SUMMED:
            reason = f"{row['target']} counts up and is exported as a gauge: {function} reads it all the same"
            self.found.append(Note(node.start, node.end, reason, row["source"]))

    def any_of(self, node: Node, chosen: tuple[Row, ...]) -> None:
        """Write a selector of several metrics by a pattern of names, where only a selector may stand."""
        assert node.name is not None
        names = "|".join(dict.fromkeys(row["target"] for row in chosen))
        added = f'__name__=~"{names}"' if "|" in names else ""
        if not added:
            self.plainly(node, chosen[0], "")
            return
        self.change(node.name.start, node.name.end, "" if node.braces else f"{{{added}}}", chosen[0])
        if node.braces:
            self.matchers(node, added)

    def widely(self, node: Node, whole: Node, chosen: tuple[Row, ...], factors: bool, function: str) -> None:
        if (whole.start, whole.end) in self.units or any(
            other is not node and id(other) in self.ours and other.kind == "selector" for other in whole.walk()
        ):
            self.refuse(whole, "two metrics with other units in one call", "write it anew", NOT_READ)
        first = next(iter(chosen))
        self.units.add((whole.start, whole.end))
        parts = [self.one(node, whole, row, factors, function) for row in chosen]
        text = " or ".join(parts)
        bare = len(parts) == 1 and not (factors and first["factor"] != "1")
        if not bare and self.bound(whole):
            text = f"({text})"
        reason = "; ".join(dict.fromkeys(row["reason"] for row in chosen))
        if factors and first["factor"] != "1":
            reason += f" ({first['target_unit']} here, {first['unit']} there: the result keeps NVIDIA's unit)"
        self.found.append(Change(whole.start, whole.end, text.encode("latin-1"), reason, first["source"]))

    def bound(self, node: Node) -> bool:
        parent = self.parents.get(id(node))
        return (parent is not None and parent.kind in ("binary", "unary", "subquery")) or self.text[
            node.end :
        ].lstrip()[:1] == "["

    def one(self, node: Node, whole: Node, row: Row, factors: bool, function: str) -> str:
        """Write one alternative: the call around the selector, its series brought together, its value in NVIDIA's unit."""
        inner = _Conversion(self.text, self.root, self.options, self.recorded)
        inner.plainly(node, row, "")
        text = _applied(self.text, whole.start, whole.end, inner.found)
        if row["aggregate"] and function not in ("absent", "label_values"):
            text = f"{row['aggregate']} ({text})"
        return _scaled(text, row["factor"]) if factors else text

    def matchers(self, node: Node, added: str) -> None:
        for matcher in node.matchers:
            self.matcher(matcher)
        if not added:
            return
        assert node.name is not None
        if node.braces is None:
            self.found.append(
                Change(node.name.end, node.name.end, f"{{{added}}}".encode(), "one metric for all clocks", "")
            )
            return
        inside = self.text[node.braces[0] + 1 : node.braces[1] - 1].strip()
        text = added + (", " if inside else "")
        place = node.braces[0] + 1
        self.found.append(Change(place, place, text.encode(), "names which of its series is meant", ""))

    def port(self, text: Name) -> None:
        """Change the port of NVIDIA's exporter in a matcher or a pattern on `instance` to that of AMD's."""
        for found in ports.IN_TEXT.finditer(self.text[text.start : text.end]):
            start = text.start + found.start()
            self.found.append(Change(start, start + len(found[0]), ports.AMDS.encode(), ports.REASON, ports.SOURCE))

    def matcher(self, matcher: Matcher) -> None:
        name, value = matcher.label.text, matcher.value.text[1:-1]
        given = self.options.mapping.get((name, value))
        if given is not None:
            self.found.append(
                Change(matcher.label.start, matcher.label.end, (given[0] or name).encode(), "as given by --map", "")
            )
            self.found.append(
                Change(matcher.value.start + 1, matcher.value.end - 1, given[1].encode(), "as given by --map", "")
            )
            return
        row = label(name)
        if name == "instance":
            self.port(matcher.value)
        if row is None:
            if re.search(r"(?i)dcgm|nvidia", value):
                reason = f"{name} names what scrapes NVIDIA's exporter"
                self.refuse(matcher.value, reason, f"give its new value: --map {name}={value}:NEW", LABEL)
            return
        if not row["target"]:
            self.refuse(
                matcher.label, f"the label {name}: {row['reason']}", "choose by another label", LABEL, row["source"]
            )
        if row["values"] == "refuse" and not _OPEN.search(value):
            self.refuse(
                matcher.value, row["reason"], f"give its new value: --map {name}={value}:NEW", LABEL, row["source"]
            )
        self.change(matcher.label.start, matcher.label.end, row["target"], row)


def _applied(text: str, start: int, end: int, found: list[Finding]) -> str:
    out, place = "", start
    for change in sorted((one for one in found if isinstance(one, Change)), key=lambda one: (one.start, one.end)):
        out += text[place : change.start] + change.replacement.decode("latin-1")
        place = change.end
    return out + text[place:end]


def _scaled(text: str, factor: str) -> str:
    over, _, under = factor.partition("/")
    text = text if over == "1" else f"{text} * {over}"
    return f"{text} / {under}" if under else text


def renamed_labels() -> Mapping[str, Row]:
    """Return the rows of the labels that have another name, for texts that name labels (annotations, legends)."""
    return {row["name"]: row for row in rows("metric_labels") if row["conversion"] != "keep"}
