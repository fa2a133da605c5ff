"""Loads behind tests of bounds: which branches become masks, and that lanes which are held back read nothing and change nothing."""

from __future__ import annotations

import ctypes
import mmap
from dataclasses import replace

import numpy as np
import pytest

from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd.target import SimdTarget, make_target, this_machine
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

WIDE = make_target(
    "x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx2,+fma,+f16c"
)
NARROW = make_target("x86_64-unknown-linux-gnu", "haswell", "+avx2,+fma,+f16c")
OLD = make_target("x86_64-unknown-linux-gnu", "x86-64", "")

# %r2 = i, %d4 = in + 4 i; %v1 is stored to out[i]
TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<9>; .reg .b32 %v<9>; .reg .b16 %h<3>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r6, [n];
mov.u32 %r1, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
mad.lo.s32 %r2, %r1, %r3, %r4;
mul.wide.s32 %d3, %r2, 4;
add.u64 %d4, %d1, %d3;
add.u64 %d5, %d2, %d3;
setp.gt.s32 %p1, %r2, 0;
setp.lt.s32 %p2, %r2, %r6;
mov.u32 %v1, 7;
WAY
st.global.u32 [%d5], %v1;
ret;
}
"""
BEHIND = "@!%p1 bra J; ld.global.u32 %v1, [%d4+-4]; J:"
NESTED = (
    "@!%p2 bra J; ld.global.u32 %v1, [%d4]; mov.u32 %v2, 100; @!%p1 bra K; ld.global.u32 %v2, [%d4+-4]; K: "
    "add.u32 %v1, %v1, %v2; J:"
)
EITHER = "@%p1 bra Y; ld.global.u32 %v1, [%d4+4]; add.u32 %v1, %v1, 5; bra J; Y: ld.global.u32 %v1, [%d4+-4]; J:"
GUARDED = "@!%p1 bra J; @%p2 ld.global.u32 %v1, [%d4+-4]; J:"
EXCHANGE = (
    "mov.u32 %v2, 9; @!%p1 bra J; mov.u32 %v3, %v1; mov.u32 %v1, %v2; mov.u32 %v2, %v3; J: sub.u32 %v1, %v1, %v2;"
)
WAYS = {"behind": BEHIND, "nested": NESTED, "either": EITHER, "guarded": GUARDED, "exchange": EXCHANGE}
LONG = "@!%p1 bra J; " + "mad.lo.u32 %v1, %v1, %r2, %r6; " * 5 + "J:"


def wanted(way: str, source: np.ndarray, n: int) -> np.ndarray:
    i = np.arange(source.size)
    before, after = source[np.maximum(i - 1, 0)], source[np.minimum(i + 1, source.size - 1)]
    return {
        "behind": np.where(i > 0, before, 7),
        "nested": np.where(i < n, source + np.where(i > 0, before, 100), 7),
        "either": np.where(i > 0, before, after + 5),
        "guarded": np.where((i > 0) & (i < n), before, 7),
        "exchange": np.where(i > 0, 9 - 7, 7 - 9),
    }[way].astype(np.uint32)


def branches(way: str, target: SimdTarget = WIDE, **asked: object) -> int:
    """How many branches are left when a target has had the kernel."""
    specialisation = replace(Specialisation((64, 1, 1), 0), **asked)  # type: ignore[arg-type]
    index = IndexedModule(index_module(TEXT.replace("WAY", way)))
    kernel: Kernel = prepare_kernel(index, "k", specialisation, target=target, checked=True)
    return sum(block.terminator.name == "branch" for block in kernel.blocks)


def test_a_way_of_many_operations_keeps_its_branch() -> None:
    assert branches(LONG) == 1


@pytest.mark.parametrize("way", WAYS)
def test_loads_of_bounded_places_need_no_branch(way: str) -> None:
    assert branches(WAYS[way]) == 0
    assert branches(WAYS[way], NARROW) == 0


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("@!%p1 bra J; ld.volatile.global.u32 %v1, [%d4+-4]; J:", "acts"),
        ("@!%p1 bra J; st.global.u32 [%d4], 3; J:", "stores"),
        ("@!%p1 bra J; ld.global.u32 %v1, [%d1]; J:", "all lanes read one place"),
        ("@!%p1 bra J; ld.global.u32 %r9, [%d4]; mul.wide.u32 %d6, %r9, 4; add.u64 %d6, %d1, %d6; ld.global.u32 %v1, [%d6]; J:", "gathers"),
        ("@!%p1 bra J; ld.global.u32 %v1, [%d4+-4]; div.u32 %v1, %v1, %r2; J:", "takes long"),
        ("@!%p1 bra J; sub.u32 %r9, %r2, 1; mul.wide.u32 %d6, %r9, 4; add.u64 %d6, %d1, %d6; ld.global.u32 %v1, [%d6]; J:",
         "an index that wraps around where nothing is to be read"),
        ("setp.eq.u32 %p1, %r6, 5; @!%p1 bra J; ld.global.u32 %v1, [%d4]; J:", "all lanes go the same way"),
        ("@!%p1 bra J;" + "ld.global.u32 %v2, [%d4]; add.u32 %v1, %v1, %v2;" * 5 + "J:", "is long"),
    ],
    ids=lambda text: text if " bra " not in text else "",
)  # fmt: skip
def test_other_branches_stay(way: str, why: str) -> None:
    assert branches(way) == 1, why


def test_narrow_elements_stay_behind_a_branch_where_masks_are_for_words_only() -> None:
    way = (
        "cvt.s64.s32 %d6, %r2; add.u64 %d6, %d1, %d6; @!%p1 bra J; ld.global.u8 %h1, [%d6+-1]; cvt.u32.u16 %v1, %h1; J:"
    )
    assert (branches(way), branches(way, NARROW), branches(way, OLD)) == (0, 1, 1)


def test_checked_code_and_lanes_one_by_one_keep_their_branches() -> None:
    assert branches(BEHIND, checks=frozenset({"memory"})) > 0
    assert branches(BEHIND, lanes=1) == 1


@pytest.mark.parametrize("gang", [32, 128])
@pytest.mark.parametrize("way", WAYS)
def test_lanes_get_what_they_may_read_and_keep_what_they_had(way: str, gang: int) -> None:
    source = np.random.default_rng(gang).integers(1000, 2**31, 256, dtype=np.uint32)
    program = Program(TEXT.replace("WAY", WAYS[way]))
    for n in (256, 171, 0):
        out = np.zeros(256, np.uint32)
        room = np.concatenate([source, source[-1:]])
        program.run("k", 2, 128, [room, out, n], options=f"gang={gang}")
        np.testing.assert_array_equal(out, wanted(way, source, n))


@pytest.mark.parametrize("gang", [32, 64])
def test_nothing_is_read_before_the_first_element_or_behind_the_last(gang: int) -> None:
    """The elements fill mapped memory: whoever reads one more dies."""
    page = mmap.PAGESIZE
    area = mmap.mmap(-1, 3 * page)
    start = np.frombuffer(area, np.uint8).ctypes.data
    count = page // 4
    source = np.frombuffer(area, np.uint32, count, page)
    source[:] = np.arange(count) + 50
    protect = ctypes.CDLL(None).mprotect
    assert protect(ctypes.c_void_p(start), page, 0) == 0 == protect(ctypes.c_void_p(start + 2 * page), page, 0)
    out = np.zeros(count, np.uint32)
    here = this_machine()
    targets = [here, make_target(here.triple, "haswell", "+avx2,+fma,+f16c")] if here.machine.avx2 else [here]
    for target in targets:  # with AVX-512 LLVM may make a masked load of a load and a choice by itself
        program = Program(TEXT.replace("WAY", NESTED), target)
        program.run("k", count // 64, 64, [source, out, count], options=f"gang={gang}")
        np.testing.assert_array_equal(out, wanted("nested", source, count))
    assert protect(ctypes.c_void_p(start), page, 3) == 0 == protect(ctypes.c_void_p(start + 2 * page), page, 3)
