"""Integer arithmetic, bit instructions, extended precision, logic and shifts, by Python's own whole numbers."""

# pyright: basic
from __future__ import annotations

import operator
from collections.abc import Iterator

from anywarp.check.conformance.rows import Row, bounds, number, row, sequence, signed, wrap

TYPES = ("u16", "u32", "u64", "s16", "s32", "s64")
BITS = ("b16", "b32", "b64")


def width(ptx):
    return int(ptx[1:])


def clamp(value, ptx):
    low, high = bounds(ptx)
    return wrap(max(low, min(high, value)), width(ptx))


def on(ptx, function):
    """Lift a function of numbers to bit patterns of an integer type."""
    return lambda *bits: wrap(function(*(number(ptx, b) for b in bits)), width(ptx))


def truncated_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def division(ptx, function):
    """The manual leaves division by zero open."""

    def expected(a, b):
        x, y = number(ptx, a), number(ptx, b)
        return None if y == 0 else wrap(function(x, y), width(ptx))

    return expected


def high_half(w):
    return lambda a, b: a * b >> w


def high_half_plus(w):
    return lambda a, b, c: (a * b >> w) + c


def per_half(function):
    def expected(*words):
        low = function(*(wrap(w, 16) for w in words))
        high = function(*(w >> 16 for w in words))
        return low | high << 16

    return expected


def per_byte(function):
    def expected(*words):
        return sum(function(*(w >> n & 0xFF for w in words)) << n for n in range(0, 32, 8))

    return expected


M64 = (1 << 64) - 1


def carryless(a, b):
    """The product of two polynomials over the field of two elements."""
    total = 0
    while a:
        total ^= b * (a & -a)
        a &= a - 1
    return total


