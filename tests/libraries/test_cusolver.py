"""cuSOLVER, dense: factorizations and solvers, by what is left when their factors are multiplied again, in double precision."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.dense import (
    DATA,
    INVALID,
    LETTERS,
    LOWER,
    NOT_INITIALIZED,
    NOT_SUPPORTED,
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
    seeds,
    sizes,
    symmetric,
    triangle,
)  # fmt: skip

pytestmark = pytest.mark.native
every_type = pytest.mark.parametrize("letter", LETTERS)


@pytest.fixture(scope="module")
def solver(library):
    return Solver(library("cusolver", "libcusolver.so.12"))


def lower(A, fill):
    """L of what potrf leaves: A = L L^H."""
    return np.tril(A) if fill == LOWER else np.triu(A).conj().T


@every_type
def test_cholesky(solver, letter):
    @each(8, sizes, st.integers(0, 4), extras, fills, seeds)
    def _(n, nrhs, extra, fill, seed):
        A, B, done = positive(seed, letter, n), random(seed, letter, n, nrhs), info()
        a, b = Matrix(triangle(A, fill), extra), Matrix(B, extra)
        solver(letter + "potrf", fill, n, *a, *solver.work(letter + "potrf", fill, n, *a), done)
        assert done.value == 0
        L = lower(a.values, fill)
        close(L @ L.conj().T, A, letter, norm(A), n)
        solver(letter + "potrs", fill, n, nrhs, *a, *b, done)
        assert done.value == 0
        close(A @ b.values, B, letter, norm(A) * norm(b.values), n)
        solver(letter + "potri", fill, n, *a, *solver.work(letter + "potri", fill, n, *a), done)
        half = np.tril(a.values) if fill == LOWER else np.triu(a.values)
        inverse = half + half.conj().T - np.diag(np.diag(half))
        close(A.astype(inverse.dtype) @ inverse, np.eye(n), letter, norm(A) * norm(inverse), n)


@every_type
def test_what_is_not_positive_definite_is_named(solver, letter):
    A, done = positive(1, letter, 6), info()
    A[3, 3] = -1
    a = Matrix(A)
    solver(letter + "potrf", UPPER, 6, *a, *solver.work(letter + "potrf", UPPER, 6, *a), done)
    assert done.value == 4


@every_type
def test_batches_of_cholesky(solver, letter):
    n, count = 5, 7
    many = [positive(seed, letter, n) for seed in range(count)]
    many[2][1, 1] = -1
    a = [Matrix(A, 2) for A in many]
    pointers = (ctypes.c_void_p * count)(*[it.memory.ctypes.data for it in a])
    infos = np.full(count, -1, np.int32)
    solver(letter + "potrfBatched", LOWER, n, pointers, a[0].ld, infos, count)
    assert list(infos) == [0, 0, 2, 0, 0, 0, 0]
    b = [Matrix(random(seed, letter, n, 1), 1) for seed in range(count)]
    before = [it.values for it in b]
    sides = (ctypes.c_void_p * count)(*[it.memory.ctypes.data for it in b])
    done = info()
    solver(letter + "potrsBatched", LOWER, n, 1, pointers, a[0].ld, sides, b[0].ld, done, count)
    assert done.value == 0
    for i in set(range(count)) - {2}:
        close(many[i] @ b[i].values, before[i], letter, norm(many[i]) * norm(b[i].values), n)


@every_type
def test_triangles(solver, letter):
    n, done = 13, info()
    A = positive(3, letter, n)
    for fill in (LOWER, UPPER):
        half = np.tril(A) if fill == LOWER else np.triu(A)
        a = Matrix(triangle(A, fill), 2)
        solver(letter + "lauum", fill, n, *a, *solver.work(letter + "lauum", fill, n, *a), done)
        wanted = half.conj().T @ half if fill == LOWER else half @ half.conj().T
        got = np.tril(a.values) if fill == LOWER else np.triu(a.values)
        close(got, np.tril(wanted) if fill == LOWER else np.triu(wanted), letter, norm(A) ** 2, n)
        for unit in (0, 1):
            b = Matrix(A, 1)
            space = solver.work64("Xtrtri", fill, unit, n, DATA[letter], *b)
            solver("Xtrtri", fill, unit, n, DATA[letter], *b, *space, done)
            inverse = np.tril(b.values) if fill == LOWER else np.triu(b.values)
            one = half.astype(inverse.dtype)
            if unit:
                np.fill_diagonal(one, 1), np.fill_diagonal(inverse, 1)
            close(inverse @ one, np.eye(n), letter, norm(one) * norm(inverse), n)
    a = Matrix(np.triu(A))
    a.memory[4, 4] = 0
    solver("Xtrtri", UPPER, 0, n, DATA[letter], *a, *solver.work64("Xtrtri", UPPER, 0, n, DATA[letter], *a), done)
    assert done.value == 5


def unpermuted(pivots, rows):
    order = list(range(rows))
    for i, p in enumerate(pivots):
        order[i], order[p - 1] = order[p - 1], order[i]
    return order


@every_type
@pytest.mark.parametrize("width", [32, 64])
def test_lu(solver, letter, width):
    @each(8, sizes, sizes, extras, st.booleans(), seeds)
    def _(m, n, extra, pivoting, seed):
        A, done, k = random(seed, letter, m, n), info(), min(m, n)
        if not pivoting:
            A += 2 * max(m, n) * np.eye(m, n, dtype=A.dtype)
        a, pivots = Matrix(A, extra), np.full(k, -1, np.int32 if width == 32 else np.int64)
        at = pivots if pivoting else None
        if width == 32:
            solver(letter + "getrf", m, n, *a, solver.work(letter + "getrf", m, n, *a)[0], at, done)
        else:
            space = solver.work64("Xgetrf", None, m, n, DATA[letter], *a, DATA[letter])
            solver("Xgetrf", None, m, n, DATA[letter], *a, at, DATA[letter], *space, done)
        assert done.value == 0
        L, U = np.tril(a.values[:, :k], -1) + np.eye(m, k), np.triu(a.values[:k])
        order = unpermuted(pivots, m) if pivoting else list(range(m))
        close(L @ U, A[order], letter, norm(L) * norm(U), max(m, n))


@every_type
@pytest.mark.parametrize("width", [32, 64])
def test_solving_by_lu(solver, letter, width):
    @each(8, sizes, st.integers(0, 4), extras, st.sampled_from([0, 1, 2]), st.booleans(), seeds)
    def _(n, nrhs, extra, trans, pivoting, seed):
        A, B, done = random(seed, letter, n, n), random(seed + 1, letter, n, nrhs), info()
        A += 2 * n * np.eye(n, dtype=A.dtype)
        a, b, pivots = Matrix(A, extra), Matrix(B, extra), np.zeros(n, np.int32 if width == 32 else np.int64)
        at = pivots if pivoting else None
        if width == 32:
            solver(letter + "getrf", n, n, *a, None, at, done)
            solver(letter + "getrs", trans, n, nrhs, *a, at, *b, done)
        else:
            solver("Xgetrf", None, n, n, DATA[letter], *a, at, DATA[letter], None, 0, None, 0, done)
            solver("Xgetrs", None, trans, n, nrhs, DATA[letter], *a, at, DATA[letter], *b, done)
        assert done.value == 0
        op = [A, A.T, A.conj().T][trans]
        close(op @ b.values, B, letter, norm(A) * norm(b.values), n)


@every_type
@pytest.mark.parametrize("pivoting", [True, False])
def test_a_singular_matrix_is_factorized_and_named(solver, letter, pivoting):
    A, done = np.triu(random(5, letter, 6, 6)) + 3 * np.eye(6, dtype=LETTERS[letter]), info()
    A[:, 2] = 0
    a, pivots = Matrix(A), np.zeros(6, np.int32)
    solver(letter + "getrf", 6, 6, *a, None, pivots if pivoting else None, done)
    assert done.value == 3
    close(a.values, A, letter, norm(A), 6)


@every_type
def test_exchanging_rows(solver, letter):
    A = random(1, letter, 5, 4)
    a, pivots = Matrix(A, 2), np.array([3, 2, 5], np.int32)
    a.rows, a.ld = 7, 7
    a.memory[5:] = 0
    solver(letter + "laswp", 4, a.memory, 7, 1, 3, pivots, 1)
    assert (a.memory[:5] == A[unpermuted(pivots, 5)]).all()
    solver(letter + "laswp", 4, a.memory, 7, 1, 3, pivots, -1)
    assert (a.memory[:5] == A).all()
    assert solver.status(letter + "laswp", 4, a.memory, 7, 0, 3, pivots, 1) == INVALID


@every_type
@pytest.mark.parametrize("width", [32, 64])
def test_qr(solver, letter, width):
    @each(8, sizes, sizes, extras, seeds)
    def _(m, n, extra, seed):
        A, done, k = random(seed, letter, m, n), info(), min(m, n)
        a, tau = Matrix(A, extra), np.full(k + 1, 5, LETTERS[letter])
        if width == 32:
            solver(letter + "geqrf", m, n, *a, tau, *solver.work(letter + "geqrf", m, n, *a), done)
        else:
            sized = (None, m, n, DATA[letter], *a, DATA[letter], tau, DATA[letter])
            solver("Xgeqrf", *sized, *solver.work64("Xgeqrf", *sized), done)
        assert done.value == 0 and tau[k] == 5
        R, q = np.triu(a.values[:k]), Matrix(a.values[:, :k].astype(LETTERS[letter]), extra)
        called = name(letter, "orgqr", "ungqr")
        solver(called, m, k, k, *q, tau, *solver.work(called, m, k, k, *q, tau), done)
        assert done.value == 0
        orthonormal(q.values, letter)
        close(q.values @ R, A, letter, norm(A), max(m, n))
        # the same factor, whole, multiplied from each side
        transposed = 2 if is_complex(letter) else 1
        called = name(letter, "ormqr", "unmqr")
        for side, trans in [(0, 0), (0, transposed), (1, 0), (1, transposed)]:
            C = random(seed + 1, letter, *((m, 3) if side == 0 else (3, m)))
            c, back = Matrix(C, extra), Matrix(C, extra)
            for it, op in ((c, trans), (back, trans), (back, transposed - trans)):
                sized = (side, op, *C.shape, k, *a, tau, *it)
                solver(called, *sized, *solver.work(called, *sized), done)
                assert done.value == 0
            close(back.values, C, letter, norm(C), m)
            if side == 0 and trans:
                close(c.values[:k], q.values.conj().T @ C, letter, norm(C), m)


@every_type
def test_block_reflectors(solver, letter):
    n, k, done = 9, 4, info()
    a, tau = Matrix(random(2, letter, n, k), 1), np.zeros(k, LETTERS[letter])
    solver(letter + "geqrf", n, k, *a, tau, *solver.work(letter + "geqrf", n, k, *a), done)
    t = Matrix(np.zeros((k, k), LETTERS[letter]), 1)
    kinds = (DATA[letter],)
    solver("Xlarft", None, 0, 0, n, k, *kinds, *a, *kinds, tau, *kinds, *t, *kinds, None, 0, None, 0)
    V = np.tril(a.values, -1)
    np.fill_diagonal(V, 1)
    block = np.eye(n) - V @ np.triu(t.values) @ V.conj().T
    product = np.eye(n)
    for i in range(k):
        product = product @ (np.eye(n) - tau[i] * np.outer(V[:, i], V[:, i].conj()))
    close(block, product, letter, 1, n)
    assert (
        solver.status("Xlarft", None, 1, 0, n, k, *kinds, *a, *kinds, tau, *kinds, *t, *kinds, None, 0, None, 0)
        == NOT_SUPPORTED
    )


@every_type
@pytest.mark.parametrize("pivoting", [True, False])
@pytest.mark.parametrize("kind", ["sytrf", "Xsytrf", "Xhetrf"])
def test_indefinite(solver, letter, kind, pivoting):
    @each(6, sizes, st.integers(0, 4), extras, fills, seeds)
    def _(n, nrhs, extra, fill, seed):
        A = random(seed, letter, n, n)
        A = A + (A.conj().T if kind == "Xhetrf" else A.T)
        if not pivoting:
            A += 3 * n * np.diag((-1.0) ** np.arange(n)).astype(A.dtype)
        B, done = random(seed + 1, letter, n, nrhs), info()
        a, b = Matrix(triangle(A, fill), extra), Matrix(B, extra)
        pivots, wide = (np.zeros(n, np.int32), np.zeros(n, np.int64)) if pivoting else (None, None)
        kinds = DATA[letter]
        if kind == "sytrf":
            solver(letter + "sytrf", fill, n, *a, pivots, *solver.work(letter + "sytrf", n, *a), done)
            wide = pivots.astype(np.int64) if pivoting else None
        else:
            space = solver.work64(kind, None, fill, n, kinds, *a, wide, kinds)
            solver(kind, None, fill, n, kinds, *a, wide, kinds, *space, done)
        assert done.value == 0
        sized = (fill, n, nrhs, kinds, *a, wide, kinds, *b)
        if kind == "Xhetrf":
            sized = (None, *sized)
        solve = "Xhetrs" if kind == "Xhetrf" else "Xsytrs"
        solver(solve, *sized, *solver.work64(solve, *sized), done)
        assert done.value == 0
        # Bunch and Kaufman's factors can grow; the solution's own size stands for how far
        close(A @ b.values, B, letter, 10 * norm(A) * norm(b.values), n)
        if kind == "sytrf":
            solver(letter + "sytri", fill, n, *a, pivots, *solver.work(letter + "sytri", fill, n, *a, pivots), done)
            half = np.tril(a.values) if fill == LOWER else np.triu(a.values)
            inverse = half + half.T - np.diag(np.diag(half))
            close(A.astype(inverse.dtype) @ inverse, np.eye(n), letter, 10 * norm(A) * norm(inverse), n)


@every_type
def test_sixty_four_bits_of_cholesky(solver, letter):
    n, done = 11, info()
    A, B = positive(4, letter, n), random(5, letter, n, 2)
    a, b, kind = Matrix(A, 1), Matrix(B, 2), DATA[letter]
    space = solver.work64("Xpotrf", None, LOWER, n, kind, *a, kind)
    solver("Xpotrf", None, LOWER, n, kind, *a, kind, *space, done)
    solver("Xpotrs", None, LOWER, n, 2, kind, *a, kind, *b, done)
    close(A @ b.values, B, letter, norm(A) * norm(b.values), n)
    assert solver.status("Xpotrf", None, LOWER, n, kind, *a, kind ^ 1, *space, done) == INVALID
    assert solver.status("Xpotrf", None, LOWER, 2**31, kind, a.memory, 2**31, kind, *space, done) == NOT_SUPPORTED
    assert solver.status("Xpotrf", None, LOWER, n, 2, *a, 2, *space, done) == NOT_SUPPORTED  # CUDA_R_16F


REFINED = ["SS", "SH", "SB", "SX", "DD", "DS", "DH", "DB", "DX", "CC", "CK", "CE", "CY", "ZZ", "ZC", "ZK", "ZE", "ZY"]


@pytest.mark.parametrize("kind", REFINED)
def test_refinement(solver, kind):
    letter, m, n, nrhs = kind[0], 12, 7, 3
    A, B, done, iterations = random(1, letter, m, n), random(2, letter, m, nrhs), info(), info()
    for call in ("gesv", "gels"):
        rows = n if call == "gesv" else m
        a, b, x = Matrix(A[:rows], 1), Matrix(B[:rows], 2), Matrix(np.zeros((n, nrhs), LETTERS[letter]), 3)
        pivots = (np.zeros(n, np.int32),) if call == "gesv" else ()
        sized = (*((n,) if call == "gesv" else (m, n)), nrhs, *a, *pivots, *b, *x)
        size = ctypes.c_size_t()
        solver.library(f"cusolverDn{kind}{call}_bufferSize", solver.handle, *sized, None, size)
        solver(kind + call, *sized, np.empty(size.value, np.uint8), size.value, iterations, done)
        assert (done.value, iterations.value) == (0, 0)
        assert (a.values == A[:rows]).all() and (b.values == B[:rows]).all()
        rest = a.values @ x.values - B[:rows]
        close(a.values.conj().T @ rest, 0 * x.values, letter, norm(A) ** 2 * (norm(x.values) + norm(B)), m)
        if call == "gesv":
            close(rest, 0 * rest, letter, norm(A) * norm(x.values), n)


def test_refinement_with_parameters(solver):
    lib, n, done, iterations = solver.library, 6, info(), info()
    params, infos = lib.out("cusolverDnIRSParamsCreate"), lib.out("cusolverDnIRSInfosCreate")
    A, B = random(1, "D", n, n), random(2, "D", n, 1)
    a, b, x = Matrix(A), Matrix(B), Matrix(np.zeros((n, 1)))
    size = ctypes.c_size_t()
    assert solver.status("IRSXgesv_bufferSize", params, n, 1, size) == 15  # IRS_PARAMS_INVALID_REFINE
    lib("cusolverDnIRSParamsSetRefinementSolver", params, 1104)
    assert solver.status("IRSXgesv_bufferSize", params, n, 1, size) == 14  # IRS_PARAMS_INVALID_PREC
    lib("cusolverDnIRSParamsSetSolverPrecisions", params, 1203, 1204)
    solver("IRSXgesv_bufferSize", params, n, 1, size)
    solver("IRSXgesv", params, infos, n, 1, *a, *b, *x, np.empty(size.value, np.uint8), size.value, iterations, done)
    assert (done.value, iterations.value) == (0, 0)
    close(A @ x.values, B, "D", norm(A) * norm(x.values), n)
    assert lib.status("cusolverDnIRSInfosGetNiters", infos, iterations) == 0
    assert lib.status("cusolverDnIRSInfosRequestResidual", infos) == NOT_SUPPORTED
    lib("cusolverDnIRSInfosDestroy", infos)
    lib("cusolverDnIRSParamsDestroy", params)


def test_what_is_invalid_is_refused(solver):
    a, done = Matrix(symmetric(1, "D", 4)), info()
    tau = np.zeros(4)
    refused = [
        ("Dpotrf", 2, 4, *a, None, 0, done), ("Dpotrf", 0, -1, *a, None, 0, done), ("Dpotrf", 0, 4, a.memory, 3, None, 0, done),
        ("Dpotrs", 0, 4, -1, *a, *a, done), ("Dgetrf", 4, -4, *a, None, tau, done), ("Dgetrf", 4, 4, a.memory, 3, None, tau, done),
        ("Dgetrs", 3, 4, 1, *a, tau, *a, done), ("Dgetrs", 0, 4, 1, *a, tau, a.memory, 3, done), ("Dgeqrf", 5, 4, *a, tau, None, 0, done),
        ("Dorgqr", 4, 5, 4, *a, tau, None, 0, done), ("Dormqr", 2, 0, 4, 4, 4, *a, tau, *a, None, 0, done),
        ("DpotrfBatched", 0, 4, None, 4, None, -1), ("Dsytrf", 0, 4, a.memory, 0, tau, None, 0, done),
        ("DDgels", 3, 4, 1, *a, *a, *a, None, 0, done, done),
    ]  # fmt: skip
    for call in refused:
        assert solver.status(*call) == INVALID, call
    assert done.value == -77
    assert solver.library.status("cusolverDnDpotrf", None, 0, 4, *a, None, 0, done) == NOT_INITIALIZED


def test_what_is_set_is_kept(solver):
    lib, value = solver.library, ctypes.c_int()
    for name_, good, bad in [("DeterministicMode", 2, 3), ("MathMode", 4, 7), ("EmulationStrategy", 2, 3)]:
        solver("Set" + name_, good)
        solver("Get" + name_, value)
        assert value.value == good
        assert solver.status("Set" + name_, bad) == INVALID
    parts = []
    for part in range(3):
        lib("cusolverGetProperty", part, value)
        parts.append(value.value)
    lib("cusolverGetVersion", value)
    assert value.value == parts[0] * 1000 + parts[1] * 100 + parts[2] and parts[0] == 12
    params = lib.out("cusolverDnCreateParams")
    lib("cusolverDnSetAdvOptions", params, 0, 1)
    assert lib.status("cusolverDnSetAdvOptions", params, 0, 9) == INVALID
    lib("cusolverDnDestroyParams", params)


def test_under_capture(solver):
    cuda = solver.library._cuda
    stream, graph, run = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 0) == 0
    A, B, done = random(1, "D", 6, 6), random(2, "D", 6, 2), info()
    a, b, pivots = Matrix(A), Matrix(B), np.zeros(6, np.int32)
    solver("SetStream", stream.value)
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    solver("Dgetrf", 6, 6, *a, None, pivots, done)
    solver("Dgetrs", 0, 6, 2, *a, pivots, *b, done)
    found = ctypes.c_int()
    assert (
        solver.status("Dsyevdx", 1, 1003, 0, 6, *a, 0.0, 1.0, 0, 0, found, b.memory, None, 0, done) == NOT_SUPPORTED
    )  # found: the host's
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    assert done.value == -77 and (a.values == A).all()
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(run), graph, ctypes.c_ulonglong(0)) == 0
    for seed in (3, 4):
        a.memory[:], b.memory[:] = A + seed * np.eye(6), random(seed, "D", 6, 2)
        wanted = a.values, b.values
        assert cuda.cuGraphLaunch(run, stream) == 0 and cuda.cuStreamSynchronize(stream) == 0
        assert done.value == 0
        close(wanted[0] @ b.values, wanted[1], "D", norm(wanted[0]) * norm(b.values), 6)
    solver("SetStream", None)
    cuda.cuStreamDestroy_v2(stream)


def test_too_little_memory_is_made_up_for(solver):
    n, done = 40, info()
    A, W = symmetric(1, "D", n), np.zeros(n)
    a = Matrix(A)
    solver("Dsyevd", 1, LOWER, n, *a, W, np.empty(1), 1, done)
    assert done.value == 0
    close(A @ a.values, a.values * W, "D", norm(A), n)


WILD = """
import ctypes, sys
import numpy as np
from libraries.dense import Matrix, Solver, info, random
from libraries.loading import Library

