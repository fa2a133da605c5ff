"""The tables that pair CUDA's libraries with ROCm's: well formed, true to what each version of ROCm exports, complete."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from anywarp.catalogue import rocm_checks as checks
from anywarp.catalogue import rocm_pages
from anywarp.catalogue.rocm import DATA, read

PAGES = Path(__file__).resolve().parents[2] / "docs" / "coverage"
SYMBOLS = checks.load_symbols()
TABLES = {stem: checks.load_tables(stem) for stem in checks.STEMS}


def row(stem, name):
    return next(r for r in TABLES[stem].functions if r["name"] == name)


@pytest.mark.parametrize("stem", checks.STEMS)
def test_tables_agree_with_what_each_version_exports_and_with_themselves(stem):
    assert checks.problems(TABLES[stem], SYMBOLS) == []


@pytest.mark.parametrize("stem", checks.STEMS)
def test_every_enumeration_of_a_forwarded_function_has_constants_and_a_way_back(stem):
    assert checks.enums_not_covered(TABLES[stem]) == []


# What 14 published packages import, counted from their files (the figures of docs/coverage/rocm.md).
@pytest.mark.parametrize(
    "stem, count",
    [
        ("cublas", 190),
        ("cublaslt", 22),
        ("cufft", 28),
        ("curand", 16),
        ("cusparse", 257),
        ("cusolver", 247),
        ("nccl", 53),
    ],
)
def test_what_published_packages_import_is_answered_or_absent_for_a_reason(stem, count):
    wanted = checks.demanded(TABLES[stem])
    assert len(wanted) == count
    assert [
        r["name"] for r in wanted if r["route"] == "absent" and r["reason"].startswith(("exported", "no counterpart"))
    ] == []


def changed(stem, name, **cells):
    rows = tuple({**r, **cells} if r["name"] == name else r for r in TABLES[stem].functions)
    return checks.problems(replace(TABLES[stem], functions=rows), SYMBOLS)


@pytest.mark.parametrize(
    "cells, words",
    [
        ({"target": "hipblasSgemmm"}, "hipblas of ROCm 6.4 has no hipblasSgemmm"),
        ({"since": "7.2"}, "hipblas of ROCm 6.4 has hipblasSgemm, the row says otherwise"),
        ({"removed": "7.2"}, "hipblas of ROCm 7.2 has hipblasSgemm, the row says otherwise"),
        ({"target_parameters": "hipblasHandle_t handle, int m"}, "takes 14 parameters in CUDA 12, hipblasSgemm 2"),
        ({"route": "absent"}, "absent without a reason"),
        ({"route": "elsewhere"}, "unknown route 'elsewhere'"),
        ({"library": "hipblis"}, "there is no list of what hipblis exports"),
    ],
)
def test_a_wrong_row_is_found(cells, words):
    assert any(words in text for text in changed("cublas", "cublasSgemm_v2", **cells))


def test_a_constant_without_counterpart_or_reason_is_found():
    tables = TABLES["cublas"]
    first = next(r for r in tables.constants if r["target"] and r["type"] != "#define")
    bare = {**first, "name": "CUBLAS_NEW", "target": "", "target_value": "", "reason": ""}
    blind = {**first, "name": "CUBLAS_NEWER", "target_value": ""}
    found = checks.problems(replace(tables, constants=(*tables.constants, bare, blind)), SYMBOLS)
    assert "CUBLAS_NEW: no counterpart and no reason" in found
    assert any(text.startswith("CUBLAS_NEWER: ") and text.endswith("has no number") for text in found)


def test_an_enumeration_without_constants_is_found():
    tables = TABLES["cublas"]
    without = tuple(r for r in tables.constants if r["type"] != "cublasOperation_t")
    assert any(
        "cublasOperation_t has no constants" in t for t in checks.enums_not_covered(replace(tables, constants=without))
    )


# Numbers that the manuals of cuBLAS and hipBLAS print.
@pytest.mark.parametrize(
    "stem, name, ours, theirs",
    [
        ("cublas", "CUBLAS_OP_N", "0", "111"),
        ("cublas", "CUBLAS_OP_C", "2", "113"),
        ("cublas", "CUBLAS_FILL_MODE_LOWER", "0", "122"),
        ("cublas", "CUBLAS_FILL_MODE_UPPER", "1", "121"),
        ("cublas", "CUBLAS_DIAG_NON_UNIT", "0", "131"),
        ("cublas", "CUBLAS_SIDE_LEFT", "0", "141"),
        ("cublas", "CUBLAS_STATUS_NOT_SUPPORTED", "15", "7"),
        ("cufft", "CUFFT_Z2Z", "105", "105"),
        ("curand", "CURAND_RNG_PSEUDO_XORWOW", "101", "401"),
        ("nccl", "ncclSum", "0", "0"),
        ("runtime", "cudaMemcpyDeviceToHost", "2", "2"),
        ("runtime", "cudaErrorNoDevice", "100", "100"),
    ],
)
def test_numbers_are_those_of_the_manuals(stem, name, ours, theirs):
    found = next(r for r in TABLES[stem].constants if r["name"] == name)
    assert (found["value_12"], found["target_value"]) == (ours, theirs)


def test_names_that_changed_between_versions_are_told():
    assert row("cublas", "cublasGemmEx")["target"] == "hipblasGemmEx"
    assert row("cublas", "cublasGemmEx")["earlier"] == "6.4=hipblasGemmEx_v2"  # hipBLAS 3 dropped the old data types
    assert row("cublas", "cublasSetWorkspace_v2")["since"] == "7.2"


def test_error_codes_are_paired_by_meaning_not_by_number():
    to_cuda = {
        (r["hip_value"], r["hip_name"]): r for r, _ in read(DATA / "errors_from_hip.tsv", ("hip_value", "hip_name"))
    }
    to_hip = {r["cuda_value"]: r for r, _ in read(DATA / "errors_to_hip.tsv", ("cuda_value", "hip_name"))}
    assert to_cuda["100", "hipErrorNoDevice"]["driver_value"] == "100"
    assert to_cuda["101", "hipErrorInvalidDevice"]["runtime_value"] == "101"
    assert "CUDA_ERROR_NO_DEVICE" in to_cuda["101", "hipErrorInvalidDevice"]["reason"]
    assert (
        to_cuda["911", "hipErrorInvalidChannelDescriptor"]["runtime_value"] == "20"
    )  # 911 is an external device in CUDA
    assert to_hip["911"]["hip_name"] == ""
    # 1054 was a mark for unnumbered errors until ROCm 10, and is the size of a cluster since.
    assert to_cuda["1054", "hipErrorTbd"]["driver_value"] == "999"
    assert to_cuda["1054", "hipErrorInvalidClusterSize"]["driver_value"] == "912"
    for (_, name), found in to_cuda.items():
        assert found["driver_name"].startswith("CUDA_"), name
        assert found["runtime_name"].startswith("cuda"), name


def test_headers_have_a_counterpart_or_a_reason():
    rows = [r for r, _ in read(DATA / "headers.tsv", ("name", "kind", "target", "since", "reason"))]
    assert {r["name"]: r["target"] for r in rows if r["kind"] == "header"}["cuda_runtime.h"] == "hip/hip_runtime.h"
    assert {r["name"]: r["target"] for r in rows if r["kind"] == "namespace"}["cub"] == "hipcub"
    assert [r["name"] for r in rows if not r["target"] and not r["reason"]] == []


def test_device_names_are_found_under_the_names_that_hip_gives_them():
    rows = {(r["header"], r["name"]): r for r, _ in read(DATA / "device.tsv", ("header", "kind", "name", "target"))}
    assert rows["cuda_bf16.h", "__nv_bfloat16"]["target"] == "__hip_bfloat16"
    assert rows["curand_kernel.h", "curand_init"]["target"] == "hiprand_init"
    assert rows["cuda_fp16.h", "__hadd"]["target"] == "__hadd"
    assert rows["sm_30_intrinsics.h", "__shfl_down_sync"]["target"] == "__shfl_down_sync"


def test_the_pages_are_current():
    made = rocm_pages.pages()
    assert len(made) == 1 + len(checks.STEMS)
    stale = [name for name, text in made.items() if not (PAGES / name).exists() or (PAGES / name).read_text() != text]
    assert stale == [], "run scripts/docs"


def test_decisions_by_hand_all_decide_something():
    unused = []
    for stem in checks.STEMS:
        tables = TABLES[stem]
        names = {
            "function": [r["name"] for r in tables.functions],
            "type": [r["name"] for r in tables.types],
            "constant": [r["name"] for r in tables.constants],
            "back": [r["name"] for r in tables.back],
        }
        path = DATA / f"{stem}_choices.tsv"
        for choice, place in read(path, ("sort", "pattern", "decision", "target", "reason")) if path.exists() else ():
            if not any(re.fullmatch(choice["pattern"], name) for name in names[choice["sort"]]):
                unused.append(f"{place}: {choice['pattern']}")
    assert unused == []


# As the headers have them: from_port, to_port, type, reserved[5] in CUDA and from_port, reserved[5], to_port, type in HIP;
# CUDA's copy in three dimensions has two reserved pointers that HIP's has not; kernel nodes are in another order.
@pytest.mark.parametrize(
    "stem, name, conversion",
    [
        ("driver", "CUgraphEdgeData", "struct"),
        ("driver", "CUDA_MEMCPY3D_st", "struct"),
        ("driver", "CUDA_KERNEL_NODE_PARAMS_st", "struct"),
        ("driver", "CUipcMemHandle_st", "same"),
        ("driver", "CUDA_EXTERNAL_MEMORY_BUFFER_DESC_st", "same"),
        ("nccl", "ncclUniqueId", "same"),
        ("nccl", "ncclConfig_t", "struct"),
        ("cublaslt", "cublasLtMatmulAlgo_t", "struct"),
        ("cublaslt", "cublasLtMatmulHeuristicResult_t", "struct"),
        ("cufft", "cufftHandle", "custom"),
        ("cublas", "cuComplex", "bits"),
    ],
)
def test_structs_count_as_the_same_only_when_they_are_laid_out_alike(stem, name, conversion):
    assert next(r for r in TABLES[stem].types if r["name"] == name)["conversion"] == conversion


def test_nvml_is_converted_only_where_the_library_serves_it():
    page = (PAGES / "nvml_amd.md").read_text()
    served = set(re.findall(r"^\| `(nvml\w+)` \| served", page, re.MULTILINE))
    assert {r["name"] for r in TABLES["nvml"].functions if r["route"] == "custom"} - served == set()
