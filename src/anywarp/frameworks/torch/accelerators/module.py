"""What is asked of an accelerator in Python: `torch.NAME`, as PyTorch has vendors register it (torch._register_device_module)."""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

IN_TREE = ("xpu", "mps")
"""Accelerators with a device type of their own in torch; all others share PrivateUse1, each under the name that its package gives it."""

OPTIONAL = {
    "memory_stats": "memory statistics, as a flat dictionary with torch.cuda's keys",
    "reset_peak_memory_stats": "peaks anew",
    "reset_accumulated_memory_stats": "sums anew",
    "mem_get_info": "free and total bytes",
    "empty_cache": "memory that the allocator keeps goes back",
    "set_per_process_memory_fraction": "a limit of memory",
    "can_device_access_peer": "whether two devices reach each other's memory",
    "graph_pool_handle": "pools of graphs; the graphs themselves are the class `XPUGraph`, with the name in capitals",
    "_is_in_bad_fork": "whether the process was forked after the first use",
}
"""What `torch.cuda` has besides, by the function that answers it; where a module has none, the program is told so by name."""


@runtime_checkable
class DeviceModule(Protocol):
    """What `torch.NAME` must answer."""

    def is_available(self) -> bool:
        """Return whether there is a device that can be used."""
        ...

    def device_count(self) -> int:
        """Return how many there are."""
        ...

    def get_device_properties(self, device: int) -> Any:
        """Return an object with `name` and `total_memory` in bytes; what else it has is passed on."""
        ...


class Accelerator:
    """An accelerator by the name that torch has for it; its module is looked up when it is first asked, since vendors register late."""

    def __init__(self, name: str):
        self.name = name

    @property
    def type(self) -> str:
        """Return the name of its device type in C++."""
        return self.name if self.name in IN_TREE else "privateuseone"

    @property
    def module(self) -> Any:
        """Return `torch.NAME`."""
        import torch

        return getattr(torch, self.name)

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function of the module; NotImplementedError that names it where there is none."""
        found = getattr(self.module, name, None)
        if found is None:
            raise self.missing(f"torch.{self.name}.{name}")
        return found

    def has(self, name: str) -> bool:
        """Tell whether the module has a name."""
        return hasattr(self.module, name)

    def missing(self, what: str) -> NotImplementedError:
        """Return the error for what the accelerator lacks."""
        return NotImplementedError(f"anywarp maps cuda to {self.name} here, and torch has no {what}")

    def properties(self, device: int) -> dict[str, Any]:
        """Return the properties of a device by the names that torch.cuda has, where the accelerator has a name and memory for it."""
        if self.name == "mps":
            return {"name": "Apple GPU (mps)", "total_memory": int(self.function("recommended_max_memory")())}
        theirs = self.function("get_device_properties")(device)
        found = {name: getattr(theirs, name) for name in dir(theirs) if not name.startswith("_")}
        found = {name: value for name, value in found.items() if not callable(value)}
        if "gpu_eu_count" in found:  # Intel's word (torch.xpu.get_device_properties)
            found.setdefault("multi_processor_count", found["gpu_eu_count"])
        return found
