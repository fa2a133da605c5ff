"""Random sparse matrices for the tests of cuSPARSE: dense ones of numpy, and the arrays of every format."""

import ctypes

import numpy as np

# name: cudaDataType, how it lies in memory, what is computed with
TYPES = {
    "f4": (0, np.float32), "f8": (1, np.float64), "f2": (2, np.float16), "c8": (4, np.complex64), "c16": (5, np.complex128),
    "bf2": (14, np.uint16), "i1": (3, np.int8), "i4": (10, np.int32),
}  # fmt: skip
NUMBERS = ["f4", "f8", "c8", "c16"]
LETTERS = {"f4": "S", "f8": "D", "c8": "C", "c16": "Z"}
EPSILON = {
    "f4": 2.0**-24,
    "f8": 2.0**-53,
    "c8": 2.0**-23,
    "c16": 2.0**-52,
    "f2": 2.0**-11,
    "bf2": 2.0**-8,
    "i1": 0,
    "i4": 0,
}
N, T, H = range(3)  # operations
CSR, CSC, COO, BSR, SELL = 1, 2, 3, 6, 7
COLUMNS, ROWS = 1, 2  # orders


def number(kind):
    return TYPES[kind][0]


def wide(values, kind):
    """Return values as numbers that are computed with in double precision."""
    if kind == "bf2":
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.complex128 if kind[0] == "c" else np.float64)


def values(random, kind, shape):
    """Return random numbers as they lie in memory."""
    if kind == "i1":
        return random.integers(-5, 6, shape, dtype=np.int8)
    drawn = random.uniform(-1, 1, shape)
    if kind[0] == "c":
        drawn = drawn + 1j * random.uniform(-1, 1, shape)
    if kind == "bf2":
        return (drawn.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.asarray(drawn).astype(TYPES[kind][1])


def op(matrix, operation):
    return [lambda m: m, lambda m: m.T, lambda m: m.conj().T][operation](matrix)


def place(array, order, padding=3):
    """Return memory that holds a matrix in an order with a leading dimension larger than needed, and the leading dimension."""
    rows, cols = array.shape
    shape = (cols, rows + padding) if order == COLUMNS else (rows, cols + padding)
    memory = np.full(shape, 77, array.dtype)
    view(memory, array.shape, order)[...] = array
    return memory, shape[1]


def view(memory, shape, order):
    return memory[:, : shape[0]].T if order == COLUMNS else memory[:, : shape[1]]


class Sparse:
    """A sparse matrix: `dense` in double precision, and arrays of a format."""

    def __init__(
        self, random, rows, cols, kind="f4", density=0.3, form=CSR, wide_index=False, base=0, block=2, pattern=None
    ):
        self.kind, self.form, self.base, self.shape = kind, form, base, (rows, cols)
        self.index = np.int64 if wide_index else np.int32
        self.index_type = 3 if wide_index else 2
        self.there = random.random((rows, cols)) < density if pattern is None else pattern
        raw = values(random, kind, (rows, cols))
        if form == BSR:
            self.there = np.kron(self.there[::block, ::block], np.ones((block, block), bool))
        self.raw = np.where(self.there, raw, np.zeros_like(raw))
        self.dense = wide(self.raw, kind)
        r, c = np.nonzero(self.there)
        if form == CSC:
            r, c = (x[np.lexsort((r, c))] for x in (r, c))
        self.nnz = len(r)
        self.values = np.ascontiguousarray(raw[r, c])
        if form in (CSR, CSC):
            lines, count = (r, rows) if form == CSR else (c, cols)
            self.offsets = self._index(np.searchsorted(np.sort(lines), np.arange(count + 1)))
            self.indices = self._index(c if form == CSR else r)
        elif form == COO:
            self.offsets, self.indices = self._index(r), self._index(c)
        elif form == BSR:
            blocks = [
                (i, j) for i in range(rows // block) for j in range(cols // block) if self.there[i * block, j * block]
            ]
            self.offsets = self._index([sum(b[0] < i for b in blocks) for i in range(rows // block + 1)])
            self.indices = self._index([b[1] for b in blocks])
            self.blocks = [self.raw[i * block : (i + 1) * block, j * block : (j + 1) * block] for i, j in blocks]
            self.values = np.array(self.blocks, raw.dtype).reshape(-1)
            self.by_columns = np.array([b.T for b in self.blocks], raw.dtype).reshape(-1)
        elif form == SELL:
            slices = -(-rows // block)
            widths = [
                max((int(self.there[i].sum()) for i in range(s * block, min(rows, (s + 1) * block))), default=0)
                for s in range(slices)
            ]
            starts = np.concatenate([[0], np.cumsum(widths)]) * block
            columns, stored = np.full(starts[-1], -1 - base), np.full(starts[-1], 99).astype(raw.dtype)
            for i in range(rows):
                for n, j in enumerate(np.nonzero(self.there[i])[0]):
                    at = starts[i // block] + n * block + i % block
                    columns[at], stored[at] = j, raw[i, j]
            self.offsets, self.indices, self.values = self._index(starts), self._index(columns), stored
        self.block = block

    def _index(self, numbers):
        return np.asarray(numbers, self.index) + self.index(self.base)

    def descriptor(self, cusparse, block_order=ROWS):
        made = ctypes.c_void_p()
        index, rows, cols = self.index_type, *self.shape
        arrays = self.offsets, self.indices, self.values
        if self.form in (CSR, CSC):
            name = "cusparseCreateCsr" if self.form == CSR else "cusparseCreateCsc"
            cusparse(name, made, rows, cols, self.nnz, *arrays, index, index, self.base, number(self.kind))
        elif self.form == COO:
            cusparse("cusparseCreateCoo", made, rows, cols, self.nnz, *arrays, index, self.base, number(self.kind))
        elif self.form == BSR:
            b = self.block
            cusparse(
                "cusparseCreateBsr",
                made,
                rows // b,
                cols // b,
                len(self.indices),
                b,
                b,
                *arrays,
                index,
                index,
                self.base,
                number(self.kind),
                block_order,
            )
        else:
            cusparse(
                "cusparseCreateSlicedEll",
                made,
                rows,
                cols,
                self.nnz,
                len(self.values),
                self.block,
                *arrays,
                index,
                index,
                self.base,
                number(self.kind),
            )
        return made.value


def dense_matrix(cusparse, memory, shape, order, kind):
    made = ctypes.c_void_p()
    cusparse("cusparseCreateDnMat", made, *shape, memory.shape[1], memory, number(kind), order)
    return made.value


def dense_vector(cusparse, memory, kind):
    made = ctypes.c_void_p()
    cusparse("cusparseCreateDnVec", made, memory.size, memory, number(kind))
    return made.value


def scalar(value, kind):
    """Return a number as cuSPARSE wants it: of the type that is computed with."""
    return np.array([value], {"f2": np.float32, "bf2": np.float32}.get(kind, TYPES[kind][1]))


def check(got, exact, size, kind, length):
    """Compare with a bound from the sum of magnitudes."""
    bound = size * EPSILON[kind] * (length + 4) + 1e-300
    error = np.abs(got - exact)
    assert (error <= bound).all(), (kind, error.max(), bound.min())
