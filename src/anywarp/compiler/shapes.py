"""How a value differs from lane to lane: the lattice in which uniform, affine and varying values are told apart.

Memory accesses, branches and every scalar operation are chosen by it, so it decides the speed of the vector code.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anywarp.compiler.ir import Block, Op, Value


@dataclass(frozen=True, slots=True)
class Shape:
    """The lattice element of one value: `value(l) = base + offsets[l] + sum(symbol * factors[l])` for the lanes l.

    base is lane 0's value. `offsets` is None for a varying value. `symbols` are uniform values (re-materialisable: made of
    parameters, block indices and constants; they may be operations that stand in no block) with a factor per lane. base is
    congruent to `residue` modulo `modulus`, a power of two (1: nothing known; two to the width of the value: base is that
    constant). Arithmetic is modulo two to the width of the value. The claim holds for active lanes that exist.
    """

    offsets: tuple[int, ...] | None
    symbols: tuple[tuple[Value, tuple[int, ...]], ...] = ()
    modulus: int = 1
    residue: int = 0

    @property
    def varying(self) -> bool:
        """No relation between lanes is known."""
        return self.offsets is None

    @property
    def uniform(self) -> bool:
        """All lanes hold the same value."""
        return self.offsets is not None and not self.symbols and not any(self.offsets)

    @property
    def stride(self) -> int | None:
        """The constant step from lane to lane (0 for uniform), or None."""
        if self.offsets is None or self.symbols:
            return None
        step = self.offsets[1] - self.offsets[0] if len(self.offsets) > 1 else 0
        return step if all(o == i * step for i, o in enumerate(self.offsets)) else None


VARYING = Shape(None)


def uniform(lanes: int, modulus: int = 1, residue: int = 0) -> Shape:
    """Return the shape of a value that all `lanes` share."""
    return Shape((0,) * lanes, (), modulus, residue)


BOUNDS = frozenset({"min", "max", "select"})
"""Operations that keep an index within bounds."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A shape that holds only while `conditions` do, to be tested at run time.

    A condition that is an `add` (of a number and its bias, `transfer.is_biased`) holds while no lane's number, the first operand,
    is negative or wraps around. A `min`, `max` or `select` holds while every lane's result is the operand that varies. Every other is a `zext` or `sext`: it holds when `base + offsets[l] + sum(symbol * factors[l])`
    of its operand's shape (from `shapes`, or `guarded` if it is there), computed without wrap-around from base and symbols
    extended the same way, stays in the range of the operand's type for every lane; `corners` gives the few sums to test.
    """

    shape: Shape
    conditions: tuple[Op, ...]

    @property
    def bounded(self) -> bool:
        """Whether a lane that meets a bound ends it, too."""
        return any(condition.name in BOUNDS for condition in self.conditions)


def corners(shape: Shape) -> list[tuple[int, tuple[int, ...]]]:
    """Return the extreme (offset, factors) of a shape: if the sums of these stay in a range, those of all lanes do.

    For each combination of factors only the least and the greatest offset matter.
    """
    bounds: dict[tuple[int, ...], tuple[int, int]] = {}
    for lane, offset in enumerate(shape.offsets or ()):
        factors = tuple(f[lane] for _, f in shape.symbols)
        low, high = bounds.get(factors, (offset, offset))
        bounds[factors] = (min(low, offset), max(high, offset))
    return sorted({(o, f) for f, pair in bounds.items() for o in pair})


@dataclass(slots=True)
class Analysis:
    """What the analyses say of one kernel under one specialisation; the input of emission beside the kernel itself.

    `shapes`: of every Op and Phi (constants are uniform); they hold without conditions. `guarded`: values that `shapes` calls
    varying, but that are affine while conditions hold: good for choosing addresses, never for branches.
    `divergent_blocks`: blocks that may run with fewer lanes than the kernel was entered with, because a varying branch (or an
    exit under one) lies between. `divergent_branches`: blocks whose terminator's condition varies. `temporal`: values defined
    in a loop that lanes leave at different trips and that are used outside it other than by a phi at the loop's exit. None, as
    long as the IR is in loop-closed form: then those phis are varying, and setting them on the leaving edges is all there is to do.
    `divergent_loops`: headers of loops that lanes leave at different trips. `staggered_barriers`: blocks that end in a barrier
    at which lanes of one warp may wait at different times. `ahead`: blocks that lanes may run while others of their warp wait for
    members, and that those run later; empty where such lanes can only be on their way out (all masks name all lanes). `apart`: blocks
    that may run with a part of a warp's lanes; the others of `divergent_blocks` part the warps of a gang only.
    """

    lanes: int
    shapes: dict[Value, Shape]
    divergent_blocks: set[Block]
    divergent_branches: set[Block]
    temporal: set[Value]
    guarded: dict[Value, Guarded] = field(default_factory=dict[Value, Guarded])
    divergent_loops: set[Block] = field(default_factory=set[Block])
    staggered_barriers: set[Block] = field(default_factory=set[Block])
    ahead: set[Block] = field(default_factory=set[Block])
    apart: set[Block] = field(default_factory=set[Block])
