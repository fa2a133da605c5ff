"""The video instructions, by Python's own whole numbers: selected parts in, exact intermediate results, clamps and merges."""

# pyright: basic, reportRedeclaration=false
from __future__ import annotations

import operator
from collections.abc import Iterator

from anywarp.check.conformance.rows import Row, bounds, sequence, signed, wrap

PARTS = ("b0", "b1", "b2", "b3", "h0", "h1")
TYPES = ("u32", "s32")
OPERATIONS = {
    "vadd": operator.add,
    "vsub": operator.sub,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
    "vavrg": lambda a, b: (a + b + (1 if a + b >= 0 else 0)) >> 1,
}
SECOND = {"add": operator.add, "min": min, "max": max}
COMPARE = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip


def place(part):
    """Position and width."""
    if not part:
        return 0, 32
    return (8 * int(part[1]), 8) if part[0] == "b" else (16 * int(part[1]), 16)


def select(bits, ptx, part):
    at, width = place(part)
    field = bits >> at & ((1 << width) - 1)
    return signed(field, width) if ptx[0] == "s" else field


def clamp(value, ptx, width):
    low, high = bounds(f"{ptx[0]}{width}")
    return max(low, min(high, value))


def finish(value, ptx, c, *, sat=False, second="", part=""):
    """The manual's saturation, second operation and merge."""
    at, width = place(part)
    if sat:
        value = clamp(value, ptx, width)
    if second:
        value = SECOND[second](value, signed(c, 32) if ptx[0] == "s" else c)
    if part:
        mask = (1 << width) - 1 << at
        return c & ~mask | wrap(value, width) << at
    return wrap(value, 32)


def text(form, d="", a="", b="", c=False):
    def dot(x):
        return f".{x}" if x else ""

    return f"{form} {{r0}}{dot(d)}, {{s0}}{dot(a)}, {{s1}}{dot(b)}{', {s2}' if c else ''};"


def variants():
    """Modifiers and selectors: every saturation and second operation, every selector in every place."""
    for sat in (False, True):
        for second in ("", *SECOND):
            yield sat, second, "", "", ""
    for n, part in enumerate(PARTS):
        yield bool(n & 1), "", part, "", ""
        yield True, "", part, PARTS[(n + 2) % 6], ""
        yield False, ("", "add", "min")[n % 3], "", part, PARTS[(n + 3) % 6]
        yield True, ("max", "", "add")[n % 3], "", "", part


def scalar() -> Iterator[Row]:
    for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax"):
        for n, (sat, second, d, a, b) in enumerate(variants()):
            # All eight combinations of types come round, for the plain forms at once.
            for to, ta, tb in [(t, u, v) for t in TYPES for u in TYPES for v in TYPES][n % 4 :: 1 if n < 2 else 4]:

                def expected(x, y, z=0, f=OPERATIONS[name], to=to, ta=ta, tb=tb, a=a, b=b, o=(sat, second, d)):
                    value = f(select(x, ta, a), select(y, tb, b))
                    return finish(value, to, z, sat=o[0], second=o[1], part=o[2])

                form = f"{name}.{to}.{ta}.{tb}{'.sat' if sat else ''}{'.' + second if second else ''}"
                three = bool(second or d)
                yield sequence(text(form, d, a, b, three), "b32", "b32 b32 b32" if three else "b32 b32", expected)


def shifts() -> Iterator[Row]:
    for name in ("vshl", "vshr"):
        for n, (sat, second, d, a, b) in enumerate(variants()):
            for to, ta, mode in [(t, u, m) for t in TYPES for u in TYPES for m in ("clamp", "wrap")][
                n % 4 :: 1 if n < 2 else 4
            ]:

                def expected(x, y, z=0, left=name == "vshl", to=to, ta=ta, mode=mode, a=a, b=b, o=(sat, second, d)):
                    amount = select(y, "u32", b)
                    amount = min(amount, 32) if mode == "clamp" else amount & 31
                    value = select(x, ta, a)
                    value = value << amount if left else value >> amount
                    return finish(value, to, z, sat=o[0], second=o[1], part=o[2])

                form = f"{name}.{to}.{ta}.u32{'.sat' if sat else ''}.{mode}{'.' + second if second else ''}"
                three = bool(second or d)
                sources = "b32 amount b32" if three else "b32 amount"
                yield sequence(text(form, d, a, b, three), "b32", sources, expected)


def comparisons() -> Iterator[Row]:
    every = [(second, d, a, b) for sat, second, d, a, b in variants() if not sat]
    for n, (name, f) in enumerate(COMPARE.items()):
        for k, (second, d, a, b) in enumerate(every):
            for ta, tb in [(t, u) for t in TYPES for u in TYPES][(n + k) % 4 :: 1 if k < 1 else 4]:

                def expected(x, y, z=0, f=f, ta=ta, tb=tb, o=(second, d, a, b)):
                    value = int(f(select(x, ta, o[2]), select(y, tb, o[3])))
                    return finish(value, "u32", z, second=o[0], part=o[1])

                form = f"vset.{ta}.{tb}.{name}{'.' + second if second else ''}"
                three = bool(second or d)
                sources = "b32 b32 b32" if three else "b32 b32"
                yield sequence(text(form, d, a, b, three), "b32", sources, expected)


