"""What vLLM measures of memory: on the processor it is the machine's, of which other programs take and give back while vLLM measures."""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp.frameworks.torch import patches

_first: dict[str, tuple[int, int]] = {}
"""By device: the free memory at the first measurement, and what torch had of it."""


def count_ours(module: Any) -> None:
    """Let what is free fall and rise by what this process takes alone, from what it was at first."""
    snapshot = module.MemorySnapshot
    before = snapshot.measure

    def measure(self: Any) -> None:
        """Measure as vLLM does; then take out what others have done since the first time."""
        before(self)
        free, had = _first.setdefault(str(self.device_), (self.free_memory, self.torch_memory))
        self.free_memory = min(max(free - (self.torch_memory - had), 0), self.total_memory)
        self.cuda_memory = self.total_memory - self.free_memory
        self.non_torch_memory = self.cuda_memory - self.torch_memory

    patches.set_attribute(
        snapshot, "measure", measure, "memory is the machine's: other programs change it while vLLM measures"
    )
