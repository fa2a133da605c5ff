"""What this processor is good at, measured: a few small loops, each the best of several rounds, and what follows for code.

A virtual machine sees a cache that it shares and a name that says little, so what a choice rests on is timed. That takes about a tenth
of a second of processor time, or three where it speaks for other choices than the usual ones, once: the compile service does it when nobody waits, and keeps the record in the cache
(docs/contracts.md, section 1).
"""

from __future__ import annotations

import ctypes
import math
import mmap
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from itertools import pairwise
from typing import TypeVar

from anywarp.compiler.artifact import pack_container
from anywarp.compiler.simd.machine_code import LoadedObject, compile_text
from anywarp.compiler.simd.target import SimdTarget
from anywarp.compiler.simd.tuning import USUAL, Tuning, write_tuning
from anywarp.devices.cpu.loops import AHEAD, DISTANCE, SLICE, STORED, loops

_ROOM = 64 << 20
_HUGE = 2 << 20
_CLEARLY = 0.8
"""How much of the usual choice's time another may take to be chosen: a smaller gain may be noise, and is not worth compiling everything again."""
_AS_GOOD = 0.93
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
_ROUNDS, _SWEEPS = 7, 6
_STRUCTURES = 8 << 20
"""Bytes that vectors under masks go through: more than a cache of one core holds."""
_TAKES = 3

_Name = TypeVar("_Name", str, int)
Figures = Mapping[str, float]
"""Nanoseconds by what took them; of each loop the best round."""


def choose(figures: Figures, target: SimdTarget) -> Tuning:
    """Return the choices that the figures speak for; the usual ones where they say nothing, or nothing that can be."""
    usual = USUAL
    return Tuning(
        ahead=_ahead(figures, usual.ahead),
        beside=_gained(figures, f"ahead{USUAL.ahead}", "beside", target.machine.asks_beside),
        first=_gained(figures, "crossing", "asked", target.machine.asks_first),
        gathers=_gathers(figures, usual.gathers),
        masks=_masks(figures, target.machine.quick_masks),
        pairs=_pairs(figures, target.machine.quick_bf16),
        stream=_stream(figures, usual.stream),
        vector=_vector(figures, usual.vector),
    )


def settle(measured: Callable[[], Figures], target: SimdTarget) -> tuple[Figures, Tuning]:
    """Return figures, of each the least, and the choices that every one of `_TAKES` measurements speaks for; one is enough for the usual ones.

    Other choices mean that all code is made anew, and what else the machine does moves single figures by more than `_CLEARLY`.
    """
    least, chosen = dict(figures := measured()), choose(figures, target)
    for _ in range(_TAKES - 1):
        if chosen == USUAL:
            break
        again = choose(figures := measured(), target)
        chosen = Tuning(**{
            field.name: getattr(chosen if getattr(chosen, field.name) == getattr(again, field.name) else USUAL, field.name)
            for field in fields(Tuning)
        })  # fmt: skip
        least = {name: min(least.get(name, math.inf), took) for name, took in figures.items()}
    return least, chosen


def pack_record(figures: Figures, tuning: Tuning) -> bytes:
    """Return figures and what follows from them as a container of `kind machine` (docs/contracts.md, section 1)."""
    lines = ["kind machine", f"tuning {write_tuning(tuning) or '-'}"]
    lines += [f"figure {name} {nanoseconds:.0f}" for name, nanoseconds in sorted(figures.items())]
    return pack_container("".join(f"{line}\n" for line in lines), b"")


def _plausible(figures: Mapping[_Name, float], names: Iterable[_Name], most: float) -> bool:
    """Tell whether all these were measured, and lie as close together as such things do."""
    found = [figures.get(name, 0.0) for name in names]
    return all(math.isfinite(f) and f > 0 for f in found) and max(found) <= most * min(found)


def _pairs(figures: Figures, named: bool) -> int | None:
    """Sums of two products count as quick up to half as long again as one multiply-add; None where that is what the name says."""
    if not _plausible(figures, ("fma512", "pairs"), 16):
        return None
    quick = figures["pairs"] < 1.5 * figures["fma512"]
    return None if quick == named else int(quick)


def _masks(figures: Figures, named: bool) -> int | None:
    """Stores of some lanes count as quick up to two and a half times as long as plain ones; None where that is what the name says."""
    if not _plausible(figures, ("part", "whole"), 64):
        return None
    quick = figures["part"] < 2.5 * figures["whole"]
    return None if quick == named else int(quick)


def _vector(figures: Figures, usual: int) -> int:
    """Vectors of half the width where these do more in the same time."""
    if not _plausible(figures, ("fma256", "fma512"), 8):
        return usual
    return 256 if 2 * figures["fma256"] < _CLEARLY * figures["fma512"] else usual


def _gathers(figures: Figures, usual: int) -> int:
    if not _plausible(figures, ("gather", "apart"), 64):
        return usual
    return int(figures["apart"] >= _CLEARLY * figures["gather"])


def _ahead(figures: Figures, usual: int) -> int:
    """The usual distance unless another is clearly better; of those that are as good as the best, the nearest."""
    times = {kib: figures.get(f"ahead{kib}", 0.0) for kib in AHEAD}
    if not _plausible(figures, [f"ahead{kib}" for kib in AHEAD], 8):
        return usual
    least = min(times.values())
    if least >= _CLEARLY * times[usual]:
        return usual
    return next(kib for kib in AHEAD if times[kib] * _AS_GOOD <= least)


