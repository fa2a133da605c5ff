"""Generic addressing: `cvta` and `isspacep`.

How a generic address looks is the target's business; only the manual's typing rules are here.
"""

from __future__ import annotations

from anywarp.ptx.isa.data_movement import as_width, space_of
from anywarp.ptx.isa.operands import read, take, value_type, write
from anywarp.ptx.isa.ops import Ops
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction

_SPACE = "global/shared/shared::cta/shared::cluster/local/const/param/param::entry"


@meaning(f"cvta.{_SPACE}.u32/u64", f"cvta.to.{_SPACE}.u32/u64")
def cvta(ops: Ops, i: Instruction) -> None:
    """`cvta`: an address in a space to its generic address, or back with `.to`."""
    d, a = take(i, 2)
    ptx = i.types[0]
    address = read(ops, a, value_type(ptx))
    wide = address if address.type == "i64" else ops.zext(address, "i64")
    convert = ops.from_generic if i.has("to") else ops.to_generic
    write(ops, d, as_width(ops, convert(space_of(i), wide), ptx))


@meaning(f"isspacep.{_SPACE}")
def isspacep(ops: Ops, i: Instruction) -> None:
    """`isspacep`: whether a generic address falls into a space."""
    d, a = take(i, 2)
    write(ops, d, ops.is_space(space_of(i), read(ops, a, "i64")))
