"""PromQL with places: the tree of an expression in which every node knows where it stands in the text.

Rewriting keeps the rest of the text as it is, which takes places; and dashboards write `$interval` and `${name}` where PromQL has
numbers, names and durations, which parsers of PromQL refuse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

MOST_DEPTH = 80
MOST_TEXT = 100_000
"""Characters of an expression that is read at all."""

_VARIABLE = r"(?:\$\{[^}\s]*\}|\$[A-Za-z_]\w*|\[\[\w+(?::\w+)?\]\])"
_TOKEN = re.compile(
    rf"""(?P<blank>(?:\s|\#[^\n]*)+)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+(?:ms|[smhdwy]))+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>(?:[A-Za-z_:]|{_VARIABLE})(?:[\w:]|{_VARIABLE})*)
    |(?P<sign>==|!=|>=|<=|=~|!~|[-+*/%^<>=(){{}},@\[\]])""",
    re.VERBOSE,
)
_RANGE = re.compile(r"\[((?:\[\[\w+\]\]|[^\[\]])*)\]")
_PRECEDENCE = {
    **dict(zip("or and unless + - * / % atan2 ^".split(), (1, 2, 2, 4, 4, 5, 5, 5, 5, 7), strict=True)),
    **dict.fromkeys(("==", "!=", ">", "<", ">=", "<="), 3),
}
COMPARISONS = ("==", "!=", ">", "<", ">=", "<=")
_AGGREGATES = "sum avg count min max group stddev stdvar topk bottomk count_values quantile limitk limit_ratio".split()
Kind = Literal["selector", "call", "aggregate", "binary", "unary", "paren", "subquery", "literal", "variable"]


class NotRead(ValueError):
    """A text that is no expression, or one that is not read."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name, a label or a string, and where it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Matcher:
    """`label="value"`; the value with its quotes."""

    label: Name
    sign: str
    value: Name


@dataclass(slots=True)
class Node:
    """A part of an expression. A selector ends with its range and modifiers; `braces` is where its matchers stand, or nothing."""

    kind: Kind
    start: int
    end: int
    children: list[Node] = field(default_factory=list["Node"])
    name: Name | None = None
    matchers: list[Matcher] = field(default_factory=list[Matcher])
    braces: tuple[int, int] | None = None
    ranged: bool = False
    modified: bool = False  # has an offset or a time
    labels: list[Name] = field(default_factory=list[Name])  # of by and without, of on and ignoring
    kept: list[Name] = field(default_factory=list[Name])  # of group_left and group_right
    many: Literal["", "left", "right"] = ""
    operator: str = ""

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, in the order of the text."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def label_texts(self) -> list[Name]:
        """Return the labels that a call names in texts, without their quotes: label_replace and label_join make the first of the others."""
        name = self.name.text.lower() if self.kind == "call" and self.name else ""
        if name not in ("label_replace", "label_join"):
            return []
        places = (1, 3) if name == "label_replace" else (1, *range(3, len(self.children)))
        texts = [
            self.children[at].name for at in places if at < len(self.children) and self.children[at].kind == "literal"
        ]
        return [Name(one.text[1:-1], one.start + 1, one.end - 1) for one in texts if one and one.text[0] in "\"'`"]

    def label_names(self) -> list[Name]:
        """Return the labels that this part names by itself: in braces, in what it groups or matches by, as Grafana's label_values asks for."""
        found = [one.label for one in self.matchers] + self.labels + self.kept
        if self.kind == "call" and self.name and self.name.text.lower() == "label_values":
            found += [one.name for one in self.children[1:2] if one.kind == "selector" and one.name]
        return found + self.label_texts()

    def constant(self) -> bool:
        """Tell whether nothing is selected here: a number, perhaps calculated."""
        return all(node.kind not in ("selector", "variable") for node in self.walk())


def tree(text: str) -> Node:
    """Read an expression; NotRead where it is none. Takes linear time."""
    if len(text) > MOST_TEXT:
        raise NotRead(f"an expression of more than {MOST_TEXT} characters")
    reader = _Reader(text)
    node = reader.expression(0)
    if reader.kind:
        raise NotRead(f"{reader.word!r} where the expression should end")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.place = 0
        self.last = 0  # where the last token ended
        self.kind, self.word, self.start = "", "", 0
        self.step(0)

    def step(self, place: int) -> None:
        """Read the token at a place, white space and comments left out."""
        found = _TOKEN.match(self.text, place)
        if found is not None and found.lastgroup == "blank":
            place = found.end()
            found = _TOKEN.match(self.text, place)
        if found is None:
            if place < len(self.text):
                raise NotRead(f"{self.text[place]!r} is no part of PromQL")
            self.kind, self.word, self.start, self.place = "", "", place, place
            return
        self.kind, self.word, self.start, self.place = str(found.lastgroup), found[0], found.start(), found.end()

    def at(self, word: str) -> bool:
        """Tell whether the current token is this word or sign."""
        return self.word == word

    def take(self, word: str = "") -> Name:
        """Return the current token, which must be `word` where one is given, and go on."""
        if not self.kind or (word and self.word != word):
            raise NotRead(f"{self.word or 'the end'!r} where {word or 'more'!r} should stand")
        token = Name(self.word, self.start, self.place)
        self.last = self.place
        self.step(self.place)
        return token

    def expression(self, least: int) -> Node:
        """Read an expression of operators that bind at least as strongly as `least`."""
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise NotRead(f"more than {MOST_DEPTH} parts inside each other")
        left = self.unary()
        while True:
            operator = self.word.lower() if self.kind == "name" else self.word
            strength = _PRECEDENCE.get(operator, 0) if self.kind in ("sign", "name") else 0
            if not strength or strength < least:
                break
            left = self.binary(left, operator, strength)
        self.depth -= 1
        return left

    def binary(self, left: Node, operator: str, strength: int) -> Node:
        self.take()
        node = Node("binary", left.start, left.end, operator=operator)
        if self.word.lower() == "bool":
            self.take()
        if self.word.lower() in ("on", "ignoring"):
            self.take()
            node.labels = self.names()
        if self.word.lower() in ("group_left", "group_right"):
            node.many = "left" if self.take().text.lower() == "group_left" else "right"
            node.kept = self.names() if self.at("(") else []
        right = self.expression(strength if operator == "^" else strength + 1)
        node.children, node.end = [left, right], right.end
        return node

    def unary(self) -> Node:
        if self.kind == "sign" and self.word in "+-":
            start = self.take().start
            inner = self.expression(6)
            return Node("unary", start, inner.end, [inner])
        return self.postfixed(self.primary())

    def primary(self) -> Node:
        if self.at("("):
            start = self.take().start
            inner = self.expression(0)
            return Node("paren", start, self.take(")").end, [inner])
        if self.at("{"):
            return self.selector(None)
        if self.kind in ("number", "string"):
            token = self.take()
            return Node("literal", token.start, token.end, name=token)
        if self.kind != "name":
            raise NotRead(f"{self.word or 'the end'!r} where a value should stand")
        name = self.take()
        if name.text.lower() in _AGGREGATES and self.word.lower() in ("(", "by", "without"):
            return self.aggregate(name)
        if self.at("("):
            node = Node("call", name.start, name.end, name=name)
            self.arguments(node)
            return node
        if name.text[0] in "$[" and re.fullmatch(_VARIABLE, name.text) and not self.at("{"):
            return Node("variable", name.start, name.end, name=name)
        if name.text.lower() in ("inf", "nan"):
            return Node("literal", name.start, name.end, name=name)
        return self.selector(name)

    def aggregate(self, name: Name) -> Node:
        node = Node("aggregate", name.start, name.end, name=name)
        if not self.at("("):
            node.operator = self.take().text.lower()
            node.labels = self.names()
        self.arguments(node)
        if self.word.lower() in ("by", "without") and not node.operator:
            node.operator = self.take().text.lower()
            node.labels = self.names()
            node.end = self.last
        return node

    def arguments(self, node: Node) -> None:
        self.take("(")
        while not self.at(")"):
            node.children.append(self.expression(0))
            if not self.at(")"):
                self.take(",")
        node.end = self.take(")").end

    def names(self) -> list[Name]:
        self.take("(")
        found: list[Name] = []
        while not self.at(")"):
            if self.kind not in ("name", "string"):
                raise NotRead(f"{self.word!r} where a label should stand")
            found.append(self.take())
            if not self.at(")"):
                self.take(",")
        self.take(")")
        return found

    def selector(self, name: Name | None) -> Node:
        node = Node("selector", name.start if name else self.start, name.end if name else self.start, name=name)
        if not self.at("{"):
            return node
        start = self.take().start
        while not self.at("}"):
            if self.kind not in ("name", "string"):
                raise NotRead(f"{self.word!r} where a label should stand")
            label = self.take()
            if label.text[0] in "\"'" and self.word in (",", "}"):  # {"metric"}: a name in braces
                node.name = label
            else:
                node.matchers.append(self.matcher(label))
            if not self.at("}"):
                self.take(",")
        node.end = self.take("}").end
        node.braces = (start, node.end)
        return node

    def matcher(self, label: Name) -> Matcher:
        sign = self.take()
        if sign.text not in ("=", "!=", "=~", "!~") or self.kind != "string":
            raise NotRead("a matcher is a label, one of = != =~ !~, and a string")
        return Matcher(label, sign.text, self.take())

    def postfixed(self, node: Node) -> Node:
        while True:
            if self.at("[") or self.word.startswith("[["):
                node = self.ranged(node)
            elif self.word.lower() == "offset":
                self.take()
                if self.at("-"):
                    self.take()
                node.end = self.take().end
                node.modified = True
            elif self.at("@"):
                self.take()
                if self.at("-"):
                    self.take()
                node.end = self.take().end
                if self.at("("):
                    self.take()
                    node.end = self.take(")").end
                node.modified = True
            else:
                return node

    def ranged(self, node: Node) -> Node:
        found = _RANGE.match(self.text, self.start)
        if found is None:
            raise NotRead("a range without an end")
        self.last = found.end()
        self.step(found.end())
        stepped = ":" in re.sub(r"\$\{[^}]*\}|\[\[\w+\]\]", "", found[1])
        if stepped or node.kind != "selector" or node.ranged:
            return Node("subquery", node.start, found.end(), [node])
        node.ranged, node.end = True, found.end()
        return node
