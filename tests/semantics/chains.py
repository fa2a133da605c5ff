"""Random chains of instructions over typed registers, in branches and loops that lanes take apart.

The table of rows says which instructions there are and of which kinds their operands are; a chain feeds results to later
instructions. Only rows whose result is fixed to the bit take part, and a float never becomes bits (the payload of a NaN is free),
so two devices must leave the same registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from hypothesis import strategies as st

from anywarp.check.conformance.exact import FORMATS, Accept
from anywarp.check.conformance.rows import KINDS, WIDTH, Row, draw, inputs
from anywarp.check.conformance.table import ROWS

POOL = 3
"""Registers of each family."""
FAMILY = {
    "u16": "i16", "s16": "i16", "b16": "i16", "u32": "i32", "s32": "i32", "b32": "i32", "amount": "i32", "u64": "i64", "s64": "i64",
    "b64": "i64", "pred": "pred", "f16": "f16", "bf16": "bf16", "f16x2": "f16x2", "bf16x2": "bf16x2", "f32": "f32", "f32x2": "f32x2",
    "f64": "f64",
}  # fmt: skip
"""Kinds that may share registers."""
TYPE = {family: KINDS[kind] for kind, family in FAMILY.items()}
FAMILIES = [f for f in TYPE if f != "pred"]


@cache
def exact_rows() -> tuple[Row, ...]:
    """The rows that two devices must agree on to the bit."""

    def fixed(row: Row) -> bool:
        if not all(k in FAMILY for k in (*row.sources, *row.results)):
            return False
        found = [result for lane in inputs(row, 12) for result in row.expected(*lane)]
        return (
            all(not isinstance(r, Accept) or _any_nan(r) for r in found)
            and all(r is not None for r in found)
            and not shows_payload(row)
        )

    return tuple(row for row in ROWS if fixed(row))


def shows_payload(row: Row) -> bool:
    """Tell whether the sign or the payload of a NaN, which are free, can be seen in what a row computes."""
    for index, kind in enumerate(row.sources):
        for lane in inputs(row, 12) if _format(FAMILY[kind])[0] in FORMATS else ():
            one, other = (
                [
                    _without_payload(FAMILY[k], r)
                    for k, r in zip(row.results, row.expected(*lane[:index], nan, *lane[index + 1 :]))
                ]
                for nan in _nans(FAMILY[kind])
            )
            if one != other:
                return True
    return False


def _format(family: str) -> tuple[str, int]:
    """Return the format of a float family's parts and how many there are."""
    return (family[:-2], 2) if family.endswith("x2") else (family, 1)


def _nans(family: str) -> tuple[int, int]:
    """Return two NaNs of a family that differ in sign and payload, in each part."""
    name, parts = _format(family)
    form, width = FORMATS[name], WIDTH[TYPE[family]] // _format(family)[1]
    pair = (form.sign - 1, form.sign | form.infinity | 1 | (form.infinity & -form.infinity) >> 1)
    first, second = (sum(nan << part * width for part in range(parts)) for nan in pair)
    return first, second


def _without_payload(family: str, result: object) -> object:
    """Return a result in which all NaNs of a format are equal."""
    name, parts = _format(family)
    if isinstance(result, Accept):
        return "open"
    if name not in FORMATS or not isinstance(result, int):
        return result
    form, width = FORMATS[name], WIDTH[TYPE[family]] // parts
    each = [result >> part * width & ((1 << width) - 1) for part in range(parts)]
    return tuple("nan" if part & (form.sign - 1) > form.infinity else part for part in each)


def _any_nan(accept: Accept) -> bool:
    """Tell whether what is left open is only the payload of a NaN; any other freedom may be used differently."""
    return "nan" in repr(accept).lower()


@dataclass(frozen=True)
class Step:
    """A row with the registers it reads and writes."""

    row: Row
    sources: tuple[int, ...]
    results: tuple[int, ...]

    def lines(self, label: list[int]) -> list[str]:
        names = {
            f"s{n}": _name(FAMILY[k], r) for n, (k, r) in enumerate(zip(self.row.sources, self.sources, strict=True))
        }
        names |= {
            f"r{n}": _name(FAMILY[k], r) for n, (k, r) in enumerate(zip(self.row.results, self.results, strict=True))
        }
        return [self.row.text.format(**names)]


@dataclass(frozen=True)
class Branch:
    """Steps that only lanes with a predicate run."""

    predicate: int
    steps: tuple

    def lines(self, label: list[int]) -> list[str]:
        label[0] += 1
        here = label[0]
        inner = [line for s in self.steps for line in s.lines(label)]
        return [f"@!{_name('pred', self.predicate)} bra skip{here};", *inner, f"skip{here}:"]


