"""cvt to and from floats of 8, 6 and 4 bits, with scale factors and with stochastic rounding, by exact rationals."""

# pyright: basic, reportOperatorIssue=false, reportCallIssue=false
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from anywarp.check.conformance import exact
from anywarp.check.conformance.convert_rows import joined, small_saturated
from anywarp.check.conformance.exact import BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, Accept
from anywarp.check.conformance.rows import Row, row, sequence, signed

SMALL = {"e4m3": E4M3, "e5m2": E5M2, "e2m3": E2M3, "e3m2": E3M2, "e2m1": E2M1}
HALVES = {"f16": F16, "bf16": BF16}
HAS_NAN = ("e4m3", "e5m2")


def step(name):
    """Bits from one packed element to the next."""
    return 4 if name == "e2m1" else 8


def register(name):
    return "b8" if name == "e2m1" else "b16"


def down(f, modifiers, bits, source):
    if exact.is_nan(source, bits) and f.name not in HAS_NAN:
        return f.largest
    return small_saturated(f, modifiers, bits, source)


def narrowing() -> Iterator[Row]:
    for name, f in SMALL.items():
        for m in (("satfinite",), ("satfinite", "relu")):
            extra = "".join("." + x for x in m)
            if name not in HAS_NAN:
                yield row(
                    f"cvt.rn{extra}.{name}x2.f32", register(name), "f32 f32",
                    lambda a, b, f=f, m=m: joined(down(f, m, a, F32), down(f, m, b, F32), step(f.name)),
                )  # fmt: skip
                # Everything around the range of the format, where random f32 rarely are.
                yield sequence(
                    f"and.b32 {{s0}}, {{s0}}, 0x87FFFFFF; or.b32 {{s0}}, {{s0}}, 0x38000000; "
                    f"cvt.rn{extra}.{name}x2.f32 {{r0}}, {{s0}}, {{s1}};",
                    register(name), "b32 f32",
                    lambda a, b, f=f, m=m: joined(
                        down(f, m, a & 0x87FFFFFF | 0x38000000, F32), down(f, m, b, F32), step(f.name)
                    ),
                )  # fmt: skip
            for half, h in HALVES.items():
                if half == "f16" and name in HAS_NAN:
                    continue  # in convert_rows
                yield row(
                    f"cvt.rn{extra}.{name}x2.{half}x2", register(name), f"{half}x2",
                    lambda a, f=f, m=m, h=h: joined(down(f, m, a >> 16, h), down(f, m, a & 0xFFFF, h), step(f.name)),
                )  # fmt: skip


def upper_and_lower(name, bits):
    f = SMALL[name]
    return bits >> step(name) & (2 * f.sign - 1), bits & (2 * f.sign - 1)


def up(name, target, bits, modifiers, scale=127):
    """A small float in a half, times 2 ** (scale - 127)."""
    f = SMALL[name]
    if exact.is_nan(f, bits) or scale == 255:
        return exact.any_nan(target)
    if exact.is_infinite(f, bits):
        found = exact.convert(f, target, bits)
    else:
        number = exact.value(f, bits) * Fraction(2) ** (scale - 127)
        found = exact.nearest(target, number, "rn", exact.is_negative(f, bits))
    if "satfinite" in modifiers and exact.is_infinite(target, found):
        found -= 1
    return exact.relu(target, found) if "relu" in modifiers else found


SCALED = ".scaled::n2::ue8m0"


