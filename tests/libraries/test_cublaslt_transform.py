"""cublasLtMatrixTransform against numpy, from every order to every other."""

import numpy as np
import pytest
from hypothesis import strategies as st

from libraries import element_types
from libraries.element_types import E4M3, E5M2, R8I, R16BF, R16F, R32F, R32I
from libraries.lt import COL, COL4_4R2_8C, COL32, COL32_2R_4R4, ROW, Lt, Matrix, operation, shared
from spread import properties

pytestmark = pytest.mark.native

INVALID_VALUE, NOT_SUPPORTED = 7, 15
ORDERS = [COL, ROW, COL32, COL4_4R2_8C, COL32_2R_4R4]
# Scale type; types of A, B, C.
WAYS = [
    (R32F, (R32F, R32F, R32F)),
    (R32F, (R16F, R32F, R16BF)),
    (R32F, (E4M3, R16F, E5M2)),
    (R32F, (R8I, R8I, R8I)),
    (R32I, (R8I, R32I, R32I)),
    (R32I, (R32I, R8I, R8I)),
    (R16F, (R16F, R16F, R16F)),
]


@pytest.fixture(scope="module")
def lt(library):
    return Lt(library("cublaslt", "libcublasLt.so.13"))


@pytest.mark.usefixtures("lt")
@properties(60, 2000, st.integers(0, 2**32))
def test_transform(seed):
    lt = shared()
    rng = np.random.default_rng(seed)

    def draw(*choices):
        return choices[rng.integers(len(choices))]

    scale, kinds = WAYS[rng.integers(len(WAYS))]
    rows, cols, batch = draw(0, 1, 7, 33, 300), draw(0, 1, 12, 32, 70), draw(1, 2)
    alpha, beta = draw(0, 1, 2, -1), draw(0, 0, 1, 3)
    turned = [draw(0, 1), draw(0, 1)]
    plain = [
        Matrix(kind, *((cols, rows) if t else (rows, cols)), batch, COL, 1).fill(rng)
        for kind, t in zip(kinds, turned, strict=False)
    ]
    first = plain[0]
    if not turned[0]:  # from another order, into which it is brought first
        first = Matrix(kinds[0], rows, cols, batch, draw(*ORDERS))
        assert lt.transform(plain[0], first) == 0
    target = Matrix(kinds[2], rows, cols, batch, draw(*ORDERS), draw(0, 32))
    assert (
        lt.transform(
            first, target, alpha, plain[1], beta, scale, TRANSA=turned[0], TRANSB=turned[1], POINTER_MODE=draw(0, 1)
        )
        == 0
    )
    x, y = (operation(matrix.numbers(), t) for matrix, t in zip(plain, turned, strict=True))
    if target.order not in (COL, ROW):
        back = Matrix(target.kind, rows, cols, batch)
        assert lt.transform(target, back) == 0
        target = back
    element_types.check(
        target.view(), kinds[2], alpha * x + beta * y, (np.abs(alpha * x) + np.abs(beta * y)) * 2.0**-22
    )


def test_what_is_multiplied_by_zero_is_not_read(lt):
    a, b, c = Matrix(R32F, 4, 5), Matrix(R32F, 4, 5), Matrix(R32F, 4, 5)
    a.memory[:], b.memory[:] = np.nan, 3
    assert lt.transform(a, c, 0, b, 2) == 0
    assert (c.view() == 6).all()


def test_what_does_not_fit(lt):
    a, c = Matrix(R32F, 4, 5), Matrix(R32F, 5, 4)
    assert lt.transform(a, a) == 0
    assert lt.transform(a, c, TRANSA=1) == 0
    assert lt.transform(a, c) == INVALID_VALUE
    assert lt.transform(a, a, beta=1) == INVALID_VALUE
    assert lt.transform(a, a, scale=R32I) == NOT_SUPPORTED
    assert lt.transform(a, a, POINTER_MODE=2) == NOT_SUPPORTED
