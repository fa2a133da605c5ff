"""A pod as the text that `anywarp convert` reads, and back: YAML in which every string stands letter by letter where it can.

Strings are quoted, so that nothing in them is an alias, a tag or another document; those of several lines, scripts mostly, are
blocks, which the rules for shell read. What does not come back as it was is not converted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

MOST_DEPTH = 60
"""Levels of nesting: a pod has some twelve."""
MOST_VALUES = 50_000
_UNPRINTED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_NO_BLOCK = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class NotPlain(ValueError):
    """A value that is too deep, too large, or that YAML cannot hold."""


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a value, and for each of its lines the JSON pointer of what begins there."""

    text: str
    pointers: tuple[str, ...]

    def pointer(self, data: bytes, place: int) -> str:
        """Return the pointer of what stands at an offset in the bytes of the text."""
        return self.pointers[min(data.count(b"\n", 0, place), len(self.pointers) - 1)]


def write(value: dict[str, Any]) -> Written:
    """Return an object of JSON as YAML; NotPlain where it is too deep or too large, or holds half a character."""
    lines: list[str] = []
    pointers: list[str] = []
    for number, (line, pointer) in enumerate(_map(value, 0, "", 0)):
        if number > MOST_VALUES:
            raise NotPlain(f"it has more than {MOST_VALUES} values")
        lines.append(line)
        pointers.append(pointer)
    try:
        text = "\n".join(lines) + "\n"
        text.encode()
    except UnicodeEncodeError:
        raise NotPlain("it holds half a character (a lone surrogate)") from None
    return Written(text, tuple(pointers))


def read(text: str) -> Any:
    """Return what a text says to a YAML reader; NotPlain where it is none."""
    from ruamel.yaml import YAML, YAMLError

    reader = YAML(typ="safe", pure=True)
    try:
        return cast(Any, reader).load(text)
    except (YAMLError, ValueError, RecursionError, AttributeError, TypeError) as error:
        raise NotPlain(f"it is no YAML: {str(error)[:120]}") from None


def step(pointer: str, key: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of what lies one step further."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def _map(value: dict[str, Any], indent: int, pointer: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > MOST_DEPTH:
        raise NotPlain(f"it is nested more than {MOST_DEPTH} deep")
    for key, inner in value.items():
        yield from _behind(" " * indent + _quoted(key) + ":", inner, indent, step(pointer, key), depth)


def _list(value: list[Any], indent: int, pointer: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > MOST_DEPTH:
        raise NotPlain(f"it is nested more than {MOST_DEPTH} deep")
    for number, inner in enumerate(value):
        here, head = step(pointer, number), " " * indent + "-"
        if isinstance(inner, dict) and inner:
            lines = _map(cast(dict[str, Any], inner), indent + 2, here, depth + 1)
            first, at = next(lines)
            yield head + first[indent + 1 :], at
            yield from lines
        else:
            yield from _behind(head, inner, indent, here, depth)


def _behind(head: str, inner: Any, indent: int, pointer: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the lines of a value behind its key or dash."""
    if isinstance(inner, dict) and inner:
        yield head, pointer
        yield from _map(cast(dict[str, Any], inner), indent + 2, pointer, depth + 1)
    elif isinstance(inner, list) and inner:
        yield head, pointer
        yield from _list(cast(list[Any], inner), indent + 2, pointer, depth + 1)
    elif isinstance(inner, str) and "\n" in inner and _can_be_block(inner):
        sign = "-" if not inner.endswith("\n") else "+" if inner.endswith("\n\n") else ""
        yield f"{head} |{sign}", pointer
        for line in inner.removesuffix("\n").split("\n"):
            yield " " * (indent + 2) + line if line else "", pointer
    else:
        yield f"{head} {_scalar(inner)}", pointer


def _can_be_block(text: str) -> bool:
    first = next((line for line in text.split("\n") if line), "")
    return first != "" and first[0] not in " \t" and _NO_BLOCK.search(text) is None


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return json.dumps(value)  # numbers, true, false, null, and {} and []


def _quoted(text: str) -> str:
    """Return a string between double quotes: JSON's are YAML's (YAML 1.2, 1.3) but for letters that YAML does not print."""
    return _UNPRINTED.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
