"""libdevice's functions with exact results that are bits or rounded once: integers, conversions, arithmetic with a stated rounding, classes."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from anywarp.check.conformance.exact import F16, F32, F64, Format, nearest, value
from toolchain.libdevice_kernels import TABLE, TYPES, compute

pytestmark = pytest.mark.usefixtures("needs_clang")


def signed(x: int, width: int = 32) -> int:
    return x - (1 << width) if x >> (width - 1) else x


def low24(x: int) -> int:
    return signed(x & 0xFFFFFF, 24)


def permuted(x: int, y: int, s: int) -> int:
    raw = struct.pack("<II", x, y)
    return int.from_bytes(bytes(raw[s >> 4 * k & 7] for k in range(4)), "little")


INTEGERS: dict[str, Callable[..., int]] = {
    "abs": lambda x: abs(signed(x)),
    "llabs": lambda x: abs(signed(x, 64)),
    "brev": lambda x: int(f"{x:032b}"[::-1], 2),
    "brevll": lambda x: int(f"{x:064b}"[::-1], 2),
    "clz": lambda x: 32 - x.bit_length(),
    "clzll": lambda x: 64 - x.bit_length(),
    "ffs": lambda x: (x & -x).bit_length(),
    "ffsll": lambda x: (x & -x).bit_length(),
    "popc": lambda x: x.bit_count(),
    "popcll": lambda x: x.bit_count(),
    "min": lambda x, y: min(signed(x), signed(y)),
    "max": lambda x, y: max(signed(x), signed(y)),
    "umin": min,
    "umax": max,
    "llmin": lambda x, y: min(signed(x, 64), signed(y, 64)),
    "llmax": lambda x, y: max(signed(x, 64), signed(y, 64)),
    "ullmin": min,
    "ullmax": max,
    "hadd": lambda x, y: (signed(x) + signed(y)) >> 1,
    "rhadd": lambda x, y: (signed(x) + signed(y) + 1) >> 1,
    "uhadd": lambda x, y: (x + y) >> 1,
    "urhadd": lambda x, y: (x + y + 1) >> 1,
    "mul24": lambda x, y: low24(x) * low24(y),
    "umul24": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
    "mulhi": lambda x, y: signed(x) * signed(y) >> 32,
    "umulhi": lambda x, y: x * y >> 32,
    "mul64hi": lambda x, y: signed(x, 64) * signed(y, 64) >> 64,
    "umul64hi": lambda x, y: x * y >> 64,
    "sad": lambda x, y, z: abs(signed(x) - signed(y)) + z,
    "usad": lambda x, y, z: abs(x - y) + z,
    "byte_perm": permuted,
}

BITS: dict[str, Callable[..., int]] = {
    "double2hiint": lambda x: x >> 32,
    "double2loint": lambda x: x & 0xFFFFFFFF,
    "hiloint2double": lambda hi, lo: hi << 32 | lo,
    "double_as_longlong": lambda x: x,
    "longlong_as_double": lambda x: x,
    "float_as_int": lambda x: x,
    "float_as_uint": lambda x: x,
    "int_as_float": lambda x: x,
    "uint_as_float": lambda x: x,
}
"""The result's bits by the arguments' bits."""


def is_nan(x: float) -> bool:
    return x != x


CLASSES: dict[str, Callable[[float], bool]] = {
    "finitef": math.isfinite,
    "isfinited": math.isfinite,
    "isinfd": math.isinf,
    "isinff": math.isinf,
    "isnand": is_nan,
    "isnanf": is_nan,
    "signbitd": lambda x: math.copysign(1, x) < 0,
    "signbitf": lambda x: math.copysign(1, x) < 0,
}

_CONVERSION = re.compile(r"(double|float|int|uint|ll|ull)2(double|float|int|uint|ll|ull)_(rn|rz|ru|rd)")
_ROUNDED = re.compile(r"([df])(add|sub|mul|div|sqrt|rcp)_(rn|rz|ru|rd)|(fma|fmaf|fmaf_ieee)_(rn|rz|ru|rd)|frsqrt_rn")
_MODES = {"rn": "rn", "rz": "rz", "ru": "rp", "rd": "rm"}
CONVERSIONS = [name for name in TABLE if _CONVERSION.fullmatch(name)]
ROUNDED = [name for name in TABLE if _ROUNDED.fullmatch(name)]
HALVES = ["half2float", "float2half_rn"]
COVERED = {*INTEGERS, *BITS, *CLASSES, *CONVERSIONS, *ROUNDED, *HALVES}

_UNSIGNED = {"i16": np.uint16, "i32": np.uint32, "i64": np.uint64, "float": np.uint32, "double": np.uint64}


def by_signature(names: Sequence[str]) -> list[list[str]]:
    """Return the names in groups of one signature, which share a kernel."""
    groups: dict[Any, list[str]] = {}
    for name in names:
        groups.setdefault(TABLE[name], []).append(name)
    return list(groups.values())


def words(type: str, count: int, rng: np.random.Generator) -> list[int]:
    """Return bit patterns: edges, and numbers of every length."""
    width = np.dtype(TYPES[type]).itemsize * 8
    top = 1 << width
    edges = [0, 1, 2, 5, top - 1, top - 2, top // 2, top // 2 - 1, top // 2 + 1, 0xFFFFFF % top, 0x800000 % top]
    shifts = rng.integers(0, width, count)
    return edges + [int.from_bytes(rng.bytes(width // 8), "little") >> int(s) for s in shifts]


def check_bits(names: Sequence[str], expected: dict[str, Callable[..., int]]) -> None:
    """Hold functions of one signature against words of Python's."""
    signature = TABLE[names[0]]
    rng = np.random.default_rng(11)
    columns = [words(type, 90, rng) for type in signature.parameters]
    for column in columns[1:]:
        rng.shuffle(column)
    given = [
        np.array(column, _UNSIGNED[type]).view(TYPES[type])
        for column, type in zip(columns, signature.parameters, strict=True)
    ]
    mask = (1 << np.dtype(TYPES[signature.result]).itemsize * 8) - 1
    for name, got in compute(names, *given).items():
        want = [expected[name](*row) & mask for row in zip(*columns, strict=True)]
        assert got.view(_UNSIGNED[signature.result]).tolist() == want, name


