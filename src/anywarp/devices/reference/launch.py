"""A launch, and what functions that CUDA provides to kernels see of the machine that runs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn, Protocol

from anywarp.devices.reference import windows
from anywarp.devices.reference.memory import Memory
from anywarp.devices.reference.objects import Objects
from anywarp.devices.reference.surface import Surface
from anywarp.devices.reference.texture import Texture

Triple = tuple[int, int, int]


@dataclass(slots=True)
class Launch:
    """One launch: shapes, parameter bytes, sizes of shared memory, and what the kernel has printed."""

    grid: Triple
    block: Triple
    params: bytes
    static_shared: int
    dynamic_shared: int
    printed: list[str] = field(default_factory=list[str])
    clock: int = 0
    heap_end: int = windows.HEAP
    objects: Objects = field(default_factory=dict[int | str, Texture | Surface])


class Host(Protocol):
    """The machine as a function of CUDA's sees it: memory, the launch, the device heap, and how to fail."""

    memory: Memory
    launch: Launch

    def allocate(self, size: int) -> int:
        """Allocate `size` bytes of the device heap; returns the generic address."""
        ...

    def fail(self, code: str, message: str, lane: int | None = None) -> NoReturn:
        """Raise an error that names the instruction, the block and the thread."""
        ...
