"""A node of an outline: a mapping, a sequence or a scalar, with its place, and how to look things up in it."""

from __future__ import annotations

from collections.abc import Iterator

_MANY = 16  # keys of a mapping from which on they are found by a dictionary
MOST_MERGES = 8  # aliases followed one after the other when a key is looked up


class Node:
    """A mapping (`pairs`), a sequence (`entries`) or a scalar (`text`) with its 1-based line and column.

    The text of a scalar is its value for quoted and plain ones; for a block scalar its lines without their common indentation,
    and then `body` is the 1-based line of the first of them and `indent` what was cut from each.
    """

    __slots__ = ("_known", "alias", "body", "column", "entries", "indent", "kind", "line", "pairs", "quoted", "text")

    def __init__(self, kind: str, line: int, column: int, text: str = "") -> None:
        self.kind = kind  # "map", "list" or "scalar"
        self.line = line
        self.column = column
        self.text = text
        self.pairs: list[tuple[Node, Node]] = []
        self.entries: list[Node] = []
        self.alias: Node | None = None
        self.body = 0
        self._known: dict[str, Node] | None = None  # values by key, once one was looked up and there are many
        self.quoted = 0  # columns between the place and the text: 1 for a quoted scalar
        self.indent = 0

    def real(self) -> Node:
        """Return the node itself, or the one that it names by an alias."""
        node = self
        for _ in range(MOST_MERGES):
            if node.alias is None:
                return node
            node = node.alias
        return node

    def get(self, key: str) -> Node | None:
        """Return the value of a key of a mapping, through aliases and merge keys; None where there is none."""
        waiting, seen = [self.real()], 0
        while waiting and seen < MOST_MERGES:
            node, seen = waiting.pop(), seen + 1
            found = node._value(key)
            if found is not None:
                return found.real()
            for value in node._merged():
                value = value.real()
                waiting += [entry.real() for entry in value.entries] if value.kind == "list" else [value]
        return None

    def _merged(self) -> list[Node]:
        """Return the values of this mapping's merge keys."""
        if len(self.pairs) < _MANY:
            return [value for name, value in self.pairs if name.text == "<<"]
        one = self._value("<<")
        return [one] if one is not None else []

    def _value(self, key: str) -> Node | None:
        """Return the first value of a key of this mapping's own."""
        if len(self.pairs) < _MANY:
            return next((value for name, value in self.pairs if name.text == key), None)
        if self._known is None:  # keys are looked up when the text has been read
            self._known = {}
            for name, value in self.pairs:
                self._known.setdefault(name.text, value)
        return self._known.get(key)

    def at(self, *keys: str) -> Node | None:
        """Return what lies under keys inside each other; None where one is missing."""
        node: Node | None = self
        for key in keys:
            node = node.get(key) if node is not None else None
        return node

    def value(self, *keys: str) -> str:
        """Return the text of the scalar under keys, "" where there is none."""
        node = self.at(*keys)
        return node.text if node is not None and node.kind == "scalar" else ""

    def items(self, *keys: str) -> list[Node]:
        """Return the entries of the sequence under keys, none where there is no sequence."""
        node = self.at(*keys)
        return [entry.real() for entry in node.entries] if node is not None else []

    def walk(self) -> Iterator[tuple[Node | None, Node]]:
        """Yield every node below and this one with the key it has, each once where it is written: no alias is followed."""
        stack: list[tuple[Node | None, Node]] = [(None, self)]
        while stack:
            key, node = stack.pop()
            yield key, node
            stack.extend(reversed(node.pairs))
            stack.extend((key, entry) for entry in reversed(node.entries))
