"""Attributes of cuBLASLt's descriptors, and algorithms, which are other structures in hipBLASLt."""

from __future__ import annotations

import struct

import pytest

from native.rocm.programs import recorder_in, run
from native.rocm.recorder import rows


@pytest.fixture(scope="module")
def hipblaslt(tmp_path_factory):
    return recorder_in(tmp_path_factory.mktemp("rocm"), "cublaslt")


def constants(kind: str) -> dict[str, tuple[int, int | None]]:
    """Return the constants of an enum of cuBLASLt 12: value and the counterpart's."""
    return {
        row["name"]: (int(row["value_12"]), int(row["target_value"]) if row["target_value"] else None)
        for row in rows("cublaslt_constants.tsv")
        if row["type"] == kind and row["value_12"]
    }


DESCRIPTORS = (
    ("cublasLtMatmulDesc", "cublasLtMatmulDescAttributes_t", "hipblasLtMatmulDesc"),
    ("cublasLtMatrixLayout", "cublasLtMatrixLayoutAttribute_t", "hipblasLtMatrixLayout"),
    ("cublasLtMatmulPreference", "cublasLtMatmulPreferenceAttributes_t", "hipblasLtMatmulPreference"),
    ("cublasLtMatrixTransformDesc", "cublasLtMatrixTransformDescAttributes_t", "hipblasLtMatrixTransformDesc"),
)
ENUMS = {
    "POINTER_MODE": "cublasLtPointerMode_t", "EPILOGUE": "cublasLtEpilogue_t", "DATA_TYPE": "cudaDataType_t",
    "LAYOUT_TYPE": "cudaDataType_t", "DESC_SCALE_TYPE": "cudaDataType_t", "ORDER": "cublasLtOrder_t",
    "SCALE_MODE": "cublasLtMatmulMatrixScale_t", "BATCH_MODE": "cublasLtBatchMode_t",
}  # fmt: skip
OPERATIONS = {0: 111, 1: 112, 2: 113, 3: None}
KEPT = ("SM_COUNT_TARGET", "SEARCH_MODE")
"""They have a counterpart, and are kept all the same: hints for the choice among NVIDIA's kernels."""


def values_of(attribute: str) -> dict[int, int | None] | None:
    """Return the values of an attribute that is an enum, with their counterparts."""
    if attribute.endswith(("TRANSA", "TRANSB")):
        return OPERATIONS
    name = next((kind for end, kind in ENUMS.items() if attribute.endswith(end)), None)
    # Of two names for one number the one with a counterpart counts.
    return dict(sorted(constants(name).values(), key=lambda pair: pair[1] is not None)) if name else None


@pytest.mark.parametrize(("prefix", "kind", "counterpart_prefix"), DESCRIPTORS)
def test_attributes_with_a_counterpart_are_converted(prefix, kind, counterpart_prefix, hipblaslt):
    cases = []
    for name, (ours, counterpart) in constants(kind).items():
        if counterpart is not None and not name.endswith(KEPT):
            size = 4 if values_of(name) is not None or name.endswith("BATCH_COUNT") else 8
            cases.append((name, ours, counterpart, size, values_of(name)))
    run(
        "libcublasLt.so.12",
        hipblaslt,
        f"""
        for name, ours, counterpart, size, values in {cases!r}:
            for value, expected in (values or {{-5: -5, 1 << 30: 1 << 30}}).items():
                rocm.reset()
                data = value.to_bytes(size, "little", signed=True)
                code = lib.{prefix}SetAttribute(H, ours, data, c_size_t(size))
                if expected is None:
                    assert code == 15 and not rocm.calls(), (name, value, code)
                    continue
                call, given = last()
                assert code == 0 and call == "{counterpart_prefix}SetAttribute", (name, code)
                assert word(given[0]) == 0x5000 and word(given[1]) == counterpart and word(given[3]) == size, name
                rocm.reset(writes={{2: (expected if values else value).to_bytes(size, "little", signed=True)}})
                back, written = (c_ubyte * 8)(), c_size_t()
                assert lib.{prefix}GetAttribute(H, ours, back, c_size_t(8), byref(written)) == 0, name
                assert written.value == size and word(last()[1][1]) == counterpart
                first = next(k for k, v in values.items() if v == expected) if values else value
                assert int.from_bytes(bytes(back)[:size], "little", signed=True) == first, (name, value)
            rocm.reset()
            assert lib.{prefix}SetAttribute(H, ours, b"12345678", c_size_t(size - 1)) == 7 and not rocm.calls()
            if values:
                assert lib.{prefix}SetAttribute(H, ours, (98765).to_bytes(4, "little"), c_size_t(4)) == 7
            assert lib.{prefix}GetAttribute(H, ours, None, c_size_t(0), byref(written)) == 0 and written.value == size
        """,
    )


