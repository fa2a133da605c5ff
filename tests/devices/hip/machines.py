"""Made-up machines with AMD GPUs: the few files of /sys, /dev and /opt that tell of them."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def add_card(root: Path, address: str = "0000:83:00.0", kind: str = "0x120000", vendor: str = "0x1002") -> None:
    for name, text in {"vendor": vendor, "class": kind, "device": "0x74a1"}.items():
        write(root / "sys/bus/pci/devices" / address / name, text + "\n")


def add_node(root: Path, node: int, version: int, *, lanes: int = 64, units: int = 304, gib: int = 192, name: str = ""):
    folder = root / f"sys/class/kfd/kfd/topology/nodes/{node}"
    facts = {
        "simd_count": units * 4,
        "simd_per_cu": 4,
        "wave_front_size": lanes,
        "gfx_target_version": version,
        "location_id": 0x8300,
        "domain": 0,
        "drm_render_minor": 128 + node,
        "unique_id": 18446744073709551615,
    }
    write(folder / "properties", "".join(f"{key} {value}\n" for key, value in facts.items()))
    write(folder / "name", f"{name}\n")
    write(folder / "mem_banks/0/properties", f"heap_type 1\nsize_in_bytes {gib << 30}\nwidth 8192\n")


def add_processor(root: Path) -> None:
    """Node 0 of every machine: the ordinary processor."""
    write(
        root / "sys/class/kfd/kfd/topology/nodes/0/properties",
        "cpu_cores_count 64\nsimd_count 0\ngfx_target_version 0\n",
    )


def add_rocm(root: Path, version: str, libraries: tuple[str, ...]) -> None:
    write(root / "opt/rocm/.info/version", version + "-38\n")
    for name in libraries:
        write(root / f"opt/rocm/lib/{name}.so.1")