def arithmetic() -> Iterator[Row]:
    for t in TYPES:
        yield row(f"add.{t}", t, f"{t} {t}", on(t, operator.add))
        yield row(f"sub.{t}", t, f"{t} {t}", on(t, operator.sub))
        yield row(f"mul.lo.{t}", t, f"{t} {t}", on(t, operator.mul))
        yield row(f"mul.hi.{t}", t, f"{t} {t}", on(t, high_half(width(t))))
        yield row(f"mad.lo.{t}", t, f"{t} {t} {t}", on(t, lambda a, b, c: a * b + c))
        yield row(f"mad.hi.{t}", t, f"{t} {t} {t}", on(t, high_half_plus(width(t))))
        yield row(f"sad.{t}", t, f"{t} {t} {t}", on(t, lambda a, b, c: c + abs(a - b)))
        yield row(f"div.{t}", t, f"{t} {t}", division(t, truncated_div))
        yield row(f"rem.{t}", t, f"{t} {t}", division(t, lambda a, b: a - b * truncated_div(a, b)))
        yield row(f"min.{t}", t, f"{t} {t}", on(t, min))
        yield row(f"max.{t}", t, f"{t} {t}", on(t, max))
    for t in ("u16", "s16", "u32", "s32", "u64", "s64"):
        if width(t) == 64:
            continue
        wide = t[0] + str(2 * width(t))
        yield row(f"mul.wide.{t}", wide, f"{t} {t}", lambda a, b, t=t: wrap(number(t, a) * number(t, b), 2 * width(t)))
        yield row(
            f"mad.wide.{t}", wide, f"{t} {t} {wide}",
            lambda a, b, c, t=t: wrap(number(t, a) * number(t, b) + c, 2 * width(t)),
        )  # fmt: skip
    for t in ("s16", "s32", "s64"):
        yield row(f"abs.{t}", t, t, on(t, abs))
        yield row(f"neg.{t}", t, t, on(t, operator.neg))
    s32 = lambda f: lambda *bits: clamp(f(*(number("s32", b) for b in bits)), "s32")  # noqa: E731
    yield row("add.sat.s32", "s32", "s32 s32", s32(operator.add))
    yield row("sub.sat.s32", "s32", "s32 s32", s32(operator.sub))
    yield row("mad.hi.sat.s32", "s32", "s32 s32 s32", s32(lambda a, b, c: (a * b >> 32) + c))
    for name in ("min", "max"):
        pick = min if name == "min" else max
        yield row(f"{name}.relu.s32", "s32", "s32 s32", on("s32", lambda a, b, pick=pick: max(0, pick(a, b))))
        yield row(f"{name}.u16x2", "b32", "b32 b32", per_half(on("u16", pick)))
        yield row(f"{name}.s16x2", "b32", "b32 b32", per_half(on("s16", pick)))
        yield row(
            f"{name}.relu.s16x2", "b32", "b32 b32", per_half(on("s16", lambda a, b, pick=pick: max(0, pick(a, b))))
        )
    for name, f in (("add", operator.add), ("sub", operator.sub)):
        for t in ("u8", "s8"):
            sat = lambda a, b, t=t, f=f: clamp(f(number(t, a), number(t, b)), t)  # noqa: E731
            yield row(f"{name}.{t}x4", "b32", "b32 b32", per_byte(on(t, f)))
            yield row(f"{name}.sat.{t}x4", "b32", "b32 b32", per_byte(sat))
    for t in ("u8", "s8"):
        yield row(f"min.{t}x4", "b32", "b32 b32", per_byte(on(t, min)))
        yield row(f"max.{t}x4", "b32", "b32 b32", per_byte(on(t, max)))
    yield row("min.relu.s8x4", "b32", "b32 b32", per_byte(on("s8", lambda a, b: max(0, min(a, b)))))
    yield row("max.relu.s8x4", "b32", "b32 b32", per_byte(on("s8", lambda a, b: max(0, a, b))))
    yield row("neg.s8x4", "b32", "b32", per_byte(on("s8", operator.neg)))
    yield row("add.sat.u32", "u32", "u32 u32", lambda a, b: min(a + b, 0xFFFFFFFF))
    for t in ("u16", "s16"):
        sat = lambda a, b, t=t: clamp(number(t, a) + number(t, b), t)  # noqa: E731
        yield row(f"add.sat.{t}x2", "b32", "b32 b32", per_half(sat))
    for half in ("lo", "hi"):
        yield row(
            f"clmad.{half}.u64",
            "u64",
            "u64 u64 u64",
            lambda a, b, c, n=64 * (half == "hi"): carryless(a, b) >> n & M64 ^ c,
        )
    yield row("add.u16x2", "b32", "b32 b32", per_half(on("u16", operator.add)))
    yield row("add.s16x2", "b32", "b32 b32", per_half(on("s16", operator.add)))


def narrow24(t, x):
    return signed(wrap(x, 24), 24) if t[0] == "s" else wrap(x, 24)


def products24() -> Iterator[Row]:
    for t in ("u32", "s32"):

        def low(a, b, t=t):
            return wrap(narrow24(t, a) * narrow24(t, b), 32)

        def high(a, b, t=t):
            return wrap(narrow24(t, a) * narrow24(t, b) >> 16, 32)

        yield row(f"mul24.lo.{t}", t, f"{t} {t}", low)
        yield row(f"mul24.hi.{t}", t, f"{t} {t}", high)
        yield row(f"mad24.lo.{t}", t, f"{t} {t} {t}", lambda a, b, c, f=low: wrap(f(a, b) + c, 32))
        yield row(f"mad24.hi.{t}", t, f"{t} {t} {t}", lambda a, b, c, f=high: wrap(f(a, b) + c, 32))
    yield row(
        "mad24.hi.sat.s32", "s32", "s32 s32 s32",
        lambda a, b, c: clamp(signed(wrap(narrow24("s32", a) * narrow24("s32", b) >> 16, 32), 32) + signed(c, 32), "s32"),
    )  # fmt: skip


