"""Local memory with the lanes' copies of an element side by side, as GPUs keep it: what all lanes index alike is then one vector.

Else each lane's memory is a piece of its own, and an array that all lanes walk through together is read and written lane by lane.
"""

from __future__ import annotations

from anywarp.compiler.attributes import InSpace
from anywarp.compiler.ir import Kernel
from anywarp.compiler.simd.adjacent import SIZE
from anywarp.compiler.simd.known import Known


def lanes_apart(known: Known) -> tuple[int, int]:
    """Return how many bytes the lanes' copies of a place in local memory lie apart, and by what a step within a lane's memory is multiplied.

    Checks go by each lane's own piece, and so do lanes that are emitted one by one.
    """
    plain = not known.single and not known.specialisation.checks and known.kernel.local_bytes > 0
    element = element_side_by_side(known.kernel) if plain else 0
    return (element, known.lanes) if element else (known.kernel.local_bytes, 1)


def element_side_by_side(kernel: Kernel) -> int:
    """Return the bytes of the elements of which the lanes' copies may lie side by side; 0 if each lane's memory must be in one piece.

    Legality: every access is of elements of this one size, which PTX aligns to their size (section 6.4.1 of the PTX manual), and no address of local
    memory becomes one of another kind, by which somebody might step from element to element.
    """
    sizes: set[int] = set()
    for block in kernel.blocks:
        for op in block.ops:
            if not isinstance(op.attrs, InSpace) or op.attrs.space != "local" or op.name == "symbol":
                continue
            if op.name not in ("load", "store"):
                return 0
            sizes.add(SIZE[op.type if op.name == "load" else op.args[1].type])
    return sizes.pop() if len(sizes) == 1 else 0
