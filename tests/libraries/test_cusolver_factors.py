"""cuSOLVER, sparse: factors that are kept, least squares, boxes of eigenvalues and orders, against dense matrices of numpy."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.dense import INVALID, LETTERS, close, each, is_complex, norm, random, real, seeds, wide
from libraries.test_cusolver_sparse import Complex64, Complex128, Sparse, rows_of, thin

pytestmark = pytest.mark.native
every_type = pytest.mark.parametrize("letter", LETTERS)
ZERO_PIVOT = 10


@pytest.fixture(scope="module")
def sparse(library):
    return Sparse(library("cusolver", "libcusolver.so.12"), library("cusparse", "libcusparse.so.12"))


def done(status):
    assert status == 0


def made(sparse, name):
    return sparse.solver.out(f"cusolverSpCreate{name}")


def exact(A, letter):
    return A.astype(wide(letter))


def shifted(sparse, letter, host, arguments, mu, info):
    """Call csrqrSetup: mu goes by value."""
    call = sparse.solver.file[f"cusolverSp{letter}csrqrSetup{host}"]
    number = {"S": ctypes.c_float, "D": ctypes.c_double, "C": Complex64, "Z": Complex128}[letter]
    pointer, whole = ctypes.c_void_p, ctypes.c_int
    call.argtypes = [pointer, whole, whole, whole, *[pointer] * 4, number, pointer]
    m, n, nnz, descr, *arrays = arguments
    value = number(mu.real, mu.imag) if is_complex(letter) else number(mu.real)
    return call(sparse.handle, m, n, nnz, descr, *[it.ctypes.data for it in arrays], value, info)


@every_type
@pytest.mark.parametrize("host", ["", "Host"])
def test_qr_is_kept(sparse, letter, host):
    @each(8, st.integers(1, 30), st.integers(0, 10), st.integers(0, 1), seeds)
    def _(n, more, base, seed):
        m, mu = n + more, 0.75 - 0.5j
        if not is_complex(letter):
            mu = 0.75
        A = thin(seed, letter, m, 1.5)[:, :n].copy()
        shift = exact(A, letter) - mu * np.eye(m, n)
        values, *pattern = rows_of(A, base)
        info, descr = made(sparse, f"CsrqrInfo{host}"), sparse.descriptors[base]
        done(sparse.status(f"XcsrqrAnalysis{host}", m, n, len(values), descr, *pattern, info))
        sizes = ctypes.c_size_t(), ctypes.c_size_t()
        matrix = m, n, len(values), descr, values, *pattern
        done(sparse.status(f"{letter}csrqrBufferInfo{host}", *matrix, info, *sizes))
        buffer = np.zeros(sizes[1].value, np.uint8)
        done(shifted(sparse, letter, host, matrix, complex(mu), info))
        values[:] = 0  # what was set up stays
        b, x, again = random(seed + 2, letter, m), np.zeros(n, LETTERS[letter]), np.zeros(n, LETTERS[letter])
        done(sparse.status(f"{letter}csrqrFactor{host}", m, n, len(values), b, x, info, buffer))
        done(sparse.status(f"{letter}csrqrSolve{host}", m, n, b, again, info, buffer))
        assert (x == again).all()
        position = ctypes.c_int(-7)
        done(sparse.status(f"{letter}csrqrZeroPivot{host}", info, 0.0, position))
        assert position.value == -1
        if np.linalg.cond(shift) < 1e3:
            expected = np.linalg.lstsq(shift, exact(b, letter), rcond=None)[0]
            close(x, expected, letter, np.linalg.cond(shift) ** 2 * (norm(expected) + norm(b)), n)
        done(sparse.solver.status(f"cusolverSpDestroyCsrqrInfo{host}", info))


@every_type
def test_many_systems_of_one_pattern(sparse, letter):
    @each(8, st.integers(1, 20), st.integers(0, 6), st.integers(1, 5), st.integers(0, 1), seeds)
    def _(n, more, batches, base, seed):
        m = n + more
        first = thin(seed, letter, m, 3)[:, :n].copy()
        _, *pattern = rows_of(first, base)
        places = np.nonzero(first)
        values = random(seed + 1, letter, batches, len(places[0]))
        values[:, places[0] == places[1]] += 4
        b, x = random(seed + 2, letter, batches, m), np.zeros((batches, n), LETTERS[letter])
        info, descr = made(sparse, "CsrqrInfo"), sparse.descriptors[base]
        nnz = values.shape[1]
        done(sparse.status("XcsrqrAnalysisBatched", m, n, nnz, descr, *pattern, info))
        sizes = ctypes.c_size_t(), ctypes.c_size_t()
        matrix = m, n, nnz, descr, values, *pattern
        done(sparse.status(f"{letter}csrqrBufferInfoBatched", *matrix, batches, info, *sizes))
        buffer = np.zeros(sizes[1].value, np.uint8)
        done(sparse.status(f"{letter}csrqrsvBatched", *matrix, b, x, batches, info, buffer))
        for i in range(batches):
            A = np.zeros((m, n), wide(letter))
            A[places] = values[i]
            if np.linalg.cond(A) < 1e3:
                expected = np.linalg.lstsq(A, exact(b[i], letter), rcond=None)[0]
                close(x[i], expected, letter, np.linalg.cond(A) ** 2 * (norm(expected) + norm(b[i])), n)
        done(sparse.solver.status("cusolverSpDestroyCsrqrInfo", info))


@every_type
@pytest.mark.parametrize("host", ["", "Host"])
def test_cholesky_is_kept(sparse, letter, host):
    @each(8, st.integers(1, 30), st.integers(0, 1), seeds)
    def _(n, base, seed):
        A = thin(seed, letter, n, n + 8)
        A = A + A.conj().T
        values, *pattern = rows_of(A, base)
        info, descr = made(sparse, f"CsrcholInfo{host}"), sparse.descriptors[base]
        done(sparse.status(f"XcsrcholAnalysis{host}", n, len(values), descr, *pattern, info))
        sizes = ctypes.c_size_t(), ctypes.c_size_t()
        matrix = n, len(values), descr, values, *pattern
        done(sparse.status(f"{letter}csrcholBufferInfo{host}", *matrix, info, *sizes))
        buffer = np.zeros(sizes[1].value, np.uint8)
        position, b, x = ctypes.c_int(-7), random(seed + 2, letter, n), np.zeros(n, LETTERS[letter])
        done(sparse.status(f"{letter}csrcholFactor{host}", *matrix, info, buffer))
        done(sparse.status(f"{letter}csrcholZeroPivot{host}", info, 0.0, position))
        assert position.value == -1
        done(sparse.status(f"{letter}csrcholSolve{host}", n, b, x, info, buffer))
        close(exact(A, letter) @ x, b, letter, norm(A) * norm(exact(x, letter)), n)
        if not host:  # det(A) = det(L)^2, whatever the order
            diagonal = np.zeros(n, real(letter))
            done(sparse.status(f"{letter}csrcholDiag", info, diagonal))
            logarithm = np.linalg.slogdet(exact(A, letter))[1]
            assert abs(2 * np.log(diagonal.astype(float)).sum() - logarithm) < 1e3 * n * np.finfo(real(letter)).eps * max(1, abs(logarithm))  # fmt: skip
        # One row that is not positive, wherever it comes among the others.
        bad = seed % n
        values[(np.repeat(np.arange(n), np.diff(pattern[0])) == bad) | (pattern[1] - base == bad)] = 0
        done(sparse.status(f"{letter}csrcholFactor{host}", *matrix, info, buffer))
        done(sparse.status(f"{letter}csrcholZeroPivot{host}", info, 0.0, position))
        assert position.value == bad
        assert sparse.status(f"{letter}csrcholSolve{host}", n, b, x, info, buffer) == ZERO_PIVOT
        done(sparse.solver.status(f"cusolverSpDestroyCsrcholInfo{host}", info))


def dense_of(values, starts, columns, base, shape):
    out = np.zeros(shape, np.complex128 if np.iscomplexobj(values) else np.float64)
    rows = np.repeat(np.arange(shape[0]), np.diff(starts))
    out[rows, columns - base] = values
    assert (np.diff(columns)[np.diff(rows) == 0] > 0).all()  # in order
    return out


@every_type
def test_lu_is_kept(sparse, letter):
    @each(12, st.integers(1, 30), st.integers(0, 1), st.sampled_from([0.0, 0.5, 1.0]), seeds)
    def _(n, base, threshold, seed):
        A = thin(seed, letter, n, n if threshold == 0 else 0.5)
        values, *pattern = rows_of(A, base)
        info, descr = made(sparse, "CsrluInfoHost"), sparse.descriptors[base]
        done(sparse.status("XcsrluAnalysisHost", n, len(values), descr, *pattern, info))
        sizes = ctypes.c_size_t(), ctypes.c_size_t()
        matrix = n, len(values), descr, values, *pattern
        done(sparse.status(f"{letter}csrluBufferInfoHost", *matrix, info, *sizes))
        buffer = np.zeros(sizes[1].value, np.uint8)
        done(sparse.status(f"{letter}csrluFactorHost", *matrix, info, threshold, buffer))
        position, counts = ctypes.c_int(-7), (ctypes.c_int(), ctypes.c_int())
        done(sparse.status(f"{letter}csrluZeroPivotHost", info, 0.0, position))
        done(sparse.status("XcsrluNnzHost", *counts, info))
        P, Q = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        L, U = ((np.zeros(count.value, LETTERS[letter]), np.zeros(n + 1, np.int32), np.zeros(count.value, np.int32)) for count in counts)  # fmt: skip
        other = sparse.descriptors[1 - base]
        done(sparse.status(f"{letter}csrluExtractHost", P, Q, descr, *L, other, *U, info, buffer))
        lower, upper = dense_of(*L, base, (n, n)), dense_of(*U, 1 - base, (n, n))
        assert (np.triu(lower) == 0).all() and (np.tril(upper, -1) == 0).all()
        assert sorted(P) == sorted(Q) == list(range(n))
        product = (lower + np.eye(n)) @ upper
        close(product, exact(A, letter)[P][:, Q], letter, norm(np.abs(lower) + np.eye(n)) * norm(upper), n)
        if threshold:
            assert (np.abs(lower) <= 1 / threshold * (1 + 1e-5)).all()
        else:
            assert (P == Q).all()
        singular = np.linalg.matrix_rank(A) < n
        assert position.value == -1 or singular
        if not singular and np.linalg.cond(A) < 1e3:
            b, x = random(seed + 2, letter, n), np.zeros(n, LETTERS[letter])
            done(sparse.status(f"{letter}csrluSolveHost", n, b, x, info, buffer))
            close(exact(A, letter) @ x, b, letter, norm(np.abs(lower) + np.eye(n)) * norm(upper) * norm(exact(x, letter)), n)  # fmt: skip
        done(sparse.solver.status("cusolverSpDestroyCsrluInfoHost", info))


@every_type
def test_a_column_of_nothing_is_no_pivot(sparse, letter):
    A = np.diag(np.array([1, 2, 3, 4])).astype(LETTERS[letter])
    A[2, 3] = A[2, 2]
    A[2, 2] = 0
    values, *pattern = rows_of(A, 0)
    matrix, position = (4, len(values), sparse.descriptors[0], values, *pattern), ctypes.c_int()
    info = made(sparse, "CsrluInfoHost")
    done(sparse.status("XcsrluAnalysisHost", *matrix[:3], *pattern, info))
    done(sparse.status(f"{letter}csrluFactorHost", *matrix, info, 1.0, None))
    done(sparse.status(f"{letter}csrluZeroPivotHost", info, 0.0, position))
    assert position.value in (2, 3)
    matrix = 4, 4, len(values), sparse.descriptors[0], values, *pattern
    info = made(sparse, "CsrqrInfo")
    done(sparse.status("XcsrqrAnalysis", *matrix[:4], *pattern, info))
    done(shifted(sparse, letter, "", matrix, 0j, info))
    done(sparse.status(f"{letter}csrqrFactor", 4, 4, len(values), None, None, info, None))
    done(sparse.status(f"{letter}csrqrZeroPivot", info, 0.0, position))
    assert position.value in (2, 3)


def test_calls_follow_one_another(sparse):
    A = rows_of(np.eye(3), 0)
    matrix, position, b, x = (3, 3, sparse.descriptors[0], *A), ctypes.c_int(), np.ones(3), np.zeros(3)
    for kind, create, more in (("chol", "CsrcholInfo", ()), ("lu", "CsrluInfoHost", (1.0,))):
        info, host = made(sparse, create), "Host" if kind == "lu" else ""
        assert sparse.status(f"Dcsr{kind}Factor{host}", *matrix, info, *more, None) == INVALID
        done(sparse.status(f"Xcsr{kind}Analysis{host}", *matrix[:3], *A[1:], info))
        assert sparse.status(f"Dcsr{kind}Solve{host}", 3, b, x, info, None) == INVALID
        assert sparse.status(f"Dcsr{kind}ZeroPivot{host}", info, 0.0, position) == INVALID
        done(sparse.status(f"Dcsr{kind}Factor{host}", *matrix, info, *more, None))
        assert sparse.status(f"Scsr{kind}ZeroPivot{host}", info, 0.0, position) == INVALID  # of another type
        assert sparse.status(f"Dcsr{kind}Solve{host}", 2, b, x, info, None) == INVALID
    info = made(sparse, "CsrqrInfo")
    assert sparse.status("XcsrqrAnalysis", 2, 3, 3, sparse.descriptors[0], *A[1:], info) == INVALID  # not tall
    beyond = A[2].copy()
    beyond[1] = 3
    assert sparse.status("XcsrqrAnalysis", 3, 3, 3, sparse.descriptors[0], A[1], beyond, info) == INVALID
    assert sparse.status("DcsrqrFactor", 3, 3, 3, b, x, info, None) == INVALID


@every_type
def test_least_squares(sparse, letter):
    @each(25, st.integers(1, 20), st.integers(0, 10), st.integers(0, 4), st.integers(0, 1), seeds)
    def _(n, more, lost, base, seed):
        m, lost = n + more, min(lost, n - 1)
        A = thin(seed, letter, m, 2)[:, :n].copy()
        rng = np.random.default_rng(seed)
        given = rng.permutation(n)
        for j in given[:lost]:  # columns that others make
            A[:, j] = A[:, given[lost]] * (2 if j % 2 else 1)
        b = random(seed + 2, letter, m)
        x, p, least = np.zeros(n, LETTERS[letter]), np.full(n, -1, np.int32), np.zeros(1, real(letter))
        rank, (values, *pattern) = ctypes.c_int(), rows_of(A, base)
        sizes = np.linalg.svd(exact(A, letter), compute_uv=False)
        if lost < n and sizes[n - lost - 1] < 0.05:  # its rank is a matter of opinion
            return
        tolerance = 1e-3 if letter in "SC" else 1e-9
        arrays = sparse.descriptors[base], values, *pattern, b
        done(sparse.status(f"{letter}csrlsqvqrHost", m, n, len(values), *arrays, tolerance, rank, x, p, least))
        assert rank.value == n - lost
        assert sorted(p) == list(range(n))
        if not lost:
            assert (p == np.arange(n)).all()
        elif rank.value < n:
            assert np.linalg.matrix_rank(exact(A, letter)[:, p[: rank.value]], 1e-4) == rank.value
        expected = np.linalg.lstsq(exact(A, letter), exact(b, letter), rcond=1e-6)[0]
        condition = sizes[0] / sizes[n - lost - 1]
        bound = condition**2 * (norm(expected) + norm(b) + 1)
        close(x, expected, letter, bound, n)
        close(least, norm(exact(A, letter) @ expected - b), letter, bound * norm(A), n)

    wide_matrix = rows_of(np.ones((2, 3)), 0)
    arguments = sparse.descriptors[0], *wide_matrix, np.ones(2), 0.0, ctypes.c_int(), np.ones(3), np.zeros(3, np.int32)
    assert sparse.status("DcsrlsqvqrHost", 2, 3, 6, *arguments, np.zeros(1)) == INVALID


@every_type
def test_eigenvalues_in_a_box(sparse, letter):
    number = Complex64 if letter in "SC" else Complex128
    call = sparse.solver.file[f"cusolverSp{letter}csreigsHost"]
    pointer, whole = ctypes.c_void_p, ctypes.c_int
    call.argtypes = [pointer, whole, whole, *[pointer] * 4, number, number, pointer]
    for seed in range(4):
        n, base = 15, seed % 2
        A = thin(seed, letter, n, 0)
        A[0, 0] += 1
        values, *pattern = rows_of(A, base)
        eigen = np.linalg.eigvals(exact(A, letter))
        low, high = -0.51 - 1.013j, 1.237 + 0.77j
        inside = (eigen.real >= low.real) & (eigen.real <= high.real) & (eigen.imag >= low.imag) & (eigen.imag <= high.imag)  # fmt: skip
        count = ctypes.c_int(-1)
        arrays = [it.ctypes.data for it in (values, *pattern)]
        corners = number(low.real, low.imag), number(high.real, high.imag)
        status = call(sparse.handle, n, len(values), sparse.descriptors[base], *arrays, *corners, ctypes.addressof(count))  # fmt: skip
        assert status == 0 and count.value == inside.sum()


def fill_of(pattern, order):
    """How many numbers Cholesky's factor of a pattern has in an order."""
    there = (pattern | pattern.T | np.eye(len(pattern), dtype=bool))[np.ix_(order, order)]
    for k in range(len(there)):
        below = np.flatnonzero(there[k + 1 :, k]) + k + 1
        there[np.ix_(below, below)] = True
    return np.tril(there).sum()


