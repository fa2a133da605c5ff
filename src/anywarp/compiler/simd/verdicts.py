"""What is known of a condition in all lanes at once: at compile time, or from lane 0's value and the extreme lanes.

Most branches on thread indices (is my index below n?) go one way for nearly every gang, and a scalar comparison of the first or
the last lane tells so; comparing all lanes costs an instruction per register and moves masks to scalar registers.
"""

from __future__ import annotations

from anywarp.compiler.attributes import Compare
from anywarp.compiler.fold import SWAPPED, compare
from anywarp.compiler.ir import Const, Op, Phi, Value
from anywarp.compiler.shapes import Shape
from anywarp.compiler.simd.values import Values
from anywarp.compiler.transfer import constants
from anywarp.ptx.isa.ops import BITS

_DEPTH = 6
_INVERSE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def known_mask(v: Values, value: Value, depth: int = 0) -> int | None:
    """Return the lanes in which a condition holds as a number of `v.lanes` bits, where the compiler can tell."""
    full = (1 << v.lanes) - 1
    if isinstance(value, Const):
        return full if value.bits & 1 else 0
    if not isinstance(value, Op) or depth > _DEPTH or v.left(value, v.block):
        return None
    if value.name in ("and", "or", "not"):
        known = [p for a in value.args if (p := known_mask(v, a, depth + 1)) is not None]
        if len(known) < len(value.args):
            return None
        if value.name == "not":
            return full ^ known[0]
        return known[0] & known[1] if value.name == "and" else known[0] | known[1]
    if value.name != "icmp":
        return None
    columns = [constants(v.shape(a), a.type) for a in value.args]
    a, b = columns
    if a is None or b is None:
        return None
    width, predicate = BITS[value.args[0].type], Compare.of(value).predicate
    return sum(1 << lane for lane in range(v.lanes) if compare(predicate, a[lane], b[lane], width))


def verdict(v: Values, value: Value, depth: int = 0) -> tuple[str, str]:
    """Emit scalar tests: two i1 that are true only if a condition surely holds, or surely fails, in all lanes; "" unknown."""
    if isinstance(value, Op) and depth <= _DEPTH and not v.left(value, v.block):
        if v.shape(value).uniform:
            if depth and not _at_hand(v, value):
                return "", ""
            held = v.scalar(value)
            return held, v.t.two("xor", "i1", held, "true")
        if value.name == "not":
            holds, fails = verdict(v, value.args[0], depth + 1)
            return fails, holds
        if value.name in ("and", "or"):
            return _combined(v, value, depth)
        if value.name == "icmp":
            return _compared(v, value)
    return "", ""


def _combined(v: Values, op: Op, depth: int) -> tuple[str, str]:
    """Both hold if both surely do; either fails if one surely does (and the other way round for `or`)."""
    a, b = (verdict(v, x, depth + 1) for x in op.args)
    strict = 0 if op.name == "and" else 1
    both = v.t.two("and", "i1", a[strict], b[strict]) if a[strict] and b[strict] else ""
    one = [x[1 - strict] for x in (a, b) if x[1 - strict]]
    either = v.t.two("or", "i1", *one) if len(one) == 2 else "".join(one)
    return (both, either) if op.name == "and" else (either, both)


def _compared(v: Values, op: Op) -> tuple[str, str]:
    """An affine value against a uniform one: the lowest and the highest lane decide, if no lane wraps around."""
    left, right = op.args
    predicate: str = Compare.of(op).predicate
    if v.shape(left).uniform:
        left, right, predicate = right, left, SWAPPED[predicate]
    shape = v.shape(left)
    usable = left.type == "i32" and predicate[1:] in _INVERSE and v.shape(right).uniform and _plain(shape)
    if not usable or not (_at_hand(v, left) and _at_hand(v, right)):
        return "", ""
    t, how = v.t, "sext" if predicate[0] == "s" else "zext"
    base, limit = (t.cast(how, "i32", v.scalar(x), "i64") for x in (left, right))
    offsets = shape.offsets or (0,)
    low = t.two("add", "i64", base, str(min(offsets)))
    high = t.two("add", "i64", base, str(max(offsets)))
    least, most = (-(1 << 31), (1 << 31) - 1) if how == "sext" else (0, (1 << 32) - 1)
    inside = ""
    if min(offsets) < 0:
        inside = t.two("icmp sge", "i64", low, str(least))
    if max(offsets) > 0:
        below = t.two("icmp sle", "i64", high, str(most))
        inside = t.two("and", "i1", inside, below) if inside else below

    def surely(kind: str) -> str:
        found = t.two(f"icmp s{kind}", "i64", high if kind[0] == "l" else low, limit)
        return t.two("and", "i1", found, inside) if inside else found

    return surely(predicate[1:]), surely(_INVERSE[predicate[1:]])


def _at_hand(v: Values, value: Value) -> bool:
    """Tell whether a value that only a condition needs can be read here: elsewhere, and behind barriers, nobody kept it."""
    if v.left(value, v.block):
        return False
    return not isinstance(value, (Op, Phi)) or value in v.hoisted or v.home.get(value) is v.block


def _plain(shape: Shape) -> bool:
    return shape.offsets is not None and not shape.symbols
