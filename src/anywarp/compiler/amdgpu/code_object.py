"""What a code object says of its kernel: the metadata that the compiler leaves in its note, as ROCm's loader reads it.

The note is MessagePack; the reader knows the part of it that LLVM writes there.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

_NOTE_TYPE = 32  # NT_AMDGPU_METADATA
_SHT_NOTE = 7


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """Registers and memory of a kernel.

    `agprs` are among the `vgprs`. Bytes of scratch memory per lane and of static shared memory (`lds`); registers that were
    spilled; the most threads of a workgroup; the size of the argument buffer.
    """

    name: str
    wave: int
    vgprs: int
    agprs: int
    sgprs: int
    scratch: int
    vgpr_spills: int
    sgpr_spills: int
    lds: int
    max_threads: int
    argument_bytes: int


def kernel_metadata(code: bytes) -> KernelMetadata:
    """Return the metadata of the only kernel in an object or code object; ValueError if there is none."""
    kernels = metadata(code)["amdhsa.kernels"]
    if len(kernels) != 1:
        raise ValueError(f"a code object with {len(kernels)} kernels")
    k: dict[str, Any] = kernels[0]
    return KernelMetadata(
        k[".name"], k[".wavefront_size"], k[".vgpr_count"], k.get(".agpr_count", 0), k[".sgpr_count"],
        k[".private_segment_fixed_size"], k.get(".vgpr_spill_count", 0), k.get(".sgpr_spill_count", 0),
        k[".group_segment_fixed_size"], k[".max_flat_workgroup_size"], k[".kernarg_segment_size"],
    )  # fmt: skip


def metadata(code: bytes) -> dict[str, Any]:
    """Return the metadata of an ELF file for AMD GPUs; ValueError if it has none or is damaged."""
    try:
        return _metadata(code)
    except (struct.error, UnicodeDecodeError, TypeError):
        raise ValueError("a damaged file") from None


def _metadata(code: bytes) -> dict[str, Any]:
    for offset, size in _notes(code):
        end = offset + size
        while offset + 12 <= end:
            name_bytes, bytes, type = struct.unpack_from("<III", code, offset)
            start = offset + 12 + (name_bytes + 3) // 4 * 4
            if type == _NOTE_TYPE and code[offset + 12 :].startswith(b"AMDGPU\0"):
                return _Reader(code[start : start + bytes]).value()
            offset = start + (bytes + 3) // 4 * 4
    raise ValueError("a file without metadata of a kernel")


def _notes(code: bytes) -> list[tuple[int, int]]:
    if code[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not an ELF file of 64 bits")
    (at,) = struct.unpack_from("<Q", code, 40)
    size, count = struct.unpack_from("<HH", code, 58)
    found: list[tuple[int, int]] = []
    for i in range(count):
        (type,) = struct.unpack_from("<I", code, at + i * size + 4)
        if type == _SHT_NOTE:
            found.append(struct.unpack_from("<QQ", code, at + i * size + 24))
    return found


_NUMBERS = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
_LENGTHS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}


class _Reader:
    """MessagePack: maps, arrays, texts, whole numbers and truth values."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def _number(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def value(self) -> Any:
        """Return the next value."""
        code = self._number(">B")
        if code <= 0x7F or code >= 0xE0:
            return code if code <= 0x7F else code - 256
        if code in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[code]
        if code in _NUMBERS:
            return self._number(_NUMBERS[code])
        if code <= 0xBF:
            kind, count = (
                ("map", code & 15) if code <= 0x8F else ("array", code & 15) if code <= 0x9F else ("text", code & 31)
            )
        elif code in _LENGTHS:
            count = self._number(_LENGTHS[code])
            kind = "text" if code <= 0xDB else "array" if code <= 0xDD else "map"
        else:
            raise ValueError(f"metadata with the type {code:#x}")
        return self._of(kind, count)

    def _of(self, kind: str, count: int) -> Any:
        if count > len(self.data):
            raise ValueError("metadata longer than the note")
        if kind == "map":
            return {self.value(): self.value() for _ in range(count)}
        if kind == "array":
            return [self.value() for _ in range(count)]
        text = self.data[self.at : self.at + count]
        self.at += count
        return text.decode()