def dot_products() -> Iterator[Row]:
    def fields(bits, size, t):
        parts = [bits >> at & ((1 << size) - 1) for at in range(0, 32, size)]
        return [signed(p, size) for p in parts] if t[0] == "s" else parts

    for ta in ("u32", "s32"):
        for tb in ("u32", "s32"):

            def four(a, b, c, ta=ta, tb=tb):
                return wrap(c + sum(x * y for x, y in zip(fields(a, 8, ta), fields(b, 8, tb), strict=True)), 32)

            yield row(f"dp4a.{ta}.{tb}", "b32", "b32 b32 b32", four)
            for half, first in (("lo", 0), ("hi", 2)):

                def two(a, b, c, ta=ta, tb=tb, first=first):
                    return wrap(
                        c
                        + sum(
                            x * y for x, y in zip(fields(a, 16, ta), fields(b, 8, tb)[first : first + 2], strict=True)
                        ),
                        32,
                    )

                yield row(f"dp2a.{half}.{ta}.{tb}", "b32", "b32 b32 b32", two)


# --- bits ---------------------------------------------------------------------------------------------------------------


def find_top(t, bits):
    x = number(t, bits)
    return (x if x >= 0 else ~x).bit_length() - 1


def extract(t, a, b, c):
    """bfe by the manual's pseudocode, bit by bit."""
    w = width(t)
    msb, pos, length = w - 1, b & 0xFF, c & 0xFF
    sign = 0 if t[0] == "u" or length == 0 else a >> min(pos + length - 1, msb) & 1
    return sum((a >> (pos + n) & 1 if n < length and pos + n <= msb else sign) << n for n in range(w))


def insert(w, a, b, c, d):
    """bfi by the manual's pseudocode, bit by bit."""
    pos, length, f = c & 0xFF, d & 0xFF, b
    for n in range(length):
        if pos + n < w:
            f = f & ~(1 << (pos + n)) | (a >> n & 1) << (pos + n)
    return f


