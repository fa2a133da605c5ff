"""Literals and constant expressions, folded while parsing with the 64-bit rules of the manual (section 4.5).

The tree keeps one value per constant, so that nothing above has to know the C-like typing of PTX constant expressions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from anywarp.ptx import codes
from anywarp.ptx.lexer import Cursor
from anywarp.ptx.tree import Float, Integer

Constant = Integer | Float

_MASK = (1 << 64) - 1
_PRECEDENCE: dict[str, int] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
TERM = 10
"""The precedence at which `+` and `-` are left to the caller."""

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


def integer(c: Cursor, where: str) -> int:
    """Parse a constant expression that must be an integer and return its value."""
    start = c.start
    value = constant(c)
    if isinstance(value, Float):
        c.seek(start)
        c.fail(codes.NOT_CONSTANT, f"an integer is needed {where}, not a floating-point value")
    return value.value


def constant(c: Cursor, lowest: int = 0) -> Constant:
    """Parse a constant expression of operators binding at least as tightly as `lowest` (0: `?:` too)."""
    c.enter()
    left = _unary(c)
    while (precedence := _PRECEDENCE.get(c.value, -1)) >= max(lowest, 1) and c.kind == "mark":
        operator = c.advance()
        left = _binary(c, operator, left, constant(c, precedence + 1))
    if lowest == 0 and c.take("?"):
        first = constant(c)
        c.expect(":", "in `?:`")
        left = _choose(c, left, first, constant(c))
    c.leave()
    return left


def literal(c: Cursor) -> Constant:
    """Parse one number; a decimal floating-point number is 64 bits wide (section 4.5.2)."""
    text = c.value
    if c.kind == "integer":
        value = _integer_value(text.rstrip("U"))
        if value > _MASK:
            c.fail(codes.BAD_CONSTANT, "this integer does not fit in 64 bits")
        c.advance()
        return Integer(value, text.endswith("U"))
    if c.kind != "float":
        c.unexpected("a constant")
    c.advance()
    if text[1:2] in ("f", "F"):
        return Float(int(text[2:], 16), 32)
    if text[1:2] in ("d", "D"):
        return Float(int(text[2:], 16), 64)
    return _double(float(text))


def _integer_value(digits: str) -> int:
    """Return the value of an integer literal in base 16, 2, 8 or 10; at most the first 70 digits count."""
    if digits[:2] in ("0x", "0X"):
        return int(digits[2:], 16)
    if digits[:2] in ("0b", "0B"):
        return int(digits[2:], 2)
    if digits[0] == "0":
        return int(digits, 8)
    return int(digits[:70])  # longer ones are out of range anyway, and int() of long decimals is quadratic


def _unary(c: Cursor) -> Constant:
    """Parse prefix operators, casts, parentheses, WARP_SZ and literals."""
    if c.kind == "word" and c.value == "WARP_SZ":
        c.advance()
        return Integer(32)
    if c.kind != "mark":
        return literal(c)
    c.enter()
    value = _prefixed(c)
    c.leave()
    return value


def _prefixed(c: Cursor) -> Constant:
    """Parse what begins with an operator or a parenthesis."""
    if c.take("("):
        return _parenthesis(c)
    if not c.at("-", "+", "~", "!"):
        c.unexpected("a constant")
    operator = c.advance()
    value = _unary(c)
    if operator == "+":
        return value
    return _negative(value) if operator == "-" else _complement(c, operator, value)


def _parenthesis(c: Cursor) -> Constant:
    """Parse what follows `(`: a cast or an expression."""
    if c.at(".s64", ".u64"):
        unsigned = c.advance() == ".u64"
        c.expect(")", "after the cast")
        value = _unary(c)
        return _typed(_whole(c, value), unsigned)
    value = constant(c)
    c.expect(")", "to close the expression")
    return value


def _negative(value: Constant) -> Constant:
    """Negate; the literal 9223372036854775808 is taken as the smallest signed value, which compilers mean."""
    if isinstance(value, Float):
        return Float(value.bits ^ (1 << (value.width - 1)), value.width)
    if not value.unsigned and value.value == 1 << 63:
        return Integer(-(1 << 63))
    return _typed(-value.value, _unsigned(value))


def _complement(c: Cursor, operator: str, value: Constant) -> Integer:
    whole = _whole(c, value)
    return _typed(~whole, True) if operator == "~" else Integer(int(whole == 0))


def _binary(c: Cursor, operator: str, left: Constant, right: Constant) -> Constant:
    """Apply one operator under the table "Constant Expression Evaluation Rules" of section 4.5.6."""
    if isinstance(left, Float) or isinstance(right, Float):
        return _binary_double(c, operator, _as_double(c, left), _as_double(c, right))
    a, b, unsigned = left.value, right.value, _unsigned(left) or _unsigned(right)
    if operator in ("&&", "||"):
        return Integer(int((a != 0 and b != 0) if operator == "&&" else (a != 0 or b != 0)))
    if operator in ("<<", ">>"):
        return _shift(operator, left, b & _MASK)
    if operator in ("&", "|", "^"):
        return _typed({"&": a & b, "|": a | b, "^": a ^ b}[operator], True)
    if operator == "%":
        return _typed((a & _MASK) % _divisor(c, b & _MASK), False)
    if unsigned:
        a, b = a & _MASK, b & _MASK
    if operator in _COMPARE:
        return Integer(int(_COMPARE[operator](a, b)))
    if operator == "/":
        quotient = abs(a) // abs(_divisor(c, b))
        return _typed(quotient if (a < 0) == (b < 0) else -quotient, unsigned)
    return _typed({"+": a + b, "-": a - b, "*": a * b}[operator], unsigned)


def _binary_double(c: Cursor, operator: str, a: float, b: float) -> Constant:
    if operator in _COMPARE:
        return Integer(int(_COMPARE[operator](a, b)))
    if operator not in ("+", "-", "*", "/"):
        c.fail(codes.NOT_CONSTANT, f"`{operator}` takes integers only")
    if operator == "/":
        return _double(a / (b if b != 0 else _zero_divisor(c)))
    return _double({"+": a + b, "-": a - b, "*": a * b}[operator])


def _choose(c: Cursor, condition: Constant, first: Constant, second: Constant) -> Constant:
    """Evaluate `?:`, converting integers to a common type."""
    chosen = first if _whole(c, condition) != 0 else second
    if isinstance(first, Integer) and isinstance(second, Integer):
        assert isinstance(chosen, Integer)
        return _typed(chosen.value, _unsigned(first) or _unsigned(second))
    return chosen


def _shift(operator: str, left: Integer, count: int) -> Integer:
    """Shift by the low six bits of the count, as NVIDIA's assembler does; the manual leaves larger counts open."""
    count &= 63
    return _typed(left.value << count if operator == "<<" else left.value >> count, _unsigned(left))


