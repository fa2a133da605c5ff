"""cvt and mov: every pair of types, rounding and saturation, by Python integers and exact rationals."""

# pyright: basic, reportArgumentType=false
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from anywarp.check.conformance import exact
from anywarp.check.conformance.exact import E4M3, E5M2, F16, F32, F64, FORMATS, TF32, Accept
from anywarp.check.conformance.rows import KINDS, WIDTH, Row, bounds, number, row, sequence, wrap

INTEGERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
ROUNDINGS = ("rn", "rz", "rm", "rp")


def register(ptx):
    """The kind of register for a type: 8-bit types live in 16-bit registers."""
    return {"u8": "b16", "s8": "b16"}.get(ptx, ptx)


def fit(ptx, value, kind):
    """An integer result in a register of `kind`: chopped to the type, then extended by its sign."""
    return wrap(number(ptx, wrap(value, int(ptx[1:]))), WIDTH[KINDS[kind]])


def clamp(ptx, value):
    low, high = bounds(ptx)
    return max(low, min(high, value))


def integers() -> Iterator[Row]:
    for to in INTEGERS:
        for source in INTEGERS:
            d, s = register(to), register(source)
            yield row(f"cvt.{to}.{source}", d, s, lambda a, t=to, s=source, d=d: fit(t, number(s, a), d))
            yield row(f"cvt.sat.{to}.{source}", d, s, lambda a, t=to, s=source, d=d: fit(t, clamp(t, number(s, a)), d))
        if to[1:] in ("8", "16"):  # a result narrower than its register is extended by its sign
            yield row(f"cvt.{to}.s32", "b32", "s32", lambda a, t=to: fit(t, number("s32", a), "b32"))
            yield row(f"cvt.{to}.u32", "b64", "u32", lambda a, t=to: fit(t, a, "b64"))
        if to[1:] == "32":
            yield row(f"cvt.{to}.u8", "b32", "b32", lambda a: a & 0xFF)
            yield row(f"cvt.{to}.s8", "b32", "b32", lambda a: wrap(number("s8", a), 32))


def to_float() -> Iterator[Row]:
    for to in FLOATS:
        f = FORMATS[to]
        for source in INTEGERS:
            for r in ROUNDINGS:

                def convert(a, f=f, s=source, r=r):
                    return exact.nearest(f, Fraction(number(s, a)), r)

                yield row(f"cvt.{r}.{to}.{source}", to, register(source), convert)
            if to == "f32":
                yield row(
                    f"cvt.rp.ftz.f32.{source}",
                    to,
                    register(source),
                    lambda a, s=source: exact.nearest(F32, Fraction(number(s, a)), "rp"),
                )
            yield row(
                f"cvt.rn.sat.{to}.{source}", to, register(source),
                lambda a, f=f, s=source: exact.saturate(f, exact.nearest(f, Fraction(number(s, a)), "rn")),
            )  # fmt: skip


def to_integer() -> Iterator[Row]:
    for source in FLOATS:
        f = FORMATS[source]
        for to in INTEGERS:
            for name, mode in INTEGRAL.items():
                for sat in ("", ".sat"):
                    if sat and name != "rzi":
                        continue
                    yield row(
                        f"cvt.{name}{sat}.{to}.{source}", register(to), source,
                        lambda a, f=f, t=to, m=mode: rounded_integer(f, t, m, a),
                    )  # fmt: skip
            if source == "f32":
                yield row(
                    f"cvt.rpi.ftz.{to}.f32", register(to), "f32",
                    lambda a, t=to: rounded_integer(F32, t, "rp", exact.flush(F32, a)),
                )  # fmt: skip


def rounded_integer(f, to, mode, bits):
    """Clamped to the type's range; NaN gives 0, or the top bit when source or result has 64 bits."""
    kind = register(to)
    if exact.is_nan(f, bits):
        width = int(to[1:])
        return fit(to, 1 << (width - 1), kind) if f is F64 or width == 64 else 0
    low, high = bounds(to)
    if exact.is_infinite(f, bits):
        return fit(to, low if exact.is_negative(f, bits) else high, kind)
    return fit(to, clamp(to, exact.whole(exact.value(f, bits), mode)), kind)


def between_floats() -> Iterator[Row]:
    for source in FLOATS:
        for to in FLOATS:
            f, g = FORMATS[source], FORMATS[to]
            if source == to:
                yield from integral(source)
                continue
            widening = (source, to) in {
                ("f16", "f32"),
                ("f16", "f64"),
                ("bf16", "f32"),
                ("bf16", "f64"),
                ("f32", "f64"),
            }
            for r in ("",) if widening else ROUNDINGS:
                for m in modifier_sets(source, to):
                    text = ".".join(x for x in ("cvt", r, *m, to, source) if x)
                    yield row(text, to, source, lambda a, f=f, g=g, r=r, m=m: narrowed(f, g, r or "rn", m, a))