def widening() -> Iterator[Row]:
    for name in SMALL:
        clean = "and.b16 {s0}, {s0}, 0x3F3F; " if name in ("e2m3", "e3m2") else ""

        def halves(bits, name=name, clean=clean):
            return upper_and_lower(name, bits & 0x3F3F if clean else bits)

        for m in ((), ("relu",)):
            if name in HAS_NAN:
                break  # in convert_rows
            form = "".join("." + x for x in ("rn", *m))
            yield sequence(
                f"{clean}cvt{form}.f16x2.{name}x2 {{r0}}, {{s0}};", "f16x2", register(name),
                lambda a, n=name, m=m, h=halves: joined(*(up(n, F16, x, m) for x in h(a)), 16),
            )  # fmt: skip
        for m in ((), ("relu",), ("satfinite",), ("relu", "satfinite")):
            form = "".join("." + x for x in ("rn", *m))
            yield sequence(
                f"{clean}cvt{form}.bf16x2.{name}x2 {{r0}}, {{s0}};", "bf16x2", register(name),
                lambda a, n=name, m=m, h=halves: joined(*(up(n, BF16, x, m) for x in h(a)), 16),
            )  # fmt: skip

            def scaled(a, s, n=name, m=m, h=halves):
                high, low = h(a)
                return joined(up(n, BF16, high, m, s >> 8), up(n, BF16, low, m, s & 255), 16)

            yield sequence(
                f"{clean}cvt{form}{SCALED}.bf16x2.{name}x2 {{r0}}, {{s0}}, {{s1}};",
                "bf16x2", f"{register(name)} b16", scaled,
            )  # fmt: skip


# --- scale factors --------------------------------------------------------------------------------------------------------


def exponent(f, bits, mode, finite):
    """The magnitude as a power of two between 2**-127 and 2**127, as its biased exponent."""
    if exact.is_nan(f, bits):
        return 255
    if exact.is_infinite(f, bits):
        return 254 if finite else 255
    number = abs(exact.value(f, bits))
    if number <= Fraction(2) ** -127:
        return 0
    found = max(e for e in range(-127, 129) if Fraction(2) ** e <= number)
    if mode == "rp" and Fraction(2) ** found < number:
        found += 1
    return min(found, 127 if finite else 128) + 127


def scales() -> Iterator[Row]:
    for mode in ("rz", "rp"):
        for finite in (False, True):
            form = f"cvt.{mode}{'.satfinite' if finite else ''}.ue8m0x2"
            yield row(
                f"{form}.f32", "b16", "f32 f32",
                lambda a, b, m=mode, s=finite: exponent(F32, a, m, s) << 8 | exponent(F32, b, m, s),
            )  # fmt: skip
            yield row(
                f"{form}.bf16x2", "b16", "bf16x2",
                lambda a, m=mode, s=finite: exponent(BF16, a >> 16, m, s) << 8 | exponent(BF16, a & 0xFFFF, m, s),
            )  # fmt: skip

    def power(scale):
        return exact.any_nan(BF16) if scale == 255 else exact.nearest(BF16, Fraction(2) ** (scale - 127))

    yield row("cvt.rn.bf16x2.ue8m0x2", "bf16x2", "b16", lambda a: joined(power(a >> 8), power(a & 255), 16))


# --- fixed point ------------------------------------------------------------------------------------------------------------


def fixed(f, bits, modifiers, scale=127):
    """To s2f6; the manual gives numbers beyond the largest, in size, that size and their sign."""
    if exact.is_nan(f, bits) or scale == 255:
        return 127
    if exact.is_negative(f, bits) and "relu" in modifiers:
        return 0
    if exact.is_infinite(f, bits):
        return 129 if exact.is_negative(f, bits) else 127
    number = exact.value(f, bits) / Fraction(2) ** (scale - 127) * 64
    return max(-127, min(127, exact.whole(number, "rn"))) & 255


def from_fixed(bits, modifiers, scale=127):
    if scale == 255:
        return exact.any_nan(BF16)
    found = exact.nearest(BF16, Fraction(signed(bits, 8), 64) * Fraction(2) ** (scale - 127))
    if "satfinite" in modifiers and exact.is_infinite(BF16, found):
        found -= 1
    return exact.relu(BF16, found) if "relu" in modifiers else found


