"""cuBLASLt as tests call it: matrices with layouts, a product with attributes by name, and what it should be, in f64."""

import ctypes
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

import anywarp
from libraries import element_types
from libraries.element_types import C32F, C64F, E4M3, E5M2, R8I, R16BF, R16F, R32F, R32I, R64F
from libraries.loading import Library

F16, F32, TF32, FAST_16BF, FAST_16F, F64, I32 = 64, 68, 77, 75, 74, 70, 72  # cublasComputeType_t
COL, ROW, COL32, COL4_4R2_8C, COL32_2R_4R4 = range(5)
HOST, DEVICE, DEVICE_VECTOR, ALPHA_VECTOR_BETA_ZERO, ALPHA_VECTOR_BETA_HOST = range(5)
SCALE = {F16: R16F, F64: R64F, I32: R32I}


@cache
def constants():
    """Return the numbers of the header's enumerators by name."""
    header = Path(anywarp.__file__).parent / "toolchain/include/libraries/cublasLt.h"
    return {name: int(value) for name, value in re.findall(r"(CUBLASLT_\w+) = (\d+)", header.read_text())}


@dataclass
class Matrix:
    """A batch of matrices in memory, in some order, with more room than needed."""

    kind: int
    rows: int
    cols: int
    batch: int = 1
    order: int = COL
    spare: int = 0
    memory: np.ndarray = field(init=False)

    def __post_init__(self):
        rows = {COL4_4R2_8C: -(-self.rows // 8) * 8, COL32_2R_4R4: -(-self.rows // 32) * 32}.get(self.order, self.rows)
        self.ld = max(1, {COL: self.rows, ROW: self.cols}.get(self.order, 32 * rows)) + self.spare
        lines = {COL: self.cols, ROW: self.rows}.get(self.order, -(-self.cols // 32))
        self.stride = self.ld * lines + 3 * (self.batch > 1)
        self.memory = np.zeros(max(1, self.stride * self.batch), element_types.STORED[self.kind])

    def view(self):
        """Return the matrices as [item, row, column] of the memory's bits."""
        lines = self.cols if self.order == COL else self.rows
        used = (
            self.memory[: self.stride * self.batch]
            .reshape(self.batch, self.stride)[:, : self.ld * lines]
            .reshape(self.batch, lines, self.ld)
        )
        if self.order == COL:
            return used[:, :, : self.rows].transpose(0, 2, 1)
        assert self.order == ROW
        return used[:, :, : self.cols]

    def fill(self, rng):
        self.memory[:] = element_types.random(rng, self.memory.shape, self.kind)
        return self

    def numbers(self):
        return element_types.values(self.view(), self.kind)


class Lt:
    def __init__(self, library):
        self.library = library
        self.handle = library.out("cublasLtCreate")
        self.number = constants()

    def layout(self, matrix):
        made = self.library.out("cublasLtMatrixLayoutCreate", matrix.kind, matrix.rows, matrix.cols, matrix.ld)
        for name, kind, value in (
            ("ORDER", ctypes.c_int32, matrix.order),
            ("BATCH_COUNT", ctypes.c_int32, matrix.batch),
            ("STRIDED_BATCH_OFFSET", ctypes.c_int64, matrix.stride),
        ):
            number = self.number[f"CUBLASLT_MATRIX_LAYOUT_{name}"]
            self.library("cublasLtMatrixLayoutSetAttribute", made, number, kind(value), ctypes.sizeof(kind))
        return made

    def desc(self, compute, scale, **attributes):
        """Return a descriptor; arrays are set by address, pairs as (ctypes, value), numbers as int32."""
        made = self.library.out("cublasLtMatmulDescCreate", compute, scale)
        for name, value in attributes.items():
            if isinstance(value, np.ndarray):
                value = ctypes.c_void_p(value.ctypes.data)
            elif not isinstance(value, ctypes._SimpleCData):
                value = ctypes.c_int32(value)
            self.library(
                "cublasLtMatmulDescSetAttribute",
                made,
                self.number[f"CUBLASLT_MATMUL_DESC_{name}"],
                value,
                ctypes.sizeof(value),
            )
        return made

    def status(self, compute, a, b, c, d, alpha, beta, scale=None, stream=None, **attributes):
        """Compute, and return the status."""
        scale = SCALE.get(compute, R32F) if scale is None else scale
        desc = self.desc(compute, scale, **attributes)
        layouts = [self.layout(matrix) for matrix in (a, b, c, d)]
        status = self.library.status(
            "cublasLtMatmul", self.handle, desc, alpha, a.memory, layouts[0], b.memory, layouts[1], beta, c.memory, layouts[2], d.memory, layouts[3],
            None, None, 0, stream,
        )  # fmt: skip
        for made in layouts:
            self.library("cublasLtMatrixLayoutDestroy", made)
        self.library("cublasLtMatmulDescDestroy", desc)
        return status

    def __call__(self, *arguments, **attributes):
        status = self.status(*arguments, **attributes)
        assert status == 0, f"cublasLtMatmul returned {status}"

    def transform(self, a, c, alpha=1, b=None, beta=0, scale=R32F, **attributes):
        """Bring matrices into another order and type; return the status."""
        desc = self.library.out("cublasLtMatrixTransformDescCreate", scale)
        for name, value in attributes.items():
            number = self.number[f"CUBLASLT_MATRIX_TRANSFORM_DESC_{name}"]
            self.library("cublasLtMatrixTransformDescSetAttribute", desc, number, ctypes.c_int32(value), 4)
        scalars = [np.array([x], element_types.STORED[scale]) for x in (alpha, beta)]
        second = (None, None) if b is None else (b.memory, self.layout(b))
        sides = (scalars[0], a.memory, self.layout(a), scalars[1], *second, c.memory, self.layout(c))
        return self.library.status("cublasLtMatrixTransform", self.handle, desc, *sides, None)


@cache
def shared():
    """Return one for tests that cannot have fixtures."""
    return Lt(Library("cublaslt", "libcublasLt.so.13"))


def run(code, **environment):
    """Run lines of Python in a process of its own, with `lt` there."""
    start = "import ctypes, numpy as np\nfrom libraries.lt import *\nlt = shared()\n"
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, "-c", start + code],
        env={**os.environ, **environment, "PYTHONPATH": path},
        timeout=100,
        capture_output=True,
        text=True,
        check=False,
    )


def operation(matrices, number):
    """Return op of [item, row, column]: 0 N, 1 T, 2 C."""
    return (
        matrices if number == 0 else matrices.transpose(0, 2, 1) if number == 1 else matrices.conj().transpose(0, 2, 1)
    )


def exact(a, b, k):
    """Return the product in f64 and how far off sums of k terms in f32 may be (Higham: statistical, with room)."""
    error = (np.abs(a) @ np.abs(b)) * 2.0**-24 * (4 * np.sqrt(k + 1.0) + 8)
    return a @ b, error


# (compute, scale, A, B, C, D): rows of the manual's table of cublasLtMatmul.
TYPES = [
    (F32, R32F, R32F, R32F, R32F, R32F),
    (F32, R32F, R16F, R16F, R16F, R16F),
    (F32, R32F, R16F, R16F, R32F, R32F),
    (F32, R32F, R16BF, R16BF, R16BF, R16BF),
    (F32, R32F, R16BF, R16BF, R32F, R32F),
    (F32, R32F, R8I, R8I, R32F, R32F),
    (F32, R32F, E4M3, E4M3, R16BF, R16BF),
    (F32, R32F, E4M3, E4M3, R16BF, E4M3),
    (F32, R32F, E4M3, E5M2, R16F, R16F),
    (F32, R32F, E5M2, E4M3, R16F, E5M2),
    (F32, R32F, E5M2, E4M3, R32F, R32F),
    (F16, R16F, R16F, R16F, R16F, R16F),
    (TF32, R32F, R32F, R32F, R32F, R32F),
    (FAST_16BF, R32F, R32F, R32F, R32F, R32F),
    (FAST_16F, R32F, R32F, R32F, R32F, R32F),
    (I32, R32I, R8I, R8I, R32I, R32I),
    (I32, R32F, R8I, R8I, R8I, R8I),
    (F64, R64F, R64F, R64F, R64F, R64F),
    (F64, C64F, C64F, C64F, C64F, C64F),
    (F32, C32F, C32F, C32F, C32F, C32F),
]
SIZES = [0, 1, 2, 3, 7, 8, 11, 12, 13, 16, 17, 31, 32, 33, 47, 64, 65, 100]


def check_product(lt, seed):
    """Compare a product, drawn from a number, with the same in f64."""
    rng = np.random.default_rng(seed)

    def draw(*choices):
        return choices[rng.integers(len(choices))]

    compute, scale, *kinds = TYPES[rng.integers(len(TYPES))]
    m, n = draw(*SIZES), draw(*SIZES)
    k = draw(*SIZES, 390, 1601)
    batch, trans_a, trans_b = draw(1, 1, 2, 3), draw(0, 1, 2), draw(0, 1, 2)
    whole = scale == R32I
    alpha, beta = draw(*((1, 0, -3) if whole else (1, 0.5, -1.25, 0))), draw(*((0, 1, -2) if whole else (0, 1, 0.75)))
    shapes = [(k, m) if trans_a else (m, k), (n, k) if trans_b else (k, n), (m, n), (m, n)]
    order = draw(COL, COL, ROW)
    orders = [draw(COL, ROW), draw(COL, ROW), order, order]
    a, b, c, d = (
        Matrix(kind, *shape, batch, o, draw(0, 0, 3)).fill(rng)
        for kind, shape, o in zip(kinds, shapes, orders, strict=True)
    )
    left, right, old = operation(a.numbers(), trans_a), operation(b.numbers(), trans_b), c.numbers()
    want, error = exact(left, right, k)
    want, error = alpha * want, abs(alpha) * error
    if kinds[0] in (R64F, C64F):
        error = error * 2.0**-28
    if beta:
        want, error = want + beta * old, error + np.abs(beta * old) * 2.0 ** (-51 if kinds[0] in (R64F, C64F) else -22)
    elif kinds[2] not in (R8I, R32I, E4M3, E5M2, R16BF):
        c.memory[:] = np.nan
    mode = draw(HOST, DEVICE)
    scalars = [np.array([x], element_types.STORED[scale]) for x in (alpha, beta)]
    before = d.memory.copy()
    lt(compute, a, b, c, d, *scalars, scale=scale, TRANSA=trans_a, TRANSB=trans_b, POINTER_MODE=mode)
    if whole:
        assert (d.view() == want.astype(np.int64).astype(np.int32)).all()
    else:
        element_types.check(d.view(), kinds[3], want, error)
    d.view()[:] = 0
    before_view = Matrix(kinds[3], m, n, batch, order, d.spare)
    before_view.memory = before
    before_view.view()[:] = 0
    assert (d.memory.view(np.uint8) == before.view(np.uint8)).all(), "written outside of the matrix"
