"""cuBLAS on the processor against sums in longer arithmetic, over types, shapes, transpositions and leading dimensions."""

import ctypes
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from spread import properties

pytestmark = pytest.mark.native

TYPES = {"S": np.float32, "D": np.float64, "C": np.complex64, "Z": np.complex128}
N, T, C = 0, 1, 2
LOWER, UPPER = 0, 1
LEFT, RIGHT = 0, 1
INVALID = 7  # CUBLAS_STATUS_INVALID_VALUE


@pytest.fixture(scope="module")
def cublas(library):
    return library("cublas", "libcublas.so.13")


@pytest.fixture(scope="module")
def handle(cublas):
    made = cublas.out("cublasCreate_v2")
    yield made
    cublas("cublasDestroy_v2", made)


def longer(dtype):
    return np.clongdouble if np.issubdtype(dtype, np.complexfloating) else np.longdouble


def numbers(rng, dtype, *shape):
    """Return a column-major array whose every element differs."""
    values = rng.standard_normal(shape)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * rng.standard_normal(shape)
    return np.asfortranarray(values.astype(dtype))


def matrix(rng, dtype, rows, columns, more=0):
    """Return the matrix and the array that it lies in, with `more` rows of NaN below that nobody may touch."""
    whole = np.full((max(rows, 1) + more, max(columns, 1)), np.nan, dtype, order="F")
    whole[:rows, :columns] = numbers(rng, dtype, rows, columns)
    return whole[:rows, :columns], whole


def op(which, a):
    return a if which == N else a.T if which == T else a.conj().T


def one(dtype, value):
    return np.array([value], dtype)


def close(found, wanted, terms, scale=1.0):
    """Hold each element to an error of a few roundings per term (Higham, Accuracy and Stability, 3.5)."""
    eps = np.finfo(found.dtype).eps
    bound = 4 * eps * max(terms, 1) * (scale + np.abs(wanted).astype(np.float64))
    assert (np.abs(found.astype(wanted.dtype) - wanted) <= bound).all(), np.abs(found - wanted).max()


shapes = st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 3))
kinds = st.sampled_from("SDCZ")
scalars = st.sampled_from([0, 1, -0.5])


@properties(
    25, 300, kinds, shapes, st.sampled_from([N, T, C]), st.sampled_from([N, T, C]), scalars, scalars, st.integers(0, 99)
)
def test_gemm(cublas, handle, kind, shape, ta, tb, alpha, beta, seed):
    (m, n, k, more), dtype, rng = shape, TYPES[kind], np.random.default_rng(seed)
    a, wa = matrix(rng, dtype, *((m, k) if ta == N else (k, m)), more)
    b, wb = matrix(rng, dtype, *((k, n) if tb == N else (n, k)), more)
    c, wc = matrix(rng, dtype, m, n, more)
    if beta == 0:
        c[:] = np.nan  # it must not be read
    wide = longer(dtype)
    wanted = alpha * (op(ta, a.astype(wide)) @ op(tb, b.astype(wide)))
    if beta:
        wanted = wanted + beta * c.astype(wide)
    suffix = "_64" if seed % 2 else ""
    cublas(
        f"cublas{kind}gemm_v2{suffix}", handle, ta, tb, m, n, k, one(dtype, alpha), wa, wa.shape[0], wb, wb.shape[0], one(dtype, beta), wc,
        wc.shape[0],
    )  # fmt: skip
    close(c, wanted, k + 2, 30.0)
    assert np.isnan(wc[m:]).all() or not m  # the rows below are as they were


@properties(
    20,
    200,
    kinds,
    st.integers(0, 30),
    st.integers(0, 30),
    st.sampled_from([N, T, C]),
    st.integers(-2, 2),
    st.integers(-2, 2),
    scalars,
    st.integers(0, 99),
)
def test_gemv(cublas, handle, kind, m, n, ta, incx, incy, beta, seed):
    incx, incy, dtype, rng = incx or 3, incy or 3, TYPES[kind], np.random.default_rng(seed)
    a, wa = matrix(rng, dtype, m, n, 2)
    nx, ny = (n, m) if ta == N else (m, n)
    x, y = numbers(rng, dtype, max(nx, 1) * abs(incx)), numbers(rng, dtype, max(ny, 1) * abs(incy))
    xs, ys = (v[:: abs(inc)][:count][:: np.sign(inc)] for v, inc, count in ((x, incx, nx), (y, incy, ny)))
    if beta == 0:
        ys[:] = np.nan
    wide = longer(dtype)
    wanted = op(ta, a.astype(wide)) @ xs.astype(wide)
    if beta:
        wanted = wanted + beta * ys.astype(wide)
    if m == 0 or n == 0:
        wanted = ys.astype(wide)  # as the reference BLAS: an empty product leaves y alone
    cublas(f"cublas{kind}gemv_v2", handle, ta, m, n, one(dtype, 1), wa, wa.shape[0], x, incx, one(dtype, beta), y, incy)
    if not (beta == 0 and (m == 0 or n == 0)):
        close(ys, wanted, nx + 2, 30.0)


