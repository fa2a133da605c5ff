"""Instructions that name lanes of their warp wait for them, wherever those come from; who never comes is told."""

import numpy as np
import pytest

from anywarp.devices.cpu.execute import KernelDeadlock, Program
from anywarp.diagnostics import AnywarpError
from semantics.devices import DEVICES, module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<40>; .reg .b64 %d<9>; .reg .pred %p<9>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; mov.u32 %r2, %laneid;
"""
TAIL = " st.global.u32 [%d1], %r9; ret; }"


@pytest.fixture(params=DEVICES)
def run(request):
    def run(body, threads=32, fill=0):
        out = np.full(threads, fill, np.uint32)
        DEVICES[request.param](HEAD + body + TAIL, "k", 1, threads, [out])
        return list(out)

    run.device = request.param
    return run


LATE = """
  setp.lt.u32 %p1, %r2, 16; mov.u32 %r3, 0; mov.u32 %r4, 0;
LOOP: add.u32 %r3, %r3, 1;
  @!%p1 bra MEET;                       // upper lanes arrive on the first trip, lower ones on the third
  setp.lt.u32 %p2, %r3, 3; @%p2 bra LOOP;
MEET: shfl.sync.bfly.b32 %r5, %r3, 16, 31, 0xffffffff;
  mad.lo.u32 %r9, %r5, 100, %r3;
"""


@pytest.mark.parametrize("threads", [32, 64, 96])
def test_a_shuffle_waits_for_lanes_that_go_round_a_loop(run, threads):
    assert run(LATE, threads) == [(100 + 3) if t % 32 < 16 else 301 for t in range(threads)]


THROUGH_THE_SAME = """
  mov.u32 %r3, 0; mov.u32 %r9, 0; and.b32 %r6, %r2, 3;
LOOP: add.u32 %r3, %r3, 1;
  setp.le.u32 %p1, %r3, %r6; @%p1 bra SKIP;     // lane l skips l % 4 times before it comes to vote
  vote.sync.ballot.b32 %r4, %p2, 0xffffffff; bar.warp.sync 0xffffffff;
  match.any.sync.b32 %r5, %r3, 0xffffffff;
  mov.u32 %r9, %r5; bra DONE;
SKIP: bra LOOP;
DONE:
"""


def test_lanes_of_different_trips_meet_with_what_each_has_counted(run):
    body = "setp.ne.u32 %p2, %r2, 0;" + THROUGH_THE_SAME
    assert run(body) == [sum(1 << n for n in range(32) if n % 4 == lane % 4) for lane in range(32)]


def test_masks_that_lanes_compute_for_themselves(run):
    body = """
      and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, 0x55555555; @!%p1 mov.u32 %r4, 0xaaaaaaaa;
      mov.u32 %r5, 0; shr.u32 %r6, %r2, 3;
    LOOP: add.u32 %r5, %r5, 1; setp.le.u32 %p2, %r5, %r6; @%p2 bra LOOP;
      redux.sync.add.u32 %r9, %r2, %r4;
    """
    sums = [sum(range(0, 32, 2)), sum(range(1, 32, 2))]
    assert run(body) == [sums[lane % 2] for lane in range(32)]


@pytest.mark.parametrize("threads", [1, 32, 33, 96])
def test_lanes_that_have_ended_are_not_waited_for(run, threads):
    body = """
      setp.gt.u32 %p1, %r2, 20; @%p1 exit; and.b32 %r3, %r2, 1; setp.eq.u32 %p2, %r3, 1;
      @%p2 bra MEET; setp.gt.u32 %p3, %r2, 9; @%p3 exit;
    MEET: vote.sync.ballot.b32 %r9, %p4, 0xffffffff;
    """
    body = "setp.lt.u32 %p4, %r2, 99;" + body
    found = run(body, threads)
    for t in range(threads):
        alive = [n for n in range(min(32, threads - t // 32 * 32)) if n <= 20 and (n % 2 or n <= 9)]
        assert found[t] == (sum(1 << n for n in alive) if t % 32 in alive else 0)


def test_two_halves_named_apart_do_not_wait_for_each_other(run):
    body = """
      setp.lt.u32 %p1, %r2, 16; @%p1 bra LOW;
      shfl.sync.idx.b32 %r9, %r2, 31, 31, 0xffff0000; bra DONE;
    LOW: shfl.sync.idx.b32 %r9, %r2, 3, 31, 0x0000ffff;
    DONE:
    """
    assert run(body) == [3] * 16 + [31] * 16


def test_members_and_barriers_of_the_block_together(run):
    """Lanes come apart to both kinds of barriers; barrier 1 is counted, so every lane has a state of its own."""
    body = """
      setp.lt.u32 %p1, %r2, 8; mov.u32 %r3, 0;
    LOOP: add.u32 %r3, %r3, 1; @!%p1 bra MEET; setp.lt.u32 %p2, %r3, 4; @%p2 bra LOOP;
    MEET: redux.sync.add.u32 %r9, %r3, 0xffffffff; barrier.sync 1, 64; redux.sync.max.u32 %r4, %r3, 0xffffffff; add.u32 %r9, %r9, %r4;
    """
    assert run(body, 64) == [8 * 4 + 24 + 4] * 64


IN_TURN = """
  mov.u32 %r3, 0; mov.u32 %r9, 0; and.b32 %r6, %r2, 1; mul.wide.u32 %d3, %r6, 0; mov.u64 %d4, %d1;
