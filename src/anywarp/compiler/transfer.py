"""How operations carry shapes from operands to results: one rule per operation, each exact or giving up.

Rules work on numbers of the value's width modulo its size; a rule that would need more than it knows answers VARYING.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from anywarp.compiler.attributes import NONE, Compare, InSpace, Parameter, Special, Symbol
from anywarp.compiler.fold import INTEGERS, SWAPPED, evaluate, signed
from anywarp.compiler.ir import PURE, Const, Op, Specialisation, Value, speculatable
from anywarp.compiler.ranges import Interval, Ranges
from anywarp.compiler.shapes import BOUNDS, VARYING, Shape
from anywarp.ptx.isa.ops import BITS, Type

Symbols = tuple[tuple[Value, tuple[int, ...]], ...]

LAUNCH = frozenset(f"{base}.{axis}" for base in ("ctaid", "nctaid", "ntid") for axis in "xyz") | {"gridid"}
"""Special registers that are the same for all threads of a block."""

_NESTING = 12
"""Operations deep that a re-materialised symbol may be."""

_UNEQUAL = frozenset({"atomic", "host_call", "texture"})


@dataclass(slots=True)
class Transfer:
    """Computes shapes; holds what rules need to know beside operands."""

    specialisation: Specialisation
    ranges: Ranges
    local_bytes: int
    shape_of: Callable[[Value], Shape]
    made: dict[tuple[object, ...], Op] = field(default_factory=dict["tuple[object, ...]", Op])
    missed: set[Value] = field(default_factory=set[Value])
    """Values of whose bases a congruence was wanted that is not known; more may be listed than would help."""

    def __call__(self, op: Op) -> tuple[Shape, bool]:
        """Return the shape of `op`, and whether it holds only if `op` does not see a wrap-around (an extension) or meet its bound."""
        shapes = [self.shape_of(a) for a in op.args]
        if op.name not in PURE:
            return self._effect(op, shapes), False
        rule = _RULES.get(op.name)
        if op.name in ("zext", "sext"):
            found, guarded = _extend(self, op, shapes[0])
        elif op.name == "add" and is_biased(op) and not shapes[0].uniform:
            found, guarded = shapes[0], not shapes[0].varying
        elif op.name in BOUNDS and op.type == "i32":
            found, guarded = _bound(self, op, shapes)
        else:
            found, guarded = (rule(self, op, shapes) if rule is not None else None), False
        if found is None:
            found = self._pure(op, shapes)
        return _checked(found, op.type), guarded

    def _effect(self, op: Op, shapes: list[Shape]) -> Shape:
        lanes = self.specialisation.lanes
        same = Shape((0,) * lanes)
        if op.name == "load":
            return same if shapes[0].uniform and InSpace.of(op).space != "local" else VARYING
        if op.name == "barrier_result" or (op.name == "shuffle" and shapes[0].uniform):
            return same
        if lanes > 32:  # what a warp agrees on may differ between the warps of a gang
            return VARYING
        if op.name == "ballot":
            return same
        if op.name in ("shuffle", "match_any"):
            return same if any(s.uniform for s in shapes) else VARYING
        if op.name == "reduce":
            return same if shapes[1].uniform else VARYING
        return VARYING

    def _pure(self, op: Op, shapes: list[Shape]) -> Shape:
        """Any pure operation: constants lane by lane, else uniform if all operands are."""
        constant = self._lane_by_lane(op, shapes)
        if constant is not None:
            return constant
        lanes = self.specialisation.lanes
        return Shape((0,) * lanes) if all(s.uniform for s in shapes) else VARYING

    def _lane_by_lane(self, op: Op, shapes: list[Shape]) -> Shape | None:
        """Compute each lane's value where all are constants."""
        if op.type not in INTEGERS or not shapes or any(a.type not in INTEGERS for a in op.args):
            return None
        columns: list[list[int]] = []
        for operand, shape in zip(op.args, shapes, strict=True):
            lanes = constants(shape, operand.type)
            if lanes is None:
                return None
            columns.append(lanes)
        kind = op.args[1].type if op.name == "select" else op.args[0].type
        values: list[int] = []
        for row in zip(*columns, strict=True):
            one = evaluate(op.name, op.type, list(row), kind, op.attrs)
            if one is None:
                return None
            values.append(one)
        return from_constants(values, op.type)

    # --- symbols ------------------------------------------------------------------------------------------------------

    def rematerialisable(self, value: Value) -> bool:
        """Tell whether `value` is made of nothing but parameters, launch constants and pure operations."""
        work = [(value, 0)]
        seen = 0
        while work:
            one, depth = work.pop()
            seen += 1
            if isinstance(one, Const):
                continue
            if not isinstance(one, Op) or not speculatable(one) or depth > _NESTING or seen > 40:
                return False
            if one.name == "special" and Special.of(one).name not in LAUNCH:
                return False
            if one.name == "element" or (one.name == "to_generic" and InSpace.of(one).space == "local"):
                return False
            work += [(a, depth + 1) for a in one.args]
        return True

    def derived(self, name: str, type: Type, *values: Value) -> Value:
        """An operation on symbols (a conversion, a product) that stands in no block."""
        if all(isinstance(value, Const) for value in values):
            bits = evaluate(name, type, [v.bits for v in values if isinstance(v, Const)], values[0].type, NONE)
            assert bits is not None
            return Const(type, bits)
        key = (name, type, *values)
        if key not in self.made:
            self.made[key] = Op(name, type, list(values))
        return self.made[key]


