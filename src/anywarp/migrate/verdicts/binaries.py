"""Verdicts on what is compiled and installed: GPU code, NVIDIA's libraries that it needs, and distributions.

PTX is compiled again for the target; machine code for NVIDIA cards is the end of the road, unless its maker has another build.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from anywarp.catalogue.identifiers import identifiers
from anywarp.catalogue.load import DATA
from anywarp.catalogue.load import load as load_functions
from anywarp.catalogue.replacements import canonical
from anywarp.catalogue.rocm import load as load_library
from anywarp.catalogue.runtime import load as load_runtime
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts import packages

SUBJECTS = ("binary", "installed", "ptx.file")

_AS_IS = Verdict("as-is", "NVIDIA's own platform: nothing changes")
_TORCH = re.compile(r"lib(?:torch_cuda\w*|c10_cuda|torch_nvshmem|caffe2_nvrtc)\.so")
_STEMS = {
    "libcublas": "cublas", "libcublasLt": "cublaslt", "libcufft": "cufft", "libcurand": "curand", "libcusolver": "cusolver", "libcusparse": "cusparse",
    "libnccl": "nccl", "libcudnn": "cudnn",
}  # fmt: skip
_OURS = frozenset(
    {
        "libcuda",
        "libcudart",
        "libnvrtc",
        "libnvidia-ml",
        "libnvToolsExt",
        "libcupti",
        "libnvJitLink",
        "libnvrtc-builtins",
    }
)
_VERSIONS = {"libcudart": ("12", "13"), "libcublas": ("12", "13"), "libcublasLt": ("12", "13"), "libcufft": ("11", "12"), "libcusolver": ("11", "12"), "libcusparse": ("12",)}  # fmt: skip


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a binary, or of a distribution that is installed."""
    if target.device == "cuda":
        return _AS_IS
    return _JUDGES[use.subject](use, target)


def _start(target: Target) -> str:
    return "start by `anywarp run --device hip`" if target.device == "hip" else "start by `anywarp run`"


def _code(use: Use, target: Target) -> Verdict:
    if _TORCH.match(use.name):
        build = "ROCm" if target.device == "hip" else "processors"
        return Verdict(
            "re-index",
            "PyTorch's kernels are machine code for NVIDIA cards, without PTX",
            f"torch's build for {build}",
            "minutes",
            "see the package torch",
        )
    if not use.detail("ptx"):
        return Verdict(
            "no-path", f"machine code only, for {use.detail('sass') or 'NVIDIA cards'}: there is no PTX to compile again", effort="weeks",
            help="ask its maker for a wheel with PTX or for ROCm, or build it from source with -gencode arch=compute_80,code=compute_80",
        )  # fmt: skip
    if use.detail("lacking"):
        return Verdict(
            "no-path", f"{use.detail('lacking')} of {use.detail('kernels')} kernels need instructions that we lack: {use.detail('missing')}", effort="weeks",
            help="the other kernels run; `anywarp inspect` lists each",
        )  # fmt: skip
    return _runnable(use, target)


def _runnable(use: Use, target: Target) -> Verdict:
    kernels = f"all {use.detail('kernels')} kernels have" if use.detail("kernels") else "it has"
    if use.detail("sass_only"):
        return Verdict(
            "no-path", f"{use.detail('sass_only')} of {use.detail('kernels')} kernels are machine code only; the others have PTX", effort="weeks",
            help="what uses the other kernels runs; `anywarp inspect` lists each",
        )  # fmt: skip
    rest = f" ({use.detail('unread')} were not looked into)" if use.detail("unread") else ""
    if use.detail("runtime") == "static, stripped":
        return _runtime(use, target)
    if use.detail("runtime") == "static":
        return Verdict(
            "as-is", f"{kernels} PTX that we can compile{rest}; NVIDIA's runtime is linked into it, which works with NVIDIA's driver only", effort="minutes",
            help=f"{_start(target)} with --rebind (see docs/rebind.md for what that does), or build it with -cudart shared",
        )  # fmt: skip
    return Verdict("as-is", f"{kernels} PTX that we can compile{rest}", help=_start(target))


def _runtime(use: Use, target: Target) -> Verdict:
    """Judge a file into which NVIDIA's runtime is linked."""
    if use.detail("runtime") == "static":
        return Verdict(
            "as-is", "NVIDIA's runtime is linked into it, which works with NVIDIA's driver only", effort="minutes",
            help=f"{_start(target)} with --rebind (see docs/rebind.md for what that does)",
        )  # fmt: skip
    return Verdict(
        "no-path", "NVIDIA's runtime is linked into it, which works with NVIDIA's driver only, and its symbols are stripped, so that it cannot be redirected", effort="days",
        help="ask its maker for a build with -cudart shared, or build it so; what uses the driver interface alone needs it not",
    )  # fmt: skip


def _library(use: Use, target: Target) -> Verdict | None:
    library = use.detail("library")
    known = _version(use.name)
    if library in _OURS or (library in _STEMS and target.device == "hip"):
        if known and library in _VERSIONS and known not in _VERSIONS[library]:
            return Verdict(
                "rebuild", f"it asks for version {known} of {library}; ours are {' and '.join(_VERSIONS[library])}", effort="hours",
                help="take a newer wheel, or build it with CUDA 12 or 13",
            )  # fmt: skip
        return _symbols(use, library, target)
    if library in _STEMS:
        return Verdict(
            "no-path",
            f"the device cpu has no {use.name}, so this file cannot be loaded",
            effort="days",
            help="take the package's build for processors, if there is one",
        )
    return Verdict(
        "no-path",
        f"no library of ours takes the place of {use.name}",
        effort="weeks",
        help="see whether the package works without this file",
    )


