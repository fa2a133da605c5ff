"""cuSPARSE's generic API on the processor, against dense matrices of numpy in double precision."""

import ctypes

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries import sparse_matrices as sm
from libraries.sparse_matrices import COLUMNS, COO, CSC, CSR, ROWS, Sparse, check, scalar, wide
from spread import properties

pytestmark = pytest.mark.native

INVALID, NOT_SUPPORTED, UNINITIALIZED = 3, 10, 1
# A, x and y, and what is computed in
MIXED = [("f2", "f2", "f2", "f4"), ("f2", "f2", "f4", "f4"), ("bf2", "bf2", "bf2", "f4"), ("bf2", "bf2", "f4", "f4"), ("i1", "i1", "i4", "i4"),
         ("i1", "i1", "f4", "f4"), ("f4", "c8", "c8", "c8"), ("f8", "c16", "c16", "c16")]  # fmt: skip
COMBINATIONS = [(kind,) * 4 for kind in sm.NUMBERS] + MIXED


@pytest.fixture(scope="module")
def cusparse(library):
    return library("cusparse", "libcusparse.so.12")


@pytest.fixture(scope="module")
def handle(cusparse):
    made = cusparse.out("cusparseCreate")
    yield made
    cusparse("cusparseDestroy", made)


def synchronize(cusparse):
    assert cusparse._cuda.cuCtxSynchronize() == 0


loaded = {}


@pytest.fixture(autouse=True)
def keep(cusparse, handle):
    loaded["it"] = (cusparse, handle)
    cusparse("cusparseSetPointerMode", handle, 0)


seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 40)
scalars = st.sampled_from([0, 1, -0.5, 3])


@properties(
    60,
    3000,
    seeds,
    sizes,
    sizes,
    st.sampled_from(COMBINATIONS),
    st.sampled_from([CSR, CSC, COO, sm.BSR, sm.SELL]),
    st.integers(0, 2),
    scalars,
    scalars,
    st.booleans(),
    st.integers(0, 1),
)
def test_spmv(seed, rows, cols, kinds, form, op, alpha, beta, wide_index, base):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    if form == sm.BSR:
        rows, cols = 2 * rows, 2 * cols
    a, x_kind, y_kind, compute = kinds
    if compute == "i4":
        alpha, beta = int(alpha), int(beta)
    matrix = Sparse(random, rows, cols, a, form=form, wide_index=wide_index, base=base)
    product = sm.op(matrix.dense, op)
    x = sm.values(random, x_kind, product.shape[1])
    y = (
        sm.values(random, y_kind, product.shape[0])
        if y_kind != "i4"
        else random.integers(-99, 99, product.shape[0], dtype=np.int32)
    )
    before = wide(y, y_kind)
    if beta == 0 and y.dtype.kind in "fc":
        y[:] = np.nan  # must not be read
    device = np.array([1, 1])
    cusparse("cusparseSetPointerMode", handle, int(seed % 2))
    descriptors = (
        matrix.descriptor(cusparse),
        sm.dense_vector(cusparse, x, x_kind),
        sm.dense_vector(cusparse, y, y_kind),
    )
    arguments = (
        handle,
        op,
        scalar(alpha, compute),
        descriptors[0],
        descriptors[1],
        scalar(beta, compute),
        descriptors[2],
        sm.number(compute),
        0,
    )
    cusparse("cusparseSpMV_bufferSize", *arguments, device)
    assert device[0] >= 0
    cusparse("cusparseSpMV", *arguments, None)
    synchronize(cusparse)
    exact = alpha * (product @ wide(x, x_kind)) + beta * before
    size = abs(alpha) * (np.abs(product) @ np.abs(wide(x, x_kind))) + abs(beta) * np.abs(before)
    got = wide(y, y_kind)
    rounded = np.abs(exact) * sm.EPSILON[y_kind] + (2.0**-25 if y_kind == "f2" else 0)
    bound = size * sm.EPSILON[compute] * (product.shape[1] + 4) + rounded + 1e-300
    assert (np.abs(got - exact) <= bound).all()
    cusparse("cusparseDestroySpMat", descriptors[0])
    cusparse("cusparseDestroyDnVec", descriptors[1])


