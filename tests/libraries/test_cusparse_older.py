"""cuSPARSE's older functions on the processor, against dense matrices of numpy in double precision."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries import sparse_matrices as sm
from libraries.sparse_matrices import BSR, COLUMNS, LETTERS, Sparse, check, scalar, wide
from spread import properties

pytestmark = pytest.mark.native

INVALID, TYPE_NOT_SUPPORTED, ZERO_PIVOT, NOT_SUPPORTED = 3, 8, 9, 10
loaded = {}


@pytest.fixture(scope="module")
def cusparse(library):
    return library("cusparse", "libcusparse.so.12")


@pytest.fixture(scope="module")
def handle(cusparse):
    return cusparse.out("cusparseCreate")


@pytest.fixture(autouse=True)
def keep(cusparse, handle):
    loaded["it"] = (cusparse, handle)
    cusparse("cusparseSetPointerMode", handle, 0)


def synchronize(cusparse):
    assert cusparse._cuda.cuCtxSynchronize() == 0


def descriptor(cusparse, base=0, lower=True, unit=False):
    made = cusparse.out("cusparseCreateMatDescr")
    cusparse("cusparseSetMatIndexBase", made, base)
    cusparse("cusparseSetMatFillMode", made, 0 if lower else 1)
    cusparse("cusparseSetMatDiagType", made, int(unit))
    assert cusparse._bound("cusparseGetMatIndexBase")(made) == base
    return made


seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 30)
kinds = st.sampled_from(sm.NUMBERS)
bases = st.integers(0, 1)


@properties(25, 1000, seeds, sizes, sizes, kinds, bases)
def test_conversions(seed, rows, cols, kind, base):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    by_rows = Sparse(random, rows, cols, kind, base=base)
    r, c = np.nonzero(by_rows.there)
    coo_rows = np.zeros(by_rows.nnz, np.int32)
    cusparse("cusparseXcsr2coo", handle, by_rows.offsets, by_rows.nnz, rows, coo_rows, base)
    offsets = np.zeros(rows + 1, np.int32)
    cusparse("cusparseXcoo2csr", handle, coo_rows, by_rows.nnz, rows, offsets, base)
    synchronize(cusparse)
    assert (coo_rows == r + base).all() and (offsets == by_rows.offsets).all()
    csc = np.zeros_like(by_rows.values), np.zeros(cols + 1, np.int32), np.zeros(by_rows.nnz, np.int32)
    arrays = by_rows.values, by_rows.offsets, by_rows.indices
    cusparse("cusparseCsr2cscEx2", handle, rows, cols, by_rows.nnz, *arrays, *csc, sm.number(kind), 1, base, 1, None)
    synchronize(cusparse)
    order = np.lexsort((r, c))
    assert (csc[0] == by_rows.values[order]).all() and (csc[2] == r[order] + base).all()
    assert (csc[1] == np.searchsorted(c[order], np.arange(cols + 1)) + base).all()
    # Sorting, with the permutation beside.
    shuffle = random.permutation(by_rows.nnz)
    for name, keys in (("cusparseXcoosortByRow", (c, r)), ("cusparseXcoosortByColumn", (r, c))):
        mixed = (r + base)[shuffle].astype(np.int32), (c + base)[shuffle].astype(np.int32)
        p = np.zeros(by_rows.nnz, np.int32)
        cusparse("cusparseCreateIdentityPermutation", handle, by_rows.nnz, p)
        cusparse(name, handle, rows, cols, by_rows.nnz, *mixed, p, None)
        synchronize(cusparse)
        order = np.lexsort(keys)
        assert (mixed[0] == r[order] + base).all() and (mixed[1] == c[order] + base).all()
        assert (shuffle[p] == order).all()
    within = np.concatenate(
        [
            random.permutation(np.arange(a, b))
            for a, b in zip(by_rows.offsets - base, by_rows.offsets[1:] - base, strict=False)
        ]
    ).astype(int)
    for name in ("cusparseXcsrsort", "cusparseXcscsort"):
        mixed, p = by_rows.indices[within].copy(), np.arange(by_rows.nnz, dtype=np.int32)
        shape = (rows, cols) if name == "cusparseXcsrsort" else (cols, rows)
        cusparse(name, handle, *shape, by_rows.nnz, descriptor(cusparse, base), by_rows.offsets, mixed, p, None)
        synchronize(cusparse)
        assert (mixed == by_rows.indices).all() and (within[p] == np.arange(by_rows.nnz)).all()


@properties(25, 1000, seeds, sizes, sizes, kinds, bases, st.integers(1, 5), st.integers(0, 1))
def test_blocks_and_rows(seed, rows, cols, kind, base, block, direction):
    cusparse, handle = loaded["it"]
    a = Sparse(np.random.default_rng(seed), rows, cols, kind, base=base)
    mb, nb = -(-rows // block), -(-cols // block)
    offsets, total = np.zeros(mb + 1, np.int32), ctypes.c_int()
    source = descriptor(cusparse, base), a.offsets, a.indices
    other = descriptor(cusparse, 1 - base)
    cusparse("cusparseXcsr2bsrNnz", handle, direction, rows, cols, *source, block, other, offsets, total)
    padded = np.zeros((mb * block, nb * block), bool)
    padded[:rows, :cols] = a.there
    full = padded.reshape(mb, block, nb, block).any((1, 3))
    assert total.value == full.sum()
    values = np.full(total.value * block * block, 9, a.values.dtype)
    columns = np.zeros(total.value, np.int32)
    cusparse(
        f"cusparse{LETTERS[kind]}csr2bsr",
        handle,
        direction,
        rows,
        cols,
        source[0],
        a.values,
        *source[1:],
        block,
        other,
        values,
        offsets,
        columns,
    )
    synchronize(cusparse)
    r, c = np.nonzero(full)
    assert (columns == c + 1 - base).all()
    expected = np.zeros((mb * block, nb * block), a.values.dtype)
    expected[:rows, :cols] = a.raw
    blocks = expected.reshape(mb, block, nb, block).transpose(0, 2, 1, 3)[r, c]
    got = values.reshape(-1, block, block)
    assert (got == (blocks if direction == 0 else blocks.transpose(0, 2, 1))).all()
    # And back: every element of a block is an entry.
    count = total.value * block * block
    csr = np.zeros(count, values.dtype), np.zeros(mb * block + 1, np.int32), np.zeros(count, np.int32)
    cusparse(
        f"cusparse{LETTERS[kind]}bsr2csr",
        handle,
        direction,
        mb,
        nb,
        other,
        values,
        offsets,
        columns,
        block,
        source[0],
        *csr,
    )
    synchronize(cusparse)
    back = np.zeros_like(expected)
    lines = np.repeat(np.arange(mb * block), np.diff(csr[1]))
    back[lines, csr[2] - base] = csr[0]
    assert (back == expected).all() and (csr[1][0], csr[1][-1]) == (base, base + count)


@properties(25, 1000, seeds, sizes, sizes, kinds, bases, st.booleans())
def test_sums(seed, rows, cols, kind, base, device):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    a, b = Sparse(random, rows, cols, kind, base=base), Sparse(random, rows, cols, kind, density=0.5)
    descriptors = descriptor(cusparse, base), descriptor(cusparse, 0), descriptor(cusparse, 1)
    offsets, total = np.zeros(rows + 1, np.int32), np.zeros(1, np.int32)
    cusparse("cusparseSetPointerMode", handle, int(device))
    cusparse("cusparseXcsrgeam2Nnz", handle, rows, cols, descriptors[0], a.nnz, a.offsets, a.indices, descriptors[1], b.nnz, b.offsets, b.indices,
             descriptors[2], offsets, total, None)  # fmt: skip
    synchronize(cusparse)
    pattern = a.there | b.there
    assert total[0] == pattern.sum()
    values, columns = np.zeros(total[0], a.values.dtype), np.zeros(total[0], np.int32)
    alpha, beta = scalar(2, kind), scalar(-3, kind)
    cusparse(f"cusparse{LETTERS[kind]}csrgeam2", handle, rows, cols, alpha, descriptors[0], a.nnz, a.values, a.offsets, a.indices, beta,
             descriptors[1], b.nnz, b.values, b.offsets, b.indices, descriptors[2], values, offsets, columns, None)  # fmt: skip
    synchronize(cusparse)
    r, c = np.nonzero(pattern)
    assert (columns == c + 1).all() and (offsets == np.searchsorted(r, np.arange(rows + 1)) + 1).all()
    check(wide(values, kind), (2 * a.dense - 3 * b.dense)[r, c], 5 * np.ones(len(r)) * 2, kind, 2)
    # A dense matrix times a sparse vector.
    op = seed % 3
    memory, lda = sm.place(a.raw, COLUMNS)
    matrix = sm.op(a.dense, op)
    at = np.sort(random.choice(matrix.shape[1], (matrix.shape[1] + 1) // 2, replace=False))
    x, y = sm.values(random, kind, len(at)), sm.values(random, kind, matrix.shape[0])
    exact = 2 * (matrix[:, at] @ wide(x, kind)) - 3 * wide(y, kind)
    cusparse(
        f"cusparse{LETTERS[kind]}gemvi",
        handle,
        op,
        rows,
        cols,
        alpha,
        memory,
        lda,
        len(at),
        x,
        (at + base).astype(np.int32),
        beta,
        y,
        base,
        None,
    )
    synchronize(cusparse)
    check(wide(y, kind), exact, 2 * len(at) * np.ones(len(y)) * 2 + 6, kind, len(at))


@properties(15, 500, seeds, sizes, sizes, kinds, bases, st.booleans())
def test_counts(seed, rows, cols, kind, base, device):
    cusparse, handle = loaded["it"]
    a = Sparse(np.random.default_rng(seed), rows, cols, kind, base=base)
    letter, descr = LETTERS[kind], descriptor(cusparse, base)
    memory, lda = sm.place(a.raw, COLUMNS)
    cusparse("cusparseSetPointerMode", handle, int(device))
    for direction, axis in ((0, 1), (1, 0)):
        lines, total = np.zeros(a.shape[direction], np.int32), np.zeros(1, np.int32)
        cusparse(f"cusparse{letter}nnz", handle, direction, rows, cols, descr, memory, lda, lines, total)
        synchronize(cusparse)
        assert (lines == (a.raw != 0).sum(axis)).all() and total[0] == lines.sum()
    kept = np.abs(a.dense) > 0.5
    lines, total = np.zeros(rows, np.int32), np.zeros(1, np.int32)
    part = ctypes.c_float if kind in ("f4", "c8") else ctypes.c_double
    complex_number = type("Number", (ctypes.Structure,), {"_fields_": [("re", part), ("im", part)]})
    limit, tolerance = (complex_number, complex_number(0.5, 0)) if kind[0] == "c" else (part, 0.5)

    def call(name, *arguments):
        function = cusparse.file[name]
        passed = [x.ctypes.data if isinstance(x, np.ndarray) else x for x in arguments]
        function.argtypes = [
            ctypes.c_int if isinstance(x, int) and x < 1 << 20 else ctypes.c_void_p for x in passed
        ] + [limit]
        assert function(*passed, tolerance) == 0

    call(f"cusparse{letter}nnz_compress", handle, rows, descr, a.values, a.offsets, lines, total)
    synchronize(cusparse)
    assert (lines == kept.sum(1)).all() and total[0] == kept.sum()
    out = np.zeros(total[0], a.values.dtype), np.zeros(total[0], np.int32), np.zeros(rows + 1, np.int32)
    call(
        f"cusparse{letter}csr2csr_compress",
        handle,
        rows,
        cols,
        descr,
        a.values,
        a.indices,
        a.offsets,
        a.nnz,
        lines,
        *out,
    )
    synchronize(cusparse)
    r, c = np.nonzero(kept)
    assert (
        (out[0] == a.raw[r, c]).all()
        and (out[1] == c + base).all()
        and (out[2] == np.searchsorted(r, np.arange(rows + 1)) + base).all()
    )


def dense_of_diagonals(diagonals, offsets):
    n = len(diagonals[0])
    out = np.zeros((n, n), np.complex128)
    for diagonal, offset in zip(diagonals, offsets, strict=True):
        for i in range(n):
            if 0 <= i + offset < n:
                out[i, i + offset] = diagonal[i]
    return out


@properties(25, 1000, seeds, st.integers(3, 40), st.integers(1, 6), kinds)
def test_diagonals(seed, m, n, kind):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    letter = LETTERS[kind]
    # Without exchanges of rows the diagonal must outweigh; with them it need not.
    strong = [sm.values(random, kind, (n, m)) for _ in range(5)]
    strong[2] += 6
    weak = [x.copy() for x in strong]
    weak[2] -= 6
    weak[2][:, 0] = 0  # the first row cannot stay the first

    def compare(got, diagonals, offsets, right):
        matrix = dense_of_diagonals([wide(d, kind) for d in diagonals], offsets)
        exact = np.linalg.solve(matrix, right)
        bound = 40 * m * sm.EPSILON[kind] * np.linalg.cond(matrix) * np.abs(exact).max()
        assert np.abs(wide(got, kind) - exact).max() <= bound

    three = -1, 0, 1
    for name, diagonals in (("gtsv2", weak), ("gtsv2_nopivot", strong)):
        used = [d[0] for d in diagonals[1:4]]
        b = sm.values(random, kind, (m, n))
        memory, ldb = sm.place(b, COLUMNS)
        size = np.zeros(1, np.uint64)
        cusparse(f"cusparse{letter}{name}_bufferSizeExt", handle, m, n, *used, memory, ldb, size)
        cusparse(f"cusparse{letter}{name}", handle, m, n, *used, memory, ldb, None)
        synchronize(cusparse)
        compare(sm.view(memory, (m, n), COLUMNS), used, three, wide(b, kind))
        assert (memory[:, m:] == 77).all()
    x = sm.values(random, kind, (n, m))
    before = wide(x, kind)
    cusparse(f"cusparse{letter}gtsv2StridedBatch", handle, m, *strong[1:4], x, n, m, None)
    synchronize(cusparse)
    for i in range(n):
        compare(x[i], [d[i] for d in strong[1:4]], three, before[i])
    for algorithm in range(3):
        chosen = strong if algorithm == 0 else weak
        x = sm.values(random, kind, (m, n))
        before = wide(x, kind)
        cusparse(
            f"cusparse{letter}gtsvInterleavedBatch",
            handle,
            algorithm,
            m,
            *(np.ascontiguousarray(d.T) for d in chosen[1:4]),
            x,
            n,
            None,
        )
        synchronize(cusparse)
        for i in range(n):
            compare(x[:, i], [d[i] for d in chosen[1:4]], three, before[:, i])
    x = sm.values(random, kind, (m, n))
    before = wide(x, kind)
    cusparse(
        f"cusparse{letter}gpsvInterleavedBatch", handle, 0, m, *(np.ascontiguousarray(d.T) for d in weak), x, n, None
    )
    synchronize(cusparse)
    for i in range(n):
        compare(x[:, i], [d[i] for d in weak], (-2, -1, 0, 1, 2), before[:, i])
    assert cusparse.status(f"cusparse{letter}gtsv2", handle, 2, n, *used, memory, ldb, None) == INVALID


def incomplete_lu(a, pattern):
    """L and U in one matrix, in double precision: elimination that leaves alone what is not in the pattern."""
    out = a.astype(np.complex128)
    n = len(out)
    for i in range(n):
        for k in range(i):
            if pattern[i, k]:
                out[i, k] /= out[k, k]
                out[i, k + 1 :] -= np.where(pattern[i, k + 1 :] & pattern[k, k + 1 :], out[i, k] * out[k, k + 1 :], 0)
    return out


def incomplete_cholesky(a, pattern):
    out = np.where(np.tril(pattern), a, 0).astype(np.complex128)
    for i in range(len(out)):
        for k in range(i):
            if pattern[i, k]:
                out[i, k] = (out[i, k] - (out[i, :k] * out[k, :k].conj()).sum()) / out[k, k]
        out[i, i] = np.sqrt(out[i, i].real - (np.abs(out[i, :i]) ** 2).sum())
    return out


def strong_matrix(random, n, kind, base, form=sm.CSR, block=2):
    """A Hermitian matrix whose diagonal outweighs the rest, with its full diagonal in the pattern."""
    pattern = random.random((n, n)) < 0.3
    pattern |= pattern.T
    np.fill_diagonal(pattern, True)
    if form == BSR:
        pattern = np.kron(pattern[: n // block, : n // block], np.ones((block, block), bool))
        n = len(pattern)
    matrix = Sparse(random, n, n, kind, base=base, pattern=pattern, form=form, block=block)
    full = matrix.raw + matrix.raw.conj().T + 3 * n * np.eye(n, dtype=matrix.raw.dtype)
    full = np.where(pattern, full, 0).astype(matrix.raw.dtype)
    matrix.raw, matrix.dense = full, wide(full, kind)
    if form == BSR:
        r, c = np.nonzero(pattern[::block, ::block])
        blocks = full.reshape(n // block, block, n // block, block).transpose(0, 2, 1, 3)[r, c]
        matrix.values = blocks.reshape(-1).copy()
        matrix.by_columns = blocks.transpose(0, 2, 1).reshape(-1).copy()
    else:
        matrix.values = full[pattern]
    return matrix


@properties(25, 1000, seeds, st.integers(1, 25), kinds, bases)
def test_factors(seed, n, kind, base):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    letter, position = LETTERS[kind], ctypes.c_int()
    matrix = strong_matrix(random, n, kind, base)
    descr = descriptor(cusparse, base)
    for name, exact, part in (
        ("csrilu02", incomplete_lu, np.ones),
        ("csric02", incomplete_cholesky, lambda shape: np.tril(np.ones(shape))),
    ):
        values = matrix.values.copy()
        info = cusparse.out(f"cusparseCreate{name.capitalize()}Info")
        arguments = handle, n, matrix.nnz, descr, values, matrix.offsets, matrix.indices, info
        size = ctypes.c_int()
        cusparse(f"cusparse{letter}{name}_bufferSize", *arguments, size)
        cusparse(f"cusparse{letter}{name}_analysis", *arguments, 0, None)
        cusparse(f"cusparseX{name}_zeroPivot", handle, info, position)
        cusparse(f"cusparse{letter}{name}", *arguments, 0, None)
        cusparse(f"cusparseX{name}_zeroPivot", handle, info, position)
        assert position.value == -1
        expected = exact(matrix.dense, matrix.there)[matrix.there]
        mask = part((n, n))[matrix.there] != 0
        got = wide(values, kind)
        check(got[mask], expected[mask], 10 * np.abs(expected[mask]) + n, kind, n)
        assert (values[~mask] == matrix.values[~mask]).all()
        cusparse(f"cusparseDestroy{name.capitalize()}Info", info)


@properties(20, 1000, seeds, st.integers(1, 8), kinds, bases, st.integers(0, 1), st.integers(1, 4))
def test_factors_of_blocks(seed, mb, kind, base, direction, block):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    letter, position = LETTERS[kind], ctypes.c_int()
    matrix = strong_matrix(random, mb * block, kind, base, BSR, block)
    descr = descriptor(cusparse, base)
    n = len(matrix.dense)
    for name, exact in (("bsrilu02", incomplete_lu), ("bsric02", incomplete_cholesky)):
        values = (matrix.values if direction == 0 else matrix.by_columns).copy()
        info = cusparse.out(f"cusparseCreate{name.capitalize()}Info")
        arguments = (
            handle,
            direction,
            mb,
            len(matrix.indices),
            descr,
            values,
            matrix.offsets,
            matrix.indices,
            block,
            info,
        )
        cusparse(f"cusparse{letter}{name}_bufferSize", *arguments, ctypes.c_int())
        cusparse(f"cusparse{letter}{name}_analysis", *arguments, 0, None)
        cusparse(f"cusparse{letter}{name}", *arguments, 0, None)
        cusparse(f"cusparseX{name}_zeroPivot", handle, info, position)
        expected = exact(matrix.dense, matrix.there)
        r, c = np.nonzero(matrix.there[::block, ::block])
        blocks = values.reshape(-1, block, block)
        blocks = blocks if direction == 0 else blocks.transpose(0, 2, 1)
        got = np.zeros((n, n), np.complex128)
        for i, (row, column) in enumerate(zip(r, c, strict=True)):
            got[row * block : (row + 1) * block, column * block : (column + 1) * block] = wide(blocks[i], kind)
        if name == "bsric02":
            got = np.tril(got)
        check(got, expected, 10 * np.abs(expected) + n, kind, n)


def test_zero_pivots(cusparse, handle):
    offsets, columns = np.array([1, 3, 4, 6], np.int32), np.array([1, 2, 1, 2, 3, 9], np.int32)
    descr = descriptor(cusparse, 1)
    info, position = cusparse.out("cusparseCreateCsrilu02Info"), np.zeros(1, np.int32)
    values = np.ones(5)
    arguments = handle, 3, 5, descr, values, offsets, columns, info
    assert cusparse.status("cusparseDcsrilu02", *arguments, 0, None) == INVALID  # no analysis
    cusparse("cusparseDcsrilu02_analysis", *arguments, 0, None)
    assert cusparse.status("cusparseXcsrilu02_zeroPivot", handle, info, position) == ZERO_PIVOT
    assert position[0] == 2  # row 2, counted from 1, has no diagonal
    # One that is small, with a number that takes its place.
    offsets, columns, values = np.array([0, 2, 4], np.int32), np.array([0, 1, 0, 1], np.int32), np.array([1.0, 1, 1, 1])
    descr = descriptor(cusparse)
    for boosted in (False, True):
        now = values.copy()
        arguments = handle, 2, 4, descr, now, offsets, columns, info
        cusparse("cusparseDcsrilu02_analysis", *arguments, 0, None)
        cusparse("cusparseDcsrilu02_numericBoost", handle, info, int(boosted), np.array([1e-9]), np.array([0.25]))
        cusparse("cusparseDcsrilu02", *arguments, 0, None)
        status = cusparse.status("cusparseXcsrilu02_zeroPivot", handle, info, position)
        assert (status, position[0]) == ((0, -1) if boosted else (ZERO_PIVOT, 1))
        assert now.tolist() == [1, 1, 1, 0.25 if boosted else 0]


@properties(
    25,
    1000,
    seeds,
    st.integers(1, 10),
    st.integers(1, 10),
    kinds,
    bases,
    st.integers(0, 1),
    st.integers(1, 4),
    st.integers(0, 2),
)
def test_blocks_times_vectors(seed, mb, nb, kind, base, direction, block, op):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    a = Sparse(random, mb * block, nb * block, kind, base=base, form=BSR, block=block)
    stored = a.values if direction == 0 else a.by_columns
    letter, descr = LETTERS[kind], descriptor(cusparse, base)
    matrix = sm.op(a.dense, op)
    x, y = sm.values(random, kind, matrix.shape[1]), sm.values(random, kind, matrix.shape[0])
    exact = 2 * (matrix @ wide(x, kind)) - 3 * wide(y, kind)
    arrays = stored, a.offsets, a.indices, block
    cusparse(
        f"cusparse{letter}bsrmv",
        handle,
        direction,
        op,
        mb,
        nb,
        len(a.indices),
        scalar(2, kind),
        descr,
        *arrays,
        x,
        scalar(-3, kind),
        y,
    )
    synchronize(cusparse)
    check(wide(y, kind), exact, 4 * np.abs(matrix).sum(1) + 6, kind, matrix.shape[1])
    for op_b in (0, 1):
        b = sm.values(random, kind, (nb * block, 5) if op_b == 0 else (5, nb * block))
        memory, ldb = sm.place(b, COLUMNS)
        c, ldc = sm.place(np.full((mb * block, 5), np.nan, b.dtype), COLUMNS)
        cusparse(f"cusparse{letter}bsrmm", handle, direction, 0, op_b, mb, 5, nb, len(a.indices), scalar(2, kind), descr, *arrays, memory, ldb,
                 scalar(0, kind), c, ldc)  # fmt: skip
        synchronize(cusparse)
        right = sm.op(wide(b, kind), op_b)
        check(
            wide(sm.view(c, (mb * block, 5), COLUMNS), kind),
            2 * a.dense @ right,
            4 * np.abs(a.dense) @ np.abs(right),
            kind,
            nb * block,
        )


@properties(
    25,
    1000,
    seeds,
    st.integers(1, 8),
    kinds,
    bases,
    st.integers(0, 1),
    st.integers(1, 4),
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
)
def test_triangles_of_blocks(seed, mb, kind, base, direction, block, op, lower, unit):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    matrix = strong_matrix(random, mb * block, kind, base, BSR, block)
    stored = matrix.values if direction == 0 else matrix.by_columns
    letter, descr = LETTERS[kind], descriptor(cusparse, base, lower, unit)
    n, position = mb * block, ctypes.c_int()
    used = np.tril(matrix.dense) if lower else np.triu(matrix.dense)
    if unit:
        stored = (stored / (9 * n)).astype(stored.dtype)
        used = used / (9 * n)
        np.fill_diagonal(used, 1)
    arrays = descr, stored, matrix.offsets, matrix.indices, block
    f, x = sm.values(random, kind, n), np.zeros(n, stored.dtype)
    info = cusparse.out("cusparseCreateBsrsv2Info")
    common = handle, direction, op, mb, len(matrix.indices)
    cusparse(f"cusparse{letter}bsrsv2_bufferSize", *common, *arrays, info, ctypes.c_int())
    cusparse(f"cusparse{letter}bsrsv2_analysis", *common, *arrays, info, 0, None)
    cusparse(f"cusparse{letter}bsrsv2_solve", *common, scalar(2, kind), *arrays, info, f, x, 0, None)
    cusparse("cusparseXbsrsv2_zeroPivot", handle, info, position)
    exact = np.linalg.solve(sm.op(used, op), 2 * wide(f, kind))
    check(wide(x, kind), exact, 10 * np.abs(exact).max() * np.ones(n), kind, n)
    for op_x in (0, 1):
        b = sm.values(random, kind, (n, 4) if op_x == 0 else (4, n))
        memory, ldb = sm.place(b, COLUMNS)
        out, ldx = sm.place(np.zeros_like(b), COLUMNS, 1)
        info = cusparse.out("cusparseCreateBsrsm2Info")
        common = handle, direction, op, op_x, mb, 4, len(matrix.indices)
        cusparse(f"cusparse{letter}bsrsm2_bufferSize", *common, *arrays, info, ctypes.c_int())
        cusparse(f"cusparse{letter}bsrsm2_analysis", *common, *arrays, info, 0, None)
        cusparse(
            f"cusparse{letter}bsrsm2_solve", *common, scalar(2, kind), *arrays, info, memory, ldb, out, ldx, 0, None
        )
        cusparse("cusparseXbsrsm2_zeroPivot", handle, info, position)
        exact = np.linalg.solve(sm.op(used, op), 2 * sm.op(wide(b, kind), op_x))
        got = sm.op(wide(sm.view(out, b.shape, COLUMNS), kind), op_x)
        check(got, exact, 10 * np.abs(exact).max() * np.ones((n, 4)), kind, n)


def test_only_general_matrices(cusparse, handle):
    descr = descriptor(cusparse)
    cusparse("cusparseSetMatType", descr, 1)
    numbers = np.zeros(4, np.int32)
    assert (
        cusparse.status("cusparseXcsrsort", handle, 3, 3, 0, descr, numbers, numbers, None, None) == TYPE_NOT_SUPPORTED
    )
    assert cusparse.status("cusparseSetMatType", descr, 4) == INVALID
    cusparse("cusparseDestroyMatDescr", descr)


WILD = """
import ctypes
import numpy as np
from libraries.loading import Library
cusparse = Library("cusparse", "libcusparse.so.12")
handle = cusparse.out("cusparseCreate")
p = ctypes.c_void_p(0x1000)
print(cusparse.status("cusparseCreateIdentityPermutation", handle, 5, 0x1000), cusparse._cuda.cuCtxSynchronize())
"""


def test_a_wild_address_is_an_error_of_the_context(library):
    library("cusparse", "libcusparse.so.12")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", WILD], capture_output=True, text=True, timeout=60, env=environment)
    assert done.stdout == "0 700\n", done.stderr[-2000:]