# --- numbers ----------------------------------------------------------------------------------------------------------


def constants(shape: Shape, type: Type) -> list[int] | None:
    """Return the bits of every lane, where the shape tells them."""
    size = 1 << BITS[type]
    if shape.offsets is None or shape.symbols or shape.modulus != size:
        return None
    return [(shape.residue + o) % size for o in shape.offsets]


def from_constants(values: list[int], type: Type) -> Shape:
    """Return the shape of known lanes; predicates that differ are varying."""
    width = BITS[type]
    size = 1 << width
    values = [v % size for v in values]
    if width == 1 and len(set(values)) > 1:
        return VARYING
    return Shape(tuple(signed(v - values[0], width) for v in values), (), size, values[0])


def _checked(shape: Shape, type: Type) -> Shape:
    """Bring offsets, factors, modulus and residue into normal form; predicates are uniform or varying."""
    if shape.offsets is None:
        return VARYING
    if type not in INTEGERS or type == "i1":
        if not shape.uniform:
            return VARYING
        return shape if type == "i1" else Shape(shape.offsets)
    width = BITS[type]
    offsets = tuple(signed(o, width) for o in shape.offsets)
    symbols: list[tuple[Value, tuple[int, ...]]] = []
    for value, factors in shape.symbols:
        normal = tuple(signed(f, width) for f in factors)
        if any(normal):
            symbols.append((value, normal))
    modulus = min(shape.modulus, 1 << width)
    return Shape(offsets, tuple(symbols), modulus, shape.residue % modulus)


def low_power(number: int, limit: int) -> int:
    """Return the largest power of two that divides `number`, at most `limit` (for 0, `limit`)."""
    return limit if number == 0 else min(limit, number & -number)


def windowed(shape: Shape, modulus: int) -> bool:
    """Tell whether all lanes lie in one aligned window of `modulus` values."""
    if shape.offsets is None or shape.symbols or shape.modulus < modulus:
        return False
    residue = shape.residue % modulus
    return all(0 <= residue + o < modulus for o in shape.offsets)


def _merged(a: Symbols, b: Symbols, sign: int) -> Symbols:
    out = dict(a)
    for value, factors in b:
        known = out.get(value, (0,) * len(factors))
        out[value] = tuple(x + sign * y for x, y in zip(known, factors, strict=True))
    return tuple(out.items())


# --- rules: None leaves the operation to the general rule ---------------------------------------------------------------