def _unsigned(value: Integer) -> bool:
    """Tell whether a constant is .u64: by suffix, or because it does not fit in .s64 (section 4.5.1)."""
    return value.unsigned or value.value >= 1 << 63


def _typed(value: int, unsigned: bool) -> Integer:
    """Wrap to 64 bits of the given signedness."""
    value &= _MASK
    return Integer(value if unsigned or value < 1 << 63 else value - (1 << 64), unsigned)


def _whole(c: Cursor, value: Constant) -> int:
    if isinstance(value, Float):
        c.fail(codes.NOT_CONSTANT, "an integer is needed here, not a floating-point value")
    return value.value


def _divisor(c: Cursor, value: int) -> int:
    return value if value != 0 else int(_zero_divisor(c))


def _zero_divisor(c: Cursor) -> float:
    c.fail(codes.NOT_CONSTANT, "this constant expression divides by zero")


def _as_double(c: Cursor, value: Constant) -> float:
    if isinstance(value, Integer):
        return float(value.value)
    if value.width == 32:
        c.fail(codes.NOT_CONSTANT, "0f constants cannot be combined in expressions", "write a decimal or 0d constant")
    return struct.unpack("<d", struct.pack("<Q", value.bits))[0]


def _double(value: float) -> Float:
    return Float(struct.unpack("<Q", struct.pack("<d", value))[0], 64)