def modifier_sets(source, to):
    sets = [(), ("sat",)]
    return [*sets, ("ftz",), ("ftz", "sat")] if "f32" in (source, to) and "bf16" not in (source, to) else sets


def narrowed(f, g, mode, modifiers, bits):
    if "ftz" in modifiers and f is F32:
        bits = exact.flush(f, bits)
    found = exact.convert(f, g, bits, mode)
    if "ftz" in modifiers and g is F32:
        found = exact.flush(g, found)
    return exact.saturate(g, found) if "sat" in modifiers else found


def integral(ptx) -> Iterator[Row]:
    f = FORMATS[ptx]

    def one(bits, mode, modifiers):
        if "ftz" in modifiers:
            bits = exact.flush(f, bits)
        if exact.is_nan(f, bits):
            found = exact.any_nan(f)
        elif exact.is_infinite(f, bits) or mode is None:
            found = bits
        else:
            found = exact.nearest(
                f, Fraction(exact.whole(exact.value(f, bits), mode)), "rn", exact.is_negative(f, bits)
            )
        return exact.saturate(f, found) if "sat" in modifiers else found

    sets = [(), ("sat",), ("ftz",)] if ptx == "f32" else [(), ("sat",)]
    for m in sets:
        for name, mode in INTEGRAL.items():
            text = ".".join(("cvt", name, *m, ptx, ptx))
            yield row(text, ptx, ptx, lambda a, mode=mode, m=m: one(a, mode, m))
        if m:
            yield row(".".join(("cvt", *m, ptx, ptx)), ptx, ptx, lambda a, m=m: one(a, None, m))


def limited(f, found):
    """`.satfinite`: infinities become the largest number."""
    if isinstance(found, Accept) or exact.is_finite(f, found):
        return found
    return f.largest | found & f.sign


def small(f, mode, modifiers, bits, source=F32):
    found = exact.convert(source, f, bits, mode)
    if "satfinite" in modifiers:
        found = limited(f, found)
    return exact.relu(f, found) if "relu" in modifiers else found


def joined(high, low, width):
    if isinstance(high, int) and isinstance(low, int):
        return high << width | low
    mask = (1 << width) - 1

    def matches(expected, bits):
        return expected.accepts(bits) if isinstance(expected, Accept) else expected == bits

    return Accept(f"{{{high!r}, {low!r}}}", lambda bits: matches(high, bits >> width) and matches(low, bits & mask))


def packed() -> Iterator[Row]:
    for half in ("f16", "bf16"):
        f = FORMATS[half]
        for r in ("rn", "rz"):
            for m in ((), ("relu",), ("satfinite",), ("relu", "satfinite")):
                extra = "".join("." + x for x in m)
                if m:
                    yield row(f"cvt.{r}{extra}.{half}.f32", half, "f32", lambda a, f=f, r=r, m=m: small(f, r, m, a))
                yield row(
                    f"cvt.{r}{extra}.{half}x2.f32", f"{half}x2", "f32 f32",
                    lambda a, b, f=f, r=r, m=m: joined(small(f, r, m, a), small(f, r, m, b), 16),
                )  # fmt: skip


def tf32() -> Iterator[Row]:
    def one(mode, modifiers, bits):
        found = small(TF32, mode, modifiers, bits)
        if isinstance(found, Accept):
            return Accept(found.what, lambda b: exact.is_nan(F32, b) or (b & 0x1FFF == 0 and found.accepts(b >> 13)))
        return found << 13

    for r, sets in (
        ("rna", ((), ("satfinite",))),
        ("rn", ((), ("relu",), ("satfinite",))),
        ("rz", ((), ("relu",), ("satfinite",))),
    ):
        for m in sets:
            extra = "".join("." + x for x in m)
            yield row(f"cvt.{r}{extra}.tf32.f32", "b32", "f32", lambda a, r=r, m=m: one(r, m, a))


