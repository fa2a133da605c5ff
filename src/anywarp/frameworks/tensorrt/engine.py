"""Runtime and engine: a model that ONNX Runtime has read, with its inputs, outputs and profiles."""

# pyright: basic
from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from anywarp.frameworks.tensorrt import model as models
from anywarp.frameworks.tensorrt import needed
from anywarp.frameworks.tensorrt import plan as plans
from anywarp.frameworks.tensorrt.bindings import EngineBindings
from anywarp.frameworks.tensorrt.context import IExecutionContext
from anywarp.frameworks.tensorrt.dims import Dims, Unknown
from anywarp.frameworks.tensorrt.enums import (
    DataType,
    EngineCapability,
    ExecutionContextAllocationStrategy,
    HardwareCompatibilityLevel,
    LayerInformationFormat,
    ProfilingVerbosity,
    TensorFormat,
    TensorIOMode,
    TensorLocation,
)
from anywarp.frameworks.tensorrt.logger import ILogger, Told

FATAL = 4
"""ONNX Runtime's number of the level of messages that say more than its exceptions, which are told."""


class EngineError(ValueError):
    """Raised for a model that ONNX Runtime does not take."""


class IHostMemory(bytes):
    """Bytes of an engine; a buffer, as programs write it to a file."""

    nbytes = property(len)
    dtype = DataType.INT8

    def __enter__(self) -> IHostMemory:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class ICudaEngine(EngineBindings, Told):
    """A network that can be executed."""

    __slots__ = ("error_recorder", "depends_on_data", "model", "plan", "ports", "session", "shapes")
    refittable = has_implicit_batch_dimension = False
    device_memory_size = device_memory_size_v2 = num_aux_streams = tactic_sources = 0
    max_batch_size = 1
    engine_capability = EngineCapability.STANDARD
    hardware_compatibility_level = HardwareCompatibilityLevel.NONE
    profiling_verbosity = ProfilingVerbosity.LAYER_NAMES_ONLY

    def __init__(self, plan: plans.Plan, logger: ILogger):
        super().__init__(logger)
        self.plan, self.error_recorder = plan, None
        try:
            model = models.read(plan.model)
            self.ports = models.ports(model, plan.wide)
        except models.ModelError as error:
            raise EngineError(str(error)) from error
        self.depends_on_data = models.depends_on_data(model)
        self.shapes = models.Shapes(model)
        self.model = [(node.name, node.op_type) for node in model.graph.node]
        self.session = _session(plan.model)

    name = property(lambda self: self.plan.name)
    num_layers = property(lambda self: len(self.model))
    num_io_tensors = property(lambda self: len(self.ports))
    num_optimization_profiles = property(lambda self: max(1, len(self.plan.profiles)))

    def find(self, name: str, function: str) -> models.Port | None:
        """Return the input or output of that name; None with a message where there is none."""
        for port in self.ports:
            if port.name == name:
                return port
        self.error(f"ICudaEngine.{function}", f"there is no input or output {name!r}")
        return None

    def get_tensor_name(self, index: int) -> str | None:
        """Return the name of an input or output, inputs first."""
        return self.ports[index].name if 0 <= index < len(self.ports) else None

    def get_tensor_mode(self, name: str) -> Any:
        """Tell whether a tensor is an input or an output."""
        port = self.find(name, "get_tensor_mode")
        return TensorIOMode.NONE if port is None else TensorIOMode.INPUT if port.is_input else TensorIOMode.OUTPUT

    def get_tensor_shape(self, name: str) -> Dims:
        """Return the shape as built, -1 where it varies."""
        port = self.find(name, "get_tensor_shape")
        return Unknown() if port is None else Dims(port.shape)

    def get_tensor_dtype(self, name: str) -> DataType:
        """Return the type of the elements, FLOAT for no tensor."""
        port = self.find(name, "get_tensor_dtype")
        return DataType.FLOAT if port is None else port.kind

    def get_tensor_location(self, name: str) -> Any:
        """Say that a tensor lies on the device, as all do."""
        return TensorLocation.DEVICE

    def get_tensor_format(self, name: str, profile_index: int = 0) -> Any:
        """Say that elements lie in the order of the dimensions, as in all tensors."""
        return TensorFormat.LINEAR

    def get_tensor_format_desc(self, name: str, profile_index: int = 0) -> str:
        """Say the same in words."""
        port = self.find(name, "get_tensor_format_desc")
        return "" if port is None else f"Row major linear {port.kind.name} format (TensorFormat.LINEAR)"

    def get_tensor_bytes_per_component(self, name: str, profile_index: int = 0) -> int:
        """Say that elements are not gathered in vectors: -1."""
        return -1

    get_tensor_components_per_element = get_tensor_vectorized_dim = get_tensor_bytes_per_component

    def get_tensor_profile_shape(self, name: str, profile_index: int) -> list[Dims]:
        """Return the smallest, usual and largest shape of an input; its own three times where it does not vary."""
        port = self.find(name, "get_tensor_profile_shape")
        if port is None or not port.is_input or not 0 <= profile_index < self.num_optimization_profiles:
            return []
        return [Dims(shape) for shape in self.range_of(port, profile_index)]

    def range_of(self, port: models.Port, profile: int) -> Any:
        """Return the three shapes of an input in a profile."""
        profiles = self.plan.profiles
        return profiles[profile].get(port.name, (port.shape,) * 3) if profiles else (port.shape,) * 3

    def is_shape_inference_io(self, name: str) -> bool:
        """Say that no input has to lie on the host: shapes may follow from any."""
        return False

    def serialize(self) -> IHostMemory:
        """Return the engine as bytes."""
        return IHostMemory(plans.dump(self.plan))

    def create_execution_context(self, strategy: Any = ExecutionContextAllocationStrategy.STATIC) -> IExecutionContext:
        """Return what executes; contexts of one engine may be used at the same time."""
        return IExecutionContext(self)

    create_execution_context_without_device_memory = create_execution_context

    def create_engine_inspector(self) -> EngineInspector:
        """Return what describes the engine."""
        return EngineInspector(self)

    def __len__(self) -> int:
        return len(self.ports)

    def __iter__(self) -> Iterator[str]:
        return iter([port.name for port in self.ports])

    def __getitem__(self, which: int | str) -> Any:
        return self.get_binding_index(which) if isinstance(which, str) else self.ports[which].name

    def __bool__(self) -> bool:
        return True


