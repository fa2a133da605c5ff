"""Names of CMake's own that belong to CUDA, and what HIP has instead: variables, properties, packages, macros of FindCUDA.

After CMake's manual (cmake-variables(7), cmake-properties(7), FindCUDAToolkit, FindCUDA) and the configuration files of ROCm's packages.
"""

from __future__ import annotations

import re

from anywarp.migrate.translate.build_flags import library_variables

SHARED_SUFFIXES = (
    r"FLAGS(?:_\w+)?|STANDARD|STANDARD_REQUIRED|EXTENSIONS|COMPILER|COMPILER_ID|COMPILER_LOADED|COMPILER_LAUNCHER"
    r"|USE_RESPONSE_FILE_FOR_\w+|ARCHITECTURES|COMPILE_FEATURES|VISIBILITY_PRESET|CLANG_TIDY|COMPILE_OBJECT|LINK_EXECUTABLE|CREATE_SHARED_LIBRARY"
)
SHARED = re.compile(rf"CMAKE_CUDA_({SHARED_SUFFIXES})$")
"""Variables that CMake has for every language, by one scheme."""

VARIABLES = {
    "CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES": "hip_INCLUDE_DIRS",
    "CUDAToolkit_INCLUDE_DIRS": "hip_INCLUDE_DIRS",
    "CUDAToolkit_INCLUDE_DIR": "hip_INCLUDE_DIRS",
    "CUDA_INCLUDE_DIRS": "hip_INCLUDE_DIRS",
    "CUDA_TOOLKIT_INCLUDE": "hip_INCLUDE_DIRS",
    "CUDAToolkit_FOUND": "hip_FOUND",
    "CUDA_FOUND": "hip_FOUND",
    "CUDAToolkit_BIN_DIR": "hip_BIN_INSTALL_DIR",
    "CUDAToolkit_LIBRARY_DIR": "hip_LIB_INSTALL_DIR",
    "CUDAToolkit_TARGET_DIR": "ROCM_PATH",
    "CUDAToolkit_ROOT": "ROCM_PATH",
    "CUDA_TOOLKIT_ROOT_DIR": "ROCM_PATH",
    "CUDA_NVCC_EXECUTABLE": "hip_HIPCC_EXECUTABLE",
    "CUDAToolkit_NVCC_EXECUTABLE": "hip_HIPCC_EXECUTABLE",
    "NCCL_FOUND": "rccl_FOUND",
    "NCCL_INCLUDE_DIRS": "rccl_INCLUDE_DIRS",
    "NCCL_INCLUDE_DIR": "rccl_INCLUDE_DIRS",
    "CUDNN_FOUND": "miopen_FOUND",
    "CUDNN_INCLUDE_DIRS": "miopen_INCLUDE_DIRS",
    "CUDNN_INCLUDE_DIR": "miopen_INCLUDE_DIRS",
}
VERSIONS = {
    "CUDAToolkit_VERSION": "hip_VERSION",
    "CUDAToolkit_VERSION_MAJOR": "hip_VERSION_MAJOR",
    "CUDAToolkit_VERSION_MINOR": "hip_VERSION_MINOR",
    "CUDA_VERSION": "hip_VERSION",
    "CUDA_VERSION_STRING": "hip_VERSION",
    "CUDA_VERSION_MAJOR": "hip_VERSION_MAJOR",
    "CUDA_VERSION_MINOR": "hip_VERSION_MINOR",
    "CMAKE_CUDA_COMPILER_VERSION": "CMAKE_HIP_COMPILER_VERSION",
}
"""Variables that hold a version: a comparison with a number means something else for HIP, so that is left to a person."""

GONE = {
    "CMAKE_CUDA_HOST_COMPILER": "one clang compiles both sides",
    "CUDA_HOST_COMPILER": "one clang compiles both sides",
    "CMAKE_CUDA_RUNTIME_LIBRARY": "HIP's runtime is a shared library",
    "CUDA_USE_STATIC_CUDA_RUNTIME": "HIP's runtime is a shared library",
    "CMAKE_CUDA_RESOLVE_DEVICE_SYMBOLS": "HIP links device code when the program is linked",
    "CUDA_PROPAGATE_HOST_FLAGS": "one clang compiles both sides",
    "CUDA_LINK_LIBRARIES_KEYWORD": "of FindCUDA",
    "CUDA_VERBOSE_BUILD": "of FindCUDA",
    "CUDA_ATTACH_VS_BUILD_RULE_TO_CUDA_FILE": "of FindCUDA",
    "CUDA_64_BIT_DEVICE_CODE": "of FindCUDA",
}
"""Variables that are set and mean nothing to HIP: setting them is left out."""

SEPARABLE = frozenset({"CMAKE_CUDA_SEPARABLE_COMPILATION", "CUDA_SEPARABLE_COMPILATION"})