def eighths() -> Iterator[Row]:
    for name, f in (("e4m3x2", E4M3), ("e5m2x2", E5M2)):
        for m in (("satfinite",), ("satfinite", "relu")):
            extra = "".join("." + x for x in m)

            def two(a, b, f=f, m=m):
                return joined(small_saturated(f, m, a, F32), small_saturated(f, m, b, F32), 8)

            def pair(a, f=f, m=m):
                return joined(small_saturated(f, m, a >> 16, F16), small_saturated(f, m, a & 0xFFFF, F16), 8)

            yield row(f"cvt.rn{extra}.{name}.f32", "b16", "f32 f32", two)
            yield row(f"cvt.rn{extra}.{name}.f16x2", "b16", "f16x2", pair)
        for relu in ("", ".relu"):

            def up(bits, f=f, relu=relu):
                found = exact.convert(f, F16, bits)
                return exact.relu(F16, found) if relu else found

            yield row(
                f"cvt.rn{relu}.f16x2.{name}", "f16x2", "b16",
                lambda a, up=up: joined(up(a >> 8), up(a & 0xFF), 16),
            )  # fmt: skip


def small_saturated(f, modifiers, bits, source):
    """To an 8-bit format: infinities count as too large."""
    if exact.is_infinite(source, bits):
        found = f.largest | (f.sign if exact.is_negative(source, bits) else 0)
        return exact.relu(f, found) if "relu" in modifiers else found
    return small(f, "rn", modifiers, bits, source)


def packs() -> Iterator[Row]:
    def part(t, a):
        return wrap(clamp(t, number("s32", a)), int(t[1:]))

    for t in ("u16", "s16"):
        yield row(f"cvt.pack.sat.{t}.s32", "b32", "s32 s32", lambda a, b, t=t: part(t, a) << 16 | part(t, b))
    for t in ("u8", "s8", "u4", "s4", "u2", "s2"):
        n = int(t[1:])
        yield row(
            f"cvt.pack.sat.{t}.s32.b32", "b32", "s32 s32 b32",
            lambda a, b, c, t=t, n=n: wrap(c << 2 * n, 32) | part(t, a) << n | part(t, b),
        )  # fmt: skip
        yield sequence(  # numbers around the limits of the type
            f"shr.s32 {{s0}}, {{s0}}, {32 - n - 2}; shr.s32 {{s1}}, {{s1}}, {32 - n - 1}; "
            f"cvt.pack.sat.{t}.s32.b32 {{r0}}, {{s0}}, {{s1}}, {{s2}};",
            "b32", "s32 s32 b32",
            lambda a, b, c, t=t, n=n: wrap(c << 2 * n, 32)
            | part(t, wrap(number("s32", a) >> 32 - n - 2, 32)) << n
            | part(t, wrap(number("s32", b) >> 32 - n - 1, 32)),
        )  # fmt: skip


def moves() -> Iterator[Row]:
    for t in ("pred", "b16", "b32", "b64", "b128", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"):
        kind = {"f32": "f32", "f64": "f64"}.get(t, t)
        yield row(f"mov.{t}", kind, kind, lambda a: a)
    for whole, part, count in (
        ("b32", "b16", 2),
        ("b64", "b32", 2),
        ("b64", "b16", 4),
        ("b128", "b64", 2),
        ("b128", "b32", 4),
        ("b16", "b8", 2),
        ("b32", "b8", 4),
    ):
        width = WIDTH[part]
        sources = ", ".join(f"{{s{n}}}" for n in range(count))
        results = ", ".join(f"{{r{n}}}" for n in range(count))
        yield sequence(
            f"mov.{whole} {{r0}}, {{{{{sources}}}}};", whole, " ".join([part] * count),
            lambda *xs, w=width: sum(x << n * w for n, x in enumerate(xs)),
        )  # fmt: skip
        yield sequence(
            f"mov.{whole} {{{{{results}}}}}, {{s0}};", " ".join([part] * count), whole,
            lambda a, w=width, n=count: tuple(a >> k * w & ((1 << w) - 1) for k in range(n)),
        )  # fmt: skip
    yield sequence(
        "mov.b64 {{{{_, {r0}}}}}, {s0};".replace("{{{{", "{{").replace("}}}}", "}}"), "b32", "b64", lambda a: a >> 32
    )
    yield sequence(
        "mov.f32 {r0}, 0f3FC00000; add.f32 {r1}, {s0}, 1.5;",
        "f32 f32",
        "f32",
        lambda a: (0x3FC00000, exact.add(F32, a, 0x3FC00000)),
    )
    yield sequence("mov.b32 {r0}, {s0}; mov.u32 {r1}, -7;", "b32 b32", "f32", lambda a: (a, 0xFFFFFFF9))


ROWS = [
    r
    for family in (integers, to_float, to_integer, between_floats, packed, tf32, eighths, packs, moves)
    for r in family()
]
