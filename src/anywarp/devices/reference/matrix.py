"""Matrix products in whole numbers: each element of D is the exact sum of its products, rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from anywarp.devices.reference import softfloat as sf
from anywarp.ptx.isa.matrix_forms import (
    WARP,
    WIDTH,
    Place,
    Product,
    column_of,
    element,
    metadata_place,
    pair,
    per_register,
    place_a,
    place_b,
)

Number = int | None
"""A whole number of the smallest unit in use; None is a NaN."""
Lanes = Sequence[Sequence[int]]

_FORMATS = {**sf.FORMATS, "tf32": sf.FORMATS["f32"]}
_POINT = 1200
"""Binary places kept of a number: more than the smallest f64 has, so that two make room for any product."""
_INFINITE = 1 << 8000
"""More than any sum of finite numbers; infinities are counted in it."""


def multiply(p: Product, registers: Lanes) -> list[list[int]]:
    """Return D's registers (bits of each lane) from those of A, B, C and, of a sparse product, the indices."""
    a, b, c = p.distinct("a"), p.distinct("b"), p.distinct("c")
    left, right, sums, more = registers[:a], registers[a : a + b], registers[a + b : a + b + c], registers[a + b + c :]
    matrices = [_Rows(p, which, left, right, more) for which in range(p.products)]
    addends = _addends(p, sums)
    out = [[0] * WARP for _ in range(p.distinct("d"))]
    for r in range(p.distinct("d")):
        for lane in range(WARP):
            for part in range(per_register(p.d)):
                which, row, column = element(p, p.d, r, lane, part)
                products = matrices[which].products(row, column)
                bits = _total(p, addends[which, row, column], products)
                out[r][lane] |= bits << (part * WIDTH[p.d])
    return out


class _Rows:
    """One product's A by rows and B by columns, as bits, with the columns of A that are not zero."""

    def __init__(self, p: Product, which: int, left: Lanes, right: Lanes, more: Lanes) -> None:
        self.p = p
        self.a = [
            {self._column(more, row, k): _field(left, place_a(p, which, row, k), p.a) for k in range(p.stored_k)}
            for row in range(p.m)
        ]
        self.b = [[_field(right, place_b(p, which, k, column), p.b) for k in range(p.k)] for column in range(p.n)]

    def _column(self, more: Lanes, row: int, k: int) -> int:
        p = self.p
        if not p.sparse:
            return k
        lane, shift = metadata_place(p, row, k // pair(p.a))
        return column_of(p, k, more[0][lane] >> shift & 3)

    def products(self, row: int, column: int) -> list[tuple[int, int]]:
        """Return the pairs of bits to multiply for one element of D."""
        return [(x, self.b[column][k]) for k, x in self.a[row].items()]


def _field(registers: Lanes, place: Place, kind: str) -> int:
    register, lane, part = place
    return registers[register][lane] >> (part * WIDTH[kind]) & ((1 << WIDTH[kind]) - 1)


def _addends(p: Product, registers: Lanes) -> dict[tuple[int, int, int], int]:
    out: dict[tuple[int, int, int], int] = {}
    for r in range(p.distinct("c")):
        for lane in range(WARP):
            for part in range(per_register(p.c)):
                out[element(p, p.c, r, lane, part)] = _field(registers, (r, lane, part), p.c)
    return out


def _total(p: Product, addend: int, products: list[tuple[int, int]]) -> int:
    if p.integer:
        return _whole(p, addend, products)
    start = _number(p.c, addend)
    terms = [_times(_number(p.a, x), _number(p.b, y)) for x, y in products]
    terms.append(None if start is None else start << _POINT)
    f = sf.FORMATS[p.d]
    plus = any(t is not None and t >= _INFINITE for t in terms)
    minus = any(t is not None and t <= -_INFINITE for t in terms)
    if any(t is None for t in terms) or (plus and minus):
        return f.nan
    if plus or minus:
        return f.infinity | (f.sign if minus else 0)
    total = sum(t for t in terms if t is not None)
    return sf.join(f, int(total < 0), abs(total), -2 * _POINT, "rn")


def _times(x: Number, y: Number) -> Number:
    if x is None or y is None:
        return None
    if abs(x) >= _INFINITE or abs(y) >= _INFINITE:
        return None if x == 0 or y == 0 else _INFINITE if (x > 0) == (y > 0) else -_INFINITE
    return x * y


@cache
def _number(kind: str, bits: int) -> Number:
    """Read a float as a multiple of 2**-_POINT."""
    if kind == "e4m3":
        return _e4m3(bits)
    if kind == "e5m2":  # the upper byte of an f16
        kind, bits = "f16", bits << 8
    if kind == "tf32":
        bits &= 0xFFFFE000
    f = _FORMATS[kind]
    if sf.is_nan(f, bits):
        return None
    sign, m, e = sf.split(f, bits)
    if sf.is_infinite(f, bits):
        m, e = _INFINITE, -_POINT
    return (-m if sign else m) << (e + _POINT)


def _e4m3(bits: int) -> Number:
    """4 bits of exponent biased by 7, 3 of fraction; no infinity, and one NaN of each sign."""
    if bits & 0x7F == 0x7F:
        return None
    exponent, fraction = bits >> 3 & 15, bits & 7
    size = (8 + fraction) << (exponent - 1 + _POINT - 9) if exponent else fraction << (_POINT - 9)
    return -size if bits & 0x80 else size


def _whole(p: Product, addend: int, products: list[tuple[int, int]]) -> int:
    total = _signed("s32", addend)
    for x, y in products:
        if p.combine == "mul":
            total += _signed(p.a, x) * _signed(p.b, y)
        else:
            total += x & y if p.combine == "and" else x ^ y
    if p.saturate:
        total = max(-(1 << 31), min((1 << 31) - 1, total))
    return total & 0xFFFFFFFF


def _signed(kind: str, bits: int) -> int:
    top = 1 << (WIDTH[kind] - 1)
    return (bits ^ top) - top if kind[0] == "s" else bits
