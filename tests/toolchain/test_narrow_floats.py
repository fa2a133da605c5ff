"""cuda_fp16.h, cuda_bf16.h, cuda_fp8.h, cuda_fp6.h and cuda_fp4.h: all that NVIDIA declares is there, and every code is right.

The table in tests/cases/headers holds names, parameters and results as the CUDA Math API manual (13.5) lists them.
"""

import bisect
import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from anywarp.toolchain import nvrtc
from toolchain.device_code import compiled

TABLE = Path(__file__).parents[1] / "cases" / "headers" / "narrow_floats.tsv"
HEADERS = ("cuda_fp16", "cuda_bf16", "cuda_fp8", "cuda_fp6", "cuda_fp4")


def rows(header):
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [row for row in (line.split("\t") for line in lines if not line.startswith("#")) if row[0] == header]


def uses(header):
    """Return a program that names every function by its exact type, and makes and reads every type in every way."""
    lines = []
    for _, kind, name, result, parameters in rows(header):
        given = [each for each in parameters.split(", ") if each]
        values = ", ".join(f"value<{each}>()" for each in given)
        if kind == "function":
            lines.append(f"keep(static_cast<{result} (*)({parameters})>(&{name}));")
        elif kind == "explicit conversion":
            lines.append(f"keep(static_cast<{result}>(value<{name}>()));")
            lines.append(f'static_assert(!aw_same::converts<{name}, {result}>::value, "{name} to {result}");')
        elif kind in ("explicit", "constructor"):
            lines.append(f"keep({name}({values}));")
            if len(given) == 1:
                lines.append(f'static_assert(!aw_same::converts<{given[0]}, {name}>::value, "{given[0]} to {name}");')
    return "\n".join(lines)


PROGRAM = """
#include <{header}.h>
namespace aw_same {{
template <class From, class To> struct converts {{
  static char test(To);
  static int test(...);
  static From from();
  static const bool value = sizeof(test(from())) == 1;
}};
}}
template <class T> __device__ T value() {{ extern __device__ unsigned char somewhere[]; return *(T*)somewhere; }}
template <> __device__ void value<void>() {{}}
template <class T> __device__ void keep(T) {{}}
__device__ void uses() {{
{body}
}}
"""


@pytest.mark.usefixtures("needs_clang")
@pytest.mark.parametrize("header", HEADERS)
def test_all_that_nvidia_declares_is_there(header):
    source = PROGRAM.format(header=header, body=uses(header))
    assert source.count("keep(") > 20
    options = ["-arch=compute_80", "-rdc=true", "-std=c++17", "-w"]
    nvrtc.translate(nvrtc.Source("uses.cu", source, {}, options, [], "/"))


def magnitudes(exponent, mantissa, count):
    """Return what the codes 0 ... count - 1 of a format without its sign are worth, by the definition of such formats."""
    bias = 2 ** (exponent - 1) - 1
    values = []
    for code in range(count):
        e, m = divmod(code, 2**mantissa)
        values.append(Fraction(2**mantissa + m if e else m, 2**mantissa) * Fraction(2) ** (max(e, 1) - bias))
    return values


# Those of the finite codes, and some behind, as if the format went on: what is rounded to these is too large.
FORMATS = {
    "e4m3": (magnitudes(4, 3, 0x7F), magnitudes(4, 3, 0x88)),
    "e5m2": (magnitudes(5, 2, 0x7C), magnitudes(5, 2, 0x88)),
    "ue5m3": (magnitudes(5, 3, 0xFF), magnitudes(5, 3, 0x110)),
    "e2m3": (magnitudes(2, 3, 0x20), magnitudes(2, 3, 0x40)),
    "e3m2": (magnitudes(3, 2, 0x20), magnitudes(3, 2, 0x40)),
    "e2m1": (magnitudes(2, 1, 8), magnitudes(2, 1, 16)),
    "e8m0": ([Fraction(2) ** (c - 127) for c in range(255)], [Fraction(2) ** (c - 127) for c in range(270)]),
}
NEAREST, ZERO, UP, DOWN = range(4)


def rounded(name, a, how, negative):
    """Return the code of a magnitude, which may be one behind the last finite one."""
    values = FORMATS[name][1]
    if a >= values[-1]:
        return len(values) - 1
    below = bisect.bisect_right(values, a) - 1
    if below < 0:
        return 0
    if values[below] == a:
        return below
    if how == NEAREST:
        twice = 2 * a - values[below] - values[below + 1]
        return below + (twice > 0 or (twice == 0 and (name == "e8m0" or below % 2 == 1)))
    return below + (how == (DOWN if negative else UP))


def encoded(name, x, how, saturate):
    """Return the code of a double: what the manual says of the conversion to this format."""
    largest = len(FORMATS[name][0]) - 1
    has_sign = name not in ("ue5m3", "e8m0")
    finite_only = name in ("e2m3", "e3m2", "e2m1")
    negative = math.copysign(1, x) < 0
    if math.isnan(x):
        return largest if finite_only else 0x7F if has_sign else 0xFF
    sign = (largest + 1 if finite_only else 0x80) if negative and has_sign else 0
    behind = largest + 1
    if not math.isinf(x):
        code = rounded(name, abs(Fraction(x)), how, negative and has_sign)
        toward_zero = how == ZERO or how == (UP if negative and has_sign else DOWN)
        if code <= largest or finite_only or saturate or toward_zero:
            return sign | min(code, largest)
    return sign | (largest if saturate or finite_only else behind)


