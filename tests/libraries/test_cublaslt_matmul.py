"""cublasLtMatmul against f64, with every row of the manual's table of types and every epilogue."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries import element_types
from libraries.element_types import C32F, E4M3, E5M2, R8I, R16BF, R16F, R32F, R32I, R64F
from libraries.lt import (
    ALPHA_VECTOR_BETA_HOST,
    ALPHA_VECTOR_BETA_ZERO,
    COL4_4R2_8C,
    COL32,
    COL32_2R_4R4,
    DEVICE_VECTOR,
    F16,
    F32,
    F64,
    I32,
    ROW,
    Lt,
    Matrix,
    check_product,
    exact,
    run,
    shared,
)
from spread import properties

pytestmark = pytest.mark.native

INVALID_VALUE, NOT_SUPPORTED = 7, 15
ONE, ZERO = np.ones(1, np.float32), np.zeros(1, np.float32)


@pytest.fixture(scope="module")
def lt(library):
    return Lt(library("cublaslt", "libcublasLt.so.13"))


@pytest.mark.usefixtures("lt")
@properties(150, 5000, st.integers(0, 2**32))
def test_any_product_is_right(seed):
    check_product(shared(), seed)


# Each processor takes the best of several instruction sets; the others are tried in a process of their own.
@pytest.mark.parametrize("less", ["avx512_bf16", "avx512", "avx2", "portable"])
@pytest.mark.usefixtures("lt")
def test_lesser_processors_compute_the_same(less):
    done = run("for seed in range(60): check_product(lt, seed)", ANYWARP_PRODUCT=less)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("lt")
def test_bits_do_not_depend_on_the_number_of_threads():
    code = (
        "import hashlib; sums = hashlib.sha256()\n"
        "for kinds in [(R16F, R16F, R16F), (R16BF, R16BF, R32F), (R64F, R64F, R64F)]:\n"
        "    rng = np.random.default_rng(1); scale = R64F if kinds[0] == R64F else R32F; one = np.ones(1, element_types.STORED[scale])\n"
        "    a, b, d = Matrix(kinds[0], 900, 450).fill(rng), Matrix(kinds[1], 450, 700).fill(rng), Matrix(kinds[2], 900, 700)\n"
        "    lt(F64 if scale == R64F else F32, a, b, d, d, one, one * 0, scale=scale); sums.update(d.memory)\n"
        "print(sums.hexdigest())"
    )
    one, three = (run(code, ANYWARP_THREADS=threads) for threads in ("1", "3"))
    assert one.returncode == 0 and len(one.stdout) > 64, one.stderr
    assert one.stdout == three.stdout


@pytest.mark.usefixtures("lt")
def test_a_wild_pointer_is_an_error_of_the_context():
    done = run(
        "a = Matrix(R16F, 40, 40); d = Matrix(R16F, 40, 40); layout = lt.layout(a); one = np.ones(1, np.float32)\n"
        "lt.library.status('cublasLtMatmul', lt.handle, lt.desc(F32, R32F), one, 64, layout, a.memory, layout, one, a.memory, layout, d.memory, layout, None, None, 0, None)\n"
        "assert lt.library._cuda.cuCtxSynchronize() == 700"
    )
    assert done.returncode == 0, done.stderr
    assert "cublasLtMatmul: illegal memory access at 0x40" in done.stderr


def test_large_products_are_right_and_the_same_however_they_are_cut(lt):
    rng = np.random.default_rng(1)
    for kinds in [(R16F, R16F, R32F), (R16BF, R16BF, R32F), (E4M3, E5M2, R32F), (R32F, R32F, R32F)]:
        a, b = Matrix(kinds[0], 1201, 811).fill(rng), Matrix(kinds[1], 811, 700).fill(rng)
        d = Matrix(kinds[2], 1201, 700)
        lt(F32, a, b, d, d, ONE, ZERO)
        want, error = exact(a.numbers(), b.numbers(), 811)
        element_types.check(d.view(), R32F, want, error)
        # A part of it is cut into other blocks.
        part = Matrix(kinds[2], 1201, 7)
        few = Matrix(kinds[1], 811, 7)
        few.view()[:] = b.view()[:, :, 500:507]
        lt(F32, a, few, part, part, ONE, ZERO)
        assert (part.view() == d.view()[:, :, 500:507]).all()


@pytest.mark.parametrize("mode", [DEVICE_VECTOR, ALPHA_VECTOR_BETA_ZERO, ALPHA_VECTOR_BETA_HOST])
def test_vectors_of_alpha(lt, mode):
    rng = np.random.default_rng(mode)
    a, b, c, d = (
        Matrix(R8I, 40, 33).fill(rng),
        Matrix(R8I, 40, 17).fill(rng),
        Matrix(R8I, 33, 17).fill(rng),
        Matrix(R8I, 33, 17),
    )
    alpha, beta = rng.random(33, np.float32) / 4096, rng.random(33, np.float32)
    lt(I32, a, b, c, d, alpha, beta, scale=R32F, TRANSA=1, POINTER_MODE=mode)
    factor = {
        DEVICE_VECTOR: beta.astype(np.float64)[:, None],
        ALPHA_VECTOR_BETA_ZERO: 0,
        ALPHA_VECTOR_BETA_HOST: float(beta[0]),
    }[mode]
    want = alpha.astype(np.float64)[:, None] * (a.numbers().transpose(0, 2, 1) @ b.numbers()) + factor * c.numbers()
    element_types.check(d.view(), R8I, want, 1e-3)


@pytest.mark.parametrize("order", [COL4_4R2_8C, COL32_2R_4R4])
def test_orders_of_32_columns(lt, order):
    """A product as bitsandbytes computes it: everything is brought into other orders, multiplied and brought back."""
    rng = np.random.default_rng(order)
    m, n, k = 50, 41, 70
    a, b = Matrix(R8I, m, k).fill(rng), Matrix(R8I, n, k, 1, ROW).fill(rng)
    a32, b32, d32, d = (
        Matrix(R8I, m, k, 1, COL32),
        Matrix(R8I, n, k, 1, order),
        Matrix(R32I, m, n, 1, COL32),
        Matrix(R32I, m, n, 1, ROW),
    )
    one, zero = np.ones(1, np.int32), np.zeros(1, np.int32)

    assert lt.transform(a, a32) == 0
    assert lt.transform(b, b32) == 0
    lt(I32, a32, b32, d32, d32, one, zero, TRANSB=1)
    assert lt.transform(d32, d) == 0
    assert (d.view() == a.numbers() @ b.numbers().transpose(0, 2, 1)).all()
    # COL32 as the header describes it: 32 columns, row by row.
    assert a32.memory[5 * 32 + 7] == a.view()[0, 5, 7]
    assert a32.memory[a32.ld + 5 * 32 + 7] == a.view()[0, 5, 39]


def test_arrays_of_pointers(lt):
    rng = np.random.default_rng(8)
    sides = {"a": (20, 30), "b": (30, 10), "d": (20, 10)}
    for compute, kind in [(F32, R16F), (F64, R64F)]:
        all_of = {name: [Matrix(kind, *side).fill(rng) for _ in range(3)] for name, side in sides.items()}
        pointers = {name: np.array([it.memory.ctypes.data for it in some], np.uint64) for name, some in all_of.items()}
        layouts = {}
        for name, some in all_of.items():
            layouts[name] = lt.layout(some[0])
            for attribute, value in (("BATCH_COUNT", 3), ("BATCH_MODE", 1)):
                lt.library(
                    "cublasLtMatrixLayoutSetAttribute",
                    layouts[name],
                    lt.number[f"CUBLASLT_MATRIX_LAYOUT_{attribute}"],
                    ctypes.c_int32(value),
                    4,
                )
        one = np.ones(1, np.float64 if kind == R64F else np.float32)
        desc = lt.desc(compute, kind if kind == R64F else R32F)
        a, b, d = pointers["a"], pointers["b"], pointers["d"]
        lt.library(
            "cublasLtMatmul",
            lt.handle,
            desc,
            one,
            a,
            layouts["a"],
            b,
            layouts["b"],
            one * 0,
            d,
            layouts["d"],
            d,
            layouts["d"],
            None,
            None,
            0,
            None,
        )
        for x, y, z in zip(*all_of.values(), strict=True):
            want, error = exact(x.numbers(), y.numbers(), 30)
            element_types.check(z.view(), kind, want, error)


def test_special_numbers_come_through(lt):
    a, b, d = Matrix(R16F, 40, 3), Matrix(R16F, 3, 20), Matrix(E4M3, 40, 20)
    a.view()[0, :, 0] = 1
    b.view()[0, 0, :5] = [np.inf, np.nan, -np.inf, 1000, 2.0**-10]
    out = Matrix(R16F, 40, 20)
    lt(F32, a, b, out, out, ONE, ZERO)
    got = out.view()[0].astype(np.float64)
    assert (
        np.isposinf(got[:, 0]).all()
        and np.isnan(got[:, 1]).all()
        and np.isneginf(got[:, 2]).all()
        and (got[:, 3] == 1000).all()
    )
    small_a, small_b = Matrix(E5M2, 40, 3), Matrix(E4M3, 3, 20)
    small_a.view()[0, :, 0] = 0x7C  # infinity
    small_b.view()[0, 0, :3] = [0x38, 0xB8, 0x7F]  # 1, -1, NaN
    c = Matrix(R16BF, 40, 20)
    lt(F32, small_a, small_b, c, c, ONE, ZERO)
    assert (
        np.isposinf(c.numbers()[0, :, 0]).all()
        and np.isneginf(c.numbers()[0, :, 1]).all()
        and np.isnan(c.numbers()[0, :, 2]).all()
    )
    lt(F32, small_a, small_b, c, d, ONE, ZERO)
    assert (
        (d.view()[0, :, 0] == 0x7E).all()
        and (d.view()[0, :, 1] == 0xFE).all()
        and (d.view()[0, :, 2] & 0x7F == 0x7F).all()
    )


def test_arguments_that_contradict_each_other(lt):
    a, b, c, d = Matrix(R32F, 4, 5), Matrix(R32F, 5, 6), Matrix(R32F, 4, 6), Matrix(R32F, 4, 6)
    assert lt.status(F32, a, b, c, d, ONE, ZERO) == 0
    assert lt.status(F32, a, b, c, d, ONE, None) == INVALID_VALUE
    assert lt.status(F32, a, Matrix(R32F, 4, 6), c, d, ONE, ZERO) == INVALID_VALUE
    assert lt.status(F32, a, b, Matrix(R32F, 6, 4), d, ONE, ZERO) == INVALID_VALUE
    assert lt.status(F32, a, b, c, Matrix(R32F, 4, 6, 2), ONE, ZERO) == INVALID_VALUE
    short = Matrix(R32F, 4, 6)
    short.ld = 3
    assert lt.status(F32, a, b, c, short, ONE, ZERO) == INVALID_VALUE
    assert lt.status(F32, a, b, c, d, ONE, ZERO, EPILOGUE=3) == INVALID_VALUE
    assert lt.status(F32, a, b, c, d, ONE, ZERO, EPILOGUE=4) == INVALID_VALUE  # no bias
    assert lt.status(F32, a, b, c, d, ONE, ZERO, FILL_MODE=0) == NOT_SUPPORTED
    assert lt.status(F32, a, Matrix(R16F, 5, 6), c, d, ONE, ZERO) == NOT_SUPPORTED
    assert lt.status(F16, a, b, c, d, np.ones(1, np.float16), np.zeros(1, np.float16)) == NOT_SUPPORTED
    assert (
        lt.status(
            F32,
            *(Matrix(C32F, *s) for s in ((4, 5), (5, 6), (4, 6), (4, 6))),
            np.ones(1, np.complex64),
            np.zeros(1, np.complex64),
            scale=C32F,
            EPILOGUE=2,
        )
        == NOT_SUPPORTED
    )
    huge = [lt.layout(x) for x in (a, b, c, d)]
    for made, (rows, cols) in zip(huge, ((2**40, 2), (2, 2**40), (2**40, 2**40), (2**40, 2**40)), strict=True):
        for name, value in (("ROWS", rows), ("COLS", cols), ("LD", rows)):
            lt.library(
                "cublasLtMatrixLayoutSetAttribute",
                made,
                lt.number[f"CUBLASLT_MATRIX_LAYOUT_{name}"],
                ctypes.c_uint64(value),
                8,
            )
    results, count = np.zeros(96, np.uint8), ctypes.c_int()
    assert (
        lt.library.status(
            "cublasLtMatmulAlgoGetHeuristic", lt.handle, lt.desc(F32, R32F), *huge, None, 1, results, count
        )
        == NOT_SUPPORTED
    )
    desc = lt.desc(F32, R32F)
    assert (
        lt.library.status(
            "cublasLtMatmul",
            None,
            desc,
            ONE,
            a.memory,
            lt.layout(a),
            b.memory,
            lt.layout(b),
            ZERO,
            c.memory,
            lt.layout(c),
            d.memory,
            lt.layout(d),
            None,
            None,
            0,
            None,
        )
        == 1
    )


def test_a_handle_of_cublas_serves_as_well(library, lt):
    other = Lt(lt.library)
    other.handle = library("cublas", "libcublas.so.13").out("cublasCreate_v2")
    a, d = Matrix(R32F, 4, 4).fill(np.random.default_rng(2)), Matrix(R32F, 4, 4)
    other(F32, a, a, d, d, ONE, ZERO)
    assert d.memory.any()


def test_work_under_capture(lt):
    rng = np.random.default_rng(9)
    a, b, d = Matrix(R16F, 20, 30).fill(rng), Matrix(R16F, 30, 10).fill(rng), Matrix(R16F, 20, 10)
    cuda = lt.library._cuda
    stream, graph, made = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 0) == 0
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    alpha = np.full(1, 2, np.float32)
    lt(F32, a, b, d, d, alpha, ZERO, stream=stream.value)
    alpha[:] = 3  # read at the call
    assert not d.memory.any()
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(made), graph, ctypes.c_uint64(0)) == 0
    a.fill(rng)
    for _ in range(2):
        d.memory[:] = 0
        assert cuda.cuGraphLaunch(made, stream) == 0
        assert cuda.cuStreamSynchronize(stream) == 0
        want, error = exact(a.numbers(), b.numbers(), 30)
        element_types.check(d.view(), R16F, 2 * want, 2 * error)
