"""Floating-point arithmetic in every type, by exact rationals, and the approximations by double precision and a bound."""

# pyright: basic, reportOperatorIssue=false, reportAttributeAccessIssue=false
from __future__ import annotations

import math
from collections.abc import Iterator

from anywarp.check.conformance import exact
from anywarp.check.conformance.exact import F32, F64, FORMATS, Accept
from anywarp.check.conformance.rows import Row, row

ROUNDINGS = ("rn", "rz", "rm", "rp")


def both(function, width=16):
    """Lift a function of one element to packed pairs."""

    def expected(*words):
        mask = (1 << width) - 1
        low = function(*(w & mask for w in words))
        high = function(*(w >> width for w in words))
        if isinstance(low, int) and isinstance(high, int):
            return low | high << width

        def accepts(bits):
            return _is(low, bits & mask) and _is(high, bits >> width)

        return Accept(f"{{{low!r}, {high!r}}}", accepts)

    return expected


def _is(expected, bits):
    return expected.accepts(bits) if isinstance(expected, Accept) else expected == bits


def modified(f, function, modifiers):
    """Apply `.ftz`, `.sat`, `.relu` to a function of bit patterns."""

    def expected(*bits):
        if "ftz" in modifiers:
            bits = tuple(exact.flush(f, b) for b in bits)
        found = function(*bits)
        if "ftz" in modifiers:
            found = exact.flush(f, found)
        if "sat" in modifiers:
            found = exact.saturate(f, found)
        return exact.relu(f, found) if "relu" in modifiers else found

    return expected


def forms(opcode, rounding, modifiers, ptx):
    return ".".join(x for x in (opcode, rounding, *modifiers, ptx) if x)


def lifted(ptx, function):
    """Lift a function of scalars to a PTX type that may be packed."""
    return both(function, FORMATS[ptx[:-2]].width) if ptx.endswith("x2") else function


def scalar(ptx):
    return FORMATS[ptx.removesuffix("x2")]


ARITHMETIC: dict[str, list[tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]]] = {
    "f32": [(("", *ROUNDINGS), ((), ("ftz",), ("sat",), ("ftz", "sat")))],
    "f32x2": [(("", *ROUNDINGS), ((), ("ftz",)))],
    "f64": [(("", *ROUNDINGS), ((),))],
    "f16": [(("", "rn"), ((), ("ftz",), ("sat",), ("ftz", "sat")))],
    "f16x2": [(("", "rn"), ((), ("ftz",), ("sat",)))],
    "bf16": [(("", "rn"), ((),))],
    "bf16x2": [(("", "rn"), ((),))],
}
"""Rounding modes and modifier sets of add, sub, mul by type."""


def arithmetic() -> Iterator[Row]:
    operations = {"add": exact.add, "sub": exact.sub, "mul": exact.mul}
    for opcode, operation in operations.items():
        for ptx, groups in ARITHMETIC.items():
            f = scalar(ptx)
            for roundings, sets in groups:
                for r in roundings:
                    for m in sets:
                        one = modified(f, lambda a, b, f=f, o=operation, r=r: o(f, a, b, r or "rn"), m)
                        yield row(forms(opcode, r, m, ptx), ptx, f"{ptx} {ptx}", lifted(ptx, one))


FUSED = {
    "f32": (ROUNDINGS, ((), ("ftz",), ("sat",), ("ftz", "sat"))),
    "f32x2": (ROUNDINGS, ((), ("ftz",))),
    "f64": (ROUNDINGS, ((),)),
    "f16": (("rn",), ((), ("ftz",), ("sat",), ("ftz", "sat"), ("relu",), ("ftz", "relu"))),
    "f16x2": (("rn",), ((), ("ftz",), ("sat",), ("relu",))),
    "bf16": (("rn",), ((), ("relu",))),
    "bf16x2": (("rn",), ((), ("relu",))),
}


