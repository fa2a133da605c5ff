"""Mathematical functions of both precisions against numpy in double precision, and integer arithmetic."""

import math
import types

import numpy as np
from numba import cuda

# The largest relative error allowed, some multiples of one unit in the last place.
ERRORS = {np.float32: 1e-6, np.float64: 1e-14}


def device_function(function):
    """Compile a plain Python function; those of the math module numba knows itself."""
    return cuda.jit(device=True)(function) if isinstance(function, types.FunctionType) else function


def make_kernel(function):
    function = device_function(function)

    @cuda.jit
    def kernel(values, out):
        i = cuda.grid(1)
        if i < values.size:
            out[i] = function(values[i])

    return kernel


def make_kernel_of_two(function):
    function = device_function(function)

    @cuda.jit
    def kernel(first, second, out):
        i = cuda.grid(1)
        if i < first.size:
            out[i] = function(first[i], second[i])

    return kernel


def check_unary(function, expected, low=-3.0, high=3.0, dtypes=(np.float32, np.float64)):
    kernel = make_kernel(function)
    for dtype in dtypes:
        values = np.linspace(low, high, 300).astype(dtype)
        out = cuda.device_array(300, dtype)
        kernel[3, 128](cuda.to_device(values), out)
        exact = np.array([expected(float(v)) for v in values])
        error = ERRORS[dtype]
        np.testing.assert_allclose(
            out.copy_to_host(), exact, rtol=error, atol=error, err_msg=f"{function.__name__} {dtype.__name__}"
        )


def check_sin_and_cos():
    check_unary(math.sin, math.sin, -20, 20)
    check_unary(math.cos, math.cos, -20, 20)


def check_large_angles():
    check_unary(math.sin, math.sin, 1e5, 1e6, (np.float64,))
    check_unary(math.cos, math.cos, 1e5, 1.01e5, (np.float32,))


def check_tan():
    check_unary(math.tan, math.tan, -1.4, 1.4)


def check_inverse_trigonometric():
    check_unary(math.asin, math.asin, -1, 1)
    check_unary(math.acos, math.acos, -1, 1)
    check_unary(math.atan, math.atan, -20, 20)


def check_hyperbolic():
    check_unary(math.tanh, math.tanh)
    check_unary(math.sinh, math.sinh, -2, 2)
    check_unary(math.cosh, math.cosh, -2, 2)
    check_unary(math.asinh, math.asinh)
    check_unary(math.acosh, math.acosh, 1.0, 9)
    check_unary(math.atanh, math.atanh, -0.9, 0.9)


def check_exponentials():
    check_unary(math.exp, math.exp, -5, 2)
    check_unary(math.expm1, math.expm1, -1, 1)
    check_unary(lambda x: 2.0**x, lambda x: 2.0**x, -5, 2)


def check_logarithms():
    check_unary(math.log, math.log, 0.01, 50)
    check_unary(math.log2, math.log2, 0.01, 50)
    check_unary(math.log10, math.log10, 0.01, 50)
    check_unary(math.log1p, math.log1p, -0.5, 5)


def check_roots():
    check_unary(math.sqrt, math.sqrt, 0, 90)
    check_unary(lambda x: cuda.cbrt(x), lambda x: math.copysign(abs(x) ** (1 / 3), x), -9, 9)
    check_unary(lambda x: 1.0 / math.sqrt(x), lambda x: 1.0 / math.sqrt(x), 0.1, 90)


def check_error_functions():
    check_unary(math.erf, math.erf)
    check_unary(math.erfc, math.erfc, -2, 2)
    check_unary(math.gamma, math.gamma, 0.5, 3.5)
    check_unary(math.lgamma, math.lgamma, 3, 9)


def check_rounding():
    check_unary(math.floor, math.floor, -9.3, 9.7)
    check_unary(math.ceil, math.ceil, -9.3, 9.7)
    check_unary(math.trunc, math.trunc, -9.3, 9.7)
    check_unary(lambda x: round(x), round, -9.3, 9.7)
    check_unary(math.fabs, math.fabs)


