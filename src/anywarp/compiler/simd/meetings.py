"""Lanes that wait for others that they name, in the masked copies: who has come goes on when all have whom they wait for.

Lanes that have not met stay at their block while the others run ahead, to that block or to their end; then the chain of masked
copies is gone through again (`flow.py`). What is remembered meanwhile lies in variables of the function, named `lanes.*`.
"""

from __future__ import annotations

from collections.abc import Mapping

from anywarp.compiler.attributes import Converge, Waiting
from anywarp.compiler.ir import Block, Op, Value
from anywarp.compiler.simd.barriers import Barriers
from anywarp.compiler.simd.known import LANES
from anywarp.compiler.simd.members import waits_at_barrier
from anywarp.compiler.simd.mode import leave
from anywarp.compiler.simd.special import Launch, in_worker
from anywarp.compiler.simd.values import Values
from anywarp.compiler.simd.warp import Warp


class Meetings:
    """Emits what `blocks` begin with, in which lanes wait for members; `masks` are the words of lanes that wait at each block."""

    def __init__(
        self,
        values: Values,
        warp: Warp,
        barriers: Barriers,
        at: Launch,
        blocks: list[Block],
        masks: Mapping[Block, str],
    ) -> None:
        self.v = values
        self.t = values.t
        self.warp = warp
        self.barriers = barriers
        self.at = at
        self.blocks = blocks
        self.masks = masks
        of_warp = {block for block in blocks if waits_at_barrier(block)}
        self.distinct_barriers = of_warp if len(of_warp) > 1 else set[Block]()

    def prepare(self) -> None:
        """Reserve the variables."""
        if self.blocks:
            self.t.allocas += [f"  %{name} = alloca {self.v.word}" for name in ("lanes.alive", "lanes.met")]
            self.t.allocas += [f"  %{name} = alloca i1" for name in ("lanes.stalled", "lanes.moved", "lanes.stuck")]
        if self.distinct_barriers:
            self.t.allocas += [f"  %{name} = alloca {self.v.word}" for name in ("lanes.asking", "lanes.freed")]
            self.asked = [self.t.alloca(f"<{self.v.chunk} x i32>") for _ in range(self.v.chunks)]

    def may_differ(self, mask: Value) -> bool:
        """Tell whether lanes may name others whose masks are not the same: then it is not enough that all are at one instruction.

        Those wait for each other at another trip of a loop, or for the other's end.
        """
        shape = self.v.shape(mask)
        if shape.offsets is None or shape.symbols or (shape.modulus != 1 << 32 and any(shape.offsets)):
            return True
        masks = [(shape.residue + offset) & 0xFFFFFFFF for offset in shape.offsets]
        warps = [masks[first : first + LANES] for first in range(0, len(masks), LANES)]
        return any(a >> n & 1 and a != b for warp in warps for a in set(warp) for n, b in enumerate(warp))

    def begin_warp(self, alive: str) -> None:
        """Note which lanes have not ended, when a warp begins to run."""
        if self.blocks:
            self.t.do(f"store {self.v.word} {alive}, ptr %lanes.alive")
            for name in ("stalled", "moved", "stuck"):
                self.t.do(f"store i1 false, ptr %lanes.{name}")
        if self.distinct_barriers:
            for name in ("asking", "freed"):
                self.t.do(f"store {self.v.word} 0, ptr %lanes.{name}")

    def end_lanes(self, lanes: str) -> None:
        """Note that lanes have ended: nobody waits for them."""
        if self.blocks:
            t, word = self.t, self.v.word
            alive = t.let(f"load {word}, ptr %lanes.alive")
            t.do(f"store {word} {t.two('and', word, alive, t.two('xor', word, lanes, '-1'))}, ptr %lanes.alive")

    def moved(self) -> None:
        """Note that lanes have gone on."""
        if self.blocks:
            self.t.do("store i1 true, ptr %lanes.moved")

    def converge(self, block: Block, lanes: str, after: str) -> str:
        """Go on with the lanes that have come if none of them waits for others: lanes of one trip stay together.

        If nobody else can move any more, those go on that wait for nobody; who stays goes to the label `after`.
        """
        t, v, word = self.t, self.v, self.v.word
        apart, together = t.fresh("apart"), t.fresh("together")
        alive = t.let(f"load {word}, ptr %lanes.alive")
        missing = t.two("and", word, alive, t.two("xor", word, lanes, "-1"))
        t.do(f"store {word} {lanes}, ptr %lanes.met")
        if block in self.distinct_barriers or self.may_differ(block.ops[0].args[0]):
            t.do(f"br label %{apart}")
        else:
            t.do(f"br i1 {t.two('icmp eq', word, missing, '0')}, label %{together}, label %{apart}")
        t.start(apart)
        v.begin_copy(block, lanes)
        if block in self.distinct_barriers:
            waiting = self._waiting_at_barrier(block, lanes, alive)
        else:
            waiting = t.two("and", word, lanes, v.bits_of(self.lacking(block.ops[0].args[0], lanes, alive)))
        met = t.two("xor", word, lanes, waiting)
        stall, hold, some = t.fresh("stall"), t.fresh("hold"), t.fresh("some")
        t.do(f"br i1 {t.two('icmp eq', word, waiting, '0')}, label %{together}, label %{stall}")
        t.start(stall)
        t.do("store i1 true, ptr %lanes.stalled")
        t.do(f"store i32 {self._line(block.ops[0], waiting)}, ptr {in_worker(v, self.at, 'line')}")
        go = t.two("and", "i1", t.let("load i1, ptr %lanes.stuck"), t.two("icmp ne", word, met, "0"))
        t.do(f"br i1 {go}, label %{some}, label %{hold}")
        t.start(hold)
        t.do(f"store {word} {lanes}, ptr {self.masks[block]}")
        t.do(f"br label %{after}")
        t.start(some)
        t.do("store i1 false, ptr %lanes.stuck")
        t.do(f"store {word} {waiting}, ptr {self.masks[block]}")
        t.do(f"store {word} {met}, ptr %lanes.met")
        t.do(f"br label %{together}")
        t.start(together)
        met = t.let(f"load {word}, ptr %lanes.met")
        for name in ("asking", "freed") if block in self.distinct_barriers else ():
            old = t.let(f"load {word}, ptr %lanes.{name}")
            gone = t.two("xor", word, met, "-1")
            t.do(f"store {word} {t.two('and', word, old, gone)}, ptr %lanes.{name}")
        return met

    def _line(self, op: Op, waiting: str) -> str:
        """Return the line at which one of the lanes waits."""
        t, v = self.t, self.v
        lines = op.attrs.lines if isinstance(op.attrs, Converge) else ()
        if not lines:
            return str(Waiting.of(op).line or 0)
        type, found = f"<{v.chunk} x i32>", "0"
        for chunk, here in zip(v.vector(op.args[1]), v.lane_masks(waiting), strict=True):
            some = t.pick(v.chunk, here, type, chunk, "zeroinitializer")
            one = t.call("i32", f"llvm.vector.reduce.umax.v{v.chunk}i32", (type, some))
            found = t.call("i32", "llvm.umax.i32", ("i32", found), ("i32", one))
        out = str(lines[0])
        for site, line in enumerate(lines[1:], 1):
            out = t.pick(0, t.two("icmp eq", "i32", found, str(site)), "i32", str(line), out)
        return out

    def _waiting_at_barrier(self, block: Block, lanes: str, alive: str) -> str:
        """Return which of `lanes` still wait at a barrier of the warp, after freeing who has met, here or at another of them.

        `bar.warp.sync` waits for the same mask, not for the same place (PTX manual; only sm_6x and below want one place).
        """
        t, v, word = self.t, self.v, self.v.word
        type = f"<{v.chunk} x i32>"
        for variable, named, here in zip(self.asked, v.vector(block.ops[0].args[0]), v.lane_masks(lanes), strict=True):
            old = t.let(f"load {type}, ptr {variable}")
            t.do(f"store {type} {t.pick(v.chunk, here, type, named, old)}, ptr {variable}")
        asking = t.two("or", word, t.let(f"load {word}, ptr %lanes.asking"), lanes)
        t.do(f"store {word} {asking}, ptr %lanes.asking")
        freed = t.let(f"load {word}, ptr %lanes.freed")
        unmet = t.two("and", word, asking, t.two("xor", word, freed, "-1"))
        masks = [t.let(f"load {type}, ptr {variable}") for variable in self.asked]
        lacking = v.bits_of(self._unmet(masks, unmet, alive))
        met = t.two("and", word, unmet, t.two("xor", word, lacking, "-1"))
        freed = t.two("or", word, freed, met)
        t.do(f"store {word} {freed}, ptr %lanes.freed")
        moved = t.two("or", "i1", t.let("load i1, ptr %lanes.moved"), t.two("icmp ne", word, met, "0"))
        t.do(f"store i1 {moved}, ptr %lanes.moved")
        return t.two("and", word, lanes, t.two("xor", word, freed, "-1"))

    def lacking(self, mask: Value, lanes: str, alive: str) -> list[str]:
        """Return chunks of i1: which lanes name one, not ended, that has not come with the same mask."""
        t, v, word = self.t, self.v, self.v.word
        if self.may_differ(mask):
            return self._unmet(v.vector(mask), lanes, alive)
        missing = t.two("and", word, alive, t.two("xor", word, lanes, "-1"))
        absent = [v.splat("i32", w) for w in v.warp_words(missing) for _ in range(LANES // v.chunk)]
        return self._named(v.vector(mask), absent)

    def unlike(self, mask: Value) -> list[str]:
        """Return chunks of i1: which lanes' masks are not that of their warp's first lane. Where all have come, nobody waits if there are none."""
        t, v, out = self.t, self.v, list[str]()
        type, per_warp = f"<{v.chunk} x i32>", LANES // v.chunk
        for i, chunk in enumerate(chunks := v.vector(mask)):
            first = t.let(f"extractelement {type} {chunks[i - i % per_warp]}, i32 0")
            out.append(t.two("icmp ne", type, chunk, v.splat("i32", first)))
        return out

    def _unmet(self, named: list[str], lanes: str, alive: str) -> list[str]:
        """The same for lanes that each have a mask of their own."""
        t, v = self.t, self.v
        type, per_warp, absent = f"<{v.chunk} x i32>", LANES // v.chunk, list[str]()
        for w, (here, there) in enumerate(zip(v.warp_words(lanes), v.warp_words(alive), strict=True)):
            living = v.splat("i32", there)
            for same in self.warp.matches("i32", named[w * per_warp : (w + 1) * per_warp], here):
                absent.append(t.two("and", type, living, t.two("xor", type, same, "splat (i32 -1)")))
        return self._named(named, absent)

    def _named(self, named: list[str], absent: list[str]) -> list[str]:
        t, type = self.t, f"<{self.v.chunk} x i32>"
        return [
            t.two("icmp ne", type, t.two("and", type, c, a), "zeroinitializer")
            for c, a in zip(named, absent, strict=True)
        ]

    def end_chain(self, first: str, live: Mapping[Block, list[Value]]) -> None:
        """Lanes that wait for others look again as long as anything moves; then they wait for ever, or for another round.

        `first`: the label of the chain's first block; `live`: the values that a block needs from before."""
        t, word = self.t, self.v.word
        t.start("chain.end")
        stalled = t.let("load i1, ptr %lanes.stalled")
        t.do(f"br i1 {stalled}, label %chain.again, label %warp.done")
        t.start("chain.again")
        moved, stuck = (t.let(f"load i1, ptr %lanes.{name}") for name in ("moved", "stuck"))
        for name in ("stalled", "moved"):
            t.do(f"store i1 false, ptr %lanes.{name}")
        t.do(f"store i1 {t.two('xor', 'i1', moved, 'true')}, ptr %lanes.stuck")
        still = t.two("and", "i1", stuck, t.two("xor", "i1", moved, "true"))
        t.do(f"br i1 {still}, label %chain.still, label %{first}")
        t.start("chain.still")
        held = {block: t.let(f"load {word}, ptr {self.masks[block]}") for block in self.blocks}
        if not self.barriers.per_lane:
            some = "0"
            for lanes in held.values():
                some = t.two("or", word, some, lanes)
            t.do(f"br i1 {t.two('icmp eq', word, some, '0')}, label %warp.done, label %chain.waits")
            t.start("chain.waits")
            lane = t.call(word, f"llvm.cttz.{word}", (word, some), ("i1", "false"))
            lane = lane if self.v.warps == 1 else t.two("and", "i32", t.cast("trunc", word, lane, "i32"), "31")
            t.do(f"store i32 {lane}, ptr {in_worker(self.v, self.at, 'trap_lane')}")
            t.do("br label %chain.never")
            t.start("chain.never")
            t.do(f"store i32 -1, ptr {in_worker(self.v, self.at, 'barrier_id')}")
            leave(self.v, "AW_DEADLOCK")
            return
        for block, lanes in held.items():
            park, parked = t.fresh("park"), t.fresh("parked")
            t.do(f"br i1 {t.two('icmp ne', word, lanes, '0')}, label %{park}, label %{parked}")
            t.start(park)
            self.barriers.park_stalled(block, lanes, live)
            t.do(f"br label %{parked}")
            t.start(parked)
        t.do("br label %warp.done")