PROPERTIES = {
    "CUDA_ARCHITECTURES": "HIP_ARCHITECTURES",
    "CUDA_STANDARD": "HIP_STANDARD",
    "CUDA_STANDARD_REQUIRED": "HIP_STANDARD_REQUIRED",
    "CUDA_EXTENSIONS": "HIP_EXTENSIONS",
    "CUDA_VISIBILITY_PRESET": "HIP_VISIBILITY_PRESET",
    "CUDA_COMPILER_LAUNCHER": "HIP_COMPILER_LAUNCHER",
}
GONE_PROPERTIES = {
    "CUDA_RESOLVE_DEVICE_SYMBOLS": "HIP links device code when the program is linked",
    "CUDA_RUNTIME_LIBRARY": "HIP's runtime is a shared library",
    "CUDA_SEPARABLE_COMPILATION": "",
}
REFUSED_PROPERTIES = {
    "CUDA_PTX_COMPILATION": "AMD's compiler makes no PTX",
    "CUDA_CUBIN_COMPILATION": "CMake makes no code objects of HIP sources: hipcc --genco in a command of its own does",
    "CUDA_FATBIN_COMPILATION": "CMake makes no code objects of HIP sources: hipcc --genco in a command of its own does",
    "CUDA_OPTIX_COMPILATION": "OptiX has no counterpart",
    "CUDA_SOURCE_PROPERTY_FORMAT": "of FindCUDA: set LANGUAGE HIP instead",
}

PACKAGES = {
    "CUDAToolkit": ("hip",),
    "CUDA": ("hip",),
    "CUB": ("hipcub",),
    "cub": ("hipcub",),
    "Thrust": ("rocthrust",),
    "thrust": ("rocthrust",),
    "CCCL": ("rocthrust", "hipcub"),
    "NCCL": ("rccl",),
    "Nccl": ("rccl",),
    "nccl": ("rccl",),
    "CUDNN": ("miopen",),
    "CuDNN": ("miopen",),
    "cuDNN": ("miopen",),
    "cudnn": ("miopen",),
    "cuTENSOR": ("hiptensor",),
    "cutensor": ("hiptensor",),
}
REFUSED_PACKAGES = {
    "libcudacxx": "libhipcxx is a preview with another name per release",
    "TensorRT": "TensorRT has no counterpart; MIGraphX is another interface",
    "NvidiaCutlass": "CUTLASS has no counterpart; composable_kernel is another interface",
    "CUTLASS": "CUTLASS has no counterpart; composable_kernel is another interface",
    "cudnn_frontend": "MIOpen has no front end of that kind",
    "OptiX": "OptiX has no counterpart",
    "NVSHMEM": "rocSHMEM has another interface",
}

TARGETS = {
    "CUB::CUB": ("hip::hipcub", "hipcub"),
    "cub::cub": ("hip::hipcub", "hipcub"),
    "Thrust": ("roc::rocthrust", "rocthrust"),
    "Thrust::Thrust": ("roc::rocthrust", "rocthrust"),
    "CCCL::Thrust": ("roc::rocthrust", "rocthrust"),
    "CCCL::CUB": ("hip::hipcub", "hipcub"),
    "CCCL::CCCL": ("roc::rocthrust hip::hipcub", "rocthrust hipcub"),
    "NCCL::NCCL": ("roc::rccl", "rccl"),
    "NCCL::nccl": ("roc::rccl", "rccl"),
    "CUDNN::cudnn": ("MIOpen", "miopen"),
    "CUDNN::CUDNN": ("MIOpen", "miopen"),
    "cuDNN::cuDNN": ("MIOpen", "miopen"),
    "CUDA::toolkit": ("hip::host", "hip"),
}
"""Imported targets other than CUDA::NAME, with the packages that define what takes their place."""

MACROS = {"cuda_add_executable": "add_executable", "cuda_add_library": "add_library"}
LINK_MACROS = {
    "cuda_add_cublas_to_target": ("roc::hipblas", "hipblas"),
    "cuda_add_cufft_to_target": ("hip::hipfft", "hipfft"),
}
REFUSED_COMMANDS = {
    "cuda_compile": "compile the sources as part of a target",
    "cuda_compile_ptx": "AMD's compiler makes no PTX; hipcc --genco makes a code object",
    "cuda_compile_fatbin": "hipcc --genco makes a code object",
    "cuda_compile_cubin": "hipcc --genco makes a code object",
    "cuda_wrap_srcs": "name the sources in a target",
    "cuda_link_separable_compilation_objects": "HIP links device code when the program is linked: -fgpu-rdc --hip-link",
    "cuda_compute_separable_compilation_object_file_name": "HIP links device code when the program is linked",
    "cuda_build_clean_target": "of FindCUDA",
    "cuda_find_library_local_first": "of FindCUDA: use find_library",
}

GENEX = re.compile(
    r"(\$<(?:COMPILE_LANGUAGE|LINK_LANGUAGE|COMPILE_LANG_AND_ID|LINK_LANG_AND_ID):(?:[\w,]*,)?)CUDA(?=[,>])"
)
GENEX_ID = re.compile(r"(\$<(?:COMPILE_LANG_AND_ID|LINK_LANG_AND_ID):HIP,)NVIDIA(?=[,>])")
GENEX_COMPILER = re.compile(r"\$<CUDA_COMPILER_(ID|VERSION)(?=[:>])")
REFUSED_GENEX = re.compile(r"\$<(DEVICE_LINK|HOST_LINK|CUDA_COMPILER_VERSION)\b")
OTHER_VENDOR = re.compile(
    r"\b(?:USE_HIP|USE_ROCM|ENABLE_HIP|WITH_HIP|WITH_ROCM|hip_FOUND|HIP_FOUND|CMAKE_HIP_COMPILER)\b"
)
"""Conditions that already tell the vendors apart: what they guard was written by somebody who knew."""

LIBRARY_VARIABLES = library_variables()


def renamed_variable(name: str) -> str | None:
    """Return HIP's variable for one of CUDA's; None for names that are not CMake's."""
    match = SHARED.match(name)
    return f"CMAKE_HIP_{match[1]}" if match else VARIABLES.get(name)
