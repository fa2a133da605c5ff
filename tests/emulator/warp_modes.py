"""Kernels whose warps wait for each other, and what they leave: with two warps in a wave some of them hang or go wrong."""

from __future__ import annotations

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
START = """
.visible .entry {name}(.param .u64 out)
{{
  .shared .align 16 .b8 room[4096];
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31;
  mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
  mov.u32 %r4, room;
"""


def kernel(name, body):
    return HEAD + START.format(name=name) + body + "\n  ret;\n}\n"


LOCK = kernel(
    "k",
    """
  setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.v2.u32 [%r4], {0, 0};
  bar.sync 0;
  setp.ne.u32 %p2, %r3, 0; @%p2 bra END;        // the first lane of each warp takes the lock
TRY:
  atom.shared.cas.b32 %r5, [%r4], 0, 1;
  setp.ne.u32 %p3, %r5, 0; @%p3 bra TRY;
  ld.volatile.shared.u32 %r6, [%r4+4]; add.u32 %r6, %r6, 1; st.volatile.shared.u32 [%r4+4], %r6;
  st.global.u32 [%d3], %r6;
  membar.cta;
  atom.shared.exch.b32 %r7, [%r4], 0;
END:""",
)
"""One lane of each warp takes a lock: the warps wait for each other. Each leaves how many had it so far."""

APART = kernel(
    "k",
    """
  add.u32 %r5, %r1, 1; mul.wide.u32 %d4, %r1, 4; cvt.u32.u64 %r6, %d4; add.u32 %r6, %r6, %r4;
  and.b32 %r7, %r2, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra EVEN;
  st.shared.u32 [%r6], %r5;
  bar.sync 0;
  xor.b32 %r8, %r6, 128; ld.shared.u32 %r9, [%r8]; st.global.u32 [%d3], %r9;
  bra.uni DONE;
EVEN:
  mul.lo.u32 %r5, %r5, 3; st.shared.u32 [%r6], %r5;
  bar.sync 0;
  xor.b32 %r8, %r6, 128; ld.shared.u32 %r9, [%r8]; add.u32 %r9, %r9, 1000; st.global.u32 [%d3], %r9;
DONE:""",
)
"""Odd and even warps meet at the barrier 0 in different places, and each reads what the other has left."""

NAMED = kernel(
    "k",
    """
  mul.wide.u32 %d4, %r1, 4; cvt.u32.u64 %r6, %d4; add.u32 %r6, %r6, %r4;
  st.shared.u32 [%r6], %r1;
  setp.eq.u32 %p1, %r2, 0; @%p1 bra PRODUCE;
  setp.ge.u32 %p2, %r2, 2; @%p2 bra DONE;
  bar.sync 1, 64;
  xor.b32 %r8, %r6, 128; ld.shared.u32 %r9, [%r8]; st.global.u32 [%d3], %r9;
  bra.uni DONE;
PRODUCE:
  add.u32 %r10, %r1, 500; st.shared.u32 [%r6], %r10;
  bar.arrive 1, 64;
DONE:""",
)
"""The first warp hands over to the second at a barrier of 64 threads, at which it does not wait."""

EARLY = kernel(
    "k",
    """
  setp.ge.u32 %p1, %r1, 50; @%p1 bra OUT;
  mul.wide.u32 %d4, %r1, 4; cvt.u32.u64 %r6, %d4; add.u32 %r6, %r6, %r4;
  st.shared.u32 [%r6], %r1;
  bar.sync 0;
  sub.u32 %r7, 49, %r1; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r4; ld.shared.u32 %r9, [%r7]; st.global.u32 [%d3], %r9;
OUT:""",
)
"""Threads that have nothing to do leave before a barrier."""

WHOLE = kernel(
    "k",
    """
  mul.wide.u32 %d4, %r1, 4; cvt.u32.u64 %r6, %d4; add.u32 %r6, %r6, %r4;
  st.shared.u32 [%r6], %r1;
  shr.u32 %r7, %r1, 6; setp.ne.u32 %p1, %r7, 0; @%p1 bra SECOND;
  bar.sync 1, 64;
  xor.b32 %r8, %r6, 252; ld.shared.u32 %r9, [%r8]; st.global.u32 [%d3], %r9;
  bra.uni DONE;
SECOND:
  bar.sync 2, 64;
  xor.b32 %r8, %r6, 252; ld.shared.u32 %r9, [%r8]; add.u32 %r9, %r9, 7; st.global.u32 [%d3], %r9;
DONE:""",
)
"""Each pair of warps has a barrier of its own."""


_CLEAR = "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.v4.u32 [%r4], {0, 0, 0, 0}; bar.sync 0;"
_COUNT = """
  ld.volatile.shared.u32 %r6, [%r4+4]; add.u32 %r6, %r6, 1; st.volatile.shared.u32 [%r4+4], %r6; st.global.u32 [%d3], %r6;
  membar.cta;"""