def grid(side):
    node = np.arange(side * side).reshape(side, side)
    pattern = np.zeros((side * side,) * 2, bool)
    pattern[node[:, :-1], node[:, 1:]] = pattern[node[:-1], node[1:]] = True
    return pattern | pattern.T


ORDERS = ["csrsymrcm", "csrsymmdq", "csrsymamd", "csrmetisnd"]


@pytest.mark.parametrize("kind", ORDERS)
def test_orders(sparse, kind):
    def order_of(pattern, base):
        n, (_, *arrays) = len(pattern), rows_of(pattern, base)
        p = np.full(n, -1, np.int32)
        options = (None,) if kind == "csrmetisnd" else ()
        done(sparse.status(f"X{kind}Host", n, len(arrays[1]), sparse.descriptors[base], *arrays, *options, p))
        assert sorted(p) == list(range(n))
        return p

    @each(20, st.integers(1, 60), st.floats(0, 0.3), st.integers(0, 1), seeds)
    def _(n, density, base, seed):
        pattern = np.random.default_rng(seed).random((n, n)) < density
        pattern[0, 0] = True  # not empty
        order_of(pattern, base)

    # A grid of which nobody sees that it is one.
    side = 14
    shuffle = np.random.default_rng(3).permutation(side * side)
    pattern = grid(side)[np.ix_(shuffle, shuffle)]
    p = order_of(pattern, 1)
    if kind == "csrsymrcm":
        r, c = np.nonzero(pattern[np.ix_(p, p)])
        assert np.abs(r - c).max() <= 2 * side
    else:
        assert fill_of(pattern, p) < 0.8 * fill_of(grid(side), np.arange(side * side))
    star = np.zeros((40, 40), bool)
    star[7] = star[:, 7] = True
    if "sym" in kind:
        assert fill_of(star, order_of(star, 0)) == 79


