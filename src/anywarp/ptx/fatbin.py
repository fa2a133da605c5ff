"""GPU images out of whatever carries them: fat binaries, ELF files, cubins, PTX text.

The PTX a program needs is usually compressed inside a section of a shared library. Sizes in headers are claims by a file from
elsewhere: each is checked against what is there, and a payload is never larger than it claims nor than a limit.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import zstandard
from lz4 import block as lz4_block  # pyright: ignore[reportMissingTypeStubs]

from anywarp.ptx import codes, elf

Kind = Literal["ptx", "cubin", "other"]
Compression = Literal["none", "lz4", "zstd"]

SECTIONS = (".nv_fatbin", "__nv_relfatbin")
"""Where libraries and programs carry fat binaries; the second has those whose device code is linked across files (nvcc -rdc=true)."""

FATBIN_MAGIC = 0xBA55ED50
WRAPPER_MAGIC = 0x466243B1
PAYLOAD_LIMIT = 1 << 30
"""Most bytes one payload may have; the largest seen in published packages is under 64 MiB."""

_FATBIN = struct.Struct("<IHHQ")
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_WRAPPER = struct.Struct("<IIQQ")
_KINDS: dict[int, Kind] = {1: "ptx", 2: "cubin"}
_LZ4, _ZSTD, _ARCH_A, _ARCH_F = 0x2000, 0x8000, 0x100000, 0x200000
_LZ4_RATIO = 255
_ZSTD_WINDOW = 1 << 27
_CHUNK = 1 << 20
_STO_CUDA_ENTRY = 0x10

_lz4_decompress: Callable[..., bytes] = lz4_block.decompress  # pyright: ignore
_LZ4_ERROR: type[Exception] = lz4_block.LZ4BlockError  # pyright: ignore

_COMMENT = rb"(?:\s+|//[^\n]*|/\*[\s\S]*?\*/)*"
_PTX_START = re.compile(_COMMENT + rb"(\.version\b|)")
_PTX_HEAD = re.compile(rb"\.version\s+(\d{1,4})\.(\d{1,4})\s[\s\S]{0,4096}?\.target\s+[a-z]+_(\d{1,5})([af]?)")


@dataclass(frozen=True, slots=True)
class Image:
    """One image: PTX, a cubin (SASS) or something else; `arch` 90 with `variant` "a" is sm_90a.

    `version` is the PTX version for PTX. `stored` is the payload as it lies in the file, `size` its claimed uncompressed size.
    """

    kind: Kind
    arch: int
    version: tuple[int, int]
    compression: Compression
    size: int
    variant: str = ""
    stored: memoryview = field(default=memoryview(b""), repr=False)

    @property
    def target(self) -> str:
        """The architecture as NVIDIA spells it: sm_90a."""
        return f"sm_{self.arch}{self.variant}"

    def payload(self, limit: int = PAYLOAD_LIMIT) -> bytes:
        """Return the uncompressed payload of exactly `size` bytes. Raises AnywarpError when damaged or over `limit` bytes."""
        if self.size > limit:
            message = f"the {self.kind} image claims {self.size} bytes, more than the limit of {limit}"
            raise codes.problem(codes.TOO_LARGE, message)
        return _UNPACK[self.compression](self.stored, self.size)


def images(data: bytes | memoryview) -> Iterator[Image]:
    """Yield the images in an ELF file, a fat binary, its wrapper, a cubin or PTX text, in order.

    A host ELF file without GPU code yields nothing. Raises AnywarpError for anything else or when damaged.
    """
    view = memoryview(data)
    magic = int.from_bytes(view[:4], "little")
    if magic == FATBIN_MAGIC:
        yield from _fatbins(view)
    elif magic == WRAPPER_MAGIC:
        yield from _behind_wrapper(view)
    elif bytes(view[:4]) == elf.MAGIC:
        yield from _from_elf(view)
    elif is_ptx(view):
        yield _ptx_text(view)
    else:
        help = "give an ELF file, a fat binary, a cubin or PTX text"
        raise codes.problem(codes.NOT_AN_IMAGE, "this is no GPU image", help=help)


def best_ptx(data: bytes | memoryview) -> Image | None:
    """Return the PTX for the highest architecture, a plain one before an arch-specific one, or None."""
    found = (i for i in images(data) if i.kind == "ptx")
    return max(found, key=lambda i: (i.arch, i.variant == "", i.version), default=None)


def is_ptx(data: bytes | memoryview) -> bool:
    """Tell whether `data` begins, after comments, as PTX does."""
    match = _PTX_START.match(bytes(data[: 1 << 16]))
    return match is not None and match.group(1) != b""


def kernels(cubin: bytes | memoryview) -> tuple[str, ...]:
    """Return the kernels of a cubin: its global functions marked as entries, or all `.text.NAME` if none is marked."""
    read = elf.read(cubin)
    marked = {name for name, other, _ in read.functions() if other & _STO_CUDA_ENTRY}
    named = [s.name[6:] for s in read.sections if s.name.startswith(".text.") and len(s.name) > 6]
    return tuple(n for n in named if n in marked) if marked else tuple(named)


def _fatbins(view: memoryview) -> Iterator[Image]:
    """Walk fat binaries that follow one another, zeros between them."""
    at = 0
    while at < len(view):
        if len(view) - at < _FATBIN.size:
            if any(view[at:]):
                raise _short("the header of a fat binary")
            return
        magic, version, header, size = _FATBIN.unpack_from(view, at)
        if magic == 0:
            at = _skip_zeros(view, at)
            continue
        if magic != FATBIN_MAGIC or version != 1 or header < _FATBIN.size:
            message = f"no fat binary of a known version at byte {at}"
            raise codes.problem(codes.NOT_AN_IMAGE, message, help="the file may be damaged", offset=at)
        if header + size > len(view) - at:
            raise _short("a fat binary")
        yield from _entries(view[at + header : at + header + size])
        at += header + size


def _skip_zeros(view: memoryview, at: int) -> int:
    """Return the offset of the next byte that is not zero, stepping in pieces; rounded down to a multiple of 4."""
    while at < len(view):
        piece = bytes(view[at : at + _CHUNK])
        rest = piece.lstrip(b"\0")
        if rest:
            return at + (len(piece) - len(rest)) // 4 * 4
        at += len(piece)
    return at


def _entries(view: memoryview) -> Iterator[Image]:
    """Walk the entries of one fat binary."""
    at = 0
    while at < len(view):
        if len(view) - at < _ENTRY.size:
            if any(view[at:]):
                raise _short("the header of an image")
            return
        fields = _ENTRY.unpack_from(view, at)
        header, padded = fields[2], fields[3]
        if header < _ENTRY.size or header + padded > len(view) - at:
            raise _short("an image")
        yield _entry(fields, view[at + header : at + header + padded])
        at += header + padded


def _entry(fields: tuple[int, ...], payload: memoryview) -> Image:
    """Make the image of one entry; sizes of zero mean: as stored."""
    kind, packed, minor, major, arch, flags, size = (fields[i] for i in (0, 4, 6, 7, 8, 11, 13))
    compression: Compression = "lz4" if flags & _LZ4 else "zstd" if flags & _ZSTD else "none"
    if flags & _LZ4 and flags & _ZSTD:
        raise codes.problem(codes.UNKNOWN_COMPRESSION, f"an image is marked as both LZ4 and zstd (flags {flags:#x})")
    if packed > len(payload):
        raise _short("the payload of an image")
    if compression == "none":
        packed = size = packed or len(payload)
    variant = "a" if flags & _ARCH_A else "f" if flags & _ARCH_F else ""
    stored = payload[: packed or len(payload)]
    return Image(_KINDS.get(kind, "other"), arch, (major, minor), compression, size, variant, stored)


def _behind_wrapper(view: memoryview) -> Iterator[Image]:
    """Find the fat binary of a wrapper that was cut out of a file: the wrapper's address is of no use there."""
    at = bytes(view[: 1 << 16]).find(FATBIN_MAGIC.to_bytes(4, "little"), _WRAPPER.size)
    if at < 0:
        message = "this is only the wrapper of a fat binary; the images it points to are not in it"
        raise codes.problem(codes.NOT_AN_IMAGE, message, help="give the file the wrapper was taken from")
    yield from _fatbins(view[at:])


