"""What a shared object or program asks of others when it is loaded: the libraries it needs and the symbols it imports.

It reads through the bounds-checked tables of `anywarp.ptx.elf`: a library from elsewhere may hold any offset.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from anywarp.ptx.elf import Elf, Section

_SHT_DYNAMIC, _SHT_DYNSYM = 6, 11
_DT_NEEDED, _DT_SONAME = 1, 14
_ENTRY = struct.Struct("<qQ")
_SYMBOL = struct.Struct("<IBBHQQ")
MOST_SYMBOLS = 1 << 20
_MOST_NEEDED = 1 << 12


@dataclass(frozen=True, slots=True)
class Dynamic:
    """The libraries needed, the name under which the object itself is known, and what it imports and offers."""

    needed: tuple[str, ...]
    soname: str
    imported: tuple[str, ...]
    offered: frozenset[str]


def dynamic(elf: Elf) -> Dynamic:
    """Read the dynamic section and its symbols; empty where there are none."""
    needed: list[str] = []
    soname = ""
    for section in (s for s in elf.sections if s.kind == _SHT_DYNAMIC):
        strings = _strings(elf, section)
        for tag, value in _entries(elf, section):
            if tag == _DT_NEEDED and len(needed) < _MOST_NEEDED:
                needed.append(_text(elf, strings, value))
            elif tag == _DT_SONAME:
                soname = _text(elf, strings, value)
    imported: list[str] = []
    offered: set[str] = set()
    for section in (s for s in elf.sections if s.kind == _SHT_DYNSYM):
        strings = _strings(elf, section)
        for name, index in _symbols(elf, section):
            text = _text(elf, strings, name)
            if index:
                offered.add(text)
            elif text:
                imported.append(text)
    return Dynamic(tuple(needed), soname, tuple(imported), frozenset(offered))


def _strings(elf: Elf, section: Section) -> Section | None:
    return elf.sections[section.link] if section.link < len(elf.sections) else None


def _entries(elf: Elf, section: Section) -> Iterator[tuple[int, int]]:
    content = elf.data[section.start : section.end - (section.end - section.start) % _ENTRY.size]
    for tag, value in _ENTRY.iter_unpack(content):
        if tag == 0:
            return
        yield tag, value


def _symbols(elf: Elf, section: Section) -> Iterator[tuple[int, int]]:
    """Yield the offset of each symbol's name and its section's number, 0 for what is imported."""
    size = min(section.end - section.start, MOST_SYMBOLS * _SYMBOL.size)
    content = elf.data[section.start : section.start + size - size % _SYMBOL.size]
    for name, _, _, index, _, _ in _SYMBOL.iter_unpack(content):
        yield name, index


def _text(elf: Elf, strings: Section | None, offset: int) -> str:
    if strings is None or strings.start + offset >= strings.end:
        return ""
    piece = bytes(elf.data[strings.start + offset : min(strings.end, strings.start + offset + 512)])
    return piece.partition(b"\0")[0].decode("utf-8", "replace")
