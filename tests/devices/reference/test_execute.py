"""Whole kernels on the interpreter: values worked out by hand or by numpy, and what it says when a kernel goes wrong."""

import numpy as np
import pytest

from anywarp.devices.reference.execute import run_kernel
from anywarp.diagnostics import AnywarpError

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
# %r1 = thread in block, %r2 = global index, %rd2 = out + 4 * global index
PROLOGUE = """
  .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .pred %p<10>; .reg .f32 %f<10>; .reg .b16 %h<9>;
  mov.u32 %r1, %tid.x; mov.u32 %r38, %ctaid.x; mov.u32 %r39, %ntid.x; mad.lo.u32 %r2, %r38, %r39, %r1;
  ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2;
"""


def kernel(body: str, module: str = "", extra: str = "") -> str:
    return f"{HEAD}{module}\n.visible .entry k(.param .u64 out{extra}) {{\n{PROLOGUE}\n{body}\n ret;\n}}"


def run(body, threads=32, grid=1, module="", words=None, **how):
    out = np.zeros(words or threads * grid, np.uint32)
    outcome = run_kernel(kernel(body, module), "k", grid, threads, [out], **how)
    return out, outcome


def test_each_thread_has_its_index():
    out, _ = run("st.global.u32 [%rd2], %r2;", threads=48, grid=3)
    np.testing.assert_array_equal(out, np.arange(144))


def test_threads_of_a_three_dimensional_block_are_numbered_x_first():
    body = """
      mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.z; mov.u32 %r5, %ntid.y;
      mad.lo.u32 %r6, %r4, %r5, %r3; mad.lo.u32 %r6, %r6, %r39, %r1;
      mul.wide.u32 %rd3, %r6, 4; add.s64 %rd3, %rd1, %rd3;
      mov.u32 %r7, %laneid; mov.u32 %r8, %warpid; shl.b32 %r8, %r8, 5; add.u32 %r7, %r7, %r8;
      st.global.u32 [%rd3], %r7;"""
    out = np.zeros(5 * 3 * 4, np.uint32)
    run_kernel(kernel(body), "k", 1, (5, 3, 4), [out])
    np.testing.assert_array_equal(out, np.arange(60))