def test_what_an_attribute_points_to_arrives_converted(hipblaslt):
    """The value itself, read by the callee through the pointer that it gets."""
    program = """
    seen = []
    @CFUNCTYPE(c_int, P, c_int, POINTER(c_int), c_size_t)
    def look(descriptor, attribute, value, size):
        seen.append((attribute, value[0], size))
        return 0
    slot = P.in_dll(CDLL(RECORDER), "fake_look")
    slot.value = cast(look, P).value
    for ours, value in ((7, 36), (3, 1), (26, 14)):  # epilogue GELU_BIAS, TRANSA T, bias in bf16
        assert lib.cublasLtMatmulDescSetAttribute(H, ours, byref(c_int(value)), c_size_t(4)) == 0
    assert seen == [(2, 36, 4), (0, 112, 4), (4, 14, 4)], seen
    """
    folder = hipblaslt.parent / "looking"
    extra = """
    int (*fake_look)(void*, int, const int*, size_t);
    int hipblasLtMatmulDescSetAttribute(void* d, int a, const int* v, size_t s) { return fake_look(d, a, v, s); }
    """
    extra = "#include <stddef.h>\n" + extra
    recorder = recorder_in(folder, "cublaslt", without=frozenset({"hipblasLtMatmulDescSetAttribute"}), extra=extra)
    run("libcublasLt.so.12", recorder, f"    RECORDER = {str(recorder)!r}\n" + program)


def test_hints_are_kept_and_what_would_change_the_result_is_refused(hipblaslt):
    ran = run(
        "libcublasLt.so.13",
        hipblaslt,
        """
        one, zero, back, written = c_int(1), c_int(0), c_int(-1), c_size_t()
        # FAST_ACCUM is a byte, SM_COUNT_TARGET a number: kept.
        assert lib.cublasLtMatmulDescSetAttribute(H, 25, byref(c_ubyte(1)), c_size_t(1)) == 0
        byte = c_ubyte()
        assert lib.cublasLtMatmulDescGetAttribute(H, 25, byref(byte), c_size_t(1), byref(written)) == 0
        assert (byte.value, written.value) == (1, 1)
        assert lib.cublasLtMatmulDescSetAttribute(H, 15, byref(c_int(80)), c_size_t(4)) == 0
        assert lib.cublasLtMatmulDescGetAttribute(H, 15, byref(back), c_size_t(4), None) == 0 and back.value == 80
        for alignment in (5, 6, 7, 8):
            assert lib.cublasLtMatmulPreferenceSetAttribute(H, alignment, byref(c_int(16)), c_size_t(4)) == 0
        # TRANSC N and a full matrix ask for nothing; another operation would.
        assert lib.cublasLtMatmulDescSetAttribute(H, 5, byref(zero), c_size_t(4)) == 0
        assert lib.cublasLtMatmulDescSetAttribute(H, 5, byref(one), c_size_t(4)) == 15
        assert lib.cublasLtMatmulDescSetAttribute(H, 24, byref(c_uint64(0x7000)), c_size_t(8)) == 15
        assert lib.cublasLtMatmulDescSetAttribute(H, 999, byref(one), c_size_t(4)) == 15
        # A descriptor that is made again in the same place has forgotten.
        assert lib.cublasLtMatmulDescDestroy(H) == 0
        assert lib.cublasLtMatmulDescGetAttribute(H, 15, byref(back), c_size_t(4), None) == 0 and back.value == 0
        """,
    )
    assert "attribute 24" in ran.words and "N023" in ran.words


