"""Let an atomic addition follow the first trip of a loop that exchanges under a comparison until nobody has come between: XLA's scatters.

Of lanes in step only one succeeds in a trip where all name one place, so that a warp takes hundreds of exchanges. Where all name different ones the
first trip does it, and reads and adds for all lanes at once, as an atomic addition does not.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from anywarp.compiler.attributes import AtomicAccess, Compare, Rounded
from anywarp.compiler.ir import Block, Kernel, Op, Phi, Specialisation, Terminator, Value, speculatable
from anywarp.compiler.uses import users_of


def join_exchanges(kernel: Kernel, specialisation: Specialisation) -> None:
    """Change loops `new = old + x; seen = cas(place, old, new); if (seen != old) { old = seen; again }` of which nobody uses `old` or `seen`.

    Legality: the exchange that succeeds stores the sum, rounded once, of what is there at that moment and x: as the addition does.
    """
    del specialisation
    if not any(_is_exchange(op) for block in kernel.blocks for op in block.ops):
        return
    users = users_of(kernel)
    blocks: list[Block] = []
    for block in kernel.blocks:
        blocks.append(block)
        loop = _Loop.of(block)
        if loop is not None and loop.is_alone(users):
            blocks.append(loop.end())
    kernel.blocks = blocks


def _is_exchange(op: Op) -> bool:
    return op.name == "atomic" and AtomicAccess.of(op).op == "cas"


def _without_cast(value: Value) -> Value:
    return value.args[0] if isinstance(value, Op) and value.name == "bitcast" else value


class _Loop:
    """A loop of one block that adds `term` by `exchange`; `left` is where it goes on."""

    def __init__(self, block: Block, old: Phi, exchange: Op, term: Value, left: Block) -> None:
        self.block, self.old, self.exchange, self.term, self.left = block, old, exchange, term, left
        changing: set[Value] = {old}
        for op in block.ops:
            if op is exchange or any(value in changing for value in op.operands()):
                changing.add(op)
        self.changing = changing

    @staticmethod
    def of(block: Block) -> _Loop | None:
        """Return the loop that a block is, if it is one."""
        end = block.terminator
        exchanges = [op for op in block.ops if not speculatable(op)]
        if end.name != "branch" or block not in end.targets or len(block.phis) != 1 or len(exchanges) != 1:
            return None
        old, exchange, test = block.phis[0], exchanges[0], end.args[0]
        if not _is_exchange(exchange) or exchange.guard is not None or old.incoming.get(block) is not exchange:
            return None
        if (
            not isinstance(test, Op)
            or test.name != "icmp"
            or test not in block.ops
            or set(test.args) != {old, exchange}
        ):
            return None
        again = {"ne": 0, "eq": 1}.get(Compare.of(test).predicate)
        if again is None or end.targets[again] is not block or end.targets[1 - again] is block:
            return None
        sum = _without_cast(exchange.args[2])
        if exchange.args[1] is not old or not isinstance(sum, Op) or sum not in block.ops or sum.name != "fadd":
            return None
        if sum.type not in ("f32", "f64") or Rounded.of(sum).rounding != "rn":
            return None
        terms = [value for value in sum.args if _without_cast(value) is not old]
        if len(terms) != 1:
            return None
        loop = _Loop(block, old, exchange, terms[0], end.targets[1 - again])
        return loop if loop.adds_only() else None

    def adds_only(self) -> bool:
        """Tell whether nothing else depends on what was there."""
        count = sum(op in self.changing for op in self.block.ops)
        casts = sum(op.name == "bitcast" and op in self.changing for op in self.block.ops)
        given = {self.term, self.exchange.args[0]}
        return count == casts + 3 and not given & self.changing

    def is_alone(self, users: dict[Value, list[Op | Phi | Block]]) -> bool:
        """Tell whether what changes is used by the loop alone."""
        inside: Collection[object] = {*self.changing, self.block}
        return all(user in inside for value in self.changing for user in users.get(value, []))

    def end(self) -> Block:
        """Make the loop a single trip and return the block for those that fail."""
        made, block = Block(f"add.{self.block.name}"), self.block
        attrs = replace(AtomicAccess.of(self.exchange), op="fadd", returns=False)
        args = [self.exchange.args[0], self.term]
        made.ops = [Op("atomic", self.term.type, args, attrs, None, self.exchange.span)]
        made.terminator = Terminator("jump", [], [self.left], span=block.terminator.span)
        block.terminator.targets = [made if target is block else target for target in block.terminator.targets]
        del self.old.incoming[block]
        for phi in self.left.phis:
            phi.incoming[made] = phi.incoming[block]
        return made
