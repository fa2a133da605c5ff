"""Lanes that wait for each other take turns, on hardware that runs the lanes of a wave in step.

Since Volta every thread makes progress on its own (CUDA C++ Programming Guide, Independent Thread Scheduling). A wave has one place in
the code: lanes that leave a loop wait behind it for those that go round, lanes of one branch for those of the other, so what lanes
in the loop wait for may never be done. Here the whole kernel becomes the body of one loop. Each trip takes every lane from where it
stands to where it next has to wait: to the next trip of a loop that holds such a place, to a barrier, to a `.sync` instruction, or to
its end. Nobody leaves before all are done, so nothing that one lane does comes behind the waiting of another.

LLVM must leave it so: all ways meet in one block with a convergent operation, which it may neither copy nor put under another condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anywarp.compiler.amdgpu.barrier_plan import BarrierPlan, is_block_barrier
from anywarp.compiler.artifact import REASONS
from anywarp.compiler.attributes import Barrier, Compare, IntegerPredicate, Trapped
from anywarp.compiler.cfg import arrange_blocks, control_flow, dominance_frontiers
from anywarp.compiler.ir import CONVERGE, SPECULATABLE, Block, Const, Kernel, Op, Phi, Terminator, Undefined, Value
from anywarp.compiler.place_phis import place_phis

_NAME = "turns"
_EARLY = SPECULATABLE & frozenset(
    "add sub mul and or xor not shl lshr ashr icmp select trunc zext sext bitcast to_generic from_generic param symbol".split()
)
"""What any lane may compute before the loop, needed or not: it takes an instruction or two."""
STUCK = REASONS.index("lanes of a warp wait for each other at different instructions, for ever")


def takes_turns(kernel: Kernel) -> bool:
    """Tell whether `take_turns` has changed a kernel."""
    return any(block.name == _NAME for block in kernel.blocks)


def take_turns(kernel: Kernel, plan: BarrierPlan) -> None:
    """Turn `kernel` into one loop in which lanes take turns. `plan` says which barriers are counted; `verify` holds afterwards."""
    _Turns(kernel, plan).run()


@dataclass(slots=True)
class _Place:
    """Where lanes go on: `block`, to which only the choice of places leads; `mask`: the lanes that a lane waits for there."""

    block: Block
    mask: Value | None = None
    barrier: bool = False


class _Turns:
    def __init__(self, kernel: Kernel, plan: BarrierPlan) -> None:
        self.kernel = kernel
        self.plan = plan
        self.state, self.mask = Undefined("i32"), Undefined("i32")  # variables, until they are given their phis
        self.latch = Block("turn")
        self.sets: dict[Block, list[tuple[Value, Value]]] = {}
        self.merged: set[Phi] = set()

    def run(self) -> None:
        kernel = self.kernel
        _elements_follow(kernel)
        for block in list(kernel.blocks):
            self._look_again(block)
            self._part(block)
        begin = self._begin()
        headers = self._headers()
        warp, plain, own = self._waiting()
        running = [begin, *headers]
        places = [*(_Place(b) for b in running), *warp, *plain, *own]
        self._link(places, len(running), len(running) + len(warp))
        self._choose(places, len(running), len(running) + len(warp), [p.block for p in plain])
        arrange_blocks(kernel)
        _Values(kernel, self.sets, self.merged, (self.state, self.mask)).run()

    # --- the places ---------------------------------------------------------------------------------------------------

    def _part(self, block: Block) -> None:
        """End a block before each instruction that waits for the lanes of a mask."""
        while (at := next((i for i, op in enumerate(block.ops) if op.name == CONVERGE), None)) is not None:
            rest = Block(f"{block.name}.met{at}")
            rest.ops, rest.terminator = block.ops[at + 1 :], block.terminator
            mask = block.ops[at].args[0]
            block.ops = block.ops[:at]
            block.terminator = Terminator("barrier", [mask], [rest], Barrier("meet", True), rest.terminator.span)
            self._moved(block, rest)
            self.kernel.blocks.insert(self.kernel.blocks.index(block) + 1, rest)
            block = rest

    def _look_again(self, block: Block) -> None:
        """Part waiting at a barrier that counts threads: the warp arrives when all its lanes are there, then looks on every trip."""
        end = block.terminator
        if not is_block_barrier(end) or not self._counted(end) or Barrier.of(end).kind not in ("sync", "arrive"):
            return
        arrive, look, behind = Block(f"{block.name}.arrive"), Block(f"{block.name}.look"), Block(f"{block.name}.passed")
        number = end.args[0]
        assert number is not None
        phase = Op("barrier_arrive", "i32", [number, *(a for a in end.args[1:2] if a is not None)])
        arrive.ops = [phase]
        block.terminator = Terminator("barrier", [Const("i32", -1)], [arrive], Barrier("meet", True), span=end.span)
        behind.terminator = Terminator("jump", [], end.targets, span=end.span)
        arrive.terminator = Terminator("jump", [], [look if Barrier.of(end).kind == "sync" else behind], span=end.span)
        look.ops = [Op("barrier_passed", "i1", [number, phase])]
        look.terminator = Terminator("branch", [look.ops[0]], [behind, look], span=end.span)
        for phi in end.targets[0].phis:
            phi.incoming[behind] = phi.incoming.pop(block)
        self.kernel.blocks += [arrive, behind]
        if Barrier.of(end).kind == "sync":
            again = Block(f"{block.name}.again")
            again.terminator = Terminator("barrier", [], [look], Barrier("yield", False), span=end.span)
            look.terminator.targets[1] = again
            self.kernel.blocks += [look, again]

    def _moved(self, old: Block, new: Block) -> None:
        """The edges of `old` are now those of `new`."""
        for target in dict.fromkeys(new.terminator.targets):
            for phi in target.phis:
                phi.incoming[new] = phi.incoming.pop(old)

    def _begin(self) -> Block:
        """Part the first block's operations, which all places may use, from how it ends."""
        entry, begin = self.kernel.blocks[0], Block("begin")
        begin.terminator, entry.terminator = entry.terminator, Terminator("jump", [], [begin])
        self._moved(entry, begin)
        self.kernel.blocks.insert(1, begin)
        return begin

    def _headers(self) -> list[Block]:
        """Return the headers of the loops that hold a place where lanes wait, or are such places themselves."""
        flow = control_flow(self.kernel)
        out: set[int] = set()
        for node, block in enumerate(flow.blocks):
            if block.terminator.name == "barrier":
                out.update(loop.header for loop in flow.nest.around(node))
        for block in flow.blocks:
            if _yields(block):
                block.terminator = Terminator("jump", [], block.terminator.targets, span=block.terminator.span)
        return [flow.blocks[node] for node in sorted(out)]

    def _waiting(self) -> tuple[list[_Place], list[_Place], list[_Place]]:
        """Return where lanes go on behind waiting: for lanes of the warp, at barriers that the hardware serves, at all others."""
        warp: list[_Place] = []
        plain: list[_Place] = []
        own: list[_Place] = []
        for block in list(self.kernel.blocks):
            end = block.terminator
            if end.name != "barrier":
                continue
            behind = Block(f"behind.{block.name}")
            behind.terminator = Terminator(end.name, end.args, end.targets, end.attrs, end.span)
            target = end.targets[0]
            for phi in target.phis:
                phi.incoming[behind] = phi.incoming.pop(block)
            end.targets = [behind]
            self.kernel.blocks.append(behind)
            if Barrier.of(end).warp:
                warp.append(_Place(behind, end.args[0] or Const("i32", -1), Barrier.of(end).kind != "meet"))
                if Barrier.of(end).kind == "meet":
                    behind.terminator = Terminator("jump", [], [target], span=end.span)
            elif self._plain(end):
                plain.append(_Place(behind))
                behind.terminator = Terminator("jump", [], [target], span=end.span)
            else:
                own.append(_Place(behind))
            block.terminator = Terminator("jump", [], [behind], span=end.span)
        warp.sort(key=lambda place: not place.barrier)
        return warp, plain, own

    def _counted(self, end: Terminator) -> bool:
        number = end.args[0]
        return number.bits in self.plan.counted if isinstance(number, Const) else bool(self.plan.counted)

    def _plain(self, end: Terminator) -> bool:
        """Tell whether a barrier is nothing but the hardware's."""
        return is_block_barrier(end) and Barrier.of(end).kind == "sync" and not self._counted(end)

    # --- the loop -----------------------------------------------------------------------------------------------------

    def _link(self, places: list[_Place], warp: int, block: int) -> None:
        """Lead every edge to a place, and every end, to the end of the trip; the phis of places become variables."""
        number = {place.block: i for i, place in enumerate(places)}
        self.merged = {phi for place in places for phi in place.block.phis}
        for source in list(self.kernel.blocks[1:]):
            end = source.terminator
            if end.name == "exit":
                self.sets.setdefault(source, []).append((self.state, _number(len(places))))
                source.terminator = Terminator("jump", [], [self.latch], span=end.span)
                continue
            for target in [t for t in dict.fromkeys(end.targets) if t in number]:
                link = Block(f"to.{target.name}.from.{source.name}")
                link.terminator = Terminator("jump", [], [self.latch], span=end.span)
                place = number[target]
                self.sets[link] = [(self.state, _number(place)), *((phi, phi.incoming[source]) for phi in target.phis)]
                if warp <= place < block:
                    mask = places[place].mask
                    assert mask is not None
                    self.sets[link].append((self.mask, mask))
                end.targets = [link if t is target else t for t in end.targets]
                self.kernel.blocks.append(link)
        for place in places:
            place.block.phis = []

    def _choose(self, places: list[_Place], warp: int, block: int, plain: list[Block]) -> None:
        """Write the loop's own blocks: who is done leaves, who may go on goes to its place, who must wait goes to the end."""
        kernel, state, done = self.kernel, self.state, len(places)
        entry, latch = kernel.blocks[0], self.latch
        head, body, pick, leave = Block(_NAME), Block("turns.body"), Block("turns.pick"), Block("turns.done")
        self.sets.setdefault(entry, []).extend([(state, _number(0)), (self.mask, _number(0))])
        entry.terminator = Terminator("jump", [], [head])
        latch.terminator = Terminator("barrier", [], [head], Barrier("yield", False))
        over = _compare("eq", state, done)
        head.ops = [over]
        head.terminator = Terminator("branch", [over], [leave, body])
        added = [head, body]
        ready: Value = _compare("ult", state, warp)
        pick.ops.append(ready)
        if block < done:
            there = _compare("uge", state, block)
            together = Op("wave_all", "i1", [there])
            body.ops += [there, together]
            body.terminator = Terminator("jump", [], [pick])
            if plain:
                meet = Block("turns.barrier")
                number = next(n for n in range(16) if n not in self.plan.counted)
                meet.terminator = Terminator("barrier", [_number(number), None, None], [pick], Barrier("sync", False))
                body.terminator = Terminator("branch", [together], [meet, pick])
                added.append(meet)
            ready = _append(pick, Op("or", "i1", [ready, together]))
        else:
            body.terminator = Terminator("jump", [], [pick])
        if warp < block:
            live = Op("ballot", "i32", [Const("i1", 1)])
            met = _append(body, Op("and", "i1", [
                _append(body, _compare("uge", state, warp)), _append(body, _compare("ult", state, block))
            ]))  # fmt: skip
            here = self._beside(body, places[warp:block], warp, met)
            body.ops.append(live)
            absent = _append(pick, Op("and", "i32", [live, _append(pick, Op("not", "i32", [here]))]))
            missing = _append(pick, Op("and", "i32", [absent, self.mask]))
            nobody = _append(pick, Op("icmp", "i1", [missing, _number(0)], Compare("eq")))
            ready = _append(pick, Op("or", "i1", [ready, _append(pick, Op("and", "i1", [met, nobody]))]))
            ready = self._nobody_ready(pick, ready, added)
            pick = added[-1]
        place = _append(pick, Op("select", "i32", [ready, state, _number(done)]))
        pick.terminator = Terminator("switch", [place], [*(p.block for p in places), latch])
        kernel.blocks += [*added, *([] if pick in added else [pick]), leave, latch]

    def _beside(self, body: Block, places: list[_Place], first: int, met: Value) -> Value:
        """Return the word of the lanes that wait where this one does, with its mask; barriers of the warp are one place."""
        masks = {place.mask.bits if isinstance(place.mask, Const) else id(place.mask) for place in places}
        if (
            all(isinstance(place.mask, Const) for place in places)
            and len(masks) == 1
            and (len(places) == 1 or all(place.barrier for place in places))
        ):
            return _append(body, Op("ballot", "i32", [met]))
        barriers = sum(place.barrier for place in places)
        at = self.state
        if barriers > 1:
            some = _append(body, Op("and", "i1", [met, _append(body, _compare("ult", at, first + barriers))]))
            at = _append(body, Op("select", "i32", [some, _number(first), at]))
        upper = _append(body, Op("shl", "i64", [_append(body, Op("zext", "i64", [at])), Const("i64", 32)]))
        key = _append(body, Op("or", "i64", [upper, _append(body, Op("zext", "i64", [self.mask]))]))
        return _append(body, Op("match_any", "i32", [key]))

    def _nobody_ready(self, pick: Block, ready: Value, added: list[Block]) -> Value:
        """Stop the kernel where no lane of the wave can ever go on, rather than have it hang."""
        stop, on = Block("turns.stuck"), Block("turns.on")
        stuck = _append(pick, Op("wave_all", "i1", [_append(pick, Op("not", "i1", [ready]))]))
        pick.terminator = Terminator("branch", [stuck], [stop, on])
        stop.terminator = Terminator("trap", [], [], Trapped(STUCK, 0))
        added += [pick, stop, on]
        return ready