def _from_elf(view: memoryview) -> Iterator[Image]:
    """Yield a cubin itself, or what lies in the sections of a host file."""
    read = elf.read(view)
    if read.machine == elf.MACHINE_CUDA:
        arch = read.flags >> 8 & 0xFF if read.abi >= 8 else read.flags & 0xFF
        yield Image("cubin", arch, (0, 0), "none", len(view), "", view)
        return
    sections = [read.section(name) for name in SECTIONS]
    if any(section is not None for section in sections):
        for section in sections:
            yield from _fatbins(section) if section is not None else ()
    else:
        yield from _pointed_at(read)


def _pointed_at(read: elf.Elf) -> Iterator[Image]:
    """Follow the wrappers in .nvFatBinSegment, for files whose fat binaries lie in another section."""
    found = next((s for s in read.sections if s.name == ".nvFatBinSegment"), None)
    if found is None:
        return
    addends = read.addends()
    for at in range(found.start, found.end - _WRAPPER.size + 1, _WRAPPER.size):
        magic, _, address, _ = _WRAPPER.unpack_from(read.data, at)
        if magic != WRAPPER_MAGIC:
            raise codes.problem(codes.NOT_AN_IMAGE, f"no wrapper of a fat binary at byte {at}", offset=at)
        address = address or addends.get(found.address + at - found.start + 8, 0)
        start = read.offset(address)
        if start is None or len(read.data) - start < _FATBIN.size:
            raise _short("a fat binary that a wrapper points to")
        magic, _, header, size = _FATBIN.unpack_from(read.data, start)
        yield from _fatbins(read.data[start : start + header + size if magic == FATBIN_MAGIC else start + 16])


