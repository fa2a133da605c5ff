"""Barriers: warps (or single lanes) that wait are parked with what they need later, and run again when all have arrived.

In the simple case whole warps wait at one barrier of all threads; then a warp's state is the number of the place where it goes
on. If lanes of a warp may wait apart, or barriers are named or counted, each lane has a state and `aw.release` decides who goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from anywarp.compiler.attributes import Barrier
from anywarp.compiler.ir import CONVERGE, Block, Const, Op, Terminator, Value
from anywarp.compiler.shapes import VARYING, Analysis
from anywarp.compiler.simd.addresses import SIZE
from anywarp.compiler.simd.frame import CELL, EXITED, GANG, LACKING, LANE_STATES
from anywarp.compiler.simd.members import waits_for_members
from anywarp.compiler.simd.operations import Operations
from anywarp.compiler.simd.release import RELEASE
from anywarp.compiler.simd.special import Launch
from anywarp.compiler.simd.text import LLVM_TYPE, vector_type
from anywarp.compiler.simd.values import Values

ENDED = -1
"""A gang's place when all of its lanes have ended."""
KINDS = {"sync": 0, "red_popc": 1, "red_and": 2, "red_or": 3, "arrive": 4}


def is_warp_barrier(end: Terminator) -> bool:
    """Tell whether a terminator only joins lanes of one warp: they run in step anyway."""
    return Barrier.of(end).warp


