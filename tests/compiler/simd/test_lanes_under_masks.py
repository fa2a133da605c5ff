"""Accesses of some lanes to known places that are neither side by side nor one: the right bytes, and none that only other lanes name."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest

from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.devices.cpu.execute import Program

TYPES = {"f32": np.float32, "u32": np.uint32, "f64": np.float64, "u16": np.uint16}

# if (on[i]) out[TO] = in[FROM], where %r5 is the place of %r2 = i; other lanes of a load store 9 to out[i]
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 on)
{
.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .REG %v1; .reg .b16 %h1;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u64 %d3, [on];
mov.u32 %r2, %tid.x;
cvt.u64.u32 %d4, %r2;
add.u64 %d4, %d3, %d4;
ld.global.u8 %h1, [%d4];
setp.ne.u16 %p1, %h1, 0;
PLACE
mul.wide.u32 %d5, FROM, SIZE;
add.u64 %d6, %d1, %d5;
mul.wide.u32 %d7, TO, SIZE;
add.u64 %d8, %d2, %d7;
NINE
@%p1 ld.global.TYPE %v1, [%d6];
STORE
ret;
}
"""
PLACES = {
    "pairs": ("shr.u32 %r5, %r2, 1;", lambda i: i // 2),
    "pairs from the second on": ("add.u32 %r5, %r2, 1; shr.u32 %r5, %r5, 1;", lambda i: (i + 1) // 2),
    "one of two": ("and.b32 %r5, %r2, 1;", lambda i: i & 1),
    "one of three": ("and.b32 %r5, %r2, 3; min.u32 %r5, %r5, 2;", lambda i: np.minimum(i & 3, 2)),
    "every second": ("shl.b32 %r5, %r2, 1;", lambda i: 2 * i),
    "every fourth": ("shl.b32 %r5, %r2, 2;", lambda i: 4 * i),
    "crossed": ("xor.b32 %r5, %r2, 5;", lambda i: i ^ 5),
    "two of four": ("shl.b32 %r5, %r2, 1; and.b32 %r8, %r2, 1; sub.u32 %r5, %r5, %r8;", lambda i: 2 * i - (i & 1)),
    "four of eight": ("shl.b32 %r5, %r2, 1; and.b32 %r8, %r2, 3; sub.u32 %r5, %r5, %r8;", lambda i: 2 * i - (i & 3)),
}  # fmt: skip
APART = ["every second", "every fourth", "crossed", "two of four", "four of eight"]
MASKS = {
    "all": np.ones(128, np.uint8),
    "none": np.zeros(128, np.uint8),
    "odd": np.arange(128) % 2,
    "one": np.arange(128) == 77,
    "some": np.random.default_rng(1).integers(0, 2, 128),
    "few": np.random.default_rng(2).random(128) < 0.1,
}


def text(place: str, type: str, scatter: bool) -> str:
    size = np.dtype(TYPES[type]).itemsize
    register = {2: "b16", 4: "b32", 8: "b64"}[size] if type[0] == "u" else type
    nine = {"f32": "mov.f32 %v1, 0f41100000;", "f64": "mov.f64 %v1, 0d4022000000000000;"}.get(
        type, f"mov.u{8 * size} %v1, 9;"
    )
    out = TEXT.replace("PLACE", PLACES[place][0]).replace("NINE", nine)
    out = out.replace("STORE", "@%p1 st.global.TYPE [%d8], %v1;" if scatter else "st.global.TYPE [%d8], %v1;")
    source, target = ("%r2", "%r5") if scatter else ("%r5", "%r2")
    out = out.replace("FROM", source).replace("TO", target)
    return out.replace("SIZE", str(size)).replace("TYPE", type).replace("REG", register)


def targets():
    """This machine, and it with AVX2 alone."""
    here = this_machine()
    return [here, make_target(here.triple, "znver3", "+avx2,+fma,+f16c")] if here.machine.avx2 else [here]


@pytest.mark.parametrize("gang", [32, 128])
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("place", PLACES)
def test_lanes_that_are_on_read_their_elements(place: str, type: str, gang: int) -> None:
    source, i = np.random.default_rng(3).integers(10, 999, 600).astype(TYPES[type]), np.arange(128)
    for target in targets():
        program = Program(text(place, type, False), target)
        for on in MASKS.values():
            out = np.zeros(128, TYPES[type])
            program.run("k", 1, 128, [source, out, np.asarray(on, np.uint8)], options=f"gang={gang}")
            np.testing.assert_array_equal(out, np.where(on, source[PLACES[place][1](i)], 9))


@pytest.mark.parametrize("gang", [32, 128])
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("place", APART)
def test_lanes_that_are_on_write_their_elements_and_no_others(place: str, type: str, gang: int) -> None:
    source, i = np.random.default_rng(4).integers(10, 999, 128).astype(TYPES[type]), np.arange(128)
    for target in targets():
        program = Program(text(place, type, True), target)
        for on in MASKS.values():
            out = np.full(600, 5).astype(TYPES[type])
            want = out.copy()
            chosen = np.asarray(on, bool)
            want[PLACES[place][1](i)[chosen]] = source[chosen]
            program.run("k", 1, 128, [source, out, np.asarray(on, np.uint8)], options=f"gang={gang}")
            np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(("place", "scatter"), [(p, False) for p in PLACES] + [(p, True) for p in APART])
def test_what_only_lanes_that_are_off_name_is_not_touched(place: str, scatter: bool) -> None:
    """Mapped memory ends behind the last element of a lane that is on: whoever reads or writes one more dies."""
    page, i = mmap.PAGESIZE, np.arange(32)
    area = mmap.mmap(-1, 3 * page)
    start = np.frombuffer(area, np.uint8).ctypes.data
    protect = ctypes.CDLL(None).mprotect
    where = PLACES[place][1](i)
    for last in sorted({0, int(where.max()) // 2, int(where.max())}):
        on = (where <= last).astype(np.uint8)
        edge = np.frombuffer(area, np.uint32, last + 1, 2 * page - 4 * (last + 1))
        edge[:] = np.arange(last + 1) + 50
        assert protect(ctypes.c_void_p(start + 2 * page), page, 0) == 0
        for target in targets():
            program = Program(text(place, "u32", scatter), target)
            if scatter:
                program.run("k", 1, 32, [i.astype(np.uint32), edge, on])
                np.testing.assert_array_equal(edge[where[on > 0]], i[on > 0])
            else:
                out = np.zeros(32, np.uint32)
                program.run("k", 1, 32, [edge, out, on])
                np.testing.assert_array_equal(out, np.where(on, edge[np.minimum(where, last)], 9))
        assert protect(ctypes.c_void_p(start + 2 * page), page, 3) == 0