def _ptx_text(view: memoryview) -> Image:
    match = _PTX_HEAD.search(bytes(view[: 1 << 20]))
    if match is None:
        raise codes.problem(codes.NO_HEADER, "the PTX has no `.version` and `.target` at its start")
    major, minor, arch = (int(match.group(i)) for i in (1, 2, 3))
    return Image("ptx", arch, (major, minor), "none", len(view), match.group(4).decode(), view)


def _unpack_none(stored: memoryview, size: int) -> bytes:
    return bytes(stored[:size])


def _unpack_lz4(stored: memoryview, size: int) -> bytes:
    if size > _LZ4_RATIO * len(stored) + 64:  # LZ4 cannot expand more, so the claim is false: allocate nothing
        raise _damaged("LZ4", f"{len(stored)} bytes cannot expand to {size}")
    try:
        done = _lz4_decompress(stored, uncompressed_size=size)
    except (_LZ4_ERROR, ValueError, MemoryError) as error:
        raise _damaged("LZ4", str(error)) from error
    return _exact(done, size, "LZ4")


def _unpack_zstd(stored: memoryview, size: int) -> bytes:
    """Decompress piece by piece, so that memory follows what is really there, not what a header claims."""
    pieces: list[bytes] = []
    left = size + 1
    try:
        with zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).stream_reader(stored) as reader:
            while left > 0 and (piece := reader.read(min(_CHUNK, left))):
                pieces.append(piece)
                left -= len(piece)
    except (zstandard.ZstdError, MemoryError) as error:
        raise _damaged("zstd", str(error)) from error
    return _exact(b"".join(pieces), size, "zstd")


_UNPACK: dict[Compression, Callable[[memoryview, int], bytes]] = {
    "none": _unpack_none,
    "lz4": _unpack_lz4,
    "zstd": _unpack_zstd,
}


def _exact(done: bytes, size: int, name: str) -> bytes:
    if len(done) != size:
        got = f"more than {size}" if len(done) > size else str(len(done))
        raise _damaged(name, f"{got} bytes came out where {size} were announced")
    return done


def _damaged(name: str, why: str) -> Exception:
    return codes.problem(codes.DAMAGED_PAYLOAD, f"a {name} payload is damaged: {why}", help="fetch the file again")


def _short(what: str) -> Exception:
    return codes.problem(
        codes.IMAGE_ENDS_EARLY, f"{what} is larger than the data that holds it", help="fetch the file again"
    )
