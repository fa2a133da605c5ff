"""Names of torch._C about graphs.

A graph is the driver's own; what torch adds (memory pools, generators, the order of calls) is in native/torch/graph.cpp.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import os
import warnings
from typing import Any

from anywarp.frameworks.torch import calls

_MODES = {"global": 0, "thread_local": 1, "relaxed": 2}
"""CUstreamCaptureMode."""

_EMPTY = (
    "The CUDA Graph is empty. This usually means that the graph was attempted to be captured on wrong device or stream."
)


_CONDITIONAL = "torch.cuda.CUDAGraph.{} is not served by anywarp: capture both branches as graphs of their own"


def names(library: ctypes.CDLL) -> dict[str, Any]:
    """Return the names and what they are bound to."""
    return {"_CUDAGraph": _graph_class(library)}


def _graph_class(library: ctypes.CDLL) -> type:
    pointer, u64 = ctypes.c_void_p, ctypes.c_uint64
    new = calls.returning(library, "awt_graph_new", pointer, ctypes.c_int)
    delete = library.awt_graph_delete
    delete.argtypes, delete.restype = (pointer,), None
    begin = calls.checked(library, "awt_graph_capture_begin", pointer, u64, u64, ctypes.c_int)
    end = calls.returning(library, "awt_graph_capture_end", ctypes.c_int, pointer)
    instantiate = calls.checked(library, "awt_graph_instantiate", pointer)
    replay = calls.checked(library, "awt_graph_replay", pointer)
    reset = calls.checked(library, "awt_graph_reset", pointer)
    pool_of = calls.checked(library, "awt_graph_pool", pointer, ctypes.POINTER(u64))
    enable_debug = library.awt_graph_enable_debug
    enable_debug.argtypes, enable_debug.restype = (pointer,), None
    dump = calls.checked(library, "awt_graph_dump", pointer, ctypes.c_char_p)
    raw = calls.returning(library, "awt_graph_raw", u64, pointer)
    raw_exec = calls.returning(library, "awt_graph_raw_exec", u64, pointer)

    class _CUDAGraph:
        _graph: int
        _owner: calls.Owner

        def __new__(cls, keep_graph: bool = False):
            made = super().__new__(cls)
            made._graph = new(bool(keep_graph))
            made._owner = calls.Owner(delete, made._graph)
            return made

        def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
            if capture_error_mode not in _MODES:
                raise RuntimeError(
                    "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got "
                    f"{capture_error_mode}"
                )
            first, second = (0, 0) if pool is None else pool
            begin(self._graph, first, second, _MODES[capture_error_mode])

        def capture_end(self) -> None:
            if not end(self._graph):
                warnings.warn(_EMPTY, stacklevel=3)

        def instantiate(self) -> None:
            instantiate(self._graph)

        def register_generator_state(self, generator: Any) -> None:
            import torch

            with torch._C._DisableTorchDispatch():
                torch.ops.anywarp.graph_generator(self._graph, generator)

        def replay(self) -> None:
            replay(self._graph)

        def reset(self) -> None:
            reset(self._graph)

        def pool(self) -> tuple[int, int]:
            found = (u64 * 2)()
            pool_of(self._graph, found)
            return found[0], found[1]

        def enable_debug_mode(self) -> None:
            enable_debug(self._graph)

        def debug_dump(self, debug_path: str) -> None:
            dump(self._graph, os.fsencode(debug_path))

        def raw_cuda_graph(self) -> int:
            return raw(self._graph)

        def raw_cuda_graph_exec(self) -> int:
            return raw_exec(self._graph)

        def begin_capture_to_if_node(self, *_: Any) -> None:
            raise NotImplementedError(_CONDITIONAL.format("begin_capture_to_if_node"))

        def end_capture_to_conditional_node(self) -> None:
            raise NotImplementedError(_CONDITIONAL.format("end_capture_to_conditional_node"))

        @staticmethod
        def get_currently_capturing_graph() -> Any:
            raise NotImplementedError(_CONDITIONAL.format("get_currently_capturing_graph"))

    return _CUDAGraph
