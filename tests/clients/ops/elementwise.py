"""One value in, one value out: unary, binary and ternary operators, casts and bit patterns."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from ops.case import FLOATS, INTEGERS, NUMBERS, SIGNED, Case, Input, boolean, round_to, shaped
from tinygrad import Tensor

MAIN, ODD = (33, 17), [(), (1,), (7,), (2, 3, 5, 3), (0, 4), (1025,)]


def unary(
    name: str,
    expected: Callable[..., Any],
    kind: str = "any",
    types: tuple[str, ...] = FLOATS,
    tiny: Callable[..., Any] | None = None,
    factor: float = 1.0,
) -> Case:
    return Case(name, tiny or (lambda x: getattr(x, name)()), expected, (Input(MAIN, kind),), types, factor)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(x, 0)


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


erf = np.vectorize(math.erf, otypes=[np.float64])

UNARY = [
    unary("neg", np.negative, types=(*FLOATS, *SIGNED)),
    unary("abs", np.abs, types=(*FLOATS, *SIGNED)),
    unary("sign", np.sign, types=(*FLOATS, *SIGNED)),
    unary("square", np.square, types=(*FLOATS, "int32", "uint8")),
    unary("sqrt", np.sqrt, "positive"),
    unary("rsqrt", lambda x: 1 / np.sqrt(x), "positive"),
    unary("reciprocal", lambda x: 1 / x, "positive"),
    unary("exp", np.exp),
    unary("exp2", np.exp2),
    unary("log", np.log, "positive"),
    unary("log2", np.log2, "positive"),
    unary("log10", np.log10, "positive"),
    unary("sin", np.sin),
    unary("cos", np.cos),
    unary("tan", np.tan, "angle", factor=4),
    unary("asin", np.arcsin, "unit", factor=30),
    unary("acos", np.arccos, "unit", factor=30),
    unary("atan", np.arctan, factor=30),
    unary("sinh", np.sinh, factor=4),
    unary("cosh", np.cosh),
    unary("tanh", np.tanh, factor=2),
    unary("asinh", np.arcsinh, factor=4),
    unary("acosh", np.arccosh, "above_one", factor=4),
    unary("atanh", np.arctanh, "unit", factor=8),
    unary("sigmoid", sigmoid),
    unary("relu", lambda x: np.maximum(x, 0), types=(*FLOATS, "int32")),
    unary("relu6", lambda x: np.clip(x, 0, 6), "wide"),
    unary("leaky_relu", lambda x: np.where(x < 0, 0.01 * x, x)),
    unary("elu", lambda x: np.where(x < 0, np.exp(x) - 1, x), factor=2),
    unary("celu", lambda x: np.where(x < 0, np.exp(x) - 1, x), factor=2),
    unary("selu", lambda x: 1.0507 * np.where(x < 0, 1.67326 * (np.exp(x) - 1), x), factor=2),
    unary("gelu", gelu_tanh, factor=2),
    unary("gelu_erf", lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2))), tiny=lambda x: x.gelu("none"), factor=4),
    unary("quick_gelu", lambda x: x * sigmoid(1.702 * x), factor=2),
    unary("silu", lambda x: x * sigmoid(x)),
    unary("swish", lambda x: x * sigmoid(x)),
    unary("mish", lambda x: x * np.tanh(softplus(x)), factor=4),
    unary("softplus", softplus, factor=2),
    unary("logsigmoid", lambda x: -softplus(-x), factor=2),
    unary("softsign", lambda x: x / (1 + np.abs(x))),
    unary("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, factor=2),
    unary("hardsigmoid", lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    unary("hardtanh", lambda x: np.clip(x, -1, 1)),
    unary("erf", erf, factor=4),
    unary("floor", np.floor, "wide"),
    unary("ceil", np.ceil, "wide"),
    unary("trunc", np.trunc, "wide"),
    unary("round", np.round, "wide"),
    unary("logical_not", np.logical_not, types=("bool", "int32", "float32")),
    unary("bitwise_not", np.invert, "full", types=(*INTEGERS, "bool")),
    unary("contiguous", lambda x: x, types=(*NUMBERS, "bool")),
    unary("exp2_large", np.exp2, "wide", types=("float32",), tiny=lambda x: x.exp2(), factor=4),
    unary("sin_large", lambda x: np.sin(x * 40), "wide", types=("float32",), tiny=lambda x: (x * 40).sin(), factor=200),
]
SPECIAL = np.array([0.0, -0.0, 1.5, -3.0, np.inf, -np.inf, np.nan, 65504.0])


def special(name: str, tiny: Callable[..., Any], expected: Callable[..., Any], types: tuple[str, ...]) -> Case:
    """A case on the eight special values, which are constants and need no input but a dummy one."""

    def on_tensor(zero: Tensor) -> Any:
        return tiny(Tensor(SPECIAL.astype(np.float32)).cast(zero.dtype) + zero)

    return Case(name, on_tensor, lambda zero: expected(SPECIAL + 0.0), (Input((8,), "index", None, 1),), types)


SPECIALS = [
    special("isnan", lambda x: x.isnan(), np.isnan, ("float32", "float16")),
    special("isinf", lambda x: x.isinf(), np.isinf, ("float32", "float16")),
    special("isfinite", lambda x: x.isfinite(), np.isfinite, ("float32", "float16")),
    special("max_of_infinities", lambda x: x.maximum(-x), lambda x: np.maximum(x, -x), ("float32",)),
    special("special_add", lambda x: x + 1, lambda x: x + 1, ("float32",)),
    special("special_reciprocal", lambda x: x.reciprocal(), lambda x: 1 / x, ("float32",)),
    special("special_compare", lambda x: x < x.flip(0), lambda x: x < x[::-1], ("float32", "float16")),
]


def binary(
    name: str,
    tiny: Callable[..., Any],
    expected: Callable[..., Any],
    kinds: tuple[str, str] = ("any", "any"),
    types: tuple[str, ...] = NUMBERS,
    factor: float = 1.0,
) -> Case:
    return Case(name, tiny, expected, (Input(MAIN, kinds[0]), Input(MAIN, kinds[1])), types, factor)


FULL = ("full", "full")
BINARY = [
    binary("add", lambda x, y: x + y, np.add),
    binary("sub", lambda x, y: x - y, np.subtract),
    binary("mul", lambda x, y: x * y, np.multiply),
    binary("div", lambda x, y: x / y, np.divide, ("any", "positive"), FLOATS, 2),
    binary("floor_div", lambda x, y: x // y, np.floor_divide, ("any", "positive"), INTEGERS),
    binary("trunc_div", lambda x, y: x.div(y, rounding_mode="trunc"), lambda x, y: np.trunc(x / y).astype(x.dtype),
           ("any", "positive"), ("int8", "int32", "int64", "uint32")),
    binary("mod", lambda x, y: x % y, np.mod, ("any", "positive"), INTEGERS),
    binary("fmod", lambda x, y: x.fmod(y), np.fmod, ("any", "positive"), ("int32", "int64")),
    binary("pow", lambda x, y: x.pow(y), np.power, ("positive", "any"), ("float32", "float16"), 6),
    binary("maximum", lambda x, y: x.maximum(y), np.maximum),
    binary("minimum", lambda x, y: x.minimum(y), np.minimum),
    binary("eq", lambda x, y: x == y, np.equal),
    binary("ne", lambda x, y: x != y, np.not_equal),
    binary("lt", lambda x, y: x < y, np.less),
    binary("le", lambda x, y: x <= y, np.less_equal),
    binary("gt", lambda x, y: x > y, np.greater),
    binary("ge", lambda x, y: x >= y, np.greater_equal),
    binary("bitwise_and", lambda x, y: x & y, np.bitwise_and, FULL, (*INTEGERS, "bool")),
    binary("bitwise_or", lambda x, y: x | y, np.bitwise_or, FULL, (*INTEGERS, "bool")),
    binary("bitwise_xor", lambda x, y: x ^ y, np.bitwise_xor, FULL, (*INTEGERS, "bool")),
    binary("wrapping_add", lambda x, y: x + y, np.add, FULL, INTEGERS),
    binary("wrapping_mul", lambda x, y: x * y, np.multiply, FULL, INTEGERS),
    binary("full_compare", lambda x, y: x < y, np.less, FULL, INTEGERS),
    binary("full_maximum", lambda x, y: x.maximum(y), np.maximum, FULL, ("int32", "int64", "uint8", "uint64")),
    binary("copysign", lambda x, y: x.copysign(y), np.copysign, types=("float32", "float16")),
    binary("logaddexp", lambda x, y: x.logaddexp(y), np.logaddexp, types=("float32",), factor=4),
    binary("isclose", lambda x, y: x.isclose(y, rtol=0.5), lambda x, y: np.isclose(x, y, rtol=0.5), types=("float32",)),
    binary("add_float64", lambda x, y: x + y, np.add, types=("float64",)),
]  # fmt: skip
SHIFTS = [
    Case("lshift", lambda x: x << 3, lambda x: x << 3, (Input(MAIN, "full"),), ("uint8", "uint32", "int32", "uint64")),
    Case("rshift", lambda x: x >> 3, lambda x: x >> 3, (Input(MAIN, "full"),), ("uint8", "uint32", "int32", "int64")),
    Case("floor_div_const", lambda x: x // 7, lambda x: x // 7, (Input(MAIN, "full"),), INTEGERS),
    Case("mod_const", lambda x: x % 7, lambda x: x % 7, (Input(MAIN, "full"),), INTEGERS),
]


def threefry(x: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Threefry-2x32 with twenty rounds, from Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011)."""
    halves = [(x & 0xFFFFFFFF).astype(np.uint32), (x >> 32).astype(np.uint32)]
    keys = [(key & 0xFFFFFFFF).astype(np.uint32), (key >> 32).astype(np.uint32)]
    keys.append(keys[0] ^ keys[1] ^ np.uint32(0x1BD11BDA))
    first, second = halves[0] + keys[0], halves[1] + keys[1]
    for round_ in range(20):
        turn = np.uint32([[13, 15, 26, 6], [17, 29, 16, 24]][round_ // 4 % 2][round_ % 4])
        first = first + second
        second = ((second << turn) | (second >> (np.uint32(32) - turn))) ^ first
        if round_ % 4 == 3:
            count = round_ // 4 + 1
            first, second = first + keys[count % 3], second + keys[(count + 1) % 3] + np.uint32(count)
    return first.astype(np.uint64) | (second.astype(np.uint64) << np.uint64(32))


TERNARY = [
    Case("where", lambda c, x, y: c.where(x, y), np.where, (boolean(MAIN), Input(MAIN), Input(MAIN)), (*NUMBERS, "bool")),
    Case("where_scalar", lambda c, x: c.where(x, 1), lambda c, x: np.where(c, x, 1), (boolean(MAIN), Input(MAIN)), ("float32", "int8")),
    Case("lerp", lambda x, y, w: x.lerp(y, w), lambda x, y, w: x + (y - x) * w, tuple(Input(MAIN) for _ in range(3)), ("float32", "float16"), 2),
    Case("clip", lambda x: x.clip(-1, 1), lambda x: np.clip(x, -1, 1), (Input(MAIN, "any"),), (*FLOATS, *SIGNED)),
    Case("masked_fill", lambda x, m: x.masked_fill(m, 5), lambda x, m: np.where(m, 5, x), (Input(MAIN), boolean(MAIN)), ("float32", "int32")),
    Case("fused_chain", lambda x, y, z: ((x * y + z).relu() - y).exp() * 0.5,
         lambda x, y, z: np.exp(np.maximum(x * y + z, 0) - y) * 0.5, tuple(Input(MAIN) for _ in range(3)), FLOATS, 8),
    Case("threefry", lambda x, k: x.threefry(k), threefry, (Input(MAIN, "full"), Input(MAIN, "full")), ("uint64",)),
]  # fmt: skip


def cast(source: str, target: str) -> Case:
    """Convert between types; floating point values stay in the range of the target, where the result is defined."""
    kind = "positive" if target.startswith("uint") or source.startswith("uint") else "wide"

    def expected(x: np.ndarray) -> np.ndarray:
        return round_to(x.astype(np.float64), target) if target in (*FLOATS, "float64") else x.astype(target)

    return Case(
        f"cast_{source}_{target}", lambda x: x.cast(target), expected, (Input(MAIN, kind),), (source,), exact=True
    )


KINDS = (
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
)
CASTS = [cast(source, target) for source in KINDS for target in KINDS if source != target]


def bits(source: str, target: str) -> Case:
    def expected(x: np.ndarray) -> np.ndarray:
        return x.astype(source).view(target)

    return Case(
        f"bitcast_{source}_{target}",
        lambda x: x.bitcast(target),
        expected,
        (Input(MAIN, "full" if "int" in source else "any"),),
        (source,),
        exact=True,
    )


BITCASTS = [
    bits("float32", "int32"), bits("float32", "uint32"), bits("int32", "float32"), bits("float16", "uint16"),
    bits("int8", "uint8"), bits("int64", "uint64"), bits("uint16", "int16"), bits("float64", "uint64"),
]  # fmt: skip

BROADCASTS = [
    Case("broadcast_add", lambda x, y: x + y, np.add, (Input(a), Input(b)), ("float32", "int32"))
    for a, b in [
        ((5, 1), (1, 7)),
        ((3, 1, 4), (2, 1)),
        ((), (4, 5)),
        ((1,), (6, 3)),
        ((2, 3, 4), (4,)),
        ((0, 3), (1, 3)),
    ]
] + [
    Case(
        "broadcast_where",
        lambda c, x, y: c.where(x, y),
        np.where,
        (boolean((4, 1)), Input((1, 5)), Input((3, 1, 1))),
        ("float32",),
    )
]

SHAPES = [
    other
    for case in [*UNARY[:3], UNARY[7], UNARY[12], *BINARY[:3], BINARY[9], BINARY[13]]
    for other in shaped(case, *ODD)
]
CASES = [*UNARY, *SPECIALS, *BINARY, *SHIFTS, *TERNARY, *CASTS, *BITCASTS, *BROADCASTS, *SHAPES]
