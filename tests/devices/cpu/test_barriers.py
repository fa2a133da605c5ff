"""Barriers: whole warps and parts of them that wait, named and counted barriers, reductions, deadlock."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.devices.cpu.execute import KernelDeadlock, KernelTrap, Program, run_kernel

SHAPES = [1, 16, 31, 32, 33, 48, 64, 127, 256, 1024]


def kernel(body, params="", shared=8192, registers=24):
    extra = f",\n.param .u32 {params}" if params else ""
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out{extra})
{{
.reg .pred %p<{registers}>;
.reg .b32 %r<{registers}>;
.reg .b64 %d<{registers}>;
.shared .align 4 .b8 s[{shared}];
ld.param.u64 %d1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ntid.x;
shl.b32 %r3, %r1, 2;
mov.u32 %r4, s;
add.u32 %r4, %r4, %r3;
mul.wide.u32 %d2, %r1, 4;
add.u64 %d2, %d1, %d2;
{body}
}}
"""


def run(text, threads, grid=1, known=True, extra=()):
    out = np.full(threads, 0xDEAD, np.uint32)
    Program(text).run("k", grid, threads, [out, *extra], any_shape=not known)
    return out


both = pytest.mark.parametrize("known", [True, False])

REVERSED = kernel("""
st.shared.u32 [%r4], %r1;
bar.sync 0;
sub.u32 %r5, %r2, 1;
sub.u32 %r5, %r5, %r1;
shl.b32 %r5, %r5, 2;
mov.u32 %r6, s;
add.u32 %r5, %r5, %r6;
ld.shared.u32 %r7, [%r5];
st.global.u32 [%d2], %r7;
ret;
""")


@both
@pytest.mark.parametrize("threads", SHAPES)
def test_all_warps_meet(threads, known):
    assert (run(REVERSED, threads, 3, known) == np.arange(threads)[::-1]).all()


HALVES = kernel("""
setp.lt.u32 %p1, %r1, 16;
@%p1 bra LOW;
mul.lo.u32 %r8, %r1, 3;
st.shared.u32 [%r4], %r8;
bar.sync 0;
ld.shared.u32 %r9, [s];
bra JOIN;
LOW:
add.u32 %r8, %r1, 100;
st.shared.u32 [%r4], %r8;
bar.sync 0;
ld.shared.u32 %r9, [s+4];
JOIN:
add.u32 %r9, %r9, %r8;
bar.sync 0;
st.shared.u32 [%r4], %r9;
bar.sync 0;
xor.b32 %r10, %r1, 1;
setp.ge.u32 %p2, %r10, %r2;
selp.u32 %r10, %r1, %r10, %p2;
shl.b32 %r10, %r10, 2;
mov.u32 %r11, s;
add.u32 %r10, %r10, %r11;
ld.shared.u32 %r12, [%r10];
st.global.u32 [%d2], %r12;
ret;
""")


@both
@pytest.mark.parametrize("threads", [2, 16, 17, 32, 33, 64, 100, 256])
def test_parts_of_a_warp_wait_at_different_barriers(threads, known):
    t = np.arange(threads)
    mine = np.where(t < 16, t + 100, 3 * t)
    second = 101 if threads > 1 else 0
    seen = np.where(t < 16, second, 100) + mine
    other = np.where((t ^ 1) < threads, t ^ 1, t)
    assert (run(HALVES, threads, 2, known) == seen[other]).all()


LEAVERS = kernel("""
mov.u32 %r5, 0;
mov.u32 %r6, 0;
AGAIN:
setp.ge.u32 %p1, %r5, 6;
@%p1 bra DONE;
setp.lt.u32 %p2, %r1, %r5;
@%p2 bra LEAVE;
st.shared.u32 [%r4], %r5;
bar.sync 0;
sub.u32 %r7, %r2, 1;
shl.b32 %r7, %r7, 2;
mov.u32 %r8, s;
add.u32 %r7, %r7, %r8;
ld.shared.u32 %r9, [%r7];
add.u32 %r6, %r6, %r9;
bar.sync 0;
add.u32 %r5, %r5, 1;
bra AGAIN;
LEAVE:
add.u32 %r6, %r6, 1000;
st.global.u32 [%d2], %r6;
exit;
DONE:
st.global.u32 [%d2], %r6;
ret;
""")


@both
@pytest.mark.parametrize("threads", [7, 16, 32, 33, 64, 127])
def test_threads_that_end_are_not_waited_for(threads, known):
    """Thread t ends after t + 1 rounds; the others go on, reading what the last thread wrote."""
    t = np.arange(threads)
    rounds = np.minimum(t + 1, 6)
    total = rounds * (rounds - 1) // 2
    assert (run(LEAVERS, threads, 1, known) == np.where(t < 5, total + 1000, 15)).all()


PRODUCER = kernel("""
setp.lt.u32 %p1, %r1, 32;
@%p1 bra MAKE;
bar.sync 1, 64;
sub.u32 %r5, %r4, 128;
ld.shared.u32 %r6, [%r5];
st.global.u32 [%d2], %r6;
ret;
MAKE:
mul.lo.u32 %r6, %r1, %r1;
st.shared.u32 [%r4], %r6;
bar.arrive 1, 64;
st.global.u32 [%d2], %r1;
ret;
""")


