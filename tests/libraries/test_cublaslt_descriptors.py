"""cuBLASLt's descriptors, algorithms and heuristics."""

import ctypes

import numpy as np
import pytest

from libraries import element_types
from libraries.element_types import R16F, R32F
from libraries.lt import COL, F32, Lt, Matrix

pytestmark = pytest.mark.native

INVALID_VALUE, NOT_SUPPORTED = 7, 15


@pytest.fixture(scope="module")
def lt(library):
    return Lt(library("cublaslt", "libcublasLt.so.13"))


@pytest.mark.parametrize("file", ["libcublasLt.so.12", "libcublasLt.so.13"])
def test_versions(library, file):
    major = int(file[-2:])
    made = library("cublaslt", file, major)
    assert made.status("cublasLtGetVersion") // 10000 == major
    assert made.status("cublasLtGetCudartVersion") // 1000 == major
    value = ctypes.c_int()
    made("cublasLtGetProperty", 0, value)
    assert value.value == major
    assert made.status("cublasLtGetProperty", 3, value) == INVALID_VALUE
    assert made.status("cublasLtGetStatusName", 15) == b"CUBLAS_STATUS_NOT_SUPPORTED"


# Attribute: its size and what it is at first, by the manual.
MATMUL = {
    "COMPUTE_TYPE": (4, F32), "SCALE_TYPE": (4, R32F), "POINTER_MODE": (4, 0), "TRANSA": (4, 0), "TRANSB": (4, 0), "TRANSC": (4, 0), "FILL_MODE": (4, 2),
    "EPILOGUE": (4, 1), "BIAS_POINTER": (8, 0), "BIAS_BATCH_STRIDE": (8, 0), "EPILOGUE_AUX_POINTER": (8, 0), "EPILOGUE_AUX_LD": (8, 0),
    "EPILOGUE_AUX_BATCH_STRIDE": (8, 0), "ALPHA_VECTOR_BATCH_STRIDE": (8, 0), "SM_COUNT_TARGET": (4, 0), "A_SCALE_POINTER": (8, 0), "AMAX_D_POINTER": (8, 0),
    "FAST_ACCUM": (1, 0), "BIAS_DATA_TYPE": (4, 2**32 - 1), "A_SCALE_MODE": (4, 0),
}  # fmt: skip
LAYOUT = {
    "TYPE": (4, R16F),
    "ORDER": (4, COL),
    "ROWS": (8, 5),
    "COLS": (8, 6),
    "LD": (8, 7),
    "BATCH_COUNT": (4, 1),
    "STRIDED_BATCH_OFFSET": (8, 0),
}
PREFERENCE = {
    "SEARCH_MODE": (4, 0),
    "MAX_WORKSPACE_BYTES": (8, 0),
    "REDUCTION_SCHEME_MASK": (4, 7),
    "MIN_ALIGNMENT_A_BYTES": (4, 256),
    "MAX_WAVES_COUNT": (4, 0),
}
KINDS = [
    ("MatmulDesc", "CUBLASLT_MATMUL_DESC_", MATMUL, (F32, R32F)),
    ("MatrixLayout", "CUBLASLT_MATRIX_LAYOUT_", LAYOUT, (R16F, 5, 6, 7)),
    ("MatmulPreference", "CUBLASLT_MATMUL_PREF_", PREFERENCE, ()),
    (
        "MatrixTransformDesc",
        "CUBLASLT_MATRIX_TRANSFORM_DESC_",
        {"SCALE_TYPE": (4, R32F), "POINTER_MODE": (4, 0), "TRANSA": (4, 0)},
        (R32F,),
    ),
]