def fused() -> Iterator[Row]:
    for ptx, (roundings, sets) in FUSED.items():
        f = scalar(ptx)
        for r in roundings:
            for m in sets:
                one = modified(f, lambda a, b, c, f=f, r=r: exact.fma(f, a, b, c, r), m)
                yield row(forms("fma", r, m, ptx), ptx, f"{ptx} {ptx} {ptx}", lifted(ptx, one))
    for ptx in ("f16", "f16x2", "bf16", "bf16x2"):
        f = scalar(ptx)
        for m in ((), ("relu",)):
            one = modified(f, lambda a, b, c, f=f: exact.fma(f, a, b, c), m)
            yield row(forms("fma.rn", "oob", m, ptx), ptx, f"{ptx} {ptx} {ptx}", lifted(ptx, one))
    for r in ROUNDINGS:
        for m in ((), ("ftz", "sat")):
            one = modified(F32, lambda a, b, c, r=r: exact.fma(F32, a, b, c, r), m)
            yield row(forms("mad", r, m, "f32"), "f32", "f32 f32 f32", one)
        yield row(f"mad.{r}.f64", "f64", "f64 f64 f64", lambda a, b, c, r=r: exact.fma(F64, a, b, c, r))


def widen(f, bits):
    return exact.convert(f, F32, bits) if not exact.is_nan(f, bits) else 0x7FC00000


def mixed() -> Iterator[Row]:
    for half in ("f16", "bf16"):
        f = FORMATS[half]
        for r in ("", *ROUNDINGS):
            for m in ((), ("sat",)):
                mode = r or "rn"
                tail = f"f32.{half}"
                plus = modified(F32, lambda a, c, f=f, r=mode: exact.add(F32, widen(f, a), c, r), m)
                minus = modified(F32, lambda a, c, f=f, r=mode: exact.sub(F32, widen(f, a), c, r), m)
                fma = modified(F32, lambda a, b, c, f=f, r=mode: exact.fma(F32, widen(f, a), widen(f, b), c, r), m)
                yield row(forms("add", r, m, tail), "f32", f"{half} f32", plus)
                yield row(forms("sub", r, m, tail), "f32", f"{half} f32", minus)
                if r:
                    yield row(forms("fma", r, m, tail), "f32", f"{half} {half} f32", fma)


def division() -> Iterator[Row]:
    for r in ROUNDINGS:
        for ptx, sets in (("f32", ((), ("ftz",))), ("f64", ((),))):
            f = FORMATS[ptx]
            for m in sets:
                one = {"f32": 0x3F800000, "f64": 0x3FF0000000000000}[ptx]
                div = modified(f, lambda a, b, f=f, r=r: exact.div(f, a, b, r), m)
                rcp = modified(f, lambda a, f=f, r=r, one=one: exact.div(f, one, a, r), m)
                root = modified(f, lambda a, f=f, r=r: exact.sqrt(f, a, r), m)
                yield row(forms("div", r, m, ptx), ptx, f"{ptx} {ptx}", div)
                yield row(forms("rcp", r, m, ptx), ptx, ptx, rcp)
                yield row(forms("sqrt", r, m, ptx), ptx, ptx, root)
    for m in ((), ("ftz",)):
        ftz = bool(m)
        yield row(forms("div", "full", m, "f32"), "f32", "f32 f32", lambda a, b, z=ftz: quotient(a, b, z, False))
        yield row(forms("div", "approx", m, "f32"), "f32", "f32 f32", lambda a, b, z=ftz: quotient(a, b, z, True))


def ulp(f, number):
    """The distance of neighbours at a number."""
    at = exact.below(f, min(abs(number), exact.magnitude(f, f.largest)))
    return float(exact.magnitude(f, max(at, 1)) - exact.magnitude(f, max(at, 1) - 1))


def quotient(a, b, ftz, approx):
    """div.full and div.approx: within 2 ulp; the approximate one gives 0 (NaN for an infinity) beyond |b| = 2**126."""
    if ftz:
        a, b = exact.flush(F32, a), exact.flush(F32, b)
    correct = exact.div(F32, a, b)
    if approx and exact.is_finite(F32, b) and exact.value(F32, b & 0x7FFFFFFF) > 2**126:
        if exact.is_nan(F32, a) or exact.is_infinite(F32, a):
            return exact.any_nan(F32)
        return Accept("zero", lambda bits: bits & 0x7FFFFFFF == 0)
    return around(F32, correct, 2, ftz, None if isinstance(correct, Accept) else a, b)


def around(f, correct, ulps, ftz, a=None, b=None):
    """Accept results within `ulps` last places of a correctly rounded one."""
    if isinstance(correct, Accept) or not exact.is_finite(f, correct):
        return correct
    number = exact.value(f, correct)
    if a is not None and (number == 0) and exact.value(f, a) == 0:
        return correct
    return exact.near(f, float(number), ulps * ulp(f, number), ftz)


