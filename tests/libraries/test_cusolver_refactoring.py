"""cusolverRf: solutions and factors against the same matrices in dense form, in longer floats."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries.dense import INVALID, NOT_INITIALIZED, each, seeds

pytestmark = pytest.mark.native
ZERO_PIVOT = 10
STORED_L, STORED_U, ASSUMED_L, ASSUMED_U = range(4)
eps = np.finfo(np.float64).eps


@pytest.fixture(scope="module")
def solver(library):
    return library("cusolver", "libcusolver.so.12")


class Problem:
    """Matrices of one pattern whose rows and columns in the orders P and Q have pivots on their diagonal."""

    def __init__(self, seed, n, by_columns=False, diagonal=STORED_L):
        self.rng = np.random.default_rng(seed)
        self.n, self.by_columns, self.diagonal = n, by_columns, diagonal
        self.P, self.Q = (self.rng.permutation(n).astype(np.int32) for _ in range(2))
        turned = self.rng.random((n, n)) < 0.25
        np.fill_diagonal(turned, True)
        filled = turned.copy()
        for k in range(n):  # where an elimination leaves numbers
            filled[k + 1 :, k + 1 :] |= np.outer(filled[k + 1 :, k], filled[k, k + 1 :])
        self.filled = filled
        self.pattern = np.empty_like(turned)
        self.pattern[np.ix_(self.P, self.Q)] = turned
        self.A = self.numbers()

    def numbers(self):
        """Another matrix of the pattern."""
        ordered = np.where(self.pattern[np.ix_(self.P, self.Q)], self.rng.standard_normal((self.n, self.n)), 0)
        ordered += np.diag(self.rng.choice([-1, 1], self.n) * (np.abs(ordered).sum(1) + 1))
        made = np.empty_like(ordered)
        made[np.ix_(self.P, self.Q)] = ordered
        return made

    def factors(self, A):
        """(L, U) of A in order, in longer floats, one of them with ones on its diagonal."""
        U, L = A[np.ix_(self.P, self.Q)].astype(np.longdouble), np.eye(self.n, dtype=np.longdouble)
        for k in range(self.n):
            L[k + 1 :, k] = U[k + 1 :, k] / U[k, k]
            U[k + 1 :] -= np.outer(L[k + 1 :, k], U[k])
        U = np.triu(U)
        if self.diagonal in (STORED_U, ASSUMED_U):
            pivots = np.diag(U).copy()
            return L * pivots, U / pivots[:, None]
        return L, U

    def arrays(self, pattern, values):
        """(how many, starts, indices, numbers) by rows, or by columns."""
        if self.by_columns:
            pattern, values = pattern.T, values.T
        starts = np.concatenate([[0], np.cumsum(pattern.sum(1))]).astype(np.int32)
        return int(pattern.sum()), starts, np.nonzero(pattern)[1].astype(np.int32), values[pattern].astype(np.float64)

    def patterns(self):
        lower, upper = np.tril(self.filled), np.triu(self.filled)
        if self.diagonal == ASSUMED_L:
            lower = np.tril(self.filled, -1)
        if self.diagonal == ASSUMED_U:
            upper = np.triu(self.filled, 1)
        return lower, upper

    def of(self, A):
        return self.arrays(self.pattern, A)

    def set_up(self, solver, handle, how="Host", batch=None):
        L, U = self.factors(self.A)
        lower, upper = self.patterns()
        count, starts, indices, numbers = self.of(self.A)
        solver("cusolverRfSetMatrixFormat", handle, int(self.by_columns), self.diagonal)
        rest = (*self.arrays(lower, L), *self.arrays(upper, U), self.P, self.Q, handle)
        if batch is None:
            solver(f"cusolverRfSetup{how}", self.n, count, starts, indices, numbers, *rest)
        else:
            solver("cusolverRfBatchSetupHost", len(batch), self.n, count, starts, indices, batch, *rest)


def addresses(arrays):
    return np.array([a.ctypes.data for a in arrays], np.uint64)


def check_solution(A, x, b):
    left = np.abs(A.astype(np.longdouble) @ x - b)
    # Higham, Accuracy and Stability, theorem 9.4; no growth, for rows have large diagonals.
    bound = (
        8
        * len(A)
        * eps
        * (np.abs(A) @ np.abs(x) * 4 + np.abs(b) + np.abs(A).sum(1, keepdims=True) * np.abs(x).max(initial=0))
    )
    assert (left <= bound).all(), (left / bound).max()


def given_arrays(count, starts, indices, numbers, n):
    """What was handed out, as copies, freed."""
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    out = []
    for address, kind, size in (
        (starts, np.int32, n + 1),
        (indices, np.int32, count.value),
        (numbers, np.float64, count.value),
    ):
        bytes_ = ctypes.string_at(address.value, size * np.dtype(kind).itemsize)
        out.append(np.frombuffer(bytes_, kind).copy())
        free(address)
    return (count.value, *out)


@pytest.mark.parametrize("how", ["Host", "Device"])
def test_other_values_are_factored_and_solved(solver, how):
    @each(25, st.integers(1, 30), st.booleans(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), seeds)
    def _(n, by_columns, diagonal, nrhs, spare, seed):
        p = Problem(seed, n, by_columns, diagonal)
        handle = solver.out("cusolverRfCreate")
        p.set_up(solver, handle, how)
        assert solver.status("cusolverRfRefactor", handle) == NOT_INITIALIZED
        solver("cusolverRfAnalyze", handle)
        for A in (p.A, p.numbers(), p.numbers()):
            if A is not p.A:
                count, starts, indices, numbers = p.of(A)
                solver("cusolverRfResetValues", n, count, starts, indices, numbers, p.P, p.Q, handle)
            solver("cusolverRfRefactor", handle)
            b = p.rng.standard_normal((nrhs, n + spare))
            x, room = b.copy(), np.zeros((max(nrhs, 1), n))
            solver("cusolverRfSolve", handle, p.P, p.Q, nrhs, room, n, x, n + spare)
            check_solution(A, x[:, :n].T, b[:, :n].T)
            assert (x[:, n:] == b[:, n:]).all()
            L, U = p.factors(A)
            lower, upper = p.patterns()
            found = (
                [ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()],
                [ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()],
            )
            solver("cusolverRfExtractSplitFactorsHost", handle, *found[0], *found[1])
            scale = np.abs(L) @ np.abs(U) + np.abs(L) + np.abs(U)
            for one, pattern, factor in ((found[0], lower, L), (found[1], upper, U)):
                got, wanted = given_arrays(*one, n), p.arrays(pattern, factor)
                assert got[0] == wanted[0]
                assert (got[1] == wanted[1]).all()
                assert (got[2] == wanted[2]).all()
                assert (np.abs(got[3] - wanted[3]) <= 16 * n * eps * scale.max()).all()
            check_bundled(solver, handle, p, L, U, scale.max())
        solver("cusolverRfDestroy", handle)


def check_bundled(solver, handle, p, L, U, scale):
    wanted = p.arrays(p.filled, L + U - np.eye(p.n))
    made = [ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()]
    solver("cusolverRfAccessBundledFactorsDevice", handle, *made)
    count, starts, indices, numbers = made
    assert count.value == wanted[0]
    there = np.frombuffer(ctypes.string_at(numbers.value, 8 * count.value), np.float64)
    solver("cusolverRfExtractBundledFactorsHost", handle, *made)
    got = given_arrays(*made, p.n)
    assert (got[1] == wanted[1]).all()
    assert (got[2] == wanted[2]).all()
    assert (got[3] == there).all()
    assert (np.abs(got[3] - wanted[3]) <= 16 * p.n * eps * scale).all()
    del starts, indices


def test_several_matrices_of_one_pattern(solver):
    @each(15, st.integers(1, 25), st.booleans(), st.integers(0, 3), st.integers(1, 5), seeds)
    def _(n, by_columns, diagonal, batch, seed):
        p = Problem(seed, n, by_columns, diagonal)
        handle = solver.out("cusolverRfCreate")
        matrices = [p.A, *(p.numbers() for _ in range(batch - 1))]
        values = [p.of(A)[3] for A in matrices]
        p.set_up(solver, handle, batch=addresses(values))
        solver("cusolverRfBatchAnalyze", handle)
        for again in (False, True):
            if again:
                matrices = [p.numbers() for _ in range(batch)]
                values = [p.of(A)[3] for A in matrices]
                count, starts, indices, _ = p.of(p.A)
                solver(
                    "cusolverRfBatchResetValues", batch, n, count, starts, indices, addresses(values), p.P, p.Q, handle
                )
            solver("cusolverRfBatchRefactor", handle)
            where = np.full(batch, 7, np.int32)
            solver("cusolverRfBatchZeroPivot", handle, where)
            assert (where == -1).all()
            b = p.rng.standard_normal((batch, 1, n))
            x, room = [row.copy() for row in b], np.zeros((2, batch * n))
            solver("cusolverRfBatchSolve", handle, p.P, p.Q, 1, room, n, addresses(x), n)
            for A, one, right in zip(matrices, x, b, strict=True):
                check_solution(A, one.T, right.T)
        solver("cusolverRfDestroy", handle)


def test_a_pivot_that_is_zero(solver):
    p = Problem(3, 6)
    handle = solver.out("cusolverRfCreate")
    bad = p.A.copy()
    bad[p.P[2]] = 0  # a row without numbers
    values = [p.of(A)[3] for A in (p.A, bad)]
    p.set_up(solver, handle, batch=addresses(values))
    solver("cusolverRfBatchAnalyze", handle)
    solver("cusolverRfBatchRefactor", handle)
    where = np.full(2, 7, np.int32)
    assert solver.status("cusolverRfBatchZeroPivot", handle, where) == ZERO_PIVOT
    assert where.tolist() == [-1, 2]
    p.set_up(solver, handle)
    solver("cusolverRfAnalyze", handle)
    count, starts, indices, numbers = p.of(bad)
    solver("cusolverRfResetValues", 6, count, starts, indices, numbers, p.P, p.Q, handle)
    assert solver.status("cusolverRfRefactor", handle) == ZERO_PIVOT
    report, zero, boost = ctypes.c_int(7), ctypes.c_double(), ctypes.c_double()
    solver("cusolverRfGetNumericBoostReport", handle, report)
    assert report.value == 0
    solver("cusolverRfSetNumericProperties", handle, 1e-8, 0.5)
    solver("cusolverRfRefactor", handle)
    solver("cusolverRfGetNumericBoostReport", handle, report)
    solver("cusolverRfGetNumericProperties", handle, zero, boost)
    assert (report.value, zero.value, boost.value) == (1, 1e-8, 0.5)
    b = np.arange(6.0)
    x, room = b.copy(), np.zeros(6)
    solver("cusolverRfSolve", handle, p.P, p.Q, 1, room, 6, x, 6)
    boosted = bad.copy()
    boosted[p.P[2], p.Q[2]] = 0.5
    check_solution(boosted, x[:, None], b[:, None])
    solver("cusolverRfDestroy", handle)


def test_settings_and_what_is_refused(solver):
    p = Problem(5, 7)
    handle = solver.out("cusolverRfCreate")
    assert solver.status("cusolverRfCreate", None) == INVALID
    assert solver.status("cusolverRfAnalyze", None) == NOT_INITIALIZED
    assert solver.status("cusolverRfAnalyze", handle) == NOT_INITIALIZED
    one, two = ctypes.c_int(9), ctypes.c_int(9)
    for get, set_, before, after in (
        ("GetAlgs", "SetAlgs", (0, 1), (2, 3)),
        ("GetMatrixFormat", "SetMatrixFormat", (0, 0), (1, 3)),
    ):
        solver(f"cusolverRf{get}", handle, one, two)
        assert (one.value, two.value) == before
        solver(f"cusolverRf{set_}", handle, *after)
        solver(f"cusolverRf{get}", handle, one, two)
        assert (one.value, two.value) == after
        assert solver.status(f"cusolverRf{set_}", handle, 7, 7) == INVALID
    solver("cusolverRfSetResetValuesFastMode", handle, 1)
    solver("cusolverRfGetResetValuesFastMode", handle, one)
    assert one.value == 1
    p.set_up(solver, handle)
    assert solver.status("cusolverRfBatchAnalyze", handle) == NOT_INITIALIZED
    solver("cusolverRfAnalyze", handle)
    count, starts, indices, numbers = p.of(p.A)

    def reset(n=7, count=count, starts=starts, indices=indices, P=p.P):
        return solver.status("cusolverRfResetValues", n, count, starts, indices, numbers, P, p.Q, handle)

    assert reset() == 0
    wild = indices.copy()
    wild[3] = 1000
    twice = p.P.copy()
    twice[0] = twice[1]
    for wrong in (
        {"n": 6},
        {"count": count - 1},
        {"indices": wild},
        {"indices": indices - 1},
        {"P": twice},
        {"P": p.P - 1},
    ):
        assert reset(**wrong) == INVALID
    assert solver.status("cusolverRfSolve", handle, p.P, p.Q, 1, numbers, 6, numbers, 7) == INVALID
    outside = Problem(5, 7)
    outside.filled = np.eye(7, dtype=bool)  # factors that have no room for the matrix
    assert solver.status("cusolverRfSetupHost", 7, *outside.of(outside.A), *outside.arrays(*2 * (np.eye(7, dtype=bool),)),
                         *outside.arrays(*2 * (np.eye(7, dtype=bool),)), p.P, p.Q, handle) == INVALID  # fmt: skip
    solver("cusolverRfDestroy", handle)
