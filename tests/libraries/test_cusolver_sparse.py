"""cuSOLVER, sparse: solutions by what they leave, against the same matrices in dense form."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.dense import (
    INVALID,
    LETTERS,
    NOT_INITIALIZED,
    close,
    each,
    is_complex,
    norm,
    random,
    real,
    seeds,
    wide,
)

pytestmark = pytest.mark.native
every_type = pytest.mark.parametrize("letter", LETTERS)


class Complex64(ctypes.Structure):
    _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float))


class Complex128(ctypes.Structure):
    _fields_ = (("x", ctypes.c_double), ("y", ctypes.c_double))


class Sparse:
    def __init__(self, solver, cusparse):
        self.solver, self.cusparse = solver, cusparse
        self.handle = solver.out("cusolverSpCreate")
        self.descriptors = []
        for base in (0, 1):
            self.descriptors.append(cusparse.out("cusparseCreateMatDescr"))
            cusparse("cusparseSetMatIndexBase", self.descriptors[base], base)

    def status(self, name, *arguments):
        return self.solver.status("cusolverSp" + name, self.handle, *arguments)


@pytest.fixture(scope="module")
def sparse(library):
    return Sparse(library("cusolver", "libcusolver.so.12"), library("cusparse", "libcusparse.so.12"))


def thin(seed, letter, n, diagonal):
    """A sparse matrix, connected or not, whose diagonal makes it easy to solve."""
    A = random(seed, letter, n, n)
    A[np.random.default_rng(seed + 1).random((n, n)) < 0.8] = 0
    return A + diagonal * np.eye(n, dtype=A.dtype)


def rows_of(A, base):
    """The arrays of a matrix by rows."""
    places = [np.flatnonzero(row) for row in A]
    starts = np.concatenate([[0], np.cumsum([len(p) for p in places])]).astype(np.int32) + base
    columns = np.concatenate([*places, []]).astype(np.int32) + base
    values = np.concatenate([row[p] for row, p in zip(A, places, strict=True)] or [A.ravel()]).astype(A.dtype)
    return values, starts.astype(np.int32), columns.astype(np.int32)


@every_type
@pytest.mark.parametrize("kind", ["csrlsvqr", "csrlsvqrHost", "csrlsvchol", "csrlsvcholHost", "csrlsvluHost"])
def test_solving(sparse, letter, kind):
    @each(8, st.integers(0, 40), st.integers(0, 3), st.integers(0, 1), seeds)
    def _(n, reorder, base, seed):
        A = thin(seed, letter, n, n if "chol" in kind else 0.5)
        given = A
        if "chol" in kind:
            A = A + A.conj().T
            given = np.tril(A)
        else:  # no diagonal at all: rows must be exchanged
            A = given = np.ascontiguousarray(A[::-1])
        b, x, singular = random(seed + 2, letter, n), np.zeros(n, LETTERS[letter]), ctypes.c_int(-7)
        values, starts, columns = rows_of(given, base)
        arrays = (sparse.descriptors[base], values, starts, columns, b)
        assert sparse.status(letter + kind, n, len(values), *arrays, 0.0, reorder, x, singular) == 0
        assert singular.value == -1 or np.linalg.matrix_rank(A) < n
        if singular.value == -1:
            close(A.astype(wide(letter)) @ x, b, letter, norm(A) * norm(x.astype(wide(letter))), n)


@every_type
def test_many_rows_take_little_memory(sparse, letter):
    """A grid's matrix of 2,500 rows: as a dense one it would be 50 to 100 MB."""
    side = 50
    n = side * side
    at = np.arange(n)
    pairs = [
        (at, at),
        (at[at % side > 0], -1),
        (at[at % side < side - 1], 1),
        (at[at >= side], -side),
        (at[at < n - side], side),
    ]
    rows = np.concatenate([p[0] for p in pairs])
    columns = np.concatenate([p[0] + (p[1] if i else 0) for i, p in enumerate(pairs)])
    order = np.random.default_rng(1).permutation(n)
    rows, columns = order[rows], order[columns]
    by_row = np.lexsort((columns, rows))
    rows, columns = rows[by_row], columns[by_row].astype(np.int32)
    values = np.where(rows == columns, 4, -1).astype(LETTERS[letter])
    starts = np.searchsorted(rows, np.arange(n + 1)).astype(np.int32)
    b, singular = random(1, letter, n), ctypes.c_int()
    for kind in ("csrlsvqr", "csrlsvchol", "csrlsvluHost"):
        x = np.zeros(n, LETTERS[letter])
        assert (
            sparse.status(
                letter + kind, n, len(values), sparse.descriptors[0], values, starts, columns, b, 0.0, 1, x, singular
            )
            == 0
        )
        assert singular.value == -1
        product = np.zeros(n, wide(letter))
        np.add.at(product, rows, values * x[columns].astype(wide(letter)))
        close(product, b, letter, 8 * norm(x.astype(wide(letter))), 1)