def _yields(block: Block) -> bool:
    attrs = block.terminator.attrs
    return isinstance(attrs, Barrier) and attrs.kind == "yield"


def _number(bits: int) -> Const:
    return Const("i32", bits)


def _compare(predicate: IntegerPredicate, value: Value, bits: int) -> Op:
    return Op("icmp", "i1", [value, _number(bits)], Compare(predicate))


def _append(block: Block, op: Op) -> Op:
    block.ops.append(op)
    return op


def _elements_follow(kernel: Kernel) -> None:
    """Put what takes one result of an operation behind that operation: only there the results have names."""
    taken: dict[Value, list[Op]] = {}
    for block in kernel.blocks:
        for op in block.ops:
            if op.name == "element":
                taken.setdefault(op.args[0], []).append(op)
    for block in kernel.blocks:
        block.ops = [o for op in block.ops if op.name != "element" for o in (op, *taken.get(op, ()))]


class _Values:
    """Gives every value that is used where it no longer reaches the phis it takes."""

    def __init__(
        self, kernel: Kernel, sets: dict[Block, list[tuple[Value, Value]]], merged: set[Phi], own: Iterable[Value]
    ) -> None:
        self.kernel, self.sets = kernel, sets
        self.flow = control_flow(kernel)
        self.stacks: dict[Value, list[Value]] = {value: [] for value in (*own, *merged)}

    def run(self) -> None:
        definitions, exposed = self._uses()
        if self._compute_early(exposed):
            definitions, exposed = self._uses()
        frontiers = dominance_frontiers(self.flow.succ, self.flow.dominance.idom)
        placed = place_phis(self.flow.pred, frontiers, self.flow.nest, definitions, exposed)
        new: list[dict[Value, Phi]] = [{value: Phi(value.type) for value in values} for values in placed]
        self._rename(new)
        for node, phis in enumerate(new):
            self.flow.blocks[node].phis += phis.values()

    def _compute_early(self, wanted: Iterable[Value]) -> bool:
        """Move those of the values to the first block that follow from what it has, with what they follow from.

        Each would be a variable of the loop, in a register of every lane, whatever the lane does; in the first block it is
        computed once, and in scalar registers where it is the same for all lanes.
        """
        first, *others = self.flow.blocks
        able: dict[Value, Block] = {}  # operands before what takes them
        there, before = set[Value](first.ops), -1
        while before != (before := len(able)):
            for block in others:
                for op in block.ops:
                    if op in able or op.name not in _EARLY or op.guard is not None:
                        continue
                    if all(isinstance(a, Const) or a in there or a in able for a in op.args):
                        able[op] = block
        needed, work = set[Value](), [value for value in wanted if value in able]
        while work:
            value = work.pop()
            if value not in needed and isinstance(value, Op):
                needed.add(value)
                work += [operand for operand in value.args if operand in able]
        first.ops += [op for op in able if isinstance(op, Op) and op in needed]
        for block in {able[value] for value in needed}:
            block.ops = [op for op in block.ops if op not in needed]
        return bool(needed)

    def _uses(self) -> tuple[dict[Value, set[int]], dict[Value, set[int]]]:
        """Return where each value is set and where it is read before that; those read in other blocks become variables."""
        definitions: dict[Value, set[int]] = {}
        exposed: dict[Value, set[int]] = {}
        made: list[set[Value]] = []
        for node, block in enumerate(self.flow.blocks):
            own: set[Value] = set(block.phis)

            def read(value: Value | None, node: int = node, own: set[Value] = own) -> None:
                if value is not None and not isinstance(value, Const) and value not in own:
                    exposed.setdefault(value, set()).add(node)

            for op in block.ops:
                for operand in op.operands():
                    read(operand)
                own.add(op)
            for value in block.terminator.args:
                read(value)
            for _, value in self.sets.get(block, ()):
                read(value)
            own.update(variable for variable, _ in self.sets.get(block, ()))
            made.append(own)
            for value in own:
                definitions.setdefault(value, set()).add(node)
        for block in self.flow.blocks:
            for phi in block.phis:
                for source, value in phi.incoming.items():
                    at = self.flow.index[source]
                    if not isinstance(value, Const) and value not in made[at]:
                        exposed.setdefault(value, set()).add(at)
        for value in exposed:
            if value in definitions:
                self.stacks.setdefault(value, [])
        return definitions, {value: nodes for value, nodes in exposed.items() if value in self.stacks}

    def _now(self, value: Value) -> Value:
        stack = self.stacks.get(value)
        if stack is None:
            return value
        return stack[-1] if stack else Undefined(value.type)

    def _rename(self, new: list[dict[Value, Phi]]) -> None:
        work: list[tuple[int, list[Value] | None]] = [(0, None)]
        while work:
            node, undo = work.pop()
            if undo is not None:
                for value in undo:
                    self.stacks[value].pop()
                continue
            pushed = self._enter(node, new)
            work.append((node, pushed))
            work += [(child, None) for child in self.flow.dominance.children[node]]

    def _enter(self, node: int, new: list[dict[Value, Phi]]) -> list[Value]:
        """Rename what a block uses and what flows out of it; returns the variables that it sets."""
        block, pushed = self.flow.blocks[node], list[Value]()

        def push(variable: Value, value: Value) -> None:
            if variable in self.stacks:
                self.stacks[variable].append(value)
                pushed.append(variable)

        for variable, phi in new[node].items():
            push(variable, phi)
        for phi in block.phis:
            push(phi, phi)
        for op in block.ops:
            op.args = [self._now(a) for a in op.args]
            op.guard = None if op.guard is None else self._now(op.guard)
            push(op, op)
        block.terminator.args = [None if a is None else self._now(a) for a in block.terminator.args]
        for variable, value in [(variable, self._now(value)) for variable, value in self.sets.get(block, ())]:
            push(variable, value)
        for target in self.flow.succ[node]:
            for phi in self.flow.blocks[target].phis:
                phi.incoming[block] = self._now(phi.incoming[block])
            for variable, phi in new[target].items():
                phi.incoming[block] = self._now(variable)
        return pushed
