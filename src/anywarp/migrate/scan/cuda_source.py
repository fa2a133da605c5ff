"""CUDA C++ and headers: which names of NVIDIA's a text uses, its kernels and launches, inline PTX, and code that counts on 32 lanes.

Names are those of the catalogue: `cudaCheck` that a user defined is the user's, though it looks like NVIDIA's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePath

from anywarp.catalogue.identifiers import headers, identifiers
from anywarp.migrate.findings import Use
from anywarp.migrate.scan.asm_text import scan_asm
from anywarp.migrate.scan.cpp_text import Lines, includes
from anywarp.migrate.scan.tally import Tally
from anywarp.migrate.target import Target
from anywarp.migrate.translate import rules_hazards, rules_warps
from anywarp.migrate.translate.brackets import call
from anywarp.migrate.translate.edits import Edit, Problem
from anywarp.migrate.translate.rules_foreign import GroupFunctions
from anywarp.migrate.translate.unit import Options, Unit

CUDA_SUFFIXES = frozenset({".cu", ".cuh", ".cui"})
SUFFIXES = CUDA_SUFFIXES | frozenset(
    {".h", ".hh", ".hpp", ".hxx", ".h++", ".c", ".cc", ".cpp", ".cxx", ".c++", ".inl", ".inc", ".ipp", ".tpp", ".impl", ".in", ".mm"}
)  # fmt: skip
_HINTS = (
    b"cuda", b"__global__", b"__device__", b"<<<", b"cublas", b"cudnn", b"nccl", b"nvml", b"nvrtc", b"nvtx", b"nvtools", b"cufft", b"curand",
    b"cusparse", b"cusolver", b"cutlass", b"thrust", b"<cub/", b"cuinit", b"cumem", b"culaunch", b"cumodule", b"cudevice", b"curesult",
    b"cucontext", b"custream", b"wmma", b"nvvm", b"nvjitlink", b"cutensor", b"nvshmem", b"cufile", b"__shfl", b"npp", b"nvjpeg", b"nvinfer",
)  # fmt: skip
_NAME = re.compile(
    rb"\b(?:cu[A-Z]|cuda|CUDA|CU[A-Z_]|cu(?:blas|fft|rand|sparse|solver|dnn|tensor|pti|file)|(?:p?nccl|NCCL|nvml|NVML|nvrtc|NVRTC|nvtx|NVTX|nv|__)\w"
    rb"|__[a-z]|atomic[A-Z]|tex\dD|tex1Dfetch|texCube|surf\dD|half\b|half2\b)\w*"
)
_HOPPER = re.compile(
    rb"\b(?:SM90|SM100|Sm90|Sm100|SM120)_?\w*|\bGMMA\b|\bwarpgroup_\w+|\bTMA_\w+|\bwgmma\w*|\btcgen05\w*|\bClusterTransactionBarrier\b"
)
_HOPPER_FILE = re.compile(r"(?i)sm_?(?:90|100)|hopper|blackwell|wgmma|tcgen05")
_TEXTURE = re.compile(rb"(?<![:\w])(?:texture|surface)\s*<\s*(?:unsigned\s+)?\w+\s*(?:,[^<>;()]*)?>\s*\w+\s*[;=]")
_HIP = re.compile(rb"\bhip[A-Z]\w+|\bhip/|__builtin_amdgcn_|\brocprim\b|\bmfma\w*|\bgfx9\w+|\bHIP_\w+")
_DEFINES = re.compile(rb"#[ \t]*define[ \t]+\Z")
_TYPED = re.compile(rb"(?<!return)(?<!else)(?<!case)(?:\w|[*&>])\s+\Z|\w\s*[*&]\Z")
_LAUNCH = re.compile(rb"<<<")
_QUALIFIED = re.compile(
    rb"\b(cub|thrust|cutlass|cute|cooperative_groups|nvcuda::wmma|cuda::std|cuda)\s*::\s*(\w+)(?:\s*::\s*(\w+))?"
)
_MACROS = frozenset(
    b"__CUDA_ARCH__ __CUDACC__ __CUDACC_VER_MAJOR__ __CUDACC_VER_MINOR__ __CUDACC_RTC__ __NVCC__ CUDA_VERSION CUDART_VERSION __CUDA_ARCH_LIST__"
    b" CUDA_ARCH_LIST __CUDA_ARCH_FEAT_SM90_ALL __CUDA_ARCH_FEAT_SM100_ALL __CUDA_ARCH_SPECIFIC__"
    b" __CUDACC_EXTENDED_LAMBDA__ __CUDACC_RELAXED_CONSTEXPR__".split()
)
_QUALIFIERS = frozenset(b"__global__ __device__ __shared__ __constant__ __managed__ __launch_bounds__".split())
_TEXTURES = frozenset(
    b"tex1D tex1Dfetch tex1DLayered tex1DLod tex1DGrad tex2D tex2DLayered tex2DLod tex2DGrad tex2Dgather tex3D tex3DLod tex3DGrad texCubemap"
    b" texCubemapLayered texCubemapLod surf1Dread surf1Dwrite surf2Dread surf2Dwrite surf3Dread surf3Dwrite surf2DLayeredread surf2DLayeredwrite"
    b" surfCubemapread surfCubemapwrite".split()
)
_ONLY_NVCC = frozenset(
    b"__grid_constant__ __cluster_dims__ __nv_pure__ __block_size__ __nv_is_extended_device_lambda_closure_type".split()
)
_PRAGMA = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+(nv_\w+|nv\b|hd_warning_disable)", re.MULTILINE)
_PORTED = re.compile(
    rb"\b(?:__HIP_PLATFORM_AMD__|__HIP_PLATFORM_HCC__|__HIPCC__|__HIP__|USE_ROCM|\w*_USE_HIP(?:BLAS)?|\w*_ROCM)\b"
)
_LIBCUDACXX_HEADERS = (
    "std/", "atomic", "barrier", "pipeline", "semaphore", "latch", "ptx", "functional", "annotated_ptr", "access_property", "memory_resource", "stream_ref",
    "discard_memory", "cmath", "numeric", "bit", "warp", "work_stealing", "experimental/", "__",
)  # fmt: skip
_LIBRARY_HEADERS = {
    "cutlass/": "CUTLASS", "cute/": "CUTLASS", "NvInfer": "TensorRT", "nvjpeg.h": "nvJPEG", "npp": "NPP", "cufile.h": "cuFile", "nvshmem": "NVSHMEM",
    "cutensor": "cuTENSOR", "cusparseLt.h": "cuSPARSELt", "nvcomp": "nvCOMP", "cudss.h": "cuDSS", "cupti": "CUPTI", "nvJitLink.h": "nvJitLink",
    "nvvm.h": "libNVVM", "nvPTXCompiler.h": "PTX compiler library", "optix": "OptiX", "nvcuvid.h": "NVDEC", "cuviddec.h": "NVDEC", "nvEncodeAPI.h": "NVENC",
    "cudnn_frontend": "cuDNN frontend", "rmm/": "RMM", "raft/": "RAFT", "cudf/": "cuDF", "amgx_c.h": "AmgX", **{f"cuda/{name}": "libcu++" for name in _LIBCUDACXX_HEADERS},
}  # fmt: skip


def wants(path: PurePath, head: bytes) -> bool:
    """Take what its name says is C or C++."""
    return path.suffix.lower() in SUFFIXES


def scan(data: bytes, path: PurePath) -> Iterator[Use]:
    """Yield the uses of CUDA in a C++ text, one per name."""
    low = data.lower()
    if path.suffix.lower() not in CUDA_SUFFIXES and not any(hint in low for hint in _HINTS):
        return
    lines = Lines(data)
    tally = collect(data, bool(_HOPPER_FILE.search(path.name)))
    ported = (("ported", "yes"),) if _PORTED.search(data) else ()
    yield from tally.uses(lines.place, lines.text, ported)


def collect(data: bytes, hopper: bool = False) -> Tally:
    """Count what a C++ text uses of CUDA; places are byte offsets. `hopper`: its name says that it is for sm_90a or sm_100a."""
    tally = Tally()
    unit = Unit(
        data, PurePath("scanned.cu"), Options(target=Target("hip", "gfx942"))
    )  # of the target nothing is asked but 64 lanes
    masked = unit.code
    _headers(data, masked, tally)
    _names(masked, tally)
    device = tally.has("cuda.kernel")
    _libraries(masked, tally, hopper or _HOPPER.search(masked) is not None)
    if b"cuda" in masked or b"CUDA" in masked or b"Cuda" in masked:
        _torch(masked, tally)
    for found in _LAUNCH.finditer(masked):
        tally.add("cuda.launch", "<<<>>>", found.start())
    if device or b"__shfl" in masked or b"__ballot" in masked:
        _lanes(unit, tally)
    for outcome in GroupFunctions().apply(unit):
        if isinstance(outcome, Problem):
            name = data[outcome.start : outcome.end].decode()
            tally.add("cuda.group", name, outcome.start, (("message", outcome.message), ("hint", outcome.help)))
    scan_asm(unit, tally, device)
    if (
        device
        and _HIP.search(masked)
        and not any(map(tally.has, ("cuda.api", "cuda.header", "ptx.inline", "cuda.torch")))
    ):
        return Tally()  # a source for HIP: kernels and launches are spelled the same
    return tally


@cache
def _known() -> dict[bytes, str]:
    """Return the subject under which a name is counted; names that are the same in HIP say nothing that must change."""
    found: dict[bytes, str] = {}
    for name, each in identifiers().items():
        same = each.state == "mapped" and each.target == name and not each.since and not each.removed
        if each.subject != "device":
            found[name.encode()] = "cuda.api"
        elif not same:
            found[name.encode()] = "cuda.device"
    for names, subject in (
        (_MACROS, "cuda.macro"),
        (_QUALIFIERS, "cuda.kernel"),
        (_ONLY_NVCC, "cuda.nvcc"),
        (_TEXTURES, "cuda.texture"),
    ):
        found |= dict.fromkeys(names, subject)
    return found


def _names(masked: bytes, tally: Tally) -> None:
    known = _known()
    for found in _NAME.finditer(masked):
        name = found[0]
        subject = known.get(name)
        if subject is not None:
            before = masked[max(0, found.start() - 40) : found.start()]
            if (before.endswith(b".") and subject != "cuda.macro") or _DEFINES.search(before):
                continue  # a member of the user's own, or a macro that stands for another vendor's name
            if subject == "cuda.device" and _TYPED.search(before) and _has_body(masked, found.end()):
                continue  # a function of the user's own by that name
            tally.add(subject, name.decode(), found.start())
    for found in _TEXTURE.finditer(masked):
        tally.add("cuda.library", "texture reference", found.start())
    for found in _PRAGMA.finditer(masked):
        tally.add("cuda.nvcc", f"#pragma {found[1].decode()}", found.start())


def _has_body(masked: bytes, end: int) -> bool:
    """Tell whether a function is defined where its name ends at `end`."""
    places = call(masked, end)
    return places is not None and masked[places[1] + 1 : places[1] + 40].lstrip().startswith(b"{")


def _headers(data: bytes, masked: bytes, tally: Tally) -> None:
    known = headers()
    for offset, name in includes(data, masked):
        if _TORCH_HEADER.match(name):
            tally.add("cuda.torch", name, offset)
        elif name in known or name.startswith(("thrust/", "cub/", "cuda/std/")):
            tally.add("cuda.header", name, offset)
        elif library := next((title for start, title in _LIBRARY_HEADERS.items() if name.startswith(start)), None):
            tally.add("cuda.library", library, offset)


_LIBRARIES = {b"cub": "CUB", b"thrust": "Thrust", b"cutlass": "CUTLASS", b"cute": "CUTLASS", b"cooperative_groups": "cooperative groups", b"nvcuda::wmma": "WMMA"}  # fmt: skip
_OPENED = re.compile(
    rb"\b(?:using\s+namespace|namespace\s+\w+\s*=)\s*(?:::\s*)?(cub|thrust|cutlass|cute|cooperative_groups|nvcuda::wmma)\s*;"
)
_TORCH_HEADER = re.compile(r"(?:ATen|c10|torch/csrc)/cuda/")
_TORCH_NAME = re.compile(
    rb"\b(?:(?:at|c10)\s*::\s*cuda\s*::\s*(\w+)(?:\s*::\s*\w+)?|(C10_CUDA_\w+|AT_CUDA_\w+|AT_CUDABLAS_CHECK|AT_CUSPARSE_CHECK|TORCH_CUDA\w*_CHECK)"
    rb"|at\s*::\s*(PhiloxCudaState|CUDAGeneratorImpl|check_generator\s*<\s*at\s*::\s*CUDAGeneratorImpl)|(?:torch|at|c10)\s*::\s*(kCUDA)\b)|\.\s*(is_cuda)\s*\("
)
_LIBCUDACXX = frozenset(
    b"std barrier pipeline atomic atomic_ref semaphore latch memcpy_async thread_scope_device ptx device experimental".split()
)


def _libraries(masked: bytes, tally: Tally, hopper: bool) -> None:
    cutlass = "CUTLASS for sm_90a" if hopper else "CUTLASS"
    for found in _QUALIFIED.finditer(masked):
        space, member = found[1], found[2]
        if space in (b"cuda", b"cuda::std"):
            before = masked[max(0, found.start() - 2) : found.start()]
            if before != b"::" and (space == b"cuda::std" or member in _LIBCUDACXX):  # at::cuda:: is PyTorch's own
                tally.add("cuda.library", "libcu++", found.start())
        elif masked[max(0, found.start() - 2) : found.start()] != b"::" or space == b"cub":
            name = _LIBRARIES[space]
            tally.add("cuda.library", cutlass if name == "CUTLASS" else name, found.start())
    for found in _OPENED.finditer(masked):
        tally.add("cuda.library", _LIBRARIES[found[1]], found.start(1))


def _torch(masked: bytes, tally: Tally) -> None:
    """Count names of PyTorch's C++ interface to CUDA."""
    for found in _TORCH_NAME.finditer(masked):
        if found[1]:
            name = f"at::cuda::{found[1].decode()}"
        else:
            name = (found[2] or found[3] or found[4] or found[5]).decode().partition("<")[0].strip()
        tally.add("cuda.torch", name, found.start())


def _lanes(unit: Unit, tally: Tally) -> None:
    """Count what counts on 32 lanes, as the translator sees it: places that it keeps at 32, and those that a person must look at."""
    for rule in (*rules_warps.RULES, *rules_hazards.RULES):
        for outcome in rule.apply(unit):
            if isinstance(outcome, Problem) and outcome.code != "M120":
                tally.add(
                    "cuda.wave", outcome.code, outcome.start, (("message", outcome.message), ("hint", outcome.help))
                )
            elif isinstance(outcome, (Problem, Edit)):
                tally.add("cuda.wave", "32 lanes", outcome.start)
