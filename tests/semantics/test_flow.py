"""Control flow, barriers and memory in whole kernels, on every device; expected values are worked out in plain Python."""

import numpy as np
import pytest

from semantics.devices import DEVICES

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
# %r1 = linear thread in the block, %r2 = global linear index, %rd1 = out, %rd2 = out + 4 * %r2
PROLOGUE = """
  .reg .b32 %r<60>; .reg .b64 %rd<30>; .reg .pred %p<20>; .reg .f32 %f<10>; .reg .b16 %h<9>; .reg .f64 %d<9>;
  mov.u32 %r50, %tid.x; mov.u32 %r51, %tid.y; mov.u32 %r52, %tid.z; mov.u32 %r53, %ntid.x; mov.u32 %r54, %ntid.y;
  mov.u32 %r55, %ntid.z; mad.lo.u32 %r1, %r52, %r54, %r51; mad.lo.u32 %r1, %r1, %r53, %r50;
  mul.lo.u32 %r56, %r53, %r54; mul.lo.u32 %r56, %r56, %r55; mov.u32 %r57, %ctaid.x; mad.lo.u32 %r2, %r57, %r56, %r1;
  ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd2, %rd1, %rd2;
"""


def kernel(body, module="", extra=""):
    return f"{HEAD}{module}\n.visible .entry k(.param .u64 out{extra}) {{\n{PROLOGUE}\n{body}\n ret;\n}}"


@pytest.fixture(params=DEVICES)
def run(request):
    def run(body, threads=32, grid=1, module="", words=None, fill=0, **how):
        out = np.full(words or int(np.prod(threads)) * grid, fill, np.uint32)
        DEVICES[request.param](kernel(body, module), "k", grid, threads, [out], **how)
        return out

    return run


def equal(found, wanted):
    np.testing.assert_array_equal(found, np.array(list(wanted), dtype=object).astype(np.uint64).astype(np.uint32))