LOOP: add.u32 %r3, %r3, 1; add.u32 %r7, %r3, %r6; and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 1;
  @%p1 bra NEXT;                                   // even lanes vote on even trips, odd lanes on odd ones
  redux.sync.add.u32 %r5, %r3, 0xffffffff; mad.lo.u32 %r9, %r9, 7, %r5; add.u32 %r9, %r9, %r3;
NEXT: setp.lt.u32 %p2, %r3, 6; @%p2 bra LOOP;
"""


def test_lanes_that_wait_in_a_loop_keep_their_own_trip(run):
    wanted = [0, 0]
    for k in (1, 2, 3):
        for odd in (0, 1):
            wanted[odd] = wanted[odd] * 7 + 16 * (2 * k) + 16 * (2 * k - 1) + 2 * k - odd
    assert run(IN_TURN, 64) == [wanted[t % 2] for t in range(64)]


NEVER = "setp.lt.u32 %p1, %r2, 4; @%p1 bra W;\n bar.sync 0; bra E;\nW: bar.warp.sync 0xff;\nE: "


@pytest.mark.parametrize("barrier", ["bar.sync 0", "barrier.sync 1, 64"])
@pytest.mark.parametrize("device", ["cpu", "cpu, any block"])
def test_a_lane_that_never_comes_is_a_deadlock_that_names_the_line(device, barrier):
    body = NEVER.replace("bar.sync 0", barrier)
    line = (HEAD + body)[: (HEAD + body).index("bar.warp.sync")].count("\n") + 1
    with pytest.raises(KernelDeadlock, match=rf"(warp that never arrive.*line {line} )|(wait at barrier)"):
        module(HEAD + body + TAIL).run("k", 1, 64, [np.zeros(64, np.uint32)], any_shape=device != "cpu")


def test_two_waits_for_each_other_are_a_deadlock():
    body = """ setp.lt.u32 %p1, %r2, 16; @%p1 bra LOW;
      bar.warp.sync 0xffffffff; bra DONE;
    LOW: vote.sync.ballot.b32 %r9, %p1, 0xffffffff;
    DONE: """
    with pytest.raises(KernelDeadlock, match="never arrive"):
        Program(HEAD + body + TAIL).run("k", 1, 32, [np.zeros(32, np.uint32)])
    with pytest.raises(AnywarpError, match="D014"):
        DEVICES["reference"](HEAD + body + TAIL, "k", 1, 32, [np.zeros(32, np.uint32)])


AT_BOTH_SIDES = [
    "shfl.sync.bfly.b32 %r9, %r2, 1, 31, MASK;",
    "redux.sync.add.u32 %r9, %r2, MASK;",
    "match.any.sync.b32 %r9, %r2, MASK;",
]


@pytest.mark.parametrize("mask", ["0xffffffff", "%r8"])
@pytest.mark.parametrize("what", AT_BOTH_SIDES)
@pytest.mark.parametrize("device", ["cpu", "cpu, any block"])
def test_an_instruction_in_a_branch_and_one_where_the_ways_meet_again_do_not_meet_and_that_is_told(device, what, mask):
    """Lanes that wait for each other so do it for ever on `cpu`, which is an error with the line, never a value; in two branches they meet."""
    code = what.replace("MASK", mask)
    body = f" setp.lt.u32 %p1, %r2, 16; mov.u32 %r8, -1; @%p1 bra LOW;\n bra DONE;\nLOW: {code}\nDONE: {code}"
    lines = [i for i, line in enumerate((HEAD + body).splitlines(), 1) if ".sync." in line]
    with pytest.raises(KernelDeadlock, match=rf"never arrive.*line ({'|'.join(map(str, lines))})\b"):
        module(HEAD + body + TAIL).run("k", 1, 64, [np.zeros(64, np.uint32)], any_shape=device != "cpu")


@pytest.mark.parametrize("low", [0, 99])
def test_who_waits_in_vain_at_one_of_several_that_meet_is_told_which(low):
    body = """
      ld.global.u32 %r3, [%d1]; setp.lt.u32 %p1, %r2, 16; setp.lt.u32 %p2, %r2, %r3; @!%p1 bra REST;
      vote.sync.ballot.b32 %r9, %p1, 0xffffffff;
    REST: @%p2 bra LOW;
      redux.sync.add.u32 %r9, %r3, 0xffffffff; // 0
      bra DONE;
    LOW: redux.sync.add.u32 %r9, %r2, 0xffffffff; // 99
    DONE: """
    (line,) = (i for i, line in enumerate((HEAD + body).splitlines(), 1) if line.endswith(f"// {low}"))
    with pytest.raises(KernelDeadlock, match=rf"never arrive.*line {line} "):
        module(HEAD + body + TAIL).run("k", 1, 32, [np.full(32, low, np.uint32)])


def test_the_reference_lets_lanes_meet_wherever_they_are():
    """Lanes from 16 on are there, and end; then the others come to the same instruction without them."""
    code, wanted = "redux.sync.add.u32 %r9, %r2, -1;", [sum(range(16))] * 16 + [sum(range(32))] * 16
    out = np.zeros(64, np.uint32)
    body = f" setp.lt.u32 %p1, %r2, 16; @!%p1 bra DONE; {code} DONE: {code}"
    DEVICES["reference"](HEAD + body + TAIL, "k", 1, 64, [out])
    assert list(out) == wanted * 2


PRODUCER = """.shared .b32 box[4];
  shr.u32 %r3, %r1, 5; setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, 0; mov.u32 %r9, 0;
