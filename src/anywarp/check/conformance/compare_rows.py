"""set, setp, selp, slct in every type and with every operator, by Python comparisons and exact rationals."""

# pyright: basic
from __future__ import annotations

import operator
from collections.abc import Iterator

from anywarp.check.conformance import exact
from anywarp.check.conformance.exact import FORMATS
from anywarp.check.conformance.rows import KINDS, WIDTH, Row, number, row

PLAIN = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
BOOLEANS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
FLOAT_OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
INTEGERS = ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64")


def operators(ptx):
    """The comparisons of a type, each a function of two bit patterns."""
    if ptx in FORMATS:
        f = FORMATS[ptx]
        return {name: lambda a, b, f=f, n=name: exact.compare(f, n, a, b) for name in FLOAT_OPERATORS}
    allowed = (
        PLAIN if ptx[0] == "s" else {**PLAIN, **UNSIGNED} if ptx[0] == "u" else {n: PLAIN[n] for n in ("eq", "ne")}
    )
    numeric = "u" + ptx[1:] if ptx[0] == "b" else ptx
    return {name: lambda a, b, f=f, t=numeric: f(number(t, a), number(t, b)) for name, f in allowed.items()}


def types():
    """Each comparable type with whether `.ftz` applies."""
    yield from ((t, False) for t in (*INTEGERS, "f16", "bf16", "f32", "f64"))
    yield from ((t, True) for t in ("f16", "f32"))


def prepared(ptx, ftz, compare):
    """Flush before comparing."""
    if not ftz:
        return lambda a, b: int(compare(a, b))
    f = FORMATS[ptx]
    return lambda a, b: int(compare(exact.flush(f, a), exact.flush(f, b)))


def setp() -> Iterator[Row]:
    for ptx, ftz in types():
        z = ".ftz" if ftz else ""
        for name, compare in operators(ptx).items():
            test = prepared(ptx, ftz, compare)
            yield row(f"setp.{name}{z}.{ptx}", "pred", f"{ptx} {ptx}", test)
            yield row(
                f"setp.{name}{z}.{ptx}", "pred pred", f"{ptx} {ptx}", lambda a, b, t=test: (t(a, b), 1 - t(a, b)),
                operands="{r0}|{r1}, {s0}, {s1}",
            )  # fmt: skip
            for boolean, combine in BOOLEANS.items() if name in ("lt", "eq", "gtu") else ():
                yield row(
                    f"setp.{name}.{boolean}{z}.{ptx}", "pred pred", f"{ptx} {ptx} pred",
                    lambda a, b, c, t=test, f=combine: (f(t(a, b), c), f(1 - t(a, b), c)),
                    operands="{r0}|{r1}, {s0}, {s1}, {s2}",
                )  # fmt: skip
                yield row(
                    f"setp.{name}.{boolean}{z}.{ptx}", "pred", f"{ptx} {ptx} pred",
                    lambda a, b, c, t=test, f=combine: f(t(a, b), 1 - c), operands="{r0}, {s0}, {s1}, !{s2}",
                )  # fmt: skip
    for half in ("f16", "bf16"):
        ptx = half + "x2"
        for name, compare in operators(half).items():

            def pairwise(a, b, compare=compare):
                return int(compare(a & 0xFFFF, b & 0xFFFF)), int(compare(a >> 16, b >> 16))

            def combined(a, b, c, f=pairwise):
                return tuple(x & c for x in f(a, b))

            yield row(f"setp.{name}.{ptx}", "pred pred", f"{ptx} {ptx}", pairwise, operands="{r0}|{r1}, {s0}, {s1}")
            for boolean in ("or", "xor") if name == "gt" else ():

                def joined(a, b, c, f=pairwise, g=BOOLEANS[boolean]):
                    return tuple(g(x, c) for x in f(a, b))

                text = f"setp.{name}.{boolean}.{ptx}"
                yield row(text, "pred pred", f"{ptx} {ptx} pred", joined, operands="{r0}|{r1}, {s0}, {s1}, {s2}")
            yield row(
                f"setp.{name}.and.{ptx}", "pred pred", f"{ptx} {ptx} pred", combined, operands="{r0}|{r1}, {s0}, {s1}, {s2}",
            )  # fmt: skip


ONES = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}


