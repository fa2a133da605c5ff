"""AMD GPUs described, probed and entered as the device `hip`.

Compiling needs no GPU: the identity says for which one. What this machine has is read from the kernel driver's files, so that
no library of ROCm's is loaded, which takes seconds and may fail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anywarp.devices.device import CompileRequest, DeviceInfo
from anywarp.devices.hip.topology import processors
from anywarp.diagnostics import AnywarpError, Diagnostic

if TYPE_CHECKING:
    from anywarp.compiler.target import Target
    from anywarp.ptx.index import ModuleIndex

_IDENTITY = re.compile(r"hip:(gfx[0-9a-f-]+(?:-generic)?)((?::[a-z]+[+-])*)")


@dataclass(frozen=True, slots=True)
class AmdGpu:
    """The device `hip`: of one GPU's kind where `chosen` names it (`hip:gfx942:sramecc+:xnack-`), else of what this machine has."""

    chosen: str = ""

    @property
    def name(self) -> str:
        """Return the device's short name."""
        return "hip"

    def identity(self) -> str:
        """Return `hip:` and the architecture as HIP spells it; AnywarpError D004 when none is named and this machine has none."""
        if self.chosen:
            return self.chosen
        for found in processors():
            return f"hip:{found.architecture}"
        raise AnywarpError(
            Diagnostic(
                "D004",
                "this machine has no AMD GPU that its driver tells of",
                help="name the one to compile for, as in hip:gfx942, or see what is missing with anywarp doctor",
            )
        )

    def variant(self, identity: str) -> AmdGpu:
        """Return the device for `hip:ARCHITECTURE[:FEATURE+-]`, or for `hip` alone; AnywarpError D003 for another text."""
        if identity == "hip":
            return AmdGpu()
        match = _IDENTITY.fullmatch(identity)
        if match is None:
            raise AnywarpError(
                Diagnostic(
                    "D003",
                    f"{identity[:80]!r} names no AMD GPU",
                    help="write it as HIP does, for example hip:gfx942 or hip:gfx90a:sramecc+:xnack-",
                )
            )
        _ = AmdGpu(identity)._target()  # an architecture that is not compiled for is told here
        return AmdGpu(identity)

    def probe(self) -> tuple[DeviceInfo, ...]:
        """Return the GPUs that the kernel driver tells of."""
        return tuple(
            DeviceInfo(found.name, found.memory, (found.architecture, f"{found.compute_units} CU"))
            for found in processors()
        )

    def libraries(self, ours: Path) -> Path:
        """Return the folder of the libraries over HIP and ROCm's."""
        return ours / "hip"

    def describe(self, index: ModuleIndex) -> bytes:
        """Return the module's description, the same as for any device."""
        from anywarp.compiler.description import pack_module
        from anywarp.compiler.pipeline import describe_module

        return pack_module(describe_module(index))

    def compile(self, index: ModuleIndex, request: CompileRequest) -> bytes:
        """Compile one kernel to a linked code object."""
        from anywarp.compiler.artifact import pack
        from anywarp.compiler.options import read_options
        from anywarp.compiler.pipeline import compile_kernel

        specialisation = read_options(request.options, request.block)
        return pack(compile_kernel(index, request.kernel, specialisation, self._target()))

    def _target(self) -> Target:
        from anywarp.devices.hip.target import target_for

        return target_for(self.identity().partition(":")[2])


device = AmdGpu()
"""What the entry point names."""
