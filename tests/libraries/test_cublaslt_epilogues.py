"""What cublasLtMatmul does with sums: epilogues, their gradients, scales and largest magnitudes, against f64."""

import ctypes

import numpy as np
import pytest

from libraries import element_types
from libraries.element_types import E4M3, E5M2, R16BF, R16F, R32F
from libraries.lt import COL, F32, ROW, Lt, Matrix, exact

pytestmark = pytest.mark.native

NOT_SUPPORTED = 15
ONE, ZERO = np.ones(1, np.float32), np.zeros(1, np.float32)


@pytest.fixture(scope="module")
def lt(library):
    return Lt(library("cublaslt", "libcublasLt.so.13"))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def gelu_derivative(x):
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x * x)


EPILOGUES = [
    "DEFAULT",
    "RELU",
    "BIAS",
    "RELU_BIAS",
    "GELU",
    "GELU_BIAS",
    "RELU_AUX",
    "RELU_AUX_BIAS",
    "GELU_AUX",
    "GELU_AUX_BIAS",
]


@pytest.mark.parametrize("name", EPILOGUES)
@pytest.mark.parametrize("kinds", [(R32F, R32F), (R16F, R16F), (R16BF, R32F), (R16BF, R16BF)], ids=str)
@pytest.mark.parametrize("order", [COL, ROW])
def test_epilogues(lt, name, kinds, order):
    rng = np.random.default_rng(EPILOGUES.index(name) + 100 * kinds[1] + 1000 * order)
    kind, out = kinds
    batch, m, n, k = 2, 130, 37, 19
    a, b, c, d = (
        Matrix(kind, m, k, batch).fill(rng),
        Matrix(kind, k, n, batch).fill(rng),
        Matrix(out, m, n, batch, order).fill(rng),
        Matrix(out, m, n, batch, order, 2),
    )
    bias = element_types.random(rng, (batch, m + 1), out)
    attributes = {"EPILOGUE": lt.number[f"CUBLASLT_EPILOGUE_{name}"]}
    if "BIAS" in name:
        attributes |= {"BIAS_POINTER": bias, "BIAS_BATCH_STRIDE": ctypes.c_int64(m + 1)}
    mask = name.startswith("RELU_AUX")
    aux = Matrix(out, m, n, batch, COL, 5)
    bits = np.full((batch, n, 256 // 8), 0xAA, np.uint8)
    if "AUX" in name:
        attributes |= {"EPILOGUE_AUX_POINTER": bits if mask else aux.memory, "EPILOGUE_AUX_LD": ctypes.c_int64(256 if mask else aux.ld),
                       "EPILOGUE_AUX_BATCH_STRIDE": ctypes.c_int64(256 * n if mask else aux.stride)}  # fmt: skip
    status = lt.status(F32, a, b, c, d, np.array([0.5], np.float32), ONE, **attributes)
    if "AUX" in name and order == ROW:
        assert status == NOT_SUPPORTED
        return
    assert status == 0
    before, error = exact(a.numbers(), b.numbers(), k)
    before = 0.5 * before + c.numbers()
    if "BIAS" in name:
        before = before + element_types.values(bias, out)[:, :m, None]
    want = np.maximum(before, 0) if "RELU" in name else gelu(before) if "GELU" in name else before
    error = error * 1.2 + np.abs(before) * 2.0**-20
    element_types.check(d.view(), out, want, error)
    if mask:
        got = np.unpackbits(bits, axis=2, bitorder="little")[:, :, :m].transpose(0, 2, 1)
        assert ((got == (before > 0)) | (np.abs(before) <= error)).all()
    elif "AUX" in name:
        element_types.check(aux.view(), out, before, error)


@pytest.mark.parametrize("name", ["DRELU", "DRELU_BGRAD", "DGELU", "DGELU_BGRAD"])
@pytest.mark.parametrize("kind", [R32F, R16BF])
def test_epilogues_of_gradients(lt, name, kind):
    rng = np.random.default_rng(kind)
    batch, m, n, k = 2, 70, 37, 19
    a, b, d = (
        Matrix(kind, k, m, batch).fill(rng),
        Matrix(kind, n, k, batch).fill(rng),
        Matrix(kind, m, n, batch, COL, 1),
    )
    bits = rng.integers(0, 256, (batch, n, 128 // 8), dtype=np.uint8)
    aux = Matrix(kind, m, n, batch, COL, 3).fill(rng)
    aux.memory[:3] = element_types.STORED[kind](0)
    mask = "RELU" in name
    bias = np.zeros((batch, m), element_types.STORED[kind])
    attributes = {"EPILOGUE": lt.number[f"CUBLASLT_EPILOGUE_{name}"], "EPILOGUE_AUX_POINTER": bits if mask else aux.memory,
                  "EPILOGUE_AUX_LD": ctypes.c_int64(128 if mask else aux.ld), "EPILOGUE_AUX_BATCH_STRIDE": ctypes.c_int64(128 * n if mask else aux.stride)}  # fmt: skip
    if "BGRAD" in name:
        attributes |= {"BIAS_POINTER": bias, "BIAS_BATCH_STRIDE": ctypes.c_int64(m)}
    lt(F32, a, b, d, d, ONE, ZERO, TRANSA=1, TRANSB=1, **attributes)
    want, error = exact(a.numbers().transpose(0, 2, 1), b.numbers().transpose(0, 2, 1), k)
    if mask:
        factor = np.unpackbits(bits, axis=2, bitorder="little")[:, :, :m].transpose(0, 2, 1).astype(np.float64)
    else:
        factor = gelu_derivative(aux.numbers())
    error = error * 1.2 + np.abs(want) * 2.0**-20
    want = want * factor
    element_types.check(d.view(), kind, want, error)
    if "BGRAD" in name:
        element_types.check(bias, kind, want.sum(axis=2), error.sum(axis=2))


@pytest.mark.parametrize("name", ["BGRADA", "BGRADB"])
@pytest.mark.parametrize("kind", [R32F, R16F])
@pytest.mark.parametrize("turned", [0, 1])
def test_gradients_of_the_bias_of_factors(lt, name, kind, turned):
    rng = np.random.default_rng(kind + turned)
    m, n, k = 70, 37, 300
    a, b, d = (
        Matrix(kind, *((k, m) if turned else (m, k)), 1, ROW).fill(rng),
        Matrix(kind, *((n, k) if turned else (k, n))).fill(rng),
        Matrix(kind, m, n),
    )
    bias = np.zeros(m if name == "BGRADA" else n, element_types.STORED[kind])
    lt(
        F32,
        a,
        b,
        d,
        d,
        ONE,
        ZERO,
        TRANSA=turned,
        TRANSB=turned,
        EPILOGUE=lt.number[f"CUBLASLT_EPILOGUE_{name}"],
        BIAS_POINTER=bias,
    )
    factor = a.numbers()[0] if name == "BGRADA" else b.numbers()[0]
    axis = (1 if name == "BGRADA" else 0) ^ turned
    element_types.check(bias, kind, factor.sum(axis=axis), np.abs(factor).sum(axis=axis) * 2.0**-20)


def test_scales_and_largest_magnitudes_of_fp8(lt):
    rng = np.random.default_rng(5)
    m, n, k = 33, 50, 64
    a, b, c = Matrix(E4M3, k, m).fill(rng), Matrix(E5M2, k, n).fill(rng), Matrix(R16BF, m, n).fill(rng)
    d = Matrix(E4M3, m, n)
    scale = [np.array([x], np.float32) for x in (0.25, 3, 0.125, 7)]
    largest, aux_largest = np.zeros(1, np.float32), np.zeros(1, np.float32)
    aux = Matrix(E4M3, m, n, 1, COL, 1)
    bias = element_types.random(rng, m, R16BF)
    lt(F32, a, b, c, d, ONE, ONE, TRANSA=1, A_SCALE_POINTER=scale[0], B_SCALE_POINTER=scale[1], D_SCALE_POINTER=scale[2], C_SCALE_POINTER=scale[3], AMAX_D_POINTER=largest,
       EPILOGUE=lt.number["CUBLASLT_EPILOGUE_GELU_AUX_BIAS"], BIAS_POINTER=bias, EPILOGUE_AUX_POINTER=aux.memory, EPILOGUE_AUX_LD=ctypes.c_int64(aux.ld),
       EPILOGUE_AUX_DATA_TYPE=E4M3, EPILOGUE_AUX_SCALE_POINTER=scale[2], EPILOGUE_AUX_AMAX_POINTER=aux_largest, FAST_ACCUM=ctypes.c_int8(1))  # fmt: skip
    before, error = exact(a.numbers().transpose(0, 2, 1), b.numbers(), k)
    before, error = (
        0.75 * before + c.numbers() + element_types.values(bias, R16BF)[:, None],
        error + 1e-5,
    )  # C's scale is for fp8 alone
    want = gelu(before)
    element_types.check(d.view(), E4M3, want * 0.125, error)
    element_types.check(aux.view(), E4M3, before * 0.125, error)
    assert abs(largest[0] - np.abs(want).max()) < 1e-3
    assert abs(aux_largest[0] - np.abs(before).max()) < 1e-3


@pytest.mark.parametrize("order", [COL, ROW])
def test_a_scale_for_each_row_and_column(lt, order):
    rng = np.random.default_rng(6)
    a, b, d = Matrix(E4M3, 40, 33).fill(rng), Matrix(E4M3, 40, 17).fill(rng), Matrix(R16BF, 33, 17, 1, order)
    rows, columns = rng.random(33, np.float32), rng.random(17, np.float32)
    lt(
        F32,
        a,
        b,
        d,
        d,
        ONE,
        ZERO,
        TRANSA=1,
        A_SCALE_POINTER=rows,
        B_SCALE_POINTER=columns,
        A_SCALE_MODE=3,
        B_SCALE_MODE=3,
    )
    want, error = exact(a.numbers().transpose(0, 2, 1) * rows[:, None], b.numbers() * columns, 40)
    element_types.check(d.view(), R16BF, want, error)
    assert lt.status(F32, a, b, d, d, ONE, ZERO, TRANSA=1, A_SCALE_POINTER=rows, A_SCALE_MODE=4) == NOT_SUPPORTED
