"""The network: a model that the parser has read. Layers are not added by hand; that is told, and None returned, as on other errors."""

# pyright: basic
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anywarp.frameworks.tensorrt import model as models
from anywarp.frameworks.tensorrt.dims import Dims
from anywarp.frameworks.tensorrt.enums import DataType, TensorFormat, TensorLocation
from anywarp.frameworks.tensorrt.logger import ILogger, Told


class ITensor:
    """An input or output of the network."""

    __slots__ = ("_network", "_port", "allowed_formats", "location")

    def __init__(self, network: INetworkDefinition, port: models.Port):
        self._network, self._port = network, port
        self.allowed_formats, self.location = 1 << int(TensorFormat.LINEAR), TensorLocation.DEVICE

    name = property(lambda self: self._port.name)
    is_network_input = property(lambda self: self._port.is_input)
    is_network_output = property(lambda self: not self._port.is_input)

    @property
    def shape(self) -> Dims:
        """The declared shape; of an input it can be changed."""
        return Dims(self._port.shape)

    @shape.setter
    def shape(self, shape: Any) -> None:
        sizes = tuple(int(size) for size in shape)
        if not self._port.is_input or len(sizes) != len(self._port.shape):
            self._network.error("ITensor.shape", f"{self.name} cannot have the shape {Dims(sizes)}")
            return
        models.set_shape(self._network.model, self.name, sizes)
        self._network.changed()
        self._port = self._network.port(self.name)

    @property
    def dtype(self) -> DataType:
        """The type of the elements, which stays the model's."""
        return self._port.kind

    @dtype.setter
    def dtype(self, kind: DataType) -> None:
        if kind is not self._port.kind:
            text = f"{self.name} stays {self._port.kind}: another type is not served; change the ONNX model"
            self._network.refuse("ITensor.dtype", text)


class ILayer:
    """An operator of the model. A precision asked for is an allowance, and everything is computed in the model's own."""

    __slots__ = ("_node", "precision", "precision_is_set")

    def __init__(self, node: Any):
        self._node = node
        self.precision, self.precision_is_set = DataType.FLOAT, False

    name = property(lambda self: self._node.name)
    num_inputs = property(lambda self: len(self._node.input))
    num_outputs = property(lambda self: len(self._node.output))


class INetworkDefinition(Told):
    """What `Builder.create_network` returns: empty until a parser fills it."""

    __slots__ = ("_ports", "flags", "model", "name", "refused", "wide")

    def __init__(self, logger: ILogger, flags: int, wide: bool):
        super().__init__(logger)
        self.flags, self.wide, self.name = flags, wide, "Unnamed Network 0"
        self.model: Any = None
        self.refused: list[str] = []
        self._ports: list[models.Port] = []

    has_implicit_batch_dimension = False
    num_inputs = property(lambda self: sum(port.is_input for port in self._ports))
    num_outputs = property(lambda self: sum(not port.is_input for port in self._ports))
    num_layers = property(lambda self: len(self.model.graph.node) if self.model is not None else 0)

    def changed(self) -> None:
        """Read inputs and outputs of the model again; ModelError."""
        self._ports = models.ports(self.model, self.wide)

    def fill(self, model: Any) -> None:
        """Take what a parser has read; ModelError."""
        self._ports = models.ports(model, self.wide)
        self.model = model

    def port(self, name: str) -> models.Port:
        """Return the input or output of that name."""
        return next(port for port in self._ports if port.name == name)

    def refuse(self, function: str, text: str) -> None:
        """Tell of something that is not served, for which building will fail."""
        self.error(function, text)
        self.refused.append(f"{function}: {text}")

    def get_flag(self, flag: Any) -> bool:
        """Tell whether the network was created with a flag."""
        return bool(self.flags & 1 << int(flag))

    def get_input(self, index: int) -> ITensor | None:
        """Return an input, None if there is none of that number."""
        return self._tensor(index, True)

    def get_output(self, index: int) -> ITensor | None:
        """Return an output, None if there is none of that number."""
        return self._tensor(index, False)

    def _tensor(self, index: int, is_input: bool) -> ITensor | None:
        found = [port for port in self._ports if port.is_input is is_input]
        return ITensor(self, found[index]) if 0 <= index < len(found) else None

    def get_layer(self, index: int) -> ILayer | None:
        """Return an operator, None if there is none of that number."""
        return ILayer(self.model.graph.node[index]) if 0 <= index < self.num_layers else None

    def __len__(self) -> int:
        return self.num_layers

    def __getitem__(self, index: int) -> ILayer:
        if not 0 <= index < self.num_layers:
            raise IndexError(index)
        return ILayer(self.model.graph.node[index])

    def __bool__(self) -> bool:
        return True

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("add_") or name in ("mark_output", "unmark_output", "remove_tensor"):
            return lambda *_, **__: self.refuse(
                f"INetworkDefinition.{name}",
                "networks are not made or changed by hand here: read an ONNX model with OnnxParser",
            )
        raise AttributeError(f"'INetworkDefinition' object has no attribute {name!r}")
