"""Simplification of one operation from its operands: constants, identities and compositions.

Used while the IR is built and again by passes that learn constants later, so that both agree on what is trivial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, cast

from anywarp.compiler.attributes import NONE, Attributes, Compare, IntegerPredicate, Signed, Symbol
from anywarp.compiler.ir import Const, Op, Undefined, Value
from anywarp.ptx.isa.ops import BITS, Type

Rewrite: TypeAlias = "tuple[str, list[Value], Attributes]"
"""An operation's name, arguments and attributes."""

_UNSIGNED = Signed(False)

COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "min", "max", "mulhi"})
SWAPPED: dict[IntegerPredicate, IntegerPredicate] = {
    "eq": "eq", "ne": "ne", "ult": "ugt", "ule": "uge", "ugt": "ult", "uge": "ule",
    "slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle",
}  # fmt: skip
INVERSE: dict[IntegerPredicate, IntegerPredicate] = {
    "eq": "ne", "ne": "eq", "ult": "uge", "ule": "ugt", "ugt": "ule", "uge": "ult",
    "slt": "sge", "sle": "sgt", "sgt": "sle", "sge": "slt",
}  # fmt: skip
INTEGERS = frozenset({"i1", "i8", "i16", "i32", "i64", "i128"})


def signed(bits: int, width: int) -> int:
    """Read the low `width` bits as two's complement."""
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def _divide(a: int, b: int, width: int, is_signed: bool) -> int:
    if b == 0:
        return -1
    if not is_signed:
        return a // b
    x, y = signed(a, width), signed(b, width)
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _remainder(a: int, b: int, width: int, is_signed: bool) -> int:
    if b == 0:
        return a
    if not is_signed:
        return a % b
    x, y = signed(a, width), signed(b, width)
    out = abs(x) % abs(y)
    return -out if x < 0 else out


def _extreme(a: int, b: int, width: int, is_signed: bool, pick: Callable[[int, int], int]) -> int:
    return pick(signed(a, width), signed(b, width)) if is_signed else pick(a, b)


def _upper(a: int, b: int, width: int, is_signed: bool) -> int:
    return (signed(a, width) * signed(b, width) if is_signed else a * b) >> width


_BINARY: dict[str, Callable[[int, int, int, bool], int]] = {
    "add": lambda a, b, w, s: a + b,
    "sub": lambda a, b, w, s: a - b,
    "mul": lambda a, b, w, s: a * b,
    "mulhi": _upper,
    "div": _divide,
    "rem": _remainder,
    "and": lambda a, b, w, s: a & b,
    "or": lambda a, b, w, s: a | b,
    "xor": lambda a, b, w, s: a ^ b,
    "shl": lambda a, b, w, s: a << b if b < w else 0,
    "lshr": lambda a, b, w, s: a >> b if b < w else 0,
    "ashr": lambda a, b, w, s: signed(a, w) >> min(b, w - 1),
    "min": lambda a, b, w, s: _extreme(a, b, w, s, min),
    "max": lambda a, b, w, s: _extreme(a, b, w, s, max),
}

_UNARY: dict[str, Callable[[int, int], int]] = {
    "not": lambda a, w: ~a,
    "ctpop": lambda a, w: bin(a).count("1"),
    "ctlz": lambda a, w: w - a.bit_length(),
    "cttz": lambda a, w: w if a == 0 else (a & -a).bit_length() - 1,
    "bitreverse": lambda a, w: int(format(a, f"0{w}b")[::-1], 2),
    "fneg": lambda a, w: a ^ (1 << (w - 1)),
    "fabs": lambda a, w: a & ((1 << (w - 1)) - 1),
}


def compare(predicate: str, a: int, b: int, width: int) -> bool:
    """Evaluate an integer comparison on bits."""
    if predicate[0] == "s":
        a, b = signed(a, width), signed(b, width)
    order = predicate[1:] if predicate not in ("eq", "ne") else predicate
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[order]


def evaluate(name: str, type: Type, bits: list[int], operand_type: Type, attrs: Attributes) -> int | None:
    """Compute an operation on constants given by their bits; None for operations that are left to run time."""
    width = BITS[operand_type]
    if name in _BINARY:
        return _BINARY[name](bits[0], bits[1], width, isinstance(attrs, Signed) and attrs.signed)
    if name in _UNARY:
        return _UNARY[name](bits[0], width)
    if isinstance(attrs, Compare):
        return int(compare(attrs.predicate, bits[0], bits[1], width))
    if name == "select":
        return bits[1] if bits[0] else bits[2]
    if name in ("trunc", "zext", "bitcast"):
        return bits[0]
    if name == "sext":
        return signed(bits[0], width)
    return None


