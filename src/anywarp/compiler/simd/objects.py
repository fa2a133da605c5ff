"""What an object file of ours asks of its surroundings: the functions it imports, and room on the stack.

Read by hand, because every kernel passes here and a general reader of ELF files takes longer than some compilations.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from anywarp.ptx import elf

_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB, _X86_64 = 2, 62
_PROLOGUE = 160
"""Bytes of a function within which it makes its frame."""

_ON_STACK = re.compile(
    rb"(?:\x62...|\xc5.|\xc4..).[\x44\x4c\x54\x5c\x64\x6c\x74\x7c\x84\x8c\x94\x9c\xa4\xac\xb4\xbc]\x24", re.DOTALL
)
"""An instruction on vectors (Intel 64 manual, 2.3 and 2.7: a prefix EVEX or VEX, the opcode, ModRM, SIB) with an operand at rsp and a distance."""


def imported_symbols(code: bytes) -> set[str]:
    """Return the names that an object leaves undefined."""
    return {name for name, section, _ in _symbols(elf.read(code)) if section == 0 and name}


def stack_bytes(code: bytes, symbol: str) -> int:
    """Return how much of the stack the function `symbol` takes, calls to what it imports apart; 0 if that cannot be told.

    Intel 64 manual, SUB: the frame is made by `sub rsp, imm32` (48 81 EC) or `sub rsp, imm8` (48 83 EC) behind at most six
    pushes, and aligned by at most 64 bytes; a function that needs at most 128 bytes makes none.
    """
    read = elf.read(code)
    place = next(((s, value) for name, s, value in _symbols(read) if name == symbol), None)
    if read.machine != _X86_64 or place is None or not 0 < place[0] < len(read.sections):
        return 0
    start = read.sections[place[0]].start + place[1]
    head = bytes(read.data[start : start + _PROLOGUE])
    wide, narrow = head.find(b"\x48\x81\xec"), head.find(b"\x48\x83\xec")
    if wide >= 0 and (narrow < 0 or wide < narrow):
        size = int.from_bytes(head[wide + 3 : wide + 7], "little")
    elif narrow >= 0:
        size = head[narrow + 3]
    else:
        size = 128  # at most what System V's ABI lets a function use below the stack pointer
    return size + 256


def vectors_on_stack(code: bytes) -> int:
    """Count the instructions of an object that read or write vectors on the stack: what LLVM spilled, and what it keeps there anyway.

    Found by their bytes, without taking instructions apart: one in some ten thousand may be none. 0 for other processors.
    """
    read = elf.read(code)
    if read.machine != _X86_64:
        return 0
    return sum(len(_ON_STACK.findall(read.data, s.start, s.end)) for s in read.sections if s.name.startswith(".text"))


def functions(code: bytes) -> int:
    """Return how many functions an object holds."""
    return sum(1 for _ in elf.read(code).functions())


def _symbols(read: elf.Elf) -> Iterator[tuple[str, int, int]]:
    """Yield name, section and value of each symbol."""
    table = next((s for s in read.sections if s.kind == _SYMTAB), None)
    if table is None:
        return
    strings = bytes(read.data[read.sections[table.link].start : read.sections[table.link].end])
    for name, _, _, section, value, _ in _SYMBOL.iter_unpack(read.data[table.start : table.end]):
        yield strings[name : strings.index(b"\0", name)].decode(), section, value
