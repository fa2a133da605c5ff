"""A node of an outline: a mapping, a sequence or a scalar, with its place, and how to look things up in it."""

from __future__ import annotations

from collections.abc import Iterator

MOST_MERGES = 8  # aliases followed one after the other when a key is looked up


class Node:
    """A mapping (`pairs`), a sequence (`entries`) or a scalar (`text`) with its 1-based line and column.

    The text of a scalar is its value for quoted and plain ones; for a block scalar its lines without their common indentation,
    and then `body` is the 1-based line of the first of them and `indent` what was cut from each.
    """

    __slots__ = ("alias", "body", "column", "entries", "indent", "kind", "line", "pairs", "quoted", "text")

    def __init__(self, kind: str, line: int, column: int, text: str = "") -> None:
        self.kind = kind  # "map", "list" or "scalar"
        self.line = line
        self.column = column
        self.text = text
        self.pairs: list[tuple[Node, Node]] = []
        self.entries: list[Node] = []
        self.alias: Node | None = None
        self.body = 0
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
            for name, value in node.pairs:
                if name.text == key:
                    return value.real()
            for name, value in node.pairs:
                if name.text == "<<":
                    value = value.real()
                    waiting += [entry.real() for entry in value.entries] if value.kind == "list" else [value]
        return None

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
