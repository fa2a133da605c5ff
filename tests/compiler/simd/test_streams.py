"""Stores past the caches: which they are, and that what they store arrives."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import SimdTarget, make_target
from anywarp.compiler.simd.tuning import Tuning
from anywarp.compiler.variants import analyse_for_variant
from anywarp.devices.cpu.execute import Program, aligned
from anywarp.ptx.index import index_module

# out[i] = in[i] + i for i < n
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .b32 %r<12>; .reg .b64 %d<9>; .reg .pred %p<4>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r6, [n];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r2, %r1, %r3, %r4;
setp.ge.s32 %p1, %r2, %r6;
@%p1 bra DONE;
mul.wide.s32 %d3, %r2, 4;
add.u64 %d4, %d1, %d3;
add.u64 %d5, %d2, %d3;
ld.global.u32 %r7, [%d4];
add.u32 %r8, %r7, %r2;
STORE
DONE:
ret;
}
"""
STORE = "st.global.u32 [%d5], %r8;"
BLOCK = (128, 1, 1)
LARGE = Tuning().stream_bytes


def code(store: str, target: SimdTarget, **asked: bool) -> str:
    specialisation = Specialisation(BLOCK, 32, **asked)  # type: ignore[arg-type]
    kernel = prepare_kernel(IndexedModule(index_module(TEXT.replace("STORE", store))), "k", specialisation)
    return target.emit_text(kernel, analyse_for_variant(kernel, specialisation)[0], specialisation)[0]


WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)
NARROW = make_target("x86_64-unknown-linux-gnu", "x86-64", "")


HALF = make_target("x86_64-unknown-linux-gnu", "znver3", "+avx2,+fma,+f16c")


def test_vectors_that_are_part_of_a_line_go_past_the_caches_where_whole_lines_do() -> None:
    text = code(STORE, HALF)
    past = text[text.index("\npast") : text.index("\nthrough")]
    assert past.count("!nontemporal") == 32 * 4 // 32
    assert "sfence()" in text
    lines = [line for line in text[: text.index("\npast")].splitlines() if " or i64 " in line]
    assert text[text.index(lines[0]) :].splitlines()[1].endswith(", 63")
    assert len(lines) == 32 * 4 // 64 - 1  # one place of each line is looked at


def test_a_result_that_is_not_read_again_may_go_past_the_caches_and_a_fence_ends_the_kernel() -> None:
    text = code(STORE, WIDE)
    assert "!nontemporal" in text
    assert text.index("sfence()") < text.index("ret i32 0") and "sfence" in text


@pytest.mark.parametrize(
    "store",
    [
        "st.global.u32 [%d4], %r8;",
        "st.global.u32 [%d5], %r8; ld.global.u32 %r9, [%d2]; st.shared.u32 [%r4], %r9;",
        "st.volatile.global.u32 [%d5], %r8;",
        "st.release.gpu.global.u32 [%d5], %r8;",
        "st.global.u32 [%d5], %r8; membar.gl;",
        "st.global.u32 [%d5], %r8; red.global.add.u32 [%d1], 1;",
        "ld.global.u64 %d6, [%d1]; add.u64 %d6, %d6, %d3; ld.global.u32 %r9, [%d6]; st.global.u32 [%d5], %r9;",
        "mov.u32 %r9, 0; LOOP: st.global.u32 [%d5], %r8; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r7; @%p2 bra LOOP;",
    ],
    ids=["in place", "read again", "volatile", "release", "fence", "atomic", "unknown source", "in a loop"],
)
def test_other_stores_stay_ordinary(store: str) -> None:
    text = code(store, WIDE)
    assert "!nontemporal" not in text and "sfence" not in text


def test_code_that_is_wanted_soon_or_for_small_vectors_has_none() -> None:
    assert "!nontemporal" not in code(STORE, WIDE, quick=True)
    assert "!nontemporal" not in code(STORE, NARROW)


@pytest.mark.parametrize("offset", [0, 4, 64])
@pytest.mark.parametrize("gang", [32, 128])
def test_large_results_arrive_whole_wherever_they_begin(offset: int, gang: int) -> None:
    n = LARGE // 4 + 1000 + 77
    source = np.random.default_rng(offset).integers(0, 1 << 32, n, dtype=np.uint32)
    room = aligned(4 * n + 192)
    out = room[offset : offset + 4 * n].view(np.uint32)
    Program(TEXT.replace("STORE", STORE)).run("k", -(-n // 128), 128, [source, out, n], options=f"gang={gang}")
    np.testing.assert_array_equal(out, source + np.arange(n, dtype=np.uint32))
    assert (room[:offset] == 0xCD).all() and (room[offset + 4 * n :] == 0xCD).all()


# four words per thread: out[4 i .. 4 i + 3] = i + in[4 i ..]
FOUR = TEXT.replace("mul.wide.s32 %d3, %r2, 4;", "mul.wide.s32 %d3, %r2, 16;").replace(
    "ld.global.u32 %r7, [%d4];",
    ".reg .b32 %a<4>; .reg .b32 %b<4>; ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%d4]; add.u32 %b0, %a0, %r2;"
    " add.u32 %b1, %a1, %r2; add.u32 %b2, %a2, %r2; add.u32 %b3, %a3, %r2; mov.u32 %r7, 0;",
)  # fmt: skip
STORE_FOUR = "st.global.v4.u32 [%d5], {%b0, %b1, %b2, %b3};"


@pytest.mark.parametrize("offset", [0, 16])
def test_large_results_of_four_words_a_thread_arrive_whole(offset: int) -> None:
    n = LARGE // 16 + 300
    source = np.random.default_rng(offset).integers(0, 1 << 32, (n, 4), dtype=np.uint32)
    room = aligned(16 * n + 192)
    out = room[offset : offset + 16 * n].view(np.uint32).reshape(n, 4)
    program = Program(FOUR.replace("STORE", STORE_FOUR))
    program.run("k", -(-n // 128), 128, [source, out, n])
    np.testing.assert_array_equal(out, source + np.arange(n, dtype=np.uint32)[:, None])
    assert (room[:offset] == 0xCD).all() and (room[offset + 16 * n :] == 0xCD).all()


def test_vectors_of_a_thread_may_go_past_the_caches() -> None:
    specialisation = Specialisation(BLOCK, 32)
    kernel = prepare_kernel(IndexedModule(index_module(FOUR.replace("STORE", STORE_FOUR))), "k", specialisation)
    text = WIDE.emit_text(kernel, analyse_for_variant(kernel, specialisation)[0], specialisation)[0]
    assert text.count("!nontemporal") == 2 and "store <64 x i32>" in text
