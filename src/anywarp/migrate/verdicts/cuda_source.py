"""Verdicts on CUDA C++: what each name, header, launch and inline instruction becomes on the target.

There are two ways for a source, and a verdict names the shorter one: `anywarp translate` rewrites what has a counterpart in HIP; what has none,
but is answered by our libraries, stays CUDA and is built by `anywarp nvcc`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from anywarp import toolchain
from anywarp.catalogue.identifiers import Identifier, headers, identifiers
from anywarp.catalogue.load import DATA
from anywarp.catalogue.load import load as load_functions
from anywarp.catalogue.releases import NEWEST
from anywarp.catalogue.runtime import load as load_runtime
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.translate.rules_calls import RESHAPES
from anywarp.migrate.translate.written import written
from anywarp.migrate.verdicts.cuda_libraries import judge_library

SUBJECTS = ("cuda", "ptx.inline")

TITLES = {
    "runtime": "the CUDA runtime", "driver": "the CUDA driver interface", "cublas": "cuBLAS", "cublaslt": "cuBLASLt", "cufft": "cuFFT", "curand": "cuRAND",
    "cusparse": "cuSPARSE", "cusolver": "cuSOLVER", "cudnn": "cuDNN", "nccl": "NCCL", "nvrtc": "NVRTC", "nvml": "NVML", "nvtx": "NVTX",
    "device": "CUDA's device library",
}  # fmt: skip
_ANOTHER_INTERFACE = {"nvml": "AMD SMI", "cudnn": "MIOpen"}
_ON_CPU = frozenset({"runtime", "driver", "nvrtc", "nvml", "nvtx", "device"})
_BUILD = "build with `anywarp nvcc` (or NVIDIA's nvcc with PTX and `-cudart shared`) and start it by `anywarp run`"
_TRANSLATE = "`anywarp translate` rewrites it"
_AS_IS = Verdict("as-is", "NVIDIA's own platform: nothing changes")


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a use in a C++ text."""
    if target.device == "cuda":
        return _AS_IS
    kind = use.subject.partition(".")[2]
    verdict = _JUDGES[kind](use, target)
    if (
        verdict is not None
        and use.detail("ported")
        and target.device == "hip"
        and verdict.answer in ("no-path", "rebuild")
    ):
        reason = f"{verdict.reason}; the file has branches for HIP already, which may take another way here"
        return Verdict(verdict.answer, reason, verdict.replacement, verdict.effort, verdict.help)
    return verdict


def _name(use: Use, target: Target) -> Verdict:
    known = identifiers(target.rocm or NEWEST).get(use.name)
    if known is None:  # known in another release of ROCm's tables only
        return Verdict("no-path", f"no release up to ROCm {target.rocm} has a counterpart", effort="days")
    return _on_cpu(known) if target.device == "cpu" else _on_hip(known, target)


def _on_cpu(known: Identifier) -> Verdict:
    title = TITLES[known.subject]
    if known.subject not in _ON_CPU and (known.kind == "function" or known.name not in _declared()):
        if known.kind != "function":
            return Verdict("no-path", f"a {_kind(known)} of {title}, which the device cpu does not have", effort="days")
        return Verdict(
            "no-path", f"the device cpu has no {title}: the call fails", effort="days",
            help="keep these calls on a GPU (`--device hip` forwards them to ROCm), or guard them and call a library of the processor",
        )  # fmt: skip
    if known.subject not in _ON_CPU:
        return Verdict(
            "rebuild", "our own headers declare it; the source stays as it is", effort="minutes", help=_BUILD
        )
    if (
        known.subject == "device"
        and known.header
        and not known.header.startswith("crt/")
        and not _has_header(known.header)
    ):
        return Verdict(
            "no-path", f"anywarp has no `{known.header}`, which declares this {_kind(known)}", effort="hours",
            help="compile this file with NVIDIA's nvcc to PTX (-cudart shared), or write it out",
        )  # fmt: skip
    why = _absent_here().get(known.name)
    if why is not None:
        return Verdict(
            "no-path",
            f"our library answers `not supported`: {why}",
            effort="days",
            help="guard the call, or do without it",
        )
    return Verdict(
        "rebuild",
        f"served by our own library in place of {title}; the source stays as it is",
        effort="minutes",
        help=_BUILD,
    )


_INCLUDE = Path(toolchain.__file__).parent / "include"