def test_a_loop_that_each_lane_leaves_at_its_own_time():
    body = """
      mov.u32 %r3, 0; mov.u32 %r4, %r1;
      LOOP: setp.eq.u32 %p1, %r4, 0; @%p1 bra DONE;
      add.u32 %r3, %r3, %r4; sub.u32 %r4, %r4, 1; bra LOOP;
      DONE: st.global.u32 [%rd2], %r3;"""
    out, _ = run(body)
    np.testing.assert_array_equal(out, [n * (n + 1) // 2 for n in range(32)])


def test_lanes_meet_again_behind_a_branch():
    body = """
      and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN;
      activemask.b32 %r4; bra JOIN;
      EVEN: activemask.b32 %r4;
      JOIN: activemask.b32 %r5; xor.b32 %r4, %r4, %r5; st.global.u32 [%rd2], %r4;"""
    out, _ = run(body, threads=31)
    full = (1 << 31) - 1
    evens = sum(1 << n for n in range(0, 31, 2))
    np.testing.assert_array_equal(out, [full ^ (evens if n % 2 == 0 else full ^ evens) for n in range(31)])


def test_a_shuffle_waits_for_the_lanes_it_names():
    """Odd lanes come first and by another way, yet all 32 take part."""
    body = """
      and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, 7; mul.lo.u32 %r5, %r1, 3;
      @%p1 bra SLOW; bra MEET;
      SLOW: sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra SLOW; add.u32 %r5, %r5, 1000;
      MEET: shfl.sync.bfly.b32 %r6, %r5, 1, 31, -1; st.global.u32 [%rd2], %r6;"""
    out, _ = run(body)
    np.testing.assert_array_equal(out, [3 * (n ^ 1) + (1000 if (n ^ 1) % 2 == 0 else 0) for n in range(32)])


def test_lanes_that_have_ended_are_not_waited_for():
    body = """
      setp.ge.u32 %p1, %r1, 10; @%p1 exit; setp.lt.u32 %p2, %r1, 3;
      vote.sync.ballot.b32 %r3, %p2, -1; bar.sync 0; st.global.u32 [%rd2], %r3;"""
    out, _ = run(body, threads=64)
    np.testing.assert_array_equal(out, [7] * 10 + [0] * 54)


def test_waiting_for_a_lane_that_never_comes_is_a_deadlock():
    body = """
      setp.eq.u32 %p1, %r1, 3; @%p1 bra AT_BARRIER; bar.warp.sync -1; bra DONE;
      AT_BARRIER: bar.sync 1; DONE: """
    with pytest.raises(
        AnywarpError, match=r"31 threads wait for other lanes in vain|1 threads wait at a barrier in vain"
    ):
        run(body)


def test_a_mask_without_the_thread_itself_is_refused():
    with pytest.raises(AnywarpError, match="leaves the thread itself out") as caught:
        run("bar.warp.sync 1;")
    assert caught.value.diagnostic.details["thread"] == (1, 0, 0)


def test_barriers_with_counts_pair_producers_and_consumers():
    body = """
      setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUME;
      shl.b32 %r3, %r1, 2; mov.u32 %r4, s; add.u32 %r4, %r4, %r3; mul.lo.u32 %r5, %r1, %r1; st.shared.u32 [%r4], %r5;
      bar.arrive 3, 64; bra DONE;
      CONSUME: bar.sync 3, 64; sub.u32 %r6, 63, %r1; shl.b32 %r6, %r6, 2; mov.u32 %r7, s; add.u32 %r7, %r7, %r6;
      ld.shared.u32 %r8, [%r7]; st.global.u32 [%rd2], %r8; DONE: """
    out, _ = run(body, threads=64, module=".shared .align 4 .b32 s[32];")
    np.testing.assert_array_equal(out[32:], [(31 - n) ** 2 for n in range(32)])


def test_barriers_reduce_over_the_block():
    body = """
      setp.lt.u32 %p1, %r1, 40; bar.red.popc.u32 %r3, 0, %p1; bar.red.and.pred %p2, 0, !%p1; bar.red.or.pred %p3, 0, %p1;
      selp.u32 %r4, 100, 0, %p2; selp.u32 %r5, 1000, 0, %p3; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5;
      st.global.u32 [%rd2], %r3;"""
    out, _ = run(body, threads=48)
    np.testing.assert_array_equal(out, [1040] * 48)


FACTORIAL = """
.func (.param .b32 result) factorial(.param .b32 n) {
  .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u32 %r1, [n]; mov.u32 %r4, 1; setp.eq.u32 %p, %r1, 0; @%p bra END; sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), factorial, (a); ld.param.b32 %r3, [b]; }
  mul.lo.u32 %r4, %r1, %r3;
  END: st.param.b32 [result], %r4; ret;
}
.func (.reg .b32 result) twice(.reg .b32 n) { add.u32 result, n, n; ret; }
.func (.reg .b32 result) thrice(.reg .b32 n) { mul.lo.u32 result, n, 3; ret; }
"""


def test_functions_recurse_with_frames_of_their_own():
    body = """
      and.b32 %r3, %r1, 7; { .param .b32 a; .param .b32 b;
      st.param.b32 [a], %r3; call (b), factorial, (a); ld.param.b32 %r4, [b]; }
      call (%r5), twice, (%r4); st.global.u32 [%rd2], %r5;"""
    out, _ = run(body, module=FACTORIAL)
    np.testing.assert_array_equal(out, [2 * [1, 1, 2, 6, 24, 120, 720, 5040][n % 8] for n in range(32)])


def test_calls_by_address_go_where_each_lane_says():
    body = """
      mov.u64 %rd3, twice; mov.u64 %rd4, thrice; setp.lt.u32 %p1, %r1, 5; selp.b64 %rd5, %rd3, %rd4, %p1;
      P: .callprototype (.reg .b32 _) _ (.reg .b32 _);
      call (%r5), %rd5, (%r1), P; st.global.u32 [%rd2], %r5;"""
    out, _ = run(body, module=FACTORIAL)
    np.testing.assert_array_equal(out, [2 * n if n < 5 else 3 * n for n in range(32)])


def test_endless_recursion_is_told():
    module = ".func f() { call f; ret; }"
    with pytest.raises(AnywarpError, match="nested more than 512 deep"):
        run("call f;", module=module)


def test_branch_by_index():
    body = """
      and.b32 %r3, %r1, 3; L: .branchtargets A, B, C, D; brx.idx %r3, L;
      A: mov.u32 %r4, 10; bra Z; B: mov.u32 %r4, 20; bra Z; C: mov.u32 %r4, 30; bra Z; D: mov.u32 %r4, 40;
      Z: st.global.u32 [%rd2], %r4;"""
    out, _ = run(body)
    np.testing.assert_array_equal(out, [10 * (1 + n % 4) for n in range(32)])


def test_variables_have_their_initial_values_and_addresses():
    module = """
      .const .align 4 .b32 table[4] = {11, 22, 33, 44};
      .global .align 8 .u64 where[2] = {table, generic(values)+4};
      .global .align 4 .f32 values[3] = {1.5, 0f40200000, -1.0};
      .global .align 1 .b8 text[3] = {1, 2};"""
    body = """
      ld.global.u64 %rd3, [where+8]; ld.u32 %r3, [%rd3]; ld.const.u32 %r4, [table+8]; add.u32 %r3, %r3, %r4;
      ld.global.u8 %r5, [text+1]; ld.global.u8 %r6, [text+2]; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;
      st.global.u32 [%rd2], %r3;"""
    out, _ = run(body, module=module)
    np.testing.assert_array_equal(out, [0x40200000 + 33 + 2] * 32)


def test_nested_scopes_hide_registers_and_labels():
    body = """
      mov.u32 %r3, 1; { .reg .b32 %r3; mov.u32 %r3, 50; bra X; mov.u32 %r3, 51; X: add.u32 %r4, %r3, 0; }
      { bra X; add.u32 %r3, %r3, 7; X: add.u32 %r4, %r4, %r3; } st.global.u32 [%rd2], %r4;"""
    out, _ = run(body)
    np.testing.assert_array_equal(out, [51] * 32)


def test_local_memory_is_each_threads_own_and_shared_dynamic_memory_the_blocks():
    module = ".extern .shared .align 16 .b8 dynamic[];"
    body = """
      .local .align 4 .b32 l[4]; .shared .align 4 .b32 s[1]; .reg .b64 %q<4>;
      and.b32 %r3, %r1, 3; mul.wide.u32 %rd3, %r3, 4; mov.u64 %rd4, l; cvta.local.u64 %rd5, %rd4; add.s64 %rd5, %rd5, %rd3;
      st.u32 [%rd5], %r1; add.s64 %rd4, %rd4, %rd3; ld.local.u32 %r4, [%rd4];
      mov.u32 %r5, dynamic; shl.b32 %r6, %r1, 2; add.u32 %r6, %r5, %r6; st.shared.u32 [%r6], %r4; bar.sync 0;
      xor.b32 %r7, %r1, 33; shl.b32 %r7, %r7, 2; add.u32 %r7, %r5, %r7; ld.shared.u32 %r8, [%r7];
      st.global.u32 [%rd2], %r8;"""
    out, _ = run(body, threads=64, module=module, dynamic_shared=256)
    np.testing.assert_array_equal(out, [n ^ 33 for n in range(64)])


def test_vector_registers_and_wide_loads():
    body = """
      .reg .v4 .b32 %v; .reg .b64 %q; shl.b32 %r3, %r1, 4; cvt.u64.u32 %q, %r3; add.s64 %q, %rd1, %q;
      mov.u32 %v.x, %r1; mov.u32 %v.y, 2; mov.u32 %v.z, 3; add.u32 %v.w, %v.x, 100; st.global.v4.b32 [%q], %v;
      ld.global.v2.b32 {%r4, %r5}, [%q+8]; st.global.v2.b32 [%q], {%r5, %r4};"""
    out, _ = run(body, words=128)
    np.testing.assert_array_equal(out.reshape(32, 4), [[100 + n, 3, 3, 100 + n] for n in range(32)])


def test_atomics_see_each_other():
    body = "atom.global.inc.u32 %r3, [%rd1], 9; st.global.u32 [%rd2+4], %r3;"
    out, _ = run(body, words=33)
    assert out[0] == 32 % 10 and sorted(out[1:]) == sorted(n % 10 for n in range(32))


def test_printing_from_a_kernel():
    module = """
      .extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
      .global .align 1 .b8 format[24] = {105, 61, 37, 100, 32, 37, 46, 50, 102, 32, 37, 108, 108, 117, 10, 0};"""
    body = """
      .local .align 8 .b8 va[24]; setp.ne.u32 %p1, %r1, 2; @%p1 bra Z;
      st.local.u32 [va], -5; mov.b64 %rd3, 0d3FF8000000000000; st.local.u64 [va+8], %rd3; st.local.u64 [va+16], -1;
      mov.u64 %rd4, va; cvta.local.u64 %rd4, %rd4; mov.u64 %rd5, format; cvta.global.u64 %rd5, %rd5;
      { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd5; st.param.b64 [b], %rd4;
      call.uni (r), vprintf, (a, b); ld.param.b32 %r5, [r]; st.global.u32 [%rd2], %r5; }
      Z: """
    out, outcome = run(body, module=module)
    assert outcome.printed == "i=-5 1.50 18446744073709551615\n"
    assert out[2] == 3


@pytest.mark.parametrize(
    ("body", "message", "thread"),
    [
        ("add.s64 %rd2, %rd2, 4; st.global.u32 [%rd2], 1;", "0 bytes behind the end of a buffer of 128 bytes", 31),
        ("sub.s64 %rd2, %rd2, 8; ld.global.u32 %r3, [%rd2];", "8 bytes before a buffer", 0),
        ("mov.u64 %rd3, 0; ld.u32 %r3, [%rd3];", "illegal address 0x0", 0),
        ("add.s64 %rd2, %rd2, 2; ld.global.u32 %r3, [%rd2];", "misaligned address", 0),
        ("setp.eq.u32 %p1, %r1, 7; @%p1 trap;", "the kernel trapped, in trap", 7),
        ("mov.u32 %r3, 64; @!%p1 bra Q; Q: st.shared.u32 [%r3], 1;", "illegal address", 0),
        ("ld.param.u64 %rd3, [out+8];", "reading from param memory", 0),
    ],
)
def test_what_goes_wrong_is_told_with_instruction_block_and_thread(body, message, thread):
    with pytest.raises(AnywarpError, match=message) as caught:
        run(body, grid=1)
    details = caught.value.diagnostic.details
    assert details == {"thread": (thread, 0, 0), "block": (0, 0, 0)}
    assert "-->" in str(caught.value)


def test_a_kernel_without_end_is_stopped():
    with pytest.raises(AnywarpError, match="too many steps"):
        run("L: bra L;", step_limit=10_000)


def test_lanes_that_wait_for_each_other_in_memory_make_progress():
    """Lane 0 spins until lane 1, which stands behind it in the program, has written."""
    body = """
      setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHERS;
      SPIN: ld.volatile.global.u32 %r3, [%rd1+4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN; st.global.u32 [%rd2], %r3; ret;
      OTHERS: st.volatile.global.u32 [%rd2], 5;"""
    out, _ = run(body)
    np.testing.assert_array_equal(out, [5] * 32)


def test_arguments_of_every_kind():
    ptx = kernel(
        """ld.param.u32 %r3, [a]; ld.param.f32 %f1, [b]; cvt.rzi.u32.f32 %r4, %f1; ld.param.u8 %r5, [c+2];
        ld.param.u16 %r6, [d]; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6;
        st.global.u32 [%rd2], %r3;""",
        extra=", .param .u32 a, .param .f32 b, .param .align 4 .b8 c[6], .param .u16 d",
    )
    out = np.zeros(1, np.uint32)
    run_kernel(ptx, "k", 1, 1, [out, -1, 20.75, bytes([0, 0, 7, 0, 0, 0]), np.uint16(100)])
    assert out[0] == 126
    with pytest.raises(ValueError, match="takes 5 arguments"):
        run_kernel(ptx, "k", 1, 1, [out])
    with pytest.raises(ValueError, match="has 6 bytes"):
        run_kernel(ptx, "k", 1, 1, [out, 1, 1.0, b"12", 1])


def test_an_unknown_instruction_is_named():
    with pytest.raises(AnywarpError, match=r"frobnicate\.u32"):
        run("frobnicate.u32 %r1, %r2;")
