"""Let every lane add one to shared memory where programs find the lanes that name one counter and let the first add their number.

On a GPU that saves turns at a busy counter. On a processor each lane's addition is a load and a store, and comparing all lanes with
all others costs more than what it saves.
"""

from __future__ import annotations

from dataclasses import replace

from anywarp.compiler.analysis import analyse
from anywarp.compiler.attributes import AtomicAccess, Compare, Converge, InSpace
from anywarp.compiler.ir import (
    CONVERGE,
    WARP,
    Block,
    Const,
    Kernel,
    Op,
    Specialisation,
    Terminator,
    Value,
    speculatable,
)
from anywarp.compiler.passes.remove_dead_code import remove_dead_code
from anywarp.compiler.ranges import Ranges
from anywarp.compiler.shapes import VARYING, Shape
from anywarp.compiler.transfer import Transfer, constants
from anywarp.compiler.uses import drop_edge, users_of
from anywarp.ptx.isa.ops import BITS

_WARP = 32
_DEPTH = 8
"""Operations deep that a value is looked through."""


def undo_aggregation(kernel: Kernel, specialisation: Specialisation) -> None:
    """Change `same = match_any(x); if (!(same & lower lanes)) atomicAdd(&shared[f(x)], popc(same))` into `atomicAdd(&shared[f(x)], 1)`.

    Legality: the lanes of a match all run what follows it in its block, one of them is the first, and all have the address that the
    first has, as it is made of x and of what the warp shares. They add their number together, in no order that anybody can see:
    the operation is relaxed, and nobody reads what was there.
    """
    if not any(op.name == "match_any" for block in kernel.blocks for op in block.ops):
        return
    found = _Aggregation(kernel, replace(specialisation, lanes=_WARP))
    changed = [
        (block, list(block.ops)) for block in kernel.blocks if found.undo_guarded(block) | found.undo_branch(block)
    ]
    if changed:
        remove_dead_code(kernel, specialisation)
        for block, before in changed:
            _wait_no_more(block, before)
        remove_dead_code(kernel, specialisation)


def _wait_no_more(block: Block, before: list[Op]) -> None:
    """Drop the waiting for members in front of a match that is gone, if it was for that match alone."""
    gone = set(before) - set(block.ops)
    for at, op in enumerate(before):
        behind = [x for x in before[at + 1 :] if x.name in WARP]
        if op.name == CONVERGE and not Converge.of(op).lines and behind and all(x in gone for x in behind):
            block.ops.remove(op)


