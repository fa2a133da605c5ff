"""Products with 4-bit weights, 8-bit rows (LLM.int8(), arXiv 2208.07339), elementwise helpers, and managed memory."""

import ctypes

import numpy as np

from .library import TYPES, near, rounded
from .quantise import TABLES, dynamic_map, unpack

ROUNDING = {"fp32": 2e-6, "fp16": 2.0**-9, "bf16": 2.0**-6}
"""Errors allowed of a product, relative to the magnitudes that are added: weights and products are rounded to the type on the way."""


def weights(generator, rows, inner, block, table):
    """Return packed codes, block maxima, and the weights they stand for, row by row."""
    packed = generator.integers(0, 256, rows * inner // 2).astype(np.uint8)
    maxima = generator.uniform(0.2, 1.5, rows * inner // block).astype(np.float32)
    values = TABLES[table][unpack(packed, rows * inner)].astype(np.float64) * np.repeat(maxima, block)
    return packed, maxima, values.reshape(rows, inner)


def close(got, exact, magnitude, kind):
    """Raise where a product is off by more than the type's rounding of what went into it."""
    near((got - exact) / magnitude, np.zeros_like(exact), 0, ROUNDING[kind])


def gemv(library, kind, table, block):
    """Check a vector times a 4-bit matrix: out[row] = sum over k of weights[row, k] * vector[k]."""
    generator = np.random.default_rng(11)
    rows, inner = 70, 512
    packed, maxima, matrix = weights(generator, rows, inner, block, table)
    vector = rounded(generator.standard_normal(inner), kind)
    out = library.empty(rows, kind)
    library.call(
        f"cgemm_4bit_inference_naive_{kind}", rows, 1, inner,
        library.put(vector, kind), library.put(packed), library.put(maxima), library.put(TABLES[table]), out,
        rows, (inner + 1) // 2, rows, block, None,
    )  # fmt: skip
    got = library.get(out, rows, kind).astype(np.float64)
    close(got, matrix @ vector.astype(np.float64), np.abs(matrix) @ np.abs(vector), kind)


def gemm(library, kind, table, rows_of_a, nested, biased):
    """Check a batch of vectors times a 4-bit matrix, with maxima that may be quantised themselves, and a bias."""
    generator = np.random.default_rng(13)
    columns, inner, block = 96, 256, 64
    packed, maxima, matrix = weights(generator, columns, inner, block, table)
    a = rounded(generator.standard_normal((rows_of_a, inner)), kind)
    bias = rounded(generator.standard_normal(columns), kind)
    arguments = [library.put(maxima), None, None, None]
    if nested:  # maximum = code[byte] * maximum of 256 maxima + offset
        code, offset = dynamic_map(), np.array([0.75], np.float32)
        bytes_ = generator.integers(0, 256, maxima.size).astype(np.uint8)
        outer = generator.uniform(0.1, 0.4, -(-maxima.size // 256)).astype(np.float32)
        real = code[bytes_].astype(np.float64) * np.repeat(outer, 256)[: maxima.size] + offset[0]
        values = TABLES[table][unpack(packed, columns * inner)].astype(np.float64) * np.repeat(real, block)
        matrix = values.reshape(columns, inner)
        arguments = [library.put(outer), library.put(bytes_), library.put(code), library.put(offset)]
    out = library.empty(rows_of_a * columns, kind)
    library.call(
        f"cgemm_4bit_{kind}", library.put(a, kind), library.put(packed), *arguments, out,
        library.put(bias, kind) if biased else None,
        rows_of_a, columns, inner, block, {"fp4": 1, "nf4": 2}[table], None,
    )  # fmt: skip
    got = library.get(out, rows_of_a * columns, kind).reshape(rows_of_a, columns).astype(np.float64)
    exact = a.astype(np.float64) @ matrix.T + (bias if biased else 0)
    close(got, exact, np.abs(a) @ np.abs(matrix.T) + np.abs(bias), kind)


def quantise_rows(library, threshold):
    """Check rows to 8 bits: 127 over the row's largest magnitude below the threshold; what is not below becomes 0."""
    generator = np.random.default_rng(17)
    rows, columns = 37, 500
    values = rounded(generator.standard_normal((rows, columns)) * 2, "fp16")
    out, stats = library.empty(rows * columns, "i8"), library.empty(rows, "fp32")
    library.call("cint8_vector_quant", library.put(values, "fp16"), out, stats, threshold, rows, columns, None)
    kept = np.where(np.abs(values) < threshold, values, 0) if threshold else values
    largest = np.abs(kept).max(1)
    near(library.get(stats, rows, "fp32"), largest, 0)
    got = library.get(out, rows * columns, "i8").reshape(rows, columns)
    near(got, kept.astype(np.float64) * 127 / largest[:, None], 0, 0.5 + 1e-4)
    assert not got[kept == 0].any()


def dequantise_product(library, biased):
    """Check integers to float16: product of the rows' and the columns' maxima over 127 squared, and a bias."""
    generator = np.random.default_rng(19)
    rows, columns = 21, 130
    sums = generator.integers(-50_000, 50_000, (rows, columns)).astype(np.int32)
    of_rows = generator.uniform(0.5, 3, rows).astype(np.float32)
    of_columns = generator.uniform(0.5, 3, columns).astype(np.float32)
    bias = rounded(generator.standard_normal(columns), "fp16")
    out = library.empty(rows * columns, "fp16")
    library.call(
        "cdequant_mm_int32_fp16", library.put(sums), library.put(of_rows), library.put(of_columns), out,
        library.put(bias, "fp16") if biased else None, rows, columns, None,
    )  # fmt: skip
    exact = sums * of_rows[:, None].astype(np.float64) * of_columns / 127**2 + (bias if biased else 0)
    got = library.get(out, rows * columns, "fp16").reshape(rows, columns)
    near(got, exact, 2.0**-10, 2e-5)


def elementwise(library, name, kind):
    """Check fill, arange and multiplication, which take (a, b, value, count as 64 bits)."""
    count = 1_000
    start = np.arange(count) % 251 if kind == "u8" else numbered(count)
    a = library.put(start.astype(np.uint8) if kind == "u8" else start)
    b = library.put(numbered(count, 3))
    value = ctypes.c_uint8(77) if kind == "u8" else 2.5
    library.call(name, a, b if "mul" in name else None, value, ctypes.c_int64(count))
    expected = {
        "cfill_fp32": np.full(count, 2.5),
        "cfill_uint8": np.full(count, 77),
        "carange_fp32": np.arange(count),
        "c_mul_fp32": start.astype(np.float32) * numbered(count, 3),
    }[name]
    near(library.get(a, count, kind), expected, 0)


def numbered(count, seed=2):
    """Return uniform numbers between -1 and 1."""
    return np.random.default_rng(seed).uniform(-1, 1, count).astype(np.float32)


def managed(library):
    """Check managed memory: host writes, a kernel multiplies, prefetched before and behind, the host reads."""
    count = 5_000
    library.entries.cget_managed_ptr.restype = ctypes.c_void_p
    address = ctypes.c_void_p(library.call("cget_managed_ptr", ctypes.c_size_t(4 * count)))
    values = np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), (count,))
    values[:] = numbered(count)
    library.call("cprefetch", address, ctypes.c_size_t(4 * count), 0)
    library.call("c_mul_fp32", address, library.put(numbered(count, 9)), 0.0, ctypes.c_int64(count))
    library.call("cprefetch", address, ctypes.c_size_t(4 * count), 0)
    near(values, numbered(count) * numbered(count, 9), 0)


def entries():
    """Return the checks of this chapter by the entry's name."""
    checks = {
        "cint8_vector_quant": [(quantise_rows, 0.0), (quantise_rows, 3.0)],
        "cdequant_mm_int32_fp16": [(dequantise_product, False), (dequantise_product, True)],
        "cfill_fp32": [(elementwise, "cfill_fp32", "fp32")],
        "cfill_uint8": [(elementwise, "cfill_uint8", "u8")],
        "carange_fp32": [(elementwise, "carange_fp32", "fp32")],
        "c_mul_fp32": [(elementwise, "c_mul_fp32", "fp32")],
        "cget_managed_ptr": [(managed,)],
        "cprefetch": [(managed,)],
    }
    for kind in TYPES:
        checks[f"cgemm_4bit_inference_naive_{kind}"] = [
            (gemv, kind, table, block) for table in TABLES for block in (64, 128)
        ]
        checks[f"cgemm_4bit_{kind}"] = [
            (gemm, kind, table, rows, nested, biased)
            for table in TABLES
            for rows, nested, biased in ((1, False, False), (4, True, True), (40, False, True), (40, True, False))
        ]
    return checks
