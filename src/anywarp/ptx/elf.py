"""The few parts of a 64-bit little-endian ELF file that lead to GPU code: sections, function symbols, segments.

Every offset in the file is checked against its size before use, because wheels are downloads and cubins come out of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from anywarp.ptx import codes

MAGIC = b"\x7fELF"
MACHINE_CUDA = 190
SECTION_LIMIT = 1 << 20
SYMBOL_LIMIT = 1 << 22

_HEADER = struct.Struct("<HHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 2, 4, 8
_SHT_PROCESSOR = 0x70000000
_STT_FUNC = 2
_SHN_XINDEX = 0xFFFF


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the file: its name, kind, address in memory, and content as `[start, end)` of the file."""

    name: str
    kind: int
    address: int
    start: int
    end: int
    link: int


@dataclass(frozen=True, slots=True)
class Elf:
    """A file's machine, flags, ABI version and sections."""

    data: memoryview
    machine: int
    flags: int
    abi: int
    sections: tuple[Section, ...]
    segments: tuple[tuple[int, int, int], ...]
    """Loaded parts as (address, file offset, size in the file)."""

    def section(self, name: str) -> memoryview | None:
        """Return the content of the first section called `name`."""
        return next((self.data[s.start : s.end] for s in self.sections if s.name == name), None)

    def offset(self, address: int) -> int | None:
        """Return where in the file the byte at `address` of the loaded program is."""
        return next((start + address - at for at, start, size in self.segments if at <= address < at + size), None)

    def functions(self) -> Iterator[tuple[str, int, int]]:
        """Yield the function symbols as (name, other, section index). Raises AnywarpError."""
        for table in self.sections:
            if table.kind == _SHT_SYMTAB:
                yield from self._functions(table)

    def addends(self) -> dict[int, int]:
        """Return what relocations with addends put at which address. Raises AnywarpError."""
        found: dict[int, int] = {}
        for table in self.sections:
            if table.kind == _SHT_RELA:
                content = self.data[table.start : table.end - (table.end - table.start) % _RELA.size]
                found.update((at, addend) for at, _, addend in _RELA.iter_unpack(content))
        return found

    def _functions(self, table: Section) -> Iterator[tuple[str, int, int]]:
        if table.link >= len(self.sections):
            raise _damaged("the symbol table has no strings")
        strings = self.sections[table.link]
        content = self.data[table.start : table.end - (table.end - table.start) % _SYMBOL.size]
        if len(content) > SYMBOL_LIMIT * _SYMBOL.size:
            raise _damaged("the symbol table is implausibly large")
        for name, info, other, index, _, _ in _SYMBOL.iter_unpack(content):
            if info & 15 == _STT_FUNC and index != 0:
                yield _string(self.data, strings, name), other, index


def read(data: bytes | memoryview) -> Elf:
    """Read the tables of an ELF file. Raises AnywarpError for one that is damaged or of another class."""
    view = memoryview(data)
    if len(view) < 64 or bytes(view[:4]) != MAGIC:
        raise _damaged("the ELF header is cut off")
    if view[4] != 2 or view[5] != 1:
        raise _damaged("only 64-bit little-endian files are read")
    fields = _HEADER.unpack_from(view, 16)
    machine, phoff, shoff, flags = fields[1], fields[4], fields[5], fields[6]
    phentsize, phnum, shentsize, shnum, shstrndx = fields[8:13]
    segments = tuple(_segments(view, phoff, phentsize, phnum))
    sections = _sections(view, shoff, shentsize, shnum, shstrndx) if shoff else ()
    return Elf(view, machine, flags, view[8], sections, segments)


def _segments(view: memoryview, offset: int, size: int, count: int) -> Iterator[tuple[int, int, int]]:
    if count and (size < _SEGMENT.size or offset + size * count > len(view)):
        raise _damaged("the program headers lie outside the file")
    for i in range(count):
        kind, _, start, address, _, length, _, _ = _SEGMENT.unpack_from(view, offset + i * size)
        if kind == 1:
            yield address, start, length


def _sections(view: memoryview, offset: int, size: int, count: int, names: int) -> tuple[Section, ...]:
    if size < _SECTION.size or offset + size > len(view):
        raise _damaged("the section headers lie outside the file")
    first = _SECTION.unpack_from(view, offset)
    count = count or first[5]  # a count of zero: the real one is in the first header
    names = first[6] if names == _SHN_XINDEX else names
    if count > SECTION_LIMIT or offset + size * count > len(view) or names >= count:
        raise _damaged("the section headers lie outside the file")
    raw = [_SECTION.unpack_from(view, offset + i * size) for i in range(count)]
    strings = _section(view, "", raw[names])
    return tuple(_section(view, _string(view, strings, fields[0]), fields) for fields in raw)


def _section(view: memoryview, name: str, fields: tuple[int, ...]) -> Section:
    _, kind, _, address, start, length, link = fields[:7]
    outside = start + length > len(view)
    if kind in (0, _SHT_NOBITS) or (
        outside and kind & _SHT_PROCESSOR
    ):  # cubins have no-bits sections of their own kinds
        start = length = 0
    elif outside:
        raise _damaged(f"the section `{name[:80]}` lies outside the file")
    return Section(name, kind, address, start, start + length, link)


def _string(view: memoryview, table: Section, offset: int) -> str:
    """Return the zero-terminated string at `offset` of a string table; names are at most 64 KiB."""
    start = table.start + offset
    if start >= table.end:
        if offset == 0:
            return ""
        raise _damaged("a name lies outside its string table")
    piece = bytes(view[start : min(table.end, start + 256)])
    if b"\0" not in piece:
        piece = bytes(view[start : min(table.end, start + (1 << 16))])
    return piece.split(b"\0", 1)[0].decode("utf-8", "replace")


def _damaged(message: str) -> Exception:
    return codes.problem(codes.DAMAGED_ELF, f"the ELF file cannot be read: {message}")
