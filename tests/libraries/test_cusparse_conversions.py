"""cuSPARSE on the processor: blocks of any shape, pruning, unsorted rows, colours, masks and sums, against dense matrices of numpy."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries import sparse_matrices as sm
from libraries.sparse_matrices import CSR, LETTERS, Sparse, check, scalar
from spread import properties

pytestmark = pytest.mark.native

INVALID, TYPE_NOT_SUPPORTED, NOT_SUPPORTED = 3, 8, 10
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


def descriptor(cusparse, base=0):
    made = cusparse.out("cusparseCreateMatDescr")
    cusparse("cusparseSetMatIndexBase", made, base)
    return made


seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 30)
dims = st.integers(1, 5)
kinds = st.sampled_from(sm.NUMBERS)
bases = st.integers(0, 1)


def padded(array, rows, cols):
    mb, nb = -(-array.shape[0] // rows), -(-array.shape[1] // cols)
    out = np.zeros((mb * rows, nb * cols), array.dtype)
    out[: array.shape[0], : array.shape[1]] = array
    return out.reshape(mb, rows, nb, cols).transpose(0, 2, 1, 3)


def in_blocks(values, there, rows, cols, direction, base):
    """Return values, offsets and columns of a matrix of blocks, by numpy."""
    full = padded(there, rows, cols).any((2, 3))
    r, c = np.nonzero(full)
    blocks = padded(values, rows, cols)[r, c]
    blocks = blocks if direction == 0 else blocks.transpose(0, 2, 1)
    offsets = np.concatenate([[0], np.cumsum(full.sum(1))])
    return blocks.reshape(-1), (offsets + base).astype(np.int32), (c + base).astype(np.int32)


def same(got, expected):
    assert all((g == e).all() for g, e in zip(got, expected, strict=True))


@properties(25, 1000, seeds, sizes, sizes, kinds, bases, dims, dims, dims, dims, st.integers(0, 1))
def test_blocks_of_any_shape(seed, rows, cols, kind, base, row_dim, col_dim, row_other, col_other, direction):
    cusparse, handle = loaded["it"]
    a = Sparse(np.random.default_rng(seed), rows, cols, kind, density=0.1, base=base)
    letter, mine, other = LETTERS[kind], descriptor(cusparse, base), descriptor(cusparse, 1 - base)
    mb, nb = -(-rows // row_dim), -(-cols // col_dim)
    for suffix, size in (("bufferSize", ctypes.c_int()), ("bufferSizeExt", ctypes.c_size_t())):
        arguments = direction, rows, cols, mine, a.values, a.offsets, a.indices, row_dim, col_dim
        cusparse(f"cusparse{letter}csr2gebsr_{suffix}", handle, *arguments, size)
        assert size.value > 0
    buffer = np.zeros(size.value, np.uint8)
    offsets, total = np.zeros(mb + 1, np.int32), ctypes.c_int()
    shape = row_dim, col_dim
    arguments = direction, rows, cols, mine, a.offsets, a.indices, other, offsets, *shape, total, buffer
    cusparse("cusparseXcsr2gebsrNnz", handle, *arguments)
    expected = in_blocks(a.raw, a.there, *shape, direction, 1 - base)
    assert total.value == len(expected[2])
    values, columns = np.full(len(expected[0]), 9, a.values.dtype), np.zeros(total.value, np.int32)
    arguments = mine, a.values, a.offsets, a.indices, other, values, offsets, columns, *shape, buffer
    cusparse(f"cusparse{letter}csr2gebsr", handle, direction, rows, cols, *arguments)
    synchronize(cusparse)
    same((values, offsets, columns), expected)
    # To rows: every element of a block is an entry, the padding as well.
    full = np.kron(padded(a.there, *shape).any((2, 3)), np.ones(shape, bool))
    raw = padded(a.raw, *shape).transpose(0, 2, 1, 3).reshape(full.shape)
    r, c = np.nonzero(full)
    back = np.zeros(len(r), a.values.dtype), np.zeros(mb * row_dim + 1, np.int32), np.zeros(len(r), np.int32)
    entries = raw[r, c], np.searchsorted(r, np.arange(mb * row_dim + 1)) + base, c + base
    arguments = other, values, offsets, columns, *shape, mine, *back
    cusparse(f"cusparse{letter}gebsr2csr", handle, direction, mb, nb, *arguments)
    synchronize(cusparse)
    same(back, entries)
    pattern = np.zeros_like(back[1]), np.zeros_like(back[2])
    cusparse("cusparseXgebsr2csr", handle, direction, mb, nb, other, offsets, columns, *shape, mine, *pattern)
    synchronize(cusparse)
    same(pattern, entries[1:])
    # To blocks of another shape.
    to = row_other, col_other
    counted = np.zeros(-(-full.shape[0] // row_other) + 1, np.int32)
    for suffix, size in (("bufferSize", ctypes.c_int()), ("bufferSizeExt", ctypes.c_size_t())):
        arguments = direction, mb, nb, total.value, other, values, offsets, columns, *shape, *to
        cusparse(f"cusparse{letter}gebsr2gebsr_{suffix}", handle, *arguments, size)
    count = ctypes.c_int()
    arguments = direction, mb, nb, total.value, other, offsets, columns, *shape, mine, counted, *to, count, buffer
    cusparse("cusparseXgebsr2gebsrNnz", handle, *arguments)
    expected = in_blocks(raw, full, *to, direction, base)
    assert count.value == len(expected[2])
    turned = np.full(len(expected[0]), 9, a.values.dtype), counted, np.zeros(count.value, np.int32)
    arguments = direction, mb, nb, total.value, other, values, offsets, columns, *shape, mine, *turned, *to, buffer
    cusparse(f"cusparse{letter}gebsr2gebsr", handle, *arguments)
    synchronize(cusparse)
    same(turned, expected)
    # By columns of blocks: what is in a block stays as it is.
    for suffix, size in (("bufferSize", ctypes.c_int()), ("bufferSizeExt", ctypes.c_size_t())):
        arguments = mb, nb, total.value, values, offsets, columns, *shape
        cusparse(f"cusparse{letter}gebsr2gebsc_{suffix}", handle, *arguments, size)
    for action in range(2):
        made = np.full_like(values, 7), np.zeros(total.value, np.int32), np.zeros(nb + 1, np.int32)
        arguments = mb, nb, total.value, values, offsets, columns, *shape, *made, action, 1 - base, buffer
        cusparse(f"cusparse{letter}gebsr2gebsc", handle, *arguments)
        synchronize(cusparse)
        block_rows = np.repeat(np.arange(mb), np.diff(offsets))
        order = np.lexsort((block_rows, columns))
        same(
            made[1:],
            (block_rows[order] + 1 - base, np.searchsorted(columns[order] + base - 1, np.arange(nb + 1)) + 1 - base),
        )
        expected = values.reshape(total.value, row_dim * col_dim)[order].reshape(-1)
        assert (made[0] == (expected if action else 7)).all()


def pruned(there, values, limit, base):
    keep = there & (np.abs(values.astype(np.float64)) > limit)
    r, c = np.nonzero(keep)
    return values[r, c], np.searchsorted(r, np.arange(len(values) + 1)) + base, c + base


PRUNED = {"f2": "H", "f4": "S", "f8": "D"}


@properties(40, 1000, seeds, sizes, sizes, st.sampled_from(list(PRUNED)), bases, st.floats(0, 100, width=32), st.booleans(), st.booleans())  # fmt: skip
def test_pruning(seed, rows, cols, kind, base, percentage, dense, device):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    a = Sparse(random, rows, cols, kind, base=base)
    mine, other = descriptor(cusparse, base), descriptor(cusparse, 1 - base)
    if dense:
        memory, ld = sm.place(sm.values(random, kind, (rows, cols)), sm.COLUMNS)
        all_values, there = sm.view(memory, (rows, cols), sm.COLUMNS), np.ones((rows, cols), bool)
        source = rows, cols, memory, ld
        stem = f"cusparse{PRUNED[kind]}pruneDense2csr"
    else:
        all_values, there = a.raw, a.there
        source = rows, cols, a.nnz, mine, a.values, a.offsets, a.indices
        stem = f"cusparse{PRUNED[kind]}pruneCsr2csr"
    sizes = np.sort(np.abs(all_values[there].astype(np.float64)))
    # One of the elements: it must not be among what stays.
    threshold = random.choice(all_values[there]) if there.any() else all_values.dtype.type(0.5)
    threshold = np.abs(np.array([threshold], all_values.dtype))
    place = int(np.clip(np.ceil(len(sizes) * percentage / 100) - 1, 0, max(len(sizes) - 1, 0)))
    info = cusparse.out("cusparseCreatePruneInfo")
    cusparse("cusparseSetPointerMode", handle, int(device))
    by_size = threshold, float(threshold[0]), "", ()
    by_percentage = percentage, sizes[place] if len(sizes) else 0, "ByPercentage", (info,)
    for given, limit, suffix, more in (by_size, by_percentage):
        expected = pruned(there, all_values, limit, 1 - base)
        size, offsets, total = ctypes.c_size_t(), np.zeros(rows + 1, np.int32), np.zeros(1, np.int32)
        cusparse(f"{stem}{suffix}_bufferSizeExt", handle, *source, given, other, None, offsets, None, *more, size)
        buffer = np.zeros(size.value, np.uint8)
        cusparse(f"{stem}Nnz{suffix}", handle, *source, given, other, offsets, total, *more, buffer)
        synchronize(cusparse)
        assert total[0] == len(expected[2])
        made = np.zeros(total[0], all_values.dtype), offsets, np.zeros(total[0], np.int32)
        cusparse(f"{stem}{suffix}", handle, *source, given, other, *made, *more, buffer)
        synchronize(cusparse)
        same(made, expected)
    cusparse("cusparseDestroyPruneInfo", info)


def test_percentages_have_limits(cusparse, handle):
    a, offsets, total = np.ones((2, 2), np.float32), np.zeros(3, np.int32), np.zeros(1, np.int32)
    info, descr = cusparse.out("cusparseCreatePruneInfo"), descriptor(cusparse)
    for percentage in (-1.0, 101.0, float("nan")):
        arguments = handle, 2, 2, a, 2, percentage, descr, offsets, total, info, None
        assert cusparse.status("cusparseSpruneDense2csrNnzByPercentage", *arguments) == INVALID
    a[0, 0] = np.nan  # not larger than anything, and no harm
    cusparse("cusparseSpruneDense2csrNnzByPercentage", handle, 2, 2, a, 2, 10.0, descr, offsets, total, info, None)
    assert total[0] == 0
    cusparse("cusparseSetMatType", descr, 1)
    arguments = handle, 2, 2, a, 2, np.ones(1, np.float32), descr, offsets, total, None
    assert cusparse.status("cusparseSpruneDense2csrNnz", *arguments) == TYPE_NOT_SUPPORTED


@properties(25, 1000, seeds, sizes, sizes, kinds, bases)
def test_unsorted_rows_and_back(seed, rows, cols, kind, base):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    a = Sparse(random, rows, cols, kind, base=base)
    lines = zip(a.offsets - base, a.offsets[1:] - base, strict=False)
    mixed = np.concatenate([random.permutation(np.arange(first, last)) for first, last in lines]).astype(int)
    values, columns = a.values[mixed], a.indices[mixed]
    as_given = values.copy(), columns.copy()
    info, size, descr = cusparse.out("cusparseCreateCsru2csrInfo"), ctypes.c_size_t(), descriptor(cusparse, base)
    arrays = values, a.offsets, columns
    name = f"cusparse{LETTERS[kind]}csr"
    cusparse(f"{name}u2csr_bufferSizeExt", handle, rows, cols, a.nnz, *arrays, info, size)
    buffer = np.zeros(size.value, np.uint8)
    assert cusparse.status(f"{name}2csru", handle, rows, cols, a.nnz, descr, *arrays, info, buffer) == INVALID
    cusparse(f"{name}u2csr", handle, rows, cols, a.nnz, descr, *arrays, info, buffer)
    synchronize(cusparse)
    same((values, columns), (a.values, a.indices))
    cusparse(f"{name}2csru", handle, rows, cols, a.nnz, descr, *arrays, info, buffer)
    synchronize(cusparse)
    same((values, columns), as_given)
    cusparse("cusparseDestroyCsru2csrInfo", info)


@properties(25, 1000, seeds, sizes, kinds, bases, st.floats(0, 1), st.booleans())
def test_neighbours_have_other_colours(seed, n, kind, base, fraction, symmetric):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    pattern = random.random((n, n)) < 0.15
    a = Sparse(random, n, n, kind, base=base, pattern=pattern | pattern.T if symmetric else pattern)
    info, count = cusparse.out("cusparseCreateColorInfo"), ctypes.c_int()
    coloring, reordering = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    fraction = np.array([fraction], a.values.real.dtype)
    matrix = n, a.nnz, descriptor(cusparse, base), a.values, a.offsets, a.indices
    cusparse(f"cusparse{LETTERS[kind]}csrcolor", handle, *matrix, fraction, count, coloring, reordering, info)
    synchronize(cusparse)
    r, c = np.nonzero(a.there)
    assert (coloring[r[r != c]] != coloring[c[r != c]]).all()
    assert sorted(set(coloring)) == list(range(count.value))
    assert sorted(reordering) == list(range(n)) and (np.diff(coloring[reordering]) >= 0).all()
    if fraction[0] == 1:
        degree = (a.there | a.there.T).sum(1).max()
        assert count.value <= degree + 1
    same = coloring.copy()
    cusparse(f"cusparse{LETTERS[kind]}csrcolor", handle, *matrix, fraction, count, coloring, None, info)
    assert (same == coloring).all()
    cusparse("cusparseDestroyColorInfo", info)


def test_all_nodes_are_coloured_with_few_colours(cusparse, handle):
    """A grid of two colours."""
    n = 8
    node = np.arange(n * n).reshape(n, n)
    pattern = np.zeros((n * n, n * n), bool)
    pattern[node[:, :-1], node[:, 1:]] = pattern[node[:-1], node[1:]] = True
    a = Sparse(np.random.default_rng(0), n * n, n * n, "f8", pattern=pattern | pattern.T)
    coloring, count = np.zeros(n * n, np.int32), ctypes.c_int()
    info, matrix = cusparse.out("cusparseCreateColorInfo"), (a.values, a.offsets, a.indices)
    arguments = n * n, a.nnz, descriptor(cusparse), *matrix, np.ones(1), count, coloring, None, info
    cusparse("cusparseDcsrcolor", handle, *arguments)
    assert count.value == 2
    arguments = n * n, a.nnz, descriptor(cusparse), *matrix, np.full(1, 1.5), count, coloring, None, info
    assert cusparse.status("cusparseDcsrcolor", handle, *arguments) == INVALID


@properties(25, 1000, seeds, dims, dims, dims, kinds, bases, st.integers(0, 1), st.booleans())
def test_masked_blocks_times_vectors(seed, mb, nb, block, kind, base, direction, overwritten):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    a = Sparse(random, mb * block, nb * block, kind, 0.5, sm.BSR, base=base, block=block)
    stored = a.values if direction == 0 else a.by_columns
    # Rows may end sooner than where the next begins.
    counts = np.diff(a.offsets)
    used = (counts * random.random(mb)).round().astype(np.int32)
    ends = (a.offsets[:-1] + used).astype(np.int32)
    dense = a.dense.copy()
    for row in range(mb):
        for k in range(ends[row] - base, a.offsets[row + 1] - base):
            column = a.indices[k] - base
            dense[row * block : (row + 1) * block, column * block : (column + 1) * block] = 0
    mask = np.nonzero(random.random(mb) < 0.6)[0]
    x, y = sm.values(random, kind, nb * block), sm.values(random, kind, mb * block)
    alpha, beta = scalar(1.5, kind), scalar(0 if overwritten else -0.5, kind)
    exact = sm.wide(y, kind)
    size = np.abs(exact)
    rows = (mask[:, None] * block + np.arange(block)).reshape(-1)
    exact[rows] = alpha[0] * (dense @ sm.wide(x, kind))[rows] + beta[0] * exact[rows]
    size[rows] += 1.5 * (np.abs(dense) @ np.abs(sm.wide(x, kind)))[rows]
    if overwritten:
        y[rows] = np.nan
    given = y.copy()
    arguments = direction, 0, len(mask), mb, nb, len(a.indices), alpha, descriptor(cusparse, base), stored
    arrays = (mask + base).astype(np.int32), a.offsets[:-1].copy(), ends, a.indices
    cusparse(f"cusparse{LETTERS[kind]}bsrxmv", handle, *arguments, *arrays, block, x, beta, y)
    synchronize(cusparse)
    check(y.astype(exact.dtype), exact, size, kind, nb * block)
    others = np.setdiff1d(np.arange(mb * block), rows)
    assert (y[others] == given[others]).all()
    refused = direction, 1, *arguments[2:], *arrays, block, x, beta, y
    assert cusparse.status(f"cusparse{LETTERS[kind]}bsrxmv", handle, *refused) == NOT_SUPPORTED


FACTORS = st.sampled_from([0, 1, -0.75])


@properties(40, 1000, seeds, sizes, sizes, kinds, bases, st.integers(0, 2), st.integers(0, 2), FACTORS, FACTORS, st.booleans(), st.booleans())  # fmt: skip
def test_sums_of_sparse_matrices(seed, rows, cols, kind, base, op_a, op_b, alpha, beta, device, wide_index):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)

    def matrix(op, wide_index):
        shape = (rows, cols) if op == sm.N else (cols, rows)
        return Sparse(random, *shape, kind, form=CSR, wide_index=wide_index, base=base)

    a, b = matrix(op_a, wide_index), matrix(op_b, False)
    there = np.zeros((rows, cols), bool)
    if alpha:
        there |= sm.op(a.there, op_a)
    if beta:
        there |= sm.op(b.there, op_b)
    exact = alpha * sm.op(a.dense, op_a) + beta * sm.op(b.dense, op_b)
    index = np.int64 if wide_index else np.int32
    index_type, offsets, made = (3 if wide_index else 2), np.zeros(rows + 1, index), ctypes.c_void_p()
    types = index_type, index_type, 1 - base, sm.number(kind)
    cusparse("cusparseCreateCsr", made, rows, cols, 0, offsets, None, None, *types)
    cusparse("cusparseSetPointerMode", handle, int(device))
    descr, size = cusparse.out("cusparseSpGEAM_createDescr"), ctypes.c_size_t()
    operands = op_a, op_b, scalar(alpha, kind), a.descriptor(cusparse), scalar(beta, kind), b.descriptor(cusparse)
    call = handle, *operands, made.value, sm.number(kind), 0, descr
    cusparse("cusparseSpGEAM_bufferSize", *call, size)
    buffer = np.zeros(size.value, np.uint8)
    cusparse("cusparseSpGEAM_nnz", *call, buffer)
    counts = [ctypes.c_int64() for _ in range(3)]
    cusparse("cusparseSpMatGetSize", made.value, *counts)
    assert [count.value for count in counts] == [rows, cols, there.sum()]
    r, c = np.nonzero(there)
    assert (offsets == np.searchsorted(r, np.arange(rows + 1)) + 1 - base).all()
    if len(r):
        assert cusparse.status("cusparseSpGEAM", *call, buffer) == INVALID  # nowhere to write to
    values, columns = np.zeros(len(r), a.values.dtype), np.zeros(len(r), index)
    if len(r):
        cusparse("cusparseCsrSetPointers", made.value, offsets, columns, values)
    cusparse("cusparseSpGEAM", *call, buffer)
    synchronize(cusparse)
    assert (columns == c + 1 - base).all()
    size = np.abs(sm.op(a.dense, op_a)) + np.abs(sm.op(b.dense, op_b))
    check(values.astype(exact.dtype), exact[r, c], size[r, c], kind, 2)
    cusparse("cusparseSpGEAM_destroyDescr", descr)


def test_what_sums_refuse(cusparse, handle):
    random = np.random.default_rng(0)
    a, b = (Sparse(random, 4, 5, "f4").descriptor(cusparse) for _ in range(2))
    other, columns = Sparse(random, 5, 4, "f4").descriptor(cusparse), Sparse(random, 4, 5, "f4", form=sm.CSC)
    one, descr, size = scalar(1, "f4"), cusparse.out("cusparseSpGEAM_createDescr"), ctypes.c_size_t()

    def status(a, b, compute=0, descr=descr, op=0, alpha=one):
        arguments = op, 0, alpha, a, one, b, a, compute, 0, descr, size
        return cusparse.status("cusparseSpGEAM_bufferSize", handle, *arguments)

    assert status(a, b) == 0
    assert status(a, other) == INVALID and status(a, b, op=3) == INVALID
    assert status(a, b, descr=None) == INVALID and status(a, b, alpha=None) == INVALID
    assert status(a, columns.descriptor(cusparse)) == NOT_SUPPORTED
    assert status(a, b, compute=1) == NOT_SUPPORTED


def test_programs_of_operators_are_refused_by_name(cusparse):
    assert cusparse.status("cusparseSpMMOp", None, None) == NOT_SUPPORTED
