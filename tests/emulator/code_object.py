"""Read a linked AMDGPU code object: where its kernels lie, what they need, and its bytes placed for execution."""

from __future__ import annotations

import ctypes
import mmap
import struct
from dataclasses import dataclass

_UNPACK = {0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q", 0xCA: "f", 0xCB: "d"}


def message_pack(data, at=0):
    """Return (value, where it ends): the part of MessagePack that code objects use."""
    head = data[at]
    at += 1
    if head <= 0x7F or head >= 0xE0:
        return head - 256 * (head >= 0xE0), at
    if head in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[head], at
    if head in _UNPACK:
        size = struct.calcsize(_UNPACK[head])
        return struct.unpack(">" + _UNPACK[head], data[at : at + size])[0], at + size
    lengths = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
    if head in lengths:
        length = int.from_bytes(data[at : at + lengths[head]], "big")
        at += lengths[head]
    else:
        length = head & (31 if 0xA0 <= head <= 0xBF else 15)
    if 0xA0 <= head <= 0xBF or head in (0xC4, 0xC5, 0xC6, 0xD9, 0xDA, 0xDB):
        part = data[at : at + length]
        return (part if 0xC4 <= head <= 0xC6 else part.decode()), at + length
    items = []
    for _ in range(length * (2 if 0x80 <= head <= 0x8F or head in (0xDE, 0xDF) else 1)):
        value, at = message_pack(data, at)
        items.append(value)
    if 0x80 <= head <= 0x8F or head in (0xDE, 0xDF):
        return dict(zip(items[::2], items[1::2], strict=True)), at
    return items, at


@dataclass
class CodeObject:
    """A code object in memory. `base` is where its address 0 lies; `kernels` by name; `symbols` name to address."""

    memory: mmap.mmap
    base: int
    bytes: int
    symbols: dict
    kernels: dict
    target: str


def load(data):
    """Place a code object. ValueError for what is none, or has relocations that nobody should need."""
    if data[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", data, 18)[0] != 224:
        raise ValueError("not an AMDGPU code object")
    headers, sections = struct.unpack_from("<QQ", data, 32)
    header_size, header_count, section_size, section_count = struct.unpack_from("<HHHH", data, 54)
    segments = [struct.unpack_from("<IIQQQQQQ", data, headers + i * header_size) for i in range(header_count)]
    size = max(address + memory for kind, _, _, address, _, _, memory, _ in segments if kind == 1)
    room = mmap.mmap(-1, (size + 0x3000) & ~0xFFF)  # the decoder reads past the last instruction
    base = ctypes.addressof(ctypes.c_char.from_buffer(room))
    meta = {}
    for kind, _, offset, address, _, in_file, _, _ in segments:
        if kind == 1:
            room[address : address + in_file] = data[offset : offset + in_file]
        if kind == 4:
            meta = _note(data[offset : offset + in_file]) or meta
    table = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * section_size) for i in range(section_count)]
    symbols = {}
    for _, kind, _, _, offset, length, link, _, _, _ in table:
        if kind in (2, 11):
            for at in range(offset, offset + length, 24):
                name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
                start = table[link][4] + name
                symbols.setdefault(data[start : data.index(b"\0", start)].decode(), value)
        if kind == 4:
            _relocate(room, base, data, offset, length)
    kernels = {kernel[".name"]: kernel for kernel in meta.get("amdhsa.kernels", [])}
    return CodeObject(room, base, size, symbols, kernels, meta.get("amdhsa.target", ""))


def _note(data):
    at = 0
    while at < len(data):
        name, length, kind = struct.unpack_from("<III", data, at)
        start = at + 12 + (name + 3 & ~3)
        if kind == 32:
            return message_pack(data[start : start + length])[0]
        at = start + (length + 3 & ~3)
    return None


def _relocate(room, base, data, offset, length):
    for at in range(offset, offset + length, 24):
        where, info, addend = struct.unpack_from("<QQq", data, at)
        if info != 13:  # R_AMDGPU_RELATIVE64
            raise ValueError(f"relocation {info:#x}")
        room[where : where + 8] = struct.pack("<Q", base + addend & (1 << 64) - 1)
