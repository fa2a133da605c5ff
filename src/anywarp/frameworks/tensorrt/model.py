"""An ONNX model as an engine needs it: inputs and outputs with types, what cannot be served, and shapes that follow from others."""

# pyright: basic
from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from anywarp.frameworks.tensorrt import needed
from anywarp.frameworks.tensorrt.enums import DOUBLE, DataType, of_onnx

LARGE = 64
"""Constants of more elements than this are weights, not shapes."""
DATA_DEPENDENT = {"NonZero", "NonMaxSuppression", "Unique", "Compress", "Loop", "If", "Scan", "Range", "SequenceAt"}
"""Operators after which the shape of a result may follow from values."""
QUANTIZES = {"QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"}
RUNTIMES_OWN = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""


class ModelError(ValueError):
    """Raised for a model that cannot be served; says where it is wrong."""

    def __init__(self, text: str, code: str = "INVALID_GRAPH", node: int = -1, name: str = "", operator: str = ""):
        super().__init__(text)
        self.code, self.node, self.name, self.operator = code, node, name, operator


@dataclass(frozen=True)
class Port:
    """An input or output: its shape with -1 where it varies, its type at TensorRT's interface and in ONNX."""

    name: str
    shape: tuple[int, ...]
    kind: DataType
    onnx_type: int
    is_input: bool

    @property
    def converts(self) -> bool:
        """Whether ONNX's type is another one than the interface's."""
        return self.onnx_type == DOUBLE or (self.kind is DataType.INT32 and self.onnx_type == 7)

    def size(self, shape: tuple[int, ...]) -> int:
        """Return the bytes of a tensor of this port."""
        return math.ceil(math.prod(shape) * self.kind.itemsize)


def read(data: bytes) -> Any:
    """Parse and check the bytes of a model, weights inside; ModelError."""
    onnx = needed.onnx()
    try:
        model = onnx.load_from_string(data)
    except Exception as error:
        raise ModelError(f"the model cannot be read: {error}", "MODEL_DESERIALIZE_FAILED") from error
    _check_weights_inside(model)
    return checked(model, data)


def read_file(path: str) -> Any:
    """Parse and check a model's file, with weights in files beside it; ModelError."""
    onnx = needed.onnx()
    try:
        model = onnx.load(path)
        data = model.SerializeToString()
    except Exception as error:
        raise ModelError(f"{path} cannot be read: {error}", "MODEL_DESERIALIZE_FAILED") from error
    return checked(model, data)


def _check_weights_inside(model: Any) -> None:
    for tensor in model.graph.initializer:
        if tensor.data_location == 1:
            raise ModelError(
                f"the weights {tensor.name} lie in another file: give the path of the model, or use parse_from_file",
                "MODEL_DESERIALIZE_FAILED",
            )


def checked(model: Any, data: bytes) -> Any:
    """Return the model, if ONNX's own checker and the list of operators have nothing against it; ModelError."""
    for number, node in enumerate(model.graph.node):
        if (text := unsupported(node, model)) is not None:
            raise ModelError(text, "UNSUPPORTED_NODE", number, node.name, node.op_type)
    try:
        needed.onnx("checker").check_model(data)
    except Exception as error:
        raise ModelError(f"the model is not valid ONNX: {str(error).strip()}") from error
    return model


def unsupported(node: Any, model: Any) -> str | None:
    """Say why an operator cannot be computed, None if it can be as far as its name tells."""
    functions = {(each.domain, each.name) for each in model.functions}
    if (node.domain, node.op_type) in functions or node.domain == RUNTIMES_OWN:
        return None
    if needed.onnx("defs").has(node.op_type, "" if node.domain == "ai.onnx" else node.domain):
        return None
    where = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    return f"there is no operator {where}: plugins of TensorRT are machine code for GPUs and are not served"


def ports(model: Any, wide: bool) -> list[Port]:
    """Return inputs, then outputs; ModelError for a type that TensorRT does not have."""
    constants = {each.name for each in model.graph.initializer}
    given = [each for each in model.graph.input if each.name not in constants]
    return [_port(each, True, wide) for each in given] + [_port(each, False, wide) for each in model.graph.output]


def _port(value: Any, is_input: bool, wide: bool) -> Port:
    tensor = value.type.tensor_type
    kind = of_onnx(tensor.elem_type, wide) if value.type.HasField("tensor_type") else None
    if kind is None:
        raise ModelError(f"{value.name} has a type that TensorRT does not have", "UNSUPPORTED_GRAPH")
    if is_input and not tensor.HasField("shape"):
        raise ModelError(f"the input {value.name} says not how many dimensions it has", "UNSUPPORTED_GRAPH")
    shape = tuple(dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim)
    return Port(value.name, shape, kind, tensor.elem_type, is_input)


def set_shape(model: Any, name: str, shape: tuple[int, ...]) -> None:
    """Change the declared shape of an input; -1 is a size of its own that varies."""
    value = next(each for each in model.graph.input if each.name == name)
    dims = value.type.tensor_type.shape
    del dims.dim[:]
    for number, size in enumerate(shape):
        dims.dim.add(**({"dim_param": f"{name}_{number}"} if size < 0 else {"dim_value": size}))


def depends_on_data(model: Any) -> bool:
    """Tell whether shapes may follow from values of the inputs."""
    return any(node.op_type in DATA_DEPENDENT for node in model.graph.node)


def quantizes(model: Any) -> bool:
    """Tell whether the model says itself how to quantize (Q/DQ)."""
    return any(node.op_type in QUANTIZES for node in model.graph.node)


class Shapes:
    """Infers the shapes of the outputs from those of the inputs, with ONNX's own inference over a model without its weights."""

    def __init__(self, model: Any):
        self._model = needed.onnx().ModelProto()
        self._model.CopyFrom(model)
        graph = self._model.graph
        del graph.value_info[:]
        kept = [each for each in graph.initializer if math.prod(each.dims) <= LARGE]
        named = {each.name for each in graph.input}
        for each in graph.initializer:
            if math.prod(each.dims) > LARGE and each.name not in named:
                graph.input.append(
                    needed.onnx("helper").make_tensor_value_info(each.name, each.data_type, list(each.dims))
                )
        del graph.initializer[:]
        graph.initializer.extend(kept)
        self._known: dict[Any, dict[str, tuple[int, ...] | None]] = {}

    def outputs(self, given: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...] | None]:
        """Return each output's shape, -1 where it is not known; None where not even the number of dimensions is."""
        key = tuple(sorted(given.items()))
        if key not in self._known:
            model = needed.onnx().ModelProto()
            model.CopyFrom(self._model)
            for name, shape in given.items():
                set_shape(model, name, shape)
            with suppress(Exception):  # inconsistent shapes: whoever computes says it better
                model = needed.onnx("shape_inference").infer_shapes(model, data_prop=True)
            self._known[key] = {each.name: _shape(each.type.tensor_type) for each in model.graph.output}
        return self._known[key]


def _shape(tensor: Any) -> tuple[int, ...] | None:
    if not tensor.HasField("shape"):
        return None
    return tuple(dim.dim_value if dim.HasField("dim_value") else -1 for dim in tensor.shape.dim)
