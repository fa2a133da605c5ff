"""Names of CUDA in sources: expected answers are from HIP's and CUDA's manuals, and each counterpart is looked for in ROCm's own exports."""

import re
from pathlib import Path

import pytest

from anywarp.catalogue import identifier_pages
from anywarp.catalogue.identifiers import NEWEST, RELEASES, headers, identifiers, namespaces, release
from anywarp.catalogue.rocm import DATA
from anywarp.catalogue.rocm_checks import load_symbols

PAGE = Path(__file__).resolve().parents[2] / "docs" / "coverage" / "identifiers.md"

# HIP porting guide, HIP runtime API reference, hipBLAS, hipFFT, hipRAND, hipSPARSE, hipSOLVER, RCCL and roctx manuals
COUNTERPARTS = {
    "cudaMalloc": "hipMalloc",
    "cudaMemcpyAsync": "hipMemcpyAsync",
    "cudaMallocHost": "hipHostMalloc",
    "cudaStream_t": "hipStream_t",
    "cudaMemcpyHostToDevice": "hipMemcpyHostToDevice",
    "cudaSuccess": "hipSuccess",
    "cudaDeviceProp": "hipDeviceProp_t",
    "cudaGetDeviceProperties": "hipGetDeviceProperties",
    "cudaThreadSynchronize": "hipDeviceSynchronize",
    "cuMemAlloc": "hipMalloc",
    "cuMemAlloc_v2": "hipMalloc",
    "CUdeviceptr": "hipDeviceptr_t",
    "cuLaunchKernel": "hipModuleLaunchKernel",
    "cublasSgemm": "hipblasSgemm",
    "cublasSgemm_v2": "hipblasSgemm",
    "CUBLAS_OP_T": "HIPBLAS_OP_T",
    "cufftExecC2C": "hipfftExecC2C",
    "curandGenerateUniform": "hiprandGenerateUniform",
    "curandState": "hiprandState",
    "cusparseSpMV": "hipsparseSpMV",
    "cusolverDnSgetrf": "hipsolverDnSgetrf",
    "ncclAllReduce": "ncclAllReduce",
    "nvtxRangePushA": "roctxRangePushA",
    "nvrtcCompileProgram": "hiprtcCompileProgram",
    "__nv_bfloat16": "__hip_bfloat16",
    "float4": "float4",
    "dim3": "dim3",
    "__shfl_xor_sync": "__shfl_xor_sync",
}


@pytest.mark.parametrize("name", COUNTERPARTS)
def test_a_name_has_the_counterpart_that_the_manuals_give(name):
    found = identifiers("7.2")[name]
    assert (found.state, found.target) == ("mapped", COUNTERPARTS[name])


@pytest.mark.parametrize("rocm", RELEASES)
def test_every_answer_says_what_or_why(rocm):
    for each in identifiers(rocm).values():
        assert bool(each.target) == (each.state == "mapped"), each
        assert each.reason or each.state == "mapped", each


def test_counterparts_of_hip_are_exported_in_the_release():
    for rocm in ("6.4", "7.1", "7.2"):
        exported = set((DATA / "symbols" / f"hip-{rocm}.txt").read_text().split())
        functions = [
            e for e in identifiers(rocm).values() if e.kind == "function" and e.subject in ("runtime", "driver")
        ]
        counterparts = {e.target for e in functions if e.state == "mapped"}
        # hipGetDeviceProperties and hipChooseDevice hide behind macros
        missing = {t for t in counterparts - exported if f"{t}R0600" not in exported}
        assert len(counterparts) > 250 and missing == set(), rocm


def test_what_came_later_is_absent_before():
    assert identifiers("10.0")["cudaGreenCtxCreate"].state == "mapped"
    before = identifiers("7.2")["cudaGreenCtxCreate"]
    assert (
        before.state == "absent" and "10.0" in before.reason
    )  # our own driver on AMD GPUs has no green contexts either


def test_a_function_that_only_our_library_serves_is_emulated():
    assert identifiers()["cuGetProcAddress_v2"].state in ("mapped", "emulated")
    assert identifiers()["cudaGetDriverEntryPointByVersion"].state in ("mapped", "emulated")
    assert identifiers()["cuGLInit"].state == "absent"


