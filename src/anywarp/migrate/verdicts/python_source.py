"""Verdicts on Python: modules, names of torch.cuda, devices, kernels, commands, by the table `python_names.tsv` and the catalogue.

Most Python asks nothing of the source: PyTorch's builds for ROCm keep the name `cuda`, and our stand-in serves it on the processor. What is
said then is what to install and how to start it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from anywarp.catalogue.identifiers import identifiers
from anywarp.catalogue.load import DATA
from anywarp.catalogue.load import load as load_functions
from anywarp.catalogue.migration import Row, rows
from anywarp.migrate.findings import Answer, Effort, Use, Verdict
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.cuda_source import TITLES

SUBJECTS = ("python", "torch", "triton")
_AS_IS = Verdict("as-is", "NVIDIA's own platform: nothing changes")


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a use in a Python text."""
    if target.device == "cuda":
        return _AS_IS
    if use.subject == "python.nvml":
        return _nvml(use, target)
    if use.subject == "torch.fp8":
        return _fp8(use, target)
    kind, name = _key(use)
    row = _find(kind, name, target.device)
    if row is None:
        return Verdict("no-path", f"nothing is known that takes the place of {use.name}", effort="days")
    verdict = _verdict(row)
    if (
        use.detail("ported")
        and target.device == "hip"
        and (use.subject == "torch.capability" or use.name == "torch.version.cuda")
    ):
        reason = f"{verdict.reason}; the file asks for HIP as well, so its author may have seen to it"
        return Verdict(verdict.answer, reason, verdict.replacement, "minutes", verdict.help)
    if use.subject == "python.import" and use.detail("guarded") and verdict.answer in ("replace", "no-path", "rebuild"):
        reason = f"{verdict.reason}; the import is guarded, so the program may go on without it"
        return Verdict(verdict.answer, reason, verdict.replacement, _LESS[verdict.effort], verdict.help)
    return verdict


_LESS: Mapping[Effort, Effort] = {
    "none": "none",
    "minutes": "minutes",
    "hours": "minutes",
    "days": "hours",
    "weeks": "days",
}
_USUAL: Mapping[Answer, str] = {
    "no-path": "guard it, or do without it on this device", "rebuild": "build it from source", "replace": "write this part for what takes its place",
}  # fmt: skip
_KINDS = {
    "python.import": "module", "torch.name": "torch", "torch.capability": "torch", "torch.private": "private", "torch.distributed": "distributed",
    "python.provider": "provider", "python.option": "option", "triton.feature": "triton", "triton.kernel": "triton", "python.kernel": "kernel",
    "python.library": "library", "python.path": "path", "python.unreadable": "unreadable",
}  # fmt: skip


def _key(use: Use) -> tuple[str, str]:
    """Return the kind and name under which the table has a use."""
    if use.subject == "python.device":
        framework = use.detail("framework", "other")
        return "device", framework if framework in ("torch", "jax", "xgboost") else "other"
    if use.subject == "torch.device":
        return "device", "torch"
    return _KINDS.get(use.subject, use.subject), use.name


@cache
def _table() -> Mapping[tuple[str, str, str], Row]:
    return {(row["kind"], row["name"], row["device"]): row for row in rows("python_names")}


def _find(kind: str, name: str, device: str) -> Row | None:
    """Return the row of the longest dotted prefix; private names also match by the start of the word."""
    table = _table()
    at = name
    while at:
        if (row := table.get((kind, at, device))) is not None:
            return row
        at = at.rpartition(".")[0]
    if kind == "private":
        return table.get((kind, "torch.cuda._" if name.startswith("torch.cuda.") else "torch._C", device))
    return table.get((kind, "lib", device)) if kind == "library" else None


def _verdict(row: Row) -> Verdict:
    answer: Answer = row["answer"]  # pyright: ignore[reportAssignmentType] - a test checks the table's words
    effort: Effort = row["effort"]  # pyright: ignore[reportAssignmentType]
    return Verdict(answer, row["reason"], row["target"], effort, row["help"] or _USUAL.get(answer, ""))


def _fp8(use: Use, target: Target) -> Verdict | None:
    """Judge the 8-bit floats of NVIDIA's cards, which are a matter on the one family of cards that has others."""
    if not target.has_fnuz or use.detail("ported"):
        return None  # a file that knows both chooses
    counterpart = f"{use.name}uz" if use.name.endswith("fn") else f"{use.name}fnuz"
    return Verdict(
        "replace", f"{target.architecture} computes with the other 8-bit floats (FNUZ), in which the same byte is another number", counterpart, "hours",
        "choose the type by the device, and convert stored weights and their scales",
    )  # fmt: skip


def _nvml(use: Use, target: Target) -> Verdict:
    """Judge a function or constant of pynvml by the tables of NVML."""
    start = "start by `anywarp run --device hip`" if target.device == "hip" else "start by `anywarp run`"
    if target.device == "cpu":
        why = _nvml_absent().get(use.name)
    else:
        known = identifiers(target.rocm).get(use.name)
        why = known.reason if known is not None and known.kind == "function" and known.state == "absent" else None
    if why is not None:
        return Verdict(
            "no-path",
            f"our libnvidia-ml answers `not supported`: {why}",
            effort="hours",
            help="catch NVMLError_NotSupported, as for cards that lack it",
        )
    return Verdict("as-is", f"{TITLES['nvml']}: our libnvidia-ml answers", help=start)


@cache
def _nvml_absent() -> Mapping[str, str]:
    return {row.name: row.reason for row in load_functions(DATA / "nvml.tsv").rows if row.route == "absent"}
