"""Flow collections and quoted scalars of YAML, which JSON is a part of, read in linear time over as many lines as they take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from anywarp.migrate.formats.outline_node import Node

MOST_DEPTH = 64  # of flow collections inside each other; Kubernetes' own decoder stops far earlier in practice

_PLAIN = re.compile(r"(?:\{\{(?:[^}]|\}(?!\}))*\}\}|:(?![\s,\[\]{}]|$)|[^,\[\]{}:#]|(?<=\S)#)+")
_AFTER_KEY = re.compile(r"[ \t]*:(?:[ \t]+|(?=[,\[\]{}]|$)|(?<=[\"'][:]))")
_SINGLE = re.compile(r"'[^']*(?:''[^']*)*'")
_DOUBLE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029"}  # fmt: skip


def read_flow(
    lines: Sequence[str], row: int, start: int, last: int, anchors: Mapping[str, Node]
) -> tuple[Node, int] | None:
    """Read the collection that begins at `start` of a line; return it and the first row after it, None where it does not end before `last`."""
    reader = _Flow(anchors)
    place = start
    while row < last:
        line = lines[row].rstrip("\r")
        while place < len(line):
            place = reader.step(line, row, place)
            if place < 0:
                return None
            if not reader.open:
                return (reader.root, row + 1) if reader.root is not None else None
        row, place = row + 1, 0
    return None


class _Flow:
    """The collections that are open, for each the key whose value is awaited, and whether it is a pair without braces."""

    def __init__(self, anchors: Mapping[str, Node]) -> None:
        self.anchors = anchors
        self.root: Node | None = None
        self.open: list[Node] = []
        self.keys: list[Node | None] = []
        self.pair: list[bool] = []

    def step(self, line: str, row: int, place: int) -> int:
        """Take what stands at a place; return where to go on, -1 to give up."""
        letter = line[place]
        if letter in " \t":
            return place + 1
        if letter == "#" and (place == 0 or line[place - 1] in " \t"):
            return len(line)
        if letter in "[{" and not line.startswith("{{", place):
            return self._begin(letter, row, place)
        if letter in ",]}":
            self._ended(row, place)
            if letter != ",":
                self._pop(row, place)
            return place + 1
        if letter == ":" and self.open[-1].kind == "map" and (place + 1 == len(line) or line[place + 1] in " \t,[]{}"):
            return place + 1
        return self._scalar(line, row, place)

    def _begin(self, letter: str, row: int, place: int) -> int:
        if len(self.open) >= MOST_DEPTH:
            return -1
        node = Node("map" if letter == "{" else "list", row + 1, place + 1)
        if self.root is None:
            self.root = node
        else:
            self._put(node)
        self._push(node, None, pair=False)
        return place + 1

    def _push(self, node: Node, key: Node | None, pair: bool) -> None:
        self.open.append(node)
        self.keys.append(key)
        self.pair.append(pair)

    def _pop(self, row: int, place: int) -> None:
        key = self.keys.pop()
        node = self.open.pop()
        self.pair.pop()
        if key is not None:
            node.pairs.append((key, Node("scalar", row + 1, place + 1)))

    def _ended(self, row: int, place: int) -> None:
        """End an entry: a key without a value has an empty one, a pair without braces is complete."""
        if self.pair[-1]:
            self._pop(row, place)
        elif self.keys[-1] is not None:
            self.open[-1].pairs.append((self.keys[-1], Node("scalar", row + 1, place + 1)))
            self.keys[-1] = None

    def _scalar(self, line: str, row: int, place: int) -> int:
        node = Node("scalar", row + 1, place + 1)
        if line[place] in "\"'":
            end = closing(line, place)
            end = len(line) - 1 if end < 0 else end
            node.text, node.quoted = unquoted(line[place : end + 1]), 1
            place = end + 1
        else:
            found = _PLAIN.match(line, place)
            end = found.end() if found else place + 1
            node.text = line[place:end].strip()
            place = max(end, place + 1)
            if node.text.startswith("*"):
                node.alias = self.anchors.get(node.text[1:])
        after = _AFTER_KEY.match(line, place)
        if after is None or self.keys[-1] is not None:
            self._put(node)
            return place
        if self.open[-1].kind == "map":
            self.keys[-1] = node
        elif len(self.open) < MOST_DEPTH:
            pair = Node("map", row + 1, node.column)
            self._put(pair)
            self._push(pair, node, pair=True)
        return after.end()

    def _put(self, node: Node) -> None:
        holder, key = self.open[-1], self.keys[-1]
        if holder.kind == "list":
            holder.entries.append(node)
        elif key is not None:
            holder.pairs.append((key, node))
            self.keys[-1] = None
        elif node.kind == "scalar":
            self.keys[-1] = node  # a key whose colon comes later, or never


def closing(line: str, start: int) -> int:
    """Return where a quoted scalar that begins at `start` ends on this line, -1 where it does not."""
    found = (_SINGLE if line[start] == "'" else _DOUBLE).match(line, start)
    return found.end() - 1 if found else -1


def unquoted(text: str) -> str:
    """Return a scalar's value: quotes and escapes undone, white space after a plain one left out."""
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        inner = text[1:-1]
        return _ESCAPE.sub(_escaped, inner) if "\\" in inner else inner
    return text.rstrip()


def _escaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        return _ESCAPES.get(found[4], found[4])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else "\ufffd"