@dataclass(frozen=True)
class Rounds:
    """Steps that each lane repeats as often as a register of it says, at most four times."""

    register: int
    steps: tuple

    def lines(self, label: list[int]) -> list[str]:
        label[0] += 1
        here = label[0]
        inner = [line for s in self.steps for line in s.lines(label)]
        return [
            f"and.b32 %n{here}, {_name('i32', self.register)}, 3;", f"again{here}:", *inner,
            f"setp.eq.u32 %z{here}, %n{here}, 0;", f"sub.u32 %n{here}, %n{here}, 1;", f"@!%z{here} bra again{here};",
        ]  # fmt: skip


def _name(family: str, number: int) -> str:
    return f"%{family}_{number}"


@dataclass(frozen=True)
class Chain:
    """A kernel: registers of every family are loaded, steps run, registers stored."""

    steps: tuple

    def ptx(self) -> str:
        label = [0]
        body = [line for s in self.steps for line in s.lines(label)]
        registers = [f".reg .{TYPE[f]} {_name(f, n)};" for f in TYPE for n in range(POOL)]
        registers += [f".reg .b32 %n{n}; .reg .pred %z{n};" for n in range(1, label[0] + 1)]
        load: list[str] = []
        store: list[str] = []
        for at, (family, n) in enumerate((f, n) for f in FAMILIES for n in range(POOL)):
            type, name = TYPE[family], _name(family, n)
            load.append(f"ld.global.{type} {name}, [%in+{8 * at}];")
            store.append(f"st.global.{type} [%out+{8 * at}], {name};")
        load += [
            f"setp.lt.s32 {_name('pred', n)}, {_name('i32', n)}, {_name('i32', (n + 1) % POOL)};" for n in range(POOL)
        ]
        text = "\n  ".join([*registers, *load, *body, *store])
        return f""".version 8.6
.target sm_100
.address_size 64
.visible .entry chain(.param .u64 in, .param .u64 out) {{
  .reg .b64 %in, %out, %y; .reg .b32 %x;
  mov.u32 %x, %tid.x; mul.wide.u32 %y, %x, {8 * self.slots()};
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; add.s64 %in, %in, %y; add.s64 %out, %out, %y;
  {text}
  ret;
}}
"""

    @staticmethod
    def slots() -> int:
        return len(FAMILIES) * POOL

    @staticmethod
    def inputs(threads: int, rng) -> np.ndarray:
        """Values for the registers, as 64-bit words: (threads, slots)."""
        kinds = {f: k for k, f in FAMILY.items() if k != "amount"}
        rows = [[draw(kinds[f], rng) for f in FAMILIES for _ in range(POOL)] for _ in range(threads)]
        return np.array(rows, dtype=np.uint64)

    @staticmethod
    def canonical(out: np.ndarray) -> np.ndarray:
        """The registers a kernel left, with all NaNs of a format made equal."""
        done = out.copy()
        for at, family in enumerate(f for f in FAMILIES for _ in range(POOL)):
            width = WIDTH[TYPE[family]]
            name, packed = (family[:-2], 2) if family.endswith("x2") else (family, 1)
            for part in range(packed) if name in FORMATS else ():
                shift, form = np.uint64(part * width // packed), FORMATS[name]
                magnitude = done[:, at] >> shift & np.uint64(form.sign - 1)
                ones = np.uint64((2 * form.sign - 1) << int(shift))
                done[:, at] = np.where(magnitude > np.uint64(form.infinity), done[:, at] | ones, done[:, at])
        return done


@st.composite
def _steps(draw_, depth: int):
    kind = draw_(st.sampled_from(["row"] * 8 + (["branch", "rounds"] if depth else [])))
    register = st.integers(0, POOL - 1)
    if kind != "row":
        inner = tuple(draw_(st.lists(_steps(depth - 1), min_size=1, max_size=5)))
        return (Branch if kind == "branch" else Rounds)(draw_(register), inner)
    row = draw_(st.sampled_from(exact_rows()))
    return Step(row, tuple(draw_(register) for _ in row.sources), tuple(_apart(draw_, len(row.results))))


def _apart(draw_, count: int) -> Sequence[int]:
    """Different registers for the results of one instruction."""
    return draw_(st.permutations(range(POOL)))[:count]


chains = st.lists(st.deferred(lambda: _steps(2)), min_size=4, max_size=14).map(lambda s: Chain(tuple(s)))
"""Random chains."""