def same(a: Value, b: Value) -> bool:
    """Tell whether two values are certainly equal."""
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and a.type == b.type and a.bits == b.bits)


def is_const(value: Value, bits: int | None = None) -> bool:
    """Tell whether `value` is a constant (with these bits, taken modulo its width)."""
    if not isinstance(value, Const):
        return False
    return bits is None or value.bits == bits & ((1 << BITS[value.type]) - 1)


def canonical(name: str, args: list[Value], attrs: Attributes) -> Rewrite:
    """Rewrite to the preferred form: constants right, subtraction of a constant as addition, division by powers of two."""
    if len(args) == 2 and isinstance(args[0], Const) and not isinstance(args[1], Const):
        if name in COMMUTATIVE:
            args = [args[1], args[0]]
        elif isinstance(attrs, Compare):
            args = [args[1], args[0]]
            attrs = Compare(SWAPPED[attrs.predicate])
    if len(args) != 2 or not isinstance(args[1], Const):
        return name, args, attrs
    right = args[1]
    if name == "sub":
        return "add", [args[0], Const(right.type, -right.bits)], attrs
    if name in ("div", "rem") and attrs == _UNSIGNED and right.bits.bit_count() == 1:
        if name == "div":
            return "lshr", [args[0], Const(right.type, right.bits.bit_length() - 1)], NONE
        return "and", [args[0], Const(right.type, right.bits - 1)], NONE
    return name, args, attrs


