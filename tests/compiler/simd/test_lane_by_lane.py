"""Kernels whose vector code would be too long run lane by lane; lanes that take part in their warp never do."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.gangs import can_run_apart
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.compiler.simd.target import make_target, this_machine
from anywarp.devices.cpu.execute import KernelTrap, Program
from anywarp.ptx.index import index_module

SHAPE = (64, 1, 1)


def kernel(body):
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
.reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %d<9>; .shared .b32 room[64];
ld.param.u64 %d1,[out]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; mul.wide.u32 %d2,%r2,4; add.u64 %d2,%d1,%d2;
mov.u32 %r3,%r2;
{body}
st.global.u32 [%d2],%r3;
ret;
}}
"""


def branches(n):
    """Branches on the bits of a number that each lane scrambles in its own way."""
    return "".join(
        f"shr.u32 %r5,%r3,{i % 7};\nand.b32 %r4,%r5,1;\nsetp.eq.u32 %p1,%r4,0;\n@%p1 bra L{i};\n"
        f"mad.lo.u32 %r3,%r3,{2 * i + 3},{i};\nxor.b32 %r3,%r3,%r1;\nL{i}:\nadd.u32 %r3,%r3,{i + 1};\n"
        for i in range(n)
    )


def expected(n, salt):
    out = []
    for x in range(64):
        for i in range(n):
            if x >> (i % 7) & 1:
                x = (x * (2 * i + 3) + i) % (1 << 32) ^ salt
            x = (x + i + 1) % (1 << 32)
        out.append(x)
    return out


def lanes_of(text, options):
    return compile_kernel(index_module(text), "k", options, this_machine()).lanes


@pytest.mark.parametrize("quick, few, many", [(True, 30, 500), (False, 60, 1500)])
def test_long_kernels_run_lane_by_lane_and_short_ones_as_vectors(quick, few, many):
    how = Specialisation(SHAPE, 0, quick=quick)
    assert lanes_of(kernel(branches(few)), how) >= 32
    assert lanes_of(kernel(branches(many)), how) == 1


def test_a_long_kernel_computes_what_it_says():
    program, out = Program(kernel(branches(1500))), np.zeros(64, np.uint32)
    program.run("k", 1, 64, (out, 0x9E3779B9), options="")
    assert out.tolist() == expected(1500, 0x9E3779B9)


def products(n):
    """One chain of dependent operations on 64 bits."""
    steps = "".join(f"mul.lo.u64 %d5,%d5,{2 * i + 3};\nxor.b64 %d5,%d5,{i + 77};\n" for i in range(n))
    return f"cvt.u64.u32 %d5,%r2;\n{steps}shr.u64 %d6,%d5,32;\nxor.b64 %d5,%d5,%d6;\ncvt.u32.u64 %r3,%d5;\n"


@pytest.mark.spread("options", most=1)
@pytest.mark.parametrize("options", ["tier=quick", ""])
def test_a_chain_of_30000_operations_compiles_and_computes_what_it_says(options):
    """LLVM follows chains by recursion, and by the square of their length in its pass over loops."""
    n, out = 15000, np.zeros(64, np.uint32)
    Program(kernel(products(n))).run("k", 1, 64, (out, 0), options=options)
    wanted = []
    for x in range(64):
        for i in range(n):
            x = x * (2 * i + 3) % (1 << 64) ^ (i + 77)
        wanted.append((x ^ x >> 32) % (1 << 32))
    assert out.tolist() == wanted


@pytest.mark.spread("options")
@pytest.mark.parametrize("options", ["tier=quick", ""])
@pytest.mark.parametrize("between", ["", "bar.sync 0;"])
def test_loops_and_joins_of_long_kernels(options, between):
    """Values that cross blocks, joins of several ways, numbers that swap at each trip, with barriers and without."""
    n, trips = 400, 3
    swap = "mov.u32 %r9,%r8;\nmov.u32 %r8,%r7;\nmov.u32 %r7,%r9;\n"
    body = (
        f"mov.u32 %r6,0;\nadd.u32 %r7,%r2,5;\nmul.lo.u32 %r8,%r2,9;\nAGAIN:\n{branches(n)}{swap}add.u32 %r3,%r3,%r7;\n{between}\n"
        f"add.u32 %r6,%r6,1;\nsetp.lt.u32 %p2,%r6,{trips};\n@%p2 bra AGAIN;\nmad.lo.u32 %r3,%r8,31,%r3;\n"
    )
    program, out = Program(kernel(body)), np.zeros(64, np.uint32)
    program.run("k", 1, 64, (out, 0x1234567), options=("gang=1 " + options).strip())
    wanted = []
    for lane in range(64):
        x, a, b = lane, lane + 5, lane * 9
        for _ in range(trips):
            for i in range(n):
                if x >> (i % 7) & 1:
                    x = (x * (2 * i + 3) + i) % (1 << 32) ^ 0x1234567
                x = (x + i + 1) % (1 << 32)
            a, b = b, a
            x = (x + a) % (1 << 32)
        wanted.append((b * 31 + x) % (1 << 32))
    assert out.tolist() == wanted


