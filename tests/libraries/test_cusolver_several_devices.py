"""cusolverMg: matrices dealt out over several devices, in blocks of columns, against the same matrices whole."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.dense import (
    DATA,
    INVALID,
    LETTERS,
    NOT_INITIALIZED,
    REAL,
    each,
    eps,
    is_complex,
    positive,
    random,
    real,
    seeds,
    symmetric,
    wide,
)

pytestmark = pytest.mark.native
every_type = pytest.mark.parametrize("letter", LETTERS)
places = st.tuples(st.integers(1, 4), st.integers(1, 7), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2))


@pytest.fixture(scope="module")
def solver(library):
    return library("cusolver", "libcusolverMg.so.12")


class Several:
    """A handle, and matrices within larger ones whose columns are dealt out over `devices`, all of them the one of this process."""

    def __init__(self, solver, devices):
        self.solver, self.devices = solver, devices
        self.handle = solver.out("cusolverMgCreate")
        numbers = np.zeros(devices, np.int32)
        solver("cusolverMgDeviceSelect", self.handle, devices, numbers)
        self.grid = solver.out("cusolverMgCreateDeviceGrid", 1, devices, numbers, 0)

    def call(self, name, letter, before, after=()):
        """Count what it works in, and have it computed; return info."""
        count, info = ctypes.c_int64(), ctypes.c_int(77)
        arguments = (self.handle, *before, *after, DATA[letter])
        self.solver(f"cusolverMg{name}_bufferSize", *arguments, count)
        assert count.value > 0
        work = [np.empty(count.value, LETTERS[letter]) for _ in range(self.devices)]
        self.solver(f"cusolverMg{name}", *arguments, addresses(work), count.value, info)
        return info.value

    def end(self):
        self.solver("cusolverMgDestroyGrid", self.grid)
        self.solver("cusolverMgDestroy", self.handle)


def addresses(arrays):
    return np.array([a.ctypes.data for a in arrays], np.uint64)


class Dealt:
    """A matrix from row `row` and column `column` of one that has `spare` more of both."""

    def __init__(self, several, letter, values, block, row=0, column=0, spare=0):
        m, n = values.shape
        self.row, self.column, self.shape, self.block, self.devices = row, column, values.shape, block, several.devices
        rows, columns = max(1, m + row + spare), max(1, n + column + spare)
        blocks = -(-columns // block)
        each_has = -(-blocks // self.devices) * block
        self.parts = [np.full((each_has, rows), 55, values.dtype) for _ in range(self.devices)]
        for j in range(n):
            self._column(j)[row : row + m] = values[:, j]
        self.before = [part.copy() for part in self.parts]
        self.pointers = addresses(self.parts)
        self.desc = several.solver.out(
            "cusolverMgCreateMatrixDesc", rows, columns, rows, block, DATA[letter], several.grid
        )

    def _column(self, j):
        at = self.column + j
        return self.parts[at // self.block % self.devices][
            at // self.block // self.devices * self.block + at % self.block
        ]

    @property
    def args(self):
        return self.pointers, self.row + 1, self.column + 1, self.desc

    @property
    def values(self):
        m, n = self.shape
        return np.array([self._column(j)[self.row : self.row + m] for j in range(n)]).reshape(n, m).T

    def untouched(self):
        """Whether all that is not the matrix's is as it was."""
        m, n = self.shape
        now = self.values.copy()
        for j in range(n):
            self._column(j)[self.row : self.row + m] = 0
        before = [part.copy() for part in self.before]
        for part, old in zip(self.parts, before, strict=True):
            old[part == 0] = 0
        same = all((part == old).all() for part, old in zip(self.parts, before, strict=True))
        for j in range(n):
            self._column(j)[self.row : self.row + m] = now[:, j]
        return same


def close(left, bound):
    assert (np.abs(left) <= bound).all(), float((np.abs(left) / bound).max())


def triangle(A, fill):
    return np.tril(A) if fill == 0 else np.triu(A)


@every_type
def test_cholesky(solver, letter):
    @each(12, st.integers(0, 24), st.integers(0, 5), places, st.integers(0, 1), seeds)
    def _(n, nrhs, place, fill, seed):
        devices, block, row, column, spare = place
        mg = Several(solver, devices)
        whole, rights = positive(seed, letter, n), random(seed + 1, letter, n, nrhs)
        A, B = (
            Dealt(mg, letter, triangle(whole, fill), block, row, column, spare),
            Dealt(mg, letter, rights, block + 1, spare, row),
        )
        assert mg.call("Potrf", letter, (fill, n, *A.args)) == 0
        factor = triangle(A.values, fill).astype(wide(letter))
        product = factor @ factor.conj().T if fill == 0 else factor.conj().T @ factor
        scale = np.abs(whole).max(initial=0) * 8 * (n + 1) * eps(letter)
        close(product - whole, scale)
        assert A.untouched()
        assert mg.call("Potrs", letter, (fill, n, nrhs, *A.args, *B.args)) == 0
        x = B.values.astype(wide(letter))
        close(
            whole.astype(wide(letter)) @ x - rights,
            8 * (n + 1) * eps(letter) * (np.abs(whole) @ np.abs(x) + np.abs(rights)) * max(1, n),
        )
        assert B.untouched()
        assert mg.call("Potri", letter, (fill, n, *A.args)) == 0
        inverse = triangle(A.values, fill).astype(wide(letter))
        inverse = inverse + inverse.conj().T - np.diag(np.diag(inverse).real)
        close(inverse @ whole - np.eye(n), 64 * (n + 1) ** 2 * eps(letter) * (np.abs(inverse) @ np.abs(whole) + 1))
        mg.end()