SAFE = kernel(
    "k",
    f"""
  {_CLEAR}
  mov.u32 %r8, 0;
AGAIN:
  setp.ne.u32 %p2, %r8, 0; @%p2 bra END;
  atom.shared.cas.b32 %r5, [%r4], 0, 1;
  setp.ne.u32 %p3, %r5, 0; @%p3 bra AGAIN;
  {_COUNT}
  atom.shared.exch.b32 %r7, [%r4], 0;
  mov.u32 %r8, 1; bra.uni AGAIN;
END:""",
)
"""Every lane takes one lock, and gives it back in the trip in which it got it. Each leaves how many had it so far."""

SPIN = kernel(
    "k",
    f"""
  {_CLEAR}
TRY:
  atom.shared.cas.b32 %r5, [%r4], 0, 1;
  setp.ne.u32 %p3, %r5, 0; @%p3 bra TRY;
  {_COUNT}
  atom.shared.exch.b32 %r7, [%r4], 0;""",
)
"""The same, given back behind the loop."""

TURN = kernel(
    "k",
    f"""
  {_CLEAR}
  mov.u32 %r8, 0;
AGAIN:
  ld.volatile.shared.u32 %r5, [%r4];
  setp.ne.u32 %p2, %r5, %r1; @%p2 bra NEXT;
  {_COUNT}
  add.u32 %r5, %r5, 1; st.volatile.shared.u32 [%r4], %r5;
  mov.u32 %r8, 1;
NEXT:
  setp.eq.u32 %p3, %r8, 0; @%p3 bra AGAIN;""",
)
"""Threads take turns in the order of their numbers."""

FLAG = kernel(
    "k",
    f"""
  {_CLEAR}
  setp.eq.u32 %p2, %r3, 31; @%p2 bra SET;
WAIT:
  ld.volatile.shared.u32 %r5, [%r4]; setp.eq.u32 %p3, %r5, 0; @%p3 bra WAIT;
  ld.volatile.shared.u32 %r6, [%r4+4]; add.u32 %r6, %r6, %r1; st.global.u32 [%d3], %r6;
  bra.uni DONE;
SET:
  st.volatile.shared.u32 [%r4+4], 7000; membar.cta; st.volatile.shared.u32 [%r4], 1;
  st.global.u32 [%d3], 5;
DONE:""",
)
"""The last lane of each warp sets a flag for which the others wait in the other branch."""

MEETING = kernel(
    "k",
    f"""
  {_CLEAR}
  mov.u32 %r10, 0; mov.u32 %r11, 0;
OUTER:
TRY:
  atom.shared.cas.b32 %r5, [%r4], 0, 1;
  setp.ne.u32 %p3, %r5, 0; @%p3 bra TRY;
  ld.volatile.shared.u32 %r6, [%r4+4]; add.u32 %r6, %r6, %r1; st.volatile.shared.u32 [%r4+4], %r6;
  membar.cta;
  atom.shared.exch.b32 %r7, [%r4], 0;
  shfl.sync.bfly.b32 %r12, %r1, 1, 31, 0xffffffff; add.u32 %r11, %r11, %r12;
  bar.sync 0;
  ld.volatile.shared.u32 %r6, [%r4+4]; add.u32 %r11, %r11, %r6;
  bar.sync 0;
  add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 3; @%p4 bra OUTER;
  vote.sync.ballot.b32 %r13, %p3, 0xffffffff; add.u32 %r11, %r11, %r13;
  st.global.u32 [%d3], %r11;""",
)
"""Three rounds: each thread adds its number under the lock, gets its neighbour's, and reads the sum when all are there."""

PAIR = kernel(
    "k",
    f"""
  {_CLEAR}
FIRST:
  atom.shared.cas.b32 %r5, [%r4], 0, 1; setp.ne.u32 %p3, %r5, 0; @%p3 bra FIRST;
SECOND:
  atom.shared.cas.b32 %r5, [%r4+8], 0, 1; setp.ne.u32 %p3, %r5, 0; @%p3 bra SECOND;
  {_COUNT}
  atom.shared.exch.b32 %r7, [%r4+8], 0;
  and.b32 %r9, %r1, 1; setp.eq.u32 %p4, %r9, 0; @%p4 bra LEAVE;
  atom.shared.exch.b32 %r7, [%r4], 0; ret;
LEAVE:
  atom.shared.exch.b32 %r7, [%r4], 0;""",
)
"""One lock within another, given back on two ways."""


def wanted(name, threads):
    """What each kernel leaves in its array of `threads` words, -1 where it writes nothing.

    LOCK: its sorted places 0, 32, ...; SAFE, SPIN, PAIR: all of them, sorted.
    """
    ids = range(threads)
    if name in ("SAFE", "SPIN", "PAIR", "TURN"):
        return [t + 1 for t in ids]
    if name == "FLAG":
        return [7000 + t if t % 32 != 31 else 5 for t in ids]
    if name == "MEETING":
        return [3 * (t ^ 1) + 6 * sum(ids) for t in ids]
    if name == "APART":
        return [(1000 + (t ^ 32) + 1) if t // 32 % 2 == 0 else 3 * ((t ^ 32) + 1) for t in ids]
    if name == "NAMED":
        return [(t ^ 32) + 500 if t // 32 == 1 else -1 for t in ids]
    if name == "EARLY":
        return [49 - t if t < 50 else -1 for t in ids]
    return [(t ^ 63) + 7 * (t >= 64) for t in ids]
