"""Verdicts on environment variables that speak to CUDA, and on paths into NVIDIA's toolkit."""

from __future__ import annotations

from anywarp.catalogue.replacements import variable
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.rulings import environment
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import CONVERT, by_hand, on_hip, plain, ruled

SUBJECTS = ("env", "path")

_HONOURED = frozenset({"CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING"})
"""What our own libraries read on the processor."""


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a variable that is set or read, or of a path."""
    if found := plain(target):
        return found
    if use.subject != "env":
        return _path(use, target)
    if target.device == "cpu":
        why = (
            "our libraries read it, too"
            if use.name in _HONOURED
            else "nothing on the processor reads it: it does no harm"
        )
        return Verdict("as-is", why)
    row = variable(use.name)
    if row is None:
        return by_hand(
            "no table has this variable of CUDA's", "what takes its place on ROCm, where anything does", "minutes"
        )
    if use.detail("where") == "image" and row["conversion"] != "keep":
        answer = row["target"] or "nothing: it is left out"
        help = "convert the image's Dockerfile and build it anew"
        return Verdict("rebuild", f"set inside a built image; {row['reason']}", answer, "minutes", help)
    answer = environment.variable(use.name, None if use.detail("use") == "read" else use.detail("value"), target)
    if answer is None:
        return Verdict("as-is", "its value names nothing of CUDA's")
    if answer.action == "refuse":
        return by_hand(
            answer.reason,
            answer.instead or "a decision: leave it out, or set what takes its place",
            "minutes" if answer.instead else "hours",
            answer.help,
        )
    if row["conversion"] == "none":
        return ruled(answer)
    return on_hip(row)


def _path(use: Use, target: Target) -> Verdict:
    if use.name.startswith("/proc/driver/nvidia"):
        return by_hand(
            "what NVIDIA's kernel driver says of itself; other drivers have no such folder",
            "`anywarp smi`" if target.device == "cpu" else "/sys/module/amdgpu/version and /sys/class/kfd, or amd-smi",
            "minutes",
        )
    if target.device == "cpu":
        return Verdict(
            "rebuild",
            "the folder of NVIDIA's toolkit; `anywarp nvcc` brings a compiler and headers of its own",
            "",
            "minutes",
            "point it at what `anywarp nvcc --print-cuda-home` says, or leave it out",
        )
    if use.detail("use") != "set":
        return by_hand(
            "the folder of NVIDIA's toolkit, in a command", "/opt/rocm, where the command knows ROCm", "minutes"
        )
    return Verdict("converted", "the folder of NVIDIA's toolkit", "/opt/rocm", "minutes", CONVERT)