@properties(20, 200, kinds, st.integers(0, 50), st.integers(1, 3), st.integers(0, 99))
def test_vectors(cublas, handle, kind, n, inc, seed):
    dtype, rng = TYPES[kind], np.random.default_rng(seed)
    wide, real = longer(dtype), np.zeros(1, dtype).real.dtype
    x, y = numbers(rng, dtype, max(n, 1) * inc), numbers(rng, dtype, max(n, 1) * inc)
    xs, ys = x[::inc][:n], y[::inc][:n]
    out, result, place = one(dtype, np.nan), one(real, np.nan), ctypes.c_int(-1)
    cublas(f"cublas{kind}dot{'c' if kind in 'CZ' else ''}_v2", handle, n, x, inc, y, inc, out)
    close(out, np.array([np.sum(xs.astype(wide).conj() * ys)]), n, 8.0)
    cublas(
        {"S": "cublasSasum_v2", "D": "cublasDasum_v2", "C": "cublasScasum_v2", "Z": "cublasDzasum_v2"}[kind],
        handle,
        n,
        x,
        inc,
        result,
    )
    close(
        result, np.array([np.abs(xs.real.astype(np.longdouble)).sum() + np.abs(xs.imag.astype(np.longdouble)).sum()]), n
    )
    cublas(
        {"S": "cublasSnrm2_v2", "D": "cublasDnrm2_v2", "C": "cublasScnrm2_v2", "Z": "cublasDznrm2_v2"}[kind],
        handle,
        n,
        x,
        inc,
        result,
    )
    close(result, np.array([np.sqrt((np.abs(xs.astype(wide)) ** 2).sum())]), n)
    cublas(f"cublasI{kind.lower()}amax_v2", handle, n, x, inc, place)
    sizes = np.abs(xs.real) + np.abs(xs.imag)
    assert place.value == (int(sizes.argmax()) + 1 if n else 0)
    cublas(f"cublasI{kind.lower()}amin_v2", handle, n, x, inc, place)
    assert place.value == (int(sizes.argmin()) + 1 if n else 0)
    before = ys.astype(wide)
    cublas(f"cublas{kind}axpy_v2", handle, n, one(dtype, 2.5), x, inc, y, inc)
    close(ys, before + 2.5 * xs.astype(wide), 2)
    cublas(f"cublas{kind}scal_v2", handle, n, one(dtype, -3), x, inc)
    cublas(f"cublas{kind}copy_v2", handle, n, x, inc, y, inc)
    assert (xs == ys).all()


def triangle(a, fill, unit=False):
    t = np.tril(a) if fill == LOWER else np.triu(a)
    return t - np.diag(np.diag(t)) + np.eye(len(a), dtype=a.dtype) if unit else t


@properties(
    20,
    200,
    kinds,
    st.integers(1, 24),
    st.integers(1, 24),
    st.sampled_from([LEFT, RIGHT]),
    st.sampled_from([LOWER, UPPER]),
    st.sampled_from([N, T, C]),
    st.booleans(),
    st.integers(0, 99),
)
def test_triangular_products_and_solutions_are_each_other_s_inverse(
    cublas, handle, kind, m, n, side, fill, ta, unit, seed
):
    dtype, rng = TYPES[kind], np.random.default_rng(seed)
    order = m if side == LEFT else n
    a, wa = matrix(rng, dtype, order, order, 1)
    a[:] = a / order + 3 * np.eye(order)
    b, wb = matrix(rng, dtype, m, n, 2)
    wide = longer(dtype)
    t = op(ta, triangle(a.astype(wide), fill, unit))
    wanted = 2 * (t @ b.astype(wide) if side == LEFT else b.astype(wide) @ t)
    out, wout = matrix(rng, dtype, m, n, 3)
    arguments = handle, side, fill, ta, int(unit), m, n
    cublas(f"cublas{kind}trmm_v2", *arguments, one(dtype, 2), wa, wa.shape[0], wb, wb.shape[0], wout, wout.shape[0])
    close(out, wanted, order + 2, 20.0)
    cublas(f"cublas{kind}trsm_v2", *arguments, one(dtype, 0.5), wa, wa.shape[0], wout, wout.shape[0])
    close(out, b.astype(wide), 50 * order, 20.0)