def check_two(function, expected, low=(-3.0, -3.0), high=(3.0, 3.0), dtypes=(np.float32, np.float64)):
    kernel = make_kernel_of_two(function)
    rng = np.random.default_rng(17)
    for dtype in dtypes:
        first, second = (rng.uniform(low[k], high[k], 300).astype(dtype) for k in range(2))
        out = cuda.device_array(300, dtype)
        kernel[3, 128](cuda.to_device(first), cuda.to_device(second), out)
        exact = np.array([expected(float(a), float(b)) for a, b in zip(first, second)])
        error = ERRORS[dtype] * 4
        np.testing.assert_allclose(out.copy_to_host(), exact, rtol=error, atol=error)


def check_power():
    check_two(math.pow, math.pow, (0.1, -3.0), (4.0, 3.0))
    check_two(lambda x, y: x**y, math.pow, (0.1, -3.0), (4.0, 3.0))
    check_unary(lambda x: x**3, lambda x: x**3, -2, 2)


def check_two_arguments():
    check_two(math.atan2, math.atan2)
    check_two(math.hypot, math.hypot)
    check_two(math.copysign, math.copysign)
    check_two(math.fmod, math.fmod, (-9.0, 0.5), (9.0, 3.0))
    check_two(lambda x, y: x / y, lambda x, y: x / y, (-9.0, 0.5), (9.0, 3.0))
    check_two(lambda x, y: min(x, y) + 2 * max(x, y), lambda x, y: min(x, y) + 2 * max(x, y))


@cuda.jit
def fused(a, b, c, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = cuda.fma(a[i], b[i], c[i])


def check_fused_multiply_add():
    # Only one rounding: the products need 48 bits, and the third operand cancels their upper half.
    a = (1 + np.arange(64) * 2.0**-23).astype(np.float32)
    c = -(a * a).astype(np.float32)
    out = cuda.device_array(64, np.float32)
    fused[1, 64](cuda.to_device(a), cuda.to_device(a), cuda.to_device(c), out)
    exact = a.astype(np.float64) * a.astype(np.float64) + c.astype(np.float64)
    np.testing.assert_array_equal(out.copy_to_host(), exact.astype(np.float32))


@cuda.jit
def classify(values, out):
    i = cuda.grid(1)
    if i < values.size:
        out[i] = math.isnan(values[i]) * 1 + math.isinf(values[i]) * 2 + (values[i] > 0) * 4


def check_special_values():
    values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45], np.float32)
    out = cuda.device_array(8, np.int32)
    classify[1, 32](cuda.to_device(values), out)
    np.testing.assert_array_equal(out.copy_to_host(), [0, 0, 4, 0, 6, 2, 1, 4])


@cuda.jit(fastmath=True)
def fast(values, out):
    i = cuda.grid(1)
    if i < values.size:
        x = values[i]
        out[i] = math.exp(x) * math.sin(x) + math.sqrt(x) / math.log(x + 1) + math.cos(x)


def check_fast_maths():
    values = np.linspace(0.1, 3, 200).astype(np.float32)
    out = cuda.device_array(200, np.float32)
    fast[2, 128](cuda.to_device(values), out)
    x = values.astype(np.float64)
    np.testing.assert_allclose(
        out.copy_to_host(), np.exp(x) * np.sin(x) + np.sqrt(x) / np.log(x + 1) + np.cos(x), rtol=2e-5, atol=2e-5
    )


@cuda.jit
def divide(a, b, quotients, remainders, ratios):
    i = cuda.grid(1)
    if i < a.size:
        quotients[i] = a[i] // b[i]
        remainders[i] = a[i] % b[i]
        ratios[i] = a[i] / b[i]