LOOP: @%p1 bra MAKE;
  barrier.sync 1, 64; ld.shared.u32 %r5, [box]; add.u32 %r9, %r9, %r5; barrier.arrive 2, 64; bra NEXT;
MAKE: setp.eq.u32 %p2, %r2, 0; add.u32 %r6, %r4, 10; @%p2 st.shared.u32 [box], %r6; barrier.arrive 1, 64; barrier.sync 2, 64;
NEXT: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 5; @%p3 bra LOOP;
"""


def test_producer_and_consumer_warps_arrive_and_wait_in_turn(run):
    assert run(PRODUCER, 64) == [0] * 32 + [10 + 11 + 12 + 13 + 14] * 32


def test_warps_meet_at_one_named_barrier_from_different_places(run):
    body = """.shared .b32 box[96];
      shl.b32 %r7, %r1, 2; mov.u32 %r8, box; add.u32 %r7, %r7, %r8; st.shared.u32 [%r7], %r1;
      shr.u32 %r3, %r1, 5; setp.eq.u32 %p1, %r3, 1; @%p1 bra B; setp.eq.u32 %p2, %r3, 2; @%p2 bra C;
      barrier.sync 3, 96; bra D;
    B: barrier.sync 3, 96; bra D;
    C: barrier.sync.aligned 3, 96;
    D: add.u32 %r4, %r1, 37; rem.u32 %r4, %r4, 96; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r8; ld.shared.u32 %r9, [%r4];
    """
    assert run(body, 96) == [(t + 37) % 96 for t in range(96)]


def test_many_rounds_of_named_barriers_are_no_waiting_for_other_blocks(run):
    """A block that only waits for itself goes through as many barriers as it likes and never begins anew."""
    assert run(PRODUCER.replace("%r4, 5;", "%r4, 100;"), 64) == [0] * 32 + [sum(range(10, 110))] * 32


def test_counted_reductions_over_some_warps(run):
    body = """ shr.u32 %r3, %r1, 5; setp.eq.u32 %p1, %r3, 1; and.b32 %r4, %r1, 3; setp.eq.u32 %p2, %r4, 0; mov.u32 %r9, 7;
      @%p1 bra E; barrier.red.popc.u32 %r9, 4, 64, %p2;
    E: """
    assert run(body, 96) == [16] * 32 + [7] * 32 + [16] * 32


def test_lanes_at_one_instruction_that_name_each_other_for_different_trips(run):
    """When all are at the ballot in the loop, lane 3 is there with the mask that lanes 11 and 19 will come with once they have met 27."""
    body = """
      mov.u32 %r3, 0; mov.u32 %r9, 0; setp.eq.u32 %p1, %r2, 3; setp.eq.u32 %p2, %r2, 27; and.b32 %r6, %r2, 7;
      setp.ne.u32 %p3, %r6, 3; @%p3 exit; setp.lt.u32 %p4, %r2, 99;
    LOOP: add.u32 %r3, %r3, 1; setp.eq.u32 %p5, %r3, 1;
      selp.u32 %r7, 0x08080800, 0x00080808, %p5;                          // lanes 11, 19 and 27, then 3, 11 and 19
      @%p1 selp.u32 %r7, 0x00000008, 0x00080808, %p5; @%p2 selp.u32 %r7, 0x08080800, 0x08000000, %p5;
      vote.sync.ballot.b32 %r4, %p4, %r7; mad.lo.u32 %r9, %r9, 3, %r4; setp.lt.u32 %p6, %r3, 2; @%p6 bra LOOP;
    """
    together = {3: (0x8, 0x80808), 11: (0x8080800, 0x80808), 19: (0x8080800, 0x80808), 27: (0x8080800, 0x8000000)}
    found = [together.get(t % 32, (0, 0)) for t in range(64)]
    assert run(body, 64) == [3 * a + b for a, b in found]


CHAIN = """
  mov.u32 %r3, 0; mov.u32 %r9, 0; and.b32 %r6, %r2, 1; setp.eq.u32 %p1, %r6, 1; mov.u32 %r10, 0xfffffff0; shl.b32 %r10, 1, %r2;
