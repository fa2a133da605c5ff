"""Kernels whose lanes come to `.sync` instructions at different places, and which of them a machine that moves in step can serve."""

from __future__ import annotations

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.u64 %d2, %d2, %d1; ld.param.u32 %r8, [n];
and.b32 %r2, %r1, 31; mov.u32 %r3, 0; mov.u32 %r9, 0; setp.lt.u32 %p1, %r2, %r8; setp.lt.u32 %p2, %r1, 9999; mov.u32 %r10, -1;
"""
TAIL = "\nst.global.u32 [%d2], %r9; ret; }"
SHUFFLE = "shfl.sync.bfly.b32 %r9, %r1, 1, 31, MASK;"


def kernel(body):
    return HEAD + body + TAIL


# Lanes below n go one way, those from n on the other. What each leaves in `out`, by thread, where it is served; None where it is not.
BODIES = {
    "shuffles on both ways": (f"@%p1 bra LOW; {SHUFFLE} add.u32 %r9, %r9, 1; bra DONE; LOW: {SHUFFLE} DONE:", None),
    "votes on both ways": (
        "@%p1 bra LOW; vote.sync.ballot.b32 %r9, %p2, MASK; bra DONE; LOW: vote.sync.ballot.b32 %r9, %p1, MASK; DONE:",
        None,
    ),
    "matches on both ways": (
        "@%p1 bra LOW; match.any.sync.b32 %r9, %r8, MASK; bra DONE; LOW: match.any.sync.b32 %r9, %r3, MASK; DONE:",
        None,
    ),
    "reductions on both ways": (
        "@%p1 bra LOW; redux.sync.add.u32 %r9, %r1, MASK; bra DONE; LOW: redux.sync.add.u32 %r9, %r1, MASK; DONE:",
        None,
    ),
    "one way, and behind where they meet": (f"@!%p1 bra DONE; {SHUFFLE} DONE: redux.sync.add.u32 %r9, %r2, MASK;", None),
    "some end behind the first": (
        f"@!%p1 bra HIGH; {SHUFFLE} st.global.u32 [%d2], %r9; ret; HIGH: vote.sync.ballot.b32 %r9, %p2, MASK;",
        None,
    ),
    "a barrier of the warp, and behind where they meet": ("@!%p1 bra DONE; bar.warp.sync MASK; DONE: bar.warp.sync MASK;", None),
    "the same under a condition twice": (
        f"@!%p1 bra NEXT; {SHUFFLE} NEXT: add.u32 %r3, %r9, 5; @!%p1 bra DONE; vote.sync.ballot.b32 %r9, %p2, MASK; DONE:",
        lambda t, n: (1 << n) - 1 if t % 32 < n else 0,
    ),
    "those from n on end without one": (
        f"@%p1 bra LOW; ld.global.u32 %r4, [%d2]; setp.ne.u32 %p4, %r4, 0; @!%p4 bra DONE; {SHUFFLE} bra DONE; LOW: {SHUFFLE} DONE:",
        lambda t, n: t ^ 1 if t % 32 < n else 0,
    ),
    "halves that name themselves": (
        "@%p1 bra LOW; vote.sync.ballot.b32 %r9, %p2, 0xffff0000; bra DONE; LOW: vote.sync.ballot.b32 %r9, %p2, 0x0000ffff; DONE: "
        "shfl.sync.bfly.b32 %r11, %r9, 16, 31, MASK; or.b32 %r9, %r9, %r11;",
        lambda t, n: 0xFFFFFFFF,
    ),
    "whole warps part": (
        f"and.b32 %r4, %r1, 32; setp.eq.u32 %p3, %r4, 0; @%p3 bra LOW; {SHUFFLE} add.u32 %r9, %r9, 1; bra DONE; LOW: {SHUFFLE} DONE:",
        lambda t, n: (t ^ 1) + (t >> 5 & 1),
    ),
}  # fmt: skip