def mads() -> Iterator[Row]:
    """The combinations of negations that the manual lists; a product may be negated through either factor."""
    signs = [
        ("", "", "", False),
        ("-", "", "", False),
        ("", "-", "", False),
        ("-", "-", "", False),
        ("", "", "-", False),
    ]
    signs.append(("", "", "", True))
    for n, (na, nb, nc, plus) in enumerate(signs):
        for k, (ta, tb) in enumerate((t, u) for t in TYPES for u in TYPES):
            for m, (sat, scale) in enumerate((s, x) for s in (False, True) for x in (0, 7, 15)):
                if (n + k + m) % 2:
                    continue
                a = ("", *PARTS)[(n + k + m) % 7] if m else ""
                b = ("", *PARTS)[(n + 2 * k + 3 * m) % 7] if m else ""
                negated = (na == "-") != (nb == "-")
                both = ta == tb == "u32"
                final = not both or negated or nc == "-"

                def expected(x, y, z, ta=ta, tb=tb, a=a, b=b, o=(negated, nc, plus, sat, scale, both, final)):
                    negated, nc, plus, sat, scale, both, final = o
                    product = select(x, ta, a) * select(y, tb, b)
                    c = z if both and not negated else signed(z, 32)
                    total = (-product if negated else product) + (-c if nc else c) + int(plus)
                    if sat and not -(1 << 63) <= total < 1 << (63 if final else 64):
                        return None  # the manual cuts the result to 64 bits before it clamps
                    total >>= scale
                    return wrap(clamp(total, "s32" if final else "u32", 32) if sat else total, 32)

                form = f"vmad.{'s32' if final else 'u32'}.{ta}.{tb}{'.po' if plus else ''}{'.sat' if sat else ''}"
                form += f".shr{scale}" if scale else ""
                a, b = (f".{x}" if x else "" for x in (a, b))
                yield sequence(
                    f"{form} {{r0}}, {na}{{s0}}{a}, {nb}{{s1}}{b}, {nc}{{s2}};", "b32", "b32 b32 b32", expected
                )


MASKS = {2: ("", "h0", "h1", "h10"), 4: ("", *"b0 b1 b10 b2 b20 b21 b210 b3 b30 b31 b310 b32 b320 b321 b3210".split())}
SELECTORS = {
    2: ("", *(f"h{x}{y}" for x in range(4) for y in range(4))),
    4: ("", "b3210", "b7654", "b0000", "b7070", "b1357", "b2634", "b4455", "b6021"),
}


def elements(x, y, ptx, count, selector, usual):
    width = 32 // count
    parts = [w >> width * n & ((1 << width) - 1) for w in (x, y) for n in range(count)]
    picks = [int(d) for d in reversed(selector[1:])] if selector else [usual + n for n in range(count)]
    return [signed(parts[p], width) if ptx[0] == "s" else parts[p] for p in picks]


def gather(c, values, count, mask, accumulate):
    width = 32 // count
    for n in range(count):
        if mask and str(n) not in mask[1:]:
            continue
        if accumulate:
            c += values[n]
        else:
            field = (1 << width) - 1 << n * width
            c = c & ~field | wrap(values[n], width) << n * width
    return wrap(c, 32)


def simd() -> Iterator[Row]:
    for count in (2, 4):
        masks, selectors = MASKS[count], SELECTORS[count]
        cases = [
            (m, selectors[n % len(selectors)], selectors[(3 * n + 1) % len(selectors)]) for n, m in enumerate(masks)
        ]
        cases += [("", s, selectors[-1 - n]) for n, s in enumerate(selectors)]
        for k, (name, f) in enumerate(OPERATIONS.items()):
            for n, (mask, a, b) in enumerate(cases):
                if n > 2 and (n + k) % 3:  # each selection with two of the six operations
                    continue
                how = ("", "sat", "add")[(n + n // 3) % 3]
                for to, ta, tb in [(t, u, v) for t in TYPES for u in TYPES for v in TYPES][n % 8 :: 1 if n == 0 else 8]:

                    def expected(x, y, z, f=f, to=to, ta=ta, tb=tb, o=(count, mask, a, b, how)):
                        count, mask, a, b, how = o
                        pairs = zip(elements(x, y, ta, count, a, 0), elements(x, y, tb, count, b, count), strict=True)
                        values = [f(p, q) for p, q in pairs]
                        if how == "sat":
                            values = [clamp(v, to, 32 // count) for v in values]
                        return gather(z, values, count, mask, how == "add")

                    form = f"{name}{count}.{to}.{ta}.{tb}{'.' + how if how else ''}"
                    yield sequence(text(form, mask, a, b, True), "b32", "b32 b32 b32", expected)
        for k, (name, f) in enumerate(COMPARE.items()):
            for n, (mask, a, b) in enumerate(cases):
                if n > 3 and (n + k) % 6:
                    continue
                how = ("", "add")[n % 2]
                ta, tb = TYPES[n // 2 % 2], TYPES[(n + k) % 2]

                def expected(x, y, z, f=f, ta=ta, tb=tb, o=(count, mask, a, b, how)):
                    count, mask, a, b, how = o
                    pairs = zip(elements(x, y, ta, count, a, 0), elements(x, y, tb, count, b, count), strict=True)
                    return gather(z, [int(f(p, q)) for p, q in pairs], count, mask, how == "add")

                form = f"vset{count}.{ta}.{tb}.{name}{'.' + how if how else ''}"
                yield sequence(text(form, mask, a, b, True), "b32", "b32 b32 b32", expected)


ROWS = [*scalar(), *shifts(), *comparisons(), *mads(), *simd()]