solver, done = Solver(Library("cusolver", "libcusolver.so.12")), info()
a, cuda = Matrix(random(1, "D", 40, 40)), solver.library._cuda
print(solver.status("Dgetrf", 40, 40, 0x100000, 40, None, np.zeros(40, np.int32), done), done.value, cuda.cuCtxSynchronize())
print(solver.status("Dpotrf", 0, 40, *a, None, 0, done), cuda.cuCtxSynchronize())
"""


def test_a_wild_address_is_an_error_of_the_context(solver):
    ran = subprocess.run(
        [sys.executable, "-c", WILD],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    first, later = ran.stdout.splitlines()
    assert first.split()[1:] == ["-77", "700"], ran.stdout  # CUDA_ERROR_ILLEGAL_ADDRESS
    assert later.split()[0] != "0" and later.split()[1] == "700", ran.stdout


@every_type
def test_without_pivoting_a_zero_ends_it(solver, letter):
    a, done, pivots = Matrix(np.array([[0, 1], [1, 0]], LETTERS[letter])), info(), np.zeros(2, np.int32)
    for fill, wanted in ((LOWER, 1), (UPPER, 2)):
        solver(letter + "sytrf", fill, 2, *Matrix(a.values.astype(LETTERS[letter])), None, None, 0, done)
        assert done.value == wanted
    solver(letter + "sytrf", LOWER, 2, *a, pivots, None, 0, done)
    assert done.value == 0 and list(pivots) == [-2, -2]
