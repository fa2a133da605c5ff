"""Integer, bit and selection operations as LLVM IR, for one scalar or one chunk of lanes.

LLVM leaves division by zero, over-wide shifts and the like undefined; here they get the values that `ptx.isa.ops` states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anywarp.compiler.attributes import Compare, Factors, Signed
from anywarp.compiler.ir import Const, Op
from anywarp.compiler.simd.text import LLVM_TYPE, Text, splat, vector_type
from anywarp.ptx.isa.ops import BITS

BINARY = {"add": "add", "sub": "sub", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
SHIFTS = {"shl": "shl", "lshr": "lshr", "ashr": "ashr"}


def binary(t: Text, op: Op, n: int, a: str, b: str) -> str:
    """Emit a two-operand operation that LLVM has as such."""
    return t.let(f"{BINARY[op.name]} {vector_type(LLVM_TYPE[op.type], n)} {a}, {b}")


def invert(t: Text, op: Op, n: int, a: str) -> str:
    """Emit the complement of all bits."""
    return t.let(f"xor {vector_type(LLVM_TYPE[op.type], n)} {a}, {splat(op.type, -1, n)}")


def shift(t: Text, op: Op, n: int, a: str, amount: str) -> str:
    """Emit a shift whose amount may reach or exceed the width."""
    width, type = BITS[op.type], vector_type(LLVM_TYPE[op.type], n)
    by = op.args[1]
    if isinstance(by, Const):
        if by.bits < width:
            return t.let(f"{op.name} {type} {a}, {amount}")
        return t.let(f"ashr {type} {a}, {splat(op.type, width - 1, n)}") if op.name == "ashr" else splat(op.type, 0, n)
    if op.name == "ashr":
        limit = t.call(
            type, f"llvm.umin.{t.mangle(LLVM_TYPE[op.type], n)}", (type, amount), (type, splat(op.type, width - 1, n))
        )
        return t.let(f"ashr {type} {a}, {limit}")
    inside = t.let(f"icmp ult {type} {amount}, {splat(op.type, width, n)}")
    masked = t.let(f"and {type} {amount}, {splat(op.type, width - 1, n)}")
    shifted = t.let(f"{op.name} {type} {a}, {masked}")
    return t.let(f"select {vector_type('i1', n)} {inside}, {type} {shifted}, {type} {splat(op.type, 0, n)}")


def compare(t: Text, op: Op, n: int, a: str, b: str) -> str:
    """Emit an integer comparison."""
    return t.let(f"icmp {Compare.of(op).predicate} {vector_type(LLVM_TYPE[op.args[0].type], n)} {a}, {b}")


def select(t: Text, op: Op, n: int, condition: str, a: str, b: str) -> str:
    """Emit a choice per lane."""
    type = vector_type(LLVM_TYPE[op.type], n)
    return t.let(f"select {vector_type('i1', n)} {condition}, {type} {a}, {type} {b}")


def extreme(t: Text, op: Op, n: int, a: str, b: str) -> str:
    """Emit an integer minimum or maximum."""
    element = LLVM_TYPE[op.type]
    type = vector_type(element, n)
    return t.call(
        type, f"llvm.{'s' if Signed.of(op).signed else 'u'}{op.name}.{t.mangle(element, n)}", (type, a), (type, b)
    )


def count(t: Text, op: Op, n: int, a: str) -> str:
    """Emit ctpop, ctlz, cttz or bitreverse; counts of zeros are the width for 0."""
    element = LLVM_TYPE[op.type]
    type = vector_type(element, n)
    extra = [("i1", "false")] if op.name in ("ctlz", "cttz") else []
    return t.call(type, f"llvm.{op.name}.{t.mangle(element, n)}", (type, a), *extra)


def resize(t: Text, op: Op, n: int, a: str) -> str:
    """Emit trunc, zext or sext; equal widths are the value itself."""
    source = op.args[0].type
    if BITS[source] == BITS[op.type]:
        return a
    return t.let(f"{op.name} {vector_type(LLVM_TYPE[source], n)} {a} to {vector_type(LLVM_TYPE[op.type], n)}")


def bitcast(t: Text, op: Op, n: int, a: str) -> str:
    """Emit the reinterpretation of bits; types that are held alike need nothing."""
    source, target = LLVM_TYPE[op.args[0].type], LLVM_TYPE[op.type]
    return a if source == target else t.let(f"bitcast {vector_type(source, n)} {a} to {vector_type(target, n)}")


def multiply_high(t: Text, op: Op, n: int, a: str, b: str) -> str:
    """Emit the upper half of the product."""
    width, signed = BITS[op.type], Signed.of(op).signed
    if n and width == 64:
        return _multiply_high_64(t, n, a, b, signed)
    if n > 2 and width == 32:
        return _multiply_high_32(t, n, a, b, signed)
    type, wide, extend = vector_type(f"i{width}", n), vector_type(f"i{2 * width}", n), "sext" if signed else "zext"
    x = t.let(f"{extend} {type} {a} to {wide}")
    y = t.let(f"{extend} {type} {b} to {wide}")
    product = t.let(f"mul {wide} {x}, {y}")
    by = f"splat (i{2 * width} {width})" if n else str(width)
    return t.cast("trunc", wide, t.two("lshr", wide, product, by), type)


def dot4(t: Text, op: Op, n: int, a: str, b: str, c: str, vnni: bool = False, pairs: bool = False) -> str:
    """Emit the sum of a number and of the products of four bytes.

    `vnni`: the processor has `vpdpbusd`, which multiplies unsigned by signed bytes: where signs are equal, one side is moved by 128 and that
    taken off again. `pairs`: it has `vpmaddwd`, which adds products of half-words by pairs.
    """
    signed = Factors.of(op).signed
    type = vector_type("i32", n)
    if vnni and n in (4, 8, 16):
        if signed == (True, False):
            a, b = b, a
        if signed[0] != signed[1]:
            return dot_bytes(t, n, c, a, b)
        moved = t.two("xor", type, a if signed[0] else b, HIGH_BITS)
        total, taken = ((moved, b), (HIGH_BITS, b)) if signed[0] else ((a, moved), (a, HIGH_BITS))
        return t.two("sub", type, dot_bytes(t, n, c, *total), dot_bytes(t, n, "zeroinitializer", *taken))
    if pairs and n in (8, 16):
        for x, y in zip(half_words(t, n, a, signed[0]), half_words(t, n, b, signed[1]), strict=True):
            c = t.two("add", type, c, dot_half_words(t, n, x, y))
        return c
    for at in (24, 16, 8, 0):
        x, y = (_byte(t, n, word, at, s) for word, s in zip((a, b), signed, strict=True))
        c = t.two("add", type, c, t.two("mul", type, x, y))
    return c


def _byte(t: Text, n: int, word: str, up: int, signed: bool) -> str:
    type, down = vector_type("i32", n), splat("i32", 24, n)
    moved = t.two("shl", type, word, splat("i32", up, n)) if up else word
    return t.two("ashr" if signed else "lshr", type, moved, down)


def half_words(t: Text, n: int, word: str, signed: bool) -> list[str]:
    """Return the first and third, and the second and fourth bytes of words, each as a half-word of its own."""
    type = vector_type("i16", 2 * n)
    x, by, down = (
        t.cast("bitcast", vector_type("i32", n), word, type),
        splat("i16", 8, 2 * n),
        "ashr" if signed else "lshr",
    )
    return [t.two(down, type, each, by) for each in (t.two("shl", type, x, by), x)]


def dot_half_words(t: Text, n: int, a: str, b: str) -> str:
    """vpmaddwd: sums of two products of signed half-words."""
    type = vector_type("i16", 2 * n)
    name = {16: "llvm.x86.avx512.pmaddw.d.512", 8: "llvm.x86.avx2.pmadd.wd"}[n]
    return t.call(vector_type("i32", n), name, (type, a), (type, b))


HIGH_BITS = "splat (i32 -2139062144)"
"""0x80 in each byte."""


def dot_bytes(t: Text, n: int, total: str, unsigned: str, signed: str) -> str:
    """vpdpbusd: a total and sums of four products, modulo 2^32."""
    word, bytes = vector_type("i32", n), vector_type("i8", 4 * n)
    pairs = [(bytes, t.cast("bitcast", word, x, bytes)) for x in (unsigned, signed)]
    return t.call(word, f"llvm.x86.avx512.vpdpbusd.{32 * n}", (word, total), *pairs)


def _multiply_high_32(t: Text, n: int, a: str, b: str, signed: bool) -> str:
    """From the products of every other lane, and of those between, each with room for its product.

    Written as a product of n wide numbers and shifted, LLVM makes one of that shift and those that a division goes on with, and
    takes twice the vectors for all of it.
    """
    narrow, wide, by = f"<{n} x i32>", f"<{n // 2} x i64>", splat("i64", 32, n // 2)

    def halves(x: str) -> tuple[str, str]:
        pairs = t.let(f"bitcast {narrow} {x} to {wide}")
        if not signed:
            return t.let(f"and {wide} {pairs}, {splat('i64', 0xFFFFFFFF, n // 2)}"), t.let(f"lshr {wide} {pairs}, {by}")
        return t.two("ashr", wide, t.let(f"shl {wide} {pairs}, {by}"), by), t.let(f"ashr {wide} {pairs}, {by}")

    products = [t.let(f"mul {wide} {x}, {y}") for x, y in zip(halves(a), halves(b), strict=True)]
    even, odd = (t.cast("bitcast", wide, product, narrow) for product in products)
    return t.shuffle(narrow, even, [lane + 1 + n * (lane % 2) - lane % 2 for lane in range(n)], odd)


def _multiply_high_64(t: Text, n: int, a: str, b: str, signed: bool) -> str:
    """From four 32-bit products: LLVM would take a vector of i128 apart lane by lane."""
    type, low = vector_type("i64", n), splat("i64", 0xFFFFFFFF, n)

    def halves(x: str) -> tuple[str, str]:
        return t.let(f"and {type} {x}, {low}"), t.let(f"lshr {type} {x}, {splat('i64', 32, n)}")

    (al, ah), (bl, bh) = halves(a), halves(b)
    ll, lh, hl, hh = (t.let(f"mul {type} {x}, {y}") for x, y in ((al, bl), (al, bh), (ah, bl), (ah, bh)))
    by = splat("i64", 32, n)
    middle = t.two("add", type, t.two("lshr", type, ll, by), lh)
    middle_low, middle_high = halves(middle)
    second = t.let(f"add {type} {middle_low}, {hl}")
    high = t.two("add", type, t.two("add", type, hh, middle_high), t.two("lshr", type, second, by))
    if not signed:
        return high
    for x, y in ((a, b), (b, a)):  # a negative factor counted 2**64 too much of the other
        sign = t.let(f"ashr {type} {x}, {splat('i64', 63, n)}")
        high = t.two("sub", type, high, t.two("and", type, sign, y))
    return high


def divide(t: Text, op: Op, n: int, a: str, b: str) -> str:
    """Emit div or rem, total: by zero all ones or the dividend; the most negative by -1 wraps."""
    signed, width, type = Signed.of(op).signed, BITS[op.type], vector_type(LLVM_TYPE[op.type], n)
    by = op.args[1]
    letter = "s" if signed else "u"
    if isinstance(by, Const) and by.bits and by.bits != (1 << width) - 1:
        return t.let(f"{letter}{op.name} {type} {a}, {b}")
    zero = t.let(f"icmp eq {type} {b}, {splat(op.type, 0, n)}")
    bad = zero
    mask = vector_type("i1", n)
    if signed:
        minus = t.let(f"icmp eq {type} {b}, {splat(op.type, -1, n)}")
        least = t.let(f"icmp eq {type} {a}, {splat(op.type, 1 << (width - 1), n)}")
        bad = t.two("or", mask, zero, t.two("and", mask, minus, least))
    safe = t.let(f"select {mask} {bad}, {type} {splat(op.type, 1, n)}, {type} {b}")
    if n and width <= 32:
        quotient = _divide_as_floats(t, n, width, a, safe, signed)
    else:
        quotient = t.let(f"{letter}div {type} {a}, {safe}")
    if op.name == "div":
        return t.let(f"select {mask} {zero}, {type} {splat(op.type, -1, n)}, {type} {quotient}")
    # With divisor zero the product is zero, with -1 and the most negative it wraps to the dividend: both as wanted.
    return t.two("sub", type, a, t.two("mul", type, quotient, b))


@dataclass(frozen=True, slots=True)
class Divisor:
    """A divisor that all lanes share, with what makes a division by it a product: scalars (i32)."""

    value: str
    factor: str
    first: str
    second: str


def make_divisor(t: Text, value: str, signed: bool) -> Divisor:
    """Compute once what dividing by an i32 takes, by its size if signed.

    Torbjoern Granlund and Peter L. Montgomery, Division by Invariant Integers using Multiplication (PLDI 1994), figure 4.1: for
    2**(l - 1) < d <= 2**l the factor is 2**32 * (2**l - d) / d + 1, rounded down.
    """
    size = t.call("i32", "llvm.abs.i32", ("i32", value), ("i1", "false")) if signed else value
    size = t.call("i32", "llvm.umax.i32", ("i32", size), ("i32", "1"))  # by zero is answered elsewhere
    zeros = t.call("i32", "llvm.ctlz.i32", ("i32", t.two("sub", "i32", size, "1")), ("i1", "false"))
    power = t.two("sub", "i32", "32", zeros)
    d = t.cast("zext", "i32", size, "i64")
    beyond = t.two("sub", "i64", t.two("shl", "i64", "1", t.cast("zext", "i32", power, "i64")), d)
    factor = t.two("add", "i64", t.two("udiv", "i64", t.two("shl", "i64", beyond, "32"), d), "1")
    first = t.call("i32", "llvm.umin.i32", ("i32", power), ("i32", "1"))
    second = t.call("i32", "llvm.usub.sat.i32", ("i32", power), ("i32", "1"))
    return Divisor(value, t.cast("trunc", "i64", factor, "i32"), first, second)


def divide_by(t: Text, op: Op, n: int, a: str, by: Divisor, spread: Callable[[str], str]) -> str:
    """Emit div or rem of a chunk by a divisor that all lanes share; `spread` makes a chunk of a scalar. Total, as `divide` is."""
    signed, type = Signed.of(op).signed, vector_type("i32", n)
    wide, up = vector_type("i64", n), splat("i64", 32, n)
    size = t.call(type, f"llvm.abs.{t.mangle('i32', n)}", (type, a), ("i1", "false")) if signed else a
    product = t.two("mul", wide, t.cast("zext", type, size, wide), t.cast("zext", type, spread(by.factor), wide))
    high = t.cast("trunc", wide, t.two("lshr", wide, product, up), type)
    rest = t.two("lshr", type, t.two("sub", type, size, high), spread(by.first))
    quotient = t.two("lshr", type, t.two("add", type, high, rest), spread(by.second))
    whole = spread(by.value)
    if signed:
        sign = t.let(f"ashr {type} {t.two('xor', type, a, whole)}, {splat('i32', 31, n)}")
        quotient = t.two("sub", type, t.two("xor", type, quotient, sign), sign)
    if op.name == "rem":
        return t.two("sub", type, a, t.two("mul", type, quotient, whole))
    zero = t.two("icmp eq", "i32", by.value, "0")
    return t.let(f"select i1 {zero}, {type} {splat('i32', -1, n)}, {type} {quotient}")


def _divide_as_floats(t: Text, n: int, width: int, a: str, b: str, signed: bool) -> str:
    """Divide by way of floats, as vectors have no integer division.

    Exact: a quotient that is no integer misses the next one by at least 1/b, more than 2**-width of itself, while the
    float's error is 2**-53 (2**-24 up to 16 bits) of it.
    """
    type, element = vector_type(f"i{width}", n), "double" if width == 32 else "float"
    real, s = vector_type(element, n), "s" if signed else "u"
    x = t.let(f"{s}itofp {type} {a} to {real}")
    y = t.let(f"{s}itofp {type} {b} to {real}")
    q = t.let(f"fdiv {real} {x}, {y}")
    return t.let(f"fpto{s}i {real} {q} to {type}")
