"""Scanning CUDA C++: what counts as NVIDIA's, and what must not."""

from pathlib import PurePath

import pytest

from anywarp.migrate.scan import cuda_source


def scan(text, name="k.cu"):
    """Return the uses of a text as (subject, name, line)."""
    data = text if isinstance(text, bytes) else text.encode()
    return [(u.subject, u.name, u.line) for u in cuda_source.scan(data, PurePath(name))]


def names(text, subject, name="k.cu"):
    return [each for kind, each, _ in scan(text, name) if kind == subject]


def test_calls_types_and_constants_are_found_where_they_stand():
    text = "#include <cuda_runtime.h>\n\nint f(float **p) {\n  cudaError_t e = cudaMalloc(p, 4);\n  return e != cudaSuccess;\n}\n"
    assert scan(text) == [
        ("cuda.header", "cuda_runtime.h", 1),
        ("cuda.api", "cudaError_t", 4),
        ("cuda.api", "cudaMalloc", 4),
        ("cuda.api", "cudaSuccess", 5),
    ]


def test_one_use_per_name_with_its_count_and_lines():
    uses = list(cuda_source.scan(b"cudaFree(a);\ncudaFree(b);\n\ncudaFree(c); cudaFree(d);\n", PurePath("a.cu")))
    assert [(u.name, u.detail("count"), u.detail("lines")) for u in uses] == [("cudaFree", "4", "1,2,4")]
    assert uses[0].text == "cudaFree(a);"


@pytest.mark.parametrize(
    "text",
    [
        "// cudaMalloc(p, 4)\n",
        "/* cudaMalloc\n cudaFree */\n",
        'puts("cudaMalloc failed");\n',
        'auto s = R"(cudaMalloc "x" )";\n',
        "#define A 'x' // cudaFree\n",
        "// one \\\n cudaMalloc(p)\n",
    ],
)
def test_comments_and_strings_hold_no_names(text):
    assert scan(text) == []


def test_a_user_s_own_name_that_looks_like_nvidia_s_is_not_nvidia_s():
    assert scan("cudaCheckErrors(x); my_cudaMalloc(y); cudaMallocator m; NS::cudaCheck(z);\n") == []


def test_a_digit_separator_is_no_character_literal():
    assert names("int n = 1'000'000; cudaFree(p); char c = 'x';\n", "cuda.api") == ["cudaFree"]


def test_plain_cpp_is_left_alone():
    assert scan("#include <vector>\nint main() { float x = sqrtf(2.f); return atomic_fetch(x); }\n", "a.cpp") == []


def test_launches_and_kernels_are_counted():
    text = "__global__ void k(int *p) { p[threadIdx.x] = 1; }\nvoid f() { k<<<1, 2>>>(p); k<<<3, 4>>>(q); }\n"
    uses = {(u.subject, u.name): u.detail("count") for u in cuda_source.scan(text.encode(), PurePath("a.cu"))}
    assert uses == {("cuda.kernel", "__global__"): "1", ("cuda.launch", "<<<>>>"): "2"}


def test_inline_ptx_is_told_by_instruction_and_by_what_we_have():
    text = """
__device__ unsigned lane() { unsigned r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ void g() { asm volatile("wgmma.fence.sync.aligned;\\n" ::: "memory"); }
__device__ void h(int a) {
  asm("{\\n\\t.reg .pred p;\\n\\tsetp.eq.s32 p, %0, 0;\\n\\t@p bra DONE;\\n\\t"
      "bar.sync 0;\\nDONE:\\n}" :: "r"(a));
}
"""
    found = {
        u.name: (u.line, u.detail("front_end"))
        for u in cuda_source.scan(text.encode(), PurePath("a.cu"))
        if u.subject == "ptx.inline"
    }
    assert found == {
        "mov.u32": (2, "served"),
        "wgmma.fence.sync.aligned": (3, "lacking"),
        "setp.eq.s32": (5, "served"),
        "bra": (5, "served"),
        "bar.sync": (5, "served"),
    }


def test_inline_ptx_says_whether_the_translator_writes_it():
    text = '__device__ int f(int a) { int r; asm("add.s32 %0, %1, 1;" : "=r"(r) : "r"(a)); return r; }\n'
    (use,) = [u for u in cuda_source.scan(text.encode(), PurePath("a.cu")) if u.subject == "ptx.inline"]
    assert (use.name, use.detail("translated")) == ("add.s32", "yes")
    (use, *_) = [
        u
        for u in cuda_source.scan(
            text.replace("add.s32 %0, %1, 1", "mbarrier.try_wait.shared.b64 p, [%1], 3;").encode(), PurePath("a.cu")
        )
        if u.subject == "ptx.inline"
    ]
    assert use.detail("translated") not in ("", "yes")


def test_assembly_of_the_host_is_no_ptx():
    text = 'void f() { asm volatile("mov %%eax, %0\\n\\tcpuid" : "=r"(x)); cudaFree(p); }\n'
    assert names(text, "ptx.inline", "a.cpp") == []