def find_nth(mask, base, offset):
    """fns by the manual's description: walk from the base, counting set bits."""
    offset = signed(offset, 32)
    if base > 31:
        return None
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    positions = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [p for p in positions if mask >> p & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else 0xFFFFFFFF


def extend(mode, t, a, b):
    """szext by the manual's description."""
    n = b & 31 if mode == "wrap" else b
    if n >= 32:
        return a
    if n == 0:
        return 0
    return wrap(signed(wrap(a, n), n), 32) if t == "s32" else wrap(a, n)


def make_mask(mode, a, b):
    if mode == "wrap":
        a, b = a & 31, b & 31
    return sum(1 << n for n in range(32) if a <= n < a + b)


def bit_instructions() -> Iterator[Row]:
    for t in ("b32", "b64"):
        w = width(t)
        yield row(f"popc.{t}", "b32", t, lambda a: bin(a).count("1"))
        yield row(f"clz.{t}", "b32", t, lambda a, w=w: w - a.bit_length())
        yield row(f"brev.{t}", t, t, lambda a, w=w: sum((a >> n & 1) << (w - 1 - n) for n in range(w)))
        yield row(f"bfi.{t}", t, f"{t} {t} amount amount", lambda a, b, c, d, w=w: insert(w, a, b, c, d))
    for t in ("u32", "s32", "u64", "s64"):
        yield row(f"bfind.{t}", "b32", t, lambda a, t=t: wrap(find_top(t, a), 32))
        yield row(
            f"bfind.shiftamt.{t}", "b32", t,
            lambda a, t=t: 0xFFFFFFFF if find_top(t, a) < 0 else width(t) - 1 - find_top(t, a),
        )  # fmt: skip
        yield row(f"bfe.{t}", t, f"{t} amount amount", lambda a, b, c, t=t: extract(t, a, b, c))
    yield row("fns.b32", "b32", "b32 amount small", find_nth)
    yield row("fns.b32", "b32", "b32 amount amount", find_nth)
    yield row("fns.b32", "b32", "b32 amount s32", find_nth)
    yield sequence(
        "neg.s32 {r1}, {s2}; fns.b32 {r0}, {s0}, {s1}, {r1};", "b32 b32", "b32 amount small",
        lambda a, b, c: (find_nth(a, b, wrap(-c, 32)), wrap(-c, 32)),
    )  # fmt: skip
    for mode in ("clamp", "wrap"):
        for t in ("u32", "s32"):
            yield row(f"szext.{mode}.{t}", t, f"{t} amount", lambda a, b, mode=mode, t=t: extend(mode, t, a, b))
        yield row(f"bmsk.{mode}.b32", "b32", "amount amount", lambda a, b, mode=mode: make_mask(mode, a, b))


# --- carries --------------------------------------------------------------------------------------------------------------


def extended() -> Iterator[Row]:
    for t in ("u32", "s32", "u64", "s64"):
        w = width(t)

        def parts(total, n, w=w):
            return tuple(wrap(total >> (w * k), w) for k in range(n))

        def whole(*limbs, w=w):
            return sum(x << (w * n) for n, x in enumerate(limbs))

        four = f"{t} {t} {t} {t}"
        yield sequence(
            f"add.cc.{t} {{r0}}, {{s0}}, {{s2}}; addc.cc.{t} {{r1}}, {{s1}}, {{s3}}; addc.{t} {{r2}}, 0, 0;", f"{t} {t} {t}", four,
            lambda a, b, c, d, parts=parts, whole=whole: parts(whole(a, b) + whole(c, d), 3),
        )  # fmt: skip
        yield sequence(
            f"sub.cc.{t} {{r0}}, {{s0}}, {{s2}}; subc.cc.{t} {{r1}}, {{s1}}, {{s3}}; subc.{t} {{r2}}, 0, 0;", f"{t} {t} {t}", four,
            lambda a, b, c, d, parts=parts, whole=whole: parts(whole(a, b) - whole(c, d), 3),
        )  # fmt: skip
        yield sequence(
            f"mad.hi.cc.{t} {{r0}}, {{s0}}, {{s1}}, {{s2}}; madc.lo.cc.{t} {{r1}}, {{s0}}, {{s1}}, {{s3}}; addc.{t} {{r2}}, 0, 0;",
            f"{t} {t} {t}", four,
            lambda a, b, c, d, t=t, w=w, parts=parts: parts(wrap(number(t, a) * number(t, b) >> w, w) + c + (wrap(a * b, w) + d << w), 3),
        )  # fmt: skip
        yield sequence(
            f"mad.lo.cc.{t} {{r0}}, {{s0}}, {{s1}}, {{s2}}; madc.hi.cc.{t} {{r1}}, {{s0}}, {{s1}}, {{s3}}; addc.{t} {{r2}}, 0, 0;",
            f"{t} {t} {t}", four,
            lambda a, b, c, d, t=t, w=w, parts=parts: parts(wrap(a * b, w) + c + (wrap(number(t, a) * number(t, b) >> w, w) + d << w), 3),
        )  # fmt: skip

        def mixed(a, b, c, d, t=t, w=w):
            carry = wrap(a, w) + wrap(c, w) >> w
            low = wrap(number(t, a) * number(t, b), w) + d + carry
            high = wrap(number(t, a) * number(t, b) >> w, w) + d + carry
            return wrap(a + c, w), wrap(low, w), wrap(high, w)

        yield sequence(
            f"add.cc.{t} {{r0}}, {{s0}}, {{s2}}; madc.lo.{t} {{r1}}, {{s0}}, {{s1}}, {{s3}}; madc.hi.{t} {{r2}}, {{s0}}, {{s1}}, {{s3}};",
            f"{t} {t} {t}", four, mixed,
        )  # fmt: skip


# --- logic ----------------------------------------------------------------------------------------------------------------


def look_up(table, a, b, c):
    return sum((table >> (4 * (a >> n & 1) + 2 * (b >> n & 1) + (c >> n & 1)) & 1) << n for n in range(32))


LOOK_UPS = tuple(range(256))


def funnel(direction, mode, a, b, c):
    n = c & 31 if mode == "wrap" else min(c, 32)
    both = b << 32 | a
    return wrap(both << n >> 32, 32) if direction == "l" else wrap(both >> n, 32)


def permutation(a, b, c):
    """prmt, by bytes."""
    source = (b << 32 | a).to_bytes(8, "little")
    out = []
    for n in range(4):
        selector = c >> 4 * n & 15
        byte = source[selector & 7]
        out.append((0xFF if byte & 0x80 else 0) if selector & 8 else byte)
    return int.from_bytes(bytes(out), "little")


def permutation_mode(mode, a, b, c):
    """prmt's named modes by the manual's table: bytes of {b, a}, result byte 3 first in the table, 0 first here."""
    n = c & 3
    picks = {
        "f4e": [n, n + 1, n + 2, n + 3],
        "b4e": [n, (n - 1) % 8, (n - 2) % 8, (n - 3) % 8],
        "rc8": [n] * 4,
        "ecl": [max(n, k) for k in range(4)],
        "ecr": [min(n, k) for k in range(4)],
        "rc16": [0, 1, 0, 1] if n % 2 == 0 else [2, 3, 2, 3],
    }[mode]
    source = (b << 32 | a).to_bytes(8, "little")
    return int.from_bytes(bytes(source[k] for k in picks), "little")


def logic() -> Iterator[Row]:
    operators = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
    for t in ("pred", *BITS):
        w = 1 if t == "pred" else width(t)
        for name, f in operators.items():
            yield row(f"{name}.{t}", t, f"{t} {t}", f)
        yield row(f"not.{t}", t, t, lambda a, w=w: wrap(~a, w))
    for t in BITS:
        w = width(t)
        yield row(f"cnot.{t}", t, t, lambda a: int(a == 0))
        yield row(f"shl.{t}", t, f"{t} amount", lambda a, n, w=w: wrap(a << min(n, w), w))
        yield row(f"shr.{t}", t, f"{t} amount", lambda a, n, w=w: a >> min(n, w))
    for t in TYPES:
        yield row(f"shr.{t}", t, f"{t} amount", lambda a, n, t=t: wrap(number(t, a) >> min(n, width(t)), width(t)))
    for table in LOOK_UPS:
        yield row("lop3.b32", "b32", "b32 b32 b32", lambda a, b, c, k=table: look_up(k, a, b, c), tail=f", {table}")
    for name, f in operators.items():

        def with_predicate(a, b, c, q, f=f):
            d = look_up(0x96, a, b, c)
            return d, f(int(d != 0), q)

        yield row(
            f"lop3.{name}.b32", "b32 pred", "b32 b32 b32 pred", with_predicate,
            operands="{r0}|{r1}, {s0}, {s1}, {s2}, 0x96, {s3}",
        )  # fmt: skip
    for d in "lr":
        for mode in ("clamp", "wrap"):
            yield row(
                f"shf.{d}.{mode}.b32", "b32", "b32 b32 amount", lambda a, b, c, d=d, m=mode: funnel(d, m, a, b, c)
            )
    yield row("prmt.b32", "b32", "b32 b32 b32", permutation)
    for selector in (
        0x3210,
        0x5410,
        0x7632,
        0x1032,
        0x0123,
        0x4321,
        0x7531,
        0x6420,
        0x9910,
        0xBA98,
        0xFEDC,
        0x8888,
        0x3333,
        0x0404,
        0xF4B0,
    ):
        yield row("prmt.b32", "b32", "b32 b32", lambda a, b, k=selector: permutation(a, b, k), tail=f", {selector}")
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        yield row(f"prmt.b32.{mode}", "b32", "b32 b32 amount", lambda a, b, c, m=mode: permutation_mode(m, a, b, c))


ROWS = [r for family in (arithmetic, products24, dot_products, bit_instructions, extended, logic) for r in family()]