# --- what a block's shape makes constant ---------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5, 32])
def test_a_divisor_that_the_block_makes_zero_is_no_error(run, threads):
    """Where the divisor is zero its result is not used: `m ? n / m * 100 + n % m : n`, signed and unsigned, of 32 and 64 bits."""
    body = """sub.u32 %r3, %r53, 1; add.u32 %r4, %r1, 1000; setp.ne.u32 %p1, %r3, 0;
      div.u32 %r5, %r4, %r3; rem.u32 %r6, %r4, %r3; div.s32 %r7, %r4, %r3; rem.s32 %r8, %r4, %r3;
      cvt.u64.u32 %rd3, %r3; cvt.u64.u32 %rd4, %r4; div.u64 %rd5, %rd4, %rd3; rem.s64 %rd6, %rd4, %rd3;
      cvt.u32.u64 %r9, %rd5; cvt.u32.u64 %r10, %rd6; add.u32 %r11, %r5, %r7; add.u32 %r11, %r11, %r9;
      add.u32 %r12, %r6, %r8; add.u32 %r12, %r12, %r10; mad.lo.u32 %r13, %r11, 100, %r12; selp.u32 %r13, %r13, %r4, %p1;
      st.global.u32 [%rd2], %r13;"""
    m = threads - 1
    numbers = [n + 1000 for n in range(threads)]
    equal(run(body, threads=threads), (3 * (n // m) * 100 + 3 * (n % m) if m else n for n in numbers))


# --- lanes that are off ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("access", [
    "ld.global.u32 %r4, [%rd3];", "ld.u32 %r4, [%rd3];", "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];", "ld.global.u8 %r4, [%rd3];",
    "ld.global.nc.u32 %r4, [%rd3];", "ld.volatile.global.u32 %r4, [%rd3];", "st.global.u32 [%rd3], 1;", "st.u8 [%rd3], %r1;",
    "st.global.v2.u32 [%rd3], {%r1, %r1};", "atom.global.add.u32 %r4, [%rd3], 1;", "red.global.add.u32 [%rd3], 1;",
    "atom.global.cas.b64 %rd4, [%rd3], %rd1, %rd2;", "ld.global.f64 %d1, [%rd3];", "ld.global.u16 %h1, [%rd3];",
])  # fmt: skip
@pytest.mark.parametrize("how", ["guard", "branch", "exit"])
def test_a_lane_that_is_off_touches_no_memory(run, access, how):
    """Odd lanes hold a wild address."""
    start = {
        "guard": f"@%p1 {access}",
        "branch": f"@!%p1 bra SKIP; {access} SKIP:",
        "exit": f"@!%p1 exit; {access}",
    }[how]
    body = f"""and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; and.b32 %r3, %r1, 30; mul.wide.u32 %rd3, %r3, 16;
      add.s64 %rd3, %rd1, %rd3; selp.b64 %rd3, %rd3, 0x10, %p1; {start}
      add.s64 %rd5, %rd2, 4096; st.global.u32 [%rd5], %r1;"""
    out = run(body, threads=45, words=1024 + 45)
    equal(out[1024:], (0 if how == "exit" and n % 2 else n for n in range(45)))


# --- unstructured flow ----------------------------------------------------------------------------------------------------


def test_leaving_two_loops_at_once(run):
    body = """
      mov.u32 %r3, 0; mov.u32 %r4, 0;
      OUTER: mov.u32 %r5, 0;
      INNER: add.u32 %r3, %r3, 1; add.u32 %r6, %r4, %r5; setp.gt.u32 %p1, %r6, %r1; @%p1 bra OUT;
      add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 4; @%p2 bra INNER;
      add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 6; @%p3 bra OUTER;
      add.u32 %r3, %r3, 1000;
      OUT: st.global.u32 [%rd2], %r3;"""

    def one(n):
        count = 0
        for i in range(6):
            for j in range(4):
                count += 1
                if i + j > n:
                    return count
        return count + 1000

    equal(run(body), map(one, range(32)))


def test_falling_through_a_switch(run):
    body = """
      rem.u32 %r3, %r1, 5; mov.u32 %r4, 0; W: .branchtargets A, B, C, D, E; brx.idx %r3, W;
      A: add.u32 %r4, %r4, 1; B: add.u32 %r4, %r4, 10; bra E; C: add.u32 %r4, %r4, 100; bra B; D: add.u32 %r4, %r4, 1000;
      E: st.global.u32 [%rd2], %r4;"""
    equal(run(body, threads=48), ([11, 10, 110, 1000, 0][n % 5] for n in range(48)))


def test_four_loops_in_one_another(run):
    def loop(level):
        if level == 4:
            return "add.u32 %r3, %r3, 1; mad.lo.u32 %r3, %r3, 3, %r1;"
        r, p = f"%r{10 + level}", f"%p{level}"
        shift = f"shr.u32 %r{20 + level}, %r1, {level}; and.b32 %r{20 + level}, %r{20 + level}, 3;"
        head = f"{shift} mov.u32 {r}, 0; L{level}: setp.ge.u32 {p}, {r}, %r{20 + level}; @{p} bra E{level};"
        return f"{head} {loop(level + 1)} add.u32 {r}, {r}, 1; bra L{level}; E{level}:"

    def one(n):
        x = 0
        for _ in range(n & 3):
            for _ in range(n >> 1 & 3):
                for _ in range(n >> 2 & 3):
                    for _ in range(n >> 3 & 3):
                        x = ((x + 1) * 3 + n) & 0xFFFFFFFF
        return x

    equal(run(f"mov.u32 %r3, 0; {loop(0)} st.global.u32 [%rd2], %r3;"), map(one, range(32)))


def test_a_lock_that_the_lanes_of_a_warp_take_in_turn(run):
    """The critical section lies inside the loop, as it has to be since lanes may not overtake each other."""
    module = ".global .align 4 .u32 lock; .global .align 4 .u32 sum;"
    body = """
      mov.u64 %rd3, lock; mov.u64 %rd4, sum; mov.u32 %r5, 0; setp.eq.u32 %p3, %r1, 0; @%p3 st.global.u32 [%rd4], 0; bar.sync 0;
      TRY: atom.global.cas.b32 %r3, [%rd3], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra NEXT;
      ld.volatile.global.u32 %r4, [%rd4]; add.u32 %r4, %r4, %r1; st.volatile.global.u32 [%rd4], %r4; mov.u32 %r5, 1;
      membar.gl; atom.global.exch.b32 %r6, [%rd3], 0;
      NEXT: setp.eq.u32 %p2, %r5, 0; @%p2 bra TRY;
      bar.sync 0; ld.volatile.global.u32 %r7, [%rd4]; st.global.u32 [%rd2], %r7;"""
    equal(run(body, threads=48, module=module), [48 * 47 // 2] * 48)


FUNCTIONS = """
.func (.param .align 8 .b8 result[16]) both(.param .align 8 .b8 given[16], .param .b32 k) {
  .reg .b64 %a<9>; .reg .b32 %k; .reg .pred %p;
  ld.param.u64 %a1, [given]; ld.param.u64 %a2, [given+8]; ld.param.u32 %k, [k];
  setp.gt.u32 %p, %k, 10; @%p bra BIG; add.s64 %a3, %a1, %a2; sub.s64 %a4, %a1, %a2; bra END;
  BIG: mul.lo.s64 %a3, %a1, %a2; mov.u64 %a4, 7;
  END: st.param.b64 [result], %a3; st.param.b64 [result+8], %a4; ret;
}
.func (.reg .b32 result) early(.reg .b32 n) {
  .reg .pred %p; .local .align 4 .b32 l[8]; .reg .b64 %a; .reg .b32 %i;
  mov.u32 result, 0; and.b32 %i, n, 1; setp.ne.u32 %p, %i, 0; @%p ret;
  and.b32 %i, n, 7; mul.wide.u32 %a, %i, 4; .reg .b64 %b; mov.u64 %b, l; add.s64 %a, %a, %b; st.local.u32 [%a], n;
  ld.local.u32 result, [%a]; add.u32 result, result, 1; ret;
}
.func (.reg .b32 result) outer(.reg .b32 n) { .reg .b32 %x; call (%x), early, (n); add.u32 result, %x, n; ret; }
"""


def test_functions_take_and_return_structures(run):
    body = """
      cvt.u64.u32 %rd3, %r1; { .param .align 8 .b8 a[16]; .param .b32 b; .param .align 8 .b8 c[16];
      st.param.b64 [a], %rd3; st.param.b64 [a+8], 3; st.param.b32 [b], %r1; call.uni (c), both, (a, b);
      ld.param.b64 %rd4, [c]; ld.param.b64 %rd5, [c+8]; }
      mad.lo.s64 %rd6, %rd4, 100, %rd5; cvt.u32.u64 %r3, %rd6; st.global.u32 [%rd2], %r3;"""
    wanted = ((n * 3 * 100 + 7) if n > 10 else (n + 3) * 100 + n - 3 for n in range(32))
    equal(run(body, module=FUNCTIONS), wanted)


def test_functions_that_some_lanes_leave_early_are_called_in_divergent_flow(run):
    body = """
      mov.u32 %r3, 77; rem.u32 %r4, %r1, 3; setp.eq.u32 %p1, %r4, 0; @%p1 bra SKIP; call (%r3), outer, (%r1);
      SKIP: call (%r5), early, (%r3); add.u32 %r3, %r3, %r5; st.global.u32 [%rd2], %r3;"""

    def early(n):
        return 0 if n & 1 else n + 1

    def one(n):
        x = 77 if n % 3 == 0 else early(n) + n
        return x + early(x)

    equal(run(body, threads=33, module=FUNCTIONS), map(one, range(33)))


# --- barriers -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [32, 48, 64, 127, 256, (8, 4, 3)])
def test_a_sum_through_shared_memory(run, threads):
    count = int(np.prod(threads))
    body = """
      .shared .align 4 .b32 s[1024]; mov.u32 %r10, s; shl.b32 %r11, %r1, 2; add.u32 %r11, %r11, %r10; mul.lo.u32 %r12, %r1, %r1;
      st.shared.u32 [%r11], %r12; mov.u32 %r13, 1;
      NEXT: bar.sync 0; shl.b32 %r14, %r13, 1; rem.u32 %r15, %r1, %r14; setp.ne.u32 %p1, %r15, 0; @%p1 bra SKIP;
      add.u32 %r16, %r1, %r13; setp.ge.u32 %p2, %r16, %r56; @%p2 bra SKIP;
      shl.b32 %r17, %r16, 2; add.u32 %r17, %r17, %r10; ld.shared.u32 %r18, [%r17]; ld.shared.u32 %r19, [%r11];
      add.u32 %r19, %r19, %r18; st.shared.u32 [%r11], %r19;
      SKIP: mov.u32 %r13, %r14; setp.lt.u32 %p3, %r13, %r56; @%p3 bra NEXT;
      bar.sync 0; ld.shared.u32 %r20, [s]; add.u32 %r20, %r20, %r57; st.global.u32 [%rd2], %r20;"""
    out = run(body, threads=threads, grid=3)
    total = sum(n * n for n in range(count))
    equal(out, (total + b for b in range(3) for _ in range(count)))


@pytest.mark.parametrize("threads", [32, 64, 96, 45])
def test_threads_meet_at_one_barrier_from_different_places(run, threads):
    """Each lane arrives twice, each time from one of three places, by its number and the round."""
    body = """
      .shared .align 4 .b32 s[2]; setp.ne.u32 %p9, %r1, 0; @!%p9 st.shared.v2.u32 [s], {0, 0}; barrier.sync 1; mov.u32 %r3, 0; mov.u32 %r9, s;
      ROUND: add.u32 %r4, %r1, %r3; rem.u32 %r4, %r4, 3; shl.b32 %r5, %r3, 2; add.u32 %r5, %r5, %r9; red.shared.add.u32 [%r5], 1;
      setp.eq.u32 %p1, %r4, 0; @%p1 bra A; setp.eq.u32 %p2, %r4, 1; @%p2 bra B;
      barrier.sync 1; bra ON; A: barrier.sync 1; bra ON; B: barrier.sync 1;
      ON: ld.shared.u32 %r6, [%r5]; mad.lo.u32 %r7, %r7, 1, %r6; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 2; @%p3 bra ROUND;
      st.global.u32 [%rd2], %r6;"""
    equal(run(body, threads=threads), [threads] * threads)


def test_half_of_the_block_leaves_before_the_barrier(run):
    body = """
      .shared .align 4 .b32 s[128]; setp.lt.u32 %p1, %r1, 70; @!%p1 ret; and.b32 %r3, %r1, 1; setp.eq.u32 %p2, %r3, 0; @%p2 exit;
      shl.b32 %r4, %r1, 2; mov.u32 %r5, s; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], %r1; bar.sync 0;
      sub.u32 %r6, 70, %r1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r5; ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd2], %r7;"""
    equal(run(body, threads=128), (70 - n if n % 2 and n < 70 else 0 for n in range(128)))


def test_some_warps_have_a_barrier_of_their_own(run):
    body = """
      .shared .align 4 .b32 s[128]; shl.b32 %r4, %r1, 2; mov.u32 %r5, s; add.u32 %r4, %r4, %r5;
      shr.u32 %r8, %r1, 6; setp.eq.u32 %p1, %r8, 0; @%p1 bra FIRST;
      add.u32 %r3, %r1, 1000; st.shared.u32 [%r4], %r3; bar.sync 2, 64; xor.b32 %r6, %r1, 33; bra READ;
      FIRST: st.shared.u32 [%r4], %r1; bar.sync 1, 64; xor.b32 %r6, %r1, 63;
      READ: shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r5; ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd2], %r7;"""
    equal(run(body, threads=128), (n ^ 63 if n < 64 else (n ^ 33) + 1000 for n in range(128)))


def test_producers_and_consumers_go_round(run):
    """Warp 0 fills a slot and arrives; warp 1 waits, reads, and hands the slot back."""
    body = """
      .shared .align 4 .b32 s[32]; and.b32 %r3, %r1, 31; shl.b32 %r4, %r3, 2; mov.u32 %r5, s; add.u32 %r4, %r4, %r5;
      mov.u32 %r6, 0; mov.u32 %r7, 0; setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUME;
      FILL: mad.lo.u32 %r8, %r6, 100, %r3; st.shared.u32 [%r4], %r8; bar.arrive 1, 64; bar.sync 2, 64;
      add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 5; @%p2 bra FILL; bra END;
      CONSUME: bar.sync 1, 64; xor.b32 %r9, %r4, 4; ld.shared.u32 %r8, [%r9]; add.u32 %r7, %r7, %r8; bar.arrive 2, 64;
      add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 5; @%p2 bra CONSUME;
      END: st.global.u32 [%rd2], %r7;"""
    equal(run(body, threads=64), [0] * 32 + [1000 + 5 * (n ^ 1) for n in range(32)])


def test_a_barrier_inside_a_function(run):
    module = """.shared .align 4 .b32 s[64];
    .func (.reg .b32 result) turn(.reg .b32 n, .reg .b32 t) { .reg .b32 %a<5>; shl.b32 %a1, t, 2; mov.u32 %a2, s;
      add.u32 %a1, %a1, %a2; st.shared.u32 [%a1], n; bar.sync 0; xor.b32 %a3, %a1, 252; ld.shared.u32 result, [%a3]; bar.sync 0; ret; }"""
    body = """mul.lo.u32 %r3, %r1, 5; call (%r4), turn, (%r3, %r1); add.u32 %r4, %r4, 1; call (%r5), turn, (%r4, %r1);
      st.global.u32 [%rd2], %r5;"""
    # s may lie anywhere, so the partner is found by address only if s is aligned to 256
    equal(run(body, threads=64, module=module.replace(".align 4", ".align 256")), (5 * n + 1 for n in range(64)))


@pytest.mark.parametrize("threads", [31, 32, 48, 96])
def test_barriers_that_reduce_in_a_loop(run, threads):
    body = """
      mov.u32 %r3, 0; mov.u32 %r4, 0;
      L: setp.gt.u32 %p1, %r1, %r3; bar.red.popc.u32 %r5, 0, %p1; add.u32 %r4, %r4, %r5; bar.red.or.pred %p2, 0, %p1;
      bar.red.and.pred %p3, 0, %p1; selp.u32 %r6, 1000, 0, %p3; add.u32 %r4, %r4, %r6; add.u32 %r3, %r3, 7; @%p2 bra L;
      st.global.u32 [%rd2], %r4;"""
    wanted, limit = 0, 0
    while True:
        above = sum(n > limit for n in range(threads))
        wanted += above + (1000 if above == threads else 0)
        limit += 7
        if above == 0:
            break
    equal(run(body, threads=threads), [wanted] * threads)


# --- memory ---------------------------------------------------------------------------------------------------------------

SIGNED = {"s8", "s16", "s32", "s64"}


@pytest.mark.parametrize("space", ["global", "shared", "local", "generic"])
@pytest.mark.parametrize("type", ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"])
def test_loads_extend_and_stores_narrow(run, space, type):
    """A 64-bit number is stored narrowed and loaded into a 64-bit register."""
    width = int(type[1:]) // 8
    where = {"global": "g", "shared": "s", "local": "l", "generic": "g"}[space]
    module = ".global .align 8 .b8 g[512]; .shared .align 8 .b8 s[512];"
    dot = "" if space == "generic" else f".{space}"
    body = f"""
      .local .align 8 .b8 l[512]; mov.u64 %rd3, {where}; mul.wide.u32 %rd4, %r1, {width}; add.s64 %rd3, %rd3, %rd4;
      mul.wide.u32 %rd5, %r1, 0x12345677; mul.lo.s64 %rd5, %rd5, 0x3c6ef372fe94f82b; {"cvta.global.u64 %rd3, %rd3;" if space == "generic" else ""}
      st{dot}.{type} [%rd3], %rd5; ld{dot}.{type} %rd6, [%rd3]; shr.u64 %rd7, %rd6, 32; xor.b64 %rd6, %rd6, %rd7;
      cvt.u32.u64 %r4, %rd6; st.global.u32 [%rd2], %r4;"""

    def one(n):
        x = n * 0x12345677 * 0x3C6EF372FE94F82B & ((1 << 8 * width) - 1)
        if type in SIGNED and x >> (8 * width - 1):
            x |= (1 << 64) - (1 << 8 * width)
        return (x ^ x >> 32) & 0xFFFFFFFF

    equal(run(body, module=module), map(one, range(32)))


@pytest.mark.parametrize("stride", [1, 2, 3, 7, -1, 0])
def test_addresses_with_any_stride(run, stride):
    """Uniform, adjacent, strided, reversed and scattered accesses give the same as lane by lane."""
    body = f"""
      st.global.u32 [%rd2], %r1; bar.sync 0; mad.lo.s32 %r3, %r1, {stride}, 40; and.b32 %r3, %r3, 63; mul.wide.u32 %rd3, %r3, 4;
      add.s64 %rd3, %rd1, %rd3; ld.global.u32 %r4, [%rd3]; add.s64 %rd4, %rd2, 256; st.global.u32 [%rd4], %r4;"""
    out = run(body, threads=64, words=128)
    equal(out[64:], ((n * stride + 40) % 64 for n in range(64)))


def test_vectors_of_every_width(run):
    body = """
      mul.wide.u32 %rd3, %r1, 16; add.s64 %rd3, %rd1, %rd3; add.u32 %r3, %r1, 1; add.u32 %r4, %r1, 2; add.u32 %r5, %r1, 3;
      st.global.v4.u32 [%rd3], {%r1, %r3, %r4, %r5}; ld.global.v2.u64 {%rd4, %rd5}, [%rd3]; add.s64 %rd4, %rd4, %rd5;
      ld.global.v4.u16 {%h1, %h2, %h3, %h4}, [%rd3+8]; ld.global.v2.u8 {%r6, %r7}, [%rd3+4];
      st.global.u64 [%rd3], %rd4; st.global.v4.u16 [%rd3+8], {%h3, %h2, %h1, %h4}; st.global.v2.u8 [%rd3+14], {%r6, %r7};"""
    out = run(body, words=128).view(np.uint8).reshape(32, 16)
    for n in range(32):
        total = (n | (n + 1) << 32) + (n + 2 | (n + 3) << 32)
        wanted = total.to_bytes(8, "little") + bytes([n + 3, 0, 0, 0, n + 2, 0, n + 1, 0])
        assert bytes(out[n]) == wanted, n


def test_constant_tables_and_pointers_into_memory(run):
    module = """
      .const .align 4 .u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19}; .global .align 4 .u32 values[4] = {100, 200, 300, 400};
      .global .align 8 .u64 pointer = generic(values)+4; .global .align 2 .u16 bytes[2] = {0xFF(values), 0xFF00(values)};"""
    body = """
      and.b32 %r3, %r1, 7; mul.wide.u32 %rd3, %r3, 4; mov.u64 %rd4, primes; add.s64 %rd4, %rd4, %rd3; ld.const.u32 %r4, [%rd4];
      ld.global.u64 %rd5, [pointer]; ld.u32 %r5, [%rd5]; mad.lo.u32 %r4, %r4, 1000, %r5;
      mov.u64 %rd6, values; cvt.u32.u64 %r6, %rd6; ld.global.u16 %h1, [bytes]; ld.global.u16 %h2, [bytes+2]; cvt.u32.u16 %r7, %h1;
      cvt.u32.u16 %r8, %h2; shl.b32 %r8, %r8, 8; or.b32 %r7, %r7, %r8; xor.b32 %r6, %r6, %r7; and.b32 %r6, %r6, 0xFFFF;
      add.u32 %r4, %r4, %r6; st.global.u32 [%rd2], %r4;"""
    equal(run(body, module=module), ([2, 3, 5, 7, 11, 13, 17, 19][n % 8] * 1000 + 200 for n in range(32)))


def test_generic_addresses_know_their_space(run):
    module = ".global .u32 g; .shared .u32 s; .const .u32 c;"
    body = """
      .local .u32 l; mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; mov.u64 %rd4, l; cvta.local.u64 %rd4, %rd4; mov.u64 %rd5, g;
      cvta.global.u64 %rd5, %rd5; isspacep.shared %p1, %rd3; isspacep.local %p2, %rd4; isspacep.global %p3, %rd5;
      isspacep.shared %p4, %rd5; isspacep.local %p5, %rd3; isspacep.global %p6, %rd4; isspacep.shared %p7, %rd4;
      selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; selp.u32 %r5, 4, 0, %p3; selp.u32 %r6, 8, 0, %p4; selp.u32 %r7, 16, 0, %p5;
      selp.u32 %r8, 32, 0, %p6; selp.u32 %r9, 64, 0, %p7; or.b32 %r3, %r3, %r4; or.b32 %r3, %r3, %r5; or.b32 %r3, %r3, %r6;
      or.b32 %r3, %r3, %r7; or.b32 %r3, %r3, %r8; or.b32 %r3, %r3, %r9; st.u32 [%rd3], 5; st.u32 [%rd4], %r1; st.u32 [%rd5], 7;
      ld.shared.u32 %r10, [s]; ld.local.u32 %r11, [l]; ld.global.u32 %r12, [g]; shl.b32 %r10, %r10, 8; shl.b32 %r11, %r11, 16;
      or.b32 %r3, %r3, %r10; or.b32 %r3, %r3, %r11; cvta.to.shared.u64 %rd6, %rd3; mov.u64 %rd7, s; setp.ne.s64 %p8, %rd6, %rd7;
      @%p8 mov.u32 %r3, 0; st.global.u32 [%rd2], %r3;"""
    equal(run(body, module=module), (7 | 5 << 8 | n << 16 for n in range(32)))


# --- atomics --------------------------------------------------------------------------------------------------------------

ATOMICS = {
    "add": lambda a, b, w: a + b,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "exch": lambda a, b, w: b,
    "min.u": lambda a, b, w: min(a, b),
    "max.u": lambda a, b, w: max(a, b),
    "min.s": lambda a, b, w: min(a, b, key=lambda x: x - (x >> (w - 1) << w)),
    "max.s": lambda a, b, w: max(a, b, key=lambda x: x - (x >> (w - 1) << w)),
    "inc": lambda a, b, w: 0 if a >= b else a + 1,
    "dec": lambda a, b, w: b if a == 0 or a > b else a - 1,
}


@pytest.mark.parametrize("space", ["global", "shared", ""])
@pytest.mark.parametrize(
    ("width", "op"),
    [
        (width, op) for width in (32, 64) for op in ATOMICS if not (op in ("inc", "dec") and width == 64)
    ],  # PTX ISA, atom
)
def test_atomics_return_the_old_value_and_leave_the_new(run, op, width, space):
    name, _, sign = op.partition(".")
    kind = sign or ("b" if name in ("and", "or", "xor", "exch") else "u")
    where, base = ("s", "mov.u64 %rd3, s;") if space == "shared" else ("g", "mov.u64 %rd3, g;")
    r, dot = "%r" if width == 32 else "%rd", f".{space}" if space else ""
    generic = "cvta.global.u64 %rd3, %rd3;" if not space else ""
    body = f"""
      {base} {generic} mul.wide.u32 %rd4, %r1, 8; add.s64 %rd3, %rd3, %rd4; mul.wide.u32 %rd15, %r1, 0x9E3779B1;
      mul.lo.s64 %rd15, %rd15, 0x3c6ef372fe94f82b; mul.lo.s64 %rd16, %rd15, 0x5851F42D4C957F2D; cvt.u32.u64 %r15, %rd15; cvt.u32.u64 %r16, %rd16;
      and.b32 %r20, %r1, 1; setp.eq.u32 %p1, %r20, 0; @%p1 mov.b32 %r16, %r15; @%p1 mov.b64 %rd16, %rd15;
      st{dot}.b{width} [%rd3], {r}15; atom{dot}.{name}.{kind}{width} {r}17, [%rd3], {r}16; ld{dot}.b{width} {r}18, [%rd3];
      mul.wide.u32 %rd5, %r1, 16; add.s64 %rd5, %rd1, %rd5; st.global.b{width} [%rd5], {r}17; st.global.b{width} [%rd5+8], {r}18;"""
    module = f"{'.shared' if where == 's' else '.global'} .align 8 .b64 {where}[64];"
    out = run(body, threads=45, module=module, words=4 * 45).view(np.uint64).reshape(45, 2)
    mask = (1 << width) - 1
    for n in range(45):
        a = n * 0x9E3779B1 * 0x3C6EF372FE94F82B & ((1 << 64) - 1)
        b = a if n % 2 == 0 else a * 0x5851F42D4C957F2D
        a, b = a & mask, b & mask
        assert (int(out[n, 0]), int(out[n, 1])) == (a, ATOMICS[op](a, b, width) & mask), n


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("form", ["atom", "red"])
def test_all_lanes_add_to_few_places(run, form, space):
    module = f".{space} .align 4 .u32 x[4];"
    result = "%r9, " if form == "atom" else ""
    body = f"""
      setp.lt.u32 %p1, %r1, 4; shl.b32 %r3, %r1, 2; mov.u64 %rd3, x; cvt.u64.u32 %rd4, %r3; add.s64 %rd5, %rd3, %rd4;
      @%p1 st.{space}.u32 [%rd5], 0; bar.sync 0; rem.u32 %r4, %r1, 3; mul.wide.u32 %rd6, %r4, 4; add.s64 %rd6, %rd6, %rd3;
      {form}.{space}.add.u32 {result}[%rd6], %r1; setp.gt.u32 %p2, %r1, 90; @%p2 {form}.{space}.add.u32 {result}[%rd3+12], 5;
      bar.sync 0; @%p1 ld.{space}.u32 %r5, [%rd5]; @%p1 st.global.u32 [%rd2], %r5;"""
    out = run(body, threads=100, module=module)
    equal(out[:4], [sum(range(0, 100, 3)), sum(range(1, 100, 3)), sum(range(2, 100, 3)), 45])


@pytest.mark.parametrize("type", ["f32", "f64"])
def test_floats_are_added_by_all(run, type):
    width = int(type[1:])
    body = f"""
      setp.eq.u32 %p1, %r1, 0; mov.u64 %rd3, x; @%p1 st.global.b64 [%rd3], 0; bar.sync 0;
      cvt.rn.{type}.u32 %{type[0] if width == 32 else "d"}1, %r1; red.global.add.{type} [%rd3], %{"f" if width == 32 else "d"}1; bar.sync 0;
      ld.global.{type} %{"f" if width == 32 else "d"}2, [%rd3]; cvt.rzi.u32.{type} %r3, %{"f" if width == 32 else "d"}2; st.global.u32 [%rd2], %r3;"""
    equal(run(body, threads=64, module=".global .align 8 .b64 x;"), [64 * 63 // 2] * 64)


def test_compare_and_swap_loops_multiply(run):
    body = """
      mov.u64 %rd3, x; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd3], 1; bar.sync 0;
      ld.global.u32 %r3, [%rd3]; AGAIN: mad.lo.u32 %r4, %r3, 3, 1; atom.global.cas.b32 %r5, [%rd3], %r3, %r4;
      setp.ne.u32 %p2, %r5, %r3; mov.u32 %r3, %r5; @%p2 bra AGAIN; bar.sync 0; ld.global.u32 %r6, [%rd3]; st.global.u32 [%rd2], %r6;"""
    x = 1
    for _ in range(40):
        x = x * 3 + 1 & 0xFFFFFFFF
    equal(run(body, threads=40, module=".global .align 4 .u32 x;"), [x] * 40)


def test_special_registers(run):
    body = """
      mov.u32 %r3, %laneid; mov.u32 %r4, %lanemask_lt; mov.u32 %r5, %lanemask_ge; mov.u32 %r6, %nctaid.x; mov.u32 %r7, %warpid;
      popc.b32 %r8, %r4; popc.b32 %r9, %r5; shl.b32 %r8, %r8, 8; shl.b32 %r9, %r9, 16; shl.b32 %r6, %r6, 24; or.b32 %r3, %r3, %r8;
      or.b32 %r3, %r3, %r9; or.b32 %r3, %r3, %r6; add.u32 %r3, %r3, %r7; mov.u64 %rd3, %clock64; mov.u64 %rd4, %clock64;
      setp.lt.u64 %p1, %rd4, %rd3; @%p1 mov.u32 %r3, 0; st.global.u32 [%rd2], %r3;"""
    out = run(body, threads=(8, 6, 1), grid=2)
    equal(out, ((n % 32 | n % 32 << 8 | 32 - n % 32 << 16 | 2 << 24) + n // 32 for _ in range(2) for n in range(48)))
