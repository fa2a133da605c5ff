"""Elements of matrices as instructions want them: fp8 as f16, 4-bit integers as bytes, unsigned bytes in two parts, sparse A as dense."""

from __future__ import annotations

from anywarp.compiler.simd.text import Text


def is_unsigned(kind: str) -> bool:
    """Whether an element type is an unsigned integer."""
    return kind[0] == "u"


def convert(t: Text, split: str, kind: str, word: str) -> list[str]:
    """Return the registers that stand for one register of elements of `kind`; the same order of elements for A and B."""
    if split == "tf32":  # the low 13 bits are ignored (section 9.7.15.5.8: undefined unless zero)
        return [t.two("and", "i32", word, str(-0x2000))]
    if split == "fp8":
        return [small_pair(t, kind, word, 0), small_pair(t, kind, word, 2)]
    if split == "nibbles":
        return [_bytes(t, kind, word), _bytes(t, kind, t.two("lshr", "i32", word, "4"))]
    return [word]


def _bytes(t: Text, kind: str, word: str) -> str:
    """The lower half of each byte as a byte, its sign in front: 8 * 0x1E = 0xF0 stays within its byte."""
    low = t.two("and", "i32", word, str(0x0F0F0F0F))
    if is_unsigned(kind):
        return low
    signs = t.two("and", "i32", word, str(0x08080808))
    return t.two("or", "i32", low, t.two("mul", "i32", signs, str(0x1E)))


def halves_of_bytes(t: Text, word: str) -> tuple[str, str]:
    """Return four unsigned bytes as numbers of seven bits and what counts 128 in each: both are signed bytes."""
    top = t.two("and", "i32", t.two("lshr", "i32", word, "7"), str(0x01010101))
    return t.two("and", "i32", word, str(0x7F7F7F7F)), top


def small_pair(t: Text, kind: str, word: str, first: int) -> str:
    """Return bytes `first` and `first + 1` of e4m3 or e5m2 numbers (OCP formats) as two f16 in an i32: exact.

    e5m2 is the upper byte of an f16. The bits of an e4m3 lie in an f16 with a bias larger by 8, so they are multiplied by 2**8, and
    0x7F is the only NaN.
    """
    low = t.two("lshr", "i32", word, str(8 * first)) if first else word
    both = t.let(f"and i32 {low}, 255")
    upper = t.two("and", "i32", t.two("shl", "i32", low, "8"), str(0xFF0000))
    both = t.two("or", "i32", both, upper)
    if kind == "e5m2":
        return t.two("shl", "i32", both, "8")
    size = t.two("and", "i32", both, str(0x007F007F))
    sign = t.two("shl", "i32", t.two("and", "i32", both, str(0x00800080)), "8")
    pair = t.cast("bitcast", "i32", t.two("shl", "i32", size, "7"), "<2 x half>")
    scaled = t.two("fmul", "<2 x half>", pair, "splat (half 0xH5C00)")
    bits = t.cast("bitcast", "<2 x half>", scaled, "i32")
    # 0x7F + 1 carries into bit 7 of its half, and nothing else does: there stands all of an f16's exponent and fraction.
    nan = t.two("lshr", "i32", t.two("and", "i32", t.two("add", "i32", size, str(0x00010001)), str(0x00800080)), "7")
    return t.two("or", "i32", t.two("or", "i32", bits, sign), t.two("mul", "i32", nan, str(0x7FFF)))


def expand_sparse(t: Text, kind: str, word: str, indices: str) -> list[str]:
    """Return the two dense registers for one register of a sparse A.

    `indices` holds at its lowest bits the indices of what this register stores: two bits for each stored element (pair of
    elements of 4 bits), four for tf32, of which the upper two say which half of the pair it is.
    """
    if kind == "tf32":
        upper = t.two("icmp ne", "i32", t.two("and", "i32", indices, "8"), "0")
        return [t.pick(0, upper, "i32", "0", word), t.pick(0, upper, "i32", word, "0")]
    if kind in ("f16", "bf16"):
        parts = [t.two("and", "i32", word, "65535"), t.two("lshr", "i32", word, "16")]
        total = ""
        for n, part in enumerate(parts):
            index = t.two("and", "i32", t.two("lshr", "i32", indices, str(2 * n)), "3")
            shift = t.cast("zext", "i32", t.two("shl", "i32", index, "4"), "i64")
            moved = t.two("shl", "i64", t.cast("zext", "i32", part, "i64"), shift)
            total = moved if not total else t.two("or", "i64", total, moved)
        high = t.cast("trunc", "i64", t.two("lshr", "i64", total, "32"), "i32")
        return [t.cast("trunc", "i64", total, "i32"), high]
    return [_four_bytes(t, word, indices, group) for group in (0, 1)]


def _four_bytes(t: Text, word: str, indices: str, group: int) -> str:
    """Two stored bytes at their places among four."""
    total = ""
    for n in (2 * group, 2 * group + 1):
        byte = t.two("and", "i32", t.two("lshr", "i32", word, str(8 * n)), "255")
        index = t.two("and", "i32", t.two("lshr", "i32", indices, str(2 * n)), "3")
        moved = t.two("shl", "i32", byte, t.two("shl", "i32", index, "3"))
        total = moved if not total else t.two("or", "i32", total, moved)
    return total
