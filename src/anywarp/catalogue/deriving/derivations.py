"""Say which tables are derived, from which inputs, and by which modules: one entry per derivation, in the order in which they are made.

A module reads unpacked inputs and writes into the tree that it stands in; `run` gives it a copy of the repository.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from anywarp.catalogue.releases import having

_ROCM = "src/anywarp/catalogue/data/rocm"
_DATA = "src/anywarp/catalogue/data"
_INCLUDE = "src/anywarp/toolchain/include"
_FIRST, _LATER = having("miopen")
_OLD, _NEW, _NEWEST = having("hip_api")
_HIP = (f"rocm-{_OLD}/libamdhip64-dev", f"rocm-{_NEW}/triton", f"rocm-{_NEWEST}/hip")


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a derivation works: the unpacked files of each input by its name, and all of a release together by its folder."""

    inputs: Path
    folders: Path

    def of(self, name: str, ending: str) -> str:
        """Return the file of one input (`cuda12/runtime`) whose path ends so."""
        return _found(self.inputs / name, ending)

    def together(self, release: str, ending: str) -> str:
        """Return the file among all inputs of a release whose path ends so."""
        return _found(self.folders / release, ending)


def _found(root: Path, ending: str) -> str:
    found = [path for path in root.rglob(Path(ending).name) if str(path).endswith("/" + ending)]
    if not found:
        raise FileNotFoundError(f"{root.parent.name}/{root.name} has no {ending}")
    return str(min(found, key=lambda path: (len(path.parts), path)))


@dataclass(frozen=True, slots=True)
class Run:
    """A module of ours, or a script by its path in the repository, with arguments; what it prints goes into the file `output`."""

    what: str
    arguments: tuple[str, ...] = ()
    output: str = ""


@dataclass(frozen=True, slots=True)
class Derivation:
    """One derivation: its name, what it is about, patterns of inputs, patterns of the files that it writes, and what is run for it.

    Inputs of the folder `tools` are on Python's path while it runs.
    """

    name: str
    about: str
    inputs: tuple[str, ...]
    writes: tuple[str, ...]
    runs: Callable[[Bench], Sequence[Run]]


