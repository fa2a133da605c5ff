"""A compiled function within a CUDA graph that the program captures: one node, in which the driver calls Python.

Its results have to exist when the graph is captured, and only the code itself knows their shapes: it runs once, over copies of what it writes
to, and what it computes then is thrown away. A replay runs it over the captured addresses and copies the results to where they were promised.
"""

# pyright: basic
from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from anywarp import settings

_ASSERT = 710
"""CUDA_ERROR_ASSERT: what becomes of an error of the code, as of an operator's."""


def capturing() -> bool:
    """Tell whether the current stream is under capture."""
    return torch.cuda.is_current_stream_capturing()


@dataclass
class Node:
    """One call in a graph: CPU tensors that own none of the memory, and where its results go."""

    compiled: Callable[[list[Any]], Sequence[Any]]
    device: int
    inputs: list[Any]
    places: tuple[int, ...]
    results: list[torch.Tensor | None]

    def run(self) -> None:
        """Compute the results anew, on a thread of the driver."""
        with torch.inference_mode():  # tensors that were made in that mode may be written to in it alone
            results, _ = _over_aliases(self.compiled, self.device, self.inputs, self.places)
            for result, promised in zip(results, self.results, strict=True):
                if promised is not None:
                    promised.copy_(result)


def record(
    compiled: Callable[[list[Any]], Sequence[Any]],
    device: int,
    inputs: list[Any],
    places: tuple[int, ...],
    outputs: tuple[int | None, ...],
    written: Sequence[int],
) -> list[Any]:
    """Make a call part of the graph under capture and return its results, which have no values yet.

    `places` are the inputs that are tensors, `written` those that the code writes to, `outputs` the device of each result, -1 for the CPU.
    NotImplementedError for results on the CPU.
    """
    if any(each is not None and each < 0 for each in outputs):
        raise NotImplementedError("a compiled function with results on the CPU cannot become part of a CUDA graph")
    tried = [
        _harmless(each, i in written) if isinstance(each, torch.Tensor) and each.is_cuda else each
        for i, each in enumerate(inputs)
    ]
    results, aliases = _over_aliases(compiled, device, tried, places)
    given: list[Any] = []
    promised: list[torch.Tensor | None] = []
    for result, place in zip(results, outputs, strict=True):
        if place is None or not isinstance(result, torch.Tensor):
            given.append(result)
            promised.append(None)
            continue
        shares = [i for i, alias in aliases.items() if _same_memory(result, alias)]
        if shares:
            given.append(inputs[shares[0]].as_strided(result.size(), result.stride(), result.storage_offset()))
            promised.append(None)
            continue
        fresh = torch.empty_strided(result.size(), result.stride(), dtype=result.dtype, device=f"cuda:{place}")
        given.append(fresh)
        promised.append(_unowned(fresh))
    kept = [_unowned(each) if isinstance(each, torch.Tensor) and each.is_cuda else each for each in inputs]
    _add(Node(compiled, device, kept, places, promised), device)
    return given


def _over_aliases(
    compiled: Callable[[list[Any]], Sequence[Any]], device: int, inputs: list[Any], places: tuple[int, ...]
) -> tuple[Sequence[Any], dict[int, torch.Tensor]]:
    """Call the code as work of a stream; returns its results, tensors of the CPU, and the aliases of the inputs."""
    own = torch.ops.anywarp
    before = own.in_stream(device)
    try:
        given = list(inputs)
        found = own.enter([inputs[i] for i in places], device, True)
        for i, alias in zip(places, found, strict=True):
            given[i] = alias
        try:
            with torch.no_grad():
                return compiled(given), dict(zip(places, found, strict=True))
        finally:
            own.abandon()
    finally:
        own.passed(*before)


def _harmless(tensor: torch.Tensor, written: bool) -> torch.Tensor:
    """Return what stands for an argument in the call that shows the shapes: numbers that are indices of nothing are 0."""
    if not written and (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        return tensor
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype).zero_()


def _same_memory(result: torch.Tensor, alias: torch.Tensor) -> bool:
    return result.numel() > 0 and result.untyped_storage().data_ptr() == alias.untyped_storage().data_ptr()


def _unowned(tensor: torch.Tensor) -> torch.Tensor:
    """Return a CPU tensor over the same memory that does not keep it: a graph's memory is the graph's to give out again."""
    storage = tensor.untyped_storage()
    if storage.nbytes() == 0:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    memory = (ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr())
    bytes_of = torch.frombuffer(memory, dtype=torch.uint8).untyped_storage()
    return torch.empty(0, dtype=tensor.dtype).set_(bytes_of, tensor.storage_offset(), tensor.size(), tensor.stride())


_nodes: dict[int, Node] = {}
_numbers = itertools.count(1)


def _run(number: int | None) -> None:
    node = _nodes[number or 0]
    try:
        node.run()
    except BaseException as error:
        _driver().anywarp_fail(_ASSERT, f"a function compiled by torch.compile: {error}".encode())


def _forget(number: int | None) -> None:
    _nodes.pop(number or 0, None)


_HOST = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_RUN, _FORGET = _HOST(_run), _HOST(_forget)


def _driver() -> ctypes.CDLL:
    return ctypes.CDLL(str(settings.LIBRARY_DIR.get() / "libcuda.so.1"))


def _add(node: Node, device: int) -> None:
    """Give the graph of the current stream a node that runs `node`, and the keeping of it."""
    driver, stream = _driver(), ctypes.c_void_p(torch.cuda.current_stream(device).cuda_stream)
    status, graph, keeper = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    number = next(_numbers)
    _check(driver.cuStreamGetCaptureInfo_v2(stream, ctypes.byref(status), None, ctypes.byref(graph), None, None))
    _nodes[number] = node
    _check(driver.cuUserObjectCreate(ctypes.byref(keeper), ctypes.c_void_p(number), _FORGET, 1, 1))
    _check(driver.cuGraphRetainUserObject(graph, keeper, 1, 1))
    _check(driver.cuLaunchHostFunc(stream, _RUN, ctypes.c_void_p(number)))


def _check(code: int) -> None:
    if code:
        raise RuntimeError(f"CUDA error {code} while a compiled function was made part of a graph")