@properties(
    15,
    150,
    kinds,
    st.integers(1, 24),
    st.integers(0, 24),
    st.sampled_from([LOWER, UPPER]),
    st.booleans(),
    st.integers(0, 99),
)
def test_updates_touch_one_triangle(cublas, handle, kind, n, k, fill, transposed, seed):
    dtype, rng = TYPES[kind], np.random.default_rng(seed)
    wide, complex_ = longer(dtype), kind in "CZ"
    trans = (C if complex_ else T) if transposed else N
    a, wa = matrix(rng, dtype, *((k, n) if transposed else (n, k)), 1)
    b, wb = matrix(rng, dtype, *((k, n) if transposed else (n, k)), 1)
    left, right = op(trans, a.astype(wide)), op(trans, b.astype(wide))
    real = np.zeros(1, dtype).real.dtype
    mask = np.tril(np.ones((n, n), bool)) if fill == LOWER else np.triu(np.ones((n, n), bool))
    c, wc = matrix(rng, dtype, n, n, 2)
    c[np.diag_indices(n)] = c.diagonal().real
    before = c.copy()
    name = "herk" if complex_ else "syrk"
    cublas(
        f"cublas{kind}{name}_v2",
        handle,
        fill,
        trans,
        n,
        k,
        one(real, 0.5),
        wa,
        wa.shape[0],
        one(real, 2),
        wc,
        wc.shape[0],
    )
    close(c[mask], (0.5 * left @ left.conj().T + 2 * before.astype(wide))[mask], k + 2, 30.0)
    assert (c[~mask] == before[~mask]).all()
    c[:] = before
    name = "her2k" if complex_ else "syr2k"
    cublas(
        f"cublas{kind}{name}_v2",
        handle,
        fill,
        trans,
        n,
        k,
        one(dtype, 1),
        wa,
        wa.shape[0],
        wb,
        wb.shape[0],
        one(real, 1),
        wc,
        wc.shape[0],
    )
    close(c[mask], (left @ right.conj().T + right @ left.conj().T + before.astype(wide))[mask], 2 * k + 2, 30.0)
    assert (c[~mask] == before[~mask]).all()


@properties(
    15,
    150,
    kinds,
    st.integers(1, 20),
    st.integers(1, 20),
    st.sampled_from([LEFT, RIGHT]),
    st.sampled_from([LOWER, UPPER]),
    st.integers(0, 99),
)
def test_symmetric_and_diagonal_factors(cublas, handle, kind, m, n, side, fill, seed):
    dtype, rng = TYPES[kind], np.random.default_rng(seed)
    wide, order = longer(dtype), m if side == LEFT else n
    a, wa = matrix(rng, dtype, order, order, 1)
    b, wb = matrix(rng, dtype, m, n)
    c, wc = matrix(rng, dtype, m, n, 1)
    t = triangle(a.astype(wide), fill)
    whole = t + t.T - np.diag(np.diag(t))
    cublas(
        f"cublas{kind}symm_v2",
        handle,
        side,
        fill,
        m,
        n,
        one(dtype, 1),
        wa,
        wa.shape[0],
        wb,
        wb.shape[0],
        one(dtype, 0),
        wc,
        wc.shape[0],
    )
    close(c, whole @ b if side == LEFT else b.astype(wide) @ whole, order, 30.0)
    x = numbers(rng, dtype, order)
    cublas(f"cublas{kind}dgmm", handle, side, m, n, wb, wb.shape[0], x, 1, wc, wc.shape[0])
    close(c, x[:, None].astype(wide) * b if side == LEFT else b.astype(wide) * x, 2)
    cublas(
        f"cublas{kind}geam",
        handle,
        N,
        N,
        m,
        n,
        one(dtype, 2),
        wb,
        wb.shape[0],
        one(dtype, 0),
        None,
        max(m, 1),
        wc,
        wc.shape[0],
    )
    close(c, 2 * b.astype(wide), 1)