LOOP: add.u32 %r3, %r3, 1; add.u32 %r8, %r3, %r6;           // odd lanes come with 2, 3, 4, 5, even ones with 1 (alone), 2, 3, 4
  setp.eq.u32 %p3, %r8, 1; selp.u32 %r7, %r10, 0xffffffff, %p3; setp.eq.u32 %p3, %r8, 5; selp.u32 %r7, %r10, %r7, %p3;
  setp.lt.u32 %p4, %r3, 3; redux.sync.add.u32 %r4, %r8, %r7; mad.lo.u32 %r9, %r9, 7, %r4; xor.b32 %r5, %r4, %r2;
  setp.eq.u32 %p5, %r5, 0x7fffffff; @%p5 bra OUT; setp.lt.u32 %p2, %r3, 4; @%p2 bra LOOP;
OUT:
"""


def test_lanes_come_together_and_some_name_others_for_their_next_trip(run):
    """Even lanes are alone on their first trip, odd ones on their last: between, each meets those at another trip."""
    want = {0: [1, 64, 96, 128], 1: [64, 96, 128, 5]}
    expected = []
    for lane in range(64):
        value = 0
        for met in want[lane % 2]:
            value = value * 7 + met
        expected.append(value)
    assert run(CHAIN, 64) == expected


# `bar.warp.sync` waits for the threads of the mask to execute one with the same mask, which from sm_70 on may be another one (PTX manual).
SIDES = """.shared .b32 box[96];
  shl.b32 %r7, %r1, 2; mov.u32 %r8, box; add.u32 %r7, %r7, %r8; xor.b32 %r6, %r7, 64; mov.u32 %r9, 0; mad.lo.u32 %r5, %r1, 7, 3;
  mov.u32 %r3, 0; setp.lt.u32 %p1, %r2, 16;
