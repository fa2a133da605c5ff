"""Verdicts on declared packages, their indexes, conda channels and the distribution's packages of CUDA."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from anywarp.catalogue.migration import Row, rows
from anywarp.catalogue.replacements import admits, canonical, package
from anywarp.migrate.findings import Effort, Use, Verdict
from anywarp.migrate.rulings import conda, packages
from anywarp.migrate.target import Target
from anywarp.migrate.verdicts.rows import BY_HAND, CONVERT, by_hand, on_hip, plain, ruled

SUBJECTS = ("package",)

OLDEST_TORCH = (2, 4)
"""The oldest torch that has a stand-in for its CUDA backend on the processor (docs/torch.md)."""

_TORCH = frozenset({"torch", "torchvision", "torchaudio", "pytorch", "pytorch-gpu"})
_EXACT = re.compile(r"\d+(?:\.\d+)*")
_NEW_BUILD = "install the build for the processor; `cuda` devices are then real for the program under `anywarp run`"


def judge(use: Use, target: Target) -> Verdict | None:
    """Say what becomes of a package that a project asks for."""
    if found := plain(target):
        return found
    kind = use.subject.partition(".")[2]
    if kind:
        return _OTHERS[kind](use, target)
    return _on_cpu(use) if target.device == "cpu" else _on_hip(use, target)


def _on_hip(use: Use, target: Target) -> Verdict | None:
    row = package(use.name, use.detail("channel", "pypi")) or package(use.name)
    if use.detail("channel") == "conda" and use.detail("where") != "lock":
        return _from_conda(use, row)
    if row is None:
        return Verdict("no-path", "a package for CUDA that no table of replacements has", effort="days", help=BY_HAND)
    how = row["conversion"]
    if use.detail("where") == "lock" and how in ("index", "rename", "extra", "remove"):
        return Verdict(
            "re-index",
            f"locked; {row['reason']}",
            f"{row['target'] or 'nothing'}, as the new lock says",
            "minutes",
            "lock the project again when its own file is converted",
        )
    if how == "remove" and use.detail("index") == "cpu":
        reason = "NVIDIA's package in a file for other hardware: nothing there asks for it"
        return Verdict("re-index", reason, "nothing: it is left out", "minutes", "make the file anew, or take it out")
    if how == "remove" and use.detail("stays"):
        return _stays(use, row["reason"])
    torch = use.detail("torch")
    if how in ("remove", "index") and torch and not _known_to_fit("torch", torch, target):
        reason = f"{row['reason']}; it goes with torch, and no torch{torch} is known for ROCm {target.rocm}"
        return Verdict(
            "re-index", reason, row["target"] or "nothing: it is left out", "minutes", "choose a version of torch first"
        )
    if how == "index":
        return _from_index(use, row, target)
    if how in ("rename", "extra") and use.detail("specifier") and not _admitted(row, use.detail("specifier")):
        reason = f"{row['reason']}; versions of the two differ, so {use.detail('specifier')} is to be chosen anew"
        return by_hand(reason, row["target"], "minutes")
    if how in ("replace", "none", "rebuild"):
        if same := _unchanged(use.name, "hip"):
            return same
        if how == "rebuild":
            return Verdict(
                "rebuild", row["reason"], row["target"], "hours", "build it from source in the image for ROCm"
            )
        if row["target"].startswith("pip:"):
            return on_hip(row, "minutes")  # another section of the same file
        same = canonical(use.name) in row["target"]  # the same project, from elsewhere
        return on_hip(row, "hours" if same else "days")
    return on_hip(row)


def _stays(use: Use, reason: str) -> Verdict:
    held = use.detail("stays")
    return Verdict(
        "re-index",
        f"{reason}; it stays while {held} comes from conda",
        "nothing: it is left out",
        "minutes",
        f"move {held} first",
    )


def _from_conda(use: Use, pypi: Row | None) -> Verdict | None:
    """Judge what conda is asked for; `pypi`: the row of the same package there, which knows what else there is."""
    asked = conda.requirement(use.name + use.detail("specifier"))
    if asked is None:
        return None
    if asked.answer.action != "refuse":
        stays = use.detail("stays") and asked.answer.action == "remove"
        return _stays(use, asked.answer.reason) if stays else ruled(asked.answer)
    if same := _unchanged(use.name, "hip"):
        return same
    instead = asked.answer.instead or (pypi["target"] if pypi is not None else "")
    effort: Effort = "minutes" if instead.startswith("pip:") else "hours" if canonical(use.name) in instead else "days"
    return ruled(replace(asked.answer, instead=instead), effort)


def _from_index(use: Use, row: Row, target: Target) -> Verdict:
    """Judge what is the same package from another index: does that hold a version that is asked for?"""
    name, index = canonical(use.name), f"the index for ROCm {target.rocm}"
    held = list(map(str, packages.held(name, packages.release(target))))
    asked = _written(use.detail("specifier"))
    if use.detail("where") in ("pyproject", "setup.py", "setup.cfg") and not use.detail("index"):
        reason = f"{row['reason']}; a project's metadata cannot say which index"
        return Verdict(
            "re-index",
            reason,
            f"{use.name} from {index}",
            "minutes",
            "name the index where the project's tool has a place for it, or when installing",
        )
    if "$" in asked or asked in ("==", "~=", ">="):
        return Verdict(
            "re-index",
            f"{row['reason']}; its version is a variable",
            f"{use.name} from {index}",
            "minutes",
            f"give the variable one of {', '.join(held)}",
        )
    if not asked or not held:
        help = CONVERT if held else "look up what the index holds"
        return Verdict("re-index", row["reason"], f"{use.name} from {index}", "minutes", help)
    wanted = packages.asked_for(asked)
    if wanted is None:
        return Verdict("re-index", row["reason"], f"{use.name} from {index}", "minutes", CONVERT)
    fits = packages.fitting(name, wanted, packages.release(target))
    if fits:
        return Verdict("re-index", row["reason"], f"{use.name} {fits[-1]} from {index}", "minutes", CONVERT)
    others = packages.releases_with(name, wanted)
    has = f"; ROCm {', '.join(others)} has it" if others else ""
    reason = f"{row['reason']}; no version known there fits {use.detail('specifier')}{has}"
    return Verdict(
        "re-index",
        reason,
        f"{use.name} {held[-1]} from {index}",
        "hours",
        f"choose a version among {', '.join(held)}, or another release of ROCm",
    )


def _known_to_fit(name: str, asked: str, target: Target) -> bool:
    wanted = packages.asked_for(_written(asked))
    return wanted is not None and bool(packages.fitting(name, wanted, packages.release(target)))


def _written(specifier: str) -> str:
    """Return a version as pip writes it: poetry's `^2.4` is `>=2.4` here."""
    return specifier.split("+")[0].replace("^", ">=")