def _linear(sign: int) -> Callable[[Transfer, Op, list[Shape]], Shape | None]:
    def rule(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
        a, b = shapes
        if a.offsets is None or b.offsets is None:
            return VARYING
        modulus = min(a.modulus, b.modulus)
        offsets = tuple(x + sign * y for x, y in zip(a.offsets, b.offsets, strict=True))
        return Shape(offsets, _merged(a.symbols, b.symbols, sign), modulus, a.residue + sign * b.residue)

    return rule


def _not(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    """All bits inverted: -1 - x."""
    a = shapes[0]
    if a.offsets is None or op.type == "i1":
        return None
    symbols = tuple((value, tuple(-f for f in factors)) for value, factors in a.symbols)
    return Shape(tuple(-o for o in a.offsets), symbols, a.modulus, -1 - a.residue)


def _product_modulus(a: Shape, b: Shape, size: int) -> tuple[int, int]:
    """Congruence of a product: (r + M i)(s + N j) = r s + r N j + s M i + M N i j."""
    modulus = min(low_power(a.residue, size) * b.modulus, low_power(b.residue, size) * a.modulus)
    modulus = min(modulus, a.modulus * b.modulus, size)
    return modulus, a.residue * b.residue % modulus


def _mul(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    a, b = shapes
    left, right = op.args
    if a.offsets is None or b.offsets is None:
        return VARYING
    size = 1 << BITS[op.type]
    modulus, residue = _product_modulus(a, b, size)
    if a.uniform and not b.uniform:
        a, b, left, right = b, a, right, left
    if not b.uniform:
        return None  # constants lane by lane, or varying
    assert a.offsets is not None
    if a.uniform:
        return Shape(a.offsets, (), modulus, residue)
    if b.modulus == size:
        return _scaled(a, b.residue, modulus, residue)
    if not t.rematerialisable(right):
        return VARYING
    symbols = {right: a.offsets}
    for value, factors in a.symbols:
        product = t.derived("mul", op.type, value, right)
        if not t.rematerialisable(product):
            return VARYING
        symbols[product] = factors
    return Shape((0,) * len(a.offsets), tuple(symbols.items()), modulus, residue)


def _scaled(a: Shape, factor: int, modulus: int, residue: int) -> Shape:
    assert a.offsets is not None
    symbols = tuple((v, tuple(f * factor for f in factors)) for v, factors in a.symbols)
    return Shape(tuple(o * factor for o in a.offsets), symbols, modulus, residue)


def _shl(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    a, amount = shapes
    width = BITS[op.type]
    if a.offsets is None:
        return VARYING
    if not amount.uniform or amount.modulus != 1 << width:
        return None
    if amount.residue >= width:
        return Shape((0,) * len(a.offsets), (), 1 << width, 0)
    factor = 1 << amount.residue
    modulus = min(a.modulus * factor, 1 << width)
    return _scaled(a, factor, modulus, a.residue * factor % modulus)


def _shift_right(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    """Within a window no lane carries into the bits above; a window smaller than the shift leaves nothing that differs."""
    a, amount = shapes
    width = BITS[op.type]
    if a.offsets is None:
        return VARYING
    if not amount.uniform or amount.modulus != 1 << width or a.modulus == 1 << width:
        return None
    shift = amount.residue
    if a.uniform and shift < width:
        modulus = max(1, a.modulus >> shift)
        return Shape(a.offsets, (), modulus, (a.residue >> shift) % modulus)
    if shift < width and windowed(a, a.modulus):
        return _shifted_lanes(a, shift)
    # Lanes that rest on a bias being 0 are not negative.
    half = 1 << (width - 1)
    bounds = (0, half - 1) if is_biased(op.args[0]) else t.ranges.of(op.args[0])
    if op.name == "ashr" and bounds[1] >= half:
        bounds = _signed_bounds(t, op.args[0], half)
    straight = not a.symbols and _cannot_wrap(bounds, a.offsets, width, False)
    if shift < width and a.modulus >= 1 << shift and straight:
        return _shifted_lanes(a, shift)
    t.missed.add(op.args[0])
    return None


def _signed_bounds(t: Transfer, value: Value, half: int) -> Interval:
    """Return the bounds of a value read as signed: of a sum or difference of small numbers, which may fall below zero."""
    whole = -half, half - 1
    if not isinstance(value, Op) or value.name not in ("add", "sub"):
        return whole
    (a, b), (c, d) = (_small(t, x, half) for x in value.args)
    low, high = (a + c, b + d) if value.name == "add" else (a - d, b - c)
    return (low, high) if -half <= low and high < half else whole


def _small(t: Transfer, value: Value, half: int) -> Interval:
    if isinstance(value, Const):
        number = signed(value.bits, BITS[value.type])
        return number, number
    low, high = t.ranges.of(value)
    return (low, high) if high < half else (-half, half - 1)


def _shifted_lanes(a: Shape, shift: int) -> Shape:
    """Lanes that do not wrap around, shifted: what lies above the modulus is shifted alike for all of them."""
    offsets = tuple(((a.residue + o) >> shift) - (a.residue >> shift) for o in a.offsets or ())
    modulus = max(1, a.modulus >> shift)
    return Shape(offsets, (), modulus, (a.residue >> shift) % modulus)


_BITWISE: dict[str, Callable[[int, int], int]] = {
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
}


def _bitwise(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    """Where both operands keep to a window, the bits below its size are known lane by lane, the bits above uniform."""
    a, b = shapes
    function = _BITWISE[op.name]
    width = BITS[op.type]
    masked = op.name == "and" and b.uniform and b.modulus == 1 << width and b.residue < a.modulus
    if masked and a.offsets is not None and not a.symbols:
        return from_constants([(a.residue + o) % a.modulus & b.residue for o in a.offsets], op.type)
    if a.offsets is None or b.offsets is None:
        return VARYING
    low = (-b.residue) % (1 << width) if op.name == "and" and b.modulus == 1 << width else 0
    if b.uniform and low and not low & (low - 1) and a.modulus >= low and not a.symbols:
        return _rounded_down(a, low)
    window = min(a.modulus, b.modulus)
    modulus, residue = window, function(a.residue, b.residue) % window
    if op.name == "and":
        zeros = max(
            low_power(s.residue, s.modulus) for s in (a, b)
        )  # the trailing zeros of either operand's base are the result's
        if zeros > modulus:
            modulus, residue = zeros, 0
    if a.uniform and b.uniform:
        return Shape(a.offsets, (), modulus, residue)
    if not (windowed(a, window) and windowed(b, window)):
        t.missed.update(op.args)
        return None
    r, s = a.residue % window, b.residue % window
    first = function(r, s)
    offsets = tuple(function(r + x, s + y) - first for x, y in zip(a.offsets, b.offsets, strict=True))
    return Shape(offsets, (), modulus, residue)


def _rounded_down(a: Shape, unit: int) -> Shape:
    """Lanes without their lowest bits, which the congruence tells."""
    assert a.offsets is not None
    offsets = tuple(o - (a.residue + o) % unit + a.residue % unit for o in a.offsets)
    return Shape(offsets, (), a.modulus, a.residue - a.residue % unit)


def is_biased(value: Value) -> bool:
    """Tell whether a value is a number plus what makes a shift divide it towards zero: nothing, if it is not negative.

    That is x + (sign bits of x, shifted right until only the lowest k are left), as compilers write `x / 2**k` and `x % 2**k`.
    """
    if not isinstance(value, Op) or value.name != "add" or value.type != "i32":
        return False
    number, bias = value.args
    sign, amount = _shifted_by(bias, "lshr")
    if sign is number:
        return amount == 31
    source, width = _shifted_by(sign, "ashr")
    return source is number and width >= 31 and 0 < amount < 32


def _shifted_by(value: Value | None, name: str) -> tuple[Value | None, int]:
    """Return what a shift by a constant shifts, and by how much; None if a value is none."""
    if isinstance(value, Op) and value.name == name and isinstance(value.args[1], Const):
        return value.args[0], value.args[1].bits
    return None, 0


def _trunc(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    a = shapes[0]
    if a.offsets is None:
        return VARYING
    symbols = tuple((t.derived("trunc", op.type, v), f) for v, f in a.symbols)
    modulus = min(a.modulus, 1 << BITS[op.type])
    return Shape(a.offsets, symbols, modulus, a.residue % modulus)


def _extend(t: Transfer, op: Op, a: Shape) -> tuple[Shape | None, bool]:
    """Extension keeps offsets where no lane wraps around: provably, or guarded by a test at run time.

    A window never crosses the end of the range, signed or not. Bounds prove it when they are narrower than what a wrap-around
    would need (and, for `sext`, all of one sign).
    """
    operand = op.args[0]
    width = BITS[operand.type]
    if a.offsets is None:
        return VARYING, False
    if operand.type == "i1":
        return None, False
    if a.modulus == 1 << width and not a.symbols:
        return t._lane_by_lane(op, [a]), False  # pyright: ignore[reportPrivateUsage]
    if a.uniform:
        return Shape(a.offsets, (), a.modulus, a.residue), False
    symbols = tuple((t.derived(op.name, op.type, v), f) for v, f in a.symbols)
    modulus, residue = a.modulus, a.residue
    if modulus == 1 << width:
        modulus, residue = modulus // 2, residue % (modulus // 2)
    plain = Shape(a.offsets, symbols, modulus, residue)
    if windowed(a, a.modulus):
        return plain, False
    bounds = t.ranges.of(operand)
    if not a.symbols and _cannot_wrap(bounds, a.offsets, width, op.name == "sext"):
        return plain, False
    return plain, True


def _bound(t: Transfer, op: Op, shapes: list[Shape]) -> tuple[Shape | None, bool]:
    """An index that is kept within bounds (`min(x, n - 1)`) goes on in its steps while no lane meets one, which is tested."""
    a, b = shapes[-2:]
    if op.name == "select" and shapes[0].uniform:  # `i > most - step ? most : i + step`, of lanes that choose alike
        same = _select(t, op, shapes)
        if same is not None and not same.varying:
            return same, False
    elif op.name == "select":  # `x > 0 ? x - 1 : n - 1`: the choice must hang on a lane's number
        condition = op.args[0]
        if not isinstance(condition, Op) or condition.name != "icmp":
            return _select(t, op, shapes), False
        if any(t.shape_of(x).varying for x in condition.args):
            return None, False
    if a.uniform == b.uniform or a.varying or b.varying:
        return None, False
    constant = t._lane_by_lane(op, shapes)  # pyright: ignore[reportPrivateUsage]
    return (constant, False) if constant is not None else (b if a.uniform else a, True)


def _cannot_wrap(bounds: Interval, offsets: tuple[int, ...], width: int, is_signed: bool) -> bool:
    low, high = bounds
    half = 1 << (width - 1)
    if is_signed and low < half <= high:
        return False
    return high - low + max(abs(o) for o in offsets) < 1 << width


def _select(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    condition, a, b = shapes
    if not condition.uniform:
        return None
    return meet(a, b)


def _icmp(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    """Lanes in one window compare alike with a uniform number at a window's edge."""
    a, b = shapes
    predicate = Compare.of(op).predicate
    if a.uniform:
        a, b, predicate = b, a, SWAPPED[predicate]
    if not b.uniform or a.offsets is None or a.uniform or predicate in ("eq", "ne"):
        return None
    window = min(a.modulus, b.modulus, 1 << (BITS[op.args[0].type] - 1))
    edge = 0 if predicate in ("ult", "uge", "slt", "sge") else window - 1
    if b.residue % window == edge and windowed(a, window):
        return Shape((0,) * len(a.offsets))
    t.missed.update(op.args)
    return None


def _special(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    return special_shape(Special.of(op).name, t.specialisation)


def _param(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    """Parameters are uniform, and multiples of what the specialisation says (so are their low words)."""
    modulus = 1
    for offset, size, number in t.specialisation.multiples:
        if offset == Parameter.of(op).offset and op.type in INTEGERS and BITS[op.type] <= 8 * size:
            modulus = max(modulus, number & -number)
    return Shape((0,) * t.specialisation.lanes, (), modulus, 0)


def _symbol(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    lanes = t.specialisation.lanes
    if InSpace.of(op).space in ("shared", "local"):
        size = 1 << BITS[op.type]
        return Shape((0,) * lanes, (), size, Symbol.of(op).offset % size)
    return Shape((0,) * lanes)


def _generic(sign: int) -> Callable[[Transfer, Op, list[Shape]], Shape | None]:
    """Generic addresses of most spaces are moved by a uniform amount; those of local memory by one that grows with the lane."""

    def rule(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
        a = shapes[0]
        if a.offsets is None:
            return VARYING
        step = sign * t.local_bytes if InSpace.of(op).space == "local" else 0
        return Shape(tuple(o + step * lane for lane, o in enumerate(a.offsets)), a.symbols)

    return rule


def _is_space(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    return VARYING if not shapes[0].uniform else None


def _element(t: Transfer, op: Op, shapes: list[Shape]) -> Shape | None:
    return Shape((0,) * t.specialisation.lanes) if shapes[0].uniform else VARYING


_RULES: dict[str, Callable[[Transfer, Op, list[Shape]], Shape | None]] = {
    "add": _linear(1), "sub": _linear(-1), "mul": _mul, "shl": _shl, "lshr": _shift_right, "ashr": _shift_right,
    "and": _bitwise, "or": _bitwise, "xor": _bitwise, "not": _not, "trunc": _trunc, "select": _select, "icmp": _icmp,
    "special": _special, "param": _param, "symbol": _symbol, "to_generic": _generic(1), "from_generic": _generic(-1),
    "is_space": _is_space, "element": _element,
}  # fmt: skip


def meet(a: Shape, b: Shape) -> Shape:
    """Return what is true of a value that is, for all lanes alike, one of two."""
    if a == b:
        return a
    if a.offsets is None or a.offsets != b.offsets or dict(a.symbols) != dict(b.symbols):
        return VARYING
    modulus = min(a.modulus, b.modulus)
    modulus = low_power(a.residue - b.residue, modulus)
    return Shape(a.offsets, a.symbols, modulus, a.residue % modulus)


def special_shape(name: str, specialisation: Specialisation) -> Shape:
    """Return the shape of a special register under the block shape (threads are numbered x fastest, 32 to a warp)."""
    lanes = specialisation.lanes
    same = Shape((0,) * lanes)
    if name == "laneid":
        return from_constants([n % 32 for n in range(lanes)], "i32")
    if name == "warpid" and lanes > 32:
        return Shape(tuple(n // 32 for n in range(lanes)), (), lanes // 32, 0)
    if not name.startswith("tid."):
        return same
    if specialisation.block is None:
        return VARYING
    x, y, z = specialisation.block
    columns = {
        "tid.x": [n if (y, z) == (1, 1) else n % x for n in range(lanes)],
        "tid.y": [n // x if z == 1 else n // x % y for n in range(lanes)],
        "tid.z": [n // (x * y) for n in range(lanes)],
    }
    if x * y * z <= lanes:
        return from_constants(columns[name], "i32")
    if name == "tid.x":
        return _thread_x(x, y, z, columns["tid.x"], lanes)
    return _thread_yz(name, x, y, z, columns[name], lanes)


def _thread_x(x: int, y: int, z: int, column: list[int], lanes: int) -> Shape:
    if (y, z) == (1, 1) or x % lanes == 0:
        return Shape(tuple(range(lanes)), (), lanes, 0)
    if lanes % x == 0:
        return from_constants(column, "i32")
    return VARYING


def _thread_yz(name: str, x: int, y: int, z: int, column: list[int], lanes: int) -> Shape:
    """Rows are uniform if a warp lies within one; if a warp holds whole rows, they count up from a multiple of their number.

    Lanes behind the block's end do not exist, so that in the last dimension nothing wraps around.
    """
    if x % lanes == 0:
        return Shape((0,) * lanes)
    if lanes % x:
        return VARYING
    rows = lanes // x
    if name == "tid.y":
        if y % rows == 0 or z == 1:
            return Shape(tuple(n // x for n in range(lanes)), (), rows, 0)
        return from_constants(column, "i32") if rows % y == 0 else VARYING
    if y % rows == 0:
        return Shape((0,) * lanes)
    if rows % y == 0:
        return Shape(tuple(n // (x * y) for n in range(lanes)), (), rows // y, 0)
    return VARYING
