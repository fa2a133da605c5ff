"""Derive the names of CUDA's device headers in HIP: headers, and the functions, types and macros of device code that a source uses.

Whoever translates CUDA C++ needs them, and they tell what hipRTC will not know. Names only: what a header calls something.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from anywarp.catalogue import dated
from anywarp.catalogue.library_rows import DATA
from anywarp.catalogue.packages import Packages
from anywarp.catalogue.releases import having

# CUDA's header, HIP's headers for it, and why there is none.
HEADERS: tuple[tuple[str, str, str], ...] = (
    ("cuda.h", "hip/hip_runtime.h", ""),
    ("cuda_runtime.h", "hip/hip_runtime.h", ""),
    ("cuda_runtime_api.h", "hip/hip_runtime_api.h", ""),
    ("cudaProfiler.h", "hip/hip_runtime_api.h", ""),
    ("cuda_profiler_api.h", "hip/hip_runtime_api.h", ""),
    ("cudaTypedefs.h", "", "types of pointers to functions: HIP declares none"),
    ("driver_types.h", "hip/driver_types.h", ""),
    ("driver_functions.h", "hip/hip_runtime_api.h", ""),
    ("builtin_types.h", "hip/hip_runtime_api.h", ""),
    ("device_types.h", "hip/driver_types.h", ""),
    ("library_types.h", "hip/library_types.h", ""),
    ("texture_types.h", "hip/texture_types.h", ""),
    ("surface_types.h", "hip/surface_types.h", ""),
    ("channel_descriptor.h", "hip/channel_descriptor.h", ""),
    ("vector_types.h", "hip/hip_vector_types.h", ""),
    ("vector_functions.h", "hip/hip_vector_types.h", ""),
    ("device_functions.h", "hip/device_functions.h", ""),
    ("device_launch_parameters.h", "hip/hip_runtime.h", ""),
    ("device_atomic_functions.h", "hip/hip_runtime.h", ""),
    ("math_functions.h", "hip/math_functions.h", ""),
    ("math_constants.h", "hip/hip_math_constants.h", ""),
    ("common_functions.h", "hip/hip_runtime.h", ""),
    ("host_defines.h", "hip/hip_runtime.h", ""),
    ("texture_fetch_functions.h", "hip/hip_runtime.h", ""),
    ("texture_indirect_functions.h", "hip/hip_runtime.h", ""),
    ("surface_functions.h", "hip/hip_runtime.h", ""),
    ("surface_indirect_functions.h", "hip/hip_runtime.h", ""),
    ("sm_20_atomic_functions.h", "hip/hip_runtime.h", ""),
    ("sm_20_intrinsics.h", "hip/hip_runtime.h", ""),
    ("sm_30_intrinsics.h", "hip/hip_runtime.h", ""),
    ("sm_32_intrinsics.h", "hip/hip_runtime.h", ""),
    ("sm_60_atomic_functions.h", "hip/hip_runtime.h", ""),
    ("sm_61_intrinsics.h", "hip/hip_runtime.h", ""),
    ("cuda_fp16.h", "hip/hip_fp16.h", ""),
    ("cuda_fp16.hpp", "hip/hip_fp16.h", ""),
    ("cuda_bf16.h", "hip/hip_bf16.h", ""),
    ("cuda_fp8.h", "hip/hip_fp8.h", ""),
    ("cuda_fp6.h", "hip/hip_fp6.h", ""),
    ("cuda_fp4.h", "hip/hip_fp4.h", ""),
    ("cuda_tf32.h", "", "no type of tf32 in HIP"),
    ("cuComplex.h", "hip/hip_complex.h", ""),
    ("cooperative_groups.h", "hip/hip_cooperative_groups.h", ""),
    ("cooperative_groups/reduce.h", "", "no collective functions in HIP's cooperative groups"),
    ("cooperative_groups/scan.h", "", "no collective functions in HIP's cooperative groups"),
    ("cooperative_groups/memcpy_async.h", "", "no asynchronous copies into shared memory in HIP"),
    ("cuda_awbarrier.h", "", "no barriers in shared memory in HIP"),
    ("cuda_awbarrier_primitives.h", "", "no barriers in shared memory in HIP"),
    ("cuda_pipeline.h", "", "no asynchronous copies into shared memory in HIP"),
    ("cuda_pipeline_primitives.h", "", "no asynchronous copies into shared memory in HIP"),
    ("cuda_occupancy.h", "", "NVIDIA's occupancy in numbers of NVIDIA's hardware"),
    ("cuda_gl_interop.h", "hip/hip_gl_interop.h", ""),
    ("cuda_egl_interop.h", "", "no EGL in HIP"),
    ("cuda_vdpau_interop.h", "", "no VDPAU in HIP"),
    ("cudaGL.h", "hip/hip_gl_interop.h", ""),
    ("cudaEGL.h", "", "no EGL in HIP"),
    ("cudaVDPAU.h", "", "no VDPAU in HIP"),
    ("mma.h", "rocwmma/rocwmma.hpp", ""),
    ("nvrtc.h", "hip/hiprtc.h", ""),
    ("cublas.h", "hipblas/hipblas.h", ""),
    ("cublas_v2.h", "hipblas/hipblas.h", ""),
    ("cublas_api.h", "hipblas/hipblas.h", ""),
    ("cublasLt.h", "hipblaslt/hipblaslt.h", ""),
    ("cublasXt.h", "", "ROCm has no library like cuBLASXt"),
    ("nvblas.h", "", "ROCm has no library like NVBLAS"),
    ("cufft.h", "hipfft/hipfft.h", ""),
    ("cufftXt.h", "hipfft/hipfftXt.h", ""),
    ("cufftw.h", "hipfft/hipfftw.h", ""),
    ("curand.h", "hiprand/hiprand.h", ""),
    ("curand_kernel.h", "hiprand/hiprand_kernel.h", ""),
    ("curand_mtgp32_host.h", "hiprand/hiprand_mtgp32_host.h", ""),
    ("curand_mtgp32_kernel.h", "hiprand/hiprand_kernel.h", ""),
    ("curand_uniform.h", "hiprand/hiprand_kernel.h", ""),
    ("curand_normal.h", "hiprand/hiprand_kernel.h", ""),
    ("curand_philox4x32_x.h", "hiprand/hiprand_kernel.h", ""),
    ("curand_poisson.h", "hiprand/hiprand_kernel.h", ""),
    ("curand_lognormal.h", "hiprand/hiprand_kernel.h", ""),
    ("curand_discrete.h", "hiprand/hiprand_kernel.h", ""),
    ("curand_mrg32k3a.h", "hiprand/hiprand_kernel.h", ""),
    ("cusparse.h", "hipsparse/hipsparse.h", ""),
    ("cusparse_v2.h", "hipsparse/hipsparse.h", ""),
    ("cusolverDn.h", "hipsolver/hipsolver.h", ""),
    ("cusolverSp.h", "hipsolver/hipsolver.h", ""),
    ("cusolverRf.h", "hipsolver/hipsolver.h", ""),
    ("cusolver_common.h", "hipsolver/hipsolver.h", ""),
    ("cusolverMg.h", "", "one problem on several devices: ROCm has no such library"),
    ("cudnn.h", "miopen/miopen.h", ""),
    ("nccl.h", "rccl/rccl.h", ""),
    ("nvToolsExt.h", "roctracer/roctx.h", ""),
    ("nvtx3/nvToolsExt.h", "roctracer/roctx.h", ""),
    ("nvtx3/nvtx3.hpp", "", "roctx has no interface for C++"),
    ("nvml.h", "amd_smi/amdsmi.h", ""),
    ("cub/cub.cuh", "hipcub/hipcub.hpp", ""),
    ("thrust/", "thrust/", "rocThrust has the same names"),
    ("cuda/std/", "", "libhip++ is no part of ROCm 6.4, 7.2 or 10.0"),
)
# Name spaces.
SPACES: tuple[tuple[str, str, str], ...] = (
    ("cub", "hipcub", "hipcub/hipcub.hpp"),
    ("thrust", "thrust", "thrust/"),
    ("thrust::cuda", "thrust::hip", "thrust/system/hip/execution_policy.h"),
    ("thrust::system::cuda", "thrust::system::hip", "thrust/system/hip/execution_policy.h"),
    ("cooperative_groups", "cooperative_groups", "hip/hip_cooperative_groups.h"),
    ("nvcuda::wmma", "rocwmma", "rocwmma/rocwmma.hpp"),
    ("curand", "hiprand", "hiprand/hiprand_kernel.h"),
)
# CUDA's header with device names, the folders of HIP whose headers may have them, and rules for the counterpart's name.
_HIP = (
    "/include/hip/",
    "/include/__clang_hip",
    "/include/__clang_cuda_math",
    "/include/__clang_cuda_complex",
)  # the compiler has the rest
GROUPS: tuple[tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]], ...] = (
    ("cuda_fp16.h", _HIP, ()),
    ("cuda_bf16.h", _HIP, ((r"__nv_bfloat16(\w*)", r"__hip_bfloat16\1"), (r"nv_bfloat16(\w*)", r"__hip_bfloat16\1"))),
    ("cuda_fp8.h", _HIP, ((r"__nv_(\w+)", r"__hip_\1"), (r"__NV_(\w+)", r"__HIP_\1"))),
    ("cuda_fp6.h", _HIP, ((r"__nv_(\w+)", r"__hip_\1"), (r"__NV_(\w+)", r"__HIP_\1"))),
    ("cuda_fp4.h", _HIP, ((r"__nv_(\w+)", r"__hip_\1"), (r"__NV_(\w+)", r"__HIP_\1"))),
    ("cuComplex.h", _HIP, ((r"cu(\w+)", r"hip\1"), (r"make_cu(\w+)", r"make_hip\1"))),
    ("math_constants.h", _HIP, ((r"CUDART_(\w+)", r"HIP_\1"),)),
    ("curand_kernel.h", ("/include/hiprand/",), ((r"curand(\w*)", r"hiprand\1"), (r"CURAND_(\w+)", r"HIPRAND_\1"))),
    (
        "curand_mtgp32_host.h",
        ("/include/hiprand/",),
        ((r"curand(\w*)", r"hiprand\1"), (r"CURAND_(\w+)", r"HIPRAND_\1")),
    ),
    ("cooperative_groups.h", _HIP, ()),
    ("vector_types.h", _HIP, ()),
    ("vector_functions.h", _HIP, ()),
    ("sm_30_intrinsics.h", _HIP, ()),
    ("device_atomic_functions.h", _HIP, ()),
    ("sm_20_intrinsics.h", _HIP, ()),
    ("sm_32_intrinsics.h", _HIP, ()),
    ("sm_60_atomic_functions.h", _HIP, ()),
    ("sm_61_intrinsics.h", _HIP, ()),
    ("crt/device_functions.h", _HIP, ()),
    ("crt/math_functions.h", _HIP, ()),
    ("mma.h", ("/include/rocwmma/",), ()),
)
NONE = "no such name in the headers of HIP or of its compiler"
_ROUNDED = "HIP declares it only where OCML_BASIC_ROUNDED_OPERATIONS is defined"
UNDECLARED = {
    **{
        f"__{prefix}{name}_{way}": _ROUNDED
        for prefix, names in (
            ("f", "add sub mul div rcp sqrt maf".split()), ("d", "add sub mul div rcp sqrt".split()), ("", ["fma"]),
        )
        for name in names
        for way in ("rd", "ru", "rz")
    },
    **dict.fromkeys(("umin", "umax", "llmin", "llmax", "ullmin", "ullmax"), "HIP has min and max for all types, not these names"),
    "fdivide": NONE,
}  # fmt: skip
"""Words of HIP's headers that are no declarations there, or none by default: found by compiling each name for gfx942."""
VERSIONS = having("device")
"""Of 7.1 only HIP's own headers were at hand."""
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DECLARED = re.compile(
    r"\b(\w+)\s*\([^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)\s*(?:const\s*)?(?:__\w+__\s*)*(?:\(\w*\)\s*)?(?:\w+\s*)?[;{]"
)
_TYPE = re.compile(
    r"\b(?:struct|class|enum|union)\s+(?:__\w+__(?:\([^)]*\))?\s+|alignas\([^)]*\)\s+)*(\w+)\s*(?:final\s*)?(?::[^;{]*)?\{|\btypedef\b[^;{}]*?\b(\w+)\s*;|\busing\s+(\w+)\s*="
)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_INSIDE = re.compile(
    r"_[a-zA-Z]|__(internal|nv_internal|CUDA_|CUDACC|NV_SILENCE|device_builtin|[iuf]l*Atomic|dAtomic|NV_FP\w*BUILTIN|nv_\w*_impl)"
)
_NOT_NAMES = {
    "if",
    "for",
    "while",
    "switch",
    "return",
    "sizeof",
    "defined",
    "asm",
    "static_cast",
    "operator",
    "alignof",
    "__asm__",
    "volatile",
}


