"""Floating-point arithmetic in f32, f64 and f32x2: the manual's chapter of that name, less the approximations.

Every modifier means the same in every instruction, so `.ftz`, `.sat` and `.relu` are applied in one place, `rounded`.
"""

from __future__ import annotations

from collections.abc import Callable

from anywarp.ptx.isa.operands import NAN, ONE, Function, elementwise, read, take, value_type, write
from anywarp.ptx.isa.ops import BITS, Ops, Rounding, Type, V
from anywarp.ptx.isa.registry import meaning
from anywarp.ptx.tree import Instruction

_ROUNDINGS: tuple[Rounding, ...] = ("rn", "rz", "rm", "rp", "rna")


def rounding_of(i: Instruction) -> Rounding:
    """The rounding modifier of a form, to nearest even without one."""
    found: list[Rounding] = [m for m in _ROUNDINGS if i.has(m)]
    return found[0] if found else "rn"


def saturate(ops: Ops, a: V) -> V:
    """Clamp to [+0, 1]; NaN gives +0."""
    return ops.fmin(ops.fmax(a, ops.const(a.type, 0)), ops.const(a.type, ONE[a.type]))


def relu(ops: Ops, a: V) -> V:
    """Clamp negative numbers to +0; NaN gives the canonical NaN."""
    positive = ops.select(ops.fcmp("ole", a, ops.const(a.type, 0)), ops.const(a.type, 0), a)
    return ops.select(ops.fcmp("uno", a, a), ops.const(a.type, NAN[a.type]), positive)


def finish(ops: Ops, i: Instruction, value: V) -> V:
    """Apply `.ftz`, `.sat` and `.relu` to a result."""
    if i.has("ftz"):
        value = ops.flush(value)
    if i.has("sat"):
        value = saturate(ops, value)
    return relu(ops, value) if i.has("relu") else value


def rounded(ops: Ops, i: Instruction, function: Function) -> Callable[..., V]:
    """Wrap an arithmetic function with the form's modifiers on sources and result."""

    evaluate: Callable[..., V] = function

    def apply(*sources: V) -> V:
        if i.has("ftz"):
            sources = tuple(ops.flush(s) for s in sources)
        return finish(ops, i, evaluate(*sources))

    return apply


@meaning(
    "add{.<round>}{.ftz}{.sat}.f32", "sub{.<round>}{.ftz}{.sat}.f32", "mul{.<round>}{.ftz}{.sat}.f32",
    "add{.<round>}{.ftz}.f32x2", "sub{.<round>}{.ftz}.f32x2", "mul{.<round>}{.ftz}.f32x2",
    "add{.<round>}.f64", "sub{.<round>}.f64", "mul{.<round>}.f64",
    "add{.rn}{.ftz}{.sat}.f16/f16x2", "sub{.rn}{.ftz}{.sat}.f16/f16x2", "mul{.rn}{.ftz}{.sat}.f16/f16x2",
    "add{.rn}.bf16/bf16x2", "sub{.rn}.bf16/bf16x2", "mul{.rn}.bf16/bf16x2",
)  # fmt: skip
def arithmetic(ops: Ops, i: Instruction) -> None:
    """`add`, `sub`, `mul` of every float type."""
    operation = {"add": ops.fadd, "sub": ops.fsub, "mul": ops.fmul}[i.opcode]
    rounding = rounding_of(i)
    elementwise(ops, i, i.types[0], 2, rounded(ops, i, lambda a, b: operation(a, b, rounding)))


@meaning("add{.<round>}{.sat}.f32.f16/bf16", "sub{.<round>}{.sat}.f32.f16/bf16")
def mixed_add(ops: Ops, i: Instruction) -> None:
    """`add`, `sub` with a half-precision first operand and an f32 second."""
    d, a, c = take(i, 3)
    operation = ops.fadd if i.opcode == "add" else ops.fsub
    wide = ops.fconvert(read(ops, a, value_type(i.types[1])), "f32")
    write(ops, d, finish(ops, i, operation(wide, read(ops, c, "f32"), rounding_of(i))))


