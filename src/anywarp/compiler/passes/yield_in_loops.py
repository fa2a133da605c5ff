"""Let lanes that wait in a loop for others step aside, so that those come to run.

Since Volta every thread makes progress: a lock that another lane of the warp holds is released some day, a flag that another warp
or block sets is seen. Here lanes, warps and blocks take turns, so a loop that waits must say when the turn may end.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Access, AtomicAccess, Barrier, InSpace
from anywarp.compiler.cfg import ControlFlow, Loop, control_flow
from anywarp.compiler.ir import Block, Const, Kernel, Op, Phi, Specialisation, Terminator, Value
from anywarp.compiler.uses import homes

_ADDING = frozenset({"add", "inc", "dec", "fadd"})
"""Atomic operations that move on by themselves: a loop that counts with one ends without anybody's help."""

_WAITED_IN = frozenset({"global", "shared", "generic"})


def yield_in_loops(kernel: Kernel, specialisation: Specialisation) -> None:
    """End the back edges of loops that wait in a `yield`: a barrier at which nobody is waited for.

    Legality: PTX lets threads run in any order, so any of them may run between two trips. A loop waits if a condition on which it is left depends on a place in memory that it reads anew, with an atomic, volatile or
    ordered operation, at the same address on every trip. Loops that retry a compare-and-swap with what they have just read, or
    count with an atomic, do not: one lane succeeds whoever else runs.
    """
    if not any(_reads_anew(op) for block in kernel.blocks for op in block.ops):
        return
    flow = control_flow(kernel)
    home = homes(kernel)
    waiting: list[Loop] = []
    for loop in sorted(flow.loops, key=lambda one: -one.depth):
        inner = {node for other in waiting if other.blocks < loop.blocks for node in other.blocks}
        if _Search(flow, home, loop, inner).waits():
            waiting.append(loop)
    after: dict[Block, Block] = {}
    for loop in waiting:
        for latch in loop.latches:
            source, header = flow.blocks[latch], flow.blocks[loop.header]
            after[source] = _insert(kernel, source, header)
    if after:
        kernel.blocks = [b for block in kernel.blocks for b in ((block, after[block]) if block in after else (block,))]


def _insert(kernel: Kernel, source: Block, header: Block) -> Block:
    """Put a yield on the edge from `source` to `header`."""
    made = Block(f"yield.{source.name}")
    made.terminator = Terminator("barrier", [], [header], Barrier("yield", False), span=source.terminator.span)
    source.terminator.targets = [made if t is header else t for t in source.terminator.targets]
    for phi in header.phis:
        phi.incoming[made] = phi.incoming.pop(source)
    return made


def _reads_anew(op: Op) -> bool:
    """Tell whether an operation sees what others write while it is repeated."""
    attrs = op.attrs
    if not isinstance(attrs, Access) or attrs.space not in _WAITED_IN:
        return False
    if isinstance(attrs, AtomicAccess):
        return attrs.returns
    return op.name == "load" and attrs.strong