def _gained(figures: Figures, without: str, asking: str, named: bool) -> int | None:
    """Ask for lines, as the loop `asking` does, where that takes clearly less time than without; None where that is what the name says."""
    if not _plausible(figures, (without, asking), 8):
        return None
    gain = figures[asking] / figures[without]
    clear = gain > 1 / _CLEARLY if named else gain < _CLEARLY
    return int(not named) if clear else None


def _stream(figures: Figures, usual: int) -> int:
    """Less than usual as far down as copies past the caches, and reading them again, take clearly less time; more where they take clearly more."""
    for kind in ("past", "through"):
        each = {mib: figures.get(f"{kind}{mib}", 0.0) / mib for mib in STORED}  # nanoseconds per MiB
        if not _plausible(each, STORED, 64) or any(b < _CLEARLY * a for a, b in pairwise(each.values())):
            return usual  # more memory took less time for each byte: something else was going on
    past, through = ({mib: figures[f"{kind}{mib}"] for mib in STORED} for kind in ("past", "through"))
    if _CLEARLY * past[usual] > through[usual]:
        return 2 * usual
    while usual // 2 in STORED and past[usual // 2] < _CLEARLY * through[usual // 2]:
        usual //= 2
    return usual


def measure(target: SimdTarget, memory: bool = True) -> dict[str, float]:
    """Return what was measured on the processor that runs this; nothing where it has not what the choices are about.

    `memory`: whether 64 MiB may be taken for a moment. OSError if they cannot be had.
    """
    if not target.machine.avx2:
        return {}
    wide = target.machine.avx512
    names, text = loops(target.machine.chunk, wide, target.machine.bf16)
    loaded = LoadedObject(compile_text(text, target.triple, target.cpu, target.features, "of the measurement"))
    run = {name: _timed(loaded, name) for name in names}
    out: dict[str, float] = {}
    small = ctypes.create_string_buffer(96 << 10)
    place = _aligned(ctypes.addressof(small), 4096)
    for again in (False, True):  # the first time clocks and caches warm up
        if "part" in run:
            _best(out if again else {}, run, ["part", "whole"], place, 10_000)
        if wide:
            _best(out if again else {}, run, [n for n in ("fma256", "fma512", "pairs") if n in run], place, 10_000)
            index = (ctypes.c_uint32 * 1024).from_address(place)
            index[:] = random.Random(1).choices(range(1024, 4096), k=1024)
            _best(out if again else {}, run, ["gather", "apart"], place, 4_000)
    if memory:
        with mmap.mmap(-1, _ROOM + _HUGE) as room:
            room.madvise(mmap.MADV_HUGEPAGE) if hasattr(mmap, "MADV_HUGEPAGE") else None
            held = ctypes.c_char.from_buffer(room)
            _sweep(out, run, _aligned(ctypes.addressof(held), _HUGE))
            del held
    return out


def _aligned(address: int, to: int) -> int:
    return address + -address % to


def _timed(loaded: LoadedObject, name: str) -> Callable[[int, int], float]:
    function = loaded.function(name, _FUNCTION)
    sink = ctypes.create_string_buffer(256)
    out = _aligned(ctypes.addressof(sink), 64)

    def run(place: int, count: int, _kept: object = sink) -> float:
        start = time.perf_counter_ns()
        function(place, count, out)
        return float(time.perf_counter_ns() - start)

    return run


def _best(
    out: dict[str, float], run: Mapping[str, Callable[[int, int], float]], names: list[str], place: int, count: int
) -> None:
    for _ in range(_ROUNDS):
        for name in names:
            out[name] = min(out.get(name, math.inf), run[name](place, count))


def _sweep(out: dict[str, float], run: Mapping[str, Callable[[int, int], float]], room: int) -> None:
    """Copies of several sizes with their reading again, in both ways; then distant trips, each over memory that no cache holds."""
    run["through"](room, _ROOM // 2)
    run["past"](room, _ROOM // 2)
    for mib in STORED:
        for _ in range(3 if mib == max(STORED) else 4):
            for kind in ("through", "past"):
                spent = run[kind](room, mib << 20) + run["read"](room, mib << 20)
                out[f"{kind}{mib}"] = min(out.get(f"{kind}{mib}", math.inf), spent)
    run["clear"](room, _ROOM)
    column = 0
    for _ in range(_SWEEPS):
        for name, columns in [
            *((f"ahead{kib}", 8) for kib in AHEAD),
            ("beside", 16),
        ]:  # of the latter, the first has not been asked for
            spent = 0.0
            for _ in range(columns):
                spent += run[name](room + column * SLICE, _ROOM)
                column += 1
            out[name] = min(out.get(name, math.inf), spent * 8 / columns)
        column += 1  # has been asked for
    assert column * SLICE <= DISTANCE
    for name in ("crossing", "asked"):  # one after the other: what one leaves in the caches is not the other's
        for _ in range(_SWEEPS if name in run else 0):
            out[name] = min(out.get(name, math.inf), run[name](room, _STRUCTURES))
