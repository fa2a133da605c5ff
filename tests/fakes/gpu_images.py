"""Build fat binaries and ELF files byte by byte, from the published layouts, for tests that read them."""

import struct

import lz4.block
import zstandard

PTX, CUBIN = 1, 2
LZ4, ZSTD = 0x2000, 0x8000


def image(
    payload, kind=PTX, arch=80, version=(8, 0), compress="none", flags=0x11, size=None, options=b"", kind_flags=0
):
    """Return one entry of a fat binary."""
    packed = payload
    if compress == "lz4":
        packed, flags = lz4.block.compress(payload, store_size=False), flags | LZ4
    elif compress == "zstd":
        packed, flags = zstandard.ZstdCompressor().compress(payload), flags | ZSTD
    stored = packed + b"\0" * (-len(packed) % 8)
    claimed = len(payload) if size is None else size
    compressed = compress != "none"
    head = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, 64 + len(options), len(stored), len(packed) if compressed else 0, 64 if options else 0,
        version[1], version[0], arch, 0, 0, flags | kind_flags, 0, claimed if compressed else 0,
    )  # fmt: skip
    return head + options + stored


def fatbin(*entries):
    """Return a fat binary of entries."""
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def elf(sections, machine=62, flags=0, abi=0, symbols=(), segments=()):
    """Return a 64-bit ELF file. `sections`: name to content, or to (content, address); symbols: (name, info, other, section)."""
    contents = {n: c if isinstance(c, tuple) else (c, 0) for n, c in sections.items()}
    order = ["", *contents]
    if symbols:
        strings, table = b"\0", b"\0" * 24
        for name, info, other, section in symbols:
            table += struct.pack("<IBBHQQ", len(strings), info, other, order.index(section), 0, 0)
            strings += name.encode() + b"\0"
        contents |= {".symtab": (table, 0), ".strtab": (strings, 0)}
        order += [".symtab", ".strtab"]
    order.append(".shstrtab")
    names = b"".join(n.encode() + b"\0" for n in order)
    contents[".shstrtab"] = (names, 0)
    at, body, heads = 64 + 56 * len(segments), b"", [b"\0" * 64]
    offsets = {}
    for name in order[1:]:
        content, address = contents[name]
        offsets[name] = at + len(body)
        kind = {".symtab": 2, ".strtab": 3, ".shstrtab": 3, ".rela.dyn": 4}.get(name, 1)
        link = order.index(".strtab") if name == ".symtab" else 0
        place = names.index(b"\0" + name.encode() + b"\0") + 1
        heads.append(struct.pack("<IIQQQQIIQQ", place, kind, 0, address, at + len(body), len(content), link, 0, 8, 0))
        body += content + b"\0" * (-len(content) % 8)
    loads = b"".join(
        struct.pack("<IIQQQQQQ", 1, 4, offsets[name], address, address, size, size, 8)
        for name, address, size in segments
    )
    head = b"\x7fELF\x02\x01\x01\x00" + bytes([abi]) + b"\0" * 7
    head += struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 64 if segments else 0, at + len(body), flags, 64, 56, len(segments), 64, len(heads),
        len(heads) - 1,
    )  # fmt: skip
    return head + loads + body + b"".join(heads)


def cubin(kernels, arch=80, helpers=()):
    """Return a cubin with kernels and device functions."""
    sections = {f".text.{n}": b"\0" * 16 for n in (*kernels, *helpers)}
    symbols = [(n, 0x12, 0x10, f".text.{n}") for n in kernels] + [(n, 0x12, 0, f".text.{n}") for n in helpers]
    return elf(sections, 190, arch << 8, 8, symbols)


def ptx(*kernels, target="sm_80", body="ret;"):
    """Return PTX with kernels of one body."""
    text = f".version 8.0\n.target {target}\n.address_size 64\n"
    return (text + "".join(f".visible .entry {k}()\n{{\n\t{body}\n}}\n" for k in kernels)).encode()
