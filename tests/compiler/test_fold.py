"""Simplified operations compute what they were; values are worked out here from the PTX manual, by plain arithmetic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp.compiler import fold
from anywarp.compiler.attributes import NONE, Attributes, Compare, Parameter, Signed
from anywarp.compiler.ir import Const, Op, Value
from anywarp.ptx.isa.ops import BITS

WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128}
BINARY = ["add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr"]
OF_SIGN = ["mulhi", "div", "rem", "min", "max"]
PREDICATES = ["eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"]


def as_signed(number: int, width: int) -> int:
    return number - (number >> (width - 1) << width)


def arithmetic(name: str, a: int, b: int, width: int, signed: bool) -> int:
    """What the manual says of two operands; of division by zero it says "unspecified": all ones, and the dividend as the rest."""
    x, y = (as_signed(a, width), as_signed(b, width)) if signed else (a, b)
    if name in ("div", "rem"):
        if y == 0:
            return -1 if name == "div" else a
        towards_zero = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
        return towards_zero if name == "div" else x - towards_zero * y
    amount = min(b, width)
    return {
        "add": a + b, "sub": a - b, "mul": a * b, "and": a & b, "or": a | b, "xor": a ^ b,
        "shl": a << amount, "lshr": a >> amount, "ashr": as_signed(a, width) >> amount,
        "mulhi": (x * y) >> width, "min": min(x, y), "max": max(x, y),
    }[name]  # fmt: skip


def holds(predicate: str, a: int, b: int, width: int) -> bool:
    if predicate.startswith("s"):
        a, b = as_signed(a, width), as_signed(b, width)
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[predicate[-2:]]


def value_of(value: Value, known: dict[Value, int]) -> int:
    """Evaluate a tree of operations whose leaves are constants or known."""
    if value in known:
        return known[value]
    if isinstance(value, Const):
        return value.bits
    assert isinstance(value, Op)
    args = [value_of(a, known) for a in value.args]
    width = BITS[value.args[0].type]
    if value.name == "icmp":
        return int(holds(Compare.of(value).predicate, *args, width))
    signed = isinstance(value.attrs, Signed) and value.attrs.signed
    return arithmetic(value.name, *args, width, signed) & ((1 << width) - 1)


def simplified(name: str, type: str, args: list[Value], attrs: Attributes) -> Value:
    """As the builder of the IR does it."""
    name, args, attrs = fold.canonical(name, args, attrs)
    plain = fold.simplify(name, type, args, attrs)
    if plain is not None:
        return plain
    rewrite = fold.compose(name, type, args, attrs)
    if rewrite is not None:
        return simplified(rewrite[0], type, rewrite[1], rewrite[2])
    return Op(name, type, args, attrs)


@st.composite
def numbers(draw, width: int) -> int:
    top = 1 << width
    edge = st.sampled_from([0, 1, 2, 3, 7, width - 1, width, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1])
    power = st.integers(0, width - 1).map(lambda n: 1 << n)
    return draw(edge | power | st.integers(0, top - 1)) % top


@pytest.mark.parametrize("name", BINARY + OF_SIGN)
@given(data=st.data())
def test_operations_with_constants_compute_what_they_did(name, data):
    """Constants on either side, or on both, zero among them; then once more on the result."""
    type, width = data.draw(st.sampled_from(list(WIDTHS.items())))
    signed = name in OF_SIGN and data.draw(st.booleans())
    attrs = Signed(signed) if name in OF_SIGN else NONE
    free = Op("param", type, [], Parameter(0))
    known = {free: data.draw(numbers(width))}
    constant = Const(type, data.draw(numbers(width)))
    first, second = data.draw(st.sampled_from([(free, constant), (constant, free), (constant, constant)]))
    a, b = value_of(first, known), value_of(second, known)
    wanted = arithmetic(name, a, b, width, signed) % (1 << width)
    once = simplified(name, type, [first, second], attrs)
    assert value_of(once, known) == wanted
    other = Const(type, data.draw(numbers(width)))
    twice = simplified(name, type, [once, other], attrs)
    assert value_of(twice, known) == arithmetic(name, wanted, other.bits, width, signed) % (1 << width)


@pytest.mark.parametrize("predicate", PREDICATES)
@given(data=st.data())
def test_comparisons_with_constants_hold_when_they_did(predicate, data):
    type, width = data.draw(st.sampled_from(list(WIDTHS.items())))
    free = Op("param", type, [], Parameter(0))
    known = {free: data.draw(numbers(width))}
    pair = [free, Const(type, data.draw(numbers(width)))]
    if data.draw(st.booleans()):
        pair.reverse()
    wanted = holds(predicate, value_of(pair[0], known), value_of(pair[1], known), width)
    assert value_of(simplified("icmp", "i1", pair, Compare(predicate)), known) == wanted


def test_a_number_without_some_of_its_bits_is_the_others():
    x = Op("param", "i32", [], Parameter(0))
    part = Op("and", "i32", [x, Const("i32", 0xFFFFFFFE)])
    name, args, _ = fold.compose("sub", "i32", [x, part], NONE) or ("", [], NONE)
    assert name == "and" and args[0] is x and fold.is_const(args[1], 1)
    assert fold.compose("sub", "i32", [part, x], NONE) is None
    assert fold.compose("sub", "i32", [Op("param", "i32", [], Parameter(4)), part], NONE) is None
