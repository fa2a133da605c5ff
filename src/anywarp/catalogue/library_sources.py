"""Say where the facts about each replaced library stand: headers and exports on CUDA's side and on ROCm's, by version.

Pure data for `derive_libraries`; which releases of ROCm were read stands in `releases`.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.catalogue.releases import having

DEFINES = ("__HIP_PLATFORM_AMD__", "HIPBLAS_V2", "ROCM_MATHLIBS_API_USE_HIP_COMPLEX")


@dataclass(frozen=True, slots=True)
class Side:
    """One library of ROCm: header to read, files whose facts are its own, declaration file of the bindings, names of its shared object."""

    name: str
    header: str
    own: tuple[str, ...]
    bindings: str = ""
    shared: str = ""
    prefix: str = ""
    language: str = "c"

    @property
    def versions(self) -> tuple[str, ...]:
        """The releases in which it was read, oldest first."""
        return having(self.name)


@dataclass(frozen=True, slots=True)
class Source:
    """One library of CUDA: headers to read (each by itself), files whose facts are its own, its shared object, and its counterparts.

    `names` are (pattern, replacement) pairs tried in order on functions, types and constants; what no pair finds has no counterpart unless
    the table of choices names one.
    """

    stem: str
    headers: tuple[str, ...]
    own: tuple[str, ...]
    shared: tuple[str, ...]
    exported: str
    demand: tuple[str, ...]
    sides: tuple[Side, ...]
    names: tuple[tuple[str, str], ...]
    languages: tuple[str, ...] = ("c",)
    defines: tuple[tuple[str, ...], ...] = ((),)  # read once with each
    inline: bool = False  # the header itself has the functions' bodies
    old: tuple[str, str] = ("", "")  # a header whose functions are absent, and why
    folders: tuple[str, str] = ("cuda12", "cuda13")


_HIP = Side(
    "hip",
    "hip/hip_runtime_api.h",
    ("/include/hip/", "library_types.h"),
    "cyhip.pxd",
    "libamdhip64.so",
    "hip",
)

SOURCES = (
    Source(
        "cublas",
        ("cublas_v2.h", "cublas.h", "cublasXt.h"),
        ("cublas_v2.h", "cublas_api.h", "cublas.h", "cublasXt.h"),
        ("libcublas.so.12", "libcublas.so.13"),
        r"cublas(?!Lt)\w*",
        ("libcublas",),
        (
            Side(
                "hipblas",
                "hipblas/hipblas.h",
                ("hipblas.h", "hipblas-common.h"),
                "cyhipblas.pxd",
                "libhipblas.so",
                "hipblas",
            ),
        ),
        (
            (r"cublas(\w+?)_v2(_64)?", r"hipblas\1\2"),
            (r"cublas([A-Z]\w*)", r"hipblas\1"),
            (r"CUBLAS_(\w+)", r"HIPBLAS_\1"),
        ),
        languages=("c", "c++"),
        old=(
            "cublas.h",
            "the interface of before CUDA 4, without handles: programs use its successor with handles (names with _v2)",
        ),
    ),
    Source(
        "cublaslt",
        ("cublasLt.h",),
        ("cublasLt.h",),
        ("libcublasLt.so.12", "libcublasLt.so.13"),
        r"cublasLt\w*",
        ("libcublasLt",),
        (
            Side(
                "hipblaslt",
                "hipblaslt/hipblaslt.h",
                ("/hipblaslt/", "hipblas-common.h"),
                "cyhipblaslt.pxd",
                "libhipblaslt.so",
                "hipblasLt",
                "c++",
            ),
        ),
        (
            (r"cublasLt(\w+)", r"hipblasLt\1"),
            (r"CUBLASLT_(\w+)", r"HIPBLASLT_\1"),
            (r"cublas(\w+)", r"hipblas\1"),
            (r"CUBLAS_(\w+)", r"HIPBLAS_\1"),
        ),
        languages=("c", "c++"),
    ),
    Source(
        "cufft",
        ("cufft.h", "cufftXt.h"),
        ("cufft.h", "cufftXt.h", "cudalibxt.h"),
        ("libcufft.so.11", "libcufft.so.12"),
        r"(__)?cufft[A-Z]\w*",
        ("libcufft",),
        (Side("hipfft", "hipfft/hipfftXt.h", ("/hipfft/",), "cyhipfft.pxd", "libhipfft.so", "hipfft", "c++"),),
        (
            (r"cufft(\w+)", r"hipfft\1"),
            (r"CUFFT_(\w+)", r"HIPFFT_\1"),
            (r"cuda(LibXt\w+|Xt\w+)", r"hip\1"),
            (r"CUDA_XT_(\w+)", r"HIP_XT_\1"),
            (r"CUFFT_(\w+)", r"HIPFFT_\1"),
        ),
    ),
    Source(
        "curand",
        ("curand.h",),
        ("curand.h",),
        ("libcurand.so.10", "libcurand.so.10"),
        r"curand[A-Z]\w*",
        ("libcurand",),
        (Side("hiprand", "hiprand/hiprand.h", ("hiprand.h",), "cyhiprand.pxd", "libhiprand.so", "hiprand", "c++"),),
        ((r"curand([A-Z]\w*)", r"hiprand\1"), (r"CURAND_(\w+)", r"HIPRAND_\1")),
    ),
    Source(
        "nccl",
        ("nccl.h",),
        ("nccl.h",),
        ("libnccl.so.2", "libnccl.so.2"),
        r"p?nccl[A-Z]\w*",
        ("libnccl",),
        (Side("rccl", "rccl/rccl.h", ("rccl.h",), "cyrccl.pxd", "librccl.so"),),
        ((r"(p?nccl[A-Z]\w*)", r"\1"), (r"p(nccl[A-Z]\w*)", r"\1"), (r"(NCCL_\w+)", r"\1")),
    ),
    Source(
        "cusparse",
        ("cusparse.h",),
        ("cusparse.h",),
        ("libcusparse.so.12", "libcusparse.so.12"),
        r"cusparse[A-Z]\w*",
        ("libcusparse",),
        (
            Side(
                "hipsparse",
                "hipsparse/hipsparse.h",
                ("/hipsparse/",),
                "cyhipsparse.pxd",
                "libhipsparse.so",
                "hipsparse",
            ),
        ),
        ((r"cusparse(\w+)", r"hipsparse\1"), (r"CUSPARSE_(\w+)", r"HIPSPARSE_\1")),
        languages=("c", "c++"),
    ),
    Source(
        "cusolver",
        ("cusolverDn.h", "cusolverSp.h", "cusolverRf.h", "cusolverMg.h", "cusolverSp_LOWLEVEL_PREVIEW.h"),
        (
            "cusolverDn.h",
            "cusolverSp.h",
            "cusolverRf.h",
            "cusolverMg.h",
            "cusolverSp_LOWLEVEL_PREVIEW.h",
            "cusolver_common.h",
        ),
        ("libcusolver.so.11", "libcusolver.so.12"),
        r"(cu(solver|blas)|pegasus)\w+",
        ("libcusolver",),
        (
            Side(
                "hipsolver",
                "hipsolver/hipsolver.h",
                ("/hipsolver/",),
                "cyhipsolver.pxd",
                "libhipsolver.so",
                "hipsolver",
            ),
        ),
        (
            (r"cusolver(\w+)", r"hipsolver\1"),
            (r"CUSOLVER(\w+)", r"HIPSOLVER\1"),
            (r"cublas(\w+)", r"hipsolver\1"),
            (r"cublas(\w+)", r"hipblas\1"),
            (r"CUBLAS_(\w+)", r"HIPSOLVER_\1"),
            (r"CUBLAS_(\w+)", r"HIPBLAS_\1"),
            (r"cusparse(\w+)", r"hipsparse\1"),
            (r"CUSPARSE_(\w+)", r"HIPSPARSE_\1"),
        ),
    ),
    Source(
        "runtime",
        ("cuda_runtime_api.h", "cuda_profiler_api.h"),
        (
            "cuda_runtime_api.h",
            "driver_types.h",
            "texture_types.h",
            "surface_types.h",
            "device_types.h",
            "library_types.h",
            "cuda_profiler_api.h",
            "vector_types.h",
        ),
        ("libcudart.so.12", "libcudart.so.13"),
        r"(__)?cuda[A-Z]\w*",
        ("libcudart",),
        (_HIP,),
        (
            (r"cuda([A-Z]\w*?)(?:_v\d+)?_pt[sd][sz]", r"hip\1_spt"),
            (r"cuda([A-Z]\w*)", r"hip\1"),
            (r"cuda([A-Z]\w*?)_v\d+", r"hip\1"),
            (r"cuda([A-Z]\w*)", r"hip\1_t"),
            (r"CUDA_(R|C)_(\w+)", r"HIP_\1_\2"),
            (r"(MAJOR_VERSION|MINOR_VERSION|PATCH_LEVEL)", r"HIP_LIBRARY_\1"),
        ),
    ),
    Source(
        "driver",
        ("cuda.h", "cudaProfiler.h"),
        ("cuda.h", "cudaProfiler.h"),
        ("cuda.tsv", "cuda.tsv"),
        r"cu[A-Z]\w*",
        ("libcuda",),
        (_HIP,),
        (
            (r"cu([A-Z]\w*?)(?:_v\d+)?_pt[sd][sz]", r"hip\1_spt"),
            (r"cu([A-Z]\w*?)(?:_v\d+)?", r"hipDrv\1"),
            (r"cu([A-Z]\w*?)(?:_v\d+)?", r"hipModule\1"),
            (r"cu([A-Z]\w*)", r"hip\1"),
            (r"cu([A-Z]\w*?)_v\d+", r"hip\1"),
            (r"CU([a-z]\w*?)(?:_v\d+|_st|_enum)?", r"hip\U1"),
            (r"CU([a-z]\w*?)(?:_v\d+|_st|_enum)?", r"hip\U1_t"),
            (r"CUDA_([A-Z]\w*?)(?:_v\d+|_st)?", r"HIP_\1"),
            (r"CU_([A-Z]\w*)", r"HIP_\1"),
        ),
        defines=((), ("__CUDA_API_VERSION_INTERNAL",)),
    ),
    Source(
        "nvrtc",
        ("nvrtc.h",),
        ("nvrtc.h",),
        ("libnvrtc.so.12", "libnvrtc.so.13"),
        r"(__)?nvrtc[A-Z]\w*",
        ("libnvrtc",),
        (
            Side(
                "hiprtc",
                "hip/hiprtc.h",
                ("hiprtc.h",),
                "cyhiprtc.pxd",
                "libhiprtc.so",
                "hiprtc",
            ),
        ),
        ((r"nvrtc(\w+)", r"hiprtc\1"), (r"NVRTC_(\w+)", r"HIPRTC_\1")),
    ),
    Source(
        "nvml",
        ("cynvml.pxd",),
        (),
        ("nvml.tsv", "nvml.tsv"),
        r"nvml[A-Z]\w*",
        ("libnvidia-ml",),
        (
            Side(
                "amdsmi",
                "amd_smi/amdsmi.h",
                ("amdsmi.h",),
                "cyamdsmi.pxd",
                "libamd_smi.so",
                "amdsmi",
            ),
        ),
        (),
    ),
    Source(
        "nvtx",
        ("nvtx3/nvToolsExt.h", "nvtx3/nvToolsExtCuda.h", "nvtx3/nvToolsExtCudaRt.h", "nvtx3/nvToolsExtSync.h"),
        ("nvToolsExt.h", "nvToolsExtCuda.h", "nvToolsExtCudaRt.h", "nvToolsExtSync.h"),
        ("libnvToolsExt.so.1", "libnvToolsExt.so.1"),
        r"nvtx[A-Z]\w*",
        ("libnvtx", "libnvToolsExt"),
        (
            Side(
                "roctx",
                "roctracer/roctx.h",
                ("roctx.h",),
                "cyroctx.pxd",
                "libroctx64.so",
                "roctx",
            ),
        ),
        ((r"nvtx(Range\w+|Mark\w+)", r"roctx\1"),),
        inline=True,
    ),
)

# Types of other headers that the libraries' functions use, with their counterparts.
SHARED_TYPES = {
    "cudaDataType": "hipDataType",
    "cudaDataType_t": "hipDataType",
    "libraryPropertyType": "hipLibraryPropertyType",
    "libraryPropertyType_t": "hipLibraryPropertyType",
    "cudaStream_t": "hipStream_t",
    "cudaEvent_t": "hipEvent_t",
    "cuComplex": "hipComplex",
    "cuFloatComplex": "hipFloatComplex",
    "cuDoubleComplex": "hipDoubleComplex",
    "float2": "float2",
    "double2": "double2",
    "__half": "__half",
    "cudaAsyncCallbackHandle_t": "",
}
# Constants of types of other headers.
SHARED_NAMES = (
    (r"CUDA_(R|C)_(\w+)", r"HIP_\1_\2"),
    (r"(MAJOR_VERSION|MINOR_VERSION|PATCH_LEVEL)", r"HIP_LIBRARY_\1"),
)
# One spelling for types that are the same bytes under several names.
SAME_BYTES = {
    **dict.fromkeys(
        ("cuComplex", "cuFloatComplex", "float2", "hipComplex", "hipFloatComplex", "hipblasComplex", "cufftComplex", "hipfftComplex"),
        "complex float",
    ),
    **dict.fromkeys(
        (
            "cuDoubleComplex", "double2", "hipDoubleComplex", "hipblasDoubleComplex", "cufftDoubleComplex", "hipfftDoubleComplex",
        ),
        "complex double",
    ),
    **dict.fromkeys(("__nv_bfloat16", "hip_bfloat16", "__hip_bfloat16", "hipblasBfloat16"), "bfloat16"),
    **dict.fromkeys(("__half", "half", "hipblasHalf", "uint16_t", "unsigned short", "hipsparseHalf"), "half"),
    **dict.fromkeys(("int64_t", "long", "long int", "long long", "long long int", "hipblasStride", "ssize_t", "__int64_t"), "int64"),
    **dict.fromkeys(
        ("size_t", "unsigned long", "uint64_t", "unsigned long long", "unsigned long long int", "long unsigned int"), "uint64"
    ),
    **dict.fromkeys(("int", "int32_t", "signed int", "signed"), "int"),
    **dict.fromkeys(("unsigned", "unsigned int", "uint32_t"), "unsigned"),
    **dict.fromkeys(("unsigned char", "uint8_t"), "byte"),
    **dict.fromkeys(("cufftReal", "hipfftReal"), "float"),
    **dict.fromkeys(("cufftDoubleReal", "hipfftDoubleReal"), "double"),
}  # fmt: skip
# Types that are a pointer without saying so.
POINTERS = dict.fromkeys(("CUdeviceptr", "CUdeviceptr_v2", "hipDeviceptr_t"), ("void", 1))
