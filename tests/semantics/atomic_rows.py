"""Every atomic form with what it leaves in memory, by Python's whole numbers and exact rationals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from anywarp.check.conformance import exact
from anywarp.check.conformance.exact import FORMATS, Accept
from anywarp.check.conformance.rows import number, wrap


@dataclass(frozen=True)
class AtomicRow:
    """`form` follows the opcode and the space (`add.u32`); memory holds `count` elements of type `ptx` for each thread.

    `update(old, b)` (for cas: `update(old, b, c)`) gives the new element. `free`: the same threads' updates of one element give
    the same in any order, so that it may be contended.
    """

    form: str
    ptx: str
    update: Callable[..., int | Accept]
    count: int = 1
    sources: int = 1
    red: bool = True
    atom: bool = True
    spaces: tuple[str, ...] = ("global", "shared", "")
    free: bool = True


def width(ptx):
    return FORMATS[ptx].width if ptx in FORMATS else int(ptx[1:])


def integers() -> Iterator[AtomicRow]:
    yield AtomicRow("exch.b128", "b128", lambda a, b: b, red=False, free=False)
    yield AtomicRow("cas.b128", "b128", lambda a, b, c: c if a == b else a, sources=2, red=False, free=False)
    for t in ("b32", "b64"):
        yield AtomicRow(f"and.{t}", t, lambda a, b: a & b)
        yield AtomicRow(f"or.{t}", t, lambda a, b: a | b)
        yield AtomicRow(f"xor.{t}", t, lambda a, b: a ^ b)
        yield AtomicRow(f"exch.{t}", t, lambda a, b: b, red=False, free=False)
    for t in ("b16", "b32", "b64"):
        yield AtomicRow(f"cas.{t}", t, lambda a, b, c: c if a == b else a, sources=2, red=False, free=False)
    for t in ("u32", "s32", "u64", "s64"):
        yield AtomicRow(f"add.{t}", t, lambda a, b, t=t: wrap(a + b, width(t)))
        yield AtomicRow(f"min.{t}", t, lambda a, b, t=t: min(a, b, key=lambda x: number(t, x)))
        yield AtomicRow(f"max.{t}", t, lambda a, b, t=t: max(a, b, key=lambda x: number(t, x)))
    yield AtomicRow("inc.u32", "u32", lambda a, b: 0 if a >= b else a + 1, free=False)
    yield AtomicRow("dec.u32", "u32", lambda a, b: b if a == 0 or a > b else a - 1, free=False)


def floats() -> Iterator[AtomicRow]:
    def add(f):
        return lambda a, b: exact.add(f, a, b)

    def extreme(f, pick):
        return lambda a, b: exact.minmax(f, pick, a, b)

    for t in ("f32", "f64"):
        yield AtomicRow(f"add.{t}", t, add(FORMATS[t]), free=False)
    for t in ("f16", "bf16"):
        f = FORMATS[t]
        yield AtomicRow(f"add.noftz.{t}", t, add(f), free=False)
        yield AtomicRow(f"add.noftz.{t}x2", t, add(f), count=2, free=False)
        for n in (2, 4, 8):
            yield AtomicRow(f"add.noftz.v{n}.{t}", t, add(f), count=n, spaces=("global",), free=False)
        for n in (2, 4):
            yield AtomicRow(f"min.noftz.v{n}.{t}x2", t, extreme(f, min), count=2 * n, spaces=("global",))
        for name, pick in (("min", min), ("max", max)):
            yield AtomicRow(f"{name}.noftz.v2.{t}", t, extreme(f, pick), count=2, spaces=("global",))
    for n in (2, 4):
        yield AtomicRow(f"add.v{n}.f32", "f32", add(FORMATS["f32"]), count=n, spaces=("global",), free=False)


ROWS = [*integers(), *floats()]
