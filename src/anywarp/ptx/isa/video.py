"""The video instructions: scalar (`vadd`, `vshr`, `vmad`, `vset` ...) and SIMD (`vadd2`, `vset4` ...).

Operands carry selectors (`%r1.h0`) and the intermediate results are wider than a register, so the common steps of the manual's
overview (select and extend, saturate, second operation, merge) are written once here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from anywarp.ptx.isa.comparison import compare
from anywarp.ptx.isa.operands import Misfit, is_signed, malformed, read, resize, take, write
from anywarp.ptx.isa.ops import Ops, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction, Name, Negated, Operand

_PARTS: dict[str, tuple[int, int]] = {
    **{f"b{n}": (8 * n, 8) for n in range(4)}, "h0": (0, 16), "h1": (16, 16),
}  # fmt: skip
"""Position and width of each selector of a scalar video operand."""
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _selector(operand: Operand) -> tuple[Operand, str | None]:
    """Take an operand with a selector apart."""
    if isinstance(operand, Name) and operand.member is not None and not operand.name.startswith(("%tid", "%ntid")):
        return Name(operand.name), operand.member
    return operand, None


def _part(selector: str) -> tuple[int, int]:
    if selector not in _PARTS:
        raise Misfit(f"`.{selector}` selects no byte or half-word")
    return _PARTS[selector]


def _field(ops: Ops, word: V, at: int, width: int, signed: bool) -> V:
    """Bits of an i32, extended to 32."""
    if width == 32:
        return word
    if not signed:
        down = ops.lshr(word, ops.const("i32", at)) if at else word
        return ops.and_(down, ops.const("i32", (1 << width) - 1))
    top = ops.shl(word, ops.const("i32", 32 - width - at))
    return ops.ashr(top, ops.const("i32", 32 - width))


def _source(ops: Ops, operand: Operand, ptx: str) -> V:
    """A scalar video source as an i32: its selected part, extended by its type."""
    register, selector = _selector(operand)
    at, width = (0, 32) if selector is None else _part(selector)
    return _field(ops, read(ops, register, "i32"), at, width, is_signed(ptx))


def _clamped(ops: Ops, value: V, width: int, signed: bool) -> V:
    """A signed value of 64 or more bits clamped to the range of a type."""
    least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    bounded = ops.min(value, ops.const(value.type, most), True)
    return ops.max(bounded, ops.const(value.type, least), True)


def _finish(ops: Ops, i: Instruction, value: V, destination: str) -> None:
    """Saturate, apply the second operation or merge with c, and write the lower 32 bits."""
    count = len(i.operands)
    target, selector = _selector(i.operands[0])
    second = next((m for m in i.modifiers if m in ("add", "min", "max")), None)
    if second is not None and selector is not None:
        raise malformed(i, "it has a second operation and a selector on its destination")
    if count != (3 if second is None and selector is None else 4):
        raise malformed(i, f"it has {count}, which do not fit the second operation or merge")
    signed = is_signed(destination)
    at, width = (0, 32) if selector is None else _part(selector)
    if i.has("sat"):
        value = _clamped(ops, value, width, signed)
    if second is not None:
        c = resize(ops, read(ops, i.operands[3], "i32"), value.type, signed=signed)
        value = ops.add(value, c) if second == "add" else (ops.min if second == "min" else ops.max)(value, c, True)
    word = resize(ops, value, "i32")
    if selector is not None:
        mask = ((1 << width) - 1) << at
        word = _merged(ops, word, read(ops, i.operands[3], "i32"), at, mask)
    write(ops, target, word)


def _merged(ops: Ops, value: V, c: V, at: int, mask: int) -> V:
    """`c` with the bits of `mask` taken from `value`, moved up by `at`."""
    moved = ops.shl(value, ops.const("i32", at)) if at else value
    kept = ops.and_(c, ops.const("i32", ~mask))
    return ops.or_(ops.and_(moved, ops.const("i32", mask)), kept)


def _narrow(i: Instruction) -> bool:
    """Tell whether only the lower 32 bits of the intermediate result matter."""
    return not i.has("sat", "min", "max")


_SCALAR = "u32/s32.u32/s32.u32/s32{.sat}{.add/min/max}"


@meaning(*(f"{op}.{_SCALAR}" for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax")))
def arithmetic(ops: Ops, i: Instruction) -> None:
    """`vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`."""
    _, left, right = take(i, 3, 4)[:3]
    to, *types = i.types
    a, b = (_source(ops, x, t) for x, t in zip((left, right), types, strict=True))
    # The order of two numbers of one type, and all sums, need no more than 32 bits.
    if _narrow(i) and (i.opcode in ("vadd", "vsub") or types[0] == types[1]):
        value = _elementary(ops, i.opcode, a, b, is_signed(types[0]))
    else:
        a, b = (resize(ops, x, "i64", signed=is_signed(t)) for x, t in zip((a, b), types, strict=True))
        value = _elementary(ops, i.opcode, a, b, True)
    _finish(ops, i, value, to)


def _elementary(ops: Ops, opcode: str, a: V, b: V, signed: bool) -> V:
    name = opcode.rstrip("24")
    if name == "vadd":
        return ops.add(a, b)
    if name == "vsub":
        return ops.sub(a, b)
    if name == "vmin":
        return ops.min(a, b, signed)
    if name == "vmax":
        return ops.max(a, b, signed)
    return ops.sub(ops.max(a, b, signed), ops.min(a, b, signed))


@meaning(*(f"{op}.u32/s32.u32/s32.u32{{.sat}}.clamp/wrap{{.add/min/max}}" for op in ("vshl", "vshr")))
def shift(ops: Ops, i: Instruction) -> None:
    """`vshl`, `vshr`: amounts above 32 count as 32 (`.clamp`) or modulo 32 (`.wrap`)."""
    _, left, right = take(i, 3, 4)[:3]
    to, source = i.types[:2]
    value, amount = _source(ops, left, source), _source(ops, right, "u32")
    if i.has("wrap"):
        amount = ops.and_(amount, ops.const("i32", 31))
    if not _narrow(i):  # a sign and 32 bits, shifted up by 32
        value = resize(ops, value, "i128", signed=is_signed(source))
        amount = ops.zext(ops.min(amount, ops.const("i32", 32), False), "i128")
        _finish(ops, i, ops.shl(value, amount) if i.opcode == "vshl" else ops.ashr(value, amount), to)
        return
    right_shift = ops.ashr if is_signed(source) else ops.lshr
    _finish(ops, i, (ops.shl if i.opcode == "vshl" else right_shift)(value, amount), to)


@meaning("vset.u32/s32.u32/s32.eq/ne/lt/le/gt/ge{.add/min/max}")
def compare_scalar(ops: Ops, i: Instruction) -> None:
    """`vset`: 1 where the comparison holds, else 0."""
    _, left, right = take(i, 3, 4)[:3]
    a, b = (_source(ops, x, t) for x, t in zip((left, right), i.types, strict=True))
    ptx = i.types[0]
    if i.types[0] != i.types[1]:
        a, b = (resize(ops, x, "i64", signed=is_signed(t)) for x, t in zip((a, b), i.types, strict=True))
        ptx = "s64"
    operator = next(m for m in i.modifiers if m in _COMPARISONS)
    found = compare(ops, operator, ptx, a, b)
    _finish(ops, i, ops.zext(found, "i64" if i.has("min", "max") else "i32"), "u32")


@meaning("vmad.u32/s32.u32/s32.u32/s32{.po}{.sat}{.shr7/shr15}")
def vmad(ops: Ops, i: Instruction) -> None:
    """`vmad`: a * b + c with negation of the product or of c, `.po` adding one, scaled down and clamped at the end."""
    d, left, right, third = take(i, 4)
    negated = [isinstance(x, Negated) and x.sign == "-" for x in (left, right, third)]
    a, b, c = (x.operand if isinstance(x, Negated) else x for x in (left, right, third))
    product_negated = negated[0] != negated[1]
    if i.has("po") and any(negated):
        raise malformed(i, "a negated operand and .po exclude each other")
    if product_negated and negated[2]:
        raise malformed(i, "either the product or the addend may be negated")
    types = i.types[1:]
    signed = is_signed(types[0]) or is_signed(types[1]) or product_negated or negated[2]
    wide = "i128" if i.has("sat") else "i64"
    x, y = (resize(ops, _source(ops, o, t), wide, signed=is_signed(t)) for o, t in zip((a, b), types, strict=True))
    product = ops.mul(x, y)
    # An unsigned addend that is negated keeps its sign bit as a number: (u32 * u32) - u32.
    signed_addend = is_signed(types[0]) or is_signed(types[1]) or product_negated
    addend = resize(ops, read(ops, c, "i32"), wide, signed=signed_addend)
    total = ops.sub(addend, product) if product_negated else ops.add(product, addend)
    if negated[2]:
        total = ops.sub(product, addend)
    if i.has("po"):
        total = ops.add(total, ops.const(wide, 1))
    scale = 7 if i.has("shr7") else 15 if i.has("shr15") else 0
    total = ops.ashr(total, ops.const(wide, scale)) if scale else total
    write(ops, d, resize(ops, _clamped(ops, total, 32, signed) if i.has("sat") else total, "i32"))


# --- SIMD: two half-words or four bytes ---------------------------------------------------------------------------------

_NAMES = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")


def _elements(ops: Ops, i: Instruction, operand: Operand, words: Sequence[V], ptx: str, usual: int) -> list[V]:
    """The parts of a and b that a selector such as `.h32` names, lowest first, extended to 32 bits."""
    width = 16 if i.opcode.endswith("2") else 8
    count = 32 // width
    _, selector = _selector(operand)
    if selector is None:
        picks = [usual + n for n in range(count)]
    else:
        if not re.fullmatch("h[0-3]{2}" if count == 2 else "b[0-7]{4}", selector):
            raise Misfit(f"`.{selector}` selects no {count} elements")
        picks = [int(digit) for digit in reversed(selector[1:])]
    return [
        _field(
            ops, words[p // count], width * (p % count), width, is_signed(ptx)
        )  # a's elements are counted before b's
        for p in picks
    ]


def _mask(i: Instruction) -> tuple[Operand, list[bool]]:
    """The destination and which of its elements are written."""
    count = 2 if i.opcode.endswith("2") else 4
    target, selector = _selector(i.operands[0])
    if selector is None:
        return target, [True] * count
    letter, digits = selector[:1], selector[1:]
    named = sorted({int(x) for x in digits if x.isdigit()}, reverse=True)
    if letter != ("h" if count == 2 else "b") or "".join(map(str, named)) != digits or not named or named[0] >= count:
        raise Misfit(f"`.{selector}` is no mask")
    return target, [n in named for n in range(count)]


def _simd(ops: Ops, i: Instruction, types: Sequence[str], function: Callable[[V, V], V]) -> None:
    """Apply `function` to selected elements, then accumulate onto c or merge into it."""
    _, left, right, third = take(i, 4)
    words = [read(ops, _selector(x)[0], "i32") for x in (left, right)]
    c = read(ops, third, "i32")
    count = 2 if i.opcode.endswith("2") else 4
    a = _elements(ops, i, left, words, types[0], 0)
    b = _elements(ops, i, right, words, types[1], count)
    target, written = _mask(i)
    width = 32 // count
    for n in range(count):
        if not written[n]:
            continue
        value = function(a[n], b[n])
        c = ops.add(c, value) if i.has("add") else _merged(ops, value, c, width * n, ((1 << width) - 1) << width * n)
    write(ops, target, c)


@meaning(*(f"{op}{n}.u32/s32.u32/s32.u32/s32{{.sat/add}}" for op in _NAMES for n in (2, 4)))
def simd(ops: Ops, i: Instruction) -> None:
    """`vadd2`, `vsub4` and their kind: elements fit 32 bits with room to spare, so all of it is signed."""
    to, *types = i.types
    width = 16 if i.opcode.endswith("2") else 8

    def value(a: V, b: V) -> V:
        if i.opcode.startswith("vavrg"):
            # The sum's half, rounded to nearest with ties away from minus infinity, or down where it is negative.
            total = ops.add(a, b)
            not_negative = ops.add(ops.ashr(total, ops.const("i32", 31)), ops.const("i32", 1))
            found = ops.ashr(ops.add(total, not_negative), ops.const("i32", 1))
        else:
            found = _elementary(ops, i.opcode, a, b, True)
        return _clamped(ops, found, width, is_signed(to)) if i.has("sat") else found

    _simd(ops, i, types, value)


@meaning("vset2.u32/s32.u32/s32.eq/ne/lt/le/gt/ge{.add}", "vset4.u32/s32.u32/s32.eq/ne/lt/le/gt/ge{.add}")
def compare_simd(ops: Ops, i: Instruction) -> None:
    """`vset2`, `vset4`: 1 in each element where the comparison holds, else 0."""
    operator = next(m for m in i.modifiers if m in _COMPARISONS)
    _simd(ops, i, i.types, lambda a, b: ops.zext(compare(ops, operator, "s32", a, b), "i32"))