@pytest.mark.parametrize(("kind", "prefix", "attributes", "arguments"), KINDS, ids=[row[0] for row in KINDS])
@pytest.mark.parametrize("own", [False, True])
def test_attributes(lt, kind, prefix, attributes, arguments, own):
    library = lt.library
    memory = np.full(64, 0xAB, np.uint64)
    if own:
        library(
            f"cublasLt{kind}Init_internal",
            memory,
            8 * {"MatmulDesc": 32, "MatrixLayout": 14, "MatmulPreference": 12, "MatrixTransformDesc": 8}[kind],
            *arguments,
        )
        it = memory.ctypes.data
    else:
        it = library.out(f"cublasLt{kind}Create", *arguments)
    written = ctypes.c_size_t()
    for name, (size, value) in attributes.items():
        number = lt.number[prefix + name]
        buffer = np.zeros(16, np.uint8)
        library(f"cublasLt{kind}GetAttribute", it, number, None, 0, written)
        assert written.value == size, name
        library(f"cublasLt{kind}GetAttribute", it, number, buffer, size, None)
        assert int.from_bytes(buffer.tobytes(), "little") == value, name
        new = np.arange(size, dtype=np.uint8) + 1
        library(f"cublasLt{kind}SetAttribute", it, number, new, size)
        library(f"cublasLt{kind}GetAttribute", it, number, buffer, size, written)
        assert (buffer[:size] == new).all() and not buffer[size:].any() and written.value == size
        assert library.status(f"cublasLt{kind}GetAttribute", it, number, buffer, size + 1, written) == INVALID_VALUE
        assert library.status(f"cublasLt{kind}GetAttribute", it, number, buffer, 0, None) == INVALID_VALUE
        assert library.status(f"cublasLt{kind}SetAttribute", it, number, new, size - 1) == INVALID_VALUE
        assert library.status(f"cublasLt{kind}SetAttribute", it, number, None, size) == INVALID_VALUE
    assert library.status(f"cublasLt{kind}GetAttribute", it, 99, buffer, 4, None) == INVALID_VALUE
    assert library.status(f"cublasLt{kind}GetAttribute", None, 0, buffer, 4, None) == INVALID_VALUE
    assert library.status(f"cublasLt{kind}GetAttribute", np.zeros(64, np.uint64), 0, buffer, 4, None) == INVALID_VALUE
    if not own:
        library(f"cublasLt{kind}Destroy", it)


class Result(ctypes.Structure):
    _fields_ = (
        ("algo", ctypes.c_uint64 * 8), ("workspace", ctypes.c_size_t), ("state", ctypes.c_int), ("waves", ctypes.c_float), ("reserved", ctypes.c_int * 4),
    )  # fmt: skip


def test_one_algorithm(lt):
    library = lt.library
    rng = np.random.default_rng(3)
    a, b, d = Matrix(R16F, 4, 5).fill(rng), Matrix(R16F, 5, 6).fill(rng), Matrix(R16F, 4, 6)
    layouts = [lt.layout(x) for x in (a, b, d, d)]
    desc, preference = lt.desc(F32, R32F), library.out("cublasLtMatmulPreferenceCreate")
    results, count = (Result * 4)(), ctypes.c_int()
    library("cublasLtMatmulAlgoGetHeuristic", lt.handle, desc, *layouts, preference, 4, results, count)
    assert count.value == 1 and results[0].state == 0 and results[0].workspace == 0
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    library(
        "cublasLtMatmul",
        lt.handle,
        desc,
        one,
        a.memory,
        layouts[0],
        b.memory,
        layouts[1],
        zero,
        d.memory,
        layouts[2],
        d.memory,
        layouts[3],
        results[0],
        None,
        0,
        None,
    )
    element_types.check(d.view(), R16F, a.numbers() @ b.numbers(), 1e-4)
    library("cublasLtMatmulAlgoCheck", lt.handle, desc, *layouts, results[0], results[1])
    value = np.array([3], np.int32)
    library("cublasLtMatmulAlgoConfigSetAttribute", results[0], lt.number["CUBLASLT_ALGO_CONFIG_SPLITK_NUM"], value, 4)
    read = np.zeros(1, np.int32)
    library(
        "cublasLtMatmulAlgoConfigGetAttribute", results[0], lt.number["CUBLASLT_ALGO_CONFIG_SPLITK_NUM"], read, 4, None
    )
    assert read[0] == 3
    library(
        "cublasLtMatmulAlgoCapGetAttribute",
        results[0],
        lt.number["CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT"],
        read,
        4,
        None,
    )
    assert read[0] == 1
    library("cublasLtMatmulAlgoGetIds", lt.handle, F32, R32F, R16F, R16F, R16F, R16F, 1, read, count)
    assert count.value == 1
    library("cublasLtMatmulAlgoInit", lt.handle, F32, R32F, R16F, R16F, R16F, R16F, int(read[0]), results[2])
    # What is not supported has no algorithm.
    layouts[1] = lt.layout(Matrix(R32F, 5, 6))
    assert (
        library.status("cublasLtMatmulAlgoGetHeuristic", lt.handle, desc, *layouts, preference, 4, results, count)
        == NOT_SUPPORTED
    )
    assert count.value == 0
    assert library.status("cublasLtMatmulAlgoCheck", lt.handle, desc, *layouts, results[2], results[1]) == NOT_SUPPORTED
    assert (
        library.status("cublasLtMatmulAlgoGetHeuristic", lt.handle, desc, *layouts, preference, 0, results, count)
        == INVALID_VALUE
    )