class EngineInspector:
    """Describes an engine: the operators of the model."""

    __slots__ = ("_engine", "execution_context")

    def __init__(self, engine: ICudaEngine):
        self._engine, self.execution_context = engine, None

    def get_layer_information(self, layer_index: int, format: Any = LayerInformationFormat.ONELINE) -> str:
        """Describe an operator."""
        name, operator = self._engine.model[layer_index]
        return (
            json.dumps({"Name": name, "LayerType": operator})
            if format is LayerInformationFormat.JSON
            else f"{name} [{operator}]\n"
        )

    def get_engine_information(self, format: Any = LayerInformationFormat.ONELINE) -> str:
        """Describe all operators, and the names of inputs and outputs."""
        if format is LayerInformationFormat.JSON:
            layers = [{"Name": name, "LayerType": operator} for name, operator in self._engine.model]
            return json.dumps({"Layers": layers, "Bindings": list(self._engine)})
        return "".join(self.get_layer_information(number) for number in range(len(self._engine.model)))


class Runtime(Told):
    """Reads serialized engines."""

    __slots__ = (
        "DLA_core",
        "engine_host_code_allowed",
        "error_recorder",
        "gpu_allocator",
        "max_threads",
        "temporary_directory",
    )
    num_DLA_cores = 0

    def __init__(self, logger: ILogger):
        super().__init__(logger)
        self.DLA_core, self.max_threads, self.engine_host_code_allowed = -1, 1, False
        self.error_recorder = self.gpu_allocator = self.temporary_directory = None

    def deserialize_cuda_engine(self, serialized_engine: Any) -> ICudaEngine | None:
        """Read an engine from a buffer; None with a message where it is none of ours, was cut off or changed."""
        try:
            return ICudaEngine(plans.load(serialized_engine), self.logger)
        except (plans.PlanError, EngineError) as error:
            self.error("Runtime.deserialize_cuda_engine", str(error))
            return None

    def get_plugin_registry(self) -> Any:
        """Return the register of plugins, which is empty."""
        from anywarp.frameworks.tensorrt.extensions import get_plugin_registry

        return get_plugin_registry()

    def load_runtime(self, path: str) -> None:
        """Refuse: a runtime in a library of NVIDIA's is for its own engines."""
        self.error("Runtime.load_runtime", "other runtimes are not served")


def _session(data: bytes) -> Any:
    """Have ONNX Runtime read a model for the processor; EngineError with its words."""
    runtime = needed.runtime()
    options = runtime.SessionOptions()
    options.log_severity_level = FATAL
    try:
        return runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EngineError(f"ONNX Runtime does not take the model: {error}") from error