@every_type
def test_lu(solver, letter):
    @each(12, st.integers(0, 24), st.integers(0, 24), st.integers(0, 5), places, st.integers(0, 2), seeds)
    def _(m, n, nrhs, place, operation, seed):
        devices, block, row, column, spare = place
        mg = Several(solver, devices)
        for rows in (m, n):
            whole = random(seed, letter, rows, n)
            A = Dealt(mg, letter, whole, block, row, column, spare)
            pivots = [np.full(part.shape[0], -1, np.int32) for part in A.parts]
            assert mg.call("Getrf", letter, (rows, n, *A.args, addresses(pivots))) == 0
            found = A.values.astype(wide(letter))
            order = np.arange(rows)
            k = min(rows, n)
            for i in range(k):
                at = column + i
                other = pivots[at // block % devices][at // block // devices * block + at % block] - 1
                order[[i, other]] = order[[other, i]]
            L, U = np.tril(found[:, :k], -1) + np.eye(rows, k), np.triu(found[:k])
            close(L @ U - whole[order], 8 * (k + 1) * eps(letter) * (np.abs(L) @ np.abs(U) + 1))
            assert A.untouched()
        rights = random(seed + 1, letter, n, nrhs)
        B = Dealt(mg, letter, rights, block, spare, row, column)
        assert mg.call("Getrs", letter, (operation, n, nrhs, *A.args, addresses(pivots), *B.args)) == 0
        x, op = B.values.astype(wide(letter)), (whole, whole.T, whole.conj().T)[operation]
        growth = (np.abs(L) @ np.abs(U))[np.argsort(order)]
        growth = growth if operation == 0 else growth.T
        close(op @ x - rights, 16 * (n + 1) * eps(letter) * (growth @ np.abs(x) + np.abs(rights) + eps(letter)))
        assert B.untouched()
        mg.end()


@every_type
def test_eigenvalues(solver, letter):
    @each(10, st.integers(0, 20), places, st.integers(0, 1), st.integers(0, 1), seeds)
    def _(n, place, fill, vectors, seed):
        devices, block, row, column, spare = place
        mg = Several(solver, devices)
        whole = symmetric(seed, letter, n)
        A, W = Dealt(mg, letter, triangle(whole, fill), block, row, column, spare), np.full(n + 1, 9, real(letter))
        assert mg.call("Syevd", letter, (vectors, fill, n, *A.args, W), (REAL[letter],)) == 0
        exact = np.linalg.eigvalsh(whole.astype(wide(letter)))
        bound = 16 * (n + 1) * eps(letter) * (np.abs(exact).max(initial=0) + 1)
        close(W[:n] - exact, bound)
        assert W[n] == 9
        if vectors:
            V = A.values.astype(wide(letter))
            close(whole @ V - V * W[:n], bound)
            close(V.conj().T @ V - np.eye(n), bound)
        assert A.untouched()
        mg.end()


def test_what_has_no_factors_is_said(solver):
    mg = Several(solver, 2)
    A = Dealt(mg, "D", np.diag([1.0, 2.0, -1.0, 4.0]), 1)
    assert mg.call("Potrf", "D", (0, 4, *A.args)) == 3
    A = Dealt(mg, "D", np.diag([1.0, 0.0, 1.0]), 1)
    pivots = [np.zeros(4, np.int32) for _ in range(2)]
    assert mg.call("Getrf", "D", (3, 3, *A.args, addresses(pivots))) == 2
    mg.end()


def test_what_is_refused(solver):
    assert is_complex("Z")
    mg, made, count = Several(solver, 2), ctypes.c_void_p(), ctypes.c_int64()
    one = np.zeros(2, np.int32)
    assert solver.status("cusolverMgCreate", None) == INVALID
    assert solver.status("cusolverMgDestroy", None) == NOT_INITIALIZED
    assert solver.status("cusolverMgDeviceSelect", mg.handle, 0, one) == INVALID
    assert solver.status("cusolverMgDeviceSelect", mg.handle, 1, np.array([999], np.int32)) == INVALID
    assert solver.status("cusolverMgCreateDeviceGrid", made, 2, 1, one, 0) == INVALID  # NVIDIA has one row of devices
    assert (
        solver.status("cusolverMgCreateMatrixDesc", made, 4, 4, 2, 2, DATA["D"], mg.grid) == INVALID
    )  # nor blocks of some rows
    assert solver.status("cusolverMgCreateMatrixDesc", made, 4, 4, 4, 2, 2, mg.grid) == 9  # CUDA_R_16F
    A = Dealt(mg, "D", np.eye(4), 2)
    size = "cusolverMgPotrf_bufferSize"
    assert solver.status(size, mg.handle, 0, 4, *A.args, DATA["D"], count) == 0
    assert solver.status(size, mg.handle, 0, 5, *A.args, DATA["D"], count) == INVALID
    assert solver.status(size, mg.handle, 0, 4, A.pointers, 2, 1, A.desc, DATA["D"], count) == INVALID
    assert solver.status(size, mg.handle, 0, 4, A.pointers, 0, 1, A.desc, DATA["D"], count) == INVALID
    assert solver.status(size, mg.handle, 0, 4, *A.args, DATA["S"], count) == INVALID
    assert solver.status(size, mg.handle, 0, 4, A.pointers, 1, 1, mg.grid, DATA["D"], count) == INVALID
    assert solver.status(size, None, 0, 4, *A.args, DATA["D"], count) == NOT_INITIALIZED
    fresh = solver.out("cusolverMgCreate")
    assert solver.status(size, fresh, 0, 4, *A.args, DATA["D"], count) == NOT_INITIALIZED  # no devices chosen
    solver("cusolverMgDestroy", fresh)
    solver("cusolverMgDestroyMatrixDesc", A.desc)
    mg.end()