def test_least_degree_fills_least_on_trees(sparse):
    """A tree has an order without fill; the node of least degree next finds one."""
    rng = np.random.default_rng(0)
    n = 80
    pattern = np.zeros((n, n), bool)
    names = rng.permutation(n)
    for child in range(1, n):
        pattern[names[child], names[rng.integers(child)]] = True
    _, *arrays = rows_of(pattern, 0)
    for kind in ("csrsymmdq", "csrsymamd"):
        p = np.zeros(n, np.int32)
        done(sparse.status(f"X{kind}Host", n, len(arrays[1]), sparse.descriptors[0], *arrays, p))
        assert fill_of(pattern, p) == 2 * n - 1


def test_permuting(sparse):
    @each(20, st.integers(1, 20), st.integers(1, 20), st.integers(0, 1), seeds)
    def _(m, n, base, seed):
        rng = np.random.default_rng(seed)
        A = np.where(rng.random((m, n)) < 0.4, rng.random((m, n)), 0)
        A[0, 0] = 1
        values, starts, columns = rows_of(A, base)
        p, q = rng.permutation(m).astype(np.int32), rng.permutation(n).astype(np.int32)
        size, map_ = ctypes.c_size_t(), np.arange(len(values), dtype=np.int32)
        matrix = m, n, len(values), sparse.descriptors[base], starts, columns, p, q
        done(sparse.status("Xcsrperm_bufferSizeHost", *matrix, size))
        done(sparse.status("XcsrpermHost", *matrix, map_, np.zeros(size.value, np.uint8)))
        assert (dense_of(values[map_], starts, columns, base, (m, n)) == A[p][:, q]).all()
        if m > 1:
            p[0] = p[1]
            assert sparse.status("XcsrpermHost", *matrix, map_, None) == INVALID


