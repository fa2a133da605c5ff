"""Short ways: `x > 0 ? a[x - 1] : 0` becomes a load of the lanes that may, and no branch; an exchange under a test becomes selects.

PTX has a branch around each such load, and around each exchange of a network that sorts. As vectors, both ways of it are written twice,
for lanes that agree and for others, and what stands behind it starts anew; a load under a mask costs as much as one without.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Access, InSpace, MemoryAccess
from anywarp.compiler.ir import Block, Kernel, Op, Specialisation, Terminator, Value, speculatable
from anywarp.compiler.passes.fold_known import fold_known
from anywarp.compiler.passes.simplify_branches import merge_next, simplify_branches
from anywarp.compiler.regions import DEAR
from anywarp.compiler.shapes import BOUNDS, Analysis
from anywarp.compiler.uses import resolve, substitute
from anywarp.ptx.isa.ops import BITS

_SPOILT = BOUNDS | {"zext"}
_MOST, _LOADS = 10, 4
"""Operations, and loads among them, of ways that lanes take for nothing: a test and two copies of the code cost as much."""
_FEW, _CHOSEN = 4, 8
"""Operations of ways without a load, and values that are chosen where they meet."""


def bound_loads(kernel: Kernel, specialisation: Specialisation, narrowest: int) -> None:
    """Give loads on short ways the way's condition as their guard, and run those ways straight on; phis where they end become selects.

    Only ways around which lanes part, of plain loads of lanes side by side, of at least `narrowest` bytes each, or of a few operations.
    Legality: a load that its guard holds back reads nothing, and its result is not selected; what never traps may run at any time.
    """
    if specialisation.checks or not any(_ways(block) for block in kernel.blocks):
        return
    analysis = fold_known(kernel, specialisation)
    tested = {condition for guarded in analysis.guarded.values() for condition in guarded.conditions}
    flattening = _Flattening(kernel, analysis, tested, narrowest)
    for block in reversed(kernel.blocks):  # what stands within another way first
        while block not in flattening.gone and flattening.flatten(block):
            pass
    if flattening.gone:
        kernel.blocks = [block for block in kernel.blocks if block not in flattening.gone]
        substitute(kernel, flattening.mapping)
        simplify_branches(kernel, specialisation)


def _ways(block: Block) -> list[tuple[Block, bool]]:
    """Return the blocks between a branch and the block where its ways meet, each with whether the condition holds there."""
    end = block.terminator
    if end.name != "branch" or end.targets[0] is end.targets[1]:
        return []
    yes, no = end.targets
    for way, other, holds in ((yes, no, True), (no, yes, False)):
        if _leads_to(way, other):
            return [(way, holds)]
    if yes.terminator.name == "jump" and _leads_to(yes, yes.terminator.targets[0]):
        meet = yes.terminator.targets[0]
        if meet is not block and _leads_to(no, meet):
            return [(yes, True), (no, False)]
    return []


def _leads_to(way: Block, target: Block) -> bool:
    return way.terminator.name == "jump" and way.terminator.targets[0] is target and not way.phis and way is not target


class _Flattening:
    """Flattens branch after branch. What it costs does not grow with the kernel: values that are gone are replaced once, at the end."""

    def __init__(self, kernel: Kernel, analysis: Analysis, tested: set[Op], narrowest: int) -> None:
        self.entry = kernel.blocks[0]
        self.analysis, self.tested, self.narrowest = analysis, tested, narrowest
        self.preds = kernel.predecessors()
        self.gone: set[Block] = set()
        self.mapping: dict[Value, Value] = {}
        """Phis of blocks that are gone, and what they are now."""

    def flatten(self, block: Block) -> bool:
        """Run the ways from a branch straight on where that may be and pays; tells whether."""
        ways = _ways(block)
        condition = block.terminator.args[0] if ways else None
        condition = condition and resolve(condition, self.mapping)
        if condition is None or condition not in self.analysis.shapes or self.analysis.shapes[condition].uniform:
            return False
        meet = ways[0][0].terminator.targets[0]
        ops = [op for way, _ in ways for op in way.ops]
        loads = [op for op in ops if not speculatable(op)]
        if meet is block or len(loads) > _LOADS or len(ops) > (_MOST if loads else _FEW):
            return False
        if not loads and len(meet.phis) > _CHOSEN:
            return False
        if not all(self._may_go(op) for op in ops) or any(self.preds[way] != [block] for way, _ in ways):
            return False
        self._straighten(block, condition, ways, meet)
        return True

    def _straighten(self, block: Block, condition: Value, ways: list[tuple[Block, bool]], meet: Block) -> None:
        span = block.terminator.span
        inverse = Op("not", "i1", [condition], span=span)
        if not all(holds for _, holds in ways):
            block.ops.append(inverse)
        came = {True: block, False: block}
        for way, holds in ways:
            here: Value = condition if holds else inverse
            for op in way.ops:
                if op.name == "load":
                    guard: Value = here
                    if op.guard is not None:
                        guard = Op("and", "i1", [here, op.guard], span=op.span)
                        block.ops.append(guard)
                    op.guard = guard
                block.ops.append(op)
            came[holds] = way
        for phi in meet.phis:
            values = [resolve(phi.incoming.pop(came[holds]), self.mapping) for holds in (True, False)]
            if values[0] is values[1]:
                phi.incoming[block] = values[0]
                continue
            chosen = Op("select", phi.type, [condition, *values], span=span)
            block.ops.append(chosen)
            phi.incoming[block] = chosen
        block.terminator = Terminator("jump", [], [meet], span=span)
        flat = {way for way, _ in ways}
        self.preds[meet] = [p for p in self.preds[meet] if p not in flat and p is not block] + [block]
        self.gone |= flat
        self.gone |= merge_next(block, self.entry, self.preds, self.mapping)  # a branch around both is short then, too

    def _may_go(self, op: Op) -> bool:
        if speculatable(op):  # lanes that are not to go there would spoil a test
            return op.name not in DEAR and not (op.name in _SPOILT and op in self.tested)
        return op.name == "load" and not _acts(op) and BITS[op.type] >= 8 * self.narrowest and self._in_row(op)

    def _in_row(self, op: Op) -> bool:
        """Tell whether the lanes' elements lie side by side, at least while index arithmetic does not wrap around."""
        address = resolve(op.args[0], self.mapping)
        found = self.analysis.guarded.get(address)
        shape = found.shape if found is not None else self.analysis.shapes.get(address)
        return shape is not None and shape.stride == BITS[op.type] // 8


def _acts(op: Op) -> bool:
    attrs = MemoryAccess.of(op)
    return attrs.volatile or attrs.count != 1 or Access.of(op).strong or InSpace.of(op).space == "local"