@pytest.mark.parametrize(
    "body",
    [
        "shfl.sync.bfly.b32 %r3,%r3,1,31,-1;",
        "vote.sync.ballot.b32 %r3,%p1,-1;",
        "bar.warp.sync -1;",
        "bar.sync 1,32;",
        "bar.sync 0;\nbar.sync 1;",
        "ld.volatile.shared.u32 %r3,[room];",
        "AGAIN:\natom.global.cas.b32 %r5,[%d1],0,1;\nsetp.ne.u32 %p1,%r5,0;\n@%p1 bra AGAIN;",
    ],
)
def test_lanes_that_need_their_warp_stay_in_it(body):
    text = kernel(body)
    made = prepare_kernel(IndexedModule(index_module(text)), "k", Specialisation(SHAPE))
    assert not can_run_apart(made)
    assert lanes_of(text, Specialisation(SHAPE, 1)) == 32


@pytest.mark.parametrize("options", ["gang=1", "gang=1 tier=quick"])
@pytest.mark.parametrize("between", ["", "bar.sync 0;"])
def test_a_sum_made_in_another_block_is_where_an_access_goes(options, between):
    """XLA's sort: the sum crosses a branch or a barrier, and what it was made from does not."""
    text = kernel(
        "shl.b32 %r3,%r2,4;\nmov.u32 %r4,rows;\nadd.u32 %r4,%r4,%r3;\nadd.u32 %r4,%r4,8;\nst.shared.u32 [%r4],%r2;\n"
        f"{between}\nand.b32 %r5,%r2,3;\nsetp.eq.u32 %p1,%r5,1;\n@%p1 bra SKIP;\nst.shared.u32 [%r4],%r1;\nSKIP:\n{between}\n"
        "ld.shared.u32 %r3,[%r4];\n"
    ).replace("{\n", "{\n.shared .align 4 .b8 rows[1024];\n", 1)
    out = np.zeros(64, np.uint32)
    Program(text).run("k", 1, 64, (out, 1234), options=options)
    assert out.tolist() == [lane if lane % 4 == 1 else 1234 for lane in range(64)]


@pytest.mark.parametrize("lane", [0, 5, 63])
def test_the_lane_that_traps_is_named(lane):
    text = kernel("setp.eq.u32 %p1,%r2,%r1;\n@%p1 trap;")
    with pytest.raises(KernelTrap, match=rf"warp {lane // 32}, lane {lane % 32}\b"):
        Program(text).run("k", 1, 64, (np.zeros(64, np.uint32), lane), options="gang=1")


def test_lanes_that_are_off_make_no_branches_of_accesses_without_an_instruction():
    """AVX2 has no masked scatter: LLVM would write a branch for each lane."""
    text = kernel("mul.lo.u32 %r4,%r3,%r3;\nmul.wide.u32 %d3,%r4,4;\nadd.u64 %d3,%d1,%d3;\nsetp.gt.u32 %p1,%r4,%r1;\n"
                  "@%p1 bra DONE;\nld.global.u32 %r3,[%d3];\nst.global.u32 [%d3],%r2;\nDONE:")  # fmt: skip
    target = make_target("x86_64-unknown-linux-gnu", "znver3", "+avx,+avx2,+fma,+f16c")
    made = prepare_kernel(IndexedModule(index_module(text)), "k", Specialisation((32, 1, 1)))
    from anywarp.compiler.analysis import analyse

    how = Specialisation((32, 1, 1))
    ir = target.emit_text(made, analyse(made, how), how)[0]
    calls = [
        line for line in ir.splitlines() if "call" in line and ("masked.gather" in line or "masked.scatter" in line)
    ]
    assert calls and all("splat (i1 true)" in line for line in calls)
