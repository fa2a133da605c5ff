"""The arguments of calls that a trace keeps, by the function's name: how they lie in memory and what they are called.

They are written as C would lay out a structure with these members; a function that is not here shows no arguments.
"""

from __future__ import annotations

import struct

_LAUNCH = "function:P grid_x:I grid_y:I grid_z:I block_x:I block_y:I block_z:I shared_bytes:I stream:P"
_RUNTIME_LAUNCH = (
    "function:P grid_x:I grid_y:I grid_z:I block_x:I block_y:I block_z:I parameters:P shared_bytes:Q stream:P"
)
_COPY, _ASYNC = "to:P from:P bytes:Q", "to:P from:P bytes:Q stream:P"

_TEXT: dict[str, str] = {
    "cuLaunchKernel": _LAUNCH,
    "cuLaunchCooperativeKernel": _LAUNCH,
    "cuLaunchHostFunc": "stream:P function:P",
    "cuGraphLaunch": "graph:P stream:P",
    "cuMemAlloc_v2": "out:P bytes:Q",
    "cuMemAllocManaged": "out:P bytes:Q",
    "cuMemAllocHost_v2": "out:P bytes:Q",
    "cuMemHostAlloc": "out:P bytes:Q flags:I",
    "cuMemAllocAsync": "out:P bytes:Q stream:P",
    "cuMemAllocFromPoolAsync": "out:P bytes:Q pool:P stream:P",
    "cuMemFree_v2": "address:P",
    "cuMemFreeHost": "address:P",
    "cuMemFreeAsync": "address:P stream:P",
    "cuMemsetD8_v2": "to:P value:B count:Q",
    "cuMemsetD16_v2": "to:P value:H count:Q",
    "cuMemsetD32_v2": "to:P value:I count:Q",
    "cuMemsetD8Async": "to:P value:B count:Q stream:P",
    "cuMemsetD16Async": "to:P value:H count:Q stream:P",
    "cuMemsetD32Async": "to:P value:I count:Q stream:P",
    "cuStreamSynchronize": "stream:P",
    "cuStreamDestroy_v2": "stream:P",
    "cuStreamWaitEvent": "stream:P event:P flags:I",
    "cuEventRecord": "event:P stream:P",
    "cuEventRecordWithFlags": "event:P stream:P flags:I",
    "cuEventSynchronize": "event:P",
    **dict.fromkeys(("cuMemcpy", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyDtoD_v2"), _COPY),
    **dict.fromkeys(("cuMemcpyAsync", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2"), _ASYNC),
    "cudaLaunchKernel": _RUNTIME_LAUNCH,
    "cudaLaunchCooperativeKernel": _RUNTIME_LAUNCH,
    "cudaMalloc": "out:P bytes:Q",
    "cudaMallocManaged": "out:P bytes:Q flags:I",
    "cudaMallocHost": "out:P bytes:Q",
    "cudaHostAlloc": "out:P bytes:Q flags:I",
    "cudaMallocAsync": "out:P bytes:Q stream:P",
    "cudaFree": "address:P",
    "cudaFreeHost": "address:P",
    "cudaFreeAsync": "address:P stream:P",
    "cudaMemcpy": "to:P from:P bytes:Q kind:I",
    "cudaMemcpyAsync": "to:P from:P bytes:Q kind:I stream:P",
    "cudaMemset": "to:P value:I count:Q",
    "cudaMemsetAsync": "to:P value:I count:Q stream:P",
    "cudaStreamSynchronize": "stream:P",
    "cudaEventRecord": "event:P stream:P",
    "cudaEventSynchronize": "event:P",
    "cudaStreamWaitEvent": "stream:P event:P flags:I",
    "cudaGraphLaunch": "graph:P stream:P",
}


def _layout(text: str) -> tuple[struct.Struct, tuple[tuple[str, bool], ...]]:
    fields = [part.split(":") for part in text.split()]
    return struct.Struct("@" + "".join(code for _, code in fields)), tuple((n, c == "P") for n, c in fields)


_LAYOUTS = {name: _layout(text) for name, text in _TEXT.items()}


def arguments(function: str, params: bytes) -> dict[str, int | str]:
    """Return the arguments of a call by name, pointers and handles as hexadecimal text; empty where they are not known."""
    layout = _LAYOUTS.get(function.removesuffix("_ptsz").removesuffix("_ptds"))
    if layout is None or len(params) < layout[0].size:
        return {}
    values = layout[0].unpack_from(params)
    return {name: hex(value) if pointer else value for (name, pointer), value in zip(layout[1], values, strict=True)}


def sizes(function: str) -> str:
    """Return the bytes of each argument that a trace keeps of a call, as digits: `8444` for a pointer and three numbers of 32 bits."""
    stem = function.removesuffix("_ptsz").removesuffix("_ptds")
    bytes_of = {"P": "8", "Q": "8", "I": "4", "H": "2", "B": "1"}
    return "".join(bytes_of[part.rpartition(":")[2]] for part in _TEXT.get(stem, "").split())
