"""The shape of every value and the divergence of every block, as one fixpoint: each needs the other.

Starts from the best and only ever gives up claims, so that pointers carried round loops keep their stride.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

from anywarp.compiler.attributes import Barrier, InSpace
from anywarp.compiler.cfg import ControlFlow, Loop, control_flow
from anywarp.compiler.divergence import Influence, influence, reachable, splits, waits, worst
from anywarp.compiler.fold import same
from anywarp.compiler.ir import (
    CONVERGE,
    PURE,
    Block,
    Const,
    Kernel,
    Op,
    Phi,
    Specialisation,
    Undefined,
    Value,
    is_clock,
)
from anywarp.compiler.ranges import Ranges
from anywarp.compiler.regions import live_values
from anywarp.compiler.shapes import VARYING, Analysis, Guarded, Shape, uniform
from anywarp.compiler.transfer import Transfer, meet
from anywarp.compiler.uses import definitions, homes, users_of
from anywarp.compiler.warp_wise import agreed_by_warps
from anywarp.ptx.isa.ops import BITS

_NONE: frozenset[Op] = frozenset()

_VISITS = 1_500_000
"""Blocks that following divergent branches may visit in all; beyond it, the worst is assumed of the branches that are left."""


def analyse(kernel: Kernel, specialisation: Specialisation) -> Analysis:
    """Analyse `kernel`, which must be in loop-closed SSA form with its blocks in linear order and its variables laid out."""
    if specialisation.lanes == 1:
        return _of_one_lane(kernel)
    return _Fixpoint(kernel, specialisation).run()


def analyse_wanting(kernel: Kernel, specialisation: Specialisation) -> tuple[Analysis, set[Value]]:
    """Analyse `kernel` and also return the values of which a congruence was wanted that is not known."""
    if specialisation.lanes == 1:
        return _of_one_lane(kernel), set()
    fixpoint = _Fixpoint(kernel, specialisation)
    return fixpoint.run(), fixpoint.transfer.missed


def _of_one_lane(kernel: Kernel) -> Analysis:
    """Where lanes are emitted one by one, each agrees with itself on everything."""
    return Analysis(1, {value: uniform(1) for _, value in definitions(kernel)}, set(), set(), set())


class _Fixpoint:
    def __init__(self, kernel: Kernel, specialisation: Specialisation) -> None:
        self.kernel = kernel
        self.lanes = specialisation.lanes
        self.flow: ControlFlow = control_flow(kernel)
        self.home = homes(kernel)
        self.shape: dict[Value, Shape] = {}
        self.conditions: dict[Value, frozenset[Op]] = {}
        self.transfer = Transfer(specialisation, _ranges(kernel, specialisation), kernel.local_bytes, self._known)
        self.users = users_of(kernel)
        self.divergent: set[int] = set()
        self.thin: set[int] = set()
        self.joins: set[int] = set()
        self.loops: set[Loop] = set()
        self.staggered: set[int] = set()
        self.pinned: set[Value] = set()
        self.converging = self._converging()
        self.parting: dict[int, Influence] = {}  # branches that may part the lanes of a warp
        self.apart: set[int] = set()
        self.overtaking: set[int] = set()  # where lanes may run while others wait; what is reached from there is in it
        self.ahead: set[int] = set()  # of these, where it matters when they do; closed in the same way
        self.whole = _names_all(kernel)
        self.exits: dict[int, list[Loop]] = {}
        self.visits = 0
        self.work: list[Op | Phi | Block] = []
        self.queued: set[object] = set()

    @cached_property
    def live(self) -> list[set[Value]]:
        """The values live on entry to each block: the kernel stays as it is meanwhile."""
        return live_values(self.flow)

    def _converging(self) -> dict[int, set[Value]]:
        """Return the blocks in which lanes wait for others that may be at another trip of a loop, with what differs then."""
        out: dict[int, set[Value]] = {}
        for node, loop in convergence_points(self.flow).items():
            block = self.flow.blocks[node]
            values = {*self.live[node], *block.phis, *block.ops}
            out[node] = {v for v in values if v in self.home and self.flow.index[self.home[v]] in loop.blocks}
        return out

    def run(self) -> Analysis:
        for block in reversed(self.kernel.blocks):
            self._queue(block)
            for op in reversed(block.ops):
                self._queue(op)
            for phi in block.phis:
                self._queue(phi)
        self._settle()
        while self._run_ahead():
            self._settle()
        return self._result()

    def _settle(self) -> None:
        while self.work:
            item = self.work.pop()
            self.queued.discard(item)
            if isinstance(item, Op):
                self._op(item)
            elif isinstance(item, Phi):
                self._phi(item)
            else:
                self._branch(item)

    def _queue(self, item: Op | Phi | Block) -> None:
        if item not in self.queued:
            self.queued.add(item)
            self.work.append(item)

    # --- values -------------------------------------------------------------------------------------------------------

    def _known(self, value: Value) -> Shape:
        """The shape of an operand; constants are uniform, undefined values what is wanted."""
        if isinstance(value, Const):
            return Shape((0,) * self.lanes, (), 1 << BITS[value.type], value.bits)
        if isinstance(value, Undefined):
            return Shape((0,) * self.lanes)
        return self.shape[value]

    def _op(self, op: Op) -> None:
        needed = [a for a in op.args if isinstance(a, Op | Phi)]
        if any(a not in self.shape for a in needed):
            return  # comes again when they are known
        conditions: frozenset[Op] = _NONE.union(*(self.conditions.get(a, _NONE) for a in needed))
        shape, guarded = self.transfer(op)
        if guarded:
            conditions |= {op}
        self._set(op, shape, conditions)

    def _phi(self, phi: Phi) -> None:
        block = self.flow.index[self.home[phi]]
        incoming = [(self.flow.index[b], v) for b, v in phi.incoming.items()]
        if block in self.joins and any(not same(v, incoming[0][1]) for _, v in incoming[1:]):
            self._set(phi, VARYING, _NONE)
            return
        shape: Shape | None = None
        conditions = _NONE
        for source, value in incoming:
            if isinstance(value, Op | Phi) and value not in self.shape:
                continue
            here = VARYING if self._temporal(block, source, value) else self._known(value)
            shape = here if shape is None else meet(shape, here)
            conditions |= self.conditions.get(value, _NONE)
        if shape is not None:
            self._set(phi, shape, conditions)

    def _temporal(self, block: int, source: int, value: Value) -> bool:
        """Whether `value` leaves a loop on this edge that lanes leave at different trips."""
        if not isinstance(value, Op | Phi):
            return False
        made = self.flow.index[self.home[value]]
        return any(
            source in loop.blocks and block not in loop.blocks and made in loop.blocks
            for loop in self.exits.get(block, ())
        )

    def _set(self, value: Op | Phi, shape: Shape, conditions: frozenset[Op]) -> None:
        """Give up what no longer holds; claims only get weaker."""
        old = self.shape.get(value)
        if value in self.pinned:
            shape = VARYING
        if old is not None:
            shape = meet(old, shape)
            conditions |= self.conditions.get(value, _NONE)
        if value.type == "i1" and conditions:
            shape = VARYING
        if shape.offsets is None or (conditions and shape.uniform):
            shape, conditions = VARYING, _NONE  # a branch must never rest on a condition
        if shape == old and conditions == self.conditions.get(value, _NONE):
            return
        self.shape[value] = shape
        self.conditions[value] = conditions
        for user in self.users.get(value, ()):
            self._queue(user)

    # --- control flow -------------------------------------------------------------------------------------------------

    def _branch(self, block: Block) -> None:
        number = self.flow.index[block]
        end = block.terminator
        if end.name not in ("branch", "switch") or number in self.divergent:
            return
        condition = end.args[0]
        if condition is None or isinstance(condition, Const | Undefined):
            return
        shape = self.shape.get(condition)
        if shape is None or (shape.uniform and not self.conditions.get(condition)):
            return
        self.divergent.add(number)
        self._spread(number)

    def _spread(self, number: int) -> None:
        if self.visits >= _VISITS:
            return  # the worst has been assumed of everything
        effect = influence(self.flow, number)
        self.visits += 1 + len(effect.blocks)
        if self.visits >= _VISITS:
            effect = worst(self.flow)
        if effect.staggered:
            self._stagger(number, effect.staggered)
        self.parting[number] = effect
        self._thin(effect.blocks)
        for join in effect.joins - self.joins:
            self.joins.add(join)
            self._requeue(join)
        for loop in effect.loops:
            if loop not in self.loops:
                self.loops.add(loop)
                for target in {t for _, t in loop.exits}:
                    self.exits.setdefault(target, []).append(loop)
                    self._requeue(target)

    def _thin(self, blocks: set[int]) -> None:
        self.thin |= blocks
        for node in self.converging.keys() & blocks:
            self._pin(self.converging.pop(node))

    def _requeue(self, number: int) -> None:
        for phi in self.flow.blocks[number].phis:
            self._queue(phi)

    def _stagger(self, branch: int, barriers: set[int]) -> None:
        """Lanes wait at barriers apart, and go on in groups that have nothing to do with how they came.

        All that is reached from there may run with any lanes, every join is one of lanes, and what lives across such a barrier
        may differ from lane to lane although it did not where it was made.
        """
        self.staggered |= barriers
        reached = reachable(self.flow, self.flow.succ[branch])
        self.thin |= reached
        self.apart |= reached
        for node in reached:
            if len(self.flow.pred[node]) > 1 and node not in self.joins:
                self.joins.add(node)
                self._requeue(node)
            if splits(self.flow, node):
                self.staggered.add(node)
        self._pin(set[Value]().union(*(self.live[t] for node in self.staggered for t in self.flow.succ[node])))

    def _run_ahead(self) -> bool:
        """Let lanes go on while others of their warp wait for members, once all shapes are settled; tells whether any may.

        What they run then is run by a part of the lanes, up to where all threads gather. Where every mask names all lanes, whoever
        runs ahead meets nobody any more, but for other barriers of the warp: it comes back or ends. Other masks let lanes wait in several places, each with values of
        its own time: what lives there may differ from lane to lane, and so may what is read or voted on the way.
        """
        found = False
        for branch, effect in list(self.parting.items()):
            if _by_warps(self.flow.blocks[branch], self.shape.get, self.lanes):
                continue
            del self.parting[branch]
            self.apart |= effect.blocks
            if not effect.ahead:
                continue
            found = True
            reached = reachable(self.flow, effect.ahead, up_to_barriers=True, known=self.overtaking)
            self.overtaking |= reached
            self.apart |= reached
            self._thin(reached)
            if not self.whole or effect.beyond:
                new = reachable(self.flow, effect.ahead, up_to_barriers=True, known=self.ahead)
                self.ahead |= new
                if new:
                    self._part_in_time()
        return found

    def _part_in_time(self) -> None:
        """Let what is made in blocks that lanes run at their own times differ, where it lives longer or depends on the time."""
        values: set[Value] = set()
        for node in self.ahead:
            block = self.flow.blocks[node]
            values.update(op for op in block.ops if _of_its_time(op))
            if waits(block):
                values.update(self.live[node], block.phis, block.ops)
            if splits(self.flow, node):
                for target in block.terminator.targets:
                    values.update(self.live[self.flow.index[target]])
                    values.update(phi.incoming[block] for phi in target.phis)
        self._pin(v for v in values if v in self.home and self.flow.index[self.home[v]] in self.ahead)

    def _pin(self, values: Iterable[Value]) -> None:
        """Let values differ from lane to lane, unless they can be computed again anywhere."""
        for value in values:
            if value not in self.pinned and isinstance(value, Op | Phi) and not self.transfer.rematerialisable(value):
                self.pinned.add(value)
                self._queue(value)

    # --- result -------------------------------------------------------------------------------------------------------

    def _result(self) -> Analysis:
        blocks = self.flow.blocks
        shapes: dict[Value, Shape] = {}
        guarded: dict[Value, Guarded] = {}
        position = {value: i for i, (_, value) in enumerate(definitions(self.kernel))}
        for _, value in definitions(self.kernel):
            shape = self.shape.get(value, VARYING)
            conditions = self.conditions.get(value, _NONE)
            if conditions:
                guarded[value] = Guarded(shape, tuple(sorted(conditions, key=lambda c: position[c])))
                shape = VARYING
            shapes[value] = shape
        return Analysis(
            self.lanes,
            shapes,
            {blocks[n] for n in self.thin},
            {blocks[n] for n in self.divergent},
            set(),
            guarded,
            {blocks[loop.header] for loop in self.loops},
            {blocks[n] for n in self.staggered},
            {blocks[n] for n in self.ahead},
            {blocks[n] for n in self.apart},
        )


def parts_lanes(block: Block, found: Analysis) -> bool:
    """Tell whether a branch of `found.divergent_branches` may part the lanes of one warp."""
    return not _by_warps(block, found.shapes.get, found.lanes)


def _by_warps(block: Block, shape_of: Callable[[Value], Shape | None], lanes: int) -> bool:
    """Tell whether a branch on which lanes disagree parts the warps of a gang only."""
    condition = block.terminator.args[0]
    return lanes > 32 and condition is not None and agreed_by_warps(condition, shape_of)


def _of_its_time(op: Op) -> bool:
    """Tell whether an operation may give lanes that run it later something else, given the same operands."""
    if is_clock(op):
        return True
    if op.name == "load":
        return InSpace.of(op).space not in ("const", "param")
    return op.name not in PURE and op.name not in (CONVERGE, "barrier_result")


def _names_all(kernel: Kernel) -> bool:
    """Tell whether every member mask names all lanes."""
    masks = [op.args[0] for block in kernel.blocks for op in block.ops if op.name == CONVERGE]
    ends = [block.terminator for block in kernel.blocks]
    masks += [
        end.args[0] for end in ends if isinstance(end.attrs, Barrier) and end.attrs.warp and end.args[0] is not None
    ]
    return all(isinstance(mask, Const) and mask.bits == 0xFFFFFFFF for mask in masks)


def _ranges(kernel: Kernel, specialisation: Specialisation) -> Ranges:
    ranges = Ranges(specialisation)
    for _, value in definitions(kernel):
        if isinstance(value, Phi):
            ranges.phi(value)
        else:
            ranges.op(value)
    return ranges


def convergence_points(flow: ControlFlow) -> dict[int, Loop]:
    """Return the blocks in which lanes wait for others that may be at another trip of a loop, with the outermost such loop.

    In the innermost loop lanes can only get ahead of others by a way round it that does not lead through the block; in a loop
    around it also by leaving the inner one.
    """
    found: dict[int, Loop] = {}
    for node, block in enumerate(flow.blocks):
        end = block.terminator
        if any(op.name == CONVERGE for op in block.ops) or (isinstance(end.attrs, Barrier) and end.attrs.warp):
            for inner, loop in enumerate(flow.nest.around(node)):
                if inner or not all(flow.dominance.dominates(node, latch) for latch in loop.latches):
                    found[node] = loop
    return found
