"""Lanes found by a number of 32 bits behind one start: read and written where the addresses say, also where the numbers wrap around."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.compiler.stages import compile_seen
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "icelake-server", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)
SPAN = 1 << 32  # words from the first place that a number of 32 bits names to the last
MAP_NORESERVE = 0x4000  # Linux: nothing is set aside for what nobody touches

# if (lane & odd == 0) ACCESS start + 4 (NUMBER as WIDEN has it) + 8
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 start, .param .u64 data, .param .u32 first, .param .u32 key, .param .u32 odd, .param .u64 table)
{
.reg .b32 %r<20>; .reg .b64 %d<12>; .reg .pred %p<3>;
ld.param.u64 %d1, [start]; ld.param.u64 %d2, [data]; ld.param.u64 %d3, [table];
ld.param.u32 %r3, [first]; ld.param.u32 %r4, [key]; ld.param.u32 %r5, [odd];
mov.u32 %r2, %tid.x;
mul.wide.u32 %d6, %r2, 4; add.u64 %d7, %d2, %d6; add.u64 %d8, %d3, %d6;
and.b32 %r6, %r2, %r5; setp.ne.u32 %p1, %r6, 0;
NUMBER
ld.global.u32 %r9, [%d7];
@%p1 bra DONE;
WIDEN
ACCESS
DONE: ret;
}
"""
COMPUTED = "add.u32 %r7, %r2, %r3; xor.b32 %r7, %r7, %r4;"  # neighbours, unless a bit is turned over: tested
LOOPED = (  # as many times key as lanes turn, which differs from lane to lane
    "add.u32 %r7, %r2, %r3; and.b32 %r10, %r2, %r4; L: setp.eq.u32 %p2, %r10, 0; @%p2 bra M; "
    "add.u32 %r7, %r7, %r4; sub.u32 %r10, %r10, 1; bra L; M:"
)
LOADED = "ld.global.u32 %r7, [%d8];"  # anything: a gather
WIDEN = {
    "signed": "mul.wide.s32 %d4, %r7, 4; add.u64 %d5, %d1, %d4;",
    "unsigned": "mul.wide.u32 %d4, %r7, 4; add.u64 %d5, %d4, %d1;",
    "inner": "cvt.u64.u32 %d4, %r7; cvt.u64.u32 %d9, %r3; sub.u64 %d9, %d9, %d9; add.u64 %d4, %d4, %d9; shl.b64 %d4, %d4, 2; add.u64 %d5, %d1, %d4;",
}
LOAD = "ld.global.u32 %r8, [%d5+8]; st.global.u32 [%d7], %r8;"
STORE = "st.global.u32 [%d5+8], %r9;"
LANES = np.arange(32, dtype=np.int64)


def text(number: str, widen: str, access: str) -> str:
    return TEXT.replace("NUMBER", number).replace("WIDEN", WIDEN[widen]).replace("ACCESS", access)


@pytest.fixture(scope="module")
def area() -> Iterator[tuple[int, np.ndarray]]:
    """An address, and the words of memory at and behind it: as many as two numbers of 32 bits are apart, of which few are ever touched."""
    whole = mmap.mmap(-1, 4 * SPAN + 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE)
    words = np.frombuffer(whole, np.uint32)
    yield words.ctypes.data, words


def numbers(number: str, first: int, key: int) -> np.ndarray:
    if number == LOOPED:
        return (LANES + first + key * (LANES & key)) & 0xFFFFFFFF
    return ((LANES + first) & 0xFFFFFFFF) ^ key


def meant(found: np.ndarray, widen: str) -> np.ndarray:
    return found if widen != "signed" else np.where(found >= 1 << 31, found - (1 << 32), found)


HALF = 1 << 31
CASES = [
    (100, 0), (100, 15), (100, 16), (100, 5), (96, 64), (HALF - 40, 0), (HALF - 9, 0), (HALF - 16, 0), (HALF - 23, 3), (HALF, 0), (2 * HALF - 7, 0),
    (2 * HALF - 16, 0), (2 * HALF - 20, 1), (HALF - 8, HALF),
]  # fmt: skip


@pytest.mark.parametrize("odd", [0, 1, 24], ids=["all", "even", "some"])
@pytest.mark.parametrize("widen", list(WIDEN))
@pytest.mark.parametrize("number", [COMPUTED, LOOPED, LOADED], ids=["computed", "looped", "loaded"])
def test_lanes_are_where_their_addresses_say(area: tuple[int, np.ndarray], number: str, widen: str, odd: int) -> None:
    begin, words = area
    here = this_machine()
    old = [make_target(here.triple, "znver3", "+avx2,+fma,+f16c")] if here.machine.avx2 else []
    on = (LANES & odd) == 0
    for target in [here, *old]:
        reading, writing = (Program(text(number, widen, access), target) for access in (LOAD, STORE))
        for first, key in CASES:
            table = numbers(number, first, key).astype(np.uint32)
            lowest = -HALF if widen == "signed" else 0
            places = meant(table.astype(np.int64), widen) - lowest + 2
            start = begin - 4 * lowest
            if len(set(places)) < 32:
                continue
            drawn = np.random.default_rng(first & 0xFFFF).integers(1, 1 << 32, 32, dtype=np.uint32)
            words[places] = drawn
            out = np.zeros(32, np.uint32)
            reading.run("k", 1, 32, [start, out, first, key, odd, table])
            np.testing.assert_array_equal(out, np.where(on, drawn, 0), str((first, key)))
            given = ~drawn
            writing.run("k", 1, 32, [start, given, first, key, odd, table])
            np.testing.assert_array_equal(words[places], np.where(on, given, drawn), str((first, key)))


@pytest.mark.parametrize("widen", list(WIDEN))
def test_one_gather_finds_a_vector_of_lanes(widen: str) -> None:
    made = compile_seen(index_module(text(LOADED, widen, LOAD)), "k", Specialisation((32, 1, 1), 32), WIDE).assembly()
    assert re.search(r"v\w*gatherd", made) and not re.search(r"v\w*gatherq", made)