def _admitted(row: Row, asked: str) -> bool:
    try:
        return admits(row, SpecifierSet(asked))
    except InvalidSpecifier:
        return False


def _on_cpu(use: Use) -> Verdict:
    name = canonical(use.name)
    if name in _TORCH:
        return _torch_on_cpu(use)
    if same := _unchanged(use.name, "cpu"):
        return same
    row = package(use.name, use.detail("channel", "pypi")) or package(use.name)
    if row is not None and row["conversion"] == "remove":
        return Verdict(
            "as-is", "nothing built for the processor asks for it: it takes space and does no harm", effort="none"
        )
    return Verdict(
        "no-path", "its wheel needs libraries of NVIDIA's that the device cpu does not have, or machine code for NVIDIA's cards", effort="days",
        help="`anywarp inspect WHEEL` says which of its kernels can run; look for its build for the processor",
    )  # fmt: skip


def _torch_on_cpu(use: Use) -> Verdict:
    exact = _EXACT.match(use.detail("version"))
    if exact and canonical(use.name) in ("torch", "pytorch", "pytorch-gpu"):
        version = tuple(int(part) for part in exact[0].split(".")[:2])
        if version < OLDEST_TORCH:
            oldest = ".".join(map(str, OLDEST_TORCH))
            return by_hand(
                f"PyTorch's stand-in begins with torch {oldest}",
                f"torch >= {oldest}, its build for the processor",
                "hours",
                _NEW_BUILD,
            )
    return Verdict(
        "re-index",
        "the wheel for CUDA holds machine code for NVIDIA's cards; the build for the processor is served by our stand-in",
        f"{use.name} from the index for cpu",
        "minutes",
        _NEW_BUILD,
    )