def expected(x):
    """Return the 32 codes of a number in the order of device_narrow.cu."""
    eights = [encoded(kind, x, NEAREST, s) for s in (False, True) for kind in ("e4m3", "e5m2")]
    without = [encoded(kind, x, how, s) for kind in ("e8m0", "ue5m3") for s in (False, True) for how in range(4)]
    return eights + without + [encoded(kind, x, how, True) for kind in ("e2m3", "e3m2", "e2m1") for how in range(4)]


def numbers():
    """Return every number of every format, what lies half-way between two, the neighbours of both, and special ones."""
    exact = {value for _, values in FORMATS.values() for value in values}
    for _, values in FORMATS.values():
        exact |= {(low + high) / 2 for low, high in itertools.pairwise(values)}
    near = [float(value) for value in sorted(exact)]
    near += [math.nextafter(value, to) for value in near for to in (0, math.inf)]
    near += [1e300, 5e-324, 1.7976931348623157e308, math.inf, 65504.0, 70000.0, 3.3e38, 2.0**-140]
    return np.array([sign * value for value in near for sign in (1, -1)] + [math.nan])


def fits(x, kind):
    """Tell which numbers a type holds as they are: the program's own rounding is not what is tested."""
    with np.errstate(over="ignore"):
        kept = x.astype(np.float16 if kind == "half" else np.float64 if kind == "double" else np.float32)
    same = (kept == x) | np.isnan(x)
    return same & (kept.view(np.uint32) & 0xFFFF == 0) | np.isnan(x) if kind == "bfloat" else same


@pytest.mark.usefixtures("needs_clang")
def test_every_rounding_is_that_of_exact_arithmetic():
    x = numbers()
    made = {kind: np.zeros((len(x), 32), np.uint8) for kind in ("double", "float", "half", "bfloat")}
    compiled("device_narrow.cu").run("narrow", ((len(x) + 63) // 64,), (64,), [x, *made.values(), np.int32(len(x))])
    right = np.array([expected(float(each)) for each in x], np.uint8)
    for kind, codes in made.items():
        same = fits(x, kind)
        assert same.sum() > 300, kind
        wrong = [(float(a), b, c) for a, b, c in zip(x[same], codes[same].tolist(), right[same].tolist()) if b != c]
        assert not wrong, (kind, len(wrong), wrong[:3])


@pytest.mark.usefixtures("needs_clang")
def test_every_code_is_read_back_as_what_it_means():
    out = np.zeros((7, 256, 16))
    compiled("device_narrow.cu").run("wide", (1,), (256,), [out])
    whole = ("b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "b")
    for number, name in enumerate(("e4m3", "e5m2", "e8m0", "ue5m3", "e2m3", "e3m2", "e2m1")):
        finite = FORMATS[name][0]
        sign = {"e2m3": 0x20, "e3m2": 0x20, "e2m1": 8, "e8m0": 0x100, "ue5m3": 0x100}.get(name, 0x80)
        for code in range(256):
            magnitude = code & (sign - 1)
            special = math.inf if name == "e5m2" and magnitude == 0x7C else math.nan
            value = float(finite[magnitude]) if magnitude < len(finite) else special
            value = -value if code & sign else value
            with np.errstate(over="ignore", under="ignore"):
                half = float(np.float16(value))
            row = [value, value, half, value]
            for letter in whole:
                limits = np.iinfo(letter)
                if math.isnan(value):
                    row.append(float({"l": -(2**63), "q": -(2**63), "L": 2**63, "Q": 2**63}.get(letter, 0)))
                else:
                    inside = min(max(value, float(limits.min)), float(limits.max))
                    row.append(float(int(inside)))
            row.append(float(name == "e8m0" or magnitude != 0))
            np.testing.assert_array_equal(out[number, code], row, err_msg=f"{name} {code:#x}")


@pytest.mark.usefixtures("needs_clang")
@pytest.mark.parametrize("kernel", ["eights", "fours"])
def test_pairs_and_fours_are_ones_side_by_side(kernel):
    x = np.random.default_rng(6).choice(np.array(FORMATS["e2m1"][0] + [5, 7, Fraction(1, 4)], float), (64, 4))
    x *= np.random.default_rng(7).choice((-1.0, 1.0), (64, 4))
    bad = np.zeros(64, np.uint32)
    compiled("device_narrow.cu").run(kernel, (1,), (64,), [x.astype(np.float32), bad])
    assert not bad.any()


@pytest.mark.usefixtures("needs_clang")
def test_nan_becomes_the_integer_that_the_manual_names():
    """CUDA Math API, __half2ll_rz, __half2ull_rn: 0x8000000000000000; __half2int_rz: 0."""
    out = np.ones(4, np.int64)
    compiled("device_narrow.cu").run("not_a_number", (1,), (1,), [out])
    assert out.tolist() == [-(2**63), -(2**63), 0, -(2**63)]