def _version(name: str) -> str:
    found = re.search(r"\.so\.(\d+)", name)
    return found[1] if found else ""


def _symbols(use: Use, library: str, target: Target) -> Verdict:
    """Judge a library that we have by the functions that are imported from it."""
    imported = [symbol for key, value in use.details if key == "symbols" for symbol in value.split()]
    absent = _absent(library, target.device)
    missing = [symbol for symbol in imported if symbol in absent]
    if not missing:
        return Verdict(
            "as-is", f"our {library} has all {len(imported)} functions that are imported", help=_start(target)
        )
    shown = ", ".join(missing[:4]) + (" ..." if len(missing) > 4 else "")
    return Verdict(
        "as-is", f"our {library} serves {len(imported) - len(missing)} of {len(imported)} functions that are imported; {shown} answer `not supported` ({absent[missing[0]]})",
        effort="hours", help=f"{_start(target)}; what calls the missing ones fails with an error that names them",
    )  # fmt: skip


@cache
def _absent(library: str, device: str) -> Mapping[str, str]:
    """Return the functions of a library of ours that answer `not supported`, with the reason."""
    if library == "libcudart":
        return {row.name: row.reason for row in load_runtime().rows if row.route == "absent"}
    if library in ("libcuda", "libnvidia-ml"):
        table = load_functions(DATA / ("cuda.tsv" if library == "libcuda" else "nvml.tsv"))
        found = {row.name: row.reason for row in table.rows if row.route == "absent"}
        if device == "hip" and library == "libcuda":
            names = identifiers()
            found |= {
                n: names[n].reason
                for n in (row.name for row in table.rows)
                if n in names and names[n].state == "absent"
            }
        return found
    if library in _STEMS:
        return {each.name: each.reason for each in load_library(_STEMS[library]).functions if each.route == "absent"}
    return {}


def _nvidia(use: Use, target: Target) -> Verdict:
    library = use.detail("library")
    if library == "libnvvm":
        return Verdict(
            "as-is",
            "NVIDIA's compiler of NVVM needs no card: numba-cuda makes its PTX with it, which runs",
            help="keep it where numba-cuda is used",
        )
    if library in _OURS or (library in _STEMS and target.device == "hip"):
        return Verdict(
            "as-is", "NVIDIA's own library: under `anywarp run` ours is found in its place", help="it can be left out"
        )
    where = "on AMD GPUs" if target.device == "hip" else "on the processor"
    return Verdict(
        "as-is",
        f"NVIDIA's own library: it does nothing {where}; what asks for it is told apart",
        help="it can be left out",
    )


def _opened(use: Use, target: Target) -> Verdict | None:
    library = use.name.partition(".so")[0]
    if library in _OURS or (library in _STEMS and target.device == "hip"):
        return Verdict("as-is", "opened at run time by name: ours is found", help=_start(target))
    return Verdict(
        "no-path",
        f"it opens {use.name} at run time, which is not there: that part fails, the file loads",
        effort="days",
        help="do without that part",
    )


def _ptx(use: Use, target: Target) -> Verdict:
    if use.detail("lacking"):
        return Verdict(
            "no-path", f"{use.detail('lacking')} of {use.detail('kernels')} kernels need instructions that we lack: {use.detail('missing')}", effort="weeks",
            help="compile the source for sm_80 or another architecture that needs none of them",
        )  # fmt: skip
    if use.detail("damaged"):
        return Verdict("no-path", "the PTX cannot be read", effort="hours", help="`anywarp inspect FILE` says where")
    return Verdict(
        "as-is",
        f"PTX for {use.detail('ptx')}: every instruction has a meaning here",
        help="loaded as it is by cuModuleLoadData under `anywarp run`",
    )


def _installed(use: Use, target: Target) -> Verdict | None:
    """Judge a distribution that is installed by what is said of it as a requirement, if it is the build for CUDA."""
    variant, name = use.detail("variant"), canonical(use.name)
    if variant.startswith("rocm"):
        if target.device == "hip":
            return Verdict("as-is", "the build for ROCm is installed")
        return Verdict("re-index", "the build for ROCm is installed", f"{use.name}'s build for processors", "minutes")
    if variant == "cpu":
        if target.device == "cpu":
            return Verdict("as-is", "a build for processors, which our stand-in serves", help=_start(target))
        return Verdict(
            "re-index",
            "a build for processors is installed",
            f"{use.name}'s build for ROCm",
            "minutes",
            "take it from the index for ROCm",
        )
    version = use.detail("version").partition("+")[0]
    details = (
        ("version", version),
        ("specifier", f"=={version}" if version else ""),
        ("channel", use.detail("channel", "pypi")),
    )
    verdict = packages.judge(Use("package", use.name, details=details), target)
    if name.startswith(("nvidia-nvvm", "nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime")):
        return Verdict(
            "as-is",
            "NVIDIA's own libraries as a wheel: numba-cuda asks them when it compiles; nothing else needs them under `anywarp run`",
            help="leave it out where numba-cuda is not used",
        )
    if verdict is not None and name.startswith("nvidia-") and name != "nvidia-ml-py":
        return Verdict(
            "as-is",
            "NVIDIA's own libraries as a wheel: not needed, and not loaded under `anywarp run`",
            help=f"pip uninstall {use.name}, once torch is the other build",
        )
    return replace(verdict, help=verdict.help or "install anew in a fresh environment") if verdict is not None else None


_JUDGES = {
    "binary.code": _code, "binary.library": _library, "binary.nvidia": _nvidia, "binary.dlopen": _opened, "binary.runtime": _runtime, "ptx.file": _ptx, "installed.package": _installed,
}  # fmt: skip
