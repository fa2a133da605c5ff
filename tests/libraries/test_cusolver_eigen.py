"""cuSOLVER, dense: eigenvalues, by what is left of A V - V W in double precision, and against numpy's."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.dense import (
    DATA,
    INVALID,
    LETTERS,
    LOWER,
    NOT_SUPPORTED,
    REAL,
    UPPER,
    Matrix,
    Solver,
    close,
    each,
    extras,
    fills,
    info,
    is_complex,
    name,
    norm,
    orthonormal,
    positive,
    random,
    real,
    seeds,
    sizes,
    symmetric,
    triangle,
    wide,
)  # fmt: skip

pytestmark = pytest.mark.native
every_type = pytest.mark.parametrize("letter", LETTERS)


@pytest.fixture(scope="module")
def solver(library):
    return Solver(library("cusolver", "libcusolver.so.12"))


@pytest.fixture(scope="module")
def jacobi(solver):
    return solver.library.out("cusolverDnCreateSyevjInfo")


def check_pairs(A, W, V, letter, n):
    orthonormal(V, letter)
    close(A @ V, V * W, letter, norm(A), n)
    assert (np.diff(W) >= 0).all()


@every_type
@pytest.mark.parametrize("kind", ["syevd", "Xsyevd", "syevj"])
def test_symmetric(solver, jacobi, letter, kind):
    @each(8, sizes, extras, fills, st.booleans(), seeds)
    def _(n, extra, fill, vectors, seed):
        A, done, W = symmetric(seed, letter, n), info(), np.full(n + 1, 5, real(letter))
        a = Matrix(triangle(A, fill), extra)
        if kind[0] == "X":
            sized = (None, int(vectors), fill, n, DATA[letter], *a, REAL[letter], W, DATA[letter])
            solver(kind, *sized, *solver.work64(kind, *sized), done)
        else:
            called = name(letter, kind, kind.replace("sy", "he"))
            sized, last = (int(vectors), fill, n, *a, W), (jacobi,) if kind == "syevj" else ()
            solver(called, *sized, *solver.work(called, *sized, behind=last), done, *last)
        assert done.value == 0 and W[n] == 5
        values = W[:n].astype(np.float64)
        close(values, np.linalg.eigvalsh(A.astype(wide(letter))), letter, norm(A), n)
        if vectors:
            check_pairs(A, values, a.values, letter, n)


def test_what_jacobi_reports(solver, jacobi):
    n, W, done, rest, sweeps = 20, np.zeros(20), info(), ctypes.c_double(-1), ctypes.c_int(-1)
    a = Matrix(symmetric(1, "D", n))
    size = norm(a.values)
    solver("Dsyevj", 1, LOWER, n, *a, W, None, 0, done, jacobi)
    solver("XsyevjGetResidual", jacobi, rest)
    solver("XsyevjGetSweeps", jacobi, sweeps)
    assert 0 < rest.value < 1e-13 * size and sweeps.value == 0
    solver("DsyevjBatched", 1, LOWER, 2, *Matrix(np.eye(2)), W, None, 0, np.zeros(1, np.int32), jacobi, 1)
    assert solver.status("XsyevjGetResidual", jacobi, rest) == NOT_SUPPORTED
    lib = solver.library
    assert lib.status("cusolverDnXsyevjSetTolerance", jacobi, 1e-7) == 0
    assert lib.status("cusolverDnXsyevjSetTolerance", None, 1e-7) == INVALID


@every_type
@pytest.mark.parametrize("kind", ["syevjBatched", "XsyevBatched"])
def test_batches_of_symmetric(solver, jacobi, letter, kind):
    n, count, ld = 6, 130, 8  # more than there are shares, which use their memory again
    many = [symmetric(seed, letter, n) for seed in range(count)]
    memory = np.full((count, n, ld), 9, LETTERS[letter])
    for i, A in enumerate(many):
        memory[i, :, :n] = A.T
    W, infos = np.zeros((count, n), real(letter)), np.full(count, -1, np.int32)
    if kind[0] == "X":
        sized = (None, 1, UPPER, n, DATA[letter], memory, ld, REAL[letter], W, DATA[letter])
        solver(kind, *sized, *solver.work64(kind, *sized, behind=(count,)), infos, count)
    else:
        called = name(letter, kind, kind.replace("sy", "he"))
        sized = (1, UPPER, n, memory, ld, W)
        solver(called, *sized, *solver.work(called, *sized, behind=(jacobi, count)), infos, jacobi, count)
    assert not infos.any() and (memory[:, :, n:] == 9).all()
    if kind[0] == "X":
        assert solver.status(kind, *sized, None, 0, None, 0, infos, 0) == 0
        assert solver.status(kind, *sized, None, 0, None, 0, infos, -1) == INVALID
    for i, A in enumerate(many):
        check_pairs(A, W[i].astype(np.float64), memory[i, :, :n].T.astype(wide(letter)), letter, n)


@every_type
@pytest.mark.parametrize("kind", ["syevdx", "Xsyevdx"])
def test_some_of_them(solver, letter, kind):
    n = 12
    A = symmetric(2, letter, n)
    every = np.linalg.eigvalsh(A.astype(wide(letter)))
    low, high = (every[2] + every[3]) / 2, (every[8] + every[9]) / 2
    for kinds, begin, end in [
        ((1001, 0, 0, 0, 0), 0, n),
        ((1002, 0, 0, 2, 5), 1, 5),
        ((1003, low, high, 0, 0), 3, 9),
        ((1003, 90, 91, 0, 0), 0, 0),
    ]:
        which, low_, high_, il, iu = kinds
        a, W, done = Matrix(A, 2), np.zeros(n, real(letter)), info()
        if kind[0] == "X":
            found = ctypes.c_int64(-1)
            bounds = np.array([low_], real(letter)), np.array([high_], real(letter))
            sized = (None, 1, which, LOWER, n, DATA[letter], *a, *bounds, il, iu, found, REAL[letter], W, DATA[letter])
            solver(kind, *sized, *solver.work64(kind, *sized), done)
        else:
            found = ctypes.c_int(-1)
            called = name(letter, kind, "heevdx")
            sized = (1, which, LOWER, n, *a, low_, high_, il, iu, found, W)
            solver(called, *sized, *solver.work(called, *sized), done)
        assert (done.value, found.value) == (0, end - begin)
        close(W[: found.value], every[begin:end], letter, norm(A), n)
        check_pairs(A, W[: found.value].astype(np.float64), a.values[:, : found.value], letter, n)
    called = name(letter, "syevdx", "heevdx")
    for which, low_, high_, il, iu in [
        (1000, 0, 1, 1, 1),
        (1002, 0, 1, 0, 1),
        (1002, 0, 1, 3, 2),
        (1002, 0, 1, 1, n + 1),
        (1003, 1, 1, 0, 0),
    ]:
        assert (
            solver.status(called, 1, which, LOWER, n, *a, low_, high_, il, iu, ctypes.c_int(), W, None, 0, done)
            == INVALID
        )


@every_type
@pytest.mark.parametrize("kind", ["sygvd", "sygvj", "sygvdx", "Xsygvd", "Xsygvdx"])
@pytest.mark.parametrize("problem", [1, 2, 3])
def test_generalized(solver, jacobi, letter, kind, problem):
    n, done = 10, info()
    A, B = symmetric(3, letter, n), positive(4, letter, n)
    for fill in (LOWER, UPPER):
        a, b, W, found = Matrix(A, 1), Matrix(B, 2), np.zeros(n, real(letter)), ctypes.c_int64()
        ranged = kind.endswith("x")
        if kind[0] == "X":
            bounds = (None, None, 1, 4, found) if ranged else ()
            sized = (
                None,
                problem,
                1,
                fill,
                n,
                DATA[letter],
                *a,
                DATA[letter],
                *b,
                *bounds,
                REAL[letter],
                W,
                DATA[letter],
            )
            space = solver.work64(kind, *sized)
            solver(kind, *(sized if not ranged else (*sized[:3], 1002, *sized[3:])), *space, done)
        else:
            called = name(letter, kind, kind.replace("sy", "he"))
            sized = (
                problem,
                1,
                *((1002,) if ranged else ()),
                fill,
                n,
                *a,
                *b,
                *((0.0, 0.0, 1, 4, found) if ranged else ()),
                W,
            )
            last = (jacobi,) if kind == "sygvj" else ()
            solver(called, *sized, *solver.work(called, *sized, behind=last), done, *last)
        assert done.value == 0
        count = 4 if ranged else n
        assert not ranged or found.value == 4
        V, W = a.values[:, :count], W[:count].astype(np.float64)
        left, right = [(A @ V, B @ V * W), (A @ (B @ V), V * W), (B @ (A @ V), V * W)][problem - 1]
        close(left, right, letter, norm(A) * norm(B) * norm(V), n)
        L = np.tril(b.values) if fill == LOWER else np.triu(b.values).conj().T
        close(L @ L.conj().T, B, letter, norm(B), n)
    B[1, 1] = -1
    b = Matrix(B)
    called = name(letter, "sygvd", "hegvd")
    solver(called, 1, 1, LOWER, n, *Matrix(A), *b, np.zeros(n, real(letter)), None, 0, done)
    assert done.value == n + 2


@every_type
def test_batches_of_generalized(solver, letter):
    n, count, infos = 5, 3, np.full(3, -1, np.int32)
    A = [symmetric(i, letter, n) for i in range(count)]
    B = [positive(i + 9, letter, n) for i in range(count)]
    a, b = (np.ascontiguousarray([it.T for it in many]) for many in (A, B))
    W = np.zeros((count, n), real(letter))
    kind = DATA[letter]
    sized = (None, 1, 1, LOWER, n, kind, a, n, n * n, kind, b, n, n * n, REAL[letter], W, n, kind, count)
    solver("XsygvStridedBatched", *sized, *solver.work64("XsygvStridedBatched", *sized), infos)
    assert not infos.any()
    for i in range(count):
        V = a[i].T.astype(wide(letter))
        close(A[i] @ V, B[i] @ V * W[i].astype(np.float64), letter, norm(A[i]) * norm(B[i]) * norm(V), n)


@every_type
def test_tridiagonal_form(solver, letter):
    @each(6, st.integers(1, 33), extras, fills, seeds)
    def _(n, extra, fill, seed):
        A, done = symmetric(seed, letter, n), info()
        a, D, E, tau = (
            Matrix(triangle(A, fill), extra),
            np.zeros(n, real(letter)),
            np.zeros(n, real(letter)),
            np.zeros(n, LETTERS[letter]),
        )
        sized = (fill, n, *a, D, E, tau)
        called = name(letter, "sytrd", "hetrd")
        solver(called, *sized, *solver.work(called, *sized), done)
        assert done.value == 0
        T = np.diag(D.astype(np.float64)) + np.diag(E[: n - 1], 1) + np.diag(E[: n - 1], -1)
        # Q^H A Q = T, with A multiplied from both sides by ormtr, and with Q itself by orgtr
        c = Matrix(A, extra)
        called = name(letter, "ormtr", "unmtr")
        for side, trans in [(0, 2 if is_complex(letter) else 1), (1, 0)]:
            sized = (side, fill, trans, n, n, *a, tau, *c)
            solver(called, *sized, *solver.work(called, *sized), done)
            assert done.value == 0
        close(c.values, T, letter, norm(A), n)
        called = name(letter, "orgtr", "ungtr")
        sized = (fill, n, *a, tau)
        solver(called, *sized, *solver.work(called, *sized), done)
        orthonormal(a.values, letter)
        close(a.values @ T @ a.values.conj().T, A, letter, norm(A), n)
        # and from there to eigenvalues
        for compz in (10, 11, 12):
            z, d, e = Matrix(a.values.astype(LETTERS[letter]), extra), D.copy(), E.copy()
            sized = (None, compz, n, REAL[letter], d, e, DATA[letter], *z, DATA[letter])
            solver("Xstedc", *sized, *solver.work64("Xstedc", *sized), done)
            assert done.value == 0
            close(d, np.linalg.eigvalsh(A.astype(wide(letter))), letter, norm(A), n)
            if compz > 10:
                check_pairs(T if compz == 11 else A, d.astype(np.float64), z.values, letter, n)


@every_type
def test_bidiagonal_form(solver, letter):
    @each(6, st.integers(1, 20), st.integers(1, 20), extras, seeds)
    def _(m, n, extra, seed):
        A, done, k = random(seed, letter, m, n), info(), min(m, n)
        a, D, E = Matrix(A, extra), np.zeros(k, real(letter)), np.zeros(k, real(letter))
        tauq, taup = np.zeros(k, LETTERS[letter]), np.zeros(k, LETTERS[letter])
        solver(letter + "gebrd", m, n, *a, D, E, tauq, taup, *solver.work(letter + "gebrd", m, n), done)
        assert done.value == 0
        q, p = (
            Matrix(a.values[:, :k].astype(LETTERS[letter]), extra),
            Matrix(a.values[:k].astype(LETTERS[letter]), extra),
        )
        called = name(letter, "orgbr", "ungbr")
        for side, it, shape, tau in [(0, q, (m, k, n), tauq), (1, p, (k, n, m), taup)]:
            sized = (side, *shape, *it, tau)
            solver(called, *sized, *solver.work(called, *sized), done)
            assert done.value == 0
        B = np.diag(D.astype(np.float64)) + np.diag(E[: k - 1], 1 if m >= n else -1)
        orthonormal(q.values, letter), orthonormal(p.values.conj().T, letter)
        close(q.values @ B @ p.values, A, letter, norm(A), max(m, n))


@every_type
def test_general(solver, letter):
    @each(8, st.integers(0, 20), extras, st.booleans(), st.booleans(), st.booleans(), seeds)
    def _(n, extra, left, complex_w, complex_v, seed):
        A, done, small, large = random(seed, letter, n, n), info(), DATA[letter], DATA[letter] | 4
        a = Matrix(A, extra)
        wide_letter = {"S": "C", "D": "Z"}.get(letter, letter)
        vectors = Matrix(np.zeros((n, n), LETTERS[wide_letter if complex_v else letter]), extra)
        lefts = Matrix(np.zeros((n, n), LETTERS[wide_letter if complex_v else letter]), extra)
        W = np.zeros(n if complex_w or is_complex(letter) else 2 * n, LETTERS[wide_letter if complex_w else letter])
        kind_w, kind_v = (large if complex_w else small), (large if complex_v else small)
        sized = (None, int(left), 1, n, small, *a, kind_w, W, kind_v, *lefts, kind_v, *vectors, small)
        solver("Xgeev", *sized, *solver.work64("Xgeev", *sized), done)
        assert done.value == 0
        values = W.astype(np.complex128) if np.iscomplexobj(W) else W[:n] + 1j * W[n:].astype(np.float64)
        unpacked = []
        for it in (vectors, lefts):
            V = it.values.astype(np.complex128)
            if not complex_v and not is_complex(letter):
                for j in np.flatnonzero(values.imag > 0):
                    V[:, j], V[:, j + 1] = V[:, j] + 1j * V[:, j + 1], V[:, j] - 1j * V[:, j + 1]
            unpacked.append(V)
        V, L = unpacked
        close(A @ V, V * values, letter, norm(A), n)
        close(np.linalg.norm(V, axis=0), np.ones(n), letter, 1, n)
        if left:
            close(L.conj().T @ A, values[:, None] * L.conj().T, letter, norm(A), n)


@every_type
def test_numbers_that_are_none(solver, letter):
    """Nothing hangs, and nothing looks as if it were computed."""
    n, done = 8, info()
    for bad in (np.nan, np.inf):
        A = symmetric(1, letter, n)
        A[2, 2] = bad
        a, w, v, kind = Matrix(A), np.zeros(2 * n, LETTERS[letter]), Matrix(A), DATA[letter]
        solver("Xgeev", None, 0, 1, n, kind, *a, kind, w, kind, None, 1, kind, *v, kind, None, 0, None, 0, done)
        assert done.value > 0 and np.isnan(v.memory).all()
        a, W = Matrix(A), np.zeros(n, real(letter))
        solver("Xsyevd", None, 1, LOWER, n, kind, *a, REAL[letter], W, kind, None, 0, None, 0, done)
        assert done.value > 0 or np.isnan(W).any()