@pytest.mark.parametrize(
    ("text", "library"),
    [
        ("#include <cutlass/gemm.h>\n", "CUTLASS"),
        ("auto x = cub::DeviceScan::InclusiveSum(a);\n", "CUB"),
        ("thrust::device_vector<int> v; // cuda\n", "Thrust"),
        ("namespace cg = cooperative_groups; // cuda\n", "cooperative groups"),
        ("cuda::std::atomic<int> a;\n", "libcu++"),
        ("nvcuda::wmma::fragment<a> f;\n", "WMMA"),
        ("#include <NvInfer.h>\n", "TensorRT"),
        ("texture<float, 2> t;\n", "texture reference"),
        ("using A = cutlass::arch::Sm90;\n", "CUTLASS for sm_90a"),
    ],
)
def test_libraries_are_known_by_name_space_or_header(text, library):
    assert library in names(text, "cuda.library")


def test_pytorch_s_name_space_is_not_libcu():
    text = "#include <ATen/cuda/CUDAContext.h>\nauto s = at::cuda::getCurrentCUDAStream(); C10_CUDA_CHECK(cudaGetLastError());\n"
    assert names(text, "cuda.library", "a.cpp") == []
    assert names(text, "cuda.torch", "a.cpp") == [
        "ATen/cuda/CUDAContext.h",
        "at::cuda::getCurrentCUDAStream",
        "C10_CUDA_CHECK",
    ]


def test_what_counts_on_32_lanes_is_what_the_translator_keeps_or_tells():
    text = """__global__ void k(int *lock) {
  __shared__ float s[32];
  int lane = threadIdx.x % 32;
  unsigned b = __ballot_sync(0xffffffff, lane);
  while (atomicCAS(lock, 0, 1) != 0) {}
}
int f(cudaDeviceProp p) { return p.warpSize; }
"""
    found = {
        u.name: (u.detail("count"), u.line)
        for u in cuda_source.scan(text.encode(), PurePath("a.cu"))
        if u.subject == "cuda.wave"
    }
    assert found == {"32 lanes": ("2", 2), "M123": ("1", 5), "M122": ("1", 7)}


def test_a_file_with_a_branch_for_hip_says_so():
    (use,) = cuda_source.scan(b"#ifdef __HIP_PLATFORM_AMD__\n#else\ncudaFree(p);\n#endif\n", PurePath("a.h"))
    assert use.detail("ported") == "yes"


def test_bytes_that_are_no_text_do_no_harm():
    junk = bytes(range(256)) * 200 + b"\ncudaFree(p)\n" + b"\xff\xfe\"'/*"
    assert names(junk, "cuda.api") == ["cudaFree"]
    assert scan(b"asm(" + b"(" * 100_000) == []
    assert scan(b'"' * 100_000 + b"cudaMalloc") == scan(b'"' * 100_000 + b"cudaMalloc")


def test_one_very_long_line_is_placed_and_its_text_is_cut():
    data = b"x;" * 500_000 + b"cudaFree(p);" + b"y;" * 500_000
    (use,) = cuda_source.scan(data, PurePath("a.cu"))
    assert (use.line, use.column) == (1, 1_000_001)
    assert "cudaFree" in use.text and len(use.text) < 400


def test_a_source_for_hip_is_none_for_cuda():
    text = "#include <hip/hip_runtime.h>\n__global__ void k() {}\nvoid f() { k<<<1, 1>>>(); hipDeviceSynchronize(); }\n"
    assert scan(text, "k.cpp") == []
    assert names(text + "void g() { cudaDeviceSynchronize(); }\n", "cuda.kernel", "k.cpp") == ["__global__"]


def test_assembly_of_amd_is_no_ptx():
    assert (
        names('__device__ void f() { asm volatile("s_waitcnt vmcnt(0)" ::: "memory"); cudaFree(p); }\n', "ptx.inline")
        == []
    )


def test_a_folder_of_the_project_called_cuda_is_not_libcu():
    assert scan('#include "cuda/scatter_cuda.h"\n', "a.cpp") == []
    assert names("#include <cuda/std/atomic>\n#include <cuda/barrier>\n", "cuda.library") + names(
        "#include <cuda/std/atomic>\n", "cuda.header"
    ) == ["libcu++", "cuda/std/atomic"]


def test_names_that_a_text_defines_itself_are_its_own():
    assert scan("#pragma once\n#define cudaMalloc hipMalloc\n#define cudaError_t hipError_t\n", "hip.h") == []
    text = "static inline unsigned __hgt2_mask(const half2 a, const half2 b) {\n  return 0;\n}\nunsigned f() { return __hgt2_mask(x, y); }\nvoid g() { if (__hgt2_mask(x, y)) { } }\n"
    uses = [u for u in cuda_source.scan(text.encode(), PurePath("a.cu")) if u.name == "__hgt2_mask"]
    assert [u.detail("lines") for u in uses] == ["4,5"]


def test_group_functions_that_no_header_can_give_are_told_by_name():
    text = (
        b"#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
        b"__global__ void k(int *x) {\n  auto g = cg::this_cluster();\n}\n"
    )
    (found,) = [u for u in cuda_source.scan(text, PurePath("a.cu")) if u.subject == "cuda.group"]
    assert (found.name, found.line) == ("this_cluster", 4)
    assert "has no equal in HIP" in found.detail("message")
