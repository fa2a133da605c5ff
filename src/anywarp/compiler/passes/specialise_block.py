"""Use what the block shape says: `%ntid` becomes constants, thread indices of missing dimensions become 0.

Kernels compute their addresses from these, so nearly every address becomes simpler.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Special
from anywarp.compiler.ir import Const, Kernel, Op, Specialisation, Value
from anywarp.compiler.uses import definitions, substitute


def specialise_block(kernel: Kernel, specialisation: Specialisation) -> None:
    """Replace special registers that the block shape fixes.

    Legality: the artifact is used only for launches with exactly this shape. `%laneid` of a one-dimensional block of at most
    one warp is `%tid.x`.
    """
    shape = specialisation.block
    if shape is None:
        return
    known: dict[str, int] = {}
    for axis, size in zip("xyz", shape, strict=True):
        known[f"ntid.{axis}"] = size
        if size == 1:
            known[f"tid.{axis}"] = 0
    mapping: dict[Value, Value] = {}
    lanes: list[Op] = []
    index: Op | None = None
    for _, op in definitions(kernel):
        if not isinstance(op, Op) or op.name != "special":
            continue
        bits = known.get(Special.of(op).name)
        if bits is not None:
            mapping[op] = Const(op.type, bits)
        elif Special.of(op).name == "laneid":
            lanes.append(op)
        elif Special.of(op).name == "tid.x":
            index = op
    if lanes and index is not None and shape[1:] == (1, 1) and shape[0] <= 32:
        mapping.update((lane, index) for lane in lanes if lane is not index)
        _move_first(kernel, index)
    substitute(kernel, mapping)


def _move_first(kernel: Kernel, op: Op) -> None:
    """Put an operation without operands at the head of the entry, before all that may use it now."""
    for block in kernel.blocks:
        if op in block.ops:
            block.ops.remove(op)
    kernel.blocks[0].ops.insert(0, op)
