"""One execution: tensors at addresses of the program, computed by ONNX Runtime. Calls no CUDA, so it may run inside of a stream."""

# pyright: basic
from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

from anywarp.frameworks.tensorrt.enums import DOUBLE
from anywarp.frameworks.tensorrt.model import Port


@dataclass(frozen=True)
class Tensor:
    """An input or output where the program has put it; `shape` is None for an output whose shape only the values tell."""

    port: Port
    shape: tuple[int, ...] | None
    address: int


def compute(session: Any, tensors: list[Tensor]) -> dict[str, Any]:
    """Compute all outputs and write those whose shape is known; return the others as arrays, in the interface's types.

    RuntimeError with ONNX Runtime's words when it fails.
    """
    bound = session.io_binding()
    for tensor in tensors:
        _bind(bound, tensor)
    try:
        session.run_with_iobinding(bound)
    except Exception as error:
        raise RuntimeError(f"ONNX Runtime: {error}") from error
    rest: dict[str, Any] = {}
    for tensor, value in zip([each for each in tensors if not each.port.is_input], bound.get_outputs()):
        if tensor.shape is None:
            rest[tensor.port.name] = _as_interface(tensor.port, value)
        elif tensor.port.converts:
            _view(tensor)[...] = value.numpy()
    return rest


def _bind(bound: Any, tensor: Tensor) -> None:
    port, shape = tensor.port, tensor.shape
    if port.is_input and port.converts:
        bound.bind_cpu_input(port.name, _view(tensor).astype("float64" if port.onnx_type == DOUBLE else "int64"))
    elif port.is_input:
        bound.bind_input(port.name, "cpu", 0, port.onnx_type, list(shape or ()), _somewhere(tensor))
    elif shape is None or port.converts:
        bound.bind_output(port.name, "cpu")
    else:
        bound.bind_output(port.name, "cpu", 0, port.onnx_type, list(shape), _somewhere(tensor))


_nothing = ctypes.create_string_buffer(64)


def _somewhere(tensor: Tensor) -> int:
    """Return the address; an empty tensor needs none, but ONNX Runtime wants one."""
    return tensor.address or ctypes.addressof(_nothing)


def _view(tensor: Tensor) -> Any:
    """Return the memory of a tensor as an array, in the interface's type."""
    import numpy as np

    from anywarp.frameworks.tensorrt.enums import nptype

    kind, shape = np.dtype(nptype(tensor.port.kind)), tensor.shape or ()
    size = math.prod(shape) * kind.itemsize
    memory: Any = (ctypes.c_char * size).from_address(_somewhere(tensor))
    return np.frombuffer(memory, kind, math.prod(shape)).reshape(shape)


def _as_interface(port: Port, value: Any) -> Any:
    import numpy as np

    from anywarp.frameworks.tensorrt.enums import nptype

    return np.ascontiguousarray(value.numpy(), nptype(port.kind))


def shapes_with_zeros(session: Any, ports: list[Port], given: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Return the outputs' shapes by computing once with zeros, for a model whose shapes do not follow from values."""
    import numpy as np

    kinds = {10: "float16", 11: "float64", 1: "float32", 3: "int8", 6: "int32", 9: "bool", 2: "uint8", 7: "int64"}
    zeros = {port.name: np.zeros(given[port.name], kinds[port.onnx_type]) for port in ports if port.is_input}
    names = [port.name for port in ports if not port.is_input]
    return {name: tuple(value.shape) for name, value in zip(names, session.run(names, zeros))}
