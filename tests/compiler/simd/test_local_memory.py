"""Arrays that each thread has for itself: lanes' copies side by side where nobody can tell, and every lane its own values always."""

from __future__ import annotations

import re

import numpy as np
import pytest

from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.local_memory import element_side_by_side
from anywarp.compiler.simd.target import make_target
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)
COUNT = 12

# row[j] = in[i] + 3 j for all j; out[i] = sum of row[(i + 5 j) % 12] * (j + 1) + row[m % 12], in elements of a type
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 m)
{
.local .align 16 .b8 row[BYTES];
.reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<3>; .reg .REG %v<9>; .reg .b32 %w<3>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r6, [m];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r2, %r1, %r3, %r4;
mul.wide.s32 %d3, %r2, SIZE; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
ld.global.TYPE %v1, [%d4];
mov.u64 %d6, row;
mov.u32 %r7, 0;
FILL:
mul.wide.u32 %d7, %r7, SIZE; add.u64 %d8, %d6, %d7;
mul.lo.u32 %r8, %r7, 3; CVT.TYPE.u32 %v2, %r8; add.TYPE %v2, %v1, %v2;
st.local.TYPE [%d8], %v2;
add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 12; @%p1 bra FILL;
MORE
mov.u32 %r7, 0; CVT.TYPE.u32 %v3, %r7;
SUM:
mad.lo.u32 %r9, %r7, 5, %r2; rem.u32 %r9, %r9, 12;
mul.wide.u32 %d7, %r9, SIZE; add.u64 %d8, %d6, %d7;
ld.local.TYPE %v4, [%d8];
add.u32 %r8, %r7, 1; CVT.TYPE.u32 %v5, %r8; MUL.TYPE %v4, %v4, %v5; add.TYPE %v3, %v3, %v4;
add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 12; @%p1 bra SUM;
rem.u32 %r9, %r6, 12; mul.wide.u32 %d7, %r9, SIZE; add.u64 %d8, %d6, %d7;
ld.local.TYPE %v4, [%d8]; add.TYPE %v3, %v3, %v4;
st.global.TYPE [%d5], %v3;
ret;
}
"""
PAIR = "ld.local.v2.TYPE {%v6, %v7}, [row+SECOND]; add.TYPE %v1, %v6, %v7; st.local.v2.TYPE [row], {%v7, %v6};"
TYPES = {"u16": np.uint16, "u32": np.uint32, "f32": np.float32, "u64": np.uint64, "f64": np.float64}


def text(type: str, more: str = "") -> str:
    size = np.dtype(TYPES[type]).itemsize
    out = (
        TEXT.replace("MORE", more)
        .replace("CVT", "cvt" if type[0] == "u" else "cvt.rn")
        .replace("MUL", "mul.lo" if type[0] == "u" else "mul")
        .replace("SECOND", str(2 * size))
    )
    out = out.replace("REG", f"b{8 * size}" if type[0] == "u" else type).replace("BYTES", str(COUNT * size))
    return re.sub(r"\bTYPE\b|(?<=\.)TYPE", type, out.replace("SIZE", str(size)))


def wanted(type: str, source: np.ndarray, m: int, pair: bool) -> np.ndarray:
    i, j = np.arange(source.size)[:, None], np.arange(COUNT)[None]
    row = (source[:, None] + (3 * j).astype(TYPES[type])).astype(TYPES[type])
    if pair:
        row[:, [0, 1]] = row[:, [3, 2]]
    picked = np.take_along_axis(row, (i + 5 * j) % COUNT, 1)
    with np.errstate(over="ignore"):
        return ((picked * (j + 1).astype(TYPES[type])).sum(1, dtype=TYPES[type]) + row[:, m % COUNT]).astype(
            TYPES[type]
        )


def element(ptx: str) -> int:
    return element_side_by_side(prepare_kernel(IndexedModule(index_module(ptx)), "k", Specialisation((64, 1, 1))))


@pytest.mark.parametrize("threads", [32, 96, 41])
@pytest.mark.parametrize("pair", [False, True])
@pytest.mark.parametrize("type", TYPES)
def test_each_lane_has_its_own_array(type: str, pair: bool, threads: int) -> None:
    """Whole numbers, small enough to be exact in any type: lanes all differ."""
    source = (np.arange(3 * threads) * 7 % 50).astype(TYPES[type])
    for gang in ("gang=32", "gang=1", ""):
        out = np.zeros_like(source)
        Program(text(type, PAIR.replace("TYPE", type) if pair else "")).run(
            "k", 3, threads, [source, out, 17], options=gang
        )
        np.testing.assert_array_equal(out, wanted(type, source, 17, pair))


def test_copies_lie_side_by_side_where_accesses_have_one_size() -> None:
    assert [element(text(type)) for type in TYPES] == [2, 4, 4, 8, 8]
    assert element(text("f32", PAIR.replace("TYPE", "f32"))) == 4


@pytest.mark.parametrize(
    "more",
    [
        "ld.local.u8 %w1, [row+1]; st.global.u32 [%d5], %w1;",
        "ld.local.u32 %w1, [row+4]; st.global.u32 [%d5], %w1;",
        "cvta.local.u64 %d9, %d6; st.global.u64 [%d5], %d9;",
    ],
    ids=["bytes of an element", "half of an element", "an address for anybody"],
)
def test_who_can_tell_keeps_each_array_in_one_piece(more: str) -> None:
    assert element(text("u64", more)) == 0


def test_what_all_lanes_index_alike_is_a_vector() -> None:
    specialisation = Specialisation((32, 1, 1), 32)
    kernel = prepare_kernel(IndexedModule(index_module(text("f32"))), "k", specialisation)
    code = WIDE.emit_text(kernel, analyse(kernel, specialisation), specialisation)[0]
    assert "masked.scatter" not in code and len(re.findall(r"store <16 x float>", code)) >= 2
