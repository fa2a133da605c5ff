"""What cuBLAS keeps for its handles, and what it answers through other functions of hipBLAS."""

from __future__ import annotations

import pytest

from native.rocm.programs import recorder_in, run


@pytest.fixture(scope="module")
def hipblas(tmp_path_factory):
    return recorder_in(tmp_path_factory.mktemp("rocm"), "cublas")


def test_math_modes_are_kept_and_only_permissions_reach_hipblas(hipblas):
    """HIPBLAS_DEFAULT_MATH 0, HIPBLAS_XF32_XDL_MATH 1 (hipblas.h); CUBLAS_TF32_TENSOR_OP_MATH 3, flag 16 (cublas_api.h)."""
    run(
        "libcublas.so.12",
        hipblas,
        """
        mode = c_int(-1)
        assert lib.cublasGetMathMode(H, byref(mode)) == 0 and mode.value == 0
        for given, theirs in ((0, 0), (1, 0), (2, 0), (3, 1), (16, 0), (3 | 16, 1)):
            rocm.reset()
            assert lib.cublasSetMathMode(H, given) == 0
            assert last()[0] == "hipblasSetMathMode" and word(last()[1][1]) == theirs, given
            assert lib.cublasGetMathMode(H, byref(mode)) == 0 and mode.value == given
        rocm.reset()
        assert lib.cublasSetMathMode(H, 77) == 7 and not rocm.calls()
        rocm.reset(status=7)  # HIPBLAS_STATUS_NOT_SUPPORTED: a device without xf32 ...
        assert lib.cublasSetMathMode(H, 3) == 15
        assert [word(call[1][1]) for call in rocm.calls()] == [1, 0]  # ... gets the default instead
        assert lib.cublasGetMathMode(H, byref(mode)) == 0 and mode.value == 19
        rocm.reset()
        assert lib.cublasDestroy_v2(H) == 0 and last()[0] == "hipblasDestroy"
        assert lib.cublasGetMathMode(H, byref(mode)) == 0 and mode.value == 0
        """,
    )


def test_hints_are_kept_with_the_handle(hipblas):
    run(
        "libcublas.so.13",
        hipblas,
        """
        count = c_int(-1)
        assert lib.cublasSetSmCountTarget(H, 60) == 0
        assert lib.cublasGetSmCountTarget(H, byref(count)) == 0 and count.value == 60
        assert lib.cublasSetSmCountTarget(H, -1) == 7 and lib.cublasSetSmCountTarget(None, 1) == 1
        assert lib.cublasGetSmCountTarget(P(0x6000), byref(count)) == 0 and count.value == 0
        rocm.reset()
        assert lib.cublasSetWorkspace_v2(H, P(0x1000), c_size_t(1 << 33)) == 0
        assert last()[0] == "hipblasSetWorkspace" and word(last()[1][2]) == 1 << 33
        """,
    )


def test_versions_and_names_are_those_of_cublas(hipblas):
    """cublas_api.h of CUDA 12.9 says 12.9.3."""
    run(
        "libcublas.so.12",
        hipblas,
        """
        number = c_int()
        assert lib.cublasGetVersion_v2(H, byref(number)) == 0 and number.value == 120903
        assert [(lib.cublasGetProperty(i, byref(number)), number.value)[1] for i in range(3)] == [12, 9, 3]
        assert lib.cublasGetProperty(3, byref(number)) == 7
        lib.cublasGetStatusName.restype = lib.cublasGetStatusString.restype = c_char_p
        assert lib.cublasGetStatusName(13) == b"CUBLAS_STATUS_EXECUTION_FAILED"
        assert lib.cublasGetStatusString(0) == b"success"
        """,
    )


def test_products_in_single_precision_go_through_gemm_ex(hipblas):
    """HIP_R_16F 2, HIPBLAS_COMPUTE_32F 2, HIPBLAS_GEMM_DEFAULT 160, HIPBLAS_OP_T 112."""
    run(
        "libcublas.so.12",
        hipblas,
        """
        a, b = c_float(1.5), c_float(0.25)
        rocm.reset()
        assert lib.cublasSgemmEx(H, 1, 0, 3, 4, 5, byref(a), P(0x10), 2, 6, P(0x20), 2, 7, byref(b), P(0x30), 0, 8) == 0
        name, given = last()
        assert name == "hipblasGemmEx"
        assert [word(x) for x in given[1:6]] == [112, 111, 3, 4, 5]
        assert [word(x) for x in given[7:13]] == [0x10, 2, 6, 0x20, 2, 7]
        assert [word(x) for x in given[14:]] == [0x30, 0, 8, 2, 160]
        """,
    )


@pytest.mark.parametrize("upper", [False, True])
def test_triangles_are_copied_column_by_column(hipblas, upper):
    """Expected addresses: element (i, j) of the full matrix at (j * ld + i) * 8, packed columns one after the other."""
    run(
        "libcublas.so.12",
        hipblas,
        f"""
        n, ld, full, packed, upper = 5, 7, 0x100000, 0x900000, {upper}
        expected, place = [], packed
        for j in range(n):
            rows = range(0, j + 1) if upper else range(j, n)
            expected.append((len(rows), full + (j * ld + rows[0]) * 8, place))
            place += len(rows) * 8
        for pack in (True, False):
            rocm.reset()
            if pack: code = lib.cublasDtrttp(H, int(upper), n, P(full), ld, P(packed))
            else: code = lib.cublasDtpttr(H, int(upper), n, P(packed), P(full), ld)
            calls = rocm.calls()
            assert code == 0 and {{name for name, _ in calls}} == {{"hipblasDcopy"}}
            seen = [(word(g[1]), word(g[2]), word(g[4])) for _, g in calls]
            assert seen == [(l, f, p) if pack else (l, p, f) for l, f, p in expected], seen
            assert all(word(g[3]) == word(g[5]) == 1 for _, g in calls)
        assert lib.cublasDtrttp(H, 2, n, P(full), ld, P(packed)) == 7
        assert lib.cublasDtrttp(H, 0, n, P(full), n - 1, P(packed)) == 7
        """,
    )