@pytest.mark.parametrize("names", by_signature([*INTEGERS]), ids=lambda names: names[0])
def test_integers(names: list[str]) -> None:
    check_bits(names, INTEGERS)


@pytest.mark.parametrize("names", by_signature([*BITS]), ids=lambda names: names[0])
def test_bits(names: list[str]) -> None:
    check_bits(names, BITS)


@pytest.mark.parametrize("names", by_signature([*CLASSES]), ids=lambda names: names[0])
def test_classes(names: list[str]) -> None:
    type = TYPES[TABLE[names[0]].parameters[0]]
    x = np.array(
        [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, -math.nan, np.finfo(type).smallest_subnormal], type
    )
    for name, got in compute(names, x).items():
        assert (got != 0).tolist() == [CLASSES[name](float(v)) for v in x], name


def floats(type: type[np.floating[Any]], count: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return finite numbers other than 0 of every size, whole ones and halves among them, with edges."""
    info = np.finfo(type)
    edges = [0.5, 1.5, 2.5, -0.5, -1.5, 1.0, -1.0, 3.0]
    edges += map(float, (info.max, -info.max, info.tiny, info.smallest_subnormal))
    sizes = np.exp(rng.uniform(np.log(float(info.tiny)), np.log(float(info.max)), count)) * rng.choice([-1, 1], count)
    near = rng.normal(size=count) * 10.0 ** rng.integers(0, 20, count)
    found = np.concatenate([edges, sizes, near, np.round(near / 4) / 2]).astype(type)
    return found[found != 0]


def whole(x: Fraction, mode: str, low: int, high: int) -> int:
    """Round to an integer, the nearest one where the result has no place."""
    n = {"rn": round, "rz": math.trunc, "rp": math.ceil, "rm": math.floor}[mode](x)
    return min(max(n, low), high)


@pytest.mark.parametrize("names", by_signature(CONVERSIONS), ids=lambda names: names[0])
@np.errstate(over="ignore")
def test_conversions(names: list[str]) -> None:
    rng = np.random.default_rng(4)
    takes = TABLE[names[0]].parameters[0]
    if takes in ("float", "double"):
        given = floats(TYPES[takes], 40, rng)
    else:
        given = np.array(words(takes, 60, rng), TYPES[takes])
    for name, got in compute(names, given).items():
        match = _CONVERSION.fullmatch(name)
        assert match is not None
        source, target, mode = match[1], match[2], _MODES[match[3]]
        numbers = given.astype({"int": np.int32, "ll": np.int64}.get(source, given.dtype)).tolist()
        if target in ("float", "double"):
            f = F32 if target == "float" else F64
            want = [nearest(f, Fraction(x), mode) for x in numbers]
            assert got.view(_UNSIGNED[target]).tolist() == want, name
        else:
            width = 64 if "ll" in target else 32
            low, high = (0, 2**width - 1) if "u" in target else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
            want = [whole(Fraction(x), mode, low, high) % 2**width for x in numbers]
            assert got.tolist() == want, name


def root(x: Fraction) -> Fraction:
    """Return a square root, or a number between the same neighbours of any format."""
    n = math.isqrt((x.numerator << 4400) // x.denominator)
    exact = Fraction(n * n, 1 << 4400) == x
    return Fraction(n, 1 << 2200) if exact else Fraction(2 * n + 1, 1 << 2201)


OPERATIONS: dict[str, Callable[..., Fraction]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "sqrt": root,
    "rcp": lambda x: 1 / x,
    "fma": lambda x, y, z: x * y + z,
    "rsqrt": lambda x: 1 / root(x),
}


def rounded(name: str) -> tuple[str, str]:
    """Return the operation and PTX's word for the rounding."""
    match = _ROUNDED.fullmatch(name)
    assert match is not None
    return ("rsqrt", "rn") if name == "frsqrt_rn" else (match[2] or "fma", _MODES[match[3] or match[5]])


@pytest.mark.parametrize("names", by_signature(ROUNDED), ids=lambda names: names[0])
@np.errstate(over="ignore")
def test_arithmetic_with_a_stated_rounding(names: list[str]) -> None:
    rng = np.random.default_rng(6)
    signature = TABLE[names[0]]
    f: Format = F32 if signature.result == "float" else F64
    numbers = floats(TYPES[signature.result], 16, rng)
    given = [numbers.copy() for _ in signature.parameters]
    if len(given) == 1:
        given = [abs(given[0])]
    for column in given[1:]:
        rng.shuffle(column)
    for name, got in compute(names, *given).items():
        operation, mode = rounded(name)
        exact = [OPERATIONS[operation](*map(Fraction, row)) for row in zip(*(g.tolist() for g in given), strict=True)]
        want = [nearest(f, x, mode) for x in exact]
        zeros = [x == 0 for x in exact]  # their sign follows rules of its own
        bits = got.view(_UNSIGNED[signature.result]).tolist()
        assert [b for b, z in zip(bits, zeros) if not z] == [w for w, z in zip(want, zeros) if not z], name


def test_halves() -> None:
    bits = np.arange(0, 0x7C00, 97, dtype=np.uint16)
    got = compute(["half2float"], bits)["half2float"]
    assert got.tolist() == [float(value(F16, int(b))) for b in bits]
    x = np.concatenate(
        [got, got * np.float32(1.0004), -got * np.float32(0.9993), [np.float32(65519), np.float32(65520)]]
    )
    want = [nearest(F16, Fraction(v), "rn") for v in x.tolist()]
    have = compute(["float2half_rn"], x.astype(np.float32))["float2half_rn"].tolist()
    assert [h & 0x7FFF if w == 0 else h for h, w in zip(have, want)] == want
