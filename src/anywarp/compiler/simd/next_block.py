"""Asks for what the next block will access while this one runs: how far from a block's places those of the next block lie.

Where each row of a block lies in another page, or lanes' index is divided into rows that lie apart, one vector after the other waits
for memory: no processor foresees the next row. The block along x, which is run next, often accesses what lies just behind.
"""

from __future__ import annotations

from anywarp.compiler.attributes import InSpace, Special
from anywarp.compiler.fold import signed
from anywarp.compiler.ir import Const, Op, Phi, Value
from anywarp.compiler.simd.adjacent import Terms, gathered
from anywarp.compiler.simd.streams import LINE
from anywarp.compiler.simd.text import LLVM_TYPE
from anywarp.compiler.simd.values import Values
from anywarp.ptx.isa.ops import BITS

_FAR = 1 << 16
"""Bytes behind a block's place up to which the next block's are asked for."""
_DEEPEST, _MOST_TERMS = 100, 3
"""Operations deep that is looked for how an address grows, and products that may be added up for it."""
_KEPT = frozenset({"sext", "zext", "trunc"})


def sum_of(v: Values, terms: Terms, times: int) -> str:
    """Emit a sum of products (i64), so many times."""
    t, out = v.t, ""
    for factor, values in terms:
        product = str(factor * times)
        for value in values:
            wide = v.scalar(value)
            wide = wide if BITS[value.type] == 64 else t.cast("sext", LLVM_TYPE[value.type], wide, "i64")
            product = t.two("mul", "i64", wide, product)
        out = t.two("add", "i64", out, product) if out else product
    return out or "0"


def ask_for(v: Values, pointer: str, distance: str, bytes: int, kind: int, level: int) -> None:
    """Emit prefetches of so many bytes at a distance (i64) from a pointer: `kind` 1 to write them, `level` 3 into the first cache, 2 into the second."""
    t, known = v.t, distance.removeprefix("-").isdigit()
    for offset in range(0, bytes, LINE):
        far = str(int(distance) + offset) if known else t.two("add", "i64", distance, str(offset))
        place = t.let(f"getelementptr i8, ptr {pointer}, i64 {far}")
        t.call("void", "llvm.prefetch.p0", ("ptr", place), ("i32", str(kind)), ("i32", str(level)), ("i32", "1"))


class NextBlock:
    """Finds out how addresses grow from block to block.

    For prefetches, which may go anywhere: index arithmetic is taken not to wrap around, and every trip of a loop to begin alike.
    """

    def __init__(self, v: Values) -> None:
        self.v = v
        self.known: dict[Value, Terms | None] = {}
        self.depth = 0

    def step(self, address: Value) -> Terms:
        """Return by how many bytes an address is greater in the next block along x; empty where it is not, or that is not known."""
        terms = self._step(address) or []
        return [] if len(terms) > _MOST_TERMS else terms

    def distance(self, op: Op, size: int) -> str:
        """Emit how much further on the next block's access of an operation lies (i64), "" where nothing is to be asked for. `size`: the bytes that each lane accesses.

        That is where it is not known, where blocks follow each other in memory without a gap, which processors foresee, and where it is
        so far that its lines would be gone again before the block comes; 0 where only the launch tells so.
        """
        v, t, terms, block = self.v, self.v.t, self.step(op.args[0]), self.v.specialisation.block
        if not terms or block is None:
            return ""
        in_loop = v.flow.nest.innermost[v.flow.index[v.block]] is not None
        if not in_loop and terms == [(block[0] * block[1] * block[2] * size, ())]:
            return ""
        if not any(values for _, values in terms):
            return str(terms[0][0]) if abs(terms[0][0]) <= _FAR else ""
        distance = sum_of(v, terms, 1)
        near = t.two("icmp ult", "i64", t.two("add", "i64", distance, str(_FAR)), str(2 * _FAR))
        return t.pick(0, near, "i64", distance, "0")

    def _step(self, value: Value) -> Terms | None:
        """Return how much greater a value is in the next block; None if that is not known."""
        if not isinstance(value, (Op, Phi)):
            return []
        if value not in self.known:
            if self.depth >= _DEEPEST:
                return None
            self.depth += 1
            self.known[value] = []  # round a loop: as it came in
            self.known[value] = self._of_phi(value) if isinstance(value, Phi) else self._of_op(value)
            self.depth -= 1
        return self.known[value]

    def _of_phi(self, phi: Phi) -> Terms | None:
        found = [self._step(x) for x in phi.incoming.values()]
        moved = [terms for terms in found if terms]
        return None if None in found or any(terms != moved[0] for terms in moved) else moved[0] if moved else []

    def _of_op(self, op: Op) -> Terms | None:
        name, args = op.name, op.args
        if name == "special":
            return [(1, ())] if Special.of(op).name == "ctaid.x" else []
        found = [self._step(a) for a in args]
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
