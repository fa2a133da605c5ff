"""A YAML text with the exact bytes of each key and value in it, and the ways to take an entry out without touching its neighbours.

The outline reads anything that looks like YAML; edits are made in the text, so comments, quotes and spaces stay as their owner set them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from anywarp.migrate.formats.outline import Node, documents

_COMMENT = re.compile(r"(?m)(?:^|(?<=[ \t]))#[^\n]*")
_ANCHOR = re.compile(r"(?:^|[\s\[,])&([^\s,\[\]{}]+)")
_BOM = "\ufeff"
_ALIAS = re.compile(r"(?<![^\s\[{,:-])\*([^\s,\[\]{}]+)")
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[\[\]{}]')
_FAR = 20_000
QUOTES = ('"', "'")
_GAP = re.compile(r"[ \t]*,[ \t]*")


@dataclass(frozen=True, slots=True)
class Entry:
    """A key with its value, or (key None) an entry of a list; `path` holds the keys above, `holder` the collection it is in."""

    key: Node | None
    value: Node
    path: tuple[str, ...]
    holder: Node
    root: Node

    def under(self, *names: str) -> bool:
        """Say whether the innermost key above is one of `names`."""
        return bool(self.path) and self.path[-1] in names


class YamlText:
    """A text as bytes, characters and outline; every place it gives out is in bytes of the original."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.text = data.decode("utf-8")
        self.documents = documents(self.text.removeprefix(_BOM))
        first = len(_BOM) if self.text.startswith(_BOM) else 0
        self._siblings: dict[int, dict[str, Node]] = {}
        self._ends: dict[int, int] = {}
        self._kinds: dict[int, str] = {}
        self._lines = [first, *(found.end() for found in re.finditer("\n", self.text))]

    @cached_property
    def _wide(self) -> tuple[list[int], list[int]]:
        """Characters of several bytes: their places and how many bytes more than characters there are after each."""
        places: list[int] = []
        extra: list[int] = []
        total = 0
        for found in re.finditer(r"[^\x00-\x7f]", self.text):
            total += len(found[0].encode()) - 1
            places.append(found.start())
            extra.append(total)
        return places, extra

    def sibling(self, entry: Entry, name: str) -> Node | None:
        """Return the value beside an entry, under another key of the same mapping; merge keys are not followed."""
        if id(entry.holder) not in self._siblings:
            pairs = reversed(entry.holder.pairs)  # of keys given twice the first counts
            self._siblings[id(entry.holder)] = {key.text: value.real() for key, value in pairs}
        return self._siblings[id(entry.holder)].get(name)

    def kind(self, entry: Entry) -> str:
        """Return the kind of the object that an entry is in, "" where it is in none, as in values of a chart."""
        if id(entry.root) not in self._kinds:
            self._kinds[id(entry.root)] = entry.root.value("kind")
        return self._kinds[id(entry.root)]

    def beside(self, entry: Entry, name: str) -> str:
        """Return the text of the scalar beside an entry, "" where there is none."""
        node = self.sibling(entry, name)
        return node.text if node is not None and node.kind == "scalar" else ""

    def byte(self, place: int) -> int:
        """Return the offset in bytes of an offset in characters."""
        if len(self.text) == len(self.data):
            return place
        places, extra = self._wide
        index = bisect_right(places, place - 1)
        return place + (extra[index - 1] if index else 0)

    def at(self, line: int, column: int) -> int:
        """Return the offset in characters of a 1-based line and column."""
        return self._lines[line - 1] + column - 1 if line <= len(self._lines) else len(self.text)

    def line_of(self, place: int) -> int:
        """Return the 1-based line of an offset in characters."""
        return bisect_right(self._lines, place)

    def start(self, node: Node) -> int:
        """Return where a node begins, in characters."""
        return self.at(node.line, node.column)

    def inner(self, node: Node) -> tuple[int, int] | None:
        """Return the characters of a scalar inside its quotes; None where they are not its value letter by letter."""
        if node.kind != "scalar" or node.body or node.alias is not None:
            return None
        start = self.start(node)
        if self.text[start : start + 1] in ('"', "'") and not self.text.startswith(node.text, start):
            start += 1
        if not node.text or not self.text.startswith(node.text, start):
            return None
        return start, start + len(node.text)

    def block(self, node: Node) -> tuple[int, int] | None:
        """Return the characters of the lines of a block scalar; None for others."""
        if not node.body:
            return None
        last = node.body + node.text.count("\n")
        return self.at(node.body, 1), self.at(last + 1, 1) if last < len(self._lines) else len(self.text)

    def span(self, node: Node) -> tuple[int, int]:
        """Return the bytes of a scalar: inside its quotes where that is possible, else of its line or lines; of a collection, its lines."""
        place = self.inner(node) or self.block(node)
        if place is None:
            start = self.start(node)
            end = self._end_of_line(start if node.kind == "scalar" else self._last(node))
            place = start, max(start, end)
        return self.byte(place[0]), self.byte(place[1])

    def _end_of_line(self, place: int) -> int:
        end = self.text.find("\n", place)
        return len(self.text) if end < 0 else end

    def _last(self, node: Node) -> int:
        if id(node) in self._ends:
            return self._ends[id(node)]
        last = self.start(node)
        for _, inner in node.walk():
            block = self.block(inner)
            last = max(last, block[1] - 1 if block else self.start(inner))
        self._ends[id(node)] = last
        return last

    def whole(self, entry: Entry) -> tuple[int, int]:
        """Return the bytes of a key with its value."""
        start = self.start(entry.key) if entry.key is not None else self.start(entry.value)
        end = self.span(entry.value)[1]
        return self.byte(start), max(end, self.byte(start))

    def document(self, root: Node) -> tuple[int, int]:
        """Return the bytes of a document, from its first key to the end of its last value."""
        return self.byte(self.start(root)), self.byte(self._end_of_line(self._last(root)))

    def removal(self, entry: Entry) -> tuple[int, int] | None:
        """Return the bytes that must go for an entry to go; None where that cannot be told, or something else hangs on them."""
        place = self._removal(entry)
        if place is None or self._named(place):
            return None
        return self.byte(place[0]), self.byte(place[1])

    def _removal(self, entry: Entry) -> tuple[int, int] | None:
        first = entry.key if entry.key is not None else entry.value
        start = self.start(first)
        head = self._lines[first.line - 1]
        before = self.text[head:start]
        if self._flow(entry):
            return self._flow_removal(entry, start)
        if entry.key is None:
            dash = before.rstrip(" \t")
            if not dash.endswith("-") or dash[:-1].strip(" \t"):
                return None
            return head, self._block_end(first.line, len(dash) - 1)
        if before.strip(" \t"):
            return self._first_removal(entry, start)
        return head, self._block_end(first.line, len(before), lists=True)

    def _block_end(self, line: int, indent: int, lists: bool = False) -> int:
        """Return the start of the first line after an entry at `indent`: blank lines and comments behind it are not its own."""
        end = here = line
        for number in range(line + 1, len(self._lines) + 1):
            content = self.text[self._lines[number - 1] : self._end_of_line(self._lines[number - 1])]
            bare = content.strip()
            if not bare or bare.startswith("#"):
                continue
            deep = len(content) - len(content.lstrip(" \t"))
            if not (deep > indent or (lists and deep == indent and bare.startswith("- "))):
                break
            end = here = number
        return self.at(here + 1, 1) if end < len(self._lines) else len(self.text)

    def _first_removal(self, entry: Entry, start: int) -> tuple[int, int] | None:
        """An entry on the line of a dash: what follows it in the same mapping moves up behind the dash."""
        keys = [key for key, _ in entry.holder.pairs]
        later = [key for key in keys if self.start(key) > start]
        if not later:
            return None
        end = self.start(later[0])
        return None if _COMMENT.search(self.text, start, end) else (start, end)

    def _flow(self, entry: Entry) -> bool:
        return self.text[self.start(entry.holder)] in "{[" and self.start(entry.holder) < self.start(
            entry.key or entry.value
        )

    def _flow_removal(self, entry: Entry, start: int) -> tuple[int, int] | None:
        """An entry between brackets: the comma behind it goes with it, or the one before it where it is the last."""
        end = self._flow_end(entry.value)
        if end is None:
            return None
        after = _GAP.match(self.text, end)
        if after:
            return start, after.end()
        before = re.search(r",[ \t]*\Z", self.text[max(0, start - 80) : start])
        return (start - len(before[0]), end) if before else None

    def _flow_end(self, node: Node) -> int | None:
        """Return where a value between brackets ends: behind its quote or its own bracket."""
        if node.kind == "scalar":
            place = self.inner(node)
            if place is None:
                return None
            return place[1] + (self.text[place[1] : place[1] + 1] in QUOTES and self.text[place[0] - 1] in QUOTES)
        depth = 0
        for found in _BRACKET.finditer(self.text, self.start(node), self.start(node) + _FAR):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
            if depth <= 0:
                return found.end()
        return None

    def _named(self, place: tuple[int, int]) -> bool:
        """Say whether a part of the text names an anchor that is used elsewhere."""
        for found in _ANCHOR.finditer(self.text[place[0] : place[1]]):
            if any(not place[0] <= use < place[1] for use in self._uses.get(found[1], ())):
                return True
        return False

    @cached_property
    def _uses(self) -> dict[str, list[int]]:
        """Where each anchor is used: the places of its aliases by name."""
        uses: dict[str, list[int]] = {}
        for found in _ALIAS.finditer(self.text):
            uses.setdefault(found[1], []).append(found.start())
        return uses

    def entries(self) -> Iterator[Entry]:
        """Yield every key with its value and every entry of a list, in the order of the text; aliases are not followed."""
        for root in self.documents:
            stack: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
            while stack:
                node, path = stack.pop()
                below: list[tuple[Node, tuple[str, ...]]] = []
                for key, value in node.pairs:
                    yield Entry(key, value, path, node, root)
                    below.append((value, (*path, key.text)))
                for value in node.entries:
                    yield Entry(None, value, path, node, root)
                    below.append((value, path))
                stack.extend(reversed(below))

    def comments(self) -> Iterator[tuple[int, int]]:
        """Yield the bytes of the comments; what looks like one inside a block scalar is text and not yielded."""
        texts = sorted(block for root in self.documents for _, node in root.walk() if (block := self.block(node)))
        for found in _COMMENT.finditer(self.text):
            index = bisect_right(texts, (found.start(), len(self.text))) - 1
            if (index < 0 or texts[index][1] <= found.start()) and not self._quoted(found.start()):
                yield self.byte(found.start()), self.byte(found.end())

    def commented(self, start: int, end: int) -> bool:
        """Say whether a comment begins between two bytes."""
        return any(start <= place < end for place, _ in self.comments())

    def _quoted(self, place: int) -> bool:
        head = self.text[self._lines[self.line_of(place) - 1] : place]
        return (head.count('"') - head.count('\\"')) % 2 == 1 or head.count("'") % 2 == 1