@properties(10, 100, kinds, st.integers(1, 12), st.integers(1, 5), st.integers(0, 99))
def test_batched_factorisations(cublas, handle, kind, n, count, seed):
    dtype, rng = TYPES[kind], np.random.default_rng(seed)
    wide = np.complex128 if kind in "CZ" else np.float64
    stack = [numbers(rng, dtype, n, n) + np.asfortranarray(np.eye(n, dtype=dtype) * 4) for _ in range(count)]
    stack = [np.asfortranarray(a) for a in stack]
    kept, right, inverse = (
        [a.copy(order="F") for a in stack],
        [numbers(rng, dtype, n, 2) for _ in stack],
        [np.zeros((n, n), dtype, order="F") for _ in stack],
    )
    solved = [b.copy(order="F") for b in right]

    def pointers(arrays):
        return np.array([a.ctypes.data for a in arrays], np.uint64)

    pivots, info, host = np.zeros(n * count, np.int32), np.full(count, -1, np.int32), ctypes.c_int(-1)
    with_pivots = pivots if seed % 3 else None
    cublas(f"cublas{kind}getrfBatched", handle, n, pointers(stack), n, with_pivots, info, count)
    assert (info == 0).all()
    cublas(
        f"cublas{kind}getrsBatched", handle, N, n, 2, pointers(stack), n, with_pivots, pointers(solved), n, host, count
    )
    cublas(f"cublas{kind}getriBatched", handle, n, pointers(stack), n, with_pivots, pointers(inverse), n, info, count)
    assert host.value == 0
    eps = np.finfo(dtype).eps
    for a, b, x, back in zip(kept, right, solved, inverse):
        limit = 200 * n * eps * np.linalg.cond(a.astype(wide))
        assert np.abs(a.astype(wide) @ x - b).max() <= limit * 10
        assert np.abs(a.astype(wide) @ back - np.eye(n)).max() <= limit
    singular = np.zeros((n, n), dtype, order="F")
    cublas(f"cublas{kind}getrfBatched", handle, n, pointers([singular]), n, pivots, info, 1)
    assert info[0] == 1


@properties(10, 60, kinds, st.integers(0, 9), st.integers(0, 4), st.integers(0, 99))
def test_batched_products(cublas, handle, kind, n, count, seed):
    dtype, rng = TYPES[kind], np.random.default_rng(seed)
    a, b, c = (numbers(rng, dtype, n * n * max(count, 1)) for _ in range(3))
    parts = [[v[i * n * n : (i + 1) * n * n].reshape(n, n, order="F") for i in range(count)] for v in (a, b, c)]
    wanted = [x.astype(longer(dtype)) @ y for x, y in zip(*parts[:2])]
    ld, size = max(n, 1), n * n
    cublas(
        f"cublas{kind}gemmStridedBatched",
        handle,
        N,
        N,
        n,
        n,
        n,
        one(dtype, 1),
        a,
        ld,
        size,
        b,
        ld,
        size,
        one(dtype, 0),
        c,
        ld,
        size,
        count,
    )
    for found, each in zip(parts[2], wanted):
        close(found, each, n, 20.0)
    c[:] = np.nan
    lists = [np.array([p.ctypes.data for p in group], np.uint64) for group in parts]
    cublas(
        f"cublas{kind}gemmBatched",
        handle,
        N,
        N,
        n,
        n,
        n,
        one(dtype, 1),
        lists[0],
        ld,
        lists[1],
        ld,
        one(dtype, 0),
        lists[2],
        ld,
        count,
    )
    for found, each in zip(parts[2], wanted):
        close(found, each, n, 20.0)


@pytest.mark.parametrize(
    ("ta", "shape"), [(T, (512, 1, 512)), (T, (300, 4, 500)), (N, (384, 4, 384)), (N, (8, 300, 300))]
)
def test_small_products_with_few_columns_or_rows_are_openblas_own(cublas, handle, ta, shape):
    """It multiplies them as they lie where the processor has AVX-512, faster than our own product, whose sums have other bits."""
    file = find_spec("scipy_openblas32").origin
    engine = ctypes.CDLL(str(Path(file).parent / "lib/libscipy_openblas.so"))
    engine.scipy_openblas_get_corename.restype = ctypes.c_char_p
    if engine.scipy_openblas_get_corename() not in (b"SkylakeX", b"Cooperlake", b"SapphireRapids"):
        pytest.skip("OpenBLAS packs every factor on this processor")
    m, n, k = shape
    rng = np.random.default_rng(m)
    a, b, c, wanted = (rng.standard_normal(size).astype(np.float32) for size in (m * k, k * n, m * n, m * n))
    alpha, beta, lda = one(np.float32, 1), one(np.float32, 0), k if ta == T else m
    cublas("cublasSgemm_v2", handle, ta, N, m, n, k, alpha, a, lda, b, k, beta, c, m)
    letters = [ctypes.byref(ctypes.c_char(letter)) for letter in (b"T" if ta == T else b"N", b"N")]
    m, n, k, lda = (ctypes.byref(ctypes.c_int(number)) for number in (m, n, k, lda))
    alpha_at, a_at, b_at, beta_at, wanted_at = (ctypes.c_void_p(x.ctypes.data) for x in (alpha, a, b, beta, wanted))
    engine.scipy_sgemm_(*letters, m, n, k, alpha_at, a_at, lda, b_at, k, beta_at, wanted_at, m)
    assert (c == wanted).all()


