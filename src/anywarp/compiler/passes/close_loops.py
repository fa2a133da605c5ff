"""Give every value that leaves its loop a phi at the loop's exit, where edges that were removed have made loops smaller.

Everything behind relies on it: inside a loop that lanes leave at different trips a counter is uniform, behind it it is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from anywarp.compiler.cfg import ControlFlow, control_flow, dominance_frontiers
from anywarp.compiler.ir import Kernel, Phi, Specialisation, Value
from anywarp.compiler.place_phis import place_phis
from anywarp.compiler.uses import definitions


def close_loops(kernel: Kernel, specialisation: Specialisation) -> None:
    """Place phis for the values that are used outside their loop, and make those uses read them.

    Legality: the phis merge one value only, itself.
    """
    flow = control_flow(kernel)
    if not flow.loops:
        return
    home: dict[Value, int] = {value: flow.index[block] for block, value in definitions(kernel)}
    exposed: dict[Value, set[int]] = {}
    leaving: set[Value] = set()
    for value, at in _uses(flow):
        made = home.get(value)
        if made is None or made == at:
            continue
        exposed.setdefault(value, set()).add(at)
        loop = flow.nest.innermost[made]
        if loop is not None and at not in loop.blocks:
            leaving.add(value)
    if leaving:
        _Closing(flow, home, {v: nodes for v, nodes in exposed.items() if v in leaving}).run()


def _uses(flow: ControlFlow) -> Iterator[tuple[Value, int]]:
    """Yield every use of a value with the block in which it must be known (for a phi, that before the edge)."""
    for number, block in enumerate(flow.blocks):
        for phi in block.phis:
            for source, value in phi.incoming.items():
                yield value, flow.index[source]
        for op in block.ops:
            for value in op.operands():
                yield value, number
        for value in block.terminator.args:
            if value is not None:
                yield value, number


class _Closing:
    def __init__(self, flow: ControlFlow, home: dict[Value, int], exposed: dict[Value, set[int]]) -> None:
        self.flow = flow
        self.home = home
        self.idom = flow.dominance.idom
        self.values: list[dict[Value, Value]] = [{} for _ in flow.blocks]
        for value in exposed:
            self.values[home[value]][value] = value
        frontiers = dominance_frontiers(flow.succ, self.idom)
        written = {value: {home[value]} for value in exposed}
        self.leaving = set(exposed)
        self.made: list[tuple[int, Value, Phi]] = []
        for number, values in enumerate(place_phis(flow.pred, frontiers, flow.nest, written, exposed)):
            for value in values:
                phi = Phi(value.type)
                self.made.append((number, value, phi))
                self.values[number][value] = phi

    def run(self) -> None:
        for number, block in enumerate(self.flow.blocks):
            for phi in block.phis:
                for source, value in phi.incoming.items():
                    if value in self.leaving:
                        phi.incoming[source] = self._at(self.flow.index[source], value)
            for op in block.ops:
                op.args = [self._use(number, a) for a in op.args]
                if op.guard is not None:
                    op.guard = self._use(number, op.guard)
            end = block.terminator
            end.args = [a if a is None else self._use(number, a) for a in end.args]
        for number, value, phi in self.made:
            for p in self.flow.pred[number]:
                phi.incoming[self.flow.blocks[p]] = self._at(p, value)
            self.flow.blocks[number].phis.append(phi)

    def _use(self, number: int, value: Value) -> Value:
        if value not in self.leaving or self.home[value] == number:
            return value
        return self._at(number, value)

    def _at(self, number: int, value: Value) -> Value:
        """What stands for `value` in a block: the phi there, the value itself, or what its dominator has."""
        path: list[int] = []
        while (found := self.values[number].get(value)) is None:
            path.append(number)
            number = self.idom[number]
        for one in path:
            self.values[one][value] = found
        return found
