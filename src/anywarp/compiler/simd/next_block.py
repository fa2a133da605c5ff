"""How far from a block's places those of the next block lie, so that they can be asked for while this one runs.

Lanes whose index is divided into rows that lie far apart touch a few lines of each, and one vector after the other waits for
memory: no processor foresees the next row. The block after it, which is run next, often reads just behind.
"""

from __future__ import annotations

from anywarp.compiler.attributes import InSpace, Special
from anywarp.compiler.fold import signed
from anywarp.compiler.ir import Const, Op, Phi, Value
from anywarp.compiler.simd.adjacent import Terms, gathered
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.ops import BITS

_MOST_VALUES, _MOST_TERMS = 200, 3
"""Values that are looked at for how an address grows, and products that may be added up for it."""
_KEPT = frozenset({"sext", "zext", "trunc"})


def block_step(v: Values, address: Value) -> Terms:
    """Return by how many bytes an address is greater in the next block along x; empty where it is not, or that is not known.

    For prefetches, which may go anywhere: index arithmetic is taken not to wrap around, and every trip of a loop to begin alike.
    """
    terms = _Walk(v).step(address) or []
    return [] if len(terms) > _MOST_TERMS else terms


class _Walk:
    def __init__(self, v: Values) -> None:
        self.v = v
        self.known: dict[Value, Terms | None] = {}

    def step(self, value: Value) -> Terms | None:
        """Return how much greater a value is in the next block; None if that is not known."""
        if not isinstance(value, (Op, Phi)):
            return []
        if value not in self.known:
            if len(self.known) >= _MOST_VALUES:
                return None
            self.known[value] = []  # round a loop: as it came in
            self.known[value] = self._of_phi(value) if isinstance(value, Phi) else self._of_op(value)
        return self.known[value]

    def _of_phi(self, phi: Phi) -> Terms | None:
        found = [self.step(x) for x in phi.incoming.values()]
        moved = [terms for terms in found if terms]
        return None if None in found or any(terms != moved[0] for terms in moved) else moved[0] if moved else []

    def _of_op(self, op: Op) -> Terms | None:
        name, args = op.name, op.args
        if name == "special":
            return [(1, ())] if Special.of(op).name == "ctaid.x" else []
        found = [self.step(a) for a in args]
        if all(terms == [] for terms in found):
            return []
        if name in _KEPT or (name in ("to_generic", "from_generic") and InSpace.of(op).space == "global"):
            return found[0]
        if None in found or len(found) != 2:
            return None
        a, b = found[0] or [], found[1] or []
        if name in ("add", "sub"):
            sign = -1 if name == "sub" else 1
            return [term for term in gathered(a + [(sign * f, values) for f, values in b]) if term[0]]
        if name == "mul" or name == "shl":
            return self._times(name, (args[0], a), (args[1], b))
        return None

    def _times(self, name: str, left: tuple[Value, Terms], right: tuple[Value, Terms]) -> Terms | None:
        (_, terms), (by, others) = left, right
        if name == "mul" and others:
            (by, others), (_, terms) = left, right
        if others:
            return None
        if isinstance(by, Const):
            factor = 1 << by.bits if name == "shl" else signed(by.bits, BITS[by.type])
            return [(factor * f, values) for f, values in terms] if by.bits < 64 or name == "mul" else None
        steady = name == "mul" and self.v.shape(by).uniform and by in self.v.hoisted
        return [(f, (*values, by)) for f, values in terms] if steady else None
