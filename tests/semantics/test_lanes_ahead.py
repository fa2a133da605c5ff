"""Lanes that wait for others in a loop keep what they have, while those go round a loop outside and compute it again."""

import numpy as np
import pytest

from semantics.devices import DEVICES
from semantics.programs import Assign, Leave, Loop, Program, Scale, legal
from semantics.test_programs import check

ENDING = Leave(condition=("u", "eq", 0, ("v", 1)), how="exit")
INNER = Loop(trips=("v", 0), body=(Assign(op="add.u32", d=0, a=("v", 1), b=("v", 1)), ENDING))
PROGRAM = Program(legal((Scale(d=0, a=0), Loop(trips=("c", 1), body=(INNER,)))))

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry ahead(.param .u64 values) {
  .reg .b32 %lane, %v, %low, %outer, %now, %inner, %m, %n; .reg .b64 %at, %wide; .reg .pred %p, %q, %e;
  mov.u32 %lane, %tid.x; mul.wide.u32 %wide, %lane, 4;
  ld.param.u64 %at, [values]; add.s64 %at, %at, %wide;
  ld.global.u32 %v, [%at]; st.global.u32 [%at], 0;
  activemask.b32 %m;
  mov.u32 %outer, 3;
outside:
  setp.ne.u32 %p, %outer, 0;
  vote.sync.ballot.b32 %m, %p, %m;
  @!%p bra done;
  mov.u32 %now, %outer; sub.u32 %outer, %outer, 1;
  and.b32 %inner, %v, 7; mov.u32 %n, %m;
inside:
  setp.ne.u32 %q, %inner, 0;
  vote.sync.ballot.b32 %n, %q, %n;
  @!%q bra outside;
  sub.u32 %inner, %inner, 1;
  mad.lo.u32 %v, %now, 1001, %v;
  and.b32 %low, %v, 15; setp.eq.u32 %e, %low, 3;
  @%e exit;
  bra inside;
done:
  st.global.u32 [%at], %v;
  ret;
}
"""


def by_hand(v: int) -> int:
    """What a thread leaves: 0 if it ends in the middle."""
    for now in (3, 2, 1):
        for _ in range(v & 7):
            v = (v + now * 1001) & 0xFFFFFFFF
            if v & 15 == 3:
                return 0
    return v


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("threads", [32, 33, 64])
def test_lanes_that_wait_keep_their_values(device, threads):
    values = np.random.default_rng(5).integers(0, 1 << 32, threads, dtype=np.uint32)
    expected = np.array([by_hand(int(v)) for v in values], np.uint32)
    assert (expected == 0).any() and (expected != 0).any()
    DEVICES[device](TEXT, "ahead", 1, threads, [values])
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("threads", [32, 33, 64])
def test_lanes_wait_inside_a_loop_that_others_begin_again(device, threads):
    check(DEVICES[device], PROGRAM, (threads, 1, 1), 310, blocks=1)