def check_integer_division():
    rng = np.random.default_rng(18)
    for dtype in (np.int32, np.int64, np.uint32, np.uint64):
        low = 0 if np.dtype(dtype).kind == "u" else -(2**31)
        a = rng.integers(low, 2**31, 200).astype(dtype)
        b = (rng.integers(1, 10**6, 200) * (1 if low == 0 else rng.choice([-1, 1], 200))).astype(dtype)
        got = [cuda.device_array(200, dtype), cuda.device_array(200, dtype), cuda.device_array(200, np.float64)]
        divide[2, 128](cuda.to_device(a), cuda.to_device(b), *got)
        quotients, remainders, ratios = (array.copy_to_host() for array in got)
        np.testing.assert_array_equal(quotients, a // b)
        np.testing.assert_array_equal(remainders, a % b)
        np.testing.assert_allclose(ratios, a / b, rtol=1e-15)


@cuda.jit
def integer_tricks(a, b, out):
    i = cuda.grid(1)
    if i < a.size:
        out[0, i] = (a[i] << 3) ^ (b[i] >> 2)
        out[1, i] = (a[i] & b[i]) | ~a[i]
        out[2, i] = abs(a[i]) - b[i] * a[i]
        out[3, i] = -a[i] if a[i] > b[i] else b[i]


def check_integer_arithmetic():
    rng = np.random.default_rng(19)
    for dtype in (np.int32, np.int64):
        a, b = (rng.integers(-(2**31), 2**31, 100).astype(dtype) for _ in range(2))
        out = cuda.device_array((4, 100), dtype)
        integer_tricks[1, 128](cuda.to_device(a), cuda.to_device(b), out)
        # numba computes with int64 here; the store keeps the lower bits, as numpy's wrapping does.
        wide_a, wide_b = a.astype(np.int64), b.astype(np.int64)
        with np.errstate(over="ignore"):
            rows = [
                (wide_a << 3) ^ (wide_b >> 2),
                (wide_a & wide_b) | ~wide_a,
                np.abs(wide_a) - wide_b * wide_a,
                np.where(a > b, -wide_a, wide_b),
            ]
        np.testing.assert_array_equal(out.copy_to_host(), np.array(rows).astype(dtype))


@cuda.jit
def convert(values, out, wide):
    i = cuda.grid(1)
    if i < values.size:
        out[0, i] = np.int8(values[i])
        out[1, i] = np.uint16(abs(values[i]))
        out[2, i] = np.int64(np.float32(values[i]))
        wide[i] = np.float32(values[i])


def check_conversions():
    values = np.linspace(-120, 120, 97)
    out, wide = cuda.device_array((3, 97), np.int64), cuda.device_array(97, np.float64)
    convert[1, 128](cuda.to_device(values), out, wide)
    expected = [np.trunc(values), np.trunc(np.abs(values)), np.trunc(values.astype(np.float32))]
    np.testing.assert_array_equal(out.copy_to_host(), np.array(expected).astype(np.int64))
    np.testing.assert_array_equal(wide.copy_to_host(), values.astype(np.float32).astype(np.float64))


@cuda.jit
def half_arithmetic(a, b, out, powers):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] * b[i] + a[i] - b[i] / a[i]
        powers[i] = cuda.fp16.hexp2(b[i])


def check_half_precision():
    a, b = np.linspace(1, 4, 64).astype(np.float16), np.linspace(-3, 2, 64).astype(np.float16)
    out, powers = cuda.device_array(64, np.float16), cuda.device_array(64, np.float16)
    half_arithmetic[2, 32](cuda.to_device(a), cuda.to_device(b), out, powers)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    exact = wide_a * wide_b + wide_a - wide_b / wide_a
    np.testing.assert_allclose(out.copy_to_host().astype(np.float64), exact, rtol=4e-3, atol=4e-3)
    np.testing.assert_allclose(powers.copy_to_host().astype(np.float64), 2.0**wide_b, rtol=2e-3)