def test_types_of_a_product_are_those_that_it_was_made_with(hipblaslt):
    """CUBLAS_COMPUTE_32F_FAST_TF32 77 -> 6; CUDA_R_32F 0."""
    run(
        "libcublasLt.so.12",
        hipblaslt,
        """
        made = P()
        rocm.reset(writes={0: struct.pack("Q", 0xABC0)})
        assert lib.cublasLtMatmulDescCreate(byref(made), 77, 0) == 0 and made.value == 0xABC0
        assert last()[0] == "hipblasLtMatmulDescCreate" and [word(x) for x in last()[1][1:]] == [6, 0]
        number = c_int()
        for attribute, value in ((0, 77), (1, 0)):
            assert lib.cublasLtMatmulDescGetAttribute(made, attribute, byref(number), c_size_t(4), None) == 0
            assert number.value == value
            assert lib.cublasLtMatmulDescSetAttribute(made, attribute, byref(c_int(value)), c_size_t(4)) == 0
            assert lib.cublasLtMatmulDescSetAttribute(made, attribute, byref(c_int(68)), c_size_t(4)) == 15
        assert lib.cublasLtMatmulDescCreate(byref(made), 5, 0) == 7
        """,
    )


def test_fp8_is_handed_on_as_the_flavour_that_it_is(hipblaslt):
    """NVIDIA's are OCP's (HIP_R_8F_E4M3 28, E5M2 29); FNUZ, which gfx942 has, are other numbers (1000, 1001)."""
    run(
        "libcublasLt.so.12",
        hipblaslt,
        """
        for kind in (28, 29):
            rocm.reset()
            assert lib.cublasLtMatrixLayoutCreate(byref(P()), kind, c_uint64(16), c_uint64(32), c_int64(16)) == 0
            assert word(last()[1][1]) == kind
        rocm.reset(status=7)
        assert lib.cublasLtMatrixLayoutCreate(byref(P()), 28, c_uint64(16), c_uint64(32), c_int64(16)) == 15
        """,
    )


def test_algorithms_travel_inside_cudas_structure(hipblaslt):
    """hipblasLtMatmulHeuristicResult_t: 16 bytes, workspace, workspace, state, waves, 4 numbers: 56 bytes; CUDA's 96."""
    first = struct.pack("16sQQif4i", bytes(range(1, 17)), 4096, 8192, 0, 0.75, 0, 0, 0, 0)
    second = struct.pack("16sQQif4i", bytes(range(101, 117)), 11, 22, 7, 1.5, 0, 0, 0, 0)
    run(
        "libcublasLt.so.12",
        hipblaslt,
        f"""
        results, found = (c_ubyte * (96 * 4))(), c_int(-1)
        rocm.reset(writes={{8: {first + second!r}, 9: struct.pack("i", 2)}})
        args = [P(0x100 * i) for i in range(2, 8)]
        assert lib.cublasLtMatmulAlgoGetHeuristic(H, *args, 4, results, byref(found)) == 0 and found.value == 2
        name, given = last()
        assert name == "hipblasLtMatmulAlgoGetHeuristic" and [word(x) for x in given[1:8]] == [*range(0x200, 0x800, 0x100), 4]
        state = [struct.unpack_from("Qif", results, 96 * i + 64) for i in range(2)]
        assert state == [(8192, 0, 0.75), (22, 15, 1.5)], state
        rocm.reset()
        chosen = (c_ubyte * 64).from_buffer_copy(bytes(results)[96:160])
        call = lambda algo: lib.cublasLtMatmul(H, P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), P(9), P(10), P(11), algo,
                                               P(13), c_size_t(14), P(0xBEEF0))
        assert call(chosen) == 0
        name, given = last()
        assert name == "hipblasLtMatmul" and [word(x) for x in given[1:12]] == list(range(1, 12))
        assert [word(x) for x in given[13:]] == [13, 14, 0xBEEF0]
        assert call(None) == 0 and word(last()[1][12]) == 0
        rocm.reset()
        assert call((c_ubyte * 64)()) == 7 and not rocm.calls()
        rocm.reset(writes={{9: struct.pack("i", 0)}})
        assert lib.cublasLtMatmulAlgoGetHeuristic(H, *args, 4, results, byref(found)) == 15 and found.value == 0
        assert lib.cublasLtMatmulAlgoGetHeuristic(H, *args, 0, results, byref(found)) == 7
        """,
    )
