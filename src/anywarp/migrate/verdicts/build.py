"""Verdicts on build files: what `anywarp translate` rewrites in them, and what stays for a person."""

from __future__ import annotations

import re

from anywarp.catalogue.migration import Row, by
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import by_hand, plain

SUBJECTS = ("build",)

_TRANSLATE = "`anywarp translate` does it"
_NVCC = "build with `anywarp nvcc` in the place of nvcc (CMAKE_CUDA_COMPILER, NVCC=...)"
_OURS = frozenset(
    {
        "cudart",
        "cudart_static",
        "cuda",
        "cuda_driver",
        "nvrtc",
        "nvToolsExt",
        "nvidia-ml",
        "nvml",
        "cupti",
        "nvtx3",
        "nvJitLink",
        "cudadevrt",
        "toolkit",
    }
)
"""Libraries that our own take the place of on the processor."""


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a construct of a build file."""
    if found := plain(target):
        return found
    kind = use.subject.partition(".")[2]
    if kind == "library":
        return _library(use, target)
    if target.device == "cpu":
        return _on_cpu(use, kind)
    return _on_hip(use, kind)


def _row(name: str) -> Row | None:
    return by("link_libraries", "library").get(name.rpartition("::")[2])


def _library(use: Use, target: Target) -> Verdict:
    name = use.name.rpartition("::")[2]
    if target.device == "cpu":
        if name in _OURS:
            return Verdict("as-is", "our library of that name is found at run time", help="link it shared")
        return Verdict(
            "no-path",
            f"the device cpu has no {name}",
            effort="days",
            help="leave the parts that call it out on the processor",
        )
    row = _row(use.name)
    if row is None:
        return by_hand("no table has this library", "ROCm's counterpart, if there is one", "hours")
    if row["conversion"] == "none":
        return Verdict(
            "no-path", row["reason"], effort="days", help="the parts that call it are to be written anew, or left out"
        )
    if row["conversion"] == "drop":
        return Verdict("converted", row["reason"], "nothing: it is left out", "minutes", _TRANSLATE)
    return Verdict(
        "converted",
        row["reason"] or f"ROCm's library is {row['target']}",
        row["cmake"] if "::" in use.name else row["target"],
        "minutes",
        _TRANSLATE,
    )


def _on_cpu(use: Use, kind: str) -> Verdict:
    if kind == "argument":
        return by_hand(
            "an argument of a build that chooses CUDA",
            "",
            "minutes",
            "build on an image without CUDA, or keep it and install anywarp in the image",
        )
    if kind == "package" and use.name not in (
        "CUDA",
        "CUDAToolkit",
        "CUB",
        "Thrust",
        "nvtx3",
        "NVTX",
        "CUTLASS",
        "NvidiaCutlass",
    ):
        return Verdict(
            "no-path",
            f"the device cpu has no {use.name}",
            effort="days",
            help="leave the parts that call it out on the processor",
        )
    return Verdict(
        "rebuild",
        "the build stays as it is, with our compiler in the place of NVIDIA's",
        "anywarp nvcc",
        "hours",
        _NVCC,
    )


_CONVERTED = {
    "language": ("CMake's language for AMD GPUs", "HIP"),
    "command": ("CMake's old commands for CUDA", "add_executable and add_library with the language HIP"),
    "flags": ("options for the language CUDA", "the language HIP, with clang's options"),
    "compiler": ("nvcc's place is hipcc's", "hipcc"),
}


def _on_hip(use: Use, kind: str) -> Verdict:
    if kind in _CONVERTED:
        reason, answer = _CONVERTED[kind]
        return Verdict("converted", reason, answer, "minutes", _TRANSLATE)
    if kind == "package":
        return _package(use)
    if kind == "option":
        return by_hand(
            "an option of a build, given in a command",
            "the project's option for HIP, and the target's architecture",
            "minutes",
            "look for the project's own option for HIP or ROCm",
        )
    if kind in ("setting", "variable"):
        return _setting(use)
    if kind == "include":
        return by_hand("a CMake file that sets up CUDA", "its counterpart for HIP", "hours")
    if kind == "bazel":
        return _bazel(use)
    if kind == "argument":
        return by_hand("an argument of a build that chooses CUDA", "a value for ROCm, or nothing", "minutes")
    return by_hand("meson has no language HIP", "custom targets that call hipcc", "hours")


def _package(use: Use) -> Verdict:
    if use.name in ("CUDA", "CUDAToolkit"):
        return Verdict(
            "converted", "ROCm's packages, one per library that is used", "find_package(hip)", "minutes", _TRANSLATE
        )
    row = _row(use.name.lower())
    if row is not None and row["conversion"] == "rename":
        return Verdict(
            "converted", row["reason"] or "ROCm's package", f"find_package({row['package']})", "minutes", _TRANSLATE
        )
    if re.match(r"(?i)tensorrt|optix|cufftdx", use.name):
        return Verdict(
            "no-path",
            f"{use.name} has no counterpart in ROCm",
            effort="weeks",
            help="the parts that call it are to be written anew, or left out",
        )
    answer = {
        "cub": "hipcub",
        "thrust": "rocthrust",
        "nccl": "rccl",
        "cutensor": "hiptensor",
        "nvtx3": "roctracer",
    }.get(use.name.lower(), "ROCm's counterpart, if there is one")
    return by_hand(f"a package that finds {use.name}", answer, "hours")


def _setting(use: Use) -> Verdict:
    if re.search(r"(?i)arch|gencode", use.name) or re.search(r"sm_\d|compute_\d", use.detail("value")):
        return Verdict(
            "converted",
            "architectures of NVIDIA's cards say nothing on AMD GPUs: the target's take their place",
            "CMAKE_HIP_ARCHITECTURES, --offload-arch",
            "minutes",
            _TRANSLATE,
        )
    if re.match(r"CMAKE_CUDA|CUDA_|CUDAToolkit|cuda_std|(?i:nvcc)", use.name):
        return Verdict(
            "converted",
            "a setting of CUDA's with a counterpart for HIP, or of none there",
            use.name.replace("CUDA", "HIP"),
            "minutes",
            f"{_TRANSLATE}, or says why not",
        )
    return by_hand(
        "an option of this project that switches CUDA on",
        "its option for HIP or ROCm, where it has one",
        "minutes",
        "look for the project's own option for HIP",
    )


def _bazel(use: Use) -> Verdict:
    if re.search(r"cuda_library|cuda_binary|cuda_test|cuda_objects|if_cuda|rules_cuda", use.name):
        return by_hand(
            "rules for CUDA; those for HIP are the project's own (rules_rocm, TensorFlow's rocm_library)",
            "rules for ROCm",
            "days",
            "`anywarp translate` lists what it leaves",
        )
    return by_hand(
        "a repository of CUDA's libraries",
        "@local_config_rocm, or ROCm's own",
        "days",
        "`anywarp translate` lists what it leaves",
    )
