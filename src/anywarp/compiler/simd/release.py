"""The scheduling of barriers as LLVM IR: counting arrivals, and deciding which waiting lanes go on.

The barriers are cells at the beginning of the frame (`frame.py`); waiting lanes hold a cell's number in their state.
"""

from __future__ import annotations

from anywarp.compiler.abi import WORKER
from anywarp.compiler.simd.frame import CELL, CELLS, EXITED, READY, with_offsets

PATIENCE = 32
"""Rounds in which lanes of a block yield before the block lets others run."""

_TEXTS: dict[str, str] = {
    "aw.arrive": """define internal void @aw.arrive(ptr %frame, i32 %id, i32 %kind, i32 %count, i32 %lanes, i32 %bits) {
  %offset = shl i32 %id, @CELL_SHIFT@
  %cell = getelementptr i8, ptr %frame, i32 %offset
  %arrived.at = getelementptr i8, ptr %cell, i32 @cell.arrived@
  %kind.at = getelementptr i8, ptr %cell, i32 @cell.kind@
  %total.at = getelementptr i8, ptr %cell, i32 @cell.total@
  store i32 %count, ptr %cell
  store i32 %kind, ptr %kind.at
  %number = call i32 @llvm.ctpop.i32(i32 %lanes)
  %comes = icmp eq i32 %kind, 4
  %more = select i1 %comes, i32 %number, i32 0
  %arrived = load i32, ptr %arrived.at
  %arrived.new = add i32 %arrived, %more
  store i32 %arrived.new, ptr %arrived.at
  %total = load i32, ptr %total.at
  %holding = call i32 @llvm.ctpop.i32(i32 %bits)
  %sum = add i32 %total, %holding
  %fails = icmp ne i32 %bits, %lanes
  %fails.word = zext i1 %fails to i32
  %failed = or i32 %total, %fails.word
  %holds = icmp ne i32 %bits, 0
  %holds.word = zext i1 %holds to i32
  %held = or i32 %total, %holds.word
  %is.sum = icmp eq i32 %kind, 1
  %is.and = icmp eq i32 %kind, 2
  %is.or = icmp eq i32 %kind, 3
  %t1 = select i1 %is.sum, i32 %sum, i32 %total
  %t2 = select i1 %is.and, i32 %failed, i32 %t1
  %t3 = select i1 %is.or, i32 %held, i32 %t2
  store i32 %t3, ptr %total.at
  ret void
}""",
    "aw.finish": """define internal i32 @aw.finish(ptr %cell) {
  %arrived.at = getelementptr i8, ptr %cell, i32 @cell.arrived@
  %kind.at = getelementptr i8, ptr %cell, i32 @cell.kind@
  %total.at = getelementptr i8, ptr %cell, i32 @cell.total@
  %result.at = getelementptr i8, ptr %cell, i32 @cell.result@
  %kind = load i32, ptr %kind.at
  %total = load i32, ptr %total.at
  %is.and = icmp eq i32 %kind, 2
  %none = icmp eq i32 %total, 0
  %none.word = zext i1 %none to i32
  %result = select i1 %is.and, i32 %none.word, i32 %total
  store i32 %result, ptr %result.at
  store i32 0, ptr %total.at
  store i32 0, ptr %kind.at
  store i32 0, ptr %arrived.at
  store i32 0, ptr %cell
  ret i32 %result
}""",
    "aw.release": """define internal i32 @aw.release(ptr %worker, ptr %frame, ptr %states, i64 %stride, i32 %warps) {
entry:
  br label %cell
cell:
  %id = phi i32 [ 0, %entry ], [ %id.next, %cell.done ]
  %released = phi i32 [ 0, %entry ], [ %released.next, %cell.done ]
  %stuck = phi i32 [ -1, %entry ], [ %stuck.next, %cell.done ]
  %yielded = phi i32 [ 0, %entry ], [ %yielded.next, %cell.done ]
  %offset = shl i32 %id, @CELL_SHIFT@
  %at = getelementptr i8, ptr %frame, i32 %offset
  %seed = insertelement <32 x i32> poison, i32 %id, i32 0
  %ids = shufflevector <32 x i32> %seed, <32 x i32> poison, <32 x i32> zeroinitializer
  br label %count
count:
  %w = phi i32 [ 0, %cell ], [ %w.next, %count ]
  %waiting = phi i32 [ 0, %cell ], [ %waiting.next, %count ]
  %alive = phi i32 [ 0, %cell ], [ %alive.next, %count ]
  %units = phi i32 [ 0, %cell ], [ %units.next, %count ]
  %ready = phi i32 [ 0, %cell ], [ %ready.next, %count ]
  %w.wide = zext i32 %w to i64
  %w.bytes = mul i64 %w.wide, %stride
  %state = getelementptr i8, ptr %states, i64 %w.bytes
  %lanes.at = getelementptr i8, ptr %state, i64 @lanes.waiting@
  %lanes = load <32 x i32>, ptr %lanes.at, align 4
  %here = icmp eq <32 x i32> %lanes, %ids
  %here.bits = bitcast <32 x i1> %here to i32
  %here.count = call i32 @llvm.ctpop.i32(i32 %here.bits)
  %gone = icmp eq <32 x i32> %lanes, splat (i32 @EXITED@)
  %gone.bits = bitcast <32 x i1> %gone to i32
  %gone.count = call i32 @llvm.ctpop.i32(i32 %gone.bits)
  %alive.count = sub i32 32, %gone.count
  %runs = icmp eq <32 x i32> %lanes, splat (i32 @READY@)
  %runs.bits = bitcast <32 x i1> %runs to i32
  %ready.next = or i32 %ready, %runs.bits
  %all = icmp eq i32 %here.count, %alive.count
  %some = icmp ne i32 %here.count, 0
  %whole = and i1 %all, %some
  %unit = select i1 %whole, i32 32, i32 %here.count
  %waiting.next = add i32 %waiting, %here.count
  %alive.next = add i32 %alive, %alive.count
  %units.next = add i32 %units, %unit
  %w.next = add i32 %w, 1
  %more = icmp ult i32 %w.next, %warps
  br i1 %more, label %count, label %decide
decide:
  %is.first = icmp eq i32 %id, 0
  %yielded.next = select i1 %is.first, i32 %ready.next, i32 %yielded
  %expected = load i32, ptr %at
  %arrived.at = getelementptr i8, ptr %at, i32 @cell.arrived@
  %arrived = load i32, ptr %arrived.at
  %anyone = icmp ne i32 %waiting.next, 0
  %for.all = icmp eq i32 %expected, 0
  %everyone = icmp eq i32 %waiting.next, %alive.next
  %present = add i32 %units.next, %arrived
  %enough = icmp uge i32 %present, %expected
  %full = select i1 %for.all, i1 %everyone, i1 %enough
  %complete = and i1 %anyone, %full
  %stuck.here = select i1 %anyone, i32 %id, i32 %stuck
  br i1 %complete, label %open, label %cell.done
open:
  %result = call i32 @aw.finish(ptr %at)
  %result.seed = insertelement <32 x i32> poison, i32 %result, i32 0
  %results = shufflevector <32 x i32> %result.seed, <32 x i32> poison, <32 x i32> zeroinitializer
  br label %free
free:
  %f = phi i32 [ 0, %open ], [ %f.next, %free ]
  %f.wide = zext i32 %f to i64
  %f.bytes = mul i64 %f.wide, %stride
  %f.state = getelementptr i8, ptr %states, i64 %f.bytes
  %f.at = getelementptr i8, ptr %f.state, i64 @lanes.waiting@
  %f.lanes = load <32 x i32>, ptr %f.at, align 4
  %f.here = icmp eq <32 x i32> %f.lanes, %ids
  %f.new = select <32 x i1> %f.here, <32 x i32> splat (i32 @READY@), <32 x i32> %f.lanes
  store <32 x i32> %f.new, ptr %f.at, align 4
  %r.at = getelementptr i8, ptr %f.state, i64 @lanes.result@
  %r.old = load <32 x i32>, ptr %r.at, align 4
  %r.new = select <32 x i1> %f.here, <32 x i32> %results, <32 x i32> %r.old
  store <32 x i32> %r.new, ptr %r.at, align 4
  %f.next = add i32 %f, 1
  %f.more = icmp ult i32 %f.next, %warps
  br i1 %f.more, label %free, label %cell.done
cell.done:
  %released.next = phi i32 [ %released, %decide ], [ 1, %free ]
  %stuck.next = phi i32 [ %stuck.here, %decide ], [ %stuck, %free ]
  %id.next = add i32 %id, 1
  %id.more = icmp ult i32 %id.next, @CELLS@
  br i1 %id.more, label %cell, label %done
done:
  %nobody = icmp eq i32 %alive.next, 0
  %go = icmp ne i32 %released.next, 0
  %stuck.at = getelementptr i8, ptr %worker, i64 @BARRIER_ID@
  store i32 %stuck.next, ptr %stuck.at
  %yielding = icmp ne i32 %yielded.next, 0
  %status = select i1 %go, i32 1, i32 2
  %out = select i1 %nobody, i32 0, i32 %status
  %rounds.at = getelementptr i8, ptr %frame, i32 @cell.rounds@
  %rounds = load i32, ptr %rounds.at
  %one.more = zext i1 %yielding to i32
  %rounds.more = add i32 %rounds, %one.more
  %pause = icmp uge i32 %rounds.more, @PATIENCE@
  %rounds.new = select i1 %pause, i32 0, i32 %rounds.more
  store i32 %rounds.new, ptr %rounds.at
  %on = select i1 %pause, i32 3, i32 1
  %runs.on = or i1 %go, %yielding
  %ended = xor i1 %nobody, true
  %stay = and i1 %ended, %runs.on
  %final = select i1 %stay, i32 %on, i32 %out
  ret i32 %final
}""",
}

_NUMBERS = {
    "PATIENCE": PATIENCE, "BARRIER_ID": WORKER.offset("barrier_id"), "CELLS": CELLS, "CELL_SHIFT": CELL.size.bit_length() - 1, "READY": READY, "EXITED": EXITED,
}  # fmt: skip


def _numbered(text: str) -> str:
    for mark, number in _NUMBERS.items():
        text = text.replace(f"@{mark}@", str(number))
    return with_offsets(text)


RELEASE = {name: _numbered(text) for name, text in _TEXTS.items()}
"""The functions by name, as LLVM IR."""