@meaning("fma{.<round>}{.sat}.f32.f16/bf16")
def mixed_fma(ops: Ops, i: Instruction) -> None:
    """`fma` of two half-precision numbers onto an f32."""
    d, a, b, c = take(i, 4)
    x, y = (ops.fconvert(read(ops, s, value_type(i.types[1])), "f32") for s in (a, b))
    write(ops, d, finish(ops, i, ops.fma(x, y, read(ops, c, "f32"), rounding_of(i))))


@meaning(
    "fma.<round>{.ftz}{.sat}.f32", "fma.<round>{.ftz}.f32x2", "fma.<round>.f64",
    "mad{.<round>}{.ftz}{.sat}.f32", "mad.<round>.f64",
    "fma.rn{.ftz}{.sat}.f16/f16x2", "fma.rn{.ftz}.relu.f16/f16x2", "fma.rn{.relu}.bf16/bf16x2",
    "fma.rn.oob{.relu}.f16/f16x2/bf16/bf16x2",
)  # fmt: skip
def fma(ops: Ops, i: Instruction) -> None:
    """`fma`, and `mad` which is the same from sm_20 on: one rounding.

    `.oob` is for the NaNs that tensor copies fill in beyond their bounds; there are no tensor copies here, so there is no such NaN.
    """
    rounding = rounding_of(i)
    elementwise(ops, i, i.types[0], 3, rounded(ops, i, lambda a, b, c: ops.fma(a, b, c, rounding)))


@meaning("div.<round>{.ftz}.f32", "div.<round>.f64", "div.full{.ftz}.f32")
def div(ops: Ops, i: Instruction) -> None:
    """`div`: correctly rounded, which also meets the 2 ulp of `.full`."""
    rounding = rounding_of(i)
    elementwise(ops, i, i.types[0], 2, rounded(ops, i, lambda a, b: ops.fdiv(a, b, rounding)))


@meaning("div.approx{.ftz}.f32")
def div_approx(ops: Ops, i: Instruction) -> None:
    """`div.approx`: the quotient, but for |b| above 2**126 a zero, or NaN when a is infinite."""

    def quotient(a: V, b: V) -> V:
        large = ops.fcmp("ogt", ops.fabs(b), ops.const("f32", 0x7E800000))
        zero = ops.and_(ops.bitcast(b, "i32"), ops.const("i32", 0x80000000))
        return ops.select(large, ops.fmul(a, ops.bitcast(zero, "f32")), ops.fdiv(a, b))

    elementwise(ops, i, "f32", 2, rounded(ops, i, quotient))


@meaning("rcp.<round>{.ftz}.f32", "rcp.<round>.f64", "sqrt.<round>{.ftz}.f32", "sqrt.<round>.f64")
def unary(ops: Ops, i: Instruction) -> None:
    """`rcp`, `sqrt` with a rounding mode: correctly rounded."""
    rounding = rounding_of(i)

    def value(a: V) -> V:
        return ops.fsqrt(a, rounding) if i.opcode == "sqrt" else ops.fdiv(ops.const(a.type, ONE[a.type]), a, rounding)

    elementwise(ops, i, i.types[0], 1, rounded(ops, i, value))


@meaning(
    "abs{.ftz}.f32/f16/f16x2", "abs.f64/bf16/bf16x2", "neg{.ftz}.f32/f16/f16x2", "neg.f64/bf16/bf16x2",
)  # fmt: skip
def sign(ops: Ops, i: Instruction) -> None:
    """`abs`, `neg`."""
    elementwise(ops, i, i.types[0], 1, rounded(ops, i, ops.fabs if i.opcode == "abs" else ops.fneg))


