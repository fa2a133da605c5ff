"""Names of torch._C about several devices and several processes.

Those of torch.distributed live in a module that `torch._C._c10d_init` makes when torch.distributed is imported, so they follow it.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

from anywarp.frameworks.torch import distributed, distributed_local


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    torch_c = sys.modules["torch._C"]
    found = distributed_local.names()
    real = getattr(torch_c, "_c10d_init", None)
    if real is None:  # a torch without torch.distributed
        return found

    @functools.wraps(real)
    def with_nccl() -> bool:
        made = real()
        if made:
            distributed.complete(sys.modules["torch._C._distributed_c10d"])
        return made

    if "torch._C._distributed_c10d" in sys.modules:
        distributed.complete(sys.modules["torch._C._distributed_c10d"])
    return {**found, "_c10d_init": with_nccl}