def names_of(text: str) -> dict[str, str]:
    """Return the names that a header declares: function, type or macro."""
    text = _COMMENT.sub(" ", text)
    found: dict[str, str] = {}
    for name in _MACRO.findall(text):
        found[name] = "macro"
    for groups in _TYPE.findall(text):
        for name in groups:
            if name:
                found.setdefault(name, "type")
    for name in _DECLARED.findall(text):
        if name not in _NOT_NAMES:
            found.setdefault(name, "function")
    return found


def header_rows(packages: Packages) -> list[list[str]]:
    """Return a row per header: its name, HIP's, in which versions that is, and why there is none."""
    rows: list[list[str]] = []
    for name, target, reason in HEADERS:
        there = [v for v in VERSIONS if target and _there(packages, v, target)]
        if target and not there:
            raise SystemExit(f"{name}: no version has {target}")
        rows.append([name, "header", target, _came_with(packages, target, there), reason])
    for name, target, header in SPACES:
        if not any(_there(packages, v, header) for v in VERSIONS):
            raise SystemExit(f"{name}: no version has {header}")
        rows.append([name, "namespace", target, "", header])
    return rows


def _came_with(packages: Packages, target: str, there: list[str]) -> str:
    """Return the version that brought a header: none where nothing of its library was at hand before, which shows nothing."""
    library = target.partition("/")[0]
    seen = [v for v in VERSIONS if there and any(f"/include/{library}/" in str(f) for f in packages.all(f"rocm-{v}"))]
    return there[0] if seen and there[0] != seen[0] else ""