class _Search:
    """Looks for a read in one loop on which it is decided whether the loop goes on; nodes of `skipped` have their own yields."""

    def __init__(self, flow: ControlFlow, home: dict[Value, Block], loop: Loop, skipped: set[int]) -> None:
        self.flow = flow
        self.home = home
        self.loop = loop
        self.blocks = [flow.blocks[node] for node in sorted(loop.blocks)]
        self.skipped = skipped

    def waits(self) -> bool:
        reads = {
            op for block in self.blocks if self.flow.index[block] not in self.skipped
            for op in block.ops if _reads_anew(op) and not self._moves(op.args[0]) and not self._succeeds(op)
        }  # fmt: skip
        return bool(reads) and not reads.isdisjoint(self._decides())

    def _inside(self, value: Value) -> bool:
        block = self.home.get(value)
        return block is not None and self.flow.index[block] in self.loop.blocks

    def _decides(self) -> set[Value]:
        """Return the values of the loop on which its exits depend."""
        seen: set[Value] = set()
        work: list[Value] = [a for source, _ in self.loop.exits for a in self._ends(source)]
        through_shared = through_barriers = False
        while work:
            value = work.pop()
            if value in seen or not self._inside(value):
                continue
            seen.add(value)
            if isinstance(value, Phi):
                work += value.incoming.values()
                work += self._chooses(value)
                continue
            assert isinstance(value, Op)
            work += value.operands()
            if value.name == "load" and InSpace.of(value).space in ("shared", "generic") and not through_shared:
                through_shared = True
                work += [v for b in self.blocks for op in b.ops if op.name == "store" for v in op.operands()]
            if value.name == "barrier_result" and not through_barriers:
                through_barriers = True
                work += [a for node in self.loop.blocks for a in self._ends(node)]
        return seen

    def _ends(self, node: int) -> list[Value]:
        return [a for a in self.flow.blocks[node].terminator.args if a is not None]

    def _chooses(self, phi: Phi) -> list[Value]:
        """Return the conditions on which it depends from where a phi is reached."""
        node = self.flow.index[self.home[phi]]
        header = node == self.loop.header
        if header and len({id(v) for b, v in phi.incoming.items() if self.flow.index[b] in self.loop.blocks}) < 2:
            return []
        above = self.loop.header if header else self.flow.dominance.idom[node]
        return [a for n in self.loop.blocks if self.flow.dominance.dominates(above, n) for a in self._ends(n)]

    def _moves(self, address: Value) -> bool:
        """Tell whether an address is another one on every trip: a search through memory, not a wait."""
        seen: set[Value] = set()
        work = [address]
        while work:
            value = work.pop()
            if value in seen or not self._inside(value):
                continue
            seen.add(value)
            if isinstance(value, Op):
                work += value.args if value.name != "select" else value.args[1:]
            elif (
                isinstance(value, Phi) and self.home[value] is self.flow.blocks[self.loop.header] and self._steps(value)
            ):
                return True
        return False

    def _steps(self, phi: Phi) -> bool:
        """Tell whether a phi of the header has another value on every trip."""
        for source, value in phi.incoming.items():
            if self.flow.index[source] in self.loop.blocks and self._may_be(value, phi):
                return False
        return True

    def _may_be(self, value: Value, phi: Phi) -> bool:
        seen: set[Value] = set()
        work = [value]
        while work:
            one = work.pop()
            if one is phi:
                return True
            if one in seen or not self._inside(one):
                continue
            seen.add(one)
            if isinstance(one, Phi):
                work += one.incoming.values()
            elif isinstance(one, Op) and one.name == "select":
                work += one.args[1:]
            elif isinstance(one, Op) and one.name in ("load", "shuffle", "atomic", "barrier_result"):
                return True
        return False

    def _succeeds(self, op: Op) -> bool:
        """Tell whether an atomic operation moves on whoever else runs: it counts, or tries again with what it saw."""
        attrs = op.attrs
        if not isinstance(attrs, AtomicAccess):
            return False
        if attrs.op in _ADDING:
            amount = op.args[1]
            return not isinstance(amount, Const) or amount.bits != 0
        if attrs.op != "cas":
            return False
        node = self.flow.index[self.home[op]]
        every = all(self.flow.dominance.dominates(node, latch) for latch in self.loop.latches)
        return every and self._was_seen(op.args[1])

    def _was_seen(self, value: Value) -> bool:
        """Tell whether a value is what an earlier trip or a load of this one found in memory, as it stood there."""
        seen: set[Value] = set()
        work = [value]
        found = False
        while work:
            one = work.pop()
            if one in seen or not self._inside(one):
                continue
            seen.add(one)
            if isinstance(one, Phi):
                work += one.incoming.values()
            elif isinstance(one, Op) and one.name in ("bitcast", "element"):
                work += one.args
            elif isinstance(one, Op) and one.name in ("atomic", "load"):
                found = True
            else:
                return False
        return found
