"""What one row of the instruction table is: PTX text, register types, an independent expected value, and edge values.

Placeholders `{r0} {r1} ...` in the text are destination registers, `{s0} {s1} ...` sources, each declared with the PTX register
type of its kind. `expected(*bits)` takes the sources' bit patterns and returns one result per destination: a bit pattern of the
destination register, or an `Accept` for results the manual does not fix to the bit. None: any value will do.
"""

# pyright: basic
from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anywarp.check.conformance.exact import BF16, F16, F32, F64, FORMATS, Accept

KINDS: dict[str, str] = {
    "pred": "pred", "b8": "b8", "u16": "b16", "s16": "b16", "b16": "b16", "f16": "b16", "bf16": "b16",
    "u32": "b32", "s32": "b32", "b32": "b32", "f16x2": "b32", "bf16x2": "b32", "f32": "f32", "amount": "b32", "small": "b32",
    "u64": "b64", "s64": "b64", "b64": "b64", "f32x2": "b64", "f64": "f64", "b128": "b128",
}  # fmt: skip
"""Register type of each kind of operand. A kind also decides edge values: `amount` for shift counts, positions and lengths,
`small` for counts that must stay small."""

WIDTH = {"pred": 1, "b8": 8, "b16": 16, "b32": 32, "b64": 64, "b128": 128, "f32": 32, "f64": 64}
"""Width of each register type."""


@dataclass(frozen=True)
class Row:
    """One instruction form (or a short sequence) with what it must compute, lane by lane."""

    text: str
    results: tuple[str, ...]
    sources: tuple[str, ...]
    expected: Callable[..., tuple]

    @property
    def name(self):
        """The instruction form, for a test's name."""
        return self.text.split(" ", 1)[0].rstrip(";") + ("" if self.text.count(";") == 1 else "...")

    @property
    def result_registers(self):
        return tuple(KINDS[k] for k in self.results)

    @property
    def source_registers(self):
        return tuple(KINDS[k] for k in self.sources)


def row(
    form: str, results: str, sources: str, expected: Callable, *, operands: str | None = None, tail: str = ""
) -> Row:
    """Make a row of one instruction; `expected` may return a single result. `operands` replaces the usual operand list."""
    rs, ss = tuple(results.split()), tuple(sources.split())
    if operands is None:
        names = [f"{{r{n}}}" for n in range(len(rs))] + [f"{{s{n}}}" for n in range(len(ss))]
        operands = ", ".join(names)
    return sequence(f"{form} {operands}{tail};", results, sources, expected)


def sequence(text: str, results: str, sources: str, expected: Callable) -> Row:
    """Make a row of any text."""

    def as_tuple(*bits):
        found = expected(*bits)
        return found if isinstance(found, tuple) else (found,)

    return Row(text, tuple(results.split()), tuple(sources.split()), as_tuple)


def matches(expected, bits: int) -> bool:
    """Tell whether a destination register's bits are what a row expects."""
    if expected is None:
        return True
    if isinstance(expected, Accept):
        return expected.accepts(bits)
    return expected == bits


# --- two's complement ---------------------------------------------------------------------------------------------------


def signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) & 1 else bits


def wrap(number: int, width: int) -> int:
    return number & ((1 << width) - 1)


def number(ptx: str, bits: int) -> int:
    """The value of an integer type's bits, chopped to its width."""
    width = int(ptx[1:])
    bits = wrap(bits, width)
    return signed(bits, width) if ptx[0] == "s" else bits


def bounds(ptx: str) -> tuple[int, int]:
    """The range of an integer type."""
    width = int(ptx[1:])
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if ptx[0] == "s" else (0, (1 << width) - 1)