@properties(
    60,
    3000,
    seeds,
    sizes,
    sizes,
    st.integers(1, 90),
    st.sampled_from(COMBINATIONS[:6]),
    st.sampled_from([CSR, CSC, COO]),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.sampled_from([COLUMNS, ROWS]),
    st.sampled_from([COLUMNS, ROWS]),
    scalars,
    scalars,
)
def test_spmm(seed, rows, cols, columns, kinds, form, ops, order_b, order_c, alpha, beta):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    a, b_kind, c_kind, compute = kinds
    matrix = Sparse(random, rows, cols, a, form=form, wide_index=bool(seed & 1), base=seed >> 1 & 1)
    left = sm.op(matrix.dense, ops[0])
    shape = (left.shape[1], columns) if ops[1] == sm.N else (columns, left.shape[1])
    b = sm.values(random, b_kind, shape)
    c = sm.values(random, c_kind, (left.shape[0], columns))
    right, before = sm.op(wide(b, b_kind), ops[1]), wide(c, c_kind)
    if beta == 0 and c.dtype.kind in "fc":
        c[:] = np.nan
    b_memory, _ = sm.place(b, order_b)
    c_memory, _ = sm.place(c, order_c)
    descriptors = (
        matrix.descriptor(cusparse),
        sm.dense_matrix(cusparse, b_memory, shape, order_b, b_kind),
        sm.dense_matrix(cusparse, c_memory, c.shape, order_c, c_kind),
    )
    cusparse(
        "cusparseSpMM",
        handle,
        *ops,
        scalar(alpha, compute),
        descriptors[0],
        descriptors[1],
        scalar(beta, compute),
        descriptors[2],
        sm.number(compute),
        0,
        None,
    )
    synchronize(cusparse)
    exact = alpha * (left @ right) + beta * before
    size = abs(alpha) * (np.abs(left) @ np.abs(right)) + abs(beta) * np.abs(before)
    got = wide(sm.view(c_memory, c.shape, order_c), c_kind)
    bound = (
        size * sm.EPSILON[compute] * (left.shape[1] + 4)
        + np.abs(exact) * sm.EPSILON[c_kind]
        + 2.0**-25 * (c_kind == "f2")
    )
    assert (np.abs(got - exact) <= bound + 1e-300).all()
    assert (c_memory[:, c.shape[0] if order_c == COLUMNS else c.shape[1] :] == 77).all()


def test_batches_of_products(cusparse, handle):
    random = np.random.default_rng(3)
    pattern = random.random((7, 5)) < 0.5
    matrices = [Sparse(random, 7, 5, "f4", pattern=pattern) for _ in range(3)]
    b = random.random((3, 4, 5), np.float32)  # columns behind each other
    c = np.zeros((3, 4, 7), np.float32)
    together = np.concatenate([m.values for m in matrices])
    columns = np.tile(matrices[0].indices, 3)
    made = ctypes.c_void_p()
    cusparse("cusparseCreateCsr", made, 7, 5, matrices[0].nnz, matrices[0].offsets, columns, together, 2, 2, 0, 0)
    cusparse("cusparseCsrSetStridedBatch", made.value, 3, 0, matrices[0].nnz)
    dense = (
        sm.dense_matrix(cusparse, b[0], (5, 4), COLUMNS, "f4"),
        sm.dense_matrix(cusparse, c[0], (7, 4), COLUMNS, "f4"),
    )
    cusparse("cusparseDnMatSetStridedBatch", dense[0], 3, 20)
    cusparse("cusparseDnMatSetStridedBatch", dense[1], 3, 28)
    cusparse("cusparseSpMM", handle, 0, 0, scalar(1, "f4"), made.value, dense[0], scalar(0, "f4"), dense[1], 0, 0, None)
    synchronize(cusparse)
    for i in range(3):
        check(c[i].T, matrices[i].dense @ b[i].T, np.abs(matrices[i].dense) @ np.abs(b[i].T), "f4", 5)


