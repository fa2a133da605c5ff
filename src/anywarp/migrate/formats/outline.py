"""An outline of YAML: keys, values and where they stand, read line by line and never refused.

Clusters are described by YAML that no YAML library reads: Helm's templates, half files, files with tabs. An outline needs no valid
document, takes linear time, expands no alias and follows no recursion, so that bombs are as harmless as any other text.
It holds for block and flow collections, quoted and block scalars, anchors, aliases and merge keys. It is not a YAML
reader: tags are skipped, numbers stay text, and a line that says nothing to it is left out.
"""

from __future__ import annotations

import re

from anywarp.migrate.formats.outline_flow import MOST_DEPTH, closing, read_flow, unquoted
from anywarp.migrate.formats.outline_node import Node

__all__ = ["MOST_DEPTH", "Node", "documents"]

MOST_LOOKAHEAD = 100  # lines read for the end of a quoted scalar or a flow collection once one was not found

_KEY = re.compile(
    r"""("[^"\\]*(?:\\.[^"\\]*)*"|'[^']*(?:''[^']*)*'|[^\s\-?:,\[\]{}#&*!|>'"%@`][^#\n]*?|[\-?:][^\s#:][^#\n]*?):(?=[ \t]|$)"""
)
_TEMPLATED_KEY = re.compile(r"""([^\s:{]*(?:\{\{[^}]*\}\}[^\s:{]*)+):(?=[ \t]|$)""")
_CONTROL = re.compile(r"(?:\{\{(?:[^}]|\}(?!\}))*\}\}[ \t]*)+(?:#.*)?$")
_PROPERTY = re.compile(r"(?:([&])([^\s,\[\]{}]+)|!\S*)[ \t]*")
_BLOCK = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-])[ \t]*(?:#.*)?$")
_COMMENT = re.compile(r"[ \t]#")


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
            if rest < len(line) and not self._starts_collection(line, rest):
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
        key = Node("scalar", self.row + 1, start + 1, unquoted(found[1]))
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
        node.quoted = 1
        end = closing(line, start)
        if end < 0:
            parts, row = [line[start:]], self.row + 1
            mark = line[start]
            last = self._last_row()
            while row < last:
                end = closing(mark + self.lines[row], 0) - 1
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
            node.text = unquoted(" ".join(part.strip() for part in parts))
            self.row = row + 1
            return node
        node.text = unquoted(line[start : end + 1])
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
        found = read_flow(self.lines, self.row, start, self._last_row(), self.anchors)
        if found is None:
            self.lost = True
            node = Node("scalar", self.row + 1, start + 1, self.lines[self.row][start:])
            self.row += 1
            return node
        node, self.row = found
        return node

    def _last_row(self) -> int:
        return min(self.count, self.row + MOST_LOOKAHEAD) if self.lost else self.count


def documents(text: str) -> list[Node]:
    """Return the outline of every document: its root, or, where a template left several beside each other, each of them.

    Time is linear in the length of the text; nothing is raised for any text.
    """
    return [root for roots in _Reader(text).read() for root in roots]