def _builtin() -> str:
    """Return the include folder of the C compiler's own headers (stddef.h)."""
    return subprocess.run(
        ["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True
    ).stdout.strip()


def _driver(bench: Bench) -> Sequence[Run]:
    folders = [
        str(Path(bench.together(each, "include/cuda.h")).parent) for each in ("cuda11", "cuda12", "cuda13.0", "cuda13")
    ]
    return [Run("anywarp.catalogue.derive", ("--headers", *folders))]


def _runtime(bench: Bench) -> Sequence[Run]:
    toolkits: list[str] = []
    for major in ("12", "13"):
        name = f"cuda{major}/runtime"
        header = Path(bench.of(name, "include/cuda_runtime_api.h"))
        toolkits += ["--toolkit", major, str(header.parent), bench.of(name, f"libcudart.so.{major}")]
    for name, header in (("crt", "include/crt/host_defines.h"), ("profiler", "include/cudaProfiler.h")):
        toolkits += ["--lender", bench.of(f"cuda13/{name}", header).removesuffix(header) + "include"]
    return [Run("anywarp.catalogue.derive_runtime", tuple(toolkits))]


def _management(bench: Bench) -> Sequence[Run]:
    versions = "{nvidia-ml-py} and {bindings}"
    files = bench.of("cuda13/nvidia-ml-py", "pynvml.py"), bench.of("cuda13/bindings", "cynvml.pxd")
    return [Run("anywarp.catalogue.derive_management", (*files, versions))]


def _bindings(bench: Bench) -> Sequence[Run]:
    files = bench.of("cuda13/bindings", "cynvml.pxd"), bench.of("cuda13/bindings", "cynvjitlink.pxd")
    python_binding = bench.of("cuda13/nvidia-ml-py", "pynvml.py")
    return [Run("anywarp.catalogue.derive_bindings", (*files, python_binding, "{nvidia-ml-py} and {bindings}"))]


def _cupti(bench: Bench) -> Sequence[Run]:
    header = bench.of("cuda13/cupti", "include/cupti.h")
    others = (("runtime", "include/cuda.h"), ("crt", "include/crt/host_defines.h"))
    folders = [bench.of(f"cuda13/{name}", file).removesuffix(file) + "include" for name, file in others]
    return [Run("anywarp.catalogue.derive_cupti", (header, "{cupti}", *folders, _builtin()))]


def _pairs(module: str) -> Callable[[Bench], Sequence[Run]]:
    return lambda bench: [Run(f"anywarp.catalogue.{module}", (str(bench.folders), "--builtin", _builtin()))]


def _hip_api(bench: Bench) -> Sequence[Run]:
    headers = [str(Path(bench.of(each, "include/hip/hip_runtime_api.h")).parent.parent) for each in _HIP[:2]]
    bindings = bench.of(_HIP[2], "cyhip.pxd")
    return [Run("anywarp.catalogue.derive_hip", (*headers, bindings, "native/hip/hip_api.h"))]


def _cudnn(bench: Bench) -> Sequence[Run]:
    options: list[str] = []
    for option, name, header in (
        ("--cudnn8", "cudnn8/cudnn", "include/cudnn.h"),
        ("--cudnn9", "cudnn9/cudnn", "include/cudnn.h"),
        ("--miopen-first", f"rocm-{_FIRST}/libmiopen-dev", "include/miopen/miopen.h"),
        ("--miopen-later", f"rocm-{_LATER}/libmiopen-dev", "include/miopen/miopen.h"),
    ):
        package = str(Path(bench.of(name, header))).removesuffix("/" + header)
        options += [option, package]
    return [Run("anywarp.catalogue.derive_cudnn", tuple(options))]


_UNPAIRED = {
    "cutensor": ("cutensor2/cutensor", "include/cutensor.h"),
    "cufile": ("cuda13/cufile", "include/cufile.h"),
    "cusparselt": ("cuda13/cusparselt", "include/cusparseLt.h"),
    "nvshmem": ("nvshmem3/nvshmem", "include/nvshmem_host.h"),
}


def _unpaired(bench: Bench) -> Sequence[Run]:
    folders = {
        stem: str(Path(bench.of(name, header))).removesuffix("/" + header) for stem, (name, header) in _UNPAIRED.items()
    }
    return [Run("anywarp.catalogue.derive_unpaired", (stem, folder)) for stem, folder in folders.items()]


def _script(name: str) -> Callable[[Bench], Sequence[Run]]:
    return lambda bench: [Run(name)]


def _torch(bench: Bench) -> Sequence[Run]:
    module = "anywarp.frameworks.torch.operators"
    return [
        Run(module, ("checks",), "native/torch/device_checks_table.h"),
        Run(module, ("only-cpu",), "native/torch/only_for_cpu_table.h"),
    ]


_PAIRS = ("cuda12/*", "cuda13/*", "rocm-*/*", "tools/libclang")
DERIVATIONS = (
    Derivation(
        "driver",
        "the functions of libcuda: names, versions, parameter counts",
        ("cuda11/runtime", "cuda12/runtime", "cuda13.0/runtime", "cuda13/runtime", "cuda13/profiler"),
        (f"{_DATA}/cuda.tsv", "docs/coverage/libcuda.md"),
        _driver,
    ),
    Derivation(
        "runtime",
        "the functions of libcudart, signatures of both interfaces, and our headers of them",
        ("cuda12/runtime", "cuda13/runtime", "cuda13/crt", "cuda13/profiler", "tools/pycparser"),
        (f"{_DATA}/cudart.tsv", f"{_DATA}/cuda_signatures.tsv", f"{_INCLUDE}/12/*", f"{_INCLUDE}/13/*", "docs/coverage/libcudart.md"),
        _runtime,
    ),
    Derivation(
        "management",
        "the functions of NVML",
        ("cuda13/nvidia-ml-py", "cuda13/bindings"),
        (f"{_DATA}/nvml.tsv", "docs/coverage/nvml.md"),
        _management,
    ),
    Derivation(
        "bindings",
        "what nvml.h and nvJitLink.h declare",
        ("cuda13/nvidia-ml-py", "cuda13/bindings"),
        (f"{_DATA}/nv*_declarations.tsv",),
        _bindings,
    ),
    Derivation(
        "cupti",
        "what the headers of CUPTI declare",
        ("cuda13/cupti", "cuda13/runtime", "cuda13/crt", "tools/libclang"),
        (f"{_DATA}/cupti_declarations.tsv",),
        _cupti,
    ),
    Derivation(
        "errors",
        "error codes of CUDA and HIP in both directions",
        _PAIRS,
        (f"{_ROCM}/errors_*.tsv",),
        _pairs("derive_errors"),
    ),
    Derivation(
        "libraries",
        "each library of CUDA paired with ROCm's: functions, types, constants, the way back, exports",
        _PAIRS,
        (*(f"{_ROCM}/{stem}{end}.tsv" for stem in (
            "cublas", "cublaslt", "cufft", "curand", "cusparse", "cusolver", "nccl", "runtime", "driver", "nvrtc", "nvml", "nvtx",
        ) for end in ("", "_types", "_constants", "_back")), f"{_ROCM}/symbols/*.txt"),
        _pairs("derive_libraries"),
    ),
    Derivation(
        "device",
        "headers, name spaces and names of device code in HIP",
        (*_PAIRS, "-cuda12/crt"),  # names of the device are those of CUDA 13's compiler
        (f"{_ROCM}/headers.tsv", f"{_ROCM}/device.tsv"),
        lambda bench: [Run("anywarp.catalogue.derive_device_names", (str(bench.folders),))],
    ),
    Derivation(
        "earlier",
        "what CUDA 11 and 10 had and 12 has no more",
        ("cuda11/*", "rocm-6.2/hipsparse", "rocm-10.0/*", "tools/libclang"),
        (f"{_ROCM}/earlier.tsv",),
        _pairs("derive_earlier"),
    ),
    Derivation(
        "cudnn",
        "cuDNN paired with MIOpen",
        ("cudnn8/*", "cudnn9/*", f"rocm-{_FIRST}/libmiopen-dev", f"rocm-{_LATER}/libmiopen-dev"),
        tuple(f"{_ROCM}/{name}.tsv" for name in ("cudnn", "cudnn_types", "cudnn_constants", "miopen", "miopen_constants")),
        _cudnn,
    ),
    Derivation(
        "unpaired",
        "interfaces and exports of libraries that are not paired with ROCm's: cuTENSOR, cuFile, cuSPARSELt, NVSHMEM",
        tuple(name for name, _ in _UNPAIRED.values()),
        (
            *(f"{_ROCM}/{stem}{end}.tsv" for stem in _UNPAIRED for end in ("", "_types", "_constants")),
            *(f"{_ROCM}/{stem}_symbols.tsv" for stem in ("cutensor", "nvshmem")),
        ),
        _unpaired,
    ),
    Derivation(
        "hip_api",
        "HIP's interface as one header with what each version has",
        _HIP,
        ("native/hip/hip_api.h",),
        _hip_api,
    ),
    Derivation(
        "torch",
        "which operators of PyTorch have kernels for CUDA, and which check their devices themselves",
        ("torch/torch", "tools/pyyaml"),
        ("native/torch/device_checks_table.h", "native/torch/only_for_cpu_table.h"),
        _torch,
    ),
    Derivation(
        "math",
        "numbers of the device's mathematical functions (computed, which takes minutes)",
        ("tools/mpmath",),
        (f"{_INCLUDE}/device/anywarp/math_tables.h",),
        _script("scripts/device_math_tables.py"),
    ),
    Derivation(
        "random",
        "how far the generators XORWOW and MRG32k3a jump (computed)",
        (),
        (f"{_INCLUDE}/device/anywarp/xorwow_jumps.h", f"{_INCLUDE}/device/anywarp/mrg32k3a_jumps.h"),
        _script("scripts/device_random_tables.py"),
    ),
    Derivation(
        "services",
        "what kernels on an AMD GPU ask of the host, compiled to LLVM IR",
        ("tools/ziglang",),
        ("src/anywarp/compiler/amdgpu/services.ll",),
        _script("native/hip/device/make_services.py"),
    ),
    Derivation(
        "textures",
        "the texture unit for AMD GPUs, compiled to LLVM IR",
        ("tools/ziglang",),
        ("src/anywarp/compiler/amdgpu/textures.ll",),
        _script("native/hip/device/make_textures.py"),
    ),
    Derivation(
        "pages",
        "pages and headers that are made from the tables (scripts/docs)",
        (),
        ("docs/settings.md", "docs/coverage/*.md", "native/cuda/cuda_types.h", "native/core/kernel_structures.h", "native/core/hip_structures.h", "native/hip/architectures.inc"),
        _script("scripts/docs"),
    ),
)  # fmt: skip
