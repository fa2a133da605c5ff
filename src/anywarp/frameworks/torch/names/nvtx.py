"""`torch.cuda.nvtx`: ranges and marks, kept as a profiler would keep them; there is none here that shows them.

Programs use the depths and handles that come back, so these are real.
"""

# pyright: basic
from __future__ import annotations

import itertools
import threading
import types
from typing import Any


def module() -> types.ModuleType:
    """Return `torch._C._nvtx`."""
    nvtx = types.ModuleType("torch._C._nvtx", "NVTX ranges and marks, without a tool that listens.")
    nested = threading.local()
    handles = itertools.count(1)
    started: set[int] = set()

    def push(message: str) -> int:
        """Return the depth of the range begun, counted from 0, of this thread."""
        nested.depth = getattr(nested, "depth", 0) + 1
        return nested.depth - 1

    def pop() -> int:
        """Return the depth of the range ended; -1 when none was open, as NVTX counts errors."""
        depth = getattr(nested, "depth", 0)
        nested.depth = max(depth - 1, 0)
        return depth - 1

    def start(message: str) -> int:
        handle = next(handles)
        started.add(handle)
        return handle

    def device_start(message: str, stream: int) -> Any:
        return start(message)

    def device_end(handle: Any, stream: int) -> None:
        started.discard(handle)

    functions: dict[str, Any] = {
        "rangePushA": push,
        "rangePop": pop,
        "rangeStartA": start,
        "rangeEnd": started.discard,
        "markA": lambda message: None,
        "deviceRangeStart": device_start,
        "deviceRangeEnd": device_end,
    }
    for name, value in functions.items():
        setattr(nvtx, name, value)
    return nvtx