def fixed_point() -> Iterator[Row]:
    for m in (("satfinite",), ("satfinite", "relu")):
        form = "cvt.rn" + "".join("." + x for x in m)
        yield row(f"{form}.s2f6x2.f32", "b16", "f32 f32", lambda a, b, m=m: fixed(F32, a, m) << 8 | fixed(F32, b, m))
        yield row(
            f"{form}{SCALED}.s2f6x2.f32", "b16", "f32 f32 b16",
            lambda a, b, s, m=m: fixed(F32, a, m, s >> 8) << 8 | fixed(F32, b, m, s & 255),
        )  # fmt: skip
        yield row(
            f"{form}.s2f6x2.bf16x2", "b16", "bf16x2",
            lambda a, m=m: fixed(BF16, a >> 16, m) << 8 | fixed(BF16, a & 0xFFFF, m),
        )  # fmt: skip
        yield row(
            f"{form}{SCALED}.s2f6x2.bf16x2", "b16", "bf16x2 b16",
            lambda a, s, m=m: fixed(BF16, a >> 16, m, s >> 8) << 8 | fixed(BF16, a & 0xFFFF, m, s & 255),
        )  # fmt: skip
    for m in ((), ("satfinite",), ("relu",), ("satfinite", "relu")):
        form = "cvt.rn" + "".join("." + x for x in m)
        yield row(
            f"{form}.bf16x2.s2f6x2", "bf16x2", "b16",
            lambda a, m=m: joined(from_fixed(a >> 8, m), from_fixed(a & 255, m), 16),
        )  # fmt: skip
        yield row(
            f"{form}{SCALED}.bf16x2.s2f6x2", "bf16x2", "b16 b16",
            lambda a, s, m=m: joined(from_fixed(a >> 8, m, s >> 8), from_fixed(a & 255, m, s & 255), 16),
        )  # fmt: skip


# --- stochastic rounding ----------------------------------------------------------------------------------------------------


def stochastic(f, bits, random, modifiers):
    """Round down, or up where 16 random bits carry out of the first 16 bits that are cut off."""
    if exact.is_nan(F32, bits):
        return exact.any_nan(f) if f.name in (*HAS_NAN, "f16", "bf16") else f.largest
    negative = exact.is_negative(F32, bits)
    if negative and "relu" in modifiers:
        return 0
    sign = f.sign if negative else 0
    finite = "satfinite" in modifiers
    if exact.is_infinite(F32, bits):
        return sign | (f.largest if finite else f.infinity)
    size = abs(exact.value(F32, bits))
    low = exact.below(f, size)
    if low == f.largest and not finite:
        return Accept("largest or infinite", lambda found: found in (sign | f.largest, sign | f.infinity))
    if low == f.largest:
        return sign | low
    unit = exact.magnitude(f, low + 1) - exact.magnitude(f, low)
    cut = (size - exact.magnitude(f, low)) / unit
    if low < f.smallest_normal and f.bias != 127:  # the manual's pictures show normal results only
        if cut == 0:
            return sign | low
        return Accept("either neighbour", lambda found: found in (sign | low, sign | low + 1))
    return sign | (low + int(int(cut * 65536) + random >= 65536))


def several(parts, width):
    """Parts in one register, the first the highest."""
    total = parts[0]
    for part in parts[1:]:
        total = joined(total, part, width)
    return total


def random_rows() -> Iterator[Row]:
    for half, f in HALVES.items():
        for m in ((), ("relu",), ("satfinite",), ("relu", "satfinite")):

            def two(a, b, r, f=f, m=m):
                parts = [r >> 16, r & 0xFFFF]
                if f is F16:
                    parts = [(x & 0x1FFF) << 3 for x in parts]
                return joined(stochastic(f, a, parts[0], m), stochastic(f, b, parts[1], m), 16)

            yield row("cvt.rs" + "".join("." + x for x in m) + f".{half}x2.f32", f"{half}x2", "f32 f32 b32", two)
    for name, f in SMALL.items():
        for m in (("satfinite",), ("relu", "satfinite")):

            def four(a, b, c, d, r, f=f, m=m):
                if f is E2M1:
                    upper, lower = r >> 24 << 8 | r >> 8 & 0xFF, (r >> 16 & 0xFF) << 8 | r & 0xFF
                else:
                    upper, lower = r >> 16, r & 0xFFFF
                sources = ((a, upper), (b, upper), (c, lower), (d, lower))
                return several([stochastic(f, x, y, m) for x, y in sources], step(f.name))

            form = "cvt.rs" + "".join("." + x for x in m) + f".{name}x4.f32"
            yield row(
                form, "b16" if name == "e2m1" else "b32", "f32 f32 f32 f32 b32", four,
                operands="{r0}, {{{s0}, {s1}, {s2}, {s3}}}, {s4}",
            )  # fmt: skip


ROWS = [r for family in (narrowing, widening, scales, fixed_point, random_rows) for r in family()]
