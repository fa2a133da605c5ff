"""JSON with places: the tree of a text in which every value knows its bytes.

Dashboards are edited in their text, so that the rest keeps its formatting; Python's reader of JSON tells no places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(rb'[ \t\r\n]*(?:("(?:[^"\\]|\\.)*")|([{}\[\]:,])|([^\s{}\[\]:,"]+))', re.DOTALL)
MOST_DEPTH = 200


class NotJson(ValueError):
    """A text that is no JSON."""


@dataclass(slots=True)
class Value:
    """A value and its bytes; of a string `[start, end)` leaves the quotes out. An object's `pairs` have keys that are strings."""

    kind: str  # "object", "array", "string" or "other"
    start: int
    end: int = 0
    pairs: list[tuple[Value, Value]] = field(default_factory=list["tuple[Value, Value]"])
    entries: list[Value] = field(default_factory=list["Value"])
    text: bytes = b""

    def get(self, name: str) -> Value | None:
        """Return the value of a key of an object, None where there is none."""
        wanted = name.encode()
        return next((value for key, value in self.pairs if key.text == wanted), None)

    def at(self, *names: str) -> Value | None:
        """Return what lies under keys inside each other, None where one is missing."""
        found: Value | None = self
        for name in names:
            found = found.get(name) if found is not None else None
        return found

    def walk(self) -> Iterator[Value]:
        """Yield this value and all below it, keys left out."""
        stack: list[Value] = [self]
        while stack:
            here = stack.pop()
            yield here
            stack.extend(value for _, value in reversed(here.pairs))
            stack.extend(reversed(here.entries))


def read(data: bytes) -> Value:
    """Read a text; NotJson where it is none, or deeper than 200 values inside each other. Takes linear time."""
    root = Value("array", 0)
    stack: list[Value] = [root]
    keys: list[Value | None] = [None]
    place = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while found := _TOKEN.match(data, place):
        place = found.end()
        string, sign, other = found.groups()
        if sign in (b"}", b"]"):
            if len(stack) == 1 or stack[-1].kind != ("object" if sign == b"}" else "array"):
                raise NotJson(f"an unexpected {sign.decode()} at byte {place}")
            stack.pop().end = place
            keys.pop()
        elif sign in (b"{", b"["):
            one = Value("object" if sign == b"{" else "array", place - 1)
            _add(stack[-1], keys, one)
            stack.append(one)
            keys.append(None)
            if len(stack) > MOST_DEPTH:
                raise NotJson(f"more than {MOST_DEPTH} values inside each other")
        elif string is not None:
            _add(stack[-1], keys, Value("string", found.start(1) + 1, found.end(1) - 1, text=string[1:-1]))
        elif other is not None:
            _add(stack[-1], keys, Value("other", found.start(3), found.end(3), text=other))
    if len(stack) > 1 or len(root.entries) != 1 or data[place:].strip():
        raise NotJson(f"no JSON from byte {place} on")
    return root.entries[0]


def _add(holder: Value, keys: list[Value | None], value: Value) -> None:
    if holder.kind == "array":
        holder.entries.append(value)
    elif keys[-1] is None:
        if value.kind != "string":
            raise NotJson(f"a key that is no string at byte {value.start}")
        keys[-1] = value
    else:
        holder.pairs.append((keys[-1], value))
        keys[-1] = None