@properties(
    40, 600, st.integers(1, 9), st.sampled_from([60, 4100, 8200]), st.sampled_from([64, 97, 130]), st.booleans(), st.sampled_from([N, T]), st.sampled_from([N, T]),
    st.integers(1, 4), scalars, st.integers(0, 99),
)  # fmt: skip
def test_batched_products_with_few_columns_or_rows(cublas, handle, few, many, k, turned, ta, tb, count, beta, seed):
    """Matrices anywhere, by arrays of pointers and in groups; such of f32 are our own product's."""
    m, n = (few, many) if turned else (many, few)
    rng = np.random.default_rng(seed)
    a, b, c = ([matrix(rng, np.float32, *shape, more) for _ in range(count)]
               for shape, more in (((m, k) if ta == N else (k, m), 1), ((k, n) if tb == N else (n, k), 0), ((m, n), 2)))  # fmt: skip
    products = [op(ta, x).astype(np.longdouble) @ op(tb, y) for (x, _), (y, _) in zip(a, b, strict=True)]
    lists = [np.array([whole.ctypes.data for _, whole in group], np.uint64) for group in (a, b, c)]
    lds = [group[0][1].shape[0] for group in (a, b, c)]
    alpha, more = one(np.float32, 0.5), one(np.float32, beta)

    def check(call):
        before = [part.astype(np.longdouble) for part, _ in c]
        if beta == 0:
            for part, _ in c:
                part[:] = np.nan  # it must not be read
        call()
        for (found, whole), product, old in zip(c, products, before, strict=True):
            close(found, 0.5 * product + (beta * old if beta else 0), k, 20.0)
            assert np.isnan(whole[m:]).all()
            found[:] = old

    shape = (m, n, k)
    check(
        lambda: cublas(
            "cublasSgemmBatched",
            handle,
            ta,
            tb,
            *shape,
            alpha,
            lists[0],
            lds[0],
            lists[1],
            lds[1],
            more,
            lists[2],
            lds[2],
            count,
        )
    )
    groups = [ctypes.c_int(v) for v in (ta, tb, *shape)]
    each = [ctypes.c_int(v) for v in lds]
    check(
        lambda: cublas(
            "cublasSgemmGroupedBatched",
            handle,
            *groups,
            alpha,
            lists[0],
            each[0],
            lists[1],
            each[1],
            more,
            lists[2],
            each[2],
            1,
            ctypes.c_int(count),
        )
    )


def test_scalars_on_the_device_are_read_when_the_work_runs(cublas, handle):
    cublas("cublasSetPointerMode_v2", handle, 1)
    try:
        x, result, alpha = np.arange(1.0, 5.0), np.zeros(1), np.array([3.0])
        cublas("cublasDscal_v2", handle, 4, alpha, x, 1)
        cublas("cublasDasum_v2", handle, 4, x, 1, result)
        assert result[0] == 30
    finally:
        cublas("cublasSetPointerMode_v2", handle, 0)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("cublasSgemm_v2", (5, 0, 1, 1, 1)), ("cublasSgemm_v2", (0, 0, -1, 1, 1)),
        ("cublasSgemm_v2", (0, 0, 4, 1, 1)),  # the leading dimension is 1
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named_by_its_status(cublas, handle, name, arguments):
    a = np.ones(16, np.float32)
    assert cublas.status(name, handle, *arguments, one(np.float32, 1), a, 1, a, 4, one(np.float32, 0), a, 4) == INVALID