def _there(packages: Packages, version: str, ending: str) -> bool:
    return any(
        f"/include/{ending}" in str(f) if ending[-1] == "/" else str(f).endswith(f"/include/{ending}")
        for f in packages.all(f"rocm-{version}")
    )


def device_rows(packages: Packages) -> list[list[str]]:
    """Return a row per name of device code: header, kind, name, HIP's name and since when."""
    words: dict[tuple[str, str], set[str]] = {}
    rows: list[list[str]] = []
    for header, folders, rules in GROUPS:
        found: dict[str, str] = {}
        for major in (12, 13):
            for name in (header, header.replace(".h", ".hpp")):
                file = packages.find(f"cuda{major}", f"include/{name}")
                if file:
                    found |= {k: v for k, v in names_of(file.read_text(errors="replace")).items() if k not in found}
        for name, kind in sorted(found.items()):
            if _private(name, header):
                continue
            candidates = [re.sub(f"^{p}$", r, name) for p, r in rules if re.fullmatch(p, name)] + [name]
            target, since = "", ""
            for version in VERSIONS:
                for folder in folders:
                    if (version, folder) not in words:
                        words[version, folder] = _words(packages, version, folder)
                    hit = next((c for c in candidates if c in words[version, folder]), "")
                    if hit and not target:
                        target, since = hit, version
            if name in UNDECLARED:
                rows.append([header, kind, name, "", "", UNDECLARED[name]])
                continue
            rows.append([header, kind, name, target, since if since != VERSIONS[0] else "", "" if target else NONE])
    return rows