@meaning(
    "min{.ftz}{.NaN}{.xorsign}{.abs}.f32/f16/f16x2", "min{.NaN}{.xorsign}{.abs}.bf16/bf16x2", "min.f64",
    "max{.ftz}{.NaN}{.xorsign}{.abs}.f32/f16/f16x2", "max{.NaN}{.xorsign}{.abs}.bf16/bf16x2", "max.f64",
)  # fmt: skip
def minmax(ops: Ops, i: Instruction) -> None:
    """`min`, `max`, of two or (f32) three numbers: a NaN loses unless `.NaN`; `.xorsign` multiplies the signs."""
    operation = ops.fmin if i.opcode == "min" else ops.fmax
    ptx = i.types[0]

    def value(*sources: V) -> V:
        chosen = [ops.fabs(s) for s in sources] if i.has("abs") else list(sources)
        found = chosen[0]
        for other in chosen[1:]:
            found = _propagate(ops, found, other, operation(found, other)) if i.has("NaN") else operation(found, other)
        return with_sign_product(ops, found, sources) if i.has("xorsign") else found

    most = 3 if ptx == "f32" and not i.has("xorsign") else 2
    take(i, 3, most + 1)
    elementwise(ops, i, ptx, len(i.operands) - 1, rounded(ops, i, value))


def _propagate(ops: Ops, a: V, b: V, value: V) -> V:
    return ops.select(ops.fcmp("uno", a, b), ops.const(value.type, NAN[value.type]), value)


def _sign_bit(ops: Ops, a: V) -> tuple[V, Type]:
    bits: Type = {16: "i16", 32: "i32", 64: "i64"}[BITS[a.type]]  # type: ignore[assignment]
    return ops.and_(ops.bitcast(a, bits), ops.const(bits, 1 << (BITS[a.type] - 1))), bits


def with_sign_product(ops: Ops, magnitude: V, sources: tuple[V, ...]) -> V:
    """`magnitude` (not negative) with the product of the signs of two sources."""
    (a, bits), (b, _) = _sign_bit(ops, sources[0]), _sign_bit(ops, sources[1])
    return ops.bitcast(ops.xor(ops.bitcast(magnitude, bits), ops.xor(a, b)), magnitude.type)


@meaning("copysign.f32/f64")
def copysign(ops: Ops, i: Instruction) -> None:
    """`copysign`: the magnitude of b with the sign of a."""

    def value(a: V, b: V) -> V:
        top, bits = _sign_bit(ops, a)
        return ops.bitcast(ops.or_(top, ops.bitcast(ops.fabs(b), bits)), b.type)

    elementwise(ops, i, i.types[0], 2, value)


@meaning("testp.finite/infinite/number/notanumber/normal/subnormal.f32/f64")
def testp(ops: Ops, i: Instruction) -> None:
    """`testp`: the class of a number; zero is neither normal nor subnormal here, as in the manual."""
    d, a = take(i, 2)
    type = value_type(i.types[0])
    bits: Type = "i32" if type == "f32" else "i64"
    fraction = 23 if type == "f32" else 52
    value = ops.bitcast(ops.fabs(read(ops, a, type)), bits)
    infinity = ops.const(bits, (255 if type == "f32" else 2047) << fraction)
    least = ops.const(bits, 1 << fraction)
    below = ops.icmp("ult", value, infinity)
    tests: dict[str, Callable[[], V]] = {
        "finite": lambda: below,
        "infinite": lambda: ops.icmp("eq", value, infinity),
        "number": lambda: ops.icmp("ule", value, infinity),
        "notanumber": lambda: ops.icmp("ugt", value, infinity),
        "normal": lambda: ops.and_(below, ops.icmp("uge", value, least)),
        "subnormal": lambda: ops.and_(ops.icmp("ult", value, least), ops.icmp("ne", value, ops.const(bits, 0))),
    }
    write(ops, d, tests[next(m for m in i.modifiers if m in tests)]())