def block_barriers(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks that end in a barrier of the block of threads."""
    return [b for b in blocks if b.terminator.name == "barrier" and not is_warp_barrier(b.terminator)]


def needs_lane_states(blocks: Sequence[Block], analysis: Analysis) -> bool:
    """Tell whether lanes may wait apart, or barriers differ in number or count."""
    ids: set[int] = set()
    for block in block_barriers(blocks):
        end = block.terminator
        if Barrier.of(end).kind == "yield":
            return True
        number = end.args[0] if end.args else None
        count = end.args[1] if len(end.args) > 1 else None
        if block in analysis.staggered_barriers or count is not None or Barrier.of(end).kind == "arrive":
            return True
        if number is not None and not isinstance(number, Const):
            return True
        ids.add(number.bits if isinstance(number, Const) else 0)
    return len(ids) > 1


def without_assumptions(analysis: Analysis, repeatable: set[Value]) -> Analysis:
    """Return an analysis for lanes that may stand at different trips of a loop: only launch constants keep their shapes."""
    shapes = {value: shape if value in repeatable else VARYING for value, shape in analysis.shapes.items()}
    return Analysis(
        analysis.lanes,
        shapes,
        analysis.divergent_blocks,
        analysis.divergent_branches,
        {value for value in analysis.temporal if value not in repeatable},
        {},
        analysis.divergent_loops,
        analysis.staggered_barriers,
        analysis.ahead,
        analysis.apart,
    )


class Barriers:
    """Emits what happens at barriers and exits, and the scheduling of warps. Without barriers it emits nothing of that."""

    def __init__(self, values: Values, operations: Operations, at: Launch, per_lane: bool) -> None:
        self.v = values
        self.t = values.t
        self.ops = operations
        self.at = at
        shape = values.specialisation.block
        found = block_barriers(values.kernel.blocks)
        whole = shape is not None and shape[0] * shape[1] * shape[2] == values.lanes and not per_lane
        whole = whole and not any(block in values.analysis.ahead for block in found)
        self.alone = found if whole else []  # barriers at which nobody waits: the gang is the block
        self.waits = [b for b in found if Barrier.of(b.terminator).kind != "arrive" and not self.alone]
        self.any = bool(found) and not self.alone
        self.per_lane = per_lane and self.any
        self.yields = any(Barrier.of(b.terminator).kind == "yield" for b in found)
        self.entries: list[Block] = [values.kernel.blocks[0]]
        for block in self.waits:
            if block.terminator.targets[0] not in self.entries:
                self.entries.append(block.terminator.targets[0])
        if self.per_lane:  # where lanes wait for others of their warp they may have to wait for another round
            self.entries += [b for b in values.kernel.blocks if waits_for_members(b) and b not in self.entries]
        self.converges = any(op.name == CONVERGE for block in values.kernel.blocks for op in block.ops)
        self._before = values.kernel.predecessors()
        self._ways_here: dict[Block, set[Block]] = {}
        self.slots: dict[Value, int] = {}
        self.extra: dict[object, int] = {}
        self.per_warp = (LANE_STATES if self.per_lane else GANG).size if self.any else 0
        if values.lanes > 32 * 8 and self.any:
            self.per_warp += values.lanes // 8
        self.landing: list[str] = []  # per_lane: lanes to land at each entry
        self.state = ""  # pointer to the state of the running warp
        self.results: list[str] = []
        if found:
            wide = self.per_lane
            self.results = [
                self.t.alloca(vector_type("i32", self.v.chunk if wide else 0))
                for _ in range(self.v.chunks if wide else 1)
            ]
        if self.per_lane:
            self.landing = [self.t.alloca("i32") for _ in self.entries]

    def place_carried(self) -> None:
        """Give sums that loops carry a place: in the state of the running warp where it has one."""
        matrix = self.ops.matrix
        bytes = matrix.carried_bytes()
        own = bool(bytes) and self.any and not self.per_lane
        if own:
            self.per_warp = -(-self.per_warp // 64) * 64
            matrix.place_carried(self.field(self.per_warp))
            self.per_warp += bytes
        else:
            matrix.place_carried("")

    def lie_in_state(self, value: Value) -> None:
        """Have a value lie where barriers would save it, all the time."""
        offset, v = self._slot(value), self.v
        step = v.chunk * SIZE[value.type]
        v.variables.frame_at(value, self.state, [offset + i * step for i in range(v.chunks)])

    def places(self) -> tuple[tuple[int, int], ...]:
        """Return what lanes that wait have in their state: a number, and the offset of the barrier in the PTX."""
        found: dict[int, int] = {}
        for block in self.waits:
            end = block.terminator
            if end.span is not None and Barrier.of(end).kind != "yield":
                found.setdefault(self.entries.index(end.targets[0]), end.span.start)
        return tuple(found.items())

    def passes(self, end: Terminator) -> bool:
        """Tell whether lanes go on behind a barrier without waiting."""
        return end.name == "barrier" and (bool(self.alone) or is_warp_barrier(end) or Barrier.of(end).kind == "arrive")

    def field(self, offset: int) -> str:
        """Return the address of a field of the running warp's state."""
        return self.t.let(f"getelementptr i8, ptr {self.state}, i64 {offset}") if offset else self.state

    # --- what is kept ---------------------------------------------------------------------------------------------

    def _wide_slot(self, value: Value) -> bool:
        return self.v.varies(value) or value in self.v.temporal_loop

    def _slot(self, value: Value) -> int:
        """Return the offset in the warp's state where a value is kept."""
        if value not in self.slots:
            size = 1 if value.type == "i1" else SIZE[value.type]
            n = self.v.lanes
            bytes = (n // 8 if value.type == "i1" else size * n) if self._wide_slot(value) else max(size, 4)
            align = 64 if bytes >= 64 else max(4, min(bytes, 16))
            self.per_warp = -(-self.per_warp // align) * align
            self.slots[value] = self.per_warp
            self.per_warp += bytes
        return self.slots[value]

    def _room(self, key: object, bytes: int) -> int:
        if key not in self.extra:
            self.per_warp = -(-self.per_warp // bytes) * bytes
            self.extra[key] = self.per_warp
            self.per_warp += bytes
        return self.extra[key]

    def _first_slot(self, value: Value) -> int:
        """Where lane 0's value of a phi is kept that is affine under conditions."""
        return self._room(value, 8)

    def _flag_slot(self, condition: Op) -> int:
        return self._room(condition, 1)

    def _kept_flags(self) -> list[Op]:
        """Return the conditions that must be kept; the others are tested again."""
        return [c for c in self.v.tested if not all(map(self.ops.repeatable, c.args))]

    def kept(self, live: Sequence[Value]) -> list[Value]:
        """Return the values, of those needed behind a barrier, that cannot cheaply be computed again."""
        return [
            x
            for x in live
            if x not in self.v.hoisted and not self.v.variables.is_framed(x) and not self.ops.repeatable(x)
        ]

    def _save(self, value: Value, slot_of: Value, lanes: str | None) -> None:
        t, v = self.t, self.v
        offset, element = self._slot(slot_of), LLVM_TYPE[value.type]
        if not self._wide_slot(slot_of):
            held = v.scalar(value)
            if element == "i1":
                held, element = t.cast("zext", "i1", held, "i32"), "i32"
            t.do(f"store {element} {held}, ptr {self.field(offset)}")
            return
        chunks = v.vector(value)
        masked = lanes is not None and (self.per_lane or v.block in v.analysis.ahead)
        if element == "i1":
            bits = v.bits_of(chunks)
            if masked:
                bits = self._merge_bits(self.field(offset), bits, lanes or "")
            t.do(f"store {v.word} {bits}, ptr {self.field(offset)}, align 4")
            return
        for i, chunk in enumerate(chunks):
            self._store_chunk(
                element, chunk, self.field(offset + i * v.chunk * SIZE[value.type]), i, lanes if masked else None
            )

    def _merge_bits(self, place: str, bits: str, lanes: str) -> str:
        t, word = self.t, self.v.word
        old = t.let(f"load {word}, ptr {place}, align 4")
        kept = t.two("and", word, old, t.two("xor", word, lanes, "-1"))
        return t.two("or", word, kept, t.two("and", word, bits, lanes))

    def _store_chunk(self, element: str, chunk: str, place: str, i: int, lanes: str | None) -> None:
        t, v = self.t, self.v
        type = vector_type(element, v.chunk)
        if lanes is not None:
            old = t.let(f"load {type}, ptr {place}, align 4")
            chunk = t.pick(v.chunk, v.lane_masks(lanes)[i], type, chunk, old)
        t.do(f"store {type} {chunk}, ptr {place}, align 4")

    def _lies_there(self, value: Value, block: Block) -> bool:
        """Tell whether a value still lies where the barrier that ends `block` would save it.

        Legality: it does if its block does not run on any way from where lanes went on to here, since then it was made before, saved and
        loaded from there. Not for what lanes keep of a loop that they left (its place holds a copy), nor what has two places, nor where
        lanes come to barriers apart or run ahead of others.
        """
        v = self.v
        if self.per_lane or v.analysis.ahead or self.converges or value in v.temporal_loop or v.has_first(value):
            return False
        if block not in self._ways_here:
            self._ways_here[block] = self._blocks_since(block)
        return v.home[value] not in self._ways_here[block]

    def _blocks_since(self, block: Block) -> set[Block]:
        """Return the blocks that may have run since lanes last went on behind a barrier, when they come to the end of `block`."""
        waits, found, work = set(self.waits), {block}, [block]
        while work:
            for before in self._before[work.pop()]:
                if before not in waits and before not in found:
                    found.add(before)
                    work.append(before)
        return found

    # --- arriving and leaving -------------------------------------------------------------------------------------

    def park(self, block: Block, lanes: str | None, live: Mapping[Block, list[Value]]) -> None:
        """Let lanes (None: all) wait at the barrier that ends `block`."""
        t = self.t
        end = block.terminator
        target = end.targets[0]
        for value in self.kept(live[target]):
            if not self._lies_there(value, block):
                self._save_either(value, value, lanes)
        for phi in target.phis:
            if self.v.variables.is_framed(phi):
                self.v.assign(phi, "phi", self.v.vector(phi.incoming[block]), lanes)
            else:
                self._save_either(phi.incoming[block], phi, lanes)
        number = self.entries.index(target)
        if Barrier.of(end).kind == "yield":
            self._set_lanes("next", str(number), lanes)
            return
        self._accumulate(end, lanes)
        if not self.per_lane:
            for condition in self._kept_flags():
                flag = t.cast("zext", "i1", t.let(f"load i1, ptr {self.v.variables.flag(condition)}"), "i8")
                t.do(f"store i8 {flag}, ptr {self.field(self._flag_slot(condition))}")
            t.do(f"store i32 {number}, ptr {self.state}")
            t.do("store i32 1, ptr %going")
            return
        self._set_lanes("next", str(number), lanes)
        self._set_lanes("waiting", self._number(end), lanes)

    def park_stalled(self, block: Block, lanes: str, live: Mapping[Block, list[Value]]) -> None:
        """Let lanes wait at the start of `block` until the next round: lanes that they name are not there."""
        self.v.begin_copy(block, lanes)
        for value in self.kept(live[block]):
            self._save_either(value, value, lanes)
        self._set_lanes("next", str(self.entries.index(block)), lanes)
        self._set_lanes("waiting", str(LACKING), lanes)

    def _save_either(self, value: Value, slot_of: Value, lanes: str | None) -> None:
        """Save a value; of a phi that is affine under conditions lane 0's part, and the chunks only if they have failed."""
        v = self.v
        if not v.has_first(slot_of):
            self._save(value, slot_of, lanes)
            return
        self.t.do(f"store {v.type(value, False)} {v.scalar(value)}, ptr {self.field(self._first_slot(slot_of))}")
        place = v.unless_affine(slot_of)
        self._save(value, slot_of, lanes)
        v.resume(place)

    def _restore_either(self, value: Value, kind: str, lanes: str | None) -> None:
        v, t = self.v, self.t
        if not v.has_first(value):
            self._restore(value, kind, lanes)
            return
        first = t.let(f"load {v.type(value, False)}, ptr {self.field(self._first_slot(value))}")
        v.assign(value, kind + "0", [first])
        place = v.unless_affine(value)
        self._restore(value, kind, lanes)
        v.resume(place)

    def lane_states(self, field: str, chunk: int) -> str:
        """Return where a field of `LaneStates` begins for a chunk's lanes."""
        return self.field(LANE_STATES.offset(field, chunk * self.v.chunk))

    def _set_lanes(self, field: str, scalar: str, lanes: str | None) -> None:
        chunk = self.v.splat("i32", scalar)
        for i in range(self.v.chunks):
            self._store_chunk("i32", chunk, self.lane_states(field, i), i, lanes)

    def _number(self, end: Terminator) -> str:
        """Return the barrier's number, 0..15."""
        number = end.args[0] if end.args else None
        return "0" if number is None else self.t.two("and", "i32", self._scalar(number), "15")

    def _scalar(self, value: Value) -> str:
        """Return a value that all waiting lanes share (the manual asks for it), whatever is known of its shape."""
        if not self.v.varies(value):
            return self.v.scalar(value)
        return self.ops.memory.last_active(value, self.v.mask)

    def arrive(self, end: Terminator, lanes: str | None) -> None:
        """Count lanes that arrive without waiting."""
        if self.alone and end.name == "barrier" and not is_warp_barrier(end):
            self._reduce_alone(end, lanes)
        elif end.name == "barrier" and not is_warp_barrier(end):
            self._accumulate(end, lanes)

    def _reduce_alone(self, end: Terminator, lanes: str | None) -> None:
        """Note what a barrier delivers to a gang that is the block."""
        t, v = self.t, self.v
        kind = Barrier.of(end).kind
        if not kind.startswith("red"):
            return
        predicate = end.args[2]
        assert predicate is not None
        bits = v.truth(predicate)
        bits = bits if lanes is None else t.two("and", v.word, bits, lanes)
        if kind == "red_popc":
            count = t.call(v.word, f"llvm.ctpop.{v.word}", (v.word, bits))
            found = t.cast("trunc", v.word, count, "i32") if v.warps > 1 else count
        else:
            holds = (
                t.two("icmp ne", v.word, bits, "0")
                if kind == "red_or"
                else t.two("icmp eq", v.word, bits, lanes or "-1")
            )
            found = t.cast("zext", "i1", holds, "i32")
        t.do(f"store i32 {found}, ptr {self.results[0]}")

    def _accumulate(self, end: Terminator, lanes: str | None) -> None:
        """Note an arrival: expected count, kind, predicates, and the number of lanes that do not wait."""
        t, v = self.t, self.v
        kind = KINDS[Barrier.of(end).kind]
        if not self.per_lane and kind == 0:
            return
        count = end.args[1] if len(end.args) > 1 else None
        predicate = end.args[2] if len(end.args) > 2 else None
        bits = "0"
        if predicate is not None:
            bits = v.truth(predicate)
            bits = bits if lanes is None else t.two("and", v.word, bits, lanes)
        number = self._number(end) if self.per_lane else "0"
        expected = self._scalar(count) if count is not None else "0"
        for here, holding in zip(v.warp_words(lanes or "-1"), v.warp_words(bits), strict=True):
            t.do(
                f"call void @aw.arrive(ptr {self.at.frame}, i32 {number}, i32 {kind}, i32 {expected}, i32 {here}, "
                f"i32 {holding})"
            )

    def leave(self, lanes: str | None) -> None:
        """Let lanes (None: all) end."""
        t = self.t
        if not self.any:
            return
        if self.per_lane:
            self._set_lanes("waiting", str(EXITED), lanes)
            return
        if lanes is None:
            t.do(f"store i32 {ENDED}, ptr {self.state}")
            return
        place, word = self.field(GANG.offset("alive")), self.v.word
        alive = t.two("and", word, t.let(f"load {word}, ptr {place}, align 4"), t.two("xor", word, lanes, "-1"))
        t.do(f"store {word} {alive}, ptr {place}, align 4")
        old = t.let(f"load i32, ptr {self.state}")
        t.do(f"store i32 {t.pick(0, t.two('icmp eq', word, alive, '0'), 'i32', str(ENDED), old)}, ptr {self.state}")

    # --- going on -------------------------------------------------------------------------------------------------

    def _restore(self, value: Value, kind: str, lanes: str | None) -> None:
        """Load a kept value into its variables, for all lanes or (of wide ones) some."""
        t, v = self.t, self.v
        offset, element = self._slot(value), LLVM_TYPE[value.type]
        wide = kind == "copy" or v.varies(value)
        if not wide:
            held = "i32" if element == "i1" else element
            scalar = t.let(f"load {held}, ptr {self.field(offset)}")
            v.assign(value, kind, [t.cast("trunc", "i32", scalar, "i1") if element == "i1" else scalar])
            return
        if element == "i1":
            chunks = v.lane_masks(t.let(f"load {v.word}, ptr {self.field(offset)}, align 4"))
        else:
            chunks = [
                t.let(
                    f"load {vector_type(element, v.chunk)}, ptr {self.field(offset + i * v.chunk * SIZE[value.type])}, align 4"
                )
                for i in range(v.chunks)
            ]
        v.assign(value, kind, chunks, lanes)

    def load_live(self, target: Block, live: Sequence[Value], lanes: str | None) -> None:
        """Set the variables of everything that `target` needs."""
        v = self.v
        t = self.t
        v.begin_copy(target, None)
        self._restore_flags()
        kept = self.kept(live)
        for value in live:
            if value in kept:
                self._restore_either(value, "copy" if v.left(value, target) else "main", lanes)
            elif value not in v.hoisted and not v.variables.is_framed(value):
                self.ops.repeat(value)
        for phi in target.phis:
            if not v.variables.is_framed(phi):
                self._restore_either(phi, "phi", lanes)
        if self.per_lane:
            for i, variable in enumerate(self.results):
                type = vector_type("i32", v.chunk)
                new = t.let(f"load {type}, ptr {self.lane_states('result', i)}, align 4")
                if lanes is not None:
                    new = t.pick(v.chunk, v.lane_masks(lanes)[i], type, new, t.let(f"load {type}, ptr {variable}"))
                t.do(f"store {type} {new}, ptr {variable}")
        else:
            place = t.let(f"getelementptr i8, ptr {self.at.frame}, i64 {CELL.offset('result')}")
            t.do(f"store i32 {t.let(f'load i32, ptr {place}')}, ptr {self.results[0]}")

    def _restore_flags(self) -> None:
        t, v = self.t, self.v
        kept = set(self._kept_flags())
        for condition in v.tested:
            if condition in kept:
                byte = t.let(f"load i8, ptr {self.field(self._flag_slot(condition))}")
                t.do(f"store i1 {t.cast('trunc', 'i8', byte, 'i1')}, ptr {v.variables.flag(condition)}")
            else:
                for operand in condition.args:
                    self.ops.repeat(operand)
                t.do(f"store i1 true, ptr {v.variables.flag(condition)}")
                self.ops.memory.test(condition, keep=False)

    def reset_flags(self) -> None:
        """When a warp begins, nothing has wrapped around."""
        for condition in self.v.tested:
            self.t.do(f"store i1 true, ptr {self.v.variables.flag(condition)}")

    def result(self, op: Op) -> None:
        """Define what a reducing barrier delivered: a count, or a truth value."""
        t, v = self.t, self.v
        wide = self.per_lane
        type = vector_type("i32", v.chunk if wide else 0)
        parts = [t.let(f"load {type}, ptr {x}") for x in self.results]
        if op.type == "i1":
            zero = "zeroinitializer" if wide else "0"
            parts = [t.two("icmp ne", type, p, zero) for p in parts]
        v.define(op, None if wide else parts[0], parts if wide else None)

    def land_in_chain(
        self, block: Block, live: Mapping[Block, Sequence[Value]], wait: Callable[[Block, str], None]
    ) -> None:
        """Per lane: before a block's place in the chain, let lanes released to it wait there with what they kept."""
        if not self.per_lane or block not in self.entries:
            return
        t = self.t
        number = self.entries.index(block)
        lanes = t.let(f"load i32, ptr {self.landing[number]}")
        land, landed = t.fresh("land"), t.fresh("landed")
        t.do(f"br i1 {t.two('icmp ne', 'i32', lanes, '0')}, label %{land}, label %{landed}")
        t.start(land)
        t.do(f"store i32 0, ptr {self.landing[number]}")
        if number:
            self.load_live(block, live[block], lanes)
        wait(block, lanes)
        t.do(f"br label %{landed}")
        t.start(landed)

    @property
    def reduces(self) -> bool:
        """Tell whether any barrier delivers a result."""
        return any(Barrier.of(b.terminator).kind.startswith("red") for b in self.waits)

    def declare(self) -> None:
        """Add the functions that scheduling calls."""
        if not (self.per_lane or self.reduces):
            return
        for name, text in RELEASE.items():
            if self.per_lane or name in ("aw.arrive", "aw.finish"):
                self.t.declarations[name] = text
        self.t.declare("i32", "llvm.ctpop.i32", ["i32"])