def test_a_product_is_a_node_of_a_captured_graph(cublas, handle):
    cuda = cublas._cuda
    stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    cublas("cublasSetStream_v2", handle, stream.value)
    a, c = np.full((2, 2), 2.0, order="F"), np.zeros((2, 2), order="F")
    try:
        assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
        cublas("cublasDgemm_v2", handle, N, N, 2, 2, 2, one(np.float64, 1), a, 2, a, 2, one(np.float64, 1), c, 2)
        assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
        assert (c == 0).all()
        assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)) == 0
        for times in (1, 2):
            assert cuda.cuGraphLaunch(executable, stream) == 0
            assert cuda.cuStreamSynchronize(stream) == 0
            assert (c == 8 * times).all()
    finally:
        cublas("cublasSetStream_v2", handle, None)


# cudaDataType: what a program may name, as numpy or by conversion of bits
NAMED = {"f32": 0, "f16": 2, "bf16": 14, "s8": 3, "s32": 10, "e4m3": 28, "e5m2": 29}


def bf16(values):
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def as_type(name, values):
    """Return the bits of values in a type, and the values that those are."""
    if name == "bf16":
        bits = bf16(values)
        return np.asfortranarray(bits), (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    dtype = {"f32": np.float32, "f16": np.float16, "s8": np.int8, "s32": np.int32}[name]
    made = np.asfortranarray(np.rint(values * 20) if name.startswith("s") else values, dtype)
    return made, made.astype(np.float64)


PAIRS = st.sampled_from(
    [
        ("f16", "f16", 64),
        ("f16", "f16", 68),
        ("f16", "f32", 68),
        ("bf16", "bf16", 68),
        ("bf16", "f32", 68),
        ("s8", "s32", 72),
        ("s8", "f32", 68),
        ("f32", "f32", 77),
    ]
)


@properties(
    20,
    200,
    PAIRS,
    shapes,
    st.sampled_from([N, T]),
    st.sampled_from([N, T]),
    st.sampled_from([0, 1, 2]),
    st.integers(1, 3),
    st.integers(0, 99),
)
def test_products_of_named_types(cublas, handle, types, shape, ta, tb, beta, count, seed):
    (given, made, compute), (m, n, k, _), rng = types, shape, np.random.default_rng(seed)
    size = {"ld": [], "stride": []}
    bits, values = [], []
    for name, rows, columns in (
        (given, *((m, k) if ta == N else (k, m))),
        (given, *((k, n) if tb == N else (n, k))),
        (made, m, n),
    ):
        each = [
            as_type(
                name,
                rng.standard_normal((max(rows, 1), max(columns, 1)))
                if name != "s32"
                else np.zeros((max(rows, 1), max(columns, 1))),
            )
            for _ in range(count)
        ]
        bits.append(np.concatenate([b.ravel(order="F") for b, _ in each]))
        values.append([v[:rows, :columns] for _, v in each])
        size["ld"].append(max(rows, 1))
        size["stride"].append(max(rows, 1) * max(columns, 1))
    scalar = {64: np.float16, 68: np.float32, 72: np.int32, 77: np.float32}[compute]
    wanted = [op(ta, a) @ op(tb, b) + beta * c for a, b, c in zip(*values)]
    cublas(
        "cublasGemmStridedBatchedEx", handle, ta, tb, m, n, k, one(scalar, 1), bits[0], NAMED[given], size["ld"][0], size["stride"][0], bits[1],
        NAMED[given], size["ld"][1], size["stride"][1], one(scalar, beta), bits[2], NAMED[made], size["ld"][2], size["stride"][2], count, compute, -1,
    )  # fmt: skip
    for i, want in enumerate(wanted):
        found = bits[2][i * size["stride"][2] :][: m * n].reshape(m, n, order="F") if m * n else want
        if made == "bf16" and m * n:
            found = (np.ascontiguousarray(found).astype(np.uint32) << 16).view(np.float32)
        eps = {"f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7, "s32": 0}[made]
        assert (
            np.abs(found.astype(np.float64) - want)
            <= eps * (np.abs(want) + 1) + 2.0**-22 * (k + 1) * 900 * (made != "s32")
        ).all()


def test_types_that_are_not_multiplied_are_named(cublas, handle, capfd):
    a = np.ones(16, np.uint64)
    status = cublas.status(
        "cublasGemmEx", handle, N, N, 1, 1, 1, a, a, NAMED["f32"], 1, a, NAMED["s8"], 1, a, a, NAMED["f32"], 1, 68, -1
    )
    assert status == 15  # CUBLAS_STATUS_NOT_SUPPORTED
