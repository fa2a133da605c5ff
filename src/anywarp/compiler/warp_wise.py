"""Conditions in which the lanes of each warp agree, whatever the warps of a gang do: they part warps, never lanes of one."""

from __future__ import annotations

from collections.abc import Callable

from anywarp.compiler.attributes import Compare
from anywarp.compiler.fold import SWAPPED
from anywarp.compiler.ir import Const, Op, Undefined, Value
from anywarp.compiler.shapes import Shape
from anywarp.ptx.isa.ops import BITS

_WARP = 32
_DEPTH = 8


def agreed_by_warps(value: Value, shape_of: Callable[[Value], Shape | None], depth: int = 0) -> bool:
    """Tell whether a value surely is the same in all lanes of each warp."""
    if isinstance(value, (Const, Undefined)):
        return True
    shape = shape_of(value)
    if shape is not None and _level(shape):
        return True
    if not isinstance(value, Op) or depth > _DEPTH:
        return False
    if value.name in ("and", "or", "xor", "not"):
        return all(agreed_by_warps(a, shape_of, depth + 1) for a in value.args)
    if value.name != "icmp":
        return False
    if all(agreed_by_warps(a, shape_of, depth + 1) for a in value.args):
        return True
    return _apart_at_an_edge(value, shape_of)


def _level(shape: Shape) -> bool:
    """All lanes of each warp hold the same."""
    columns = [shape.offsets, *(factors for _, factors in shape.symbols)]
    return all(c is not None and all(x == c[lane - lane % _WARP] for lane, x in enumerate(c)) for c in columns)


def _apart_at_an_edge(op: Op, shape_of: Callable[[Value], Shape | None]) -> bool:
    """Each warp's lanes lie in a window of 32 numbers, and are compared with where windows begin or end."""
    predicate: str = Compare.of(op).predicate
    a, b = (Shape((0,), (), 1 << BITS[x.type], x.bits) if isinstance(x, Const) else shape_of(x) for x in op.args)
    if a is None or b is None or predicate in ("eq", "ne"):
        return False
    if a.uniform:
        a, b, predicate = b, a, SWAPPED[predicate]
    if a.offsets is None or a.symbols or not b.uniform or min(a.modulus, b.modulus) < _WARP:
        return False
    windows = [(a.residue % _WARP + o) // _WARP for o in a.offsets]
    inside = all(w == windows[lane - lane % _WARP] for lane, w in enumerate(windows))
    edge = 0 if predicate in ("ult", "uge", "slt", "sge") else _WARP - 1
    return inside and b.residue % _WARP == edge
