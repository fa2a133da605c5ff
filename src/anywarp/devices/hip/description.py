"""What a person who reports a problem of an AMD GPU should send along: the machine's versions and what the kernel driver says of each GPU, as plain data.

Numbers and versions alone: no serial numbers (KFD's unique_id), no names of hosts or users, no environment.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import Any

from anywarp.devices.hip.kernel_files import line, text
from anywarp.devices.hip.software import LIBRARIES, find_rocm
from anywarp.devices.hip.topology import NODES, architecture_of

PRIVATE = frozenset({"unique_id"})
"""Properties that name one card among all that were made."""

_PARAMETERS = ("noretry", "sched_policy", "hws_max_conc_proc", "mes", "cwsr_enable", "vm_fragment_size")
"""Parameters of amdgpu that change how kernels are scheduled and how faults end."""


def describe(root: Path = Path("/")) -> dict[str, Any]:
    """Return versions of kernel, driver and ROCm's libraries, and KFD's properties of each GPU. Never raises; what cannot be read is not there."""
    module = root / "sys/module/amdgpu"
    rocm = find_rocm(root)
    parameters = {name: said for name in _PARAMETERS if (said := line(module / "parameters" / name))}
    return {
        "kernel": platform.release(),
        "distribution": _distribution(root),
        "driver": {
            "version": line(module / "version"),
            "source": line(module / "srcversion"),
            "parameters": parameters,
        },
        "firmware": _firmware(root),
        "rocm": {"folder": str(rocm.folder), "version": rocm.version, "libraries": _libraries(rocm.folder)}
        if rocm
        else None,
        "gpus": _gpus(root / NODES.relative_to("/")),
    }


def _distribution(root: Path) -> str:
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', text(root / "etc/os-release"), re.MULTILINE)
    return found[1] if found else ""


def _firmware(root: Path) -> list[dict[str, str]]:
    """Return the firmware of each card as amdgpu tells it (`fw_version` in sysfs)."""
    cards = sorted((root / "sys/class/drm").glob("card*/device/fw_version"))
    return [{each.name.removesuffix("_fw_version"): line(each) for each in sorted(card.iterdir())} for card in cards]


def _libraries(folder: Path) -> list[str]:
    """Return the files that the libraries' names stand for, which carry the full version."""
    found: set[str] = set()
    for name in LIBRARIES:
        for pattern in (f"lib/{name}.so.*", f"lib/x86_64-linux-gnu/{name}.so.*", f"lib64/{name}.so.*"):
            found |= {path.name for path in folder.glob(pattern) if not path.is_symlink()}
    return sorted(found)


def _gpus(nodes: Path) -> list[dict[str, int | str]]:
    out: list[dict[str, int | str]] = []
    for folder in sorted(nodes.glob("[0-9]*"), key=lambda path: path.name.zfill(9)):
        pairs = (each.split() for each in text(folder / "properties").splitlines())
        facts: dict[str, int | str] = {
            pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal() and pair[0] not in PRIVATE
        }
        version = facts.get("gfx_target_version", 0)
        if version:
            out.append({"architecture": architecture_of(int(version)), "name": line(folder / "name"), **facts})
    return out