def triangular(random, n, kind, form, lower, unit, base):
    pattern = np.tril(random.random((n, n)) < 0.4) | np.eye(n, dtype=bool)
    if not lower:
        pattern = pattern.T
    # Entries on the other side are there, and not to be looked at.
    pattern |= random.random((n, n)) < 0.2
    matrix = Sparse(random, n, n, kind, form=form, base=base, pattern=pattern)
    half = np.tril(matrix.dense) if lower else np.triu(matrix.dense)
    half /= 1 + n  # well conditioned: the diagonal outweighs the rest
    raw = half.astype(matrix.values.dtype) + np.eye(n, dtype=matrix.values.dtype)
    r, c = np.nonzero(pattern)
    if form == CSC:
        order = np.lexsort((r, c))
        r, c = r[order], c[order]
    full = np.where(np.tril(pattern) if lower else np.triu(pattern), raw, 5)
    matrix.values[:] = full[r, c]
    used = wide(raw, kind) * (np.tril(np.ones((n, n))) if lower else np.triu(np.ones((n, n))))
    if unit:
        np.fill_diagonal(used, 1)
    return matrix, used


@properties(
    40,
    2000,
    seeds,
    st.integers(1, 30),
    st.sampled_from(sm.NUMBERS),
    st.sampled_from([CSR, CSC, COO]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 2),
    st.integers(0, 1),
)
def test_spsv_and_spsm(seed, n, kind, form, lower, unit, op, base):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    matrix, used = triangular(random, n, kind, form, lower, unit, base)
    descriptor = matrix.descriptor(cusparse)
    for attribute, value in ((0, not lower), (1, unit)):
        cusparse("cusparseSpMatSetAttribute", descriptor, attribute, ctypes.c_int(value), 4)
    x = sm.values(random, kind, n)
    y = np.zeros_like(x)
    solver = cusparse.out("cusparseSpSV_createDescr")
    vectors = sm.dense_vector(cusparse, x, kind), sm.dense_vector(cusparse, y, kind)
    arguments = handle, op, scalar(2, kind), descriptor, *vectors, sm.number(kind), 0, solver
    cusparse("cusparseSpSV_bufferSize", *arguments, np.zeros(1, np.uint64))
    assert cusparse.status("cusparseSpSV_solve", *arguments) == INVALID  # no analysis yet
    cusparse("cusparseSpSV_analysis", *arguments, None)
    cusparse("cusparseSpSV_solve", *arguments)
    synchronize(cusparse)
    exact = np.linalg.solve(sm.op(used, op), 2 * wide(x, kind))
    check(wide(y, kind), exact, np.abs(exact).max() * 10 + 1, kind, n)
    # Other values, at their old places.
    doubled = matrix.values * 2
    cusparse("cusparseSpSV_updateMatrix", handle, solver, doubled, 0)
    cusparse("cusparseSpSV_solve", *arguments)
    synchronize(cusparse)
    twice = used * 2 if not unit else used * 2 - np.eye(n)
    exact = np.linalg.solve(sm.op(twice, op), 2 * wide(x, kind))
    assert np.abs(wide(y, kind) - exact).max() <= 1e5 * sm.EPSILON[kind] * (1 + np.abs(exact).max())
    cusparse("cusparseSpSV_destroyDescr", solver)

    columns, op_b, order = 5, int(seed % 3), [COLUMNS, ROWS][seed // 3 % 2]
    shape = (n, columns) if op_b == 0 else (columns, n)
    b = sm.values(random, kind, shape)
    b_memory, _ = sm.place(b, order)
    c_memory, _ = sm.place(np.zeros((n, columns), b.dtype), COLUMNS)
    solver = cusparse.out("cusparseSpSM_createDescr")
    arguments = (handle, op, op_b, scalar(1, kind), descriptor, sm.dense_matrix(cusparse, b_memory, shape, order, kind),
                 sm.dense_matrix(cusparse, c_memory, (n, columns), COLUMNS, kind), sm.number(kind), 0, solver)  # fmt: skip
    cusparse("cusparseSpSM_bufferSize", *arguments, np.zeros(1, np.uint64))
    cusparse("cusparseSpSM_analysis", *arguments, None)
    cusparse("cusparseSpSM_solve", *arguments)
    synchronize(cusparse)
    exact = np.linalg.solve(sm.op(used, op), sm.op(wide(b, kind), op_b))
    check(wide(sm.view(c_memory, (n, columns), COLUMNS), kind), exact, np.abs(exact).max() * 10 + 1, kind, n)


@properties(30, 1000, seeds, sizes, sizes, sizes, st.sampled_from(sm.NUMBERS), st.integers(0, 1), scalars)
def test_spgemm(seed, m, k, n, kind, base, alpha):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    a = Sparse(random, m, k, kind, base=base, wide_index=True)
    b = Sparse(random, k, n, kind)
    offsets = np.zeros(m + 1, np.int32)
    product = ctypes.c_void_p()
    cusparse("cusparseCreateCsr", product, m, n, 0, offsets, None, None, 2, 2, base, sm.number(kind))
    c = product.value
    descr = cusparse.out("cusparseSpGEMM_createDescr")
    left, right = a.descriptor(cusparse), b.descriptor(cusparse)
    arguments = handle, 0, 0, scalar(alpha, kind), left, right, scalar(0, kind), c, sm.number(kind), 0, descr
    size = np.zeros(1, np.uint64)
    buffer = np.zeros(64, np.uint8)
    for phase in ("cusparseSpGEMM_workEstimation", "cusparseSpGEMM_compute"):
        cusparse(phase, *arguments, size, None)
        assert 0 < size[0] <= buffer.size
        cusparse(phase, *arguments, size, buffer)
    count = np.zeros(3, np.int64)
    cusparse("cusparseSpMatGetSize", c, count[:1], count[1:2], count[2:])
    pattern = a.there.astype(int) @ b.there.astype(int) > 0
    assert count.tolist() == [m, n, pattern.sum()]
    indices, found = np.zeros(count[2], np.int32), np.zeros(count[2], sm.TYPES[kind][1])
    cusparse("cusparseCsrSetPointers", c, offsets, indices, found)
    cusparse("cusparseSpGEMM_copy", *arguments)
    synchronize(cusparse)
    r, columns = np.nonzero(pattern)
    assert (indices - base == columns).all()
    assert (offsets - base == np.searchsorted(r, np.arange(m + 1))).all()
    exact = alpha * (a.dense @ b.dense)[r, columns]
    check(wide(found, kind), exact, abs(alpha) * (np.abs(a.dense) @ np.abs(b.dense))[r, columns], kind, k)
    # The same pattern again, with other values.
    again = cusparse.out("cusparseSpGEMM_createDescr")
    common = handle, 0, 0, left, right, c, 0, again
    cusparse("cusparseSpGEMMreuse_workEstimation", *common, size, buffer)
    cusparse("cusparseSpGEMMreuse_nnz", *common, size, buffer, size, buffer, size, buffer)
    cusparse("cusparseSpGEMMreuse_copy", *common, size, buffer)
    for factor, beta in ((1, 0), (2, 1)):
        cusparse(
            "cusparseSpGEMMreuse_compute",
            handle,
            0,
            0,
            scalar(factor, kind),
            left,
            right,
            scalar(beta, kind),
            c,
            sm.number(kind),
            0,
            again,
        )
    synchronize(cusparse)
    check(
        wide(found, kind),
        3 * (a.dense @ b.dense)[r, columns],
        9 * (np.abs(a.dense) @ np.abs(b.dense))[r, columns],
        kind,
        k,
    )
    cusparse("cusparseSpGEMM_destroyDescr", again)


@properties(
    30,
    1000,
    seeds,
    sizes,
    sizes,
    sizes,
    st.sampled_from(sm.NUMBERS),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.sampled_from([COLUMNS, ROWS]),
    scalars,
)
def test_sddmm(seed, m, k, n, kind, ops, order, beta):
    cusparse, handle = loaded["it"]
    random = np.random.default_rng(seed)
    c = Sparse(random, m, n, kind, base=int(seed & 1))
    before = wide(c.values, kind)
    shapes = [(m, k) if ops[0] == 0 else (k, m), (k, n) if ops[1] == 0 else (n, k)]
    a, b = (sm.values(random, kind, shape) for shape in shapes)
    memories = [sm.place(x, order)[0] for x in (a, b)]
    dense = [
        sm.dense_matrix(cusparse, memory, shape, order, kind) for memory, shape in zip(memories, shapes, strict=True)
    ]
    if beta == 0:
        c.values[:] = np.nan
    cusparse(
        "cusparseSDDMM",
        handle,
        *ops,
        scalar(2, kind),
        *dense,
        scalar(beta, kind),
        c.descriptor(cusparse),
        sm.number(kind),
        0,
        None,
    )
    synchronize(cusparse)
    left, right = sm.op(wide(a, kind), ops[0]), sm.op(wide(b, kind), ops[1])
    at = np.nonzero(c.there)
    check(
        wide(c.values, kind),
        2 * (left @ right)[at] + beta * before,
        2 * (np.abs(left) @ np.abs(right))[at] + abs(beta) * np.abs(before),
        kind,
        k,
    )


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("order", [COLUMNS, ROWS])
@pytest.mark.parametrize(("kind", "block"), [("f4", 2), ("f8", 4), ("c16", 4)])
def test_sddmm_into_a_matrix_of_blocks(cusparse, handle, kind, block, order, base):
    random = np.random.default_rng(11)
    rows, cols, k = 5 * block, 7 * block, 6
    c = Sparse(random, rows, cols, kind, form=sm.BSR, base=base, block=block)
    before = np.array(c.blocks)
    if order == COLUMNS:
        c.values[:] = c.by_columns
    a, b = sm.values(random, kind, (rows, k)), sm.values(random, kind, (k, cols))
    memories = [sm.place(x, ROWS)[0] for x in (a, b)]
    dense = [sm.dense_matrix(cusparse, m, x.shape, ROWS, kind) for m, x in zip(memories, (a, b), strict=True)]
    descriptor, size = c.descriptor(cusparse, order), np.zeros(1, np.uint64)
    common = handle, 0, 0, scalar(2, kind), *dense, scalar(3, kind), descriptor, sm.number(kind), 0
    cusparse("cusparseSDDMM_bufferSize", *common, size)
    cusparse("cusparseSDDMM_preprocess", *common, None)
    cusparse("cusparseSDDMM", *common, None)
    synchronize(cusparse)
    found = c.values.reshape(-1, block, block)
    if order == COLUMNS:
        found = found.swapaxes(1, 2)

    def blocks_of(whole):
        ends = c.offsets - base
        lines = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        return np.array(
            [
                whole[i * block : (i + 1) * block, j * block : (j + 1) * block]
                for i, j in zip(lines, c.indices - base, strict=True)
            ]
        )

    check(
        found,
        blocks_of(2 * (wide(a, kind) @ wide(b, kind))) + 3 * before,
        blocks_of(2 * (np.abs(a) @ np.abs(b))) + 3 * np.abs(before),
        kind,
        k,
    )


@pytest.mark.parametrize("form", [CSR, CSC, COO])
@pytest.mark.parametrize("order", [COLUMNS, ROWS])
@pytest.mark.parametrize(("kind", "base"), [("f4", 0), ("c16", 1), ("f2", 1), ("bf2", 0)])
def test_between_dense_and_sparse(cusparse, handle, form, order, kind, base):
    random = np.random.default_rng(8)
    matrix = Sparse(random, 23, 17, kind, form=form, base=base, density=0.4)
    memory, _ = sm.place(np.ones((23, 17), matrix.raw.dtype), order)
    dense = sm.dense_matrix(cusparse, memory, (23, 17), order, kind)
    cusparse("cusparseSparseToDense", handle, matrix.descriptor(cusparse), dense, 0, None)
    synchronize(cusparse)
    assert (sm.view(memory, (23, 17), order) == matrix.raw).all()
    assert (memory[:, 23 if order == COLUMNS else 17 :] == 77).all()
    # And back. What is zero in the sparse matrix is not found again: there is none.
    nonzero = int((wide(matrix.raw, kind) != 0).sum())
    made = Sparse(random, 23, 17, kind, form=form, base=base, pattern=matrix.there)
    for array in (made.offsets, made.indices, made.values):
        array[...] = 0
    descriptor = made.descriptor(cusparse)
    cusparse("cusparseDenseToSparse_bufferSize", handle, dense, descriptor, 0, np.zeros(1, np.uint64))
    cusparse("cusparseDenseToSparse_analysis", handle, dense, descriptor, 0, None)
    count = np.zeros(3, np.int64)
    cusparse("cusparseSpMatGetSize", descriptor, count[:1], count[1:2], count[2:])
    assert count[2] == nonzero == matrix.nnz
    cusparse("cusparseDenseToSparse_convert", handle, dense, descriptor, 0, None)
    synchronize(cusparse)
    for name in ("offsets", "indices", "values"):
        assert (getattr(made, name) == getattr(matrix, name)).all(), name


@pytest.mark.parametrize("kind", [*sm.NUMBERS, "f2"])
@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_vectors(cusparse, handle, kind, base, index):
    random = np.random.default_rng(4)
    at = np.sort(random.choice(50, 20, replace=False))
    x, y = sm.values(random, kind, 20), sm.values(random, kind, 50)
    indices = (at + base).astype(index)
    sparse = ctypes.c_void_p()
    cusparse("cusparseCreateSpVec", sparse, 50, 20, indices, x, 2 if index is np.int32 else 3, base, sm.number(kind))
    vector = sm.dense_vector(cusparse, y, kind)
    compute = "f4" if kind == "f2" else kind
    exact = 3 * wide(y, kind)
    exact[at] += 2 * wide(x, kind)
    size = np.abs(exact) + 6
    cusparse("cusparseAxpby", handle, scalar(2, compute), sparse.value, scalar(3, compute), vector)
    synchronize(cusparse)
    check(wide(y, kind), exact, size, kind, 2)
    before = y.copy()
    cusparse("cusparseScatter", handle, sparse.value, vector)
    synchronize(cusparse)
    before[at] = x
    assert (y == before).all()
    y[at] = np.arange(20)
    cusparse("cusparseGather", handle, vector, sparse.value)
    synchronize(cusparse)
    assert (x == np.arange(20)).all()
    x[:] = sm.values(random, kind, 20)
    for op in (0, 2):
        result = np.zeros(1, sm.TYPES[compute][1])
        cusparse("cusparseSpVV", handle, op, sparse.value, vector, result, sm.number(compute), None)
        one = wide(x, kind).conj() if op else wide(x, kind)
        check(
            wide(result, compute),
            (one * wide(y, kind)[at]).sum(),
            (np.abs(one) * np.abs(wide(y, kind)[at])).sum(),
            compute,
            20,
        )
    c, s = 0.8, 0.6
    new_x, new_y = c * wide(x, kind) + s * wide(y, kind)[at], c * wide(y, kind)[at] - s * wide(x, kind)
    cusparse("cusparseRot", handle, scalar(c, compute), scalar(s, compute), sparse.value, vector)
    synchronize(cusparse)
    check(wide(x, kind), new_x, np.abs(new_x) + 20, kind, 2)
    check(wide(y, kind)[at], new_y, np.abs(new_y) + 20, kind, 2)


def test_descriptors_tell_what_they_were_told(cusparse):
    matrix = Sparse(np.random.default_rng(1), 5, 4, "f8", wide_index=True, base=1)
    descriptor = matrix.descriptor(cusparse)
    numbers, pointers, kinds = np.zeros(3, np.int64), np.zeros(3, np.uint64), np.zeros(4, np.int32)
    cusparse(
        "cusparseCsrGet",
        descriptor,
        *(numbers[i:] for i in range(3)),
        *(pointers[i:] for i in range(3)),
        *(kinds[i:] for i in range(4)),
    )
    assert numbers.tolist() == [5, 4, matrix.nnz]
    assert pointers.tolist() == [x.ctypes.data for x in (matrix.offsets, matrix.indices, matrix.values)]
    assert kinds.tolist() == [3, 3, 1, 1]
    assert (
        cusparse.status(
            "cusparseCooGet",
            descriptor,
            *(numbers[i:] for i in range(3)),
            *(pointers[i:] for i in range(3)),
            *(kinds[i:] for i in range(3)),
        )
        == INVALID
    )
    other = np.zeros(30)
    cusparse("cusparseSpMatSetValues", descriptor, other)
    cusparse("cusparseSpMatGetValues", descriptor, pointers)
    assert pointers[0] == other.ctypes.data
    form = ctypes.c_int()
    cusparse("cusparseSpMatGetFormat", descriptor, form)
    assert form.value == CSR
    cusparse("cusparseSpMatSetAttribute", descriptor, 0, ctypes.c_int(1), 4)
    cusparse("cusparseSpMatGetAttribute", descriptor, 0, form, 4)
    assert form.value == 1
    assert cusparse.status("cusparseSpMatSetAttribute", descriptor, 0, ctypes.c_int(9), 4) == INVALID
    dense = sm.dense_matrix(cusparse, np.zeros((6, 5)), (5, 6), COLUMNS, "f8")
    cusparse("cusparseDnMatGet", dense, *(numbers[i:] for i in range(3)), pointers, kinds, kinds[1:])
    assert numbers.tolist() == [5, 6, 5] and kinds[:2].tolist() == [1, 1]


def test_what_is_wrong_has_its_status(cusparse, handle):
    matrix = Sparse(np.random.default_rng(1), 5, 4)
    a, x, y = matrix.descriptor(cusparse), np.zeros(4, np.float32), np.zeros(5, np.float32)
    one = scalar(1, "f4")
    vectors = sm.dense_vector(cusparse, x, "f4"), sm.dense_vector(cusparse, y, "f4")
    assert cusparse.status("cusparseSpMV", None, 0, one, a, *[vectors[0], one, vectors[1]], 0, 0, None) == UNINITIALIZED
    assert cusparse.status("cusparseSpMV", handle, 0, one, a, vectors[1], one, vectors[0], 0, 0, None) == INVALID
    assert cusparse.status("cusparseSpMV", handle, 7, one, a, vectors[0], one, vectors[1], 0, 0, None) == INVALID
    assert cusparse.status("cusparseSpMV", handle, 0, one, None, vectors[0], one, vectors[1], 0, 0, None) == INVALID
    assert cusparse.status("cusparseSpMV", handle, 0, None, a, vectors[0], one, vectors[1], 0, 0, None) == INVALID
    assert cusparse.status("cusparseSpMV", handle, 0, one, a, vectors[0], one, vectors[1], 1, 0, None) == NOT_SUPPORTED
    made = ctypes.c_void_p()
    assert cusparse.status("cusparseCreateDnMat", made, 5, 4, 4, x, 0, COLUMNS) == INVALID
    assert cusparse.status("cusparseCreateCsr", made, -1, 4, 4, x, x, x, 2, 2, 0, 0) == INVALID
    assert cusparse.status("cusparseSpMVOp_destroyPlan", None) == NOT_SUPPORTED  # refused by name


def test_products_in_a_graph(cusparse, handle):
    cuda = cusparse._cuda
    stream, graph, launched = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    matrix = Sparse(np.random.default_rng(1), 50, 40, "f8")
    x, y = np.ones(40), np.zeros(50)
    vectors = sm.dense_vector(cusparse, x, "f8"), sm.dense_vector(cusparse, y, "f8")
    a = matrix.descriptor(cusparse)
    cusparse("cusparseSetStream", handle, stream.value)
    assert cuda.cuStreamBeginCapture_v2(stream, 0) == 0
    cusparse("cusparseSpMV", handle, 0, scalar(1, "f8"), a, vectors[0], scalar(1, "f8"), vectors[1], 1, 0, None)
    assert cuda.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
    assert not y.any()
    assert cuda.cuGraphInstantiateWithFlags(ctypes.byref(launched), graph, ctypes.c_uint64(0)) == 0
    for _ in range(3):
        assert cuda.cuGraphLaunch(launched, stream) == 0
    assert cuda.cuStreamSynchronize(stream) == 0
    cusparse("cusparseSetStream", handle, None)
    check(y, 3 * matrix.dense.sum(1), 3 * np.abs(matrix.dense).sum(1), "f8", 50)