@cache
def _unchanged(name: str, device: str) -> Verdict | None:
    for row in rows("unchanged"):
        if row["name"] == canonical(name) and device in row["devices"].split():
            return Verdict(
                "as-is",
                f"{row['reason']} ({row['how']})",
                help=f"start it by `{row['how']}`" if "anywarp" in row["how"] else "",
            )
    return None


def _index(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict("re-index", "an index of builds for CUDA", "the index for cpu", "minutes", _NEW_BUILD)
    answer = packages.index(use.name, target)
    if answer is not None and answer.action == "replace":
        locked = use.detail("where") == "lock"
        help = "lock the project again when its own file is converted" if locked else CONVERT
        return Verdict("re-index", answer.reason, f"the index for ROCm {target.rocm}", "minutes", help)
    if answer is not None:
        return ruled(answer, "days")
    return by_hand("an index of builds for CUDA that no table knows", "its builds for ROCm, where there are some")


def _channel(use: Use, target: Target) -> Verdict | None:
    if target.device == "cpu":
        return Verdict("as-is", "a channel of NVIDIA's packages: it does no harm where none of them is asked for")
    if use.detail("stays"):
        return _stays(use, "a channel of NVIDIA's packages")
    answer = conda.channel(use.name)
    return ruled(answer, "days") if answer is not None else None


def _system(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict(
            "as-is", "our libraries take the place of NVIDIA's at run time; the package takes space and does no harm"
        )
    if re.search(
        r"driver|nvidia-(?:utils|compute|dkms|kernel|container|docker|fabric)|fabricmanager|libnvidia|modprobe",
        use.name,
    ):
        return by_hand(
            "NVIDIA's driver or container toolkit",
            "amdgpu-dkms on the host, AMD's container toolkit or plain devices",
            "hours",
        )
    return by_hand("a package of NVIDIA's toolkit", _rocm_package(use.name), "hours")


_PACKAGES = (
    (r"cudnn", "miopen-hip"), (r"nccl", "rccl"), (r"cublas", "hipblas, hipblaslt"), (r"cufft", "hipfft"), (r"curand", "hiprand"),
    (r"cusolver", "hipsolver"), (r"cusparse", "hipsparse"), (r"nvinfer|nvonnx|tensorrt", "migraphx"), (r"nvrtc|cudart", "hip-runtime-amd"),
    (r"nsight|nsys", "rocprofiler-systems, rocprofiler-compute"), (r"dcgm|datacenter-gpu-manager", "AMD's device metrics exporter and amd-smi"),
    (r"npp", "rpp"), (r"nvjpeg", "rocjpeg"), (r"gdb", "rocm-gdb"), (r"nvtx", "roctracer"), (r"smi|utils", "amd-smi-lib"),
)  # fmt: skip


def _rocm_package(name: str) -> str:
    return next((answer for pattern, answer in _PACKAGES if re.search(pattern, name)), "rocm (or rocm-hip-sdk)")


def _source(use: Use, target: Target) -> Verdict:
    if target.device == "cpu":
        return Verdict("as-is", "what is fetched from there is not used on the processor")
    return by_hand("fetched from NVIDIA's servers", "its counterpart from AMD", "hours")


_OTHERS = {"index": _index, "channel": _channel, "system": _system, "source": _source}
