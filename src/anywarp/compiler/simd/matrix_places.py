"""Where fragments live: results of matrix operations, and sums that one product after the other adds to, in one place.

A loop's sums go from a phi through products back to the phi. If each has no other use than the next they need one place, and
nothing is copied; and where a block has barriers the place is each warp's own, so that nothing is saved at a barrier either.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.attributes import MatrixLoad, MatrixProduct
from anywarp.compiler.ir import Block, Op, Phi, Value
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.matrix_forms import Product

Results = dict[Op, list[tuple[Value, int]]]
"""Of each matrix operation the values that it makes, with their numbers among its results."""


@dataclass(slots=True)
class Group:
    """Registers that lie one behind the other: `members` by register, `shared` if a loop carries them."""

    type: str
    registers: int
    members: list[tuple[Value, int]]
    phis: list[Phi]

    @property
    def carried(self) -> bool:
        """Whether the group belongs to sums that a loop carries."""
        return bool(self.phis)


def find_groups(v: Values, results: Results, uses: dict[Value, int]) -> dict[Op, Group]:
    """Return the group in which the results of each matrix operation lie; `uses` as `count_uses` counts them."""
    groups: dict[Op, Group] = {}
    owner = {value: (op, index) for op, made in results.items() for value, index in made}
    for op, made in results.items():
        product = op.attrs.product if isinstance(op.attrs, MatrixProduct) else None
        count = product.registers("d") if product else MatrixLoad.of(op).count
        group = _before(v, op, product, uses, owner, groups) if product else None
        if group is None:
            group = Group(v.type(op, True), count, [], [])
        group.members += made
        groups[op] = group
    return groups


def count_uses(v: Values) -> dict[Value, int]:
    """Count what takes each value, elements of it left out."""
    uses: dict[Value, int] = {}
    for block in v.kernel.blocks:
        for value in (x for phi in block.phis for x in phi.incoming.values()):
            uses[value] = uses.get(value, 0) + 1
        for op in block.ops:
            if op.name != "element":
                for value in op.operands():
                    uses[value] = uses.get(value, 0) + 1
        for value in block.terminator.args:
            if value is not None:
                uses[value] = uses.get(value, 0) + 1
    return uses


def _before(
    v: Values,
    op: Op,
    p: Product,
    uses: dict[Value, int],
    owner: dict[Value, tuple[Op, int]],
    groups: dict[Op, Group],
) -> Group | None:
    """Return the group of the sums that a product adds to, if it may overwrite them: they serve nothing else."""
    if p.c != p.d:
        return None
    first = p.distinct("a") + p.distinct("b")
    sums = op.args[first : first + p.registers("c")]
    home = v.home[op]
    if any(uses[x] != 1 or not v.varies(x) or x in v.temporal_loop or x not in v.home for x in sums):
        return None
    if len(set(sums)) != len(sums) or any(not _same_loop(v, v.home[x], home) for x in sums):
        return None
    phis = [x for x in sums if isinstance(x, Phi)]
    if len(phis) == len(sums):
        if any(v.has_first(x) or v.variables.is_resident(x) for x in phis):
            return None
        v.variables.reside(phis)
        return Group(v.type(op, True), len(sums), [(x, i) for i, x in enumerate(phis)], phis)
    made = [owner.get(x) for x in sums]
    if made[0] is None or any(m is None or m[0] is not made[0][0] or m[1] != i for i, m in enumerate(made)):
        return None
    return groups.get(made[0][0])


def _same_loop(v: Values, a: Block, b: Block) -> bool:
    """Tell whether two blocks run equally often as far as loops go."""
    inner = v.flow.nest.innermost
    return inner[v.flow.index[a]] is inner[v.flow.index[b]]
