"""The target for AMD GPUs: from the kernel IR to an artifact that holds a linked code object."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from anywarp.compiler import codes
from anywarp.compiler.amdgpu import link, machine_code
from anywarp.compiler.amdgpu.architectures import Architecture, local_bytes, parse
from anywarp.compiler.amdgpu.barrier_plan import plan_barriers
from anywarp.compiler.amdgpu.code_object import KernelMetadata, kernel_metadata
from anywarp.compiler.amdgpu.crossings import watch_crossings
from anywarp.compiler.amdgpu.hidden import argument_bytes
from anywarp.compiler.amdgpu.kernel import Emitted, emit_kernel
from anywarp.compiler.amdgpu.matrix_accumulators import keep_accumulators
from anywarp.compiler.amdgpu.modes import TURNS, choose_warps, needs_turns, refuse_turns, remarks
from anywarp.compiler.amdgpu.turns import take_turns, takes_turns
from anywarp.compiler.analysis import analyse
from anywarp.compiler.artifact import Amd, Artifact
from anywarp.compiler.gangs import WARP, Gang
from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.shapes import Analysis


def symbol_of(kernel: Kernel) -> str:
    """Return the name of a kernel in its code object: its own, which profilers show, but for names that are ours."""
    return f"{kernel.name}_" if kernel.name.startswith("aw_hip_") else kernel.name


@dataclass(frozen=True, slots=True)
class AmdTarget:
    """An architecture, LLVM's features for the switches that were named, and its full name as HIP spells it."""

    arch: Architecture
    features: str
    identity: str

    @property
    def name(self) -> str:
        """Identity of what the code runs on."""
        return f"{machine_code.TRIPLE}:{self.identity}"

    @property
    def waits_at_one_place(self) -> bool:
        """The hardware decides who comes to one place together; who does not is stopped (`amdgpu.crossings`)."""
        return False

    def suit(self, kernel: Kernel, specialisation: Specialisation) -> None:
        """Leave the kernel as it is."""

    def choose_gang(self, kernel: Kernel, specialisation: Specialisation) -> Gang:
        """Return the lanes of a block that form a wave: one warp, or two in waves of 64."""
        return choose_warps(kernel, specialisation, self.arch.wave)

    def locate(
        self,
        kernel: Kernel,
        analysis: Analysis,
        specialisation: Specialisation,
        code: bytes,
        offset: int,
        line_of: Callable[[int], int],
    ) -> int:
        """Return 0: code objects carry no lines."""
        return 0

    def emitted(
        self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation, *, apart: bool = False
    ) -> tuple[Emitted, int]:
        """Return the LLVM IR of a kernel and how many of its warps share a wave; `apart` as in `Code`."""
        self._check_local(kernel)
        warps = self.warps_per_wave(kernel, analysis, specialisation)
        turns = self._turns(kernel, specialisation)
        if takes_turns(kernel):
            analysis = analyse(kernel, specialisation)
        keep_accumulators(kernel, analysis, specialisation, self.arch)
        if not takes_turns(kernel):  # who takes turns waits for all lanes of a mask, wherever they are
            watch_crossings(kernel, analysis)
        try:
            done = emit_kernel(kernel, specialisation, self.arch, symbol_of(kernel), warps, apart=apart)
        except NotImplementedError as error:
            raise codes.problem(
                codes.UNSUPPORTED,
                f"kernel {kernel.name!r} uses what the hip device ({self.arch.name}) does not have yet: {error}",
            ) from None
        self._check_shared(kernel, done.shared_bytes)
        return replace(done, notes=(*done.notes, *turns)), warps

    def _turns(self, kernel: Kernel, specialisation: Specialisation) -> tuple[str, ...]:
        """Have lanes take turns where they must; returns what to note. Raises AnywarpError where that does not serve either."""
        why = None if takes_turns(kernel) else needs_turns(kernel, specialisation, self.arch.wave)
        if why is None:
            return ()
        refuse_turns(kernel, specialisation)
        take_turns(kernel, plan_barriers(kernel, specialisation))
        return (TURNS + why,)

    def warps_per_wave(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation) -> int:
        """Return how many warps of the kernel share a wave: as many as `choose_gang` found."""
        return max(1, specialisation.lanes // WARP)

    def assembly(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation) -> str:
        """Return the machine code of a kernel as text."""
        text = self.emitted(kernel, analysis, specialisation)[0].text
        return machine_code.assembly(text, self.arch.name, self.features, kernel.name, specialisation.quick)

    def emit(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation) -> Artifact:
        """Compile `kernel` and link it. Raises AnywarpError naming what cannot be compiled."""
        begin = time.perf_counter()
        done, warps = self.emitted(kernel, analysis, specialisation)
        how = (self.arch.name, self.features, kernel.name, specialisation.quick)
        try:
            code = machine_code.compile_text(done.text, *how)
        except machine_code.ModeLeaks:
            done, warps = self.emitted(kernel, analysis, specialisation, apart=True)
            code = machine_code.compile_text(done.text, *how)
        found = kernel_metadata(code)
        if found.argument_bytes != argument_bytes(kernel.param_bytes):
            raise codes.problem(
                codes.INTERNAL, f"kernel {kernel.name!r} wants {found.argument_bytes} bytes of arguments"
            )
        linked, linker = link.link(code, f"{machine_code.TRIPLE}--{self.identity}")
        amd = _amd(self.arch.name, warps, found)
        notes = (*done.notes, *remarks(kernel, specialisation), *_remarks(amd, found), f"linked by {linker}")
        return Artifact(
            kernel.name, symbol_of(kernel), specialisation.block or (0, 0, 0), 0, 0, kernel.local_bytes, done.shared_bytes,
            kernel.param_bytes, linked, (time.perf_counter() - begin) * 1e3, notes, amd=amd,
        )  # fmt: skip

    def _check_local(self, kernel: Kernel) -> None:
        most = local_bytes(self.arch)
        if kernel.local_bytes > most:
            raise codes.problem(
                codes.TOO_MUCH_LOCAL,
                f"kernel {kernel.name!r} has {kernel.local_bytes} bytes of local memory per thread, "
                f"{kernel.local_bytes - most} more than there are on {self.arch.name}",
            )

    def _check_shared(self, kernel: Kernel, bytes: int) -> None:
        most = self.arch.lds_bytes
        if bytes > most:
            raise codes.problem(
                codes.TOO_MUCH_SHARED,
                f"kernel {kernel.name!r} has {bytes} bytes of static shared memory, {bytes - most} more than a block has on "
                f"{self.arch.name} ({most})",
                help="use smaller tiles, or an architecture with more: gfx950 has 163840 bytes",
            )


def _amd(arch: str, warps: int, found: KernelMetadata) -> Amd:
    return Amd(
        arch, found.wave, warps, found.vgprs, found.agprs, found.sgprs, found.scratch, found.vgpr_spills,
        found.sgpr_spills, found.lds, found.max_threads,
    )  # fmt: skip


def _remarks(amd: Amd, found: KernelMetadata) -> tuple[str, ...]:
    """Say what a reader of the report should know: registers that did not fit, memory that stands for registers."""
    out = [
        f"{found.vgprs} vector and {found.sgprs} scalar registers, {found.lds} bytes of shared memory, waves of {found.wave}"
    ]
    if found.vgpr_spills or found.sgpr_spills:
        out.append(f"{found.vgpr_spills} vector and {found.sgpr_spills} scalar registers are kept in memory")
    if found.scratch:
        out.append(f"{found.scratch} bytes of scratch memory per lane")
    return tuple(out)


def make_target(identity: str) -> AmdTarget:
    """Return the target for an architecture as HIP spells it (`gfx942:sramecc+:xnack-`). Raises AnywarpError D003."""
    arch, features = parse(identity)
    return AmdTarget(arch, features, identity)
