"""Where a program is to go: a device, its architecture, and the release of ROCm that serves it.

Verdicts and translations depend on it, so it is read and checked in one place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

from anywarp.catalogue.architectures import architecture
from anywarp.catalogue.identifiers import release
from anywarp.catalogue.releases import NEWEST, USUAL
from anywarp.devices.hip.tables import gpus
from anywarp.diagnostics import AnywarpError, Diagnostic

Device = Literal["cpu", "hip", "cuda"]

USUAL_ARCHITECTURE, USUAL_ROCM = "gfx942", USUAL
"""What a conversion is for unless its user says otherwise; build files must name an architecture where the target leaves it open."""


@dataclass(frozen=True, slots=True)
class Target:
    """A device, for `hip` with an architecture (`gfx942`, or empty: any AMD GPU) and a version of ROCm (`7.1`)."""

    device: Device
    architecture: str = ""
    rocm: str = ""

    @property
    def wave(self) -> int:
        """Lanes that execute at a time: 64 or 32 on AMD GPUs as HIP uses them, 32 elsewhere, 0 where the architecture is open."""
        if self.device != "hip":
            return 32
        if not self.architecture:
            return 0
        facts = architecture(self.architecture)
        return facts.wave if facts is not None else 32

    @property
    def has_images(self) -> bool:
        """Whether texture functions work there; without image instructions HIP's do not compile. True where the architecture is open."""
        facts = architecture(self.architecture)
        return facts is None or facts.images

    @property
    def has_fnuz(self) -> bool:
        """Whether its instructions take 8-bit floats of another format (FNUZ) than NVIDIA's, in which the same byte is another number."""
        facts = architecture(self.architecture) if self.device == "hip" else None
        return facts is not None and facts.fp8 == "fnuz"

    def __str__(self) -> str:
        if self.device != "hip":
            return self.device
        return f"hip:{self.architecture or 'any'}, ROCm {self.rocm}"


def parse_target(text: str, rocm: str = NEWEST) -> Target:
    """Read `cpu`, `cuda`, `hip` or `hip:gfx942`; AnywarpError (M001) for anything else, or a release of ROCm nobody knows."""
    device, _, architecture = text.partition(":")
    if device not in ("cpu", "hip", "cuda") or (architecture and device != "hip"):
        raise _problem(
            f"{text!r} is no target", "write cpu, cuda, hip, or hip with an architecture, such as hip:gfx942"
        )
    if device != "hip":
        return Target(cast(Device, device))
    if architecture and not re.fullmatch(r"gfx[0-9a-f]{3,5}|gfx\d+(-\d+)*-generic", architecture):
        raise _problem(f"{architecture!r} is no architecture of an AMD GPU", f"known are {', '.join(architectures())}")
    try:
        release(rocm)
    except ValueError as error:
        raise _problem(str(error), f"give a release such as --rocm {USUAL}") from None
    return Target("hip", architecture, rocm)


def architectures() -> tuple[str, ...]:
    """Return the architectures of the products that are known, in order."""
    return tuple(dict.fromkeys(gpu.architecture for gpu in gpus()))


def _problem(message: str, help: str) -> AnywarpError:
    return AnywarpError(Diagnostic("M001", message, help=help))
