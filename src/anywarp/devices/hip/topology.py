"""Which AMD GPUs the kernel driver (amdgpu with its compute part, KFD) tells of, from the files in /sys.

Format: Linux, drivers/gpu/drm/amd/amdkfd, `topology/nodes/N/properties`: lines `name number`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

NODES = Path("/sys/class/kfd/kfd/topology/nodes")


@dataclass(frozen=True, slots=True)
class Processor:
    """One GPU: its node, architecture (gfx942), marketing name where known, compute units, lanes of a wave, memory in bytes,
    and where it is on PCI (domain:bus:device.function)."""

    node: int
    architecture: str
    name: str
    compute_units: int
    wave: int
    memory: int
    pci: str
    render: int


def processors(nodes: Path = NODES) -> tuple[Processor, ...]:
    """Return the GPUs in the order of their nodes; none where there is no such driver. Never raises."""
    try:
        folders = sorted((n for n in nodes.iterdir() if n.name.isdecimal()), key=lambda n: int(n.name))
    except OSError:
        return ()
    return tuple(found for folder in folders if (found := _processor(folder)) is not None)


def _processor(folder: Path) -> Processor | None:
    facts = _properties(folder / "properties")
    version = facts.get("gfx_target_version", 0)
    if not version:  # a processor of the ordinary kind
        return None
    architecture = architecture_of(version)
    location, domain = facts.get("location_id", 0), facts.get("domain", 0)
    pci = f"{domain:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"
    return Processor(
        node=int(folder.name),
        architecture=architecture,
        name=_marketing_name(folder, architecture),
        compute_units=facts.get("simd_count", 0) // max(facts.get("simd_per_cu", 0), 1),
        wave=facts.get("wave_front_size", 0),
        memory=_memory(folder),
        pci=pci,
        render=facts.get("drm_render_minor", 0),
    )


def architecture_of(version: int) -> str:
    """Return the architecture of KFD's number: 90402 is gfx942, 110001 gfx1101, 90010 gfx90a (stepping in hexadecimal)."""
    major, minor, stepping = version // 10000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{stepping:x}"


def _properties(path: Path) -> dict[str, int]:
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return {}  # KFD hides nodes that a container may not use: the file is there and cannot be read
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def _marketing_name(folder: Path, architecture: str) -> str:
    try:
        name = (folder / "name").read_text(errors="replace").strip()
    except OSError:
        name = ""
    if not name:
        return f"AMD GPU {architecture}"
    return f"{name if name.startswith('AMD ') else f'AMD {name}'} ({architecture})"


def _memory(folder: Path) -> int:
    """Sum the banks in the GPU's own memory: heap types 1 (visible to the host) and 2 (not)."""
    total = 0
    try:
        banks = sorted((folder / "mem_banks").iterdir())
    except OSError:
        return 0
    for bank in banks:
        facts = _properties(bank / "properties")
        if facts.get("heap_type") in (1, 2):
            total += facts.get("size_in_bytes", 0)
    return total