def _private(name: str, header: str) -> bool:
    guard = re.sub(r"\W", "_", header.upper())
    if (
        guard in name.upper()
        or len(name) < 3
        or (name.startswith("_") and header in ("cooperative_groups.h", "curand_kernel.h"))
    ):
        return True
    if _INSIDE.match(name):
        return True
    return name.isupper() and name.startswith("__") and not name.startswith("__NV_")


def _words(packages: Packages, version: str, folder: str) -> set[str]:
    found: set[str] = set()
    for file in packages.all(f"rocm-{version}"):
        if folder in str(file) and file.suffix in (".h", ".hpp"):
            text = _COMMENT.sub(" ", file.read_text(errors="replace"))
            found |= set(re.findall(r"\w+", text))
            for kind in re.findall(r"__MAKE_VECTOR_TYPE__\((\w+),", text):  # a macro makes these
                found |= {f"make_{kind}{n}" for n in "1234"} | {f"{kind}{n}" for n in "1234"}
            if "DEF_FUN1" in text or "__DEF_FUN1" in text:  # a macro makes overloads of C's functions
                found |= set(re.findall(r"__?DEF_FUN\d?\w*\([\w ]+, (\w+)", text))
    return found


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m anywarp.catalogue.derive_device_names", description=__doc__)
    parser.add_argument("packages", type=Path)
    packages = Packages(parser.parse_args(arguments).packages)
    for stem, heading, rows in (
        ("headers", "name kind target since reason", header_rows(packages)),
        ("device", "header kind name target since reason", device_rows(packages)),
    ):
        what = f"{stem} of CUDA 12 and 13 and of ROCm {', '.join(VERSIONS)}, by anywarp.catalogue.derive_device_names"
        dated.write(DATA / f"{stem}.tsv", what, ["\t".join(heading.split()), *("\t".join(row) for row in rows)])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
