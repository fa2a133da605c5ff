"""An outline of YAML: keys, values and where they stand, read line by line and never refused.

Clusters are described by YAML that no YAML library reads: Helm's templates, half files, files with tabs. An outline needs no valid
document, takes linear time, expands no alias and follows no recursion, so that bombs are as harmless as any other text.
It holds for block and flow collections, quoted and block scalars, anchors, aliases and merge keys. It is not a YAML
reader: tags are skipped, numbers stay text, and a line that says nothing to it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_DEPTH = 64  # of flow collections inside each other; Kubernetes' own decoder stops far earlier in practice
MOST_LOOKAHEAD = 100  # lines read for the end of a quoted scalar or a flow collection once one was not found
MOST_MERGES = 8  # aliases followed one after the other when a key is looked up

_KEY = re.compile(
    r"""("[^"\\]*(?:\\.[^"\\]*)*"|'[^']*(?:''[^']*)*'|[^\s\-?:,\[\]{}#&*!|>'"%@`][^#\n]*?|[\-?:][^\s#:][^#\n]*?):(?=[ \t]|$)"""
)
_TEMPLATED_KEY = re.compile(r"""([^\s:{]*(?:\{\{[^}]*\}\}[^\s:{]*)+):(?=[ \t]|$)""")
_CONTROL = re.compile(r"(?:\{\{(?:[^}]|\}(?!\}))*\}\}[ \t]*)+(?:#.*)?$")
_PROPERTY = re.compile(r"(?:([&])([^\s,\[\]{}]+)|!\S*)[ \t]*")
_BLOCK = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-])[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"[ \t]#")


class Node:
    """A mapping (`pairs`), a sequence (`entries`) or a scalar (`text`) with its 1-based line and column.

    The text of a scalar is its value for quoted and plain ones; for a block scalar its lines without their common indentation,
    and then `body` is the 1-based line of the first of them and `indent` what was cut from each.
    """

    __slots__ = ("alias", "body", "column", "entries", "indent", "kind", "line", "pairs", "text")

    def __init__(self, kind: str, line: int, column: int, text: str = "") -> None:
        self.kind = kind  # "map", "list" or "scalar"
        self.line = line
        self.column = column
        self.text = text
        self.pairs: list[tuple[Node, Node]] = []
        self.entries: list[Node] = []
        self.alias: Node | None = None
        self.body = 0
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


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.count = len(self.lines)
        self.row = 0
        self.documents: list[list[Node]] = [[]]
        self.stack: list[tuple[int, Node]] = []
        self.anchors: dict[str, Node] = {}
        self.lost = False  # whether the end of a quoted scalar or a flow collection was looked for in vain
        self.pending: tuple[int, Node] | None = None  # a mapping's last key, whose value follows on later lines

    def read(self) -> list[list[Node]]:
        while self.row < self.count:
            line = self.lines[self.row].rstrip("\r")
            content = line.lstrip(" \t")
            if not content or content[0] == "#":
                self.row += 1
            elif line[0] in "-.%" and line.startswith(("---", "...", "%")) and self._marker(line):
                pass
            else:
                self._line(line, len(line) - len(content))
        return [roots for roots in self.documents if roots]

    def _marker(self, line: str) -> bool:
        if line.startswith("%"):
            self.row += 1
            return True
        if line[3:4] not in ("", " ", "\t"):
            return False
        self.documents.append([])
        self.stack, self.anchors, self.pending = [], {}, None
        rest = line[3:].lstrip(" \t") if line.startswith("---") else ""
        if not rest or rest[0] in "#&!|>":
            self.row += 1
            return True
        self.lines[self.row] = "   " + line[3:]
        return True

    def _line(self, line: str, start: int) -> None:
        """Read one line, and those that belong to its last value."""
        if line.startswith("{{", start) and _CONTROL.match(line, start):
            self.row += 1
            return
        while line.startswith("- ", start) or line.startswith("-\t", start) or line[start:] == "-":
            holder = self._holder(start, "list")
            rest = start + 1
            while rest < len(line) and line[rest] in " \t":
                rest += 1
            if rest >= len(line) or line[rest] == "#":
                self._await(start, self._add(holder, None, Node("scalar", self.row + 1, start + 2)), holder)
                self.row += 1
                return
            anchor, rest = self._properties(line, rest)
            if not self._starts_collection(line, rest):
                value = self._value(line, rest, start)
                self._name(anchor, self._add(holder, None, value))
                return
            self._await(start, self._add(holder, None, Node("scalar", self.row + 1, rest + 1)), holder)
            self._name(anchor, None)
            start = rest
        found = _KEY.match(line, start) or _TEMPLATED_KEY.match(line, start)
        if found is None:
            self._stray(line, start)
            return
        holder = self._holder(start, "map")
        key = Node("scalar", self.row + 1, start + 1, _unquoted(found[1]))
        rest = found.end()
        while rest < len(line) and line[rest] in " \t":
            rest += 1
        anchor, rest = self._properties(line, rest)
        if rest >= len(line) or line[rest] == "#":
            value = Node("scalar", self.row + 1, rest + 1)
            self._await(start, self._add(holder, key, value), holder)
            self._name(anchor, value)
            self.row += 1
            return
        self._name(anchor, self._add(holder, key, self._value(line, rest, start)))

    def _starts_collection(self, line: str, start: int) -> bool:
        if line.startswith(("- ", "-\t"), start) or line[start:] == "-":
            return True
        return line[start] not in "[{" and _KEY.match(line, start) is not None

    def _properties(self, line: str, start: int) -> tuple[str, int]:
        anchor = ""
        while start < len(line) and line[start] in "&!":
            found = _PROPERTY.match(line, start)
            if found is None:
                break
            anchor = found[2] or anchor
            start = found.end()
        return anchor, start

    def _name(self, anchor: str, node: Node | None) -> None:
        if anchor:
            self.anchors[anchor] = node if node is not None else self.last

    def _await(self, indent: int, value: Node, holder: Node) -> None:
        self.pending = (indent, value)
        self.last = value

    def _add(self, holder: Node, key: Node | None, value: Node) -> Node:
        self.pending = None
        if key is None:
            holder.entries.append(value)
        else:
            holder.pairs.append((key, value))
        return value

    def _holder(self, indent: int, kind: str) -> Node:
        """Return the collection that an entry at this indentation belongs to, making it where it begins here."""
        if self.pending is not None:
            owner, node = self.pending
            if indent > owner or (indent == owner and kind == "list" and self.stack[-1][1].kind == "map"):
                node.kind, node.line, node.column, node.text = kind, self.row + 1, indent + 1, ""
                self.stack.append((indent, node))
                self.pending = None
                return node
            self.pending = None
        while self.stack:
            place, node = self.stack[-1]
            if place < indent or (place == indent and node.kind == kind):
                break
            self.stack.pop()
        if self.stack and (self.stack[-1][0] == indent or self.stack[-1][1].kind == kind):
            return self.stack[-1][1]
        root = Node(kind, self.row + 1, indent + 1)
        self.documents[-1].append(root)
        self.stack.append((indent, root))
        return root

    def _stray(self, line: str, start: int) -> None:
        """Take a line that begins no entry: the value of a key above it, or a document that is one scalar."""
        if self.pending is not None and start > self.pending[0]:
            owner, node = self.pending
            anchor, start = self._properties(line, start)
            if start < len(line) and line[start] != "#":
                value = self._value(line, start, owner)
                self._become(node, value)
                self._name(anchor, node)
                self.pending = None
                return
            if anchor:
                self.anchors[anchor] = node
        elif not self.stack and not line.startswith("{{", start):
            self.documents[-1].append(self._value(line, start, -1))
            return
        self.row += 1

    @staticmethod
    def _become(node: Node, value: Node) -> None:
        for name in Node.__slots__:
            setattr(node, name, getattr(value, name))

    def _value(self, line: str, start: int, owner: int) -> Node:
        """Read a value that begins on this line; afterwards `row` is the first line not read."""
        first = line[start]
        if first in "|>" and _BLOCK.match(line, start):
            return self._block(start, owner)
        if first == "*":
            found = re.match(r"\*([^\s,\[\]{}]+)", line[start:])
            self.row += 1
            node = Node("scalar", self.row, start + 1, line[start:].split(" #")[0].strip())
            node.alias = self.anchors.get(found[1]) if found else None
            return node
        if first in "\"'":
            return self._quoted(start)
        if first in "[{" and not line.startswith("{{", start):
            return self._flow(start)
        return self._plain(line, start, owner)

    def _block(self, start: int, owner: int) -> Node:
        node = Node("scalar", self.row + 1, start + 1)
        first = self.row + 1
        row, indent = first, -1
        while row < self.count:
            line = self.lines[row]
            content = line.lstrip(" ")
            if content.strip():
                here = len(line) - len(content)
                if here <= owner:
                    break
                indent = here if indent < 0 else min(indent, here)
            row += 1
        node.body, node.indent = first + 1, max(indent, 0)
        node.text = "\n".join(line[node.indent :] for line in self.lines[first:row])
        self.row = row
        return node

    def _quoted(self, start: int) -> Node:
        line = self.lines[self.row]
        node = Node("scalar", self.row + 1, start + 1)
        end = _closing(line, start)
        if end < 0:
            parts, row = [line[start:]], self.row + 1
            mark = line[start]
            last = self._last_row()
            while row < last:
                end = _closing(mark + self.lines[row], 0) - 1
                if end >= 0:
                    parts.append(self.lines[row][: end + 1].strip())
                    break
                parts.append(self.lines[row].strip())
                row += 1
            if end < 0:  # never closed: the line alone is taken, the rest is read on
                self.lost = True
                node.text = line[start + 1 :]
                self.row += 1
                return node
            node.text = _unquoted(" ".join(part.strip() for part in parts))
            self.row = row + 1
            return node
        node.text = _unquoted(line[start : end + 1])
        self.row += 1
        return node

    def _plain(self, line: str, start: int, owner: int) -> Node:
        comment = _COMMENT.search(line, start)
        text = line[start : comment.start() if comment else len(line)].rstrip()
        node = Node("scalar", self.row + 1, start + 1, text)
        self.row += 1
        if comment or "{{" in text:
            return node
        more: list[str] = []
        while self.row < self.count:
            line = self.lines[self.row].rstrip("\r")
            content = line.lstrip(" \t")
            if not content or content[0] == "#" or len(line) - len(content) <= owner or content.startswith("{{"):
                break
            if owner < 0 and line.startswith(("---", "...")):
                break
            if _KEY.match(content) or content.startswith("- "):
                break  # no YAML, but templates do so: an entry, not more of the text
            more.append(content.rstrip())
            self.row += 1
        if more:
            node.text = " ".join([text, *more])
        return node

    def _flow(self, start: int) -> Node:
        """Read a flow collection, over as many lines as it takes; one that never ends is taken as the text of its line."""
        row, place = self.row, start
        root: Node | None = None
        open_nodes: list[Node] = []
        keys: list[Node | None] = []
        last = self._last_row()
        while row < last:
            line = self.lines[row].rstrip("\r")
            while place < len(line):
                letter = line[place]
                if letter in " \t,":
                    if letter == "," and open_nodes[-1].kind == "map" and keys[-1] is not None:
                        open_nodes[-1].pairs.append((keys[-1], Node("scalar", row + 1, place + 1)))
                        keys[-1] = None
                    place += 1
                    continue
                if letter == "#" and (place == 0 or line[place - 1] in " \t"):
                    break
                if letter in "[{" and not line.startswith("{{", place):
                    node = Node("map" if letter == "{" else "list", row + 1, place + 1)
                    if len(open_nodes) >= MOST_DEPTH:
                        return self._unread(start)
                    if root is None:
                        root = node
                    else:
                        self._put(open_nodes[-1], keys, node)
                    open_nodes.append(node)
                    keys.append(None)
                    place += 1
                    continue
                if letter in "]}":
                    if keys[-1] is not None:
                        open_nodes[-1].pairs.append((keys[-1], Node("scalar", row + 1, place + 1)))
                    open_nodes.pop()
                    keys.pop()
                    place += 1
                    if not open_nodes and root is not None:
                        self.row = row + 1
                        return root
                    continue
                place = self._flow_scalar(line, row, place, open_nodes[-1], keys)
            row, place = row + 1, 0
        return self._unread(start)

    def _last_row(self) -> int:
        return min(self.count, self.row + MOST_LOOKAHEAD) if self.lost else self.count

    def _unread(self, start: int) -> Node:
        self.lost = True
        node = Node("scalar", self.row + 1, start + 1, self.lines[self.row][start:])
        self.row += 1
        return node

    def _flow_scalar(self, line: str, row: int, place: int, holder: Node, keys: list[Node | None]) -> int:
        node = Node("scalar", row + 1, place + 1)
        if line[place] in "\"'":
            end = _closing(line, place)
            end = len(line) - 1 if end < 0 else end
            node.text = _unquoted(line[place : end + 1])
            place = end + 1
        else:
            found = _FLOW_PLAIN.match(line, place)
            end = found.end() if found else place + 1
            node.text = line[place:end].strip()
            place = max(end, place + 1)
            if node.text.startswith("*"):
                node.alias = self.anchors.get(node.text[1:])
        after = _AFTER_KEY.match(line, place)
        if after and holder.kind == "map" and keys[-1] is None:
            keys[-1] = node
            return after.end()
        self._put(holder, keys, node)
        return place

    @staticmethod
    def _put(holder: Node, keys: list[Node | None], node: Node) -> None:
        if holder.kind == "list":
            holder.entries.append(node)
        elif keys[-1] is not None:
            holder.pairs.append((keys[-1], node))
            keys[-1] = None
        elif node.kind == "scalar":
            keys[-1] = node  # a key whose colon comes later, or never


_FLOW_PLAIN = re.compile(r"(?:\{\{(?:[^}]|\}(?!\}))*\}\}|:(?![\s,\]}])|[^,\[\]{}:#]|(?<=\S)#)+")
_AFTER_KEY = re.compile(r"[ \t]*:[ \t]*")
_SINGLE = re.compile(r"'[^']*(?:''[^']*)*'")
_DOUBLE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _closing(line: str, start: int) -> int:
    """Return where a quoted scalar that begins at `start` ends on this line, -1 where it does not."""
    found = (_SINGLE if line[start] == "'" else _DOUBLE).match(line, start)
    return found.end() - 1 if found else -1


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        inner = text[1:-1]
        return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), inner) if "\\" in inner else inner
    return text.rstrip()


def documents(text: str) -> list[Node]:
    """Return the outline of every document: its root, or, where a template left several beside each other, each of them.

    Time is linear in the length of the text; nothing is raised for any text.
    """
    return [root for roots in _Reader(text).read() for root in roots]
