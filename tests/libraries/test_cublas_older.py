"""cuBLAS beside its handles: copies, the interface of before CUDA 4, cublasXt, and settings, against sums in longer arithmetic."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.test_cublas import (
    INVALID,
    LEFT,
    LOWER,
    RIGHT,
    TYPES,
    UPPER,
    C,
    N,
    T,
    as_type,
    close,
    longer,
    matrix,
    numbers,
    one,
    op,
    triangle,
)
from spread import properties

pytestmark = pytest.mark.native

NOT_INITIALIZED, MAPPING_ERROR, NOT_SUPPORTED = 1, 11, 15
LETTERS = {N: b"n", T: b"T", C: b"c"}
kinds = st.sampled_from("SDCZ")


class Complex64(ctypes.Structure):
    _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]


class Complex128(ctypes.Structure):
    _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]


PASSED = {"S": ctypes.c_float, "D": ctypes.c_double, "C": Complex64, "Z": Complex128}


def scalar(kind, value):
    return PASSED[kind](value.real, value.imag) if kind in "CZ" else PASSED[kind](value)


def plain(value):
    return complex(value.x, value.y) if hasattr(value, "x") else value


@pytest.fixture(scope="module")
def cublas(library):
    return library("cublas", "libcublas.so.13")


@pytest.fixture
def legacy(cublas):
    """`legacy(NAME, RESULT, *arguments)` calls a function of before CUDA 4 and returns its result."""
    cublas("cublasInit")

    def call(name, result, *arguments):
        function = cublas.file[name]
        function.restype = result
        function.argtypes = None
        return function(
            *(
                ctypes.c_void_p(a.ctypes.data)
                if isinstance(a, np.ndarray)
                else ctypes.c_char(a)
                if isinstance(a, bytes)
                else a
                for a in arguments
            )
        )

    yield call
    assert cublas.status("cublasGetError") == 0
    cublas("cublasShutdown")


@properties(
    20, 200, st.integers(0, 30), st.integers(0, 9), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["", "_64"])
)
def test_copies_with_steps(cublas, n, columns, incx, incy, suffix):
    rng = np.random.default_rng(n + incx)
    x, y = rng.integers(0, 1 << 30, n * incx + 1), np.full(n * incy + 1, -1)
    cublas(f"cublasSetVector{suffix}", n, 8, x, incx, y, incy)
    assert (y[: n * incy : incy] == x[: n * incx : incx]).all()
    rest = np.ones(len(y), bool)
    rest[: n * incy : incy] = False
    assert (y[rest] == -1).all()
    back = np.zeros_like(x)
    cublas(f"cublasGetVectorAsync{suffix}", n, 8, y, incy, back, incx, None)
    cublas._cuda.cuStreamSynchronize(None)
    assert (back[: n * incx : incx] == x[: n * incx : incx]).all()
    a, wa = matrix(rng, np.float32, n, columns, incx)
    b, wb = matrix(rng, np.float32, n, columns, incy)
    cublas(f"cublasSetMatrix{suffix}", n, columns, 4, wa, wa.shape[0], wb, wb.shape[0])
    assert (a == b).all()
    assert np.isnan(wb[n:]).all() or not n
    b[:] = 0
    cublas(f"cublasSetMatrixAsync{suffix}", n, columns, 4, wa, wa.shape[0], wb, wb.shape[0], None)
    cublas._cuda.cuStreamSynchronize(None)
    assert (a == b).all()
    b[:] = 0
    cublas(f"cublasGetMatrix{suffix}", n, columns, 4, wa, wa.shape[0], wb, wb.shape[0])
    assert (a == b).all()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Vector", (4, 0, None, 1, None, 1)), ("Vector", (4, 8, None, 0, None, 1)), ("Vector", (4, 8, None, 1, None, -1)),
        ("Matrix", (4, 4, 0, None, 4, None, 4)), ("Matrix", (-1, 4, 8, None, 4, None, 4)), ("Matrix", (4, 4, 8, None, 0, None, 4)),
    ],
)  # fmt: skip
def test_copies_refuse_what_the_manual_names(cublas, name, arguments):
    assert cublas.status(f"cublasSet{name}", *arguments) == INVALID
    assert cublas.status(f"cublasGet{name}_64", *arguments) == INVALID


def test_a_row_longer_than_the_matrix_is_a_mapping_error(cublas):
    a = np.zeros(64)
    assert cublas.status("cublasSetMatrix", 5, 2, 8, a, 4, a, 8) == MAPPING_ERROR


@properties(15, 150, kinds, st.integers(0, 20), st.integers(1, 9), st.sampled_from([N, T, C]), st.integers(0, 99))
def test_products_of_before_cuda_4(legacy, kind, m, k, ta, seed):
    rng, dtype = np.random.default_rng(seed), TYPES[kind]
    wide = longer(dtype)
    a, wa = matrix(rng, dtype, *((m, k) if ta == N else (k, m)), 1)
    b, wb = matrix(rng, dtype, k, 3)
    c, wc = matrix(rng, dtype, m, 3, 2)
    wanted = 2 * (op(ta, a.astype(wide)) @ b.astype(wide)) - c.astype(wide)
    legacy(
        f"cublas{kind}gemm", None, LETTERS[ta], b"N", m, 3, k, scalar(kind, 2), wa, wa.shape[0], wb, wb.shape[0], scalar(kind, -1), wc,
        wc.shape[0],
    )  # fmt: skip
    close(c, wanted, k + 2, 30.0)
    x, y = numbers(rng, dtype, k), numbers(rng, dtype, k)
    found = legacy(f"cublas{kind}{'dotc' if kind in 'CZ' else 'dot'}", PASSED[kind], k, x, 1, y, 1)
    close(np.array([plain(found)], dtype), np.array([np.sum(x.astype(wide).conj() * y)]), k, 8.0)
    real = {"S": "S", "D": "D", "C": "S", "Z": "D"}[kind]
    size = legacy(f"cublas{ {'C': 'Sc', 'Z': 'Dz'}.get(kind, kind) }nrm2", PASSED[real], k, x, 1)
    close(np.array([size], np.zeros(1, dtype).real.dtype), np.array([np.sqrt((np.abs(x.astype(wide)) ** 2).sum())]), k)
    sizes = np.abs(x.real) + np.abs(x.imag)
    assert legacy(f"cublasI{kind.lower()}amax", ctypes.c_int, k, x, 1) == sizes.argmax() + 1


@properties(10, 100, kinds, st.integers(1, 12), st.integers(1, 9), st.sampled_from([N, T, C]), st.booleans())
def test_triangles_of_before_cuda_4_are_multiplied_in_place(legacy, kind, m, n, ta, unit):
    rng, dtype = np.random.default_rng(m * n), TYPES[kind]
    wide = longer(dtype)
    a, wa = matrix(rng, dtype, m, m, 1)
    a[:] = a / m + 3 * np.eye(m)
    b, wb = matrix(rng, dtype, m, n, 1)
    before = b.astype(wide)
    wanted = op(ta, triangle(a.astype(wide), UPPER, unit)) @ before
    arguments = b"L", b"u", LETTERS[ta], b"U" if unit else b"n", m, n
    legacy(f"cublas{kind}trmm", None, *arguments, scalar(kind, 1), wa, wa.shape[0], wb, wb.shape[0])
    close(b, wanted, m + 2, 20.0)
    legacy(f"cublas{kind}trsm", None, *arguments, scalar(kind, 1), wa, wa.shape[0], wb, wb.shape[0])
    close(b, before, 50 * m, 20.0)


def test_errors_of_before_cuda_4_are_asked_for_and_forgotten(cublas, legacy):
    x = np.ones(4, np.float32)
    legacy("cublasSgemm", None, b"x", b"n", 1, 1, 1, ctypes.c_float(1), x, 1, x, 1, ctypes.c_float(0), x, 1)
    assert cublas.status("cublasGetError") == INVALID
    assert cublas.status("cublasGetError") == 0
    assert legacy("cublasSasum", ctypes.c_float, 4, x, 1) == 4


def test_without_cublasinit_functions_of_before_cuda_4_do_not_compute(cublas):
    assert cublas.status("cublasShutdown") == NOT_INITIALIZED
    x = np.ones(4, np.float32)
    function = cublas.file["cublasSscal"]
    function.restype = None
    function(4, ctypes.c_float(3), ctypes.c_void_p(x.ctypes.data), 1)
    assert (x == 1).all()
    assert cublas.status("cublasGetError") == NOT_INITIALIZED
    made = ctypes.c_void_p()
    assert cublas.status("cublasAlloc", 4, 4, made) == NOT_INITIALIZED


def test_memory_of_before_cuda_4(cublas, legacy):
    made = ctypes.c_void_p()
    assert cublas.status("cublasAlloc", 0, 4, made) == INVALID
    cublas("cublasAlloc", 3, 4, made)
    cublas("cublasSetVector", 3, 4, np.array([1, -2, 4], np.float32), 1, made.value, 1)
    assert legacy("cublasSasum", ctypes.c_float, 3, made, 1) == 7
    cublas("cublasFree", made.value)


def test_rotations_of_before_cuda_4(legacy):
    a, b, c, s = (np.array([v]) for v in (3.0, 4.0, 0.0, 0.0))
    legacy("cublasDrotg", None, a, b, c, s)
    assert (abs(a[0]), abs(c[0]), abs(s[0])) == pytest.approx((5, 0.6, 0.8))
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    legacy("cublasDrot", None, 2, x, 1, y, 1, ctypes.c_double(0.6), ctypes.c_double(0.8))
    assert np.allclose(x, [3, 5.2], 1e-15) and np.allclose(y, [1, 1.4], 1e-15)


@pytest.fixture(scope="module")
def xt(cublas):
    made = cublas.out("cublasXtCreate")
    cublas("cublasXtDeviceSelect", made, 1, np.zeros(1, np.int32))
    yield made
    cublas("cublasXtDestroy", made)


@properties(
    15, 150, kinds, st.integers(1, 20), st.integers(1, 20), st.sampled_from([LEFT, RIGHT]), st.sampled_from([LOWER, UPPER])
)  # fmt: skip
def test_products_of_matrices_on_the_host(cublas, xt, kind, m, n, side, fill):
    rng, dtype, order = np.random.default_rng(m + n), TYPES[kind], m if side == LEFT else n
    wide = longer(dtype)
    a, wa = matrix(rng, dtype, order, order, 1)
    b, wb = matrix(rng, dtype, m, n, 2)
    c, wc = matrix(rng, dtype, m, n, 1)
    t = triangle(a.astype(wide), fill)
    whole = t + t.T - np.diag(np.diag(t))
    left, right = (whole, b.astype(wide)) if side == LEFT else (b.astype(wide), whole)
    scalars = one(dtype, 2), one(dtype, 0)
    arguments = wb, wb.shape[0], scalars[1], wc, wc.shape[0]
    cublas(f"cublasXt{kind}symm", xt, side, fill, m, n, scalars[0], wa, wa.shape[0], *arguments)
    close(c, 2 * (left @ right), order, 30.0)
    c[:] = np.nan
    rows, columns = np.nonzero(np.tril(np.ones((order, order))) if fill == LOWER else np.triu(np.ones((order, order))))
    places = np.lexsort((rows, columns))  # columns one after the other
    packed = a[rows[places], columns[places]]
    cublas(f"cublasXt{kind}spmm", xt, side, fill, m, n, scalars[0], packed, *arguments)
    close(c, 2 * (left @ right), order, 30.0)
    cublas(
        f"cublasXt{kind}gemm", xt, N, T, m, m, n, one(dtype, 1), wb, wb.shape[0], wb, wb.shape[0], scalars[1],
        square := np.full((m, m), np.nan, dtype, order="F"), m,
    )  # fmt: skip
    close(square, b.astype(wide) @ b.astype(wide).T, n, 30.0)
    name, hermitian = ("herk", True) if kind in "CZ" else ("syrk", False)
    real = np.zeros(1, dtype).real.dtype
    cublas(f"cublasXt{kind}{name}", xt, fill, N, m, n, one(real, 1), wb, wb.shape[0], one(real, 0), square, m)
    wanted = b.astype(wide) @ (b.astype(wide).conj().T if hermitian else b.astype(wide).T)
    mask = np.tril(np.ones((m, m), bool)) if fill == LOWER else np.triu(np.ones((m, m), bool))
    close(square[mask], wanted[mask], n, 30.0)


def test_settings_of_xt(cublas, xt):
    block, boards = ctypes.c_int(), ctypes.c_int()
    cublas("cublasXtSetBlockDim", xt, 512)
    cublas("cublasXtGetBlockDim", xt, block)
    assert block.value == 512
    assert cublas.status("cublasXtSetBlockDim", xt, 0) == INVALID
    assert cublas.status("cublasXtDeviceSelect", xt, 1, np.array([9999], np.int32)) == INVALID
    assert cublas.status("cublasXtDeviceSelect", xt, 0, np.zeros(1, np.int32)) == INVALID
    assert cublas.status("cublasXtGetBlockDim", None, block) == NOT_INITIALIZED
    cublas("cublasXtMaxBoards", boards)
    assert boards.value >= 1
    cublas("cublasXtGetNumBoards", 1, np.zeros(1, np.int32), boards)
    assert boards.value == 1
    cublas("cublasXtSetPinningMemMode", xt, 1)
    cublas("cublasXtGetPinningMemMode", xt, block)
    assert block.value == 1
    assert cublas.status("cublasXtSetCpuRatio", xt, 0, 0, 1.5) == INVALID
    assert cublas.status("cublasXtSetCpuRoutine", xt, 12, 0, 1) == INVALID


@pytest.fixture
def handle(cublas):
    made = cublas.out("cublasCreate_v2")
    yield made
    cublas("cublasDestroy_v2", made)


@pytest.mark.parametrize(
    ("name", "first", "value", "wrong"),
    [
        ("EmulationStrategy", 0, 2, 3), ("EmulationSpecialValuesSupport", 65535, 3, 4), ("FixedPointEmulationMantissaControl", 0, 1, 2),
        ("FixedPointEmulationMaxMantissaBitCount", 0, 40, -1), ("FixedPointEmulationMantissaBitOffset", 0, -8, None),
    ],
)  # fmt: skip
def test_settings_of_emulated_products_are_kept(cublas, handle, name, first, value, wrong):
    found = ctypes.c_int(-7)
    cublas(f"cublasGet{name}", handle, found)
    assert found.value == first
    cublas(f"cublasSet{name}", handle, value)
    cublas(f"cublasGet{name}", handle, found)
    assert found.value == value
    assert wrong is None or cublas.status(f"cublasSet{name}", handle, wrong) == INVALID
    assert cublas.status(f"cublasGet{name}", handle, None) == INVALID
    assert cublas.status(f"cublasSet{name}", None, value) == NOT_INITIALIZED


def test_the_end_of_a_handle_waits_for_its_stream(cublas):
    cuda, stream = cublas._cuda, ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    done = []

    def slow(_):
        import time

        time.sleep(0.2)
        done.append(1)

    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(slow)
    made = cublas.out("cublasCreate_v2")
    cublas("cublasSetStream_v2", made, stream.value)
    assert cuda.cuLaunchHostFunc(stream, callback, None) == 0
    cublas("cublasDestroy_v2", made)
    assert done
    cuda.cuStreamDestroy_v2(stream)


def test_the_end_of_a_handle_leaves_a_capture_of_its_stream_alone(cublas):
    cuda, stream, graph = cublas._cuda, ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    made = cublas.out("cublasCreate_v2")
    cublas("cublasSetStream_v2", made, stream.value)
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    cublas("cublasDestroy_v2", made)
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    cuda.cuStreamDestroy_v2(stream)


@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("suffix", ["", "_64"])
def test_places_of_extremes_of_named_types(cublas, handle, name, suffix):
    number = {"f32": 0, "f16": 2, "bf16": 14}[name]
    bits, values = as_type(name, np.random.default_rng(3).standard_normal(37))
    place = ctypes.c_int64(0)
    for which, best in (("amax", np.argmax), ("amin", np.argmin)):
        cublas(f"cublasI{which}Ex{suffix}", handle, 19, bits, number, 2, place)
        assert place.value == best(np.abs(values[::2])) + 1


@pytest.mark.parametrize(("name", "eps"), [("f16", 2.0**-10), ("bf16", 2.0**-7), ("f32", 2.0**-22)])
@pytest.mark.parametrize("flag", [-2, -1, 0, 1])
def test_rotations_of_named_types(cublas, handle, name, eps, flag):
    number = {"f32": 0, "f16": 2, "bf16": 14}[name]
    rng = np.random.default_rng(5)
    x, xs = as_type(name, rng.standard_normal(12))
    y, ys = as_type(name, rng.standard_normal(12))
    param, (_, h11, h21, h12, h22) = as_type(name, np.array([flag, 0.5, -0.25, 2, 1.5]))
    h = {-2: (1, 0, 0, 1), -1: (h11, h12, h21, h22), 0: (1, h12, h21, 1), 1: (h11, 1, -1, h22)}[flag]
    cublas("cublasRotmEx", handle, 12, x, number, 1, y, number, 1, param, number, 0)

    def back(bits):
        return (bits.astype(np.uint32) << 16).view(np.float32) if name == "bf16" else bits.astype(np.float64)

    assert (np.abs(back(x) - (h[0] * xs + h[1] * ys)) <= eps * (np.abs(xs) + 3 * np.abs(ys))).all()
    assert (np.abs(back(y) - (h[2] * xs + h[3] * ys)) <= eps * (np.abs(xs) + 3 * np.abs(ys))).all()
    parts = [as_type(name, np.array([v]))[0] for v in (3, 4, 0, 0)]
    cublas("cublasRotgEx", handle, *parts[:2], number, *parts[2:], number, 0)
    r, c, s = (abs(back(parts[i])[0]) for i in (0, 2, 3))
    assert (r, c, s) == pytest.approx((5, 0.6, 0.8), rel=eps)
    scaled = [as_type(name, np.array([v]))[0] for v in (2, 0.5, 3, 0)]
    five = as_type(name, np.zeros(5))[0]
    cublas(
        "cublasRotmgEx", handle, scaled[0], number, scaled[1], number, scaled[2], number, scaled[3], number, five, number, 0
    )  # fmt: skip
    assert back(five)[0] == -2  # y1 is 0: nothing to turn


@properties(
    10, 60, st.integers(1, 12), st.integers(0, 12), st.sampled_from([LOWER, UPPER]), st.booleans(), st.booleans()
)
def test_updates_by_complex_matrices_of_named_types(cublas, handle, n, k, fill, hermitian, bytes_):
    rng = np.random.default_rng(n * k)
    parts = rng.integers(-20, 20, (2, max(k, 1), n))
    a = (parts[0] + 1j * parts[1]).T[:, :k]
    stored = (
        np.stack([parts[0], parts[1]], -1).astype(np.int8)
        if bytes_
        else (parts[0] + 1j * parts[1]).astype(np.complex64)
    )
    c = np.full((n, n), np.nan, np.complex64, order="F")
    real = np.float32 if hermitian else np.complex64
    for middle in ("", "3m"):
        cublas(
            f"cublasC{'he' if hermitian else 'sy'}rk{middle}Ex", handle, fill, N, n, k, one(real, 1), stored, 7 if bytes_ else 4, n,
            one(real, 0), c, 4, n,
        )  # fmt: skip
        wanted = a @ (a.conj().T if hermitian else a.T)
        mask = np.tril(np.ones((n, n), bool)) if fill == LOWER else np.triu(np.ones((n, n), bool))
        assert (c[mask] == wanted[mask]).all()  # integers, all below 2^24


def test_updates_of_other_types_are_refused_by_name(cublas, handle):
    x = np.zeros(4, np.complex64)
    status = cublas.status(
        "cublasCsyrkEx", handle, LOWER, N, 1, 1, one(np.complex64, 1), x, 5, 1, one(np.complex64, 0), x, 4, 1
    )
    assert status == NOT_SUPPORTED
