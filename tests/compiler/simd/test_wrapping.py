"""Addresses that would be affine if 32-bit arithmetic did not wrap around: both kinds of code must give the same result."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.devices.cpu.execute import Program

HEAD = """
.version 8.0
.target sm_80
.address_size 64
"""

# out[i] = in[(start + i) mod 2**32 - shift], the index computed in 32 bits
STRAIGHT = (
    HEAD
    + """
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 start)
{
.reg .b32 %r<9>; .reg .b64 %d<9>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [start];
mov.u32 %r2, %tid.x;
add.u32 %r3, %r1, %r2;
mul.wide.WHAT %d3, %r3, 4;
add.u64 %d4, %d1, %d3;
ld.global.u32 %r4, [%d4];
mul.wide.u32 %d5, %r2, 4;
add.u64 %d6, %d2, %d5;
st.global.u32 [%d6], %r4;
ret;
}
"""
)

# A pointer made once from a 32-bit index, carried round a loop and, every second trip, across a barrier.
CARRIED = (
    HEAD
    + """
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 start, .param .u32 trips)
{
.reg .b32 %r<12>; .reg .b64 %d<12>; .reg .pred %p<3>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [start]; ld.param.u32 %r9, [trips];
mov.u32 %r2, %tid.x;
add.u32 %r3, %r1, %r2;
mul.wide.WHAT %d3, %r3, 4;
add.u64 %d4, %d1, %d3;
mov.u32 %r5, 0;
mov.u32 %r6, 0;
LOOP:
setp.ge.u32 %p1, %r6, %r9;
@%p1 bra DONE;
ld.global.u32 %r7, [%d4];
add.u32 %r5, %r5, %r7;
add.u64 %d4, %d4, 8;
add.u32 %r6, %r6, 1;
BARRIER
bra LOOP;
DONE:
mul.wide.u32 %d5, %r2, 4;
add.u64 %d6, %d2, %d5;
st.global.u32 [%d6], %r5;
ret;
}
"""
)


def reserve(bytes):
    """Return that much address space, given by the system page by page as it is touched."""
    import mmap

    return mmap.mmap(-1, bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000))


@pytest.fixture(scope="module")
def space():
    room = reserve((1 << 34) + (1 << 20))
    yield np.frombuffer(room, np.uint32)
    # the mapping goes with the process: numpy still holds it here


STARTS = [
    0,
    5,
    (1 << 31) - 70,
    (1 << 31) - 64,
    (1 << 31) - 17,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 70,
    (1 << 32) - 33,
    (1 << 32) - 1,
]


@pytest.mark.parametrize("what", ["u32", "s32"])
@pytest.mark.parametrize("start", STARTS)
def test_an_index_that_wraps(space, what, start):
    threads = 70
    index = (start + np.arange(threads)) % (1 << 32)
    value = np.where(index >= 1 << 31, index - (1 << 32), index) if what == "s32" else index
    origin = 1 << 31 if what == "s32" else 0
    space[origin + value] = np.arange(threads) + 1000
    out = np.zeros(threads, np.uint32)
    Program(STRAIGHT.replace("WHAT", what)).run("k", 1, threads, [space[origin:], out, np.uint32(start)])
    assert (out == np.arange(threads) + 1000).all()


@pytest.mark.parametrize("what", ["u32", "s32"])
@pytest.mark.parametrize("barrier", ["", "bar.sync 0;"])
@pytest.mark.parametrize("threads", [64, 70])
@pytest.mark.parametrize("start", STARTS)
def test_a_pointer_made_from_an_index_that_wraps(space, what, barrier, threads, start):
    index = (start + np.arange(threads)) % (1 << 32)
    value = np.where(index >= 1 << 31, index - (1 << 32), index) if what == "s32" else index
    origin = 1 << 31 if what == "s32" else 0
    want = np.zeros(threads, np.uint32)
    for trip in range(5):
        space[origin + value + 2 * trip] = (index * 2654435761 + trip * 97) & 0xFFFF
    for trip in range(5):
        want += space[origin + value + 2 * trip]
    out = np.zeros(threads, np.uint32)
    text = CARRIED.replace("WHAT", what).replace("BARRIER", barrier)
    Program(text).run("k", 1, threads, [space[origin:], out, np.uint32(start), np.uint32(5)])
    assert (out == want).all()


# The last block of a grid writes its signed index divided by 64, of the first thread and of the last.
WIDE = (
    HEAD
    + """
.visible .entry k(.param .u64 out, .param .u32 last)
{
.reg .b32 %r<12>; .reg .b64 %d<5>; .reg .pred %p<3>;
ld.param.u64 %d1, [out]; ld.param.u32 %r1, [last];
mov.u32 %r2, %ctaid.x;
setp.ne.u32 %p1, %r2, %r1;
@%p1 bra DONE;
mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r5, %r2, %r3, %r4;
shr.s32 %r6, %r5, 31;
shr.u32 %r7, %r6, 26;
add.s32 %r8, %r5, %r7;
shr.s32 %r9, %r8, 6;
mul.wide.u32 %d2, %r4, 4;
add.u64 %d3, %d1, %d2;
st.global.u32 [%d3], %r9;
DONE:
ret;
}
"""
)


@pytest.mark.parametrize("blocks", [1000, 2**20, 2**21 + 1])
def test_indices_of_a_grid_too_wide_for_them_are_negative(blocks: int) -> None:
    out = np.zeros(1024, np.int32)
    Program(WIDE).run("k", blocks, 1024, [out, blocks - 1])
    index = (np.arange(1024) + (blocks - 1) * 1024 + 2**31) % 2**32 - 2**31
    np.testing.assert_array_equal(out, np.trunc(index / 64).astype(np.int32))