@cache
def _declared() -> frozenset[str]:
    """Return the words of our headers of the runtime and the driver: types that libraries share (`cudaDataType_t`) are there."""
    words: set[str] = set()
    for folder in ("12", "13"):
        for path in sorted((_INCLUDE / folder).glob("*.h")):
            words.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return frozenset(words)


@cache
def _has_header(name: str) -> bool:
    return any((folder / name).is_file() for folder in _INCLUDE.iterdir())


@cache
def _absent_here() -> dict[str, str]:
    """Return the functions that our own libraries do not implement on the processor, with the reason of their tables."""
    found = {row.name: row.reason for row in load_runtime().rows if row.route == "absent"}
    for table in ("cuda.tsv", "nvml.tsv"):
        found |= {row.name: row.reason for row in load_functions(DATA / table).rows if row.route == "absent"}
    return found


def _on_hip(known: Identifier, target: Target) -> Verdict:
    title = TITLES[known.subject]
    if known.subject in _ANOTHER_INTERFACE and not (known.kind == "function" and known.state == "absent"):
        return _own_library(known.subject)
    if known.state != "mapped" and known.name in written():
        return Verdict(
            "converted",
            f"HIP has no counterpart ({known.reason}); `anywarp translate` writes what does the same",
            help=_TRANSLATE,
        )
    if known.state == "mapped" and known.differs_in and known.name.encode() in RESHAPES:
        return Verdict(
            "converted",
            f"`{known.target}` takes other arguments, which `anywarp translate` rewrites where it can tell them",
            known.target,
            "minutes",
            _TRANSLATE,
        )
    if known.state == "mapped" and not known.differs_in:
        return Verdict(
            "converted",
            f"ROCm {target.rocm} has the same {_kind(known)} as `{known.target}`",
            known.target,
            help=_TRANSLATE,
        )
    if known.state == "mapped":
        return Verdict(
            "rebuild", f"`{known.target}` takes other arguments: {known.reason or 'see the two manuals'}", known.target, "hours",
            f"keep the CUDA source, {_BUILD} with `--device hip`, where our library converts the call; or rewrite this call by hand",
        )  # fmt: skip
    if known.state == "emulated":
        return Verdict(
            "rebuild", f"HIP has no counterpart, our library in place of {title} answers it: {known.reason}", effort="minutes",
            help=f"keep the CUDA source, {_BUILD} with `--device hip`",
        )  # fmt: skip
    if known.subject == "device":
        return Verdict(
            "rebuild",
            f"HIP has no counterpart: {known.reason}",
            effort="hours",
            help=f"keep the CUDA source and {_BUILD} with `--device hip`, or write it out for HIP",
        )
    if known.kind != "function":
        return Verdict(
            "rebuild", f"HIP has no name for this {_kind(known)}: {known.reason}", effort="hours",
            help=f"what uses it decides: keep the CUDA source, {_BUILD} with `--device hip`, where our library takes what ROCm can do; or guard it",
        )  # fmt: skip
    return Verdict(
        "no-path", f"no counterpart in ROCm {target.rocm}: {known.reason}", effort="days", help=_newer(known, target)
    )


def _own_library(subject: str) -> Verdict:
    """Return the verdict on what belongs to a library of which AMD has one with another interface."""
    return Verdict(
        "rebuild", f"ROCm's library for this ({_ANOTHER_INTERFACE[subject]}) has another interface; ours in place of {TITLES[subject]} answers the calls", effort="minutes",
        help=f"keep this part as CUDA source, {_BUILD} with `--device hip`",
    )  # fmt: skip


def _newer(known: Identifier, target: Target) -> str:
    newest = identifiers().get(known.name)
    if newest is not None and newest.state == "mapped":
        return f"a newer ROCm has it as `{newest.target}` (since {newest.since}): choose it by --rocm"
    return "guard the call, or do without it on AMD GPUs"


def _kind(known: Identifier) -> str:
    return known.kind if known.kind in ("function", "type", "constant") else "name"