class _Aggregation:
    def __init__(self, kernel: Kernel, specialisation: Specialisation) -> None:
        self.analysis = analyse(kernel, specialisation)
        self.transfer = Transfer(specialisation, Ranges(specialisation), kernel.local_bytes, self._shape)
        self.shapes: dict[Op, Shape] = {}
        self.depth = 0
        self.users = users_of(kernel)
        self.before = kernel.predecessors()

    def _shape(self, value: Value) -> Shape:
        """Return the shape of a value; of one that is computed, as its operands give it: where lanes wait for each other, analysis takes it to differ."""
        if isinstance(value, Const):
            return Shape((0,) * _WARP, (), 1 << BITS[value.type], value.bits)
        if not isinstance(value, Op) or not speculatable(value) or self.depth > _DEPTH:
            return self.analysis.shapes.get(value, VARYING)
        if value not in self.shapes:
            self.shapes[value] = VARYING  # should operands lead back here
            self.depth += 1
            shape, guarded = self.transfer(value)
            self.depth -= 1
            self.shapes[value] = VARYING if guarded else shape
        return self.shapes[value]

    def undo_guarded(self, block: Block) -> bool:
        """Change the additions of a block that a guard leaves to the first lanes; tells whether there were any."""
        done = False
        for op in block.ops:
            same = self._counted(op)
            if same is not None and op.guard is not None and self._chooses_first(op.guard, same, block) is True:
                op.guard, done = None, True
                op.args[1] = Const(op.args[1].type, 1)
        return done

    def undo_branch(self, block: Block) -> bool:
        """Change the additions behind a branch that only the first lanes take; tells whether there were any."""
        end = block.terminator
        if end.name != "branch" or end.args[0] is None or len(set(end.targets)) < 2:
            return False
        for adding, join in (end.targets, end.targets[::-1]):
            acting = [op for op in adding.ops if not speculatable(op)]
            counted = {self._counted(op) for op in acting}
            if len(counted) != 1 or not self._only_between(block, adding, join):
                continue
            same = counted.pop()
            if same is None or any(op.guard is not None for op in acting):
                continue
            if self._chooses_first(end.args[0], same, block) is (adding is end.targets[0]):
                for op in acting:
                    op.args[1] = Const(op.args[1].type, 1)
                block.terminator = Terminator("jump", [], [adding], span=end.span)
                drop_edge(block, join)
                return True
        return False

    def _only_between(self, block: Block, adding: Block, join: Block) -> bool:
        """Tell whether a block lies on one of two ways from a branch to where they meet, with nothing to choose there."""
        return (
            self.before[adding] == [block]
            and adding.terminator.name == "jump"
            and adding.terminator.targets == [join]
            and all(phi.incoming[block] is phi.incoming[adding] for phi in join.phis)
        )

    def _counted(self, op: Op) -> Value | None:
        """Return the mask of whose lanes an operation adds the number, where those who have one value all name."""
        if op.name != "atomic" or InSpace.of(op).space != "shared" or self.users.get(op):
            return None
        attrs, count = AtomicAccess.of(op), op.args[1]
        if attrs.op != "add" or attrs.order not in ("weak", "relaxed"):
            return None
        if isinstance(count, Op) and count.name == "zext":
            count = count.args[0]
        if not isinstance(count, Op) or count.name != "ctpop":
            return None
        match = _match(count.args[0])
        return count.args[0] if match is not None and self._made_of(op.args[0], match.args[0], 0) else None

    def _made_of(self, value: Value, x: Value, depth: int) -> bool:
        """Tell whether lanes with one `x` have one `value`."""
        if value is x or isinstance(value, Const) or self._shape(value).uniform:
            return True
        if not isinstance(value, Op) or not speculatable(value) or depth == _DEPTH or not value.args:
            return False
        return all(self._made_of(a, x, depth + 1) for a in value.args)

    def _chooses_first(self, test: Value, same: Value, block: Block) -> bool | None:
        """Tell whether a condition holds for the first lane in a mask alone (True), or for all but this (False); None: neither."""
        if not isinstance(test, Op) or _match(same) not in block.ops:
            return None
        if test.name == "not":
            found = self._chooses_first(test.args[0], same, block)
            return None if found is None else not found
        if test.name != "icmp" or Compare.of(test).predicate not in ("eq", "ne"):
            return None
        lower = [a for a in test.args if isinstance(a, Op) and a.name == "and" and same in a.args]
        zero = [a for a in test.args if isinstance(a, Const) and not a.bits]
        if not lower or not zero or not any(self._lower_lanes(a) for a in lower[0].args if a is not same):
            return None
        return Compare.of(test).predicate == "eq"

    def _lower_lanes(self, value: Value) -> bool:
        """Tell whether a value is each lane's mask of the lanes below it."""
        return constants(self._shape(value), value.type) == [(1 << lane) - 1 for lane in range(_WARP)]


def _match(mask: Value) -> Op | None:
    """Return the operation that finds a mask of lanes with one value, of all who run it: no other mask may have taken lanes out."""
    found = mask.args if isinstance(mask, Op) and mask.name == "and" else [mask]
    matches = [a for a in found if isinstance(a, Op) and a.name == "match_any"]
    others = [a for a in found if a not in matches]
    return matches[0] if len(matches) == 1 and all(map(_everybody, others)) else None


def _everybody(members: Value) -> bool:
    """Tell whether a mask is that of all lanes, or of all who ask (activemask)."""
    if isinstance(members, Op) and members.name == "ballot":
        members = members.args[0]
        return isinstance(members, Const) and bool(members.bits)
    return isinstance(members, Const) and members.bits == (1 << _WARP) - 1