def simplify(name: str, type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    """Return a simpler value equal to the operation (an operand, or a constant), or None.

    Never makes operations; `compose` does.
    """
    if args and all(isinstance(a, Const) for a in args):
        consts = cast("list[Const]", args)
        operand = args[1].type if name == "select" else args[0].type
        bits = evaluate(name, type, [c.bits for c in consts], operand, attrs)
        if bits is not None:
            return Const(type, bits)
    rule = _RULES.get(name)
    return rule(type, args, attrs) if rule is not None else None


def _add(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    return args[0] if is_const(args[1], 0) else None


def _sub(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    if is_const(args[1], 0):
        return args[0]
    return Const(type, 0) if same(args[0], args[1]) else None


def _mul(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    if is_const(args[1], 0):
        return args[1]
    return args[0] if is_const(args[1], 1) else None


def _quotient(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    return args[0] if is_const(args[1], 1) else None


def _and(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    if is_const(args[1], 0):
        return args[1]
    return args[0] if is_const(args[1], -1) or same(args[0], args[1]) else None


def _or(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    if is_const(args[1], -1):
        return args[1]
    return args[0] if is_const(args[1], 0) or same(args[0], args[1]) else None


def _xor(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    if same(args[0], args[1]):
        return Const(type, 0)
    return args[0] if is_const(args[1], 0) else None


def _not(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    inner = args[0]
    return inner.args[0] if isinstance(inner, Op) and inner.name == "not" else None


def _shift(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    return args[0] if is_const(args[1], 0) else None


def _shift_out(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    amount = args[1]
    if isinstance(amount, Const) and amount.bits >= BITS[type]:
        return Const(type, 0)
    return args[0] if is_const(amount, 0) else None


def _extremum(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    return args[0] if same(args[0], args[1]) else None


def _icmp(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    assert isinstance(attrs, Compare)
    predicate = attrs.predicate
    if same(args[0], args[1]):
        return Const("i1", int(predicate in ("eq", "ule", "uge", "sle", "sge")))
    if is_const(args[1], 0) and predicate in ("ult", "uge"):
        return Const("i1", int(predicate == "uge"))
    # setp on the result of selp: the predicate itself, where it is not inverted
    inner = args[0]
    if isinstance(inner, Op) and inner.name == "select" and isinstance(args[1], Const):
        yes, no = inner.args[1], inner.args[2]
        if isinstance(yes, Const) and isinstance(no, Const):
            width = BITS[yes.type]
            outcome = [compare(predicate, c.bits, args[1].bits, width) for c in (yes, no)]
            if outcome[0] == outcome[1]:
                return Const("i1", int(outcome[0]))
            return inner.args[0] if outcome[0] else None
    return None


def _select(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    condition, yes, no = args
    if isinstance(condition, Const):
        return yes if condition.bits else no
    if isinstance(no, Undefined) or same(yes, no):
        return yes
    if isinstance(yes, Undefined):
        return no
    if type == "i1" and is_const(yes, 1) and is_const(no, 0):
        return condition
    return None


def _trunc(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    inner = args[0]
    if inner.type == type:
        return inner
    if isinstance(inner, Op) and inner.name in ("zext", "sext") and inner.args[0].type == type:
        return inner.args[0]
    return None


def _extend(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    return args[0] if args[0].type == type else None


def _bitcast(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
    inner = args[0]
    if inner.type == type:
        return inner
    if isinstance(inner, Undefined):
        return Undefined(type)
    if isinstance(inner, Op) and inner.name == "bitcast" and inner.args[0].type == type:
        return inner.args[0]
    return None


def _inverse_of(name: str) -> Callable[[Type, list[Value], Attributes], Value | None]:
    def rule(type: Type, args: list[Value], attrs: Attributes) -> Value | None:
        inner = args[0]
        if isinstance(inner, Op) and inner.name == name and inner.attrs == attrs:
            return inner.args[0] if inner.args[0].type == type else None
        return None

    return rule


_RULES: dict[str, Callable[[Type, list[Value], Attributes], Value | None]] = {
    "add": _add, "sub": _sub, "mul": _mul, "div": _quotient, "and": _and, "or": _or, "xor": _xor, "not": _not,
    "shl": _shift_out, "lshr": _shift_out, "ashr": _shift, "min": _extremum, "max": _extremum, "icmp": _icmp,
    "select": _select, "trunc": _trunc, "zext": _extend, "sext": _extend, "bitcast": _bitcast,
    "to_generic": _inverse_of("from_generic"), "from_generic": _inverse_of("to_generic"),
}  # fmt: skip


def compose(name: str, type: Type, args: list[Value], attrs: Attributes) -> Rewrite | None:
    """Merge an operation with the one that made its first operand; returns name, arguments and attributes, or None."""
    if name == "sub":
        return _without(args[0], args[1])
    inner = args[0] if args else None
    if not isinstance(inner, Op):
        return None
    if name == "add" and isinstance(args[1], Const):
        return _add_constant(inner, args[1])
    if name in ("and", "or", "xor") and inner.name == name and isinstance(args[1], Const):
        second = inner.args[1]
        if isinstance(second, Const):
            bits = _BINARY[name](second.bits, args[1].bits, BITS[type], False)
            return name, [inner.args[0], Const(type, bits)], NONE
    if name == "trunc":
        return _truncated(inner, type)
    if name in ("zext", "sext") and inner.name in ("zext", name):
        return inner.name, [inner.args[0]], NONE
    if name == "bitcast" and inner.name == "bitcast":
        return name, [inner.args[0]], NONE
    if name == "not" and inner.name == "icmp":
        return "icmp", list(inner.args), Compare(INVERSE[Compare.of(inner).predicate])
    if name == "select" and inner.name == "not":
        return name, [inner.args[0], args[2], args[1]], NONE
    return None


def _without(value: Value, part: Value) -> Rewrite | None:
    """`x - (x & bits)`, which is what the other bits hold: a remainder by a power of two, as compilers write it."""
    if isinstance(part, Op) and part.name == "and" and part.args[0] is value and isinstance(part.args[1], Const):
        return "and", [value, Const(part.type, ~part.args[1].bits)], NONE
    return None


def _add_constant(inner: Op, constant: Const) -> Rewrite | None:
    width = BITS[constant.type]
    if inner.name == "add" and isinstance(inner.args[1], Const):
        return "add", [inner.args[0], Const(constant.type, inner.args[1].bits + constant.bits)], NONE
    if isinstance(inner.attrs, Symbol):
        return "symbol", [], replace(inner.attrs, offset=inner.attrs.offset + signed(constant.bits, width))
    return None


def _truncated(inner: Op, type: Type) -> Rewrite | None:
    if inner.name in ("zext", "sext"):
        source = inner.args[0]
        name = "trunc" if BITS[source.type] > BITS[type] else inner.name
        return name, [source], NONE
    if inner.name == "trunc":
        return "trunc", [inner.args[0]], NONE
    if inner.name == "symbol":
        return "symbol", [], inner.attrs
    return None