def signs() -> Iterator[Row]:
    for ptx in ("f32", "f64", "f16", "f16x2", "bf16", "bf16x2"):
        f = scalar(ptx)
        sets = ((), ("ftz",)) if ptx in ("f32", "f16", "f16x2") else ((),)
        for m in sets:
            for opcode, change in (("abs", lambda b, f: b & (f.sign - 1)), ("neg", lambda b, f: b ^ f.sign)):

                def one(bits, f=f, change=change):
                    return exact.any_nan(f) if exact.is_nan(f, bits) else change(bits, f)

                yield row(forms(opcode, "", m, ptx), ptx, ptx, lifted(ptx, modified(f, one, m)))
    for ptx in ("f32", "f64"):
        f = FORMATS[ptx]
        yield row(f"copysign.{ptx}", ptx, f"{ptx} {ptx}", lambda a, b, f=f: _copied(f, a, b))
        for test, holds in CLASSES.items():
            yield row(f"testp.{test}.{ptx}", "pred", ptx, lambda a, f=f, holds=holds: int(holds(f, a & (f.sign - 1))))


def _copied(f, a, b):
    return exact.any_nan(f) if exact.is_nan(f, b) else b & (f.sign - 1) | a & f.sign


CLASSES = {
    "finite": lambda f, m: m < f.infinity,
    "infinite": lambda f, m: m == f.infinity,
    "number": lambda f, m: m <= f.infinity,
    "notanumber": lambda f, m: m > f.infinity,
    "normal": lambda f, m: f.smallest_normal <= m < f.infinity,
    "subnormal": lambda f, m: 0 < m < f.smallest_normal,
}


def extremes() -> Iterator[Row]:
    for opcode, pick in (("min", min), ("max", max)):
        yield row(f"{opcode}.f64", "f64", "f64 f64", lambda a, b, pick=pick: exact.minmax(F64, pick, a, b))
        for ptx in ("f32", "f16", "f16x2", "bf16", "bf16x2"):
            f = scalar(ptx)
            for ftz in ((), ("ftz",)) if "b" not in ptx else ((),):
                for nan in ((), ("NaN",)):
                    for xor in ((), ("xorsign", "abs")):

                        def one(a, b, f=f, pick=pick, nan=nan, xor=xor):
                            return extreme(f, pick, bool(nan), bool(xor), a, b)

                        m = (*ftz, *nan, *xor)
                        yield row(forms(opcode, "", m, ptx), ptx, f"{ptx} {ptx}", lifted(ptx, modified(f, one, m)))
        for m in ((), ("ftz",), ("NaN",), ("abs",), ("ftz", "NaN", "abs")):

            def three(*bits, pick=pick, m=m):
                bits = [b & 0x7FFFFFFF for b in bits] if "abs" in m else bits
                return exact.minmax(F32, pick, *bits, nan_wins="NaN" in m)

            yield row(forms(opcode, "", m, "f32"), "f32", "f32 f32 f32", modified(F32, three, m))


def extreme(f, pick, nan_wins, xorsign, a, b):
    if not xorsign:
        return exact.minmax(f, pick, a, b, nan_wins=nan_wins)
    found = exact.minmax(f, pick, a & (f.sign - 1), b & (f.sign - 1), nan_wins=nan_wins)
    return found if isinstance(found, Accept) else found | (a ^ b) & f.sign


# --- approximations -------------------------------------------------------------------------------------------------------


def as_float(f, bits):
    if exact.is_nan(f, bits):
        return math.nan
    if exact.is_infinite(f, bits):
        return math.copysign(math.inf, -1.0 if exact.is_negative(f, bits) else 1.0)
    return math.copysign(float(exact.value(f, bits)), -1.0 if exact.is_negative(f, bits) else 1.0)


def within(f, number, bound, ftz=False):
    """Accept a number within a bound of an exact one; infinities, NaNs and zeros exactly."""
    if math.isnan(number):
        return exact.any_nan(f)
    if math.isinf(number) or abs(number) > float(exact.magnitude(f, f.largest)) * (1 + 2.0 ** -(f.fraction + 2)):
        return f.infinity | (f.sign if number < 0 else 0)
    if number == 0:
        return f.sign if math.copysign(1.0, number) < 0 else 0
    return exact.near(f, number, bound, ftz)


def exp2(x):
    return math.inf if x >= 1024 else 0.0 if x < -2000 else 2.0**x


def log2(x):
    return -math.inf if x == 0 else math.nan if x < 0 else math.log2(x)


def reciprocal(x):
    return math.copysign(math.inf, x) if x == 0 else 1 / x


