"""A kernel at each stage of its compilation, as text: what `anywarp compile --emit` and `--passes` show.

Everything comes from the very functions that compile for real, with a target in between that keeps what it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from anywarp.compiler.amdgpu.target import AmdTarget
from anywarp.compiler.artifact import Artifact
from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.compiler.shapes import Analysis, Shape
from anywarp.compiler.simd.machine_code import assembly
from anywarp.compiler.simd.target import SimdTarget
from anywarp.compiler.text import print_kernel
from anywarp.ptx.index import ModuleIndex
from anywarp.ptx.printer import print_module
from anywarp.ptx.tree import Module


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled kernel with what the target was given for it, and the target."""

    kernel: Kernel
    analysis: Analysis
    specialisation: Specialisation
    artifact: Artifact
    target: SimdTarget | AmdTarget

    @property
    def simd(self) -> SimdTarget:
        """The target, of a kernel that was compiled for a processor."""
        assert isinstance(self.target, SimdTarget)
        return self.target

    def llvm(self) -> str:
        """Return the LLVM IR, before LLVM changes it."""
        if isinstance(self.target, AmdTarget):
            return self.target.emitted(self.kernel, self.analysis, self.specialisation)[0].text
        return self.target.emit_text(self.kernel, self.analysis, self.specialisation)[0]

    def assembly(self) -> str:
        """Return the machine code as assembly text with LLVM's remarks."""
        t = self.target
        if isinstance(t, AmdTarget):
            return t.assembly(self.kernel, self.analysis, self.specialisation)
        return assembly(self.llvm(), t.triple, t.cpu, t.features, self.kernel.name, self.specialisation.quick)

    def ir(self) -> str:
        """Return the kernel IR as the target got it, with the shape of each value."""
        return print_kernel(self.kernel, {v: shape_words(s) for v, s in self.analysis.shapes.items()})


@dataclass(frozen=True, slots=True)
class _Recorder(SimdTarget):
    """A target that keeps what it is given for each artifact."""

    given: list[tuple[Kernel, Analysis, Specialisation]] = field(
        default_factory=list[tuple[Kernel, Analysis, Specialisation]]
    )

    def emit(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation) -> Artifact:
        self.given.append((kernel, analysis, specialisation))
        return SimdTarget.emit(self, kernel, analysis, specialisation)


@dataclass(frozen=True, slots=True)
class _AmdRecorder(AmdTarget):
    """The same for AMD GPUs."""

    given: list[tuple[Kernel, Analysis, Specialisation]] = field(
        default_factory=list[tuple[Kernel, Analysis, Specialisation]]
    )

    def emit(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation) -> Artifact:
        self.given.append((kernel, analysis, specialisation))
        return AmdTarget.emit(self, kernel, analysis, specialisation)


def compile_seen(
    index: ModuleIndex, name: str, specialisation: Specialisation, target: SimdTarget | AmdTarget
) -> Compiled:
    """Compile a kernel and keep what it went through. Raises AnywarpError naming what cannot be compiled."""
    recorder = (
        _AmdRecorder(target.arch, target.features, target.identity)
        if isinstance(target, AmdTarget)
        else _Recorder(target.triple, target.cpu, target.features, target.machine)
    )
    artifact = compile_kernel(index, name, specialisation, recorder)
    # Of several gangs that were tried, the one that was kept.
    kept = [given for given in recorder.given if given[2].lanes == artifact.lanes]
    kernel, analysis, used = (kept or recorder.given)[-1]
    return Compiled(kernel, analysis, used, artifact, target)


def tree_text(index: ModuleIndex, name: str) -> str:
    """Return the kernel as the parser understood it, printed as PTX again."""
    module = Module(index.version, index.target, index.address_size, (index.function(name),))
    return print_module(module)


def watch_passes(
    index: ModuleIndex,
    name: str,
    specialisation: Specialisation,
    target: SimdTarget | AmdTarget,
    show: Callable[[str, str], None],
) -> Kernel:
    """Run the passes, the target's own last, over a kernel one by one; after each, verify it and give its name and the kernel as text to `show`."""
    return prepare_kernel(
        IndexedModule(index),
        name,
        specialisation,
        target=target,
        checked=True,
        watch=lambda stage, k: show(stage, print_kernel(k)),
    )


def shape_words(shape: Shape) -> str:
    """Say in a few words how a value differs from lane to lane."""
    if shape.offsets is None:
        return "varying"
    known = f", {shape.residue} mod {shape.modulus}" if shape.modulus > 1 else ""
    if shape.uniform:
        return f"uniform{known}"
    if shape.stride is not None:
        return f"step {shape.stride}{known}"
    return f"affine in {len(shape.symbols)} symbols{known}" if shape.symbols else f"known offsets{known}"