def halves(bits: int, width: int = 32) -> tuple[int, int]:
    """Low and high half."""
    return wrap(bits, width // 2), bits >> (width // 2)


# --- inputs ---------------------------------------------------------------------------------------------------------------


def _integer_edges(width: int) -> list[int]:
    top = 1 << (width - 1)
    return [
        0,
        1,
        2,
        3,
        7,
        0x80,
        0xFF,
        wrap(0x55555555555555555555, width),
        top - 1,
        top,
        top + 1,
        2 * top - 1,
        2 * top - 2,
    ]


def _float_edges(f) -> list[int]:
    one = f.bias << f.fraction
    positive = [
        0, 1, 2, f.smallest_normal - 1, f.smallest_normal, f.smallest_normal + 1, one, one - 1, one + 1, one + (1 << f.fraction),
        one + (1 << (f.fraction - 1)), one - (1 << f.fraction), one + 7 * (1 << f.fraction), one + (3 << (f.fraction - 1)),
        one + (9 << (f.fraction - 1)), f.largest, f.largest - 1, f.infinity, f.infinity + (1 << (f.fraction - 1)), f.infinity + 1,
    ]  # fmt: skip
    # Half-way between two numbers of a narrower format, above an even one and above an odd one, and just beside.
    for narrower in (2, 3, 7, 10, 23):
        at = f.fraction - 1 - narrower
        if at > 0:
            positive += [one + (n << at) + beside for n in (1, 3) for beside in (-1, 0, 1)]
    if f is F32:
        positive += [(127 + e) << 23 for e in (125, 126, 127, -125)] + [
            0x7E800001,
            0x477FF000,
            0x477FEFFF,
            0x387FE000,
            0x43E80000,
        ]
    return positive + [f.sign | p for p in positive]


def _pairs(edges: Sequence[int], width: int) -> list[int]:
    return [a | b << width for a in edges[::2] for b in edges[1::3]]


EDGES: dict[str, list[int]] = {
    "pred": [0, 1],
    **{f"{k}{w}": _integer_edges(w) for k in "usb" for w in (16, 32, 64)},
    "b8": _integer_edges(8),
    "b128": _integer_edges(128),
    "amount": [*range(34), 63, 64, 65, 127, 128, 200, 255, 256, 257, 0x100, 0x1F00, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF],
    "small": list(range(9)),
    "f16": _float_edges(F16), "bf16": _float_edges(BF16), "f32": _float_edges(F32), "f64": _float_edges(F64),
    "f16x2": _pairs(_float_edges(F16), 16), "bf16x2": _pairs(_float_edges(BF16), 16), "f32x2": _pairs(_float_edges(F32), 32),
}  # fmt: skip
"""Edge values of each kind, as bit patterns."""


def _random_float(f, rng: random.Random) -> int:
    if rng.random() < 0.3:
        return rng.getrandbits(f.width)
    exponent = min(max(f.bias + rng.randint(-f.fraction - 3, f.fraction + 3), 0), 2 * f.bias)
    return rng.getrandbits(1) << (f.width - 1) | exponent << f.fraction | rng.getrandbits(f.fraction)


def draw(kind: str, rng: random.Random) -> int:
    """A random value of a kind, an edge value half of the time."""
    if rng.random() < 0.5:
        return rng.choice(EDGES[kind])
    if kind in FORMATS:
        return _random_float(FORMATS[kind], rng)
    if kind.endswith("x2") and kind[:-2] in FORMATS:
        f = FORMATS[kind[:-2]]
        return _random_float(f, rng) | _random_float(f, rng) << f.width
    if kind == "amount":
        return rng.randint(0, 70)
    return rng.choice(EDGES[kind]) if kind == "small" else rng.getrandbits(WIDTH[KINDS[kind]])


def inputs(row: Row, count: int, seed: int = 0) -> list[tuple[int, ...]]:
    """Sources for `count` lanes, all different where the kinds allow; some lanes have equal sources.

    Successive seeds walk through all edge values of a single source.
    """
    rng = random.Random(f"{row.text} {seed}")
    found: list[tuple[int, ...]] = []
    if len(row.sources) == 1:
        edges = EDGES[row.sources[0]]
        found = [(e,) for e in dict.fromkeys(edges[(seed * count // 2 + n) % len(edges)] for n in range(count // 2))]
    seen: set[tuple[int, ...]] = set(found)
    for _ in range(20 * count):
        lane = tuple(draw(k, rng) for k in row.sources)
        if rng.random() < 0.1:
            lane = tuple(lane[0] if k == row.sources[0] else x for k, x in zip(row.sources, lane, strict=True))
        if lane not in seen:
            seen.add(lane)
            found.append(lane)
        if len(found) == count:
            return found
    return (found * count)[:count]
