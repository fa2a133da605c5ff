"""The toy as a vendor's package registers it with torch; TOY_LIBRARY is the compiled toy.cpp, TOY_NAME the name of its device.

Named `xpu` or `mps` it simulates a torch built for that: the functions of torch.xpu are answered here.
"""

import ctypes
import os
import types

NAME = os.environ.get("TOY_NAME", "toy")


class Properties:
    """What the toy says of itself."""

    name = "A toy of tin"
    total_memory = 8 << 30
    toys = 3


class Graph:
    """A graph that notes what it is asked for; what is captured runs at once."""

    calls = []  # noqa: RUF012

    def capture_begin(self, pool=None):
        self.calls.append(("capture_begin", pool))

    def capture_end(self):
        self.calls.append("capture_end")

    def replay(self):
        self.calls.append("replay")


def register():
    import torch

    library = ctypes.CDLL(os.environ["TOY_LIBRARY"], mode=ctypes.RTLD_GLOBAL)
    library.toy_operators.restype = library.toy_bytes.restype = library.toy_most.restype = ctypes.c_int64
    library.toy_is_mine.restype, library.toy_is_mine.argtypes = ctypes.c_bool, (ctypes.c_void_p,)
    if NAME not in ("xpu", "mps"):
        torch.utils.rename_privateuse1_backend(NAME)
        library.toy_register()
        module = types.ModuleType(f"torch.{NAME}")
        torch._register_device_module(NAME, module)
    module = getattr(torch, NAME)
    current = torch._C._accelerator_getDeviceIndex

    def count():
        return 0 if "TOY_ABSENT" in os.environ else 2

    def index_of(device):
        index = device if isinstance(device, int) else torch.device(device).index
        return -1 if index is None else index

    def memory_stats(device=None):
        device = 0 if device is None else device
        return {
            "allocated_bytes.all.current": library.toy_bytes(device),
            "allocated_bytes.all.peak": library.toy_most(device),
        }

    names = {
        "library": library,
        "is_available": lambda: count() > 0,
        "device_count": count,
        "get_device_properties": lambda device=0: Properties(),
        "memory_stats": memory_stats,
        "reset_peak_memory_stats": library.toy_forget_most,
        "mem_get_info": lambda device=0: ((8 << 30) - library.toy_bytes(device), 8 << 30),
        "TOYGraph": Graph,
        "graph_pool_handle": lambda: (0, 7),
        "empty_cache": lambda: None,
        "_is_in_bad_fork": lambda: False,
        "manual_seed_all": lambda seed: library.toy_seed(ctypes.c_uint64(seed)),
        "get_rng_state": lambda device=-1: torch.ops.toy.rng_state(index_of(device)),
        "set_rng_state": lambda state, device=-1: torch.ops.toy.set_rng_state(state, index_of(device)),
        "current_device": lambda: current(),
        "init": lambda: None,
        "is_initialized": lambda: True,
    }
    vars(module).update(names)
    if "TOY_COLLECTIVES" in os.environ:
        torch.distributed.Backend.register_backend("tccl", collectives, devices=[NAME])


def collectives(store, rank, size, timeout):
    """Return the toy's backend for torch.distributed, as a vendor's function does that makes one."""
    import torch
    from torch._C import _distributed_c10d as c10d

    group, kind = c10d.ProcessGroup(rank, size), c10d.ProcessGroup.BackendType.GLOO
    gloo = c10d.ProcessGroupGloo(c10d.PrefixStore("toy/", store), rank, size, timeout=timeout)
    group._register_backend(torch.device("cpu"), kind, gloo)
    torch.ops.toy.add_collectives(group.boxed())
    return group._get_backend(torch.device(NAME))
