"""Control flow of a warp: every block twice, once for all lanes of the gang together and once for some of them.

The full copies are the kernel's own graph with plain branches: where a branch varies, lanes that agree take it together. Where
they disagree, execution enters the masked copies, which stand one behind the other in linear order. Each masked copy has a word
of the lanes that wait to run it; it runs if there is any and hands its lanes to its successors; behind a loop's last block
control returns to its header while lanes wait there. Where paths join and all lanes wait, execution returns to the full copies.
Any graph comes out right, because every lane always waits at exactly one block; the order only decides who waits for whom.

Where an instruction names lanes that are elsewhere, those that have come stay at its block while the others run ahead
(`meetings.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from anywarp.compiler.attributes import Trapped
from anywarp.compiler.cfg import Loop, linear_order
from anywarp.compiler.ir import Block, Phi, Terminator, Value
from anywarp.compiler.simd.barriers import Barriers
from anywarp.compiler.simd.live_in import values_live_in
from anywarp.compiler.simd.meetings import Meetings
from anywarp.compiler.simd.members import waits_for_members
from anywarp.compiler.simd.mode import leave
from anywarp.compiler.simd.operations import Operations
from anywarp.compiler.simd.special import Launch, in_worker
from anywarp.compiler.simd.text import literal
from anywarp.compiler.simd.values import Values
from anywarp.compiler.simd.verdicts import known_mask, verdict

FULL = "-1"
PROMOTED_MASKS = 48
"""Beyond this many blocks masks stay in memory: as registers, all of them would be alive at every block."""


class Flow:
    """Emits all blocks of a kernel, once `prologue` code has set up `at`."""

    def __init__(self, values: Values, operations: Operations, barriers: Barriers, at: Launch, partial: bool) -> None:
        self.v = values
        self.t = values.t
        self.ops = operations
        self.barriers = barriers
        self.at = at
        self.partial = partial
        flow = values.flow
        order = linear_order(flow.succ, flow.nest)
        self.order = [flow.blocks[i] for i in order]
        self.position = {block: i for i, block in enumerate(self.order)}
        self.live = values_live_in(values)
        self.inlined: set[Block] = set()
        self.masked = self._masked_blocks()
        self.inlined = self._short_branches()
        self.masked = self._masked_blocks()
        self.converging = [b for b in self.order if b in self.masked and waits_for_members(b)]
        if self.converging and len(self.masked) > PROMOTED_MASKS:
            values.variables.keep_in_memory()
        self.masks: dict[Block, str] = {}
        self.meetings = Meetings(values, operations.warp, barriers, at, self.converging, self.masks)
        self.arriving: dict[Phi, tuple[str, int]] = {}  # of code without masked copies: names, and lines to be written
        self.edges: list[tuple[Phi, str, str]] = []  # what comes to them, from the code at which label
        self.loop_end: dict[int, list[Block]] = {}
        for loop in flow.nest.loops:
            last = max(self.position[flow.blocks[i]] for i in loop.blocks)
            self.loop_end.setdefault(last, []).insert(0, flow.blocks[loop.header])

    def _short_branches(self) -> set[Block]:
        """Blocks of which only one or two short ways lead to where all lanes meet again.

        What some lanes run stands in line there, under their mask; nobody waits in the chain.
        """
        found: set[Block] = set()
        for block in self.order:
            if self.varying(block.terminator) and self._ways(block) is not None:
                found.add(block)
        while True:  # whoever may come there under a mask must find the ways in the chain
            self.inlined = found
            masked = self._masked_blocks()
            found = found - masked
            if found == self.inlined:
                return found

    def _ways(self, block: Block) -> list[tuple[Block, bool]] | None:
        """Return the blocks between a branch and where its ways meet, each with whether the condition holds there."""
        targets = block.terminator.targets
        if block.terminator.name != "branch" or self.barriers.per_lane or targets[0] is targets[1]:
            return None
        flow = self.v.flow
        own = [len(flow.pred[flow.index[b]]) == 1 and b.terminator.name == "jump" for b in targets]
        ends = [b.terminator.targets[0] if short else b for b, short in zip(targets, own, strict=True)]
        for which in (0, 1):
            if own[which] and ends[which] is targets[1 - which] and ends[which] is not block:
                return [(targets[which], which == 0)]
        if all(own) and ends[0] is ends[1] and ends[0] is not block:
            return [(targets[0], True), (targets[1], False)]
        return None

    def _masked_blocks(self) -> set[Block]:
        """Blocks that may run with fewer than all lanes, in the chain."""
        if self.partial or self.barriers.per_lane:
            return set(self.order)
        out: set[Block] = set()
        work: list[Block] = []
        for block in self.order:
            if self.varying(block.terminator) and block not in self.inlined:
                work += block.terminator.targets
        divergent = self.v.analysis.divergent_blocks
        while work:
            block = work.pop()
            if block in out or block not in divergent:
                continue
            out.add(block)
            work += block.terminator.targets
        return out

    def varying(self, terminator: Terminator) -> bool:
        """Tell whether lanes may take different ways."""
        return (
            terminator.name in ("branch", "switch")
            and len(set(terminator.targets)) > 1
            and terminator.args[0] is not None
            and (
                not self.v.shape(terminator.args[0]).uniform
                or self.v.left(terminator.args[0], self.block_of(terminator))
            )
        )

    def block_of(self, terminator: Terminator) -> Block:
        """Return the block that ends so."""
        if not hasattr(self, "_ends"):
            self._ends = {id(b.terminator): b for b in self.v.kernel.blocks}
        return self._ends[id(terminator)]

    # --- names ----------------------------------------------------------------------------------------------------

    def full(self, block: Block) -> str:
        """Label of a block's full copy."""
        return f"F{self.position[block]}"

    def test(self, position: int) -> str:
        """Label of the masked chain at a position; behind the last block the warp is done."""
        return f"T{position}" if position < len(self.order) else "chain.end" if self.converging else "warp.done"

    def prepare(self) -> None:
        """Reserve the masks; call while allocas may still be made anywhere."""
        if not self.masked:
            return
        if self.converging:
            self.v.variables.set_under_mask(
                v for b in self.converging for v in self.live[b] if self._made_meanwhile(v, b)
            )
        self.meetings.prepare()
        parting = [b for b in self.order if b in self.masked or (self.varying(b.terminator) and b not in self.inlined)]
        targets = {target for b in parting for target in b.terminator.targets}
        entries = set(self.barriers.entries)
        needed = [b for b in self.order if b in self.masked or b in targets or b in entries]
        if len(needed) <= PROMOTED_MASKS:
            self.masks |= {block: self.t.alloca(self.v.word) for block in needed}
            self.room, self.room_bytes = "", 0
            return
        self.room, self.room_bytes = (
            self.t.alloca(f"[{len(needed)} x {self.v.word}]", 64),
            self.v.lanes // 8 * len(needed),
        )
        self.t.allocas += [
            f"  {self.room}.{i} = getelementptr {self.v.word}, ptr {self.room}, i32 {i}" for i in range(len(needed))
        ]
        # An address that code we cannot see may hold keeps the masks in memory.
        self.t.allocas.append(f'  call void asm sideeffect "", "r"(ptr {self.room})')
        self.masks |= {block: f"{self.room}.{i}" for i, block in enumerate(needed)}

    def clear_masks(self) -> None:
        """No lane waits anywhere: the state in which masked code may be entered."""
        if self.room:
            self.t.call(
                "void",
                "llvm.memset.p0.i64",
                ("ptr", self.room),
                ("i8", "0"),
                ("i64", str(self.room_bytes)),
                ("i1", "false"),
            )
            return
        for mask in self.masks.values():
            self.t.do(f"store {self.v.word} 0, ptr {mask}")

    def wait_at(self, block: Block, lanes: str) -> None:
        """Let lanes wait at a block's masked copy."""
        t, mask, word = self.t, self.masks[block], self.v.word
        old = t.let(f"load {word}, ptr {mask}")
        t.do(f"store {word} {t.two('or', word, old, lanes)}, ptr {mask}")

    # --- both kinds of copies -------------------------------------------------------------------------------------

    def emit(self) -> None:
        """Emit every block's full copy, then the chain of masked ones."""
        for block in self.order:
            self._emit_full(block)
        if self.masked:
            self._emit_chain()
        self._join_edges()

    def _join_edges(self) -> None:
        """Write the phis of code without masked copies, now that the ways into each block are known."""
        ways: dict[Phi, list[str]] = {phi: [] for phi in self.arriving}
        for phi, scalar, label in self.edges:
            ways[phi].append(f"[ {scalar}, %{label} ]")
        for phi, (name, line) in self.arriving.items():
            self.t.lines[line] = f"  {name} = phi {self.v.type(phi, False)} {', '.join(ways[phi])}"

    def _made_meanwhile(self, value: Value, block: Block) -> bool:
        """Tell whether other lanes may make a value again while some wait in a block and need theirs."""
        flow, home = self.v.flow, self.v.home.get(value)
        if home is None:
            return False
        if self.barriers.per_lane or home in self.v.analysis.ahead:
            return True
        return any(flow.index[home] in loop.blocks for loop in flow.nest.around(flow.index[block]))

    def _waited_in(self, loop: Loop) -> bool:
        """Tell whether lanes may wait for others in a loop while those come to its head again: their values are needed."""
        return any(self.v.flow.index[block] in loop.blocks for block in self.converging)

    def _body(self, block: Block, mask: str | None) -> None:
        v = self.v
        v.begin_copy(block, mask)
        arrived = {phi: self._arrived(phi) for phi in block.phis}
        loop = v.flow.nest.innermost[v.flow.index[block]]
        if loop is not None and v.flow.blocks[loop.header] is block and (mask is None or not self._waited_in(loop)):
            v.variables.forget(loop)
        for phi, parts in arrived.items():
            if v.has_first(phi):
                self._first_phi(phi, parts[0])
                continue
            wide = v.varies(phi)
            v.define(phi, None if wide else parts[0], parts if wide else None)
        done = 0
        for i, op in enumerate(block.ops):
            if i < done:
                continue
            done = self.ops.emit_run(block.ops, i)
            if done > i:
                continue
            if op in v.conditions:
                self.ops.memory.test(op)
            if op.name == "barrier_result":
                self.barriers.result(op)
            else:
                self.ops.emit(op)

    def _arrived(self, phi: Phi) -> list[str]:
        """Read what the edges into a block set; of a phi that is affine under conditions lane 0's value."""
        v = self.v
        if v.unparted:
            name = "%" + self.t.fresh()
            self.arriving[phi] = name, len(self.t.lines)
            self.t.lines.append("")
            return [name]
        kind = "phi0" if v.has_first(phi) else "phi"
        if v.wide(phi, kind):
            return v.variables.load_chunks(phi, kind)
        return [self.t.let(f"load {v.type(phi, False)}, ptr {v.variables.place(x)}") for x in v.variables.of(phi, kind)]

    def _first_phi(self, phi: Phi, first: str) -> None:
        """Define a phi that is affine under conditions: lane 0's value always, its chunks once they have failed."""
        v = self.v
        v.hold_scalar(phi, first)
        v.assign(phi, "main0", [first])
        place = v.unless_affine(phi)
        parts = v.variables.load_chunks(phi, "phi")
        v.assign(phi, "main", parts)
        v.resume(place)

    def assign_edge(self, source: Block, target: Block, lanes: str | None) -> None:
        """Set what an edge sets, for the lanes that take it (None: all): phis, and values that lanes leave a loop with."""
        v = self.v
        for phi in target.phis:
            value = phi.incoming[source]
            if v.unparted:
                self.edges.append((phi, v.scalar(value), self.t.label))
                continue
            if not v.has_first(phi):
                v.assign(phi, "phi", self._parts(phi, value), lanes)
                continue
            v.assign(phi, "phi0", [v.scalar(value)], lanes)
            place = v.unless_affine(phi)
            v.assign(phi, "phi", v.vector(value), lanes)
            v.resume(place)
        if not v.temporal_loop:
            return
        s, d = v.flow.index[source], v.flow.index[target]
        for value in self.live[target]:
            loop = v.temporal_loop.get(value)
            if loop is not None and s in loop.blocks and d not in loop.blocks:
                v.assign(value, "copy", v.vector(value), lanes)

    def _parts(self, phi: Phi, value: Value) -> list[str]:
        return self.v.vector(value) if self.v.varies(phi) else [self.v.scalar(value)]

    # --- full copies ----------------------------------------------------------------------------------------------

    def _emit_full(self, block: Block) -> None:
        self.t.start(self.full(block))
        if block in self.converging and self.meetings.may_differ(block.ops[0].args[0]):
            self._stay_apart(block)
        self._body(block, None)
        end = block.terminator
        if end.name in ("jump", "branch", "switch") or self.barriers.passes(end):
            self._full_branch(block, end)
        elif end.name == "barrier":
            self.barriers.park(block, None, self.live)
            self.t.do("br label %warp.done")
        elif end.name == "exit":
            self.barriers.leave(None)
            self.t.do("br label %warp.done")
        else:
            self._trap("0", end)

    def _stay_apart(self, block: Block) -> None:
        """Enter the masked copy of a block with all lanes if some of them name lanes whose masks are others."""
        t, v, state = self.t, self.v, self.v.snapshot()
        v.begin_copy(block, None)
        unlike, agreed, differ = (t.fresh(name) for name in ("unlike", "agreed", "differ"))
        alike = t.two("icmp eq", v.word, v.bits_of(self.meetings.unlike(block.ops[0].args[0])), "0")
        t.do(f"br i1 {alike}, label %{agreed}, label %{unlike}, !prof !1")
        t.start(unlike)
        waiting = v.bits_of(self.meetings.lacking(block.ops[0].args[0], FULL, FULL))
        t.do(f"br i1 {t.two('icmp eq', v.word, waiting, '0')}, label %{agreed}, label %{differ}, !prof !1")
        t.start(differ)
        self.clear_masks()
        t.do(f"store {v.word} {FULL}, ptr {self.masks[block]}")
        t.do(f"br label %S{self.position[block]}")
        t.start(agreed)
        v.restore(state)

    def _trap(self, lane: str, end: Terminator) -> None:
        t, v = self.t, self.v
        lane, why = self.at.lane if v.single else lane, Trapped.of(end)
        for field, value in (("line", why.line), ("reason", why.reason)):
            t.do(f"store i32 {value}, ptr {in_worker(v, self.at, field)}")
        if v.warps > 1 and lane != "0":
            lane = t.cast("trunc", v.word, lane, "i32")
            warp = t.two("add", "i32", self.at.warp, t.two("lshr", "i32", lane, "5"))
            t.do(f"store i32 {warp}, ptr {in_worker(v, self.at, 'warp')}")
            lane = t.two("and", "i32", lane, "31")
        t.do(f"store i32 {lane}, ptr {in_worker(v, self.at, 'trap_lane')}")
        leave(v, "AW_TRAP")

    def _full_branch(self, block: Block, end: Terminator) -> None:
        t, v = self.t, self.v
        targets = list(dict.fromkeys(end.targets))
        self.barriers.arrive(end, None)
        if len(targets) == 1:
            self.assign_edge(block, targets[0], None)
            t.do(f"br label %{self.full(targets[0])}")
            return
        argument = end.args[0]
        assert argument is not None
        edges = {target: t.fresh("edge") for target in targets}
        if not self.varying(end):
            self._choose(end, v.scalar(argument), edges)
        else:
            self._agree(block, end, argument, edges)
        state = v.snapshot()
        for target, label in edges.items():
            t.start(label)
            self.assign_edge(block, target, None)
            t.do(f"br label %{self.full(target)}")
            v.restore(state)

    def _choose(self, end: Terminator, value: str, edges: dict[Block, str]) -> None:
        """A plain branch of all lanes together."""
        if end.name == "branch":
            self.t.do(f"br i1 {value}, label %{edges[end.targets[0]]}, label %{edges[end.targets[1]]}")
            return
        arms = " ".join(f"i32 {i}, label %{edges[target]}" for i, target in enumerate(end.targets[:-1]))
        self.t.do(f"switch i32 {value}, label %{edges[end.targets[-1]]} [ {arms} ]")

    def _agree(self, block: Block, end: Terminator, argument: Value, edges: dict[Block, str]) -> None:
        """A varying branch: to a full copy if all lanes agree, else to code for some of them."""
        t, v = self.t, self.v
        mixed, state = t.fresh("mixed"), v.snapshot()
        known = known_mask(v, argument) if end.name == "branch" else None
        if known is not None:
            taken = self._constant_takers(end, known)
            alone = [target for target, bits in taken.items() if bits == FULL]
            t.do(f"br label %{edges[alone[0]] if alone else mixed}")
        else:
            taken = self._ask(end, argument, edges, mixed)
        t.start(mixed)
        ways = self._ways(block) if block in self.inlined else None
        if ways is not None:
            self._in_line(block, ways, taken)
        else:
            self.clear_masks()
            for target, bits in taken.items():
                self.assign_edge(block, target, bits)
                t.do(f"store {v.word} {bits}, ptr {self.masks[target]}")
            first = self._first(block, list(taken))
            t.do(f"br label %{f'S{first}' if end.name == 'branch' else self.test(first)}")
        v.restore(state)

    def _constant_takers(self, end: Terminator, known: int) -> dict[Block, str]:
        lanes = self.v.lanes
        yes, no = known, (1 << lanes) - 1 ^ known
        return {target: literal(bits, lanes) for target, bits in zip(end.targets, (yes, no), strict=True)}

    def _ask(self, end: Terminator, argument: Value, edges: dict[Block, str], mixed: str) -> dict[Block, str]:
        """Go to an edge if all lanes take it, else to `mixed`; returns the lanes that take each way."""
        t, v = self.t, self.v
        if end.name != "branch":
            taken = self._takers(end, argument, None)
            for target, bits in taken.items():
                other = t.fresh("maybe")
                t.do(f"br i1 {t.two('icmp eq', v.word, bits, FULL)}, label %{edges[target]}, label %{other}")
                t.start(other)
            t.do(f"br label %{mixed}")
            return taken
        for target, surely in zip(end.targets, verdict(v, argument), strict=True):
            if surely:
                other = t.fresh("maybe")
                t.do(f"br i1 {surely}, label %{edges[target]}, label %{other}, !prof !1")
                t.start(other)
        taken = self._takers(end, argument, None)
        bits, maybe = taken[end.targets[0]], t.fresh("maybe")
        t.do(f"br i1 {t.two('icmp eq', v.word, bits, FULL)}, label %{edges[end.targets[0]]}, label %{maybe}, !prof !1")
        t.start(maybe)
        t.do(f"br i1 {t.two('icmp eq', v.word, bits, '0')}, label %{edges[end.targets[1]]}, label %{mixed}, !prof !1")
        return taken

    def _in_line(self, block: Block, ways: list[tuple[Block, bool]], taken: dict[Block, str]) -> None:
        """Emit what stands between a branch and where its ways meet, for the lanes that take each, and go on together there."""
        v, join, state = self.v, ways[0][0].terminator.targets[0], self.v.snapshot()
        if len(ways) == 1:
            self.assign_edge(block, join, None)  # as if all went straight; then some change their part
        for way, _ in ways:
            v.restore(state)
            v.read_as(block, None)
            self.assign_edge(block, way, None)
            lanes = taken[way]
            self._body(way, lanes)
            self.assign_edge(way, join, None if len(ways) == 2 and way is ways[0][0] else lanes)
        self.t.do(f"br label %{self.full(join)}")
        v.read_as(block, None)

    def _first(self, block: Block, targets: Sequence[Block]) -> int:
        """Where in the chain to go when lanes wait at `targets` only: to what the chain reaches first behind `block`.

        Inside a loop all that lies ahead comes before its header: lanes of one trip must be done before others begin the next.
        """
        here = self.position[block]
        positions = [self.position[target] for target in targets]
        for loop in self.v.flow.nest.around(self.v.flow.index[block]):
            last = max(self.position[self.v.flow.blocks[i]] for i in loop.blocks)
            ahead = [p for p in positions if here < p <= last]
            if ahead:
                return min(ahead)
            header = self.position[self.v.flow.blocks[loop.header]]
            if header in positions:
                return header
        return min(positions)

    def _takers(self, end: Terminator, argument: Value, mask: str | None) -> dict[Block, str]:
        """Return for each target the word of lanes that take it, out of `mask` (None: all)."""
        t, v = self.t, self.v
        out: dict[Block, str] = {}

        def add(target: Block, bits: str) -> None:
            out[target] = t.two("or", self.v.word, out[target], bits) if target in out else bits

        if end.name == "branch":
            truth = v.truth(argument)
            no = t.two("xor", v.word, truth, "-1")
            add(end.targets[0], truth if mask is None else t.two("and", v.word, truth, mask))
            add(end.targets[1], no if mask is None else t.two("and", v.word, no, mask))
            return out
        chunks = v.vector(argument)
        type = f"<{v.chunk} x i32>"
        rest = mask or FULL
        for i, target in enumerate(end.targets[:-1]):
            bits = v.bits_of([t.two("icmp eq", type, c, f"splat (i32 {i})") for c in chunks])
            add(target, bits if mask is None else t.two("and", v.word, bits, mask))
            rest = t.two("and", v.word, rest, t.two("xor", v.word, bits, "-1"))
        add(end.targets[-1], rest)  # as are indices out of range, which PTX leaves undefined: no lane may get lost
        return out

    # --- masked copies --------------------------------------------------------------------------------------------

    def _emit_chain(self) -> None:
        t = self.t
        for i, block in enumerate(self.order):
            t.start(self.test(i))
            self.barriers.land_in_chain(block, self.live, self.wait_at)
            if block in self.masks:
                self._emit_masked(i, block)
            else:
                t.do(f"br label %{self._after(i)}")
            self._emit_loop_ends(i)
        if self.converging:
            self.meetings.end_chain(self.test(0), self.live)

    def _after(self, position: int) -> str:
        """Label of what follows a position in the chain: a loop's end, or the next position."""
        return f"E{position}" if position in self.loop_end else self.test(position + 1)

    def _emit_loop_ends(self, position: int) -> None:
        t = self.t
        if position not in self.loop_end:
            return
        t.start(f"E{position}")
        for header in self.loop_end[position]:
            if header not in self.masks:
                continue
            on = t.two("icmp ne", self.v.word, t.let(f"load {self.v.word}, ptr {self.masks[header]}"), "0")
            out = t.fresh("out")
            t.do(f"br i1 {on}, label %S{self.position[header]}, label %{out}")
            t.start(out)
        t.do(f"br label %{self.test(position + 1)}")

    def _emit_masked(self, i: int, block: Block) -> None:
        t, v = self.t, self.v
        mask = self.masks[block]
        body = t.fresh("body")
        waiting = t.let(f"load {v.word}, ptr {mask}")
        t.do(f"br i1 {t.two('icmp ne', v.word, waiting, '0')}, label %S{i}, label %{self._after(i)}")
        t.start(f"S{i}")  # who knows that lanes wait comes here directly, so that it is plain that this block runs
        lanes = t.let(f"load {v.word}, ptr {mask}")
        t.do(f"store {v.word} 0, ptr {mask}")
        if block not in self.masked:  # lanes always come together again before this block
            if self.converging and not self.barriers.per_lane:
                together = t.two("icmp eq", v.word, lanes, FULL)
                t.do(f"br i1 {together}, label %{self.full(block)}, label %chain.never, !prof !1")
            else:
                t.do(f"br label %{self.full(block)}")
            return
        if self._rejoins(block):
            t.do(f"br i1 {t.two('icmp eq', v.word, lanes, FULL)}, label %{self.full(block)}, label %{body}")
            t.start(body)
        if block in self.converging:
            lanes = self.meetings.converge(block, lanes, self._after(i))
        self.meetings.moved()
        self._body(block, lanes)
        end = block.terminator
        if end.name in ("jump", "branch", "switch") or self.barriers.passes(end):
            self._masked_branch(block, end, lanes)
        elif end.name == "barrier":
            self.barriers.park(block, lanes, self.live)
        elif end.name == "exit":
            self.barriers.leave(lanes)
            self.meetings.end_lanes(lanes)
        else:
            self._trap(t.call(v.word, f"llvm.cttz.{v.word}", (v.word, lanes), ("i1", "false")), end)
            return
        v.restore(v.snapshot())
        t.do(f"br label %{self._after(i)}")

    def _rejoins(self, block: Block) -> bool:
        """Tell whether lanes may have come together here: where edges meet, or lanes leave a loop."""
        flow = self.v.flow
        node = flow.index[block]
        if len(flow.pred[node]) > 1:
            return True
        loop = flow.nest.innermost[node]
        return any(flow.nest.innermost[p] is not loop for p in flow.pred[node])

    def _masked_branch(self, block: Block, end: Terminator, lanes: str) -> None:
        v = self.v
        targets = list(dict.fromkeys(end.targets))
        self.barriers.arrive(end, lanes)
        if len(targets) == 1:
            taken = {targets[0]: lanes}
        elif self.varying(end):
            assert end.args[0] is not None
            taken = self._takers(end, end.args[0], lanes)
        else:
            assert end.args[0] is not None
            taken = self._takers_together(end, v.scalar(end.args[0]), lanes)
        for target, bits in taken.items():
            self.assign_edge(block, target, bits)
            self.wait_at(target, bits)

    def _takers_together(self, end: Terminator, value: str, lanes: str) -> dict[Block, str]:
        """Which lanes take which way when all that are on go the same."""
        t = self.t
        if end.name == "branch":
            return {
                end.targets[0]: t.pick(0, value, self.v.word, lanes, "0"),
                end.targets[1]: t.pick(0, value, self.v.word, "0", lanes),
            }
        out: dict[Block, str] = {}
        last = len(end.targets) - 1
        clamped = t.call("i32", "llvm.umin.i32", ("i32", value), ("i32", str(last)))
        for i, target in enumerate(end.targets):
            bits = t.pick(0, t.two("icmp eq", "i32", clamped, str(i)), self.v.word, lanes, "0")
            out[target] = t.two("or", self.v.word, out[target], bits) if target in out else bits
        return out