def test_other_arguments_are_told_by_version_of_cuda():
    names = identifiers("7.2")
    assert names["cudaMemPrefetchAsync"].differs_in == (13,)
    assert names["cudaGraphInstantiate"].differs_in == (12, 13)
    assert names["cudaMemcpy"].differs_in == ()
    assert names["cudaGetTextureObjectResourceDesc"].differs_in == ()  # other fields in the struct, found by name


DEFAULTED = {"hipHostMalloc", "hipStreamWaitValue32", "hipStreamWaitValue64"}
"""Functions whose last parameter HIP's headers give a value for C++."""


@pytest.mark.parametrize("rocm", RELEASES)
def test_a_counterpart_with_another_number_of_parameters_is_told(rocm):
    def count(parameters: str) -> int:
        return 0 if parameters.strip() in ("", "void") else re.sub(r"\([^()]*\)", "", parameters).count(",") + 1

    found = 0
    for each in identifiers(rocm).values():
        if each.state != "mapped" or each.kind != "function" or not each.target_parameters or each.target in DEFAULTED:
            continue
        for major, parameters in each.parameters.items():
            if count(parameters) != count(each.target_parameters):
                assert major in each.differs_in and each.reason, each
                found += 1
    assert found > 50


@pytest.mark.parametrize(
    ("name", "majors"),
    [
        ("cublasSgemmEx", (12, 13)), ("cublasLtGetVersion", (12, 13)), ("cusparseSpSM_solve", (12, 13)), ("cuMemAdvise", (13,)),
        ("cufftXtSetWorkArea", (12, 13)), ("cuFuncSetAttribute", (12, 13)), ("cublasSscal", ()), ("cusparseDgthr", ()), ("cudaMallocHost", ()),
    ],
)  # fmt: skip
def test_parameters_decide_whether_a_counterpart_is_called_alike(name, majors):
    assert identifiers("7.2")[name].differs_in == majors


def test_a_name_that_a_macro_of_cuda_hides_has_the_form_of_each_version():
    row = identifiers("7.2")["cuMemAdvise"]
    assert row.target == "hipMemAdvise"
    assert "CUdevice device" in row.parameters[12] and "CUmemLocation location" in row.parameters[13]


ONLY_HIPS = re.compile(r"hipsparse(GetGitRevision|[SD]prune\w+_bufferSize)")


@pytest.mark.parametrize("rocm", ["6.4", "7.2"])
def test_all_that_hipsparse_took_from_cusparse_is_known(rocm):
    exported = load_symbols()["hipsparse"][rocm].names
    answered = {each.target for each in identifiers(rocm).values()}
    assert [name for name in sorted(exported - answered) if not ONLY_HIPS.fullmatch(name)] == []


def test_headers_and_name_spaces():
    assert headers()["cublas_v2.h"].target == "hipblas/hipblas.h"
    assert headers()["cuda_awbarrier.h"].state == "absent"
    assert (namespaces()["cub"].target, namespaces()["cub"].header) == ("hipcub", "hipcub/hipcub.hpp")


@pytest.mark.parametrize(("asked", "counts"), [("7.1.3", "7.1"), ("7.0", "6.4"), ("7.2", "7.2"), ("99", NEWEST)])
def test_a_release_between_two_counts_as_the_older(asked, counts):
    assert release(asked) == counts


@pytest.mark.parametrize("asked", ["", "x", "5.7", "7.", "7.1.2.3.4", "1" * 4000])
def test_no_release(asked):
    with pytest.raises(ValueError):
        release(asked)


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == identifier_pages.as_markdown(), "run scripts/docs"


def test_every_name_is_one():
    assert [name for name in identifiers() if not re.fullmatch(r"\w+", name)] == []


def test_the_constants_of_nvml_are_nvmls():
    """As NVIDIA's own binding has them; nvml.h has them as variables or macros, which no enumeration holds."""
    import pynvml

    names = {name for name, value in vars(pynvml).items() if re.match("nvml[A-Z]", name) and type(value) is int}
    assert len(names) > 40 and "nvmlClocksThrottleReasonGpuIdle" in names
    known = identifiers()
    assert {name: known[name].subject for name in names if name in known} == dict.fromkeys(names, "nvml")
