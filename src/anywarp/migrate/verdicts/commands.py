"""Verdicts on commands of NVIDIA's: the tools of the driver, of the toolkit, and of its servers."""

from __future__ import annotations

import itertools
import re

from anywarp.catalogue.smi import smi
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import BY_HAND, CONVERT, by_hand, plain

SUBJECTS = ("command",)

_TOOLS: dict[str, tuple[str, str]] = {
    "dcgmi": ("amd-smi, and AMD's test runner for `diag`", "hours"),
    "nv-hostengine": ("AMD's device metrics exporter", "hours"),
    "nsys": ("rocprof-sys (ROCm Systems Profiler)", "hours"),
    "ncu": ("rocprof-compute (ROCm Compute Profiler)", "hours"),
    "nvprof": ("rocprofv3", "hours"),
    "cuda-gdb": ("rocgdb", "hours"),
    "trtexec": ("migraphx-driver", "days"),
    "genai-perf": ("asks a server and needs no GPU; its successor aiperf reads AMD's counters, too", "none"),
    "nvtop": ("nvtop, which shows AMD GPUs, too", "none"),
    "nvitop": ("amd-smi monitor", "minutes"),
    "gpustat": ("amd-smi monitor", "minutes"),
    "cuobjdump": ("roc-obj-ls, llvm-objdump", "hours"),
    "nvdisasm": ("llvm-objdump -d", "hours"),
    "nvidia-ctk": ("amd-ctk", "hours"),
    "nvidia-docker": ("docker with --device /dev/kfd --device /dev/dri", "minutes"),
    "nvidia-docker2": ("docker with --device /dev/kfd --device /dev/dri", "minutes"),
}
_SAME = "`anywarp smi --device hip`, which answers the same options with the same columns"
_CLIENTS = ("genai-perf",)
_PROFILERS = ("cuda-memcheck", "compute-sanitizer")
_NOTHING = frozenset(
    "nvidia-cuda-mps-control nvidia-cuda-mps-server nvidia-modprobe nvidia-persistenced nvidia-settings nvidia-xconfig".split()
)
_COMPILERS = frozenset("nvcc ptxas nvlink fatbinary cudafe++ bin2c".split())


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a command."""
    if found := plain(target):
        return found
    tool = use.subject.partition(".")[2]
    if tool == "nvidia-smi":
        return _smi(use, target)
    if tool in _COMPILERS:
        return _compiler(tool, target)
    if tool in _PROFILERS:
        return by_hand(
            f"{tool} instruments machine code of NVIDIA's cards",
            "`anywarp run --check all`",
            "minutes",
            "start the program by `anywarp run --check all`",
        )
    if tool in _NOTHING:
        return (
            Verdict("as-is", "not needed: nothing of it is there without NVIDIA's driver")
            if target.device == "cpu"
            else by_hand(_why_not(tool), "nothing: leave it out", "hours")
        )
    known = _TOOLS.get(tool)
    if target.device == "cpu" and tool not in _CLIENTS:
        return _on_cpu(tool)
    if known is None:
        return Verdict("no-path", f"{tool} is for NVIDIA's cards and has no counterpart", effort="days", help=BY_HAND)
    if known[1] == "none":
        return Verdict("as-is", known[0])
    return Verdict(
        "replace",
        f"{tool} is for NVIDIA's cards",
        known[0],
        "days" if known[1] == "days" else "minutes" if known[1] == "minutes" else "hours",
        BY_HAND,
    )


def _why_not(tool: str) -> str:
    if "mps" in tool:
        return "ROCm has no MPS: processes share a GPU without it, or the GPU is partitioned"
    return "a part of NVIDIA's driver"


def _on_cpu(tool: str) -> Verdict:
    if tool in ("nsys", "ncu", "nvprof"):
        return by_hand(
            f"{tool} reads counters of NVIDIA's cards",
            "`anywarp run --trace`",
            "minutes",
            "start the program by `anywarp run --trace FILE`",
        )
    if tool in ("nvitop", "gpustat", "nvtop"):
        return Verdict("as-is", "reads NVIDIA's management library, which is ours under `anywarp run`")
    return Verdict(
        "no-path",
        f"{tool} is for NVIDIA's cards; the processor has nothing that it could ask",
        effort="hours",
        help="leave it out on the processor",
    )


def _compiler(tool: str, target: Target) -> Verdict:
    if target.device == "cpu":
        return (
            Verdict(
                "rebuild",
                "`anywarp nvcc` takes nvcc's options and needs no files of NVIDIA's",
                "anywarp nvcc",
                "minutes",
                "put `anywarp nvcc` in its place",
            )
            if tool == "nvcc"
            else by_hand(f"{tool} makes machine code for NVIDIA's cards", "`anywarp nvcc`, which makes PTX", "hours")
        )
    if tool == "nvcc":
        return by_hand(
            "the source is translated first (`anywarp translate`) and compiled by hipcc; or it stays as it is for `anywarp nvcc`",
            "hipcc, or anywarp nvcc",
            "hours",
            "build files of CMake, make and setup.py are changed by `anywarp translate`",
        )
    return by_hand(f"{tool} makes machine code for NVIDIA's cards", "hipcc", "hours")


def _smi(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict(
            "as-is",
            "`anywarp smi` answers the same options with the same output",
            "anywarp smi",
            "none",
            "link nvidia-smi to `anywarp smi` on the path",
        )
    if use.detail("where") == "program":  # which `anywarp convert` leaves alone
        return Verdict(
            "as-is",
            "a program that `anywarp run` starts finds nvidia-smi: `anywarp smi` with the same options and columns",
            "anywarp smi",
            "none",
            "started otherwise it needs amd-smi, which has other options and columns",
        )
    arguments = use.detail("arguments") or use.name.partition(" ")[2]
    words = tuple(
        itertools.takewhile(
            lambda word: not re.match(r"[\d&]*>|<", word),
            re.split(r"[\s'\",\[\]]+(?!\w+\.\w)", arguments.strip()) if arguments else [],
        )
    )
    answer, reason, _ = smi(tuple(word for word in words if word))
    if not answer and reason.startswith("drop: "):
        return Verdict("converted", reason[6:], "nothing: it is left out", "minutes", CONVERT)
    if not answer and reason and "--query" not in arguments:
        return Verdict("no-path", reason, effort="hours", help=BY_HAND)
    if not answer:
        return by_hand(reason or "amd-smi has no match for these options", _SAME, "hours")
    if use.detail("read") or any(word.startswith("--format") for word in words):
        return by_hand(
            f"{reason}; a program reads this output, and amd-smi prints other columns", f"{answer}, or {_SAME}", "hours"
        )
    return Verdict("converted", f"{reason}; it prints other columns", answer, "minutes", CONVERT)