@every_type
def test_what_is_singular_is_named(sparse, letter):
    singular, x, b = ctypes.c_int(), np.zeros(4, LETTERS[letter]), np.ones(4, LETTERS[letter])
    A = np.diag(np.array([1, 2, 0, 4])).astype(LETTERS[letter])
    arrays = rows_of(A, 0)
    for kind in ("csrlsvqr", "csrlsvchol", "csrlsvluHost"):
        assert sparse.status(letter + kind, 4, 3, sparse.descriptors[0], *arrays, b, 0.0, 0, x, singular) == 0
        assert singular.value == 2
        assert sparse.status(letter + kind, 4, 3, sparse.descriptors[0], *arrays, b, 1.0, 0, x, singular) == 0
        assert singular.value == 0


@every_type
def test_an_eigenvalue_near_a_guess(sparse, letter):
    n = 20
    A = thin(3, letter, n, 0)
    A = A + A.conj().T + np.diag(np.arange(n)).astype(A.dtype) * 5
    every = np.linalg.eigvalsh(A.astype(wide(letter)))
    guess = every[7] + (every[8] - every[7]) / 10
    mu, x, x0 = np.zeros(1, LETTERS[letter]), np.zeros(n, LETTERS[letter]), np.ones(n, LETTERS[letter])
    values, starts, columns = rows_of(A, 1)
    call = sparse.solver.file[f"cusolverSp{letter}csreigvsi"]
    number = {"S": ctypes.c_float, "D": ctypes.c_double, "C": Complex64, "Z": Complex128}[letter]
    pointer, tolerance = ctypes.c_void_p, ctypes.c_double if letter in "DZ" else ctypes.c_float
    call.argtypes = [
        pointer,
        ctypes.c_int,
        ctypes.c_int,
        *[pointer] * 4,
        number,
        pointer,
        ctypes.c_int,
        tolerance,
        pointer,
        pointer,
    ]
    start = number(guess, 0) if is_complex(letter) else number(guess)
    arrays = [it.ctypes.data for it in (values, starts, columns)]
    out = (mu.ctypes.data, x.ctypes.data)
    assert (
        call(sparse.handle, n, len(values), sparse.descriptors[1], *arrays, start, x0.ctypes.data, 100, 1e-5, *out) == 0
    )
    close(mu, every[7], letter, norm(A) + 1e-5 / np.finfo(real(letter)).eps / n, n)
    assert np.linalg.norm(A @ x - mu * x) < 1e-3 and abs(norm(x) - 1) < 1e-5


def test_what_is_invalid_is_refused(sparse):
    arrays, b, x, singular = rows_of(np.eye(3), 0), np.ones(3), np.zeros(3), ctypes.c_int(5)
    call, made = "Dcsrlsvqr", sparse.descriptors[0]
    assert sparse.status(call, -1, 3, made, *arrays, b, 0.0, 0, x, singular) == INVALID
    assert sparse.status(call, 3, 3, None, *arrays, b, 0.0, 0, x, singular) == INVALID
    assert sparse.status(call, 3, 3, made, *arrays, b, 0.0, 4, x, singular) == INVALID
    assert sparse.status(call, 3, 3, made, *arrays, b, 0.0, 0, x, None) == INVALID
    assert sparse.status(call, 3, 4, made, *arrays, b, 0.0, 0, x, singular) == INVALID
    beyond = arrays[2].copy()
    beyond[1] = 3
    assert sparse.status(call, 3, 3, made, *arrays[:2], beyond, b, 0.0, 0, x, singular) == INVALID
    assert singular.value == 5
    symmetric = sparse.cusparse.out("cusparseCreateMatDescr")
    sparse.cusparse("cusparseSetMatType", symmetric, 1)
    assert sparse.status(call, 3, 3, symmetric, *arrays, b, 0.0, 0, x, singular) == 8  # MATRIX_TYPE_NOT_SUPPORTED
    sparse.cusparse("cusparseDestroyMatDescr", symmetric)
    assert (
        sparse.solver.status("cusolverSpDcsrlsvqr", None, 3, 3, made, *arrays, b, 0.0, 0, x, singular)
        == NOT_INITIALIZED
    )
