"""How a value differs from lane to lane: the lattice in which uniform, affine and varying values are told apart.

A shape says `value(l) = base + offsets[l] + sum(symbol * factors[l])` for the lanes l of a gang, where base is lane 0's value.
Memory accesses, branches and every scalar operation are chosen by it, so it decides the speed of the vector code.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.compiler.ir import Value


@dataclass(frozen=True, slots=True)
class Shape:
    """The lattice element of one value.

    `offsets` is None for a varying value. `symbols` are uniform values (re-materialisable: made of parameters, block indices
    and constants) with a factor per lane. lane 0's value is congruent to `residue` modulo `modulus` (modulus 1: nothing known).
    Arithmetic is modulo 2**width of the value.
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


@dataclass(slots=True)
class Analysis:
    """What the analyses say of one kernel under one specialisation; the input of emission beside the kernel itself.

    `shapes`: of every Op and Phi (constants are uniform). `divergent_blocks`: blocks that may run with fewer lanes than the
    kernel was entered with, because a varying branch (or a barrier or exit under one) lies between. `divergent_branches`:
    blocks whose terminator's condition varies. `temporal`: values defined in a loop that lanes leave at different trips and
    that are used outside it (they must be blended when lanes leave).
    """

    lanes: int
    shapes: dict[Value, Shape]
    divergent_blocks: set[object]
    divergent_branches: set[object]
    temporal: set[Value]