LOOP: @%p1 bra LOW;
  st.shared.u32 [%r7], %r5; bar.warp.sync MASK; ld.shared.u32 %r4, [%r6]; bar.warp.sync MASK; sub.u32 %r9, %r4, %r9; bra NEXT;
LOW: st.shared.u32 [%r7], %r5; bar.warp.sync MASK; ld.shared.u32 %r4, [%r6]; bar.warp.sync MASK; mad.lo.u32 %r9, %r9, 5, %r4;
NEXT: add.u32 %r5, %r5, 11; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, TRIPS; @%p2 bra LOOP;
"""


@pytest.mark.parametrize("trips", ["1", "3", "%r10"])
@pytest.mark.parametrize("mask", ["0xffffffff", "%r11"])
def test_barriers_of_the_warp_at_different_places_are_one(run, mask, trips):
    """The halves of a warp exchange values from two branches; by masks of four lanes those also at trips of their own."""
    body = "and.b32 %r10, %r2, 3; add.u32 %r10, %r10, 2; mov.u32 %r11, 0x00010001; and.b32 %r12, %r2, 15; shl.b32 %r11, %r11, %r12;"
    if trips == "%r10" and mask != "%r11":
        body += "mov.u32 %r10, 2;"
    found = run(body + SIDES.replace("MASK", mask).replace("TRIPS", trips), 96)
    for t in range(96):
        count = int(trips) if trips.isdigit() else 2 if mask != "%r11" else t % 4 + 2
        value = 0
        for trip in range(count):
            other = (t ^ 16) * 7 + 3 + 11 * trip
            value = value * 5 + other if t % 32 < 16 else other - value
        assert found[t] == value & 0xFFFFFFFF, t


def test_a_barrier_of_the_warp_in_a_branch_and_one_in_a_function(run):
    """Lane 0 hands on what it finds, the others wait elsewhere; all of them meet again at a third barrier."""
    body = """.shared .b32 box[4];
      shr.u32 %r7, %r1, 5; shl.b32 %r7, %r7, 2; mov.u32 %r8, box; add.u32 %r7, %r7, %r8; setp.eq.u32 %p1, %r2, 0; @%p1 bra FIRST;
      setp.lt.u32 %p2, %r2, 9; @%p2 bra FEW;
      bar.warp.sync -1; bra ALL;
    FEW: bar.warp.sync -1; bar.warp.sync 0x1fe; bra ALL;
    FIRST: add.u32 %r4, %r1, 40; st.shared.u32 [%r7], %r4; bar.warp.sync -1;
    ALL: ld.shared.u32 %r9, [%r7]; bar.warp.sync -1; @%p1 st.shared.u32 [%r7], %r2; bar.warp.sync -1; ld.shared.u32 %r5, [%r7]; add.u32 %r9, %r9, %r5;
    """
    assert run(body, 96) == [t // 32 * 32 + 40 for t in range(96)]


def test_a_lane_waits_for_the_end_of_one_that_is_beside_it_and_does_not_name_it(run):
    """Even lanes name all, odd ones only themselves, at one vote: the even ones go on when the odd ones have ended."""
    body = """
      and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 1; mov.u32 %r4, 0xffffffff; mov.u32 %r9, 0; ld.global.u32 %r6, [%d1];
      HERE setp.eq.u32 %p3, %r6, 99999; @%p3 exit;
      vote.sync.ballot.b32 %r9, %p2, %r4;
    """
    for masks in ("shl.b32 %r5, 1, %r2; @%p1 mov.u32 %r4, %r5;", "ld.global.u32 %r4, [%d1];"):
        out = np.array([1 << t % 32 if t % 2 else 0xFFFFFFFF for t in range(64)], np.uint32)
        given = out if "ld" in masks else np.zeros(64, np.uint32)
        setup = "setp.lt.u32 %p2, %r2, 99;"
        DEVICES[run.device](HEAD + setup + body.replace("HERE", masks) + TAIL, "k", 1, 64, [given])
        assert list(given) == [1 << t % 32 if t % 2 else 0x55555555 for t in range(64)]