def _header(use: Use, target: Target) -> Verdict:
    known = headers(target.rocm or NEWEST)
    entry = known.get(use.name) or next(
        (e for n, e in known.items() if n.endswith("/") and use.name.startswith(n)), None
    )
    if use.name.startswith("cub/"):
        entry = known.get("cub/cub.cuh")
    if target.device == "cpu":
        if use.name.startswith(_CPU_LIBRARY_HEADERS):
            return Verdict("no-path", "a header of a library that the device cpu does not have", effort="days")
        if use.name.startswith(("cub/", "thrust/", "cuda/")):
            return Verdict(
                "rebuild",
                "a header of CCCL, which `anywarp nvcc` takes where its folder is given",
                effort="hours",
                help=f"give CCCL's headers by -I; {_BUILD}",
            )
        if use.name.startswith(("nvml", "nvToolsExt", "nvtx3/")):
            return Verdict(
                "rebuild",
                "a header of NVIDIA's that anywarp does not bring; the library behind it is ours",
                effort="minutes",
                help=f"take the header from NVIDIA's package; {_BUILD}",
            )
        if not _has_header(use.name):
            return Verdict(
                "no-path",
                "our headers do not have it",
                effort="hours",
                help="compile this file with NVIDIA's nvcc to PTX (-cudart shared), or do without it",
            )
        return Verdict("rebuild", "our own header serves it", effort="minutes", help=_BUILD)
    if subject := next((each for each in _ANOTHER_INTERFACE if use.name.startswith(each)), None):
        return _own_library(subject)
    if proof := _HEADER_OF.get(use.name):  # the library is older than the first release whose header was seen
        function = identifiers(target.rocm).get(proof)
        if function is not None and function.state == "mapped":
            entry = headers().get(use.name)
    if entry is not None and entry.state == "mapped":
        return Verdict("converted", f"becomes `{entry.target}`", entry.target, help=_TRANSLATE)
    if use.name in written():
        return Verdict(
            "converted", "HIP has no such header; `anywarp translate` writes what takes its place", help=_TRANSLATE
        )
    why = entry.reason if entry is not None else "no header of this name in ROCm"
    return Verdict(
        "rebuild",
        f"HIP has no such header: {why}",
        effort="hours",
        help=f"keep the CUDA source and {_BUILD} with `--device hip`; or take out what needs it",
    )


_HEADER_OF = {"nccl.h": "ncclAllReduce", "cublasLt.h": "cublasLtMatmul"}
_CPU_LIBRARY_HEADERS = ("cublas", "cufft", "curand.h", "cusparse", "cusolver", "cudnn", "nccl", "nvblas")


def _kernel(use: Use, target: Target) -> Verdict | None:
    if use.name != "__global__":
        return None  # qualifiers are HIP's, too: kernels count, these do not
    count = use.detail("count", "1")
    kernels = "1 kernel" if count == "1" else f"{count} kernels"
    if target.device == "cpu":
        return Verdict(
            "rebuild", f"{kernels}: compiled to PTX, which runs on the processor", effort="minutes", help=_BUILD
        )
    return Verdict("converted", f"{kernels}: HIP compiles the same language", "HIP", help=_TRANSLATE)


