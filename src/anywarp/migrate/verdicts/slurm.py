"""Verdicts on Slurm's jobs and configuration, and on the machines on which workflows run."""

from __future__ import annotations

import re

from anywarp.catalogue.migration import Row, rows
from anywarp.migrate.findings import Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import by_hand, on_hip, plain

SUBJECTS = ("slurm", "ci")

_SITE = "give the site's name to `anywarp convert` by --map"


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a job's request or a workflow's machine."""
    if found := plain(target):
        return found
    if use.subject.startswith("ci."):
        return _workflow(use, target)
    return _on_cpu(use) if target.device == "cpu" else _on_hip(use)


def _row(kind: str, name: str) -> Row | None:
    found = [
        row
        for row in rows("slurm")
        if row["kind"] == kind
        and (row["name"] == name or (row["name"].endswith("*") and name.startswith(row["name"][:-1])))
    ]
    return max(found, key=lambda row: len(row["name"]), default=None)


def _on_cpu(use: Use) -> Verdict:
    if use.subject == "slurm.module":
        return Verdict("as-is", "our libraries take the place of NVIDIA's at run time; the module does no harm")
    return by_hand(
        "the job waits for a node with GPUs",
        "processors: --cpus-per-task",
        "minutes",
        "leave it out, and put `anywarp run --` before the command",
    )


def _on_hip(use: Use) -> Verdict | None:
    kind, value = use.subject.partition(".")[2], use.detail("value")
    if kind in ("gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket") or kind.startswith("tres"):
        return _amount(kind, value)
    if kind == "module":
        return _module(use.name)
    if kind in ("constraint", "feature"):
        row = _row("constraint", "*")
        if kind == "constraint" and not re.search(
            r"(?i)gpu|nvidia|cuda|[ahbvlp]\d{2,3}|rtx|gtx|tesla|k80|t4|gmem|vram|volta|ampere|hopper|turing|pascal|ada",
            value,
        ):
            return None
        return by_hand(
            row["reason"] if row else "features are named by each site",
            "the site's feature for AMD GPUs",
            "minutes",
            _SITE,
        )
    if kind in ("autodetect", "device", "gres_type"):
        row = _row(kind, value.lower() if kind == "autodetect" else value)
        if row is None:
            return by_hand("names NVIDIA's cards", "the site's type for AMD GPUs", "minutes", _SITE)
        return (
            by_hand(
                row["reason"], row["target"] or "the site's type, such as amd_instinct_mi300x_oam", "minutes", _SITE
            )
            if row["conversion"] == "ask"
            else on_hip(row, "minutes")
        )
    return Verdict("as-is", "Slurm counts GPUs the same for both")


def _amount(kind: str, value: str) -> Verdict:
    typed = (
        re.search(r"gpu:(?!\d+$)([A-Za-z][\w.-]*)", value)
        if kind == "gres"
        else re.match(r"(?!\d+$)([A-Za-z][\w.-]*):", value)
    )
    if typed is None or typed[1].startswith(("$", "{")):
        return Verdict("as-is", "Slurm counts GPUs the same for both")
    row = _row("gres_type", "*")
    return by_hand(
        row["reason"] if row else "types are named by each site",
        "the site's type for AMD GPUs, such as amd_instinct_mi300x_oam",
        "minutes",
        _SITE,
    )


def _module(name: str) -> Verdict:
    bare = re.split(r"[/\-_.@]", name.lower())[0]
    row = _row("module", bare) or _row("module", name.lower().split("/")[0])
    if row is None:
        return by_hand(
            "a module of NVIDIA's; modules are named by each site", "the site's module for ROCm", "minutes", _SITE
        )
    return on_hip(row, "hours")


def _workflow(use: Use, target: Target) -> Verdict:
    kind = use.subject.partition(".")[2]
    if target.device == "cpu":
        if kind == "runner":
            return by_hand(
                "a machine with NVIDIA's cards",
                "any machine of this system",
                "minutes",
                "choose a machine without GPUs, and put `anywarp run --` before the commands",
            )
        return Verdict("as-is", "sets up NVIDIA's toolkit, which is not needed on the processor and does no harm")
    if kind == "runner":
        return by_hand(
            "machines are named by their owner; this one has NVIDIA's cards", "a machine with AMD GPUs", "hours", _SITE
        )
    if kind == "matrix":
        return by_hand("the job is repeated for versions of CUDA", "versions of ROCm", "minutes")
    return by_hand("sets up NVIDIA's toolkit", "ROCm's packages, or a container that has them", "hours")
