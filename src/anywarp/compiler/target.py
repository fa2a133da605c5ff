"""What a device must supply to have kernels compiled for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from anywarp.compiler.artifact import Artifact
from anywarp.compiler.gangs import Gang
from anywarp.compiler.ir import Kernel, Specialisation
from anywarp.compiler.shapes import Analysis


class Target(Protocol):
    """A device's half of the compiler: from the kernel IR and what is known of it to object code."""

    @property
    def name(self) -> str:
        """Identity of what the code runs on: the processor and its features, as far as they change the code."""
        ...

    @property
    def waits_at_one_place(self) -> bool:
        """Whether lanes that wait for each other at different `.sync` instructions must find one."""
        ...

    def suit(self, kernel: Kernel, specialisation: Specialisation) -> None:
        """Change a kernel that has gone through the passes into what suits the device better."""
        ...

    def choose_gang(self, kernel: Kernel, specialisation: Specialisation) -> Gang:
        """Decide how many lanes are emitted together: at most `specialisation.lanes`, or what is best where that is 0."""
        ...

    def locate(
        self,
        kernel: Kernel,
        analysis: Analysis,
        specialisation: Specialisation,
        code: bytes,
        offset: int,
        line_of: Callable[[int], int],
    ) -> int:
        """Return the line of PTX of the instruction at `offset` from the entry of an object that `emit` made; 0: not known."""
        ...

    def emit(self, kernel: Kernel, analysis: Analysis, specialisation: Specialisation) -> Artifact:
        """Compile `kernel`. Raises AnywarpError naming what cannot be compiled."""
        ...