@every_type
def test_a_diagonal_without_zeros(sparse, letter):
    @each(20, st.integers(1, 25), st.booleans(), st.integers(0, 1), seeds)
    def _(n, possible, base, seed):
        rng = np.random.default_rng(seed)
        A = np.where(rng.random((n, n)) < 0.15, random(seed, letter, n, n), 0).astype(LETTERS[letter])
        if possible:
            A[np.arange(n), rng.permutation(n)] = 1
        A[0, 0] += 1
        values, *pattern = rows_of(A, base)
        values[:: max(1, len(values))] *= 1
        p, found = np.full(n, -1, np.int32), ctypes.c_int()
        matrix = n, len(values), sparse.descriptors[base], values, *pattern
        done(sparse.status(f"{letter}csrzfdHost", *matrix, p, found))
        assert sorted(p) == list(range(n))
        assert np.count_nonzero(np.diag(A[p])) >= found.value
        assert found.value == n or not possible
        # Zeros that are stored do not count.
        values[:] = 0
        done(sparse.status(f"{letter}csrzfdHost", *matrix, p, found))
        assert found.value == 0 and sorted(p) == list(range(n))


def test_symmetry_of_a_pattern(sparse):
    rng, answer = np.random.default_rng(0), ctypes.c_int(-1)
    for base in (0, 1):
        pattern = rng.random((9, 9)) < 0.4
        for there, expected in ((pattern | pattern.T, 1), (np.triu(np.ones((9, 9), bool)), 0)):
            _, starts, columns = rows_of(there, base)
            arguments = 9, len(columns), sparse.descriptors[base], starts[:-1].copy(), starts[1:].copy(), columns
            done(sparse.status("XcsrissymHost", *arguments, answer))
            assert answer.value == expected
    ends = starts[1:].copy()
    ends[3] = 100
    assert sparse.status("XcsrissymHost", *arguments[:4], ends, columns, answer) == INVALID
