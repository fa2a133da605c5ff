"""How a warp enters the code of a kernel: where it begins, or behind the barrier at which it waited, with the values it kept."""

from __future__ import annotations

from anywarp.compiler.ir import Block
from anywarp.compiler.simd.barriers import Barriers
from anywarp.compiler.simd.flow import Flow
from anywarp.compiler.simd.frame import EXITED, GANG, LACKING, READY
from anywarp.compiler.simd.text import vector_type


class Entering:
    """Emits the beginning of a warp's run; the copies of blocks are `flow`'s, the states of warps `barriers`'."""

    def __init__(self, barriers: Barriers, flow: Flow) -> None:
        self.barriers = barriers
        self.flow = flow
        self.v = barriers.v
        self.t = barriers.t

    def emit(self, first_mask: str | None) -> None:
        """Start the running warp where it stands. `first_mask`: i32 of its lanes when the kernel begins, None if surely 32."""
        t = self.t
        entry = self.v.kernel.blocks[0]
        if not self.barriers.any:
            self.barriers.reset_flags()
            self.flow.meetings.begin_warp(first_mask or "-1")
            self._begin(entry, first_mask)
            return
        if self.barriers.per_lane:
            self._enter_lanes()
            return
        if self.flow.converging:
            self.flow.meetings.begin_warp(
                t.let(f"load {self.v.word}, ptr {self.barriers.field(GANG.offset('alive'))}, align 4")
            )
        where = t.let(f"load i32, ptr {self.barriers.state}")
        lands = [f"land.at.{i}" for i in range(len(self.barriers.entries))]
        arms = " ".join(f"i32 {i}, label %{label}" for i, label in enumerate(lands))
        t.do(f"switch i32 {where}, label %warp.done [ {arms} ]")
        for i, (label, block) in enumerate(zip(lands, self.barriers.entries, strict=True)):
            t.start(label)
            if i:
                self.barriers.load_live(block, self.flow.live[block], None)
            else:
                self.barriers.reset_flags()
            alive = (
                t.let(f"load {self.v.word}, ptr {self.barriers.field(GANG.offset('alive'))}, align 4")
                if block in self.flow.masked
                else None
            )
            self._begin(block, alive)

    def _begin(self, block: Block, mask: str | None) -> None:
        t = self.t
        if mask is None:
            t.do(f"br label %{self.flow.full(block)}")
            return
        some = t.fresh("some")
        t.do(f"br i1 {t.two('icmp eq', self.v.word, mask, '-1')}, label %{self.flow.full(block)}, label %{some}")
        t.start(some)
        self.flow.clear_masks()
        t.do(f"store {self.v.word} {mask}, ptr {self.flow.masks[block]}")
        t.do(f"br label %{self.flow.test(self.flow.position[block])}")

    def _enter_lanes(self) -> None:
        t, v = self.t, self.v
        type = vector_type("i32", v.chunk)

        def load(field: str) -> list[str]:
            return [t.let(f"load {type}, ptr {self.barriers.lane_states(field, i)}, align 4") for i in range(v.chunks)]

        v.begin_copy(v.kernel.blocks[0], None)
        places, waiting = load("next"), load("waiting")
        ready = v.bits_of([t.two("icmp eq", type, w, f"splat (i32 {READY})") for w in waiting])
        if self.flow.converging:
            stalled = v.bits_of([t.two("icmp eq", type, w, f"splat (i32 {LACKING})") for w in waiting])
            ready = t.two("or", "i32", ready, stalled)
            self.flow.meetings.begin_warp(
                v.bits_of([t.two("icmp ne", type, w, f"splat (i32 {EXITED})") for w in waiting])
            )
        run = t.fresh("run")
        t.do(f"br i1 {t.two('icmp ne', 'i32', ready, '0')}, label %{run}, label %warp.done")
        t.start(run)
        self.flow.clear_masks()
        for number, variable in enumerate(self.barriers.landing):
            here = v.bits_of([t.two("icmp eq", type, p, f"splat (i32 {number})") for p in places])
            t.do(f"store i32 {t.two('and', 'i32', here, ready)}, ptr {variable}")
        t.do(f"br label %{self.flow.test(0)}")
