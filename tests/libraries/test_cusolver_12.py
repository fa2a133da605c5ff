"""What cuSOLVER of CUDA 12 alone has: the first form of the 64-bit interface."""

import ctypes

import numpy as np
import pytest

from libraries.dense import (
    DATA,
    LETTERS,
    LOWER,
    REAL,
    Matrix,
    Solver,
    close,
    info,
    norm,
    orthonormal,
    positive,
    random,
    real,
    symmetric,
    wide,
)

pytestmark = pytest.mark.native
every_type = pytest.mark.parametrize("letter", LETTERS)
N = 9


@pytest.fixture(scope="module")
def solver(library):
    return Solver(library("cusolver", "libcusolver.so.11", 12))


def run(solver, name, *arguments, sized=None):
    """Call it with the memory that it asks for."""
    size, done = ctypes.c_size_t(2**60), info()
    solver(name + "_bufferSize", *(sized or arguments), size)
    solver(name, *arguments, np.empty(size.value, np.uint8), size.value, done)
    assert done.value == 0


@every_type
def test_solving(solver, letter):
    kind, B, done = DATA[letter], random(1, letter, N, 2), info()
    A = positive(2, letter, N)
    a, b = Matrix(A, 1), Matrix(B, 2)
    run(solver, "Potrf", None, LOWER, N, kind, *a, kind)
    solver("Potrs", None, LOWER, N, 2, kind, *a, kind, *b, done)
    close(A @ b.values, B, letter, norm(A) * norm(b.values), N)
    a, b, pivots = Matrix(A, 1), Matrix(B, 2), np.zeros(N, np.int64)
    run(solver, "Getrf", None, N, N, kind, *a, pivots, kind, sized=(None, N, N, kind, *a, kind))
    solver("Getrs", None, 0, N, 2, kind, *a, pivots, kind, *b, done)
    close(A @ b.values, B, letter, norm(A) * norm(b.values), N)


@every_type
def test_orthogonal_factors(solver, letter):
    kind, A = DATA[letter], random(1, letter, N, N)
    a, tau = Matrix(A, 1), np.zeros(N, LETTERS[letter])
    run(solver, "Geqrf", None, N, N, kind, *a, kind, tau, kind)
    R = np.triu(a.values)
    close(R.conj().T @ R, A.astype(wide(letter)).conj().T @ A, letter, norm(A) ** 2, N)
    a, u, vt, S = Matrix(A, 1), Matrix(0 * A, 2), Matrix(0 * A, 3), np.zeros(N, real(letter))
    run(solver, "Gesvd", None, ord("A"), ord("A"), N, N, kind, *a, REAL[letter], S, kind, *u, kind, *vt, kind)
    close(u.values * S @ vt.values, A, letter, norm(A), N)


@every_type
def test_eigenvalues(solver, letter):
    kind, A = DATA[letter], symmetric(1, letter, N)
    every = np.linalg.eigvalsh(A.astype(wide(letter)))
    a, W = Matrix(A, 1), np.zeros(N, real(letter))
    run(solver, "Syevd", None, 1, LOWER, N, kind, *a, REAL[letter], W, kind)
    close(W, every, letter, norm(A), N)
    orthonormal(a.values, letter)
    a, found = Matrix(A, 1), ctypes.c_int64()
    run(solver, "Syevdx", None, 1, 1002, LOWER, N, kind, *a, None, None, 3, 5, found, REAL[letter], W, kind)
    assert found.value == 3
    close(W[:3], every[2:5], letter, norm(A), N)
