"""cuSPARSELt on the processor: products of matrices of which half of each group is zero, against numpy's in doubles."""

import ctypes

import numpy as np
import pytest

pytestmark = pytest.mark.native

F32, F16, S8, S32 = 0, 2, 3, 10
COL, ROW = 1, 2
PLAIN, TRANSPOSED = 0, 1
COMPUTE = {F32: 2, F16: 2, S8: 0}
TYPES = {F32: np.float32, F16: np.float16, S8: np.int8, S32: np.int32}
RELU, UPPER, GELU, VECTOR, BIAS = 0, 1, 3, 5, 8
INVALID, NOT_SUPPORTED = 3, 10


class Descriptor(ctypes.Structure):
    """The opaque 512 bytes, aligned to 16."""

    _fields_ = [("data", ctypes.c_uint8 * 528)]

    @property
    def place(self):
        return ctypes.addressof(self) + -ctypes.addressof(self) % 16


@pytest.fixture(scope="module")
def lt(library):
    return library("cusparselt", "libcusparseLt.so.0")


@pytest.fixture(scope="module")
def handle(lt):
    made = Descriptor()
    lt("cusparseLtInit", made.place)
    yield made
    lt("cusparseLtDestroy", made.place)


def half_zero(rng, rows, cols, kind, along):
    """Random numbers, of which along an axis half of each four (two of f32) are zero, in random places."""
    values = numbers(rng, (rows, cols), kind)
    group = 2 if kind == F32 else 4
    lines = np.moveaxis(values, along, -1).reshape(-1, group)
    for line in lines:
        line[rng.permutation(group)[: group // 2]] = 0
    moved = lines.reshape(np.moveaxis(values, along, -1).shape)
    return np.ascontiguousarray(np.moveaxis(moved, -1, along))


def numbers(rng, shape, kind):
    if kind in (S8, S32):
        return rng.integers(-100, 100, shape).astype(TYPES[kind])
    return rng.standard_normal(shape).astype(TYPES[kind])


def made(rng, shape, kind, structured, along):
    return half_zero(rng, *shape, kind, along) if structured else numbers(rng, shape, kind)


def stored(values, order):
    return np.array(values, order="C" if order == ROW else "F")


def describe(lt, handle, values, kind, order, structured=False):
    made = Descriptor()
    rows, cols = values.shape
    ld = cols if order == ROW else rows
    name = "cusparseLtStructuredDescriptorInit" if structured else "cusparseLtDenseDescriptorInit"
    lt(name, handle.place, made.place, rows, cols, ld, 16, kind, order, *([0] if structured else []))
    return made


class Product:
    """One product with all that belongs to it."""

    def __init__(self, lt, handle, a, b, d, kinds, orders, ops, sparse):
        self.lt, self.handle = lt, handle
        kind, result = kinds
        self.a, self.b, self.d = (stored(each, order) for each, order in zip((a, b, d), orders, strict=True))
        self.sparse = sparse
        self.descriptors = [
            describe(lt, handle, a, kind, orders[0], sparse == "a"),
            describe(lt, handle, b, kind, orders[1], sparse == "b"),
            describe(lt, handle, d, result, orders[2]),
        ]
        self.product, self.chosen, self.plan = Descriptor(), Descriptor(), Descriptor()
        places = [self.descriptors[i].place for i in (0, 1, 2, 2)]
        lt("cusparseLtMatmulDescriptorInit", handle.place, self.product.place, *ops, *places, COMPUTE[kind])

    def set(self, which, value):
        self.lt(
            "cusparseLtMatmulDescSetAttribute",
            self.handle.place,
            self.product.place,
            which,
            value,
            ctypes.sizeof(value),
        )

    def compressed(self):
        place = self.plan.place
        size, buffer = ctypes.c_size_t(), ctypes.c_size_t()
        self.lt("cusparseLtSpMMACompressedSize", self.handle.place, place, size, buffer)
        packed = np.zeros(size.value, np.uint8)
        whole = self.a if self.sparse == "a" else self.b
        self.lt("cusparseLtSpMMACompress", self.handle.place, place, whole, packed, None, None)
        return packed

    def run(self, alpha=1.0, beta=0.0, vector=None):
        lt, handle = self.lt, self.handle.place
        lt("cusparseLtMatmulAlgSelectionInit", handle, self.chosen.place, self.product.place, 0)
        lt("cusparseLtMatmulPlanInit", handle, self.plan.place, self.product.place, self.chosen.place)
        packed = self.compressed()
        a, b = (packed, self.b) if self.sparse == "a" else (self.a, packed)
        scale = vector if vector is not None else ctypes.c_float(alpha)
        lt(
            "cusparseLtMatmul",
            handle,
            self.plan.place,
            scale,
            a,
            b,
            ctypes.c_float(beta),
            self.d,
            self.d,
            None,
            None,
            0,
        )
        lt("cusparseLtMatmulPlanDestroy", self.plan.place)
        return np.asarray(self.d, np.float64)


def shapes(ops, m, n, k):
    a = (m, k) if ops[0] == PLAIN else (k, m)
    b = (k, n) if ops[1] == PLAIN else (n, k)
    return a, b


@pytest.mark.parametrize("sparse", ["a", "b"])
@pytest.mark.parametrize("ops", [(PLAIN, PLAIN), (PLAIN, TRANSPOSED), (TRANSPOSED, PLAIN)], ids=["nn", "nt", "tn"])
@pytest.mark.parametrize(
    "orders", [(ROW, ROW, ROW), (ROW, COL, COL), (COL, COL, COL)], ids=["rows", "mixed", "columns"]
)
@pytest.mark.parametrize("kinds", [(F16, F16), (F32, F32), (S8, S32), (S8, F16)], ids=["f16", "f32", "s8", "s8 to f16"])
def test_a_product_with_a_compressed_matrix_is_that_of_the_whole(lt, handle, kinds, orders, ops, sparse):
    rng, (m, n, k) = np.random.default_rng(3), (48, 40, 64)
    (kind, result), (a_shape, b_shape) = kinds, shapes(ops, m, n, k)
    a = made(rng, a_shape, kind, sparse == "a", 1 if ops[0] == PLAIN else 0)
    b = made(rng, b_shape, kind, sparse == "b", 0 if ops[1] == PLAIN else 1)
    c = numbers(rng, (m, n), result)
    scale = 0.001 if kinds == (S8, F16) else 1.0
    beta = 0.0 if kind == S8 else 0.5
    got = Product(lt, handle, a, b, c, kinds, orders, ops, sparse).run(scale, beta)
    left, right = (each.astype(float).T if op else each.astype(float) for each, op in ((a, ops[0]), (b, ops[1])))
    wanted = scale * (left @ right) + beta * c.astype(float)
    share, least = {F16: (2**-10, 2e-3), F32: (0, 2e-5), S32: (0, 0)}[result]
    assert (np.abs(got - wanted) <= share * np.abs(wanted) + least).all()


def test_the_compressed_size_is_nvidias(lt, handle):
    # 9/16 of the elements of 16 bits, 10/16 of those of 8: what PyTorch allocates.
    for kind, share in ((F16, 9 / 16 * 2), (S8, 10 / 16), (F32, 9 / 16 * 4)):
        matrix = describe(lt, handle, np.zeros((64, 128)), kind, ROW, True)
        size, buffer = ctypes.c_size_t(), ctypes.c_size_t(1)
        lt("cusparseLtSpMMACompressedSize2", handle.place, matrix.place, size, buffer)
        assert size.value == 64 * 128 * share


@pytest.mark.parametrize("order", [ROW, COL], ids=["rows", "columns"])
def test_bias_vector_of_scales_and_relu(lt, handle, order):
    rng, (m, n, k) = np.random.default_rng(5), (32, 24, 64)
    a, b = half_zero(rng, m, k, F16, 1), numbers(rng, (k, n), F16)
    bias, scales = numbers(rng, m, F16), rng.standard_normal(m).astype(np.float32)
    product = Product(
        lt, handle, a, b, np.zeros((m, n), np.float16), (F16, F16), (ROW, ROW, order), (PLAIN, PLAIN), "a"
    )
    product.set(RELU, ctypes.c_int(1))
    product.set(UPPER, ctypes.c_float(3.0))
    product.set(VECTOR, ctypes.c_int(1))
    product.set(BIAS, ctypes.c_void_p(bias.ctypes.data))
    got = product.run(vector=scales)
    sums = scales[:, None] * (a.astype(float) @ b.astype(float)) + bias[:, None].astype(float)
    assert np.abs(got - np.clip(sums, 0, 3)).max() < 2e-2


def test_pruning_keeps_the_larger_half_and_the_check_tells(lt, handle):
    values = np.array([[1, -3, 2, 0.5, 0, 4, 0, 0], [-8, 7, 6, 5, 1, 1, 1, 1]], np.float16)
    matrix = describe(lt, handle, values, F16, ROW, True)
    valid, out = np.full(1, 7, np.int32), np.zeros_like(values)
    lt("cusparseLtSpMMAPruneCheck2", handle.place, matrix.place, 1, PLAIN, values, valid, None)
    assert valid[0] == 1
    lt("cusparseLtSpMMAPrune2", handle.place, matrix.place, 1, PLAIN, values, out, 1, None)
    assert out.tolist() == [[0, -3, 2, 0, 0, 4, 0, 0], [-8, 7, 0, 0, 1, 1, 0, 0]]
    lt("cusparseLtSpMMAPruneCheck2", handle.place, matrix.place, 1, PLAIN, out, valid, None)
    assert valid[0] == 0


def test_what_was_never_made_is_refused(lt, handle):
    nothing = Descriptor()
    assert lt.status("cusparseLtMatmulPlanDestroy", nothing.place) == INVALID
    assert lt.status("cusparseLtDestroy", nothing.place) == 1
    matrix = describe(lt, handle, np.zeros((8, 8)), F16, ROW, True)
    assert lt.status("cusparseLtSpMMAPrune2", handle.place, matrix.place, 1, PLAIN, 16, 16, 0, None) == NOT_SUPPORTED
