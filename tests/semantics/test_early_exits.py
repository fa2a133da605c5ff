"""Lanes that wait in a `.sync` instruction are let go when the lanes they wait for have ended, whatever way those took out.

The manual (`shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `bar.warp.sync`) waits for the threads of the member mask that have not
exited, so a mask may name lanes that leave early.
"""

import numpy as np
import pytest

from semantics.devices import DEVICES, run_in_pairs

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n) {
  .reg .b32 %r<40>; .reg .b64 %d<12>; .reg .pred %p<12>; .shared .b32 room[256];
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r3, [n];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %laneid; mov.u32 %r2, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r2, %r2, %r4, %r0;                      // the thread's number in the grid
  mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  ld.global.u32 %r5, [%d2]; mov.u32 %r9, 0; setp.lt.u32 %p1, %r2, %r3;
"""
STORE = " st.global.u32 [%d1], %r9;"
DATA = (np.arange(2048, dtype=np.uint32) * np.uint32(2654435761)) >> np.uint32(5)
UNTOUCHED = 0xDEAD


@pytest.fixture(params=[*DEVICES, "cpu, pairs of warps"])
def run(request):
    device = {**DEVICES, "cpu, pairs of warps": run_in_pairs}[request.param]

    def run(body, threads=32, n=0, blocks=1, functions=""):
        out = np.full(threads * blocks, UNTOUCHED, np.uint32)
        text = HEAD.replace(".visible", functions + ".visible", 1) + body + "}"
        device(text, "k", blocks, threads, [out, DATA[: threads * blocks].copy(), np.uint32(n)])
        return out.astype(np.int64)

    return run


def warps_of(threads):
    return [range(first, min(first + 32, threads)) for first in range(0, threads, 32)]


# Each leaves its result in %r9; what it gives where lanes `here` (in-range numbers in the grid) take part, lane by lane.
def _shuffled(here):
    return {t: int(DATA[t ^ 1 if t ^ 1 in here else t]) if t ^ 1 in here else None for t in here}


INSTRUCTIONS = {
    "shfl": ("shfl.sync.bfly.b32 %r9, %r5, 1, 31, MASK;", _shuffled),
    "shfl idx": ("shfl.sync.idx.b32 %r9, %r5, 0, 31, MASK;", lambda here: {t: int(DATA[t & ~31]) for t in here}),
    "ballot": (
        "and.b32 %r10, %r5, 1; setp.ne.u32 %p9, %r10, 0; vote.sync.ballot.b32 %r9, %p9, MASK;",
        lambda here: {t: sum(1 << k % 32 for k in here if DATA[k] & 1) for t in here},
    ),
    "all": (
        "setp.ne.u32 %p9, %r1, 33; vote.sync.all.pred %p9, %p9, MASK; selp.u32 %r9, 7, 5, %p9;",
        lambda here: dict.fromkeys(here, 7),
    ),
    "any": (
        "setp.eq.u32 %p9, %r1, 2; vote.sync.any.pred %p9, %p9, MASK; selp.u32 %r9, 7, 5, %p9;",
        lambda here: dict.fromkeys(here, 7 if any(k % 32 == 2 for k in here) else 5),
    ),
    "match": (
        "and.b32 %r10, %r5, 3; match.any.sync.b32 %r9, %r10, MASK;",
        lambda here: {t: sum(1 << k % 32 for k in here if DATA[k] & 3 == DATA[t] & 3) for t in here},
    ),
    "match all": (
        "match.all.sync.b32 %r10|%p9, %r3, MASK; selp.u32 %r9, %r10, 1, %p9;",
        lambda here: dict.fromkeys(here, sum(1 << k % 32 for k in here)),
    ),
    "redux": (
        "redux.sync.add.u32 %r9, %r5, MASK;",
        lambda here: dict.fromkeys(here, sum(int(DATA[k]) for k in here) & 0xFFFFFFFF),
    ),
    "redux max": (
        "redux.sync.max.u32 %r9, %r5, MASK;",
        lambda here: dict.fromkeys(here, max(int(DATA[k]) for k in here)),
    ),
    "elect": (  # who is elected is open (PTX manual): one of those that are there, and each is told the same
        "elect.sync %r10|%p9, MASK; vote.sync.ballot.b32 %r9, %p9, MASK; shl.b32 %r10, 1, %r10; setp.eq.u32 %p9, %r10, %r9;"
        "vote.sync.all.pred %p9, %p9, MASK; popc.b32 %r9, %r9; selp.u32 %r9, %r9, 99, %p9;",
        lambda here: dict.fromkeys(here, 1),
    ),
    "bar.warp": ("bar.warp.sync MASK; mov.u32 %r9, 3;", lambda here: dict.fromkeys(here, 3)),
}


def expected(threads, blocks, comes, what, otherwise):
    """`comes`: which threads (by number in the grid) execute the instruction; None where the manual leaves the value open."""
    out = {}
    for block in range(blocks):
        for warp in warps_of(threads):
            here = [block * threads + t for t in warp if comes(block * threads + t)]
            given = what(here) if here else {}
            out |= {block * threads + t: given.get(block * threads + t, otherwise) for t in warp}
    return out


def agree(found, wanted):
    assert {t: int(found[t]) for t, w in wanted.items() if w is not None} == {
        t: w for t, w in wanted.items() if w is not None
    }


@pytest.mark.parametrize("what", INSTRUCTIONS)
def test_early_return_before(run, what):
    """if (t >= n) return; r = f.sync(); out[t] = r;  with a common `ret` as compilers write it."""
    code, gives = INSTRUCTIONS[what]
    body = f"@!%p1 bra RET; {code.replace('MASK', '-1')} {STORE} RET: ret;"
    agree(run(body, 256, 1000, 4), expected(256, 4, lambda t: t < 1000, gives, UNTOUCHED))


@pytest.mark.parametrize("what", INSTRUCTIONS)
def test_some_lanes_skip_it(run, what):
    """if (t < n) r = f.sync(); out[t] = r;  the others reach the end of the kernel first."""
    code, gives = INSTRUCTIONS[what]
    body = f"@!%p1 bra JOIN; {code.replace('MASK', '-1')} JOIN: {STORE} ret;"
    for threads, n in ((32, 31), (96, 75), (40, 37), (64, 1), (256, 161)):
        agree(run(body, threads, n), expected(threads, 1, lambda t, n=n: t < n, gives, 0))


@pytest.mark.parametrize("what", INSTRUCTIONS)
def test_the_first_lane_skips_it(run, what):
    """if (lane != 0) { f.sync(); } out[lane] = r."""
    code, gives = INSTRUCTIONS[what]
    body = f"setp.eq.u32 %p2, %r1, 0; mov.u32 %r9, 9; @%p2 bra JOIN; {code.replace('MASK', '-1')} JOIN: {STORE} ret;"
    if what == "shfl idx":  # lane 0 is the source
        return
    for threads in (32, 64, 50, 256):
        agree(run(body, threads), expected(threads, 1, lambda t: t % 32, gives, 9))


@pytest.mark.parametrize("threads", [32, 64, 256])
@pytest.mark.parametrize("n", [40, 33, 96, 7])
def test_lanes_leave_a_loop_with_a_shuffle_in_it(run, threads, n):
    """for (i = lane; i < n; i += 32) s += shfl_xor(i, 1) * in[..]; out = s."""
    body = f"""
      mov.u32 %r10, %r1;
    LOOP: setp.ge.u32 %p2, %r10, {n}; @%p2 bra DONE;
      add.u32 %r13, %r10, %r5; shfl.sync.bfly.b32 %r11, %r13, 1, 31, -1; add.u32 %r12, %r10, 1; mad.lo.u32 %r9, %r11, %r12, %r9;
      add.u32 %r10, %r10, 32; bra LOOP;
    DONE: {STORE} ret;"""
    found = run(body, threads)
    for t in range(threads):
        lane = t % 32
        s = 0
        for i in range(lane, n, 32):
            if (i ^ 1) >= n:
                s = None  # reads a lane that has left
                break
            s = (s + ((i ^ 1) + int(DATA[t ^ 1])) * (i + 1)) & 0xFFFFFFFF
        assert s is None or found[t] == s, t
    assert (found != UNTOUCHED).all()


@pytest.mark.parametrize("group", [4, 8, 16, 32])
def test_groups_of_lanes_leave_a_loop_at_their_own_trips(run, group):
    """Each group names itself only; some lanes of it have ended before, others leave the loop early and store."""
    body = f"""
      and.b32 %r10, %r1, {32 - group & 31}; mov.u32 %r11, {(1 << group) - 1}; shl.b32 %r11, %r11, %r10;
      mul.lo.u32 %r12, %r1, 5; and.b32 %r12, %r12, 7; mov.u32 %r13, 0; setp.eq.u32 %p3, %r12, 7; @%p3 bra RET;
    LOOP: setp.ge.u32 %p2, %r13, %r12; @%p2 bra DONE;
      add.u32 %r14, %r5, %r13; redux.sync.add.u32 %r15, %r14, %r11; mad.lo.u32 %r9, %r9, 3, %r15; add.u32 %r13, %r13, 1; bra LOOP;
    DONE: {STORE} RET: ret;"""
    for threads in (32, 64, 80, 256):
        found = run(body, threads)
        for t in range(threads):
            trips = (t % 32) * 5 & 7
            s = 0
            for i in range(trips):
                first = t - t % 32 % group
                here = [k for k in range(first, min(first + group, threads)) if i < (k % 32) * 5 & 7 < 7]
                s = (s * 3 + sum(int(DATA[k]) + i for k in here)) & 0xFFFFFFFF
            assert found[t] == (UNTOUCHED if trips == 7 else s), (threads, t)


def test_two_waits_one_after_the_other(run):
    """Lane 3 skips both; lane 5 only the second; what has been counted is kept by each."""
    body = f"""
      setp.eq.u32 %p2, %r1, 3; @%p2 bra JOIN; redux.sync.add.u32 %r9, %r5, -1; add.u32 %r9, %r9, %r1;
      setp.eq.u32 %p3, %r1, 5; @%p3 bra JOIN; redux.sync.max.u32 %r10, %r9, -1; xor.b32 %r9, %r9, %r10;
    JOIN: {STORE} ret;"""
    found = run(body, 64)
    for warp in warps_of(64):
        first = {t: (sum(int(DATA[k]) for k in warp if k % 32 != 3) + t % 32) & 0xFFFFFFFF for t in warp if t % 32 != 3}
        most = max(v for t, v in first.items() if t % 32 != 5)
        for t in warp:
            assert found[t] == (0 if t % 32 == 3 else first[t] if t % 32 == 5 else first[t] ^ most)


def test_a_lane_ends_behind_the_join_and_others_go_on_to_a_barrier(run):
    """if (lane < 4) { __syncwarp(0x1f); a } m = f(...); if (lane == 4) return; __syncthreads(); out = ..."""
    body = f"""
      setp.ge.u32 %p2, %r1, 4; mov.u32 %r10, 1; @%p2 bra JOIN; bar.warp.sync 0x1f; mov.u32 %r10, 2;
    JOIN: shl.b32 %r11, %r0, 2; mov.u32 %r12, room; add.u32 %r11, %r11, %r12; mad.lo.u32 %r13, %r5, 3, %r10; st.shared.u32 [%r11], %r13;
      setp.eq.u32 %p3, %r1, 4; @%p3 bra RET; mul.lo.u32 %r15, %r3, 11; bar.sync 0;
      xor.b32 %r14, %r0, 8; shl.b32 %r14, %r14, 2; add.u32 %r14, %r14, %r12; ld.shared.u32 %r9, [%r14]; add.u32 %r9, %r9, %r15; add.u32 %r9, %r9, %r10;
      {STORE} RET: ret;"""
    for threads in (32, 64, 256):
        found = run(body, threads, 13)
        for t in range(threads):
            own, other = (2 if t % 32 < 4 else 1), (2 if (t ^ 8) % 32 < 4 else 1)
            want = (int(DATA[t ^ 8]) * 3 + other + 143 + own) & 0xFFFFFFFF
            assert found[t] == (UNTOUCHED if t % 32 == 4 else want), (threads, t)


def test_a_vote_counted_by_lanes_that_pass_a_join_at_their_own_times(run):
    """The lanes that run ahead vote among themselves and keep their result across a barrier."""
    body = f"""
      setp.ge.u32 %p2, %r1, 4; mov.u32 %r10, 0xffffffe0; @%p2 bra JOIN; bar.warp.sync 0x1f; mov.u32 %r10, 0x0000000f;
    JOIN: setp.eq.u32 %p3, %r1, 4; @%p3 bra RET; and.b32 %r11, %r5, 1; setp.ne.u32 %p4, %r11, 0; vote.sync.ballot.b32 %r12, %p4, %r10;
      vote.sync.any.pred %p5, %p4, %r10; mov.u32 %r13, 100; @%p5 bra ODD; mov.u32 %r13, 200; ODD: bar.sync 0; add.u32 %r9, %r12, %r13;
      {STORE} RET: ret;"""
    for threads in (32, 64, 256):
        found = run(body, threads)
        for t in range(threads):
            first, lane = t - t % 32, t % 32
            group = range(first, first + 4) if lane < 4 else range(first + 5, first + 32)
            votes = sum(1 << k % 32 for k in group if DATA[k] & 1)
            want = (votes + (100 if votes else 200)) & 0xFFFFFFFF
            assert found[t] == (UNTOUCHED if lane == 4 else want), (threads, t)


def test_nested_loops_with_breaks_continues_and_returns(run):
    """Rows of a matrix by lane: an inner loop left by `break`, an outer one restarted by `continue`, some lanes return inside."""
    body = f"""
      mov.u32 %r10, 0; and.b32 %r16, %r1, 3;
    OUTER: setp.eq.u32 %p2, %r10, 4; @%p2 bra DONE; mov.u32 %r11, 0;
    INNER: add.u32 %r12, %r10, %r11; setp.gt.u32 %p3, %r12, %r16; @%p3 bra NEXT;      // break
      add.u32 %r13, %r10, 20; setp.eq.u32 %p4, %r1, %r13; @%p4 bra RET;               // return: lane 20 at once, 21 in trip 1, ...
      mov.u32 %r14, 0x11111111; shl.b32 %r14, %r14, %r16;                             // lanes with the same lane % 4
      redux.sync.add.u32 %r15, %r5, %r14; mad.lo.u32 %r9, %r9, 7, %r15; add.u32 %r9, %r9, %r12;
      add.u32 %r11, %r11, 1; bra INNER;
    NEXT: add.u32 %r10, %r10, 1; bra OUTER;
    DONE: {STORE} RET: ret;"""
    for threads in (32, 64, 200, 256):
        found = run(body, threads)
        for first in range(0, threads, 32):
            for c in range(4):
                lanes = [first + n for n in range(c, 32, 4) if first + n < threads]
                live, value = list(lanes), dict.fromkeys(lanes, 0)
                for i in range(4):
                    for j in range(4):
                        if i + j > c:
                            break
                        live = [t for t in live if t % 32 != i + 20]
                        total = sum(int(DATA[t]) for t in live)
                        for t in live:
                            value[t] = (value[t] * 7 + total + i + j) & 0xFFFFFFFF
                for t in lanes:
                    assert found[t] == (value[t] if t in live else UNTOUCHED), (threads, t)


FUNCTION = """.func (.param .b32 result) f(.param .b32 x, .param .b32 lane) {
  .reg .b32 %q<9>; .reg .pred %s<4>;
  ld.param.b32 %q1, [x]; ld.param.b32 %q2, [lane]; mov.u32 %q3, 77; st.param.b32 [result], %q3; setp.gt.u32 %s1, %q2, 20; HOW
  redux.sync.add.u32 %q3, %q1, MASK; st.param.b32 [result], %q3;
BACK: ret; }
"""


@pytest.mark.parametrize("how", ["@%s1 bra BACK;", "@%s1 ret;"])
@pytest.mark.parametrize("real", [False, True])
def test_returns_inside_a_function(run, how, real):
    """Lanes that return from the function wait for nobody; the kernel ends with them, and only then do the others go on."""
    function = FUNCTION.replace("HOW", how).replace("MASK", "-1")
    call = "call.uni (got), f, (x, l);"
    if real:
        call = "mov.u64 %d7, f; call (got), %d7, (x, l), PROTO;"
    body = f"""PROTO: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
      {{ .param .b32 got; .param .b32 x; .param .b32 l; st.param.b32 [x], %r5; st.param.b32 [l], %r1; {call} ld.param.b32 %r9, [got]; }}
      add.u32 %r9, %r9, %r0; {STORE} ret;"""
    for threads in (32, 64, 70):
        found = run(body, threads, functions=function)
        for warp in warps_of(threads):
            total = sum(int(DATA[t]) for t in warp if t % 32 <= 20)
            for t in warp:
                assert found[t] == ((total if t % 32 <= 20 else 77) + t) & 0xFFFFFFFF, (threads, t)


def test_a_wait_for_a_lane_that_spins_on_the_others_shared_memory(run):
    """Barriers, early ends and waits in turn: warps of different lengths of life, all of them in one block."""
    body = f"""
      shr.u32 %r10, %r0, 5; add.u32 %r11, %r10, 3; shl.b32 %r12, %r0, 2; mov.u32 %r13, room; add.u32 %r12, %r12, %r13;
      st.shared.u32 [%r12], %r5; bar.sync 0; setp.lt.u32 %p2, %r1, %r11; @!%p2 bra RET;   // lanes 0 to warp+2 stay
      xor.b32 %r14, %r12, 4; ld.shared.u32 %r15, [%r14]; setp.eq.u32 %p3, %r1, 1; @%p3 bra STORE;
      redux.sync.add.u32 %r9, %r15, -1; setp.eq.u32 %p4, %r1, 0; @!%p4 bra STORE; bar.warp.sync -1; add.u32 %r9, %r9, 1;
    STORE: {STORE} RET: ret;"""
    for threads in (32, 64, 256):
        found = run(body, threads)
        for t in range(threads):
            stays = t // 32 + 3
            total = sum(int(DATA[(t - t % 32 + n) ^ 1]) for n in range(stays) if n != 1)
            want = 0 if t % 32 == 1 else total + (t % 32 == 0)
            assert found[t] == (want & 0xFFFFFFFF if t % 32 < stays else UNTOUCHED), (threads, t)
