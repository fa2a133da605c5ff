"""`torch.cuda.nvtx`: ranges and marks, given to our libnvToolsExt, which puts them into the trace of a run where there is one.

Programs use the depths and handles that come back, so these are counted here, too, for when nobody listens.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import functools
import itertools
import threading
import types
from typing import Any

from anywarp import settings

LIBRARY = "libnvToolsExt.so.1"


@functools.cache
def _tool() -> ctypes.CDLL:
    """Return the library, opened at the first range: most programs have none."""
    tool = ctypes.CDLL(str(settings.LIBRARY_DIR.get() / LIBRARY))
    tool.nvtxRangePushA.argtypes = tool.nvtxRangeStartA.argtypes = tool.nvtxMarkA.argtypes = [ctypes.c_char_p]
    tool.nvtxRangeStartA.restype = ctypes.c_uint64
    tool.nvtxRangeEnd.argtypes = [ctypes.c_uint64]
    return tool


def module() -> types.ModuleType:
    """Return `torch._C._nvtx`."""
    nvtx = types.ModuleType("torch._C._nvtx", "NVTX ranges and marks.")
    nested = threading.local()
    handles = itertools.count(1)
    started: dict[int, int] = {}

    def push(message: str) -> int:
        """Return the depth of the range begun, counted from 0, of this thread."""
        _tool().nvtxRangePushA(message.encode())
        nested.depth = getattr(nested, "depth", 0) + 1
        return nested.depth - 1

    def pop() -> int:
        """Return the depth of the range ended; -1 when none was open, as NVTX counts errors."""
        _tool().nvtxRangePop()
        depth = getattr(nested, "depth", 0)
        nested.depth = max(depth - 1, 0)
        return depth - 1

    def start(message: str) -> int:
        handle = next(handles)
        started[handle] = _tool().nvtxRangeStartA(message.encode())
        return handle

    def end(handle: int) -> None:
        _tool().nvtxRangeEnd(started.pop(handle, 0))

    def device_start(message: str, stream: int) -> Any:
        return start(message)

    def device_end(handle: Any, stream: int) -> None:
        end(handle)

    functions: dict[str, Any] = {
        "rangePushA": push,
        "rangePop": pop,
        "rangeStartA": start,
        "rangeEnd": end,
        "markA": lambda message: _tool().nvtxMarkA(message.encode()),
        "deviceRangeStart": device_start,
        "deviceRangeEnd": device_end,
    }
    for name, value in functions.items():
        setattr(nvtx, name, value)
    return nvtx