def results(ptx, ftz, name):
    """The destination types of `set` on a source type; of those that are rare, one or none for each comparison."""
    turn = FLOAT_OPERATORS.index(name) if name in FLOAT_OPERATORS else len(name + ptx)
    if ptx in ("f16", "bf16"):
        return (ptx, "u16", "s16", "u32", "s32", *(("bf16",) if ptx == "f16" and not ftz else ()))
    rare = "f16" if ftz else ("f16", "bf16")[turn % 2]
    return ("u32", "s32", "f32", *((rare,) if ptx[1:] == "32" or turn % 3 == 0 else ()))


def set_() -> Iterator[Row]:
    for ptx, ftz in types():
        z = ".ftz" if ftz else ""
        for name, compare in operators(ptx).items():
            test = prepared(ptx, ftz, compare)
            for d in results(ptx, ftz, name):
                true = ONES.get(d) or (1 << WIDTH[KINDS[d]]) - 1
                yield row(f"set.{name}{z}.{d}.{ptx}", d, f"{ptx} {ptx}", lambda a, b, t=test, true=true: true * t(a, b))
            for boolean, combine in BOOLEANS.items() if name in ("ge", "ne", "leu") else ():
                for d in results(ptx, ftz, name):
                    true = ONES.get(d) or (1 << WIDTH[KINDS[d]]) - 1
                    yield row(
                        f"set.{name}.{boolean}{z}.{d}.{ptx}", d, f"{ptx} {ptx} pred",
                        lambda a, b, c, t=test, f=combine, true=true: true * f(t(a, b), c),
                    )  # fmt: skip
    for half in ("f16", "bf16"):
        ptx = half + "x2"
        for name, compare in operators(half).items():

            def packed(a, b, compare=compare, one=ONES[half]):
                return one * compare(a & 0xFFFF, b & 0xFFFF) | one * compare(a >> 16, b >> 16) << 16

            yield row(f"set.{name}.{ptx}.{ptx}", ptx, f"{ptx} {ptx}", packed)
            for d in ("u32", "s32") if name in ("lt", "neu", "num") else ():
                masks = lambda a, b, f=packed: sum(0xFFFF << n for n in (0, 16) if f(a, b) >> n & 0xFFFF)  # noqa: E731
                yield row(f"set.{name}.{d}.{ptx}", d, f"{ptx} {ptx}", masks)
            for boolean, combine in BOOLEANS.items() if name == "leu" else ():

                def with_predicate(a, b, c, f=packed, g=combine, one=ONES[half]):
                    bits = f(a, b)
                    return one * g(int(bits & 0xFFFF != 0), c) | one * g(int(bits >> 16 != 0), c) << 16

                yield row(f"set.{name}.{boolean}.{ptx}.{ptx}", ptx, f"{ptx} {ptx} pred", with_predicate)
            for op in ("setp", "set") if half == "f16" and name in ("lt", "neu") else ():

                def flushed(a, b, compare=compare, f=exact.F16):
                    a, b = (tuple(exact.flush(f, h) for h in (x & 0xFFFF, x >> 16)) for x in (a, b))
                    return int(compare(a[0], b[0])), int(compare(a[1], b[1]))

                if op == "setp":
                    yield row(
                        f"setp.{name}.ftz.{ptx}", "pred pred", f"{ptx} {ptx}", flushed, operands="{r0}|{r1}, {s0}, {s1}"
                    )
                    continue
                yield row(
                    f"set.{name}.ftz.{ptx}.{ptx}", ptx, f"{ptx} {ptx}",
                    lambda a, b, f=flushed: sum(0x3C00 * bit << 16 * n for n, bit in enumerate(f(a, b))),
                )  # fmt: skip


def select() -> Iterator[Row]:
    for ptx in (*INTEGERS, "f32", "f64"):
        yield row(f"selp.{ptx}", ptx, f"{ptx} {ptx} pred", lambda a, b, c: a if c else b)
        yield row(f"slct.{ptx}.s32", ptx, f"{ptx} {ptx} s32", lambda a, b, c: b if c >> 31 else a)
        for z in ("", ".ftz"):

            def by_float(a, b, c, ftz=bool(z)):
                c = exact.flush(exact.F32, c) if ftz else c
                return a if exact.compare(exact.F32, "ge", c, 0) else b

            yield row(f"slct{z}.{ptx}.f32", ptx, f"{ptx} {ptx} f32", by_float)


ROWS = [r for family in (setp, set_, select) for r in family()]
