"""cuSOLVER, dense: singular values, by what is left of A - U S V^H in double precision, and against numpy's."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.dense import (
    DATA,
    INVALID,
    LETTERS,
    NOT_SUPPORTED,
    REAL,
    Matrix,
    Solver,
    close,
    each,
    extras,
    info,
    norm,
    orthonormal,
    random,
    real,
    seeds,
    sizes,
    wide,
)  # fmt: skip

pytestmark = pytest.mark.native
every_type = pytest.mark.parametrize("letter", LETTERS)


@pytest.fixture(scope="module")
def solver(library):
    return Solver(library("cusolver", "libcusolver.so.12"))


@pytest.fixture(scope="module")
def jacobi(solver):
    return solver.library.out("cusolverDnCreateGesvdjInfo")


def empty(letter, rows, columns, extra):
    return Matrix(np.full((rows, columns), 3, LETTERS[letter]), extra)


def check(A, S, U, V, letter, count=None):
    """U and V are what is left and right of S: economy or whole."""
    k = min(A.shape) if count is None else count
    orthonormal(U, letter), orthonormal(V, letter)
    values = S[:k].astype(np.float64)
    assert (np.diff(values) <= 0).all()
    close(values, np.linalg.svd(A.astype(wide(letter)), compute_uv=False)[:k], letter, norm(A), max(A.shape))
    if count is None:
        close(U[:, :k] * values @ V[:, :k].conj().T, A, letter, norm(A), max(A.shape))
    else:
        close(A @ V[:, :k], U[:, :k] * values, letter, norm(A), max(A.shape))


@every_type
@pytest.mark.parametrize("kind", ["gesvd", "Xgesvd"])
def test_by_qr(solver, letter, kind):
    @each(8, sizes, sizes, extras, st.sampled_from(["AA", "SS", "NN", "OS", "SO", "AN", "NS"]), seeds)
    def _(m, n, extra, jobs, seed):
        if kind == "gesvd" and m < n:
            m, n = n, m
        A, done, k = random(seed, letter, m, n), info(), min(m, n)
        a, S = Matrix(A, extra), np.full(k + 1, 5, real(letter))
        u, vt = empty(letter, m, m if jobs[0] == "A" else k, extra), empty(letter, n if jobs[1] == "A" else k, n, extra)
        jobs_ = (ord(jobs[0]), ord(jobs[1]))
        if kind == "gesvd":
            solver(letter + "gesvd", *jobs_, m, n, *a, S, *u, *vt, *solver.work(letter + "gesvd", m, n), None, done)
        else:
            sized = (
                None,
                *jobs_,
                m,
                n,
                DATA[letter],
                *a,
                REAL[letter],
                S,
                DATA[letter],
                *u,
                DATA[letter],
                *vt,
                DATA[letter],
            )
            solver(kind, *sized, *solver.work64(kind, *sized), done)
        assert done.value == 0 and S[k] == 5
        close(S[:k], np.linalg.svd(A.astype(wide(letter)), compute_uv=False), letter, norm(A), max(m, n))
        U = {"O": a.values[:, :k], "N": None}.get(jobs[0], u.values)
        V = {"O": a.values[:k], "N": None}.get(jobs[1], vt.values)
        if U is not None and V is not None:
            check(A, S, U, V.conj().T, letter)
        elif U is not None or V is not None:
            orthonormal(U if V is None else V.conj().T, letter)


def test_what_gesvd_refuses(solver):
    a, S, done = Matrix(np.ones((3, 4))), np.zeros(4), info()
    assert solver.status("Dgesvd", ord("A"), ord("A"), 3, 4, *a, S, *a, *a, None, 0, None, done) == INVALID  # m < n
    a = Matrix(np.ones((4, 3)))
    for jobs in ("OO", "AX"):
        assert solver.status("Dgesvd", ord(jobs[0]), ord(jobs[1]), 4, 3, *a, S, *a, *a, None, 0, None, done) == INVALID
    assert solver.status("Dgesvd", ord("A"), ord("A"), 4, 3, *a, S, a.memory, 3, *a, None, 0, None, done) == INVALID
    assert solver.status("Dgesvd_bufferSize", 3, 4, done) == INVALID
    assert solver.status("Dgesvdj", 1, 0, 4, 3, *a, S, *a, *a, None, 0, done, None) == INVALID


@every_type
@pytest.mark.parametrize("kind", ["gesvdj", "Xgesvdp"])
def test_by_other_methods(solver, jacobi, letter, kind):
    @each(8, sizes, sizes, extras, st.booleans(), st.booleans(), seeds)
    def _(m, n, extra, vectors, economy, seed):
        A, done, k, error = random(seed, letter, m, n), info(), min(m, n), ctypes.c_double(-1)
        a, S = Matrix(A, extra), np.full(k + 1, 5, real(letter))
        u, v = empty(letter, m, k if economy else m, extra), empty(letter, n, k if economy else n, extra)
        if kind == "gesvdj":
            sized = (int(vectors), int(economy), m, n, *a, S, *u, *v)
            solver(letter + kind, *sized, *solver.work(letter + kind, *sized, behind=(jacobi,)), done, jacobi)
        else:
            sized = (
                None,
                int(vectors),
                int(economy),
                m,
                n,
                DATA[letter],
                *a,
                REAL[letter],
                S,
                DATA[letter],
                *u,
                DATA[letter],
                *v,
                DATA[letter],
            )
            solver(kind, *sized, *solver.work64(kind, *sized), done, error)
            assert error.value == 0
        assert done.value == 0 and S[k] == 5
        close(S[:k], np.linalg.svd(A.astype(wide(letter)), compute_uv=False), letter, norm(A), max(m, n))
        if vectors:
            check(A, S, u.values, v.values, letter)
        if vectors and kind == "gesvdj":
            solver("XgesvdjGetResidual", jacobi, error)
            close(error.value, 0.0, letter, norm(A), max(m, n))


@every_type
def test_the_first_few(solver, letter):
    m, n, k, done = 14, 9, 4, info()
    A = random(1, letter, m, n)
    for jobs in ("SS", "SN", "NS", "NN"):
        a, u, v, S = Matrix(A, 1), empty(letter, m, k, 2), empty(letter, n, k, 1), np.full(n, 5, real(letter))
        jobs_ = (ord(jobs[0]), ord(jobs[1]))
        sized = (
            None,
            *jobs_,
            m,
            n,
            k,
            2,
            2,
            DATA[letter],
            *a,
            REAL[letter],
            S,
            DATA[letter],
            *u,
            DATA[letter],
            *v,
            DATA[letter],
        )
        solver("Xgesvdr", *sized, *solver.work64("Xgesvdr", *sized), done)
        assert done.value == 0
        if jobs == "SS":
            check(A, S, u.values, v.values, letter, k)
        assert (u.values == 3).all() == (jobs[0] == "N") and (v.values == 3).all() == (jobs[1] == "N")
    assert (
        solver.status("Xgesvdr", None, 83, 83, m, n, 8, 2, *sized[7:], None, 0, None, 0, done) == INVALID
    )  # k + p > n


@every_type
@pytest.mark.parametrize(("m", "n"), [(5, 3), (3, 5), (4, 4), (1, 1)])
def test_batches(solver, jacobi, letter, m, n):
    count, k = 4, min(m, n)
    A = np.stack([random(seed, letter, n, m + 1) for seed in range(count)])
    S, infos = np.zeros((count, k), real(letter)), np.full(count, -1, np.int32)
    U, V = np.zeros((count, m, m + 2), LETTERS[letter]), np.zeros((count, n, n + 1), LETTERS[letter])
    a = A.copy()
    sized = (1, m, n, a, m + 1, S, U, m + 2, V, n + 1)
    space = solver.work(letter + "gesvdjBatched", *sized, behind=(jacobi, count))
    solver(letter + "gesvdjBatched", *sized, *space, infos, jacobi, count)
    assert not infos.any()
    for i in range(count):
        check(A[i, :, :m].T, S[i], U[i, :, :m].T.astype(wide(letter)), V[i, :, :n].T.astype(wide(letter)), letter)


@every_type
def test_approximate_batches(solver, letter):
    m, n, count = 9, 5, 3
    for rank in (5, 3):
        A = np.stack([random(seed, letter, n, m) for seed in range(count)])
        before = A.copy()
        S, infos, norms = np.zeros((count, 7), real(letter)), np.full(count, -1, np.int32), np.full(count, -1.0)
        U, V = np.zeros((count, rank, m), LETTERS[letter]), np.zeros((count, rank, n), LETTERS[letter])
        sized = (1, rank, m, n, A, m, m * n, S, 7, U, m, m * rank, V, n, n * rank)
        space = solver.work(letter + "gesvdaStridedBatched", *sized, behind=(count,))
        solver(letter + "gesvdaStridedBatched", *sized, *space, infos, norms, count)
        assert not infos.any() and (before == A).all()
        for i in range(count):
            check(A[i].T, S[i], U[i].T.astype(wide(letter)), V[i].T.astype(wide(letter)), letter, rank)
            left = np.linalg.svd(A[i].astype(wide(letter)), compute_uv=False)[rank:]
            close(norms[i], norm(left), letter, norm(A[i]), m)


@every_type
def test_numbers_that_are_none(solver, jacobi, letter):
    A = random(1, letter, 4, 3)
    A[1, 1] = np.nan
    a, u, v, S, done = Matrix(A), empty(letter, 4, 3, 0), empty(letter, 3, 3, 0), np.zeros(3, real(letter)), info()
    solver(letter + "gesvdj", 1, 1, 4, 3, *a, S, *u, *v, None, 0, done, jacobi)
    assert done.value == 4 and np.isnan(S).all() and np.isnan(u.memory).all() and np.isnan(v.memory).all()
    a = Matrix(A)
    solver(letter + "gesvd", 65, 65, 4, 3, *a, S, *empty(letter, 4, 4, 0), *v, None, 0, None, done)
    assert done.value > 0 or np.isnan(S).any()


def test_what_is_not_there_says_so(solver):
    assert solver.library.status("cusolverRfSetupM", ctypes.c_void_p()) == NOT_SUPPORTED


@every_type
def test_polar(solver, letter):
    @each(15, sizes, sizes, extras, extras, st.booleans(), seeds)
    def _(rows, columns, extra_a, extra_h, deficient, seed):
        m, n = max(rows, columns), min(rows, columns)
        A = random(seed, letter, m, n)
        if deficient and n > 1:
            A[:, 0] = A[:, -1]
        U, H = Matrix(A, extra_a), empty(letter, n, n, extra_h)
        told, done = [np.full(1, -7.0) for _ in range(3)], info()
        call = None, seed % 2, m, n, DATA[letter], *U, DATA[letter], *H, DATA[letter]
        solver("Xpolar", *call, *solver.work64("Xpolar", *call), *told, done)
        assert done.value == 0
        orthonormal(U.values, letter)
        close(U.values @ H.values, A, letter, norm(A), m)
        close(H.values, H.values.conj().T, letter, 0, n)
        residual, size, rcond = (value[0] for value in told)
        close(size, norm(A.astype(wide(letter))), letter, norm(A), m)
        if n:
            values = np.linalg.svd(A.astype(wide(letter)), compute_uv=False)
            close(np.linalg.eigvalsh(H.values)[::-1], values, letter, norm(A), m)
            close(rcond, values[-1] / values[0], letter, 1, m)
            close(residual, np.linalg.norm(U.values @ H.values - A, 2), letter, norm(A), m)

    small = Matrix(np.ones((2, 3), LETTERS[letter]), 0), Matrix(np.ones((3, 3), LETTERS[letter]), 0)
    call = None, 0, 2, 3, DATA[letter], *small[0], DATA[letter], *small[1], DATA[letter]
    assert solver.status("Xpolar_bufferSize", *call, ctypes.c_size_t(), ctypes.c_size_t()) == INVALID