def root(x):
    return x if x == 0 else math.nan if x < 0 else math.sqrt(x)


def log2_bound(x, y):
    return 2.0**-22 if 0.5 <= x <= 2 else abs(y) * 2.0**-22


def sine_bound(x, y):
    """2**-20.5 within [-pi, pi]; we hold ourselves to it up to 2**49 and to [-1, 1] beyond."""
    return 2.0**-20.5 if abs(x) <= 2.0**49 else 2.0


def relative(power):
    return lambda x, y: abs(y) * 2.0**power


def ulps(count):
    return lambda x, y: count * ulp(F32, y)


APPROXIMATIONS = {
    "ex2": (exp2, ulps(2)),
    "lg2": (log2, log2_bound),
    "sin": (lambda x: math.nan if math.isinf(x) else math.sin(x), sine_bound),
    "cos": (lambda x: math.nan if math.isinf(x) else math.cos(x), sine_bound),
    "tanh": (math.tanh, relative(-11)),
    "rcp": (reciprocal, ulps(1)),
    "rsqrt": (lambda x: reciprocal(root(x)), relative(-22.9)),
    "sqrt": (root, relative(-23)),
}
"""Each f32 approximation: the function, and the manual's bound on |error| at (x, y)."""


def approximations() -> Iterator[Row]:
    for opcode, (function, bound) in APPROXIMATIONS.items():
        for ftz in (False, True) if opcode != "tanh" else (False,):

            def one(bits, function=function, bound=bound, ftz=ftz):
                x = as_float(F32, exact.flush(F32, bits) if ftz else bits)
                if math.isnan(x):
                    return exact.any_nan(F32)
                y = function(x)
                slack = 2.0**-150  # subnormal results are rounded to a multiple of 2**-149
                limit = bound(x, y) + slack if math.isfinite(y) and abs(y) < 2.0**128 else 0.0
                return within(F32, y, limit, ftz)

            yield row(forms(opcode, "approx", ("ftz",) if ftz else (), "f32"), "f32", "f32", one)
    for opcode in ("ex2", "tanh"):
        function = APPROXIMATIONS[opcode][0]
        for ptx in ("f16", "f16x2", "bf16", "bf16x2"):
            f = scalar(ptx)
            for m in (("ftz",),) if "b" in ptx and opcode == "ex2" else ((),):

                def half(bits, function=function, f=f, ftz=bool(m)):
                    y = function(as_float(f, exact.flush(f, bits) if ftz else bits))
                    bound = (
                        abs(y) * 2.0 ** -(f.fraction - 1) + 2.0 ** (1 - f.bias - f.fraction)
                        if math.isfinite(y)
                        else 0.0
                    )
                    return within(f, y, bound, ftz)

                yield row(forms(opcode, "approx", m, ptx), ptx, ptx, lifted(ptx, half))
    yield row("rcp.approx.ftz.f64", "f64", "f64", lambda a: coarse(a, reciprocal))
    yield row("rsqrt.approx.ftz.f64", "f64", "f64", lambda a: coarse(a, lambda x: reciprocal(root(x))))
    yield row("rsqrt.approx.f64", "f64", "f64", precise_rsqrt)


def precise_rsqrt(bits):
    x = as_float(F64, bits)
    y = reciprocal(root(x)) if not math.isnan(x) else x
    return within(F64, y, abs(y) * 2.0**-50 if math.isfinite(y) else 0.0)


def coarse(bits, function):
    """The f64 approximations look at and give only the upper 32 bits; 20 fraction bits are right to 1 part in 2**18.

    The manual's tables: zeros and subnormals give infinities of their sign; -inf gives -0 for rcp and NaN for rsqrt.
    """
    if exact.is_nan(F64, bits):
        return exact.any_nan(F64)
    x = as_float(F64, exact.flush(F64, bits & ~0xFFFFFFFF))
    if math.isfinite(x) and x == 0:
        return F64.infinity | bits & F64.sign
    y = function(x)
    if math.isnan(y):
        return exact.any_nan(F64)
    if y == 0:
        return F64.sign if math.copysign(1.0, y) < 0 else 0
    inner = within(F64, y, abs(y) * 2.0**-18, True)
    return Accept(f"{inner!r}, lower half zero", lambda found: found & 0xFFFFFFFF == 0 and inner.accepts(found))


ROWS = [r for family in (arithmetic, fused, mixed, division, signs, extremes, approximations) for r in family()]
