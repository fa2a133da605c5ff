"""Energy counters of the machine: the processor's (RAPL), NVIDIA's (NVML) and AMD's (amd-smi), in joules; what cannot be read is said.

They count whole packages and cards, other programs' share included.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

RAPL = Path("/sys/class/powercap")
"""https://docs.kernel.org/power/powercap/powercap.html"""


@dataclass(frozen=True)
class Counter:
    """One counter: its name, how it is read (joules), and where it starts again at 0."""

    name: str
    read: Callable[[], float]
    wraps_at: float = 0.0


@dataclass
class Meters:
    """All counters of the machine, and why others cannot be read."""

    counters: list[Counter] = field(default_factory=list[Counter])
    missing: dict[str, str] = field(default_factory=dict[str, str])

    def read(self) -> dict[str, float]:
        """Return the state of each counter in joules."""
        return {counter.name: counter.read() for counter in self.counters}

    def used(self, before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
        """Return the joules between two states; a counter that has started again meanwhile has done so once."""
        found: dict[str, float] = {}
        for counter in self.counters:
            used = after[counter.name] - before[counter.name]
            found[counter.name] = used + counter.wraps_at if used < 0 else used
        return found


def meters(cards: bool = True, rapl: Path = RAPL) -> Meters:
    """Return the counters that can be read; `cards`: those of GPUs, too."""
    found = Meters()
    _processor(found, rapl)
    if cards:
        _nvidia(found)
        _amd(found)
    return found


def _processor(found: Meters, rapl: Path) -> None:
    packages = sorted(p for p in rapl.glob("*-rapl:*") if p.name.count(":") == 1)
    if not packages:
        found.missing["processor"] = "this machine shows no RAPL counters (virtual machines rarely do)"
    for package in packages:
        try:
            name = f"processor {(package / 'name').read_text().strip()}"
            wraps_at = int((package / "max_energy_range_uj").read_text()) / 1e6
            energy = package / "energy_uj"
            energy.read_text()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            found.missing["processor"] = f"{package}/energy_uj: {reason} (root may read it)"
            continue
        found.counters.append(Counter(name, lambda path=energy: int(path.read_text()) / 1e6, wraps_at))


def _nvidia(found: Meters) -> None:
    try:
        import pynvml  # type: ignore[import-not-found,unused-ignore]

        nvml: Any = pynvml
        nvml.nvmlInit()
        handles = [nvml.nvmlDeviceGetHandleByIndex(n) for n in range(nvml.nvmlDeviceGetCount())]
    except Exception as error:  # the binding's own errors, whatever is missing
        found.missing["NVIDIA"] = str(error) or type(error).__name__
        return
    for number, handle in enumerate(handles):
        try:
            nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
        except Exception as error:
            found.missing[f"NVIDIA {number}"] = str(error) or type(error).__name__
            continue
        found.counters.append(Counter(f"NVIDIA {number}", partial(_nvidia_energy, nvml, handle)))


def _nvidia_energy(nvml: Any, handle: Any) -> float:
    return nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3  # from millijoules


def _amd(found: Meters) -> None:
    program = shutil.which("amd-smi")
    if program is None:
        found.missing["AMD"] = "amd-smi is not on the path"
        return
    try:
        cards = len(_amd_energy(program))
    except (OSError, ValueError, KeyError, TypeError, subprocess.SubprocessError) as error:
        found.missing["AMD"] = f"amd-smi metric --energy --json: {error}"
        return
    for number in range(cards):
        found.counters.append(Counter(f"AMD {number}", lambda n=number: _amd_energy(program)[n]))


def _amd_energy(program: str) -> list[float]:
    """Return the joules of each card, as `amd-smi metric --energy --json` tells them."""
    command = [program, "metric", "--energy", "--json"]
    said: Any = json.loads(subprocess.run(command, capture_output=True, timeout=20, check=True).stdout)
    cards = cast("list[Any]", said["gpu_data"] if isinstance(said, dict) else said)
    return [float(card["energy"]["total_energy_consumption"]["value"]) for card in cards]
