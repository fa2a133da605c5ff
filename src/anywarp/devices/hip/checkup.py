"""What stands between a program and an AMD GPU on this machine, each with the command that mends it: for `anywarp doctor`.

From the bus upwards: card, kernel driver, device files and their permissions, containers, the driver's view, IOMMU. Nothing is
loaded or started. `root` is where the file system begins, for tests.
"""

from __future__ import annotations

import grp
import os
from collections.abc import Iterator
from pathlib import Path

from anywarp import settings
from anywarp.devices.facts import Fact
from anywarp.devices.hip.kernel_files import line, text
from anywarp.devices.hip.tables import first_with, products
from anywarp.devices.hip.topology import Processor, processors

VENDOR = "0x1002"
CLASSES = ("0x0300", "0x0302", "0x0380", "0x1200")
"""PCI classes of display controllers and processing accelerators."""

CONTAINER = "docker run --device /dev/kfd --device /dev/dri --group-add {group} --ipc host IMAGE"

HIDING = ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def examine_driver(root: Path = Path("/")) -> Iterator[Fact]:
    """Yield what is found about cards, kernel driver and device files. Never raises."""
    cards = cards_on_bus(root)
    found = processors(root / "sys/class/kfd/kfd/topology/nodes")
    if not cards and not found and not (root / "dev/kfd").exists():
        yield Fact("rocm", "card", "absent", "no AMD GPU")
        return
    yield Fact("rocm", "card", "ok", f"{len(cards)} on the bus: {', '.join(cards)}" if cards else "hidden from the bus")
    yield from _driver(root)
    yield from _device_files(root, found)
    for gpu in found:
        yield _gpu(gpu)
    yield from _hidden()
    yield from _iommu(root, found)


def cards_on_bus(root: Path = Path("/")) -> tuple[str, ...]:
    """Return the PCI addresses of AMD's display controllers and accelerators."""
    try:
        folders = sorted((root / "sys/bus/pci/devices").iterdir())
    except OSError:
        return ()
    return tuple(f.name for f in folders if line(f / "vendor") == VENDOR and line(f / "class")[:6] in CLASSES)


def in_container(root: Path = Path("/")) -> bool:
    """Return whether this looks like the inside of a container (Docker, Podman, Kubernetes, LXC)."""
    if (root / ".dockerenv").exists() or (root / "run/.containerenv").exists():
        return True
    words = ("docker", "kubepods", "containerd", "libpod", "lxc")
    return any(word in text(root / "proc/1/cgroup") for word in words)


def _driver(root: Path) -> Iterator[Fact]:
    module = root / "sys/module/amdgpu"
    if module.exists():
        version = line(module / "version")
        yield Fact("rocm", "driver", "ok", f"amdgpu {version}".strip() if version else "amdgpu of the kernel itself")
        return
    mend = "sudo modprobe amdgpu; if there is no such module: sudo apt install amdgpu-dkms (of AMD's packages), then reboot"
    if in_container(root):
        mend = "on the host, not in the container: " + mend
    yield Fact("rocm", "driver", "warning", "the kernel driver amdgpu is not loaded", mend)


def _device_files(root: Path, found: tuple[Processor, ...]) -> Iterator[Fact]:
    kfd = root / "dev/kfd"
    group = _group(kfd) or _group(root / "dev/dri/renderD128") or "render"
    if not kfd.exists():
        mend = "sudo modprobe amdgpu; see dmesg | grep -i kfd for what it says"
        if in_container(root):
            mend = "the container has no devices: " + CONTAINER.format(group=group)
        yield Fact("rocm", "/dev/kfd", "warning", "is not there", mend)
        return
    renders = [root / f"dev/dri/renderD{gpu.render}" for gpu in found if gpu.render]
    for path in (kfd, *renders):
        yield _device_file(path, f"/{path.relative_to(root)}", in_container(root))


def _device_file(path: Path, name: str, contained: bool) -> Fact:
    if not path.exists():
        mend = (
            "give the container its device: " + CONTAINER.format(group="render")
            if contained
            else "see dmesg | grep -i amdgpu"
        )
        return Fact("rocm", name, "warning", "is not there", mend)
    if os.access(path, os.R_OK | os.W_OK):
        return Fact("rocm", name, "ok", "may be opened")
    group = _group(path) or "render"
    mend = f"sudo usermod -aG {group} $USER, then log in again"
    if contained:
        mend = f"start the container with --group-add {path.stat().st_gid}"
    return Fact("rocm", name, "warning", f"belongs to the group {group}, which you are not in", mend)


def _gpu(gpu: Processor) -> Fact:
    known = ", ".join(products(gpu.architecture)) or "no product that we know"
    text = (
        f"{gpu.name}, {gpu.compute_units} CU, waves of {gpu.wave}, {gpu.memory / 2**30:.0f} GiB, at {gpu.pci} ({known})"
    )
    if not first_with(gpu.architecture):
        mend = (
            f"AMD lists {gpu.architecture} for no release; HSA_OVERRIDE_GFX_VERSION may name a listed one of its family"
        )
        return Fact("rocm", f"gpu {gpu.node}", "warning", text, mend)
    return Fact("rocm", f"gpu {gpu.node}", "ok", text)


def _hidden() -> Iterator[Fact]:
    environment = settings.environment()
    for name in HIDING:
        value = environment.get(name)
        if value is not None and value.strip() in ("", "-1"):
            yield Fact("rocm", name, "warning", f"is {value!r}, which hides every GPU", f"unset {name}")
    forced = environment.get("HSA_OVERRIDE_GFX_VERSION")
    if forced:
        yield Fact(
            "rocm", "HSA_OVERRIDE_GFX_VERSION", "warning", f"every GPU is taken for version {forced}",
            "unset it unless your GPU needs it: code for another architecture may compute wrong or hang",
        )  # fmt: skip


def _iommu(root: Path, found: tuple[Processor, ...]) -> Iterator[Fact]:
    """With several GPUs that talk to each other, an IOMMU that translates their traffic costs speed or hangs RCCL."""
    if len(found) < 2 or not _names(root / "sys/class/iommu"):
        return
    if "iommu=pt" in text(root / "proc/cmdline").split():
        yield Fact("rocm", "iommu", "ok", "passes traffic through (iommu=pt)")
        return
    mend = "add iommu=pt to the kernel's command line (GRUB_CMDLINE_LINUX in /etc/default/grub, sudo update-grub) and reboot"
    yield Fact("rocm", "iommu", "warning", "translates traffic between the GPUs, which may hang collectives", mend)


def _group(path: Path) -> str:
    try:
        return grp.getgrgid(path.stat().st_gid).gr_name
    except (OSError, KeyError):
        return ""


def _names(path: Path) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