def _launch(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict("rebuild", "launches stay as they are", effort="minutes", help=_BUILD)
    return Verdict(
        "converted",
        "HIP accepts `<<<...>>>`; `anywarp translate` writes hipLaunchKernelGGL where asked to",
        "<<<>>>",
        help=_TRANSLATE,
    )


def _macro(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict("rebuild", "`anywarp nvcc` defines it as nvcc does", effort="minutes", help=_BUILD)
    if "VERSION" in use.name:
        return Verdict(
            "converted",
            "`anywarp translate` puts a version in its place that its support header defines",
            help="look at what depends on the version",
        )
    if use.name in written():
        return Verdict(
            "converted",
            "`anywarp translate` extends the condition to HIP",
            help="look at what the guarded code assumes of the architecture",
        )
    return Verdict(
        "as-is",
        "undefined in HIP: the code that it guards is for architectures of NVIDIA's alone",
        help="look at whether the other branch serves",
    )


_NO_TORCH_ON_CPU = {
    "BlasHandle": "there is no cuBLAS", "SparseHandle": "there is no cuSPARSE", "SolverDnHandle": "there is no cuSOLVER", "Philox": "Philox states for kernels are not served",
    "CUDAGenerator": "Philox states for kernels are not served", "check_generator": "Philox states for kernels are not served", "philox": "Philox states for kernels are not served",
    "CUDAGraph": "graphs are not served in C++", "MemPool": "pools are not served in C++", "cub": "CUB is not there",
}  # fmt: skip


def _torch(use: Use, target: Target) -> Verdict:
    """Judge PyTorch's C++ interface, which extensions use (docs/torch-extensions.md)."""
    if target.device == "hip":
        return Verdict(
            "as-is",
            "torch's build for ROCm rewrites it as it builds the extension",
            help="build with torch's build for ROCm: CUDAExtension, load or load_inline",
        )
    why = next((reason for part, reason in _NO_TORCH_ON_CPU.items() if part in use.name), "")
    if why:
        return Verdict(
            "no-path",
            f"not served for extensions on the processor: {why}",
            effort="days",
            help="docs/torch-extensions.md says what is served",
        )
    return Verdict(
        "rebuild",
        "our libc10_cuda and libtorch_cuda answer it",
        effort="minutes",
        help="build the extension by `anywarp run -- python setup.py build_ext`",
    )


def _nvcc(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict("rebuild", "`anywarp nvcc` accepts it", effort="minutes", help=_BUILD)
    if use.name.startswith("#pragma") or use.name == "__grid_constant__":
        return Verdict("converted", "only nvcc knows it; `anywarp translate` guards it", help=_TRANSLATE)
    return Verdict(
        "rebuild",
        "a feature of nvcc that HIP's compiler does not have",
        effort="hours",
        help=f"keep the CUDA source and {_BUILD} with `--device hip`",
    )


def _texture(use: Use, target: Target) -> Verdict | None:
    """Judge a function that reads or writes a texture or surface."""
    if target.device == "cpu":
        return Verdict("rebuild", "textures and surfaces are computed by our compiler", effort="minutes", help=_BUILD)
    if target.has_images:
        return None  # HIP has it by this name
    return Verdict(
        "rebuild", f"{target.architecture} has no image instructions, and HIP no texture functions for it; our compiler computes them", effort="hours",
        help=f"keep the CUDA source and {_BUILD} with `--device hip`; or read through plain pointers",
    )  # fmt: skip


def _wave(use: Use, target: Target) -> Verdict | None:
    if target.device == "cpu" or target.wave == 32:
        return None  # 32 lanes there, too
    where = f"{target.architecture} executes 64 lanes" if target.wave == 64 else "Instinct cards execute 64 lanes"
    if use.name == "32 lanes":
        count = use.detail("count", "1")
        places = "1 place counts" if count == "1" else f"{count} places count"
        return Verdict(
            "converted",
            f"{places} on warps of 32 lanes, and {where}: the translated code keeps them, two to a wave",
            help=_TRANSLATE,
        )
    return Verdict("replace", use.detail("message"), "a few lines by hand", "hours", use.detail("hint"))


def _group(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict(
            "rebuild", "our own headers declare it; the source stays as it is", effort="minutes", help=_BUILD
        )
    return Verdict(
        "rebuild", f"{use.detail('message')}; our own headers have it", effort="hours",
        help=f"keep the CUDA source and {_BUILD} with `--device hip`; or {use.detail('hint')}",
    )  # fmt: skip


def _asm(use: Use, target: Target) -> Verdict:
    translated = use.detail("translated")
    if target.device == "hip" and translated == "yes":
        return Verdict(
            "converted", "inline PTX: `anywarp translate` writes it as C++ for HIP by its meaning", help=_TRANSLATE
        )
    if use.detail("front_end") == "lacking":
        return Verdict(
            "no-path", "inline PTX with an instruction that neither we nor HIP have a meaning for", effort="weeks",
            help="write this path for another architecture (sm_80 code of the same kernel often has none of it)",
        )  # fmt: skip
    if target.device == "cpu":
        return Verdict("rebuild", "inline PTX that our compiler runs", effort="minutes", help=_BUILD)
    why = f": {translated}" if translated else ""
    return Verdict(
        "rebuild", f"inline PTX that our compiler runs, and that `anywarp translate` leaves{why}", effort="hours",
        help=f"keep the CUDA source and {_BUILD} with `--device hip`; or write these lines in C++",
    )  # fmt: skip


_JUDGES = {
    "api": _name, "device": _name, "header": _header, "kernel": _kernel, "launch": _launch, "macro": _macro, "nvcc": _nvcc, "wave": _wave, "group": _group,
    "library": judge_library, "texture": _texture, "torch": _torch, "inline": _asm,
}  # fmt: skip
