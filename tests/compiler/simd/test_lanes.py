"""Accesses whose lanes lie neither side by side nor at one place: read together where they may be, and always the right bytes."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pytest

from anywarp.devices.cpu.execute import Program

TYPES = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "f32": np.float32, "f64": np.float64, "u64": np.uint64}

# out[i] = in[place(i)] (or out[place(i)] = in[i]) for i < n, where %r5 is the place of %r2 = i
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 m)
{
.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<3>; .reg .REG %v1;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r6, [n]; ld.param.u32 %r7, [m];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r2, %r1, %r3, %r4;
setp.ge.u32 %p1, %r2, %r6;
@%p1 bra DONE;
PLACE
mul.wide.u32 %d3, FROM, SIZE;
add.u64 %d4, %d1, %d3;
ld.global.TYPE %v1, [%d4];
mul.wide.u32 %d5, TO, SIZE;
add.u64 %d6, %d2, %d5;
st.global.TYPE [%d6], %v1;
DONE:
ret;
}
"""

ROWS = "div.u32 %r8, %r2, 49; rem.u32 %r9, %r2, 49; mad.lo.u32 %r5, %r8, 60, %r9;"
PLACES = {
    "every second": ("mul.lo.u32 %r5, %r4, 2;", lambda i, t, m: 2 * t),
    "every third": ("mul.lo.u32 %r5, %r4, 3;", lambda i, t, m: 3 * t),
    "pairs nine apart": (
        "shr.u32 %r8, %r4, 1; and.b32 %r9, %r4, 1; mad.lo.u32 %r5, %r8, 9, %r9;",
        lambda i, t, m: t // 2 * 9 + t % 2,
    ),
    "backwards": ("sub.u32 %r5, 1023, %r4;", lambda i, t, m: 1023 - t),
    "pairs": ("shr.u32 %r5, %r4, 1;", lambda i, t, m: t // 2),
    "crossed pairs": ("xor.b32 %r5, %r4, 5;", lambda i, t, m: t ^ 5),
    "rows of a picture": (ROWS, lambda i, t, m: i // 49 * 60 + i % 49),
    "within bounds": ("min.u32 %r5, %r2, 77; max.u32 %r5, %r5, 9;", lambda i, t, m: np.clip(i, 9, 77)),
    "rows of a number": (
        "div.u32 %r8, %r2, %r7; rem.u32 %r9, %r2, %r7; mul.lo.u32 %r8, %r8, 64; add.u32 %r5, %r8, %r9;",
        lambda i, t, m: i // m * 64 + i % m,
    ),
    "halves by a number": ("sub.u32 %r8, %r7, 22; div.u32 %r5, %r2, %r8;", lambda i, t, m: i // (m - 22)),
    "swapped by a number": ("shr.u32 %r8, %r7, 3; xor.b32 %r5, %r2, %r8;", lambda i, t, m: i ^ m >> 3),
    "towards zero": (
        "sub.u32 %r8, %r2, 24; shr.u32 %r9, %r8, 31; add.u32 %r9, %r8, %r9; shr.s32 %r9, %r9, 1; add.u32 %r5, %r9, 20;",
        lambda i, t, m: np.trunc((i - m) / 2).astype(int) + 20,
    ),
    "what is left of eight": (
        "sub.u32 %r8, %r2, 24; shr.s32 %r9, %r8, 31; shr.u32 %r9, %r9, 29; add.u32 %r9, %r8, %r9; and.b32 %r9, %r9, -8;"
        " sub.u32 %r9, %r8, %r9; mad.lo.u32 %r5, %r9, 100, 900; add.u32 %r5, %r5, %r4;",
        lambda i, t, m: np.fmod(i - m, 8) * 100 + 900 + t,
    ),
    "one of two": (
        "and.b32 %r8, %r2, %r7; setp.eq.u32 %p2, %r8, 0; selp.b32 %r5, %r2, 3, %p2;",
        lambda i, t, m: np.where(i & m == 0, i, 3),
    ),
    "scrambled": ("mul.lo.u32 %r8, %r2, 2654435761; shr.u32 %r5, %r8, 22;", lambda i, t, m: (i * 2654435761 % 2**32) >> 22),
}  # fmt: skip


def text(place: str, type: str, scatter: bool) -> str:
    size = np.dtype(TYPES[type]).itemsize
    register = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}[size] if type[0] == "u" else type
    source, target = ("%r2", "%r5") if scatter else ("%r5", "%r2")
    out = TEXT.replace("PLACE", PLACES[place][0]).replace("FROM", source).replace("TO", target)
    return out.replace("SIZE", str(size)).replace("TYPE", type).replace("REG", register)


@pytest.mark.spread("gang", "type", count=2)
@pytest.mark.parametrize("gang", [32, 128])
@pytest.mark.parametrize("type", ["u8", "u16", "f32", "f64"])
@pytest.mark.parametrize("place", PLACES)
def test_elements_come_from_where_they_should(place: str, type: str, gang: int) -> None:
    rng = np.random.default_rng(len(place))
    source = rng.integers(0, 255, 4096).astype(TYPES[type])
    program, m = Program(text(place, type, False)), 24
    for n in (256, 200, 81):
        i = np.arange(n)
        out = np.zeros(256, TYPES[type])
        program.run("k", 2, 128, [source, out, n, m], options=f"gang={gang}")
        np.testing.assert_array_equal(out[:n], source[PLACES[place][1](i, i % 128, m)])
        assert not out[n:].any()


@pytest.mark.spread("gang", "type", count=2)
@pytest.mark.parametrize("gang", [32, 64])
@pytest.mark.parametrize("type", ["u16", "f32", "u64"])
@pytest.mark.parametrize(
    "place", [p for p in PLACES if p not in ("scrambled", "within bounds", "pairs", "halves by a number", "one of two")]
)
def test_elements_go_to_where_they_should(place: str, type: str, gang: int) -> None:
    source = np.random.default_rng(len(place)).integers(1, 255, 256).astype(TYPES[type])
    program, m = Program(text(place, type, True)), 24
    for n in (128, 100):
        i = np.arange(n)
        out, want = np.zeros(4096, TYPES[type]), np.zeros(4096, TYPES[type])
        want[PLACES[place][1](i, i % 128, m)] = source[:n]
        program.run("k", 1, 128, [source, out, n, m], options=f"gang={gang}")
        np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize(
    "place", ["every second", "every third", "pairs nine apart", "pairs", "crossed pairs", "halves by a number"]
)
def test_nothing_behind_the_last_element_is_read(place: str) -> None:
    """The elements end where mapped memory ends: whoever reads a whole vector more dies."""
    page = mmap.PAGESIZE
    area = mmap.mmap(-1, 3 * page)
    start = np.frombuffer(area, np.uint8).ctypes.data
    tid = np.arange(32)
    last = int(PLACES[place][1](tid, tid, 24).max())
    source = np.frombuffer(area, np.float32, last + 1, 2 * page - 4 * (last + 1))
    source[:] = np.arange(last + 1)
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + 2 * page), page, 0) == 0
    out = np.zeros(32, np.float32)
    Program(text(place, "f32", False)).run("k", 1, 32, [source, out, 32, 24])
    np.testing.assert_array_equal(out, source[PLACES[place][1](tid, tid, 24)])
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + 2 * page), page, 3) == 0