@both
def test_a_producer_arrives_and_goes_on(known):
    t = np.arange(64)
    assert (run(PRODUCER, 64, 2, known) == np.where(t < 32, t, (t - 32) ** 2)).all()


PAIRS = kernel("""
shr.u32 %r5, %r1, 6;
add.u32 %r5, %r5, 1;
st.shared.u32 [%r4], %r1;
barrier.sync %r5, 64;
xor.b32 %r6, %r1, 32;
shl.b32 %r6, %r6, 2;
mov.u32 %r7, s;
add.u32 %r6, %r6, %r7;
ld.shared.u32 %r8, [%r6];
st.global.u32 [%d2], %r8;
ret;
""")


@both
def test_pairs_of_warps_meet_at_their_own_barrier(known):
    assert (run(PAIRS, 256, 1, known) == (np.arange(256) ^ 32)).all()


REDUCTIONS = kernel("""
rem.u32 %r5, %r1, 3;
setp.eq.u32 %p1, %r5, 0;
barrier.red.popc.u32 %r6, 0, %p1;
setp.lt.u32 %p2, %r1, 5000;
barrier.red.and.pred %p3, 0, %p2;
barrier.red.and.pred %p4, 0, %p1;
setp.eq.u32 %p2, %r1, 17;
barrier.red.or.pred %p5, 0, %p2;
barrier.red.or.pred %p6, 0, !%p2;
selp.u32 %r7, 1000, 0, %p3;
add.u32 %r6, %r6, %r7;
selp.u32 %r7, 2000, 0, %p4;
add.u32 %r6, %r6, %r7;
selp.u32 %r7, 4000, 0, %p5;
add.u32 %r6, %r6, %r7;
selp.u32 %r7, 8000, 0, %p6;
add.u32 %r6, %r6, %r7;
st.global.u32 [%d2], %r6;
ret;
""")
PARTED_REDUCTIONS = REDUCTIONS.replace("rem.u32", "setp.gt.u32 %p9, %r1, 9;\n@%p9 bra APART;\nbar.sync 0;\nbra TOGETHER;\nAPART:\nbar.sync 0;\nTOGETHER:\nrem.u32", 1)  # fmt: skip


@both
@pytest.mark.parametrize("text", [REDUCTIONS, PARTED_REDUCTIONS], ids=["together", "parted"])
@pytest.mark.parametrize("threads", [1, 3, 17, 18, 32, 33, 64, 96, 250])
def test_barriers_that_reduce(text, threads, known):
    want = -(-threads // 3) + 1000 + (2000 if threads == 1 else 0) + (4000 if threads > 17 else 0) + 8000
    assert (run(text, threads, 2, known) == want).all()


STUCK = kernel("bar.sync 3, 64;\nst.global.u32 [%d2], %r1;\nret;")


@both
def test_a_barrier_that_cannot_complete_is_reported(known):
    with pytest.raises(KernelDeadlock, match="barrier 3"):
        run(STUCK, 32, 1, known)


def test_waiting_at_two_barriers_is_a_deadlock():
    text = kernel("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 1;\nret;\nA:\nbar.sync 2;\nret;")
    with pytest.raises(KernelDeadlock):
        run(text, 64)


def test_a_trap_names_block_warp_and_lane():
    text = kernel(
        "mov.u32 %r9, %ctaid.x;\nsetp.ne.u32 %p1, %r9, 2;\n@%p1 ret;\nsetp.ne.u32 %p1, %r1, 37;\n@%p1 ret;\ntrap;"
    )
    with pytest.raises(KernelTrap, match=r"block \(2, 0, 0\), warp 1, lane 5"):
        run(text, 64, 4)


KEPT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f64 %fd<3>; .reg .f32 %f<3>;
ld.param.u64 %d1, [in];
ld.param.u64 %d2, [out];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d3, %r1, 8;
add.u64 %d4, %d1, %d3;
add.u64 %d5, %d2, %d3;
ld.global.u64 %d6, [%d4];
cvt.u32.u64 %r2, %d6;
cvt.u16.u64 %h1, %d6;
cvt.rn.f32.u32 %f1, %r2;
cvt.rn.f64.u64 %fd1, %d6;
setp.lt.s32 %p1, %r2, 0;
bar.sync 0;
cvt.rzi.u64.f64 %d7, %fd1;
sub.u64 %d7, %d7, %d6;
cvt.u64.u32 %d8, %r2;
add.u64 %d7, %d7, %d8;
cvt.u64.u16 %d8, %h1;
add.u64 %d7, %d7, %d8;
cvt.rzi.s64.f32 %d8, %f1;
add.u64 %d7, %d7, %d8;
selp.u64 %d8, 7, 0, %p1;
add.u64 %d7, %d7, %d8;
st.global.u64 [%d5], %d7;
ret;
}
"""


@pytest.mark.parametrize("threads", [5, 32, 40, 96])
def test_values_of_every_type_survive_a_barrier(threads):
    x = np.random.default_rng(5).integers(0, 1 << 52, threads, np.uint64)
    out = np.zeros(threads, np.uint64)
    run_kernel(KEPT, "k", 1, threads, [x, out])
    low = x.astype(np.uint32)
    want = low.astype(np.uint64) + x.astype(np.uint16) + low.astype(np.float32).astype(np.uint64)
    want += np.where(low >= 1 << 31, np.uint64(7), np.uint64(0))
    assert (out == want).all()
