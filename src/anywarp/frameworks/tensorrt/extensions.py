"""What programs derive from, and the register of plugins, which is empty: plugins are code for GPUs."""

# pyright: basic
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anywarp.frameworks.tensorrt.enums import Severity


class Derived:
    """What a program derives from; it calls this `__init__`."""

    def __init__(self, *_: Any) -> None:
        pass


class IProfiler(Derived):
    """Is told times: one for the whole engine, by its name."""

    def report_layer_time(self, layer_name: str, ms: float) -> None:
        """Take a time in milliseconds."""
        raise NotImplementedError("a class derived from IProfiler defines report_layer_time(layer_name, ms)")


class Profiler(IProfiler):
    """Prints times."""

    def report_layer_time(self, layer_name: str, ms: float) -> None:
        print(f"{layer_name}: {ms}ms")


class IOutputAllocator(Derived):
    """Allocates outputs: the program defines reallocate_output and notify_shape."""


class IGpuAllocator(Derived):
    """Allocates memory for TensorRT, which takes none of the device's here."""


class IErrorRecorder(Derived):
    """Collects errors; they go to the logger here."""


class IProgressMonitor(Derived):
    """Is told how far building is; it has no phases here."""


class IInt8Calibrator(Derived):
    """Feeds calibration, which is not served: a configuration that has one builds nothing."""


class IInt8EntropyCalibrator(IInt8Calibrator):
    """See IInt8Calibrator."""


class IInt8EntropyCalibrator2(IInt8Calibrator):
    """See IInt8Calibrator."""


class IInt8MinMaxCalibrator(IInt8Calibrator):
    """See IInt8Calibrator."""


class IInt8LegacyCalibrator(IInt8Calibrator):
    """See IInt8Calibrator."""


class IPluginRegistry:
    """The register of plugins."""

    plugin_creator_list: Sequence[Any] = ()
    all_creators: Sequence[Any] = ()

    def get_plugin_creator(self, type: str, version: str, plugin_namespace: str = "") -> None:
        """Return None: there is no plugin."""

    get_creator = get_plugin_creator

    def load_library(self, plugin_path: str) -> None:
        """Return None: libraries of plugins are not loaded."""


_registry = IPluginRegistry()


def get_plugin_registry() -> IPluginRegistry:
    """Return the register."""
    return _registry


def init_libnvinfer_plugins(logger: Any, namespace: str) -> bool:
    """Return False, with a message: no plugin was registered."""
    if logger is not None:
        logger.log(Severity.INFO, "init_libnvinfer_plugins: plugins are code for GPUs; none was registered")
    return False


class Refitter:
    """Refuses: weights of an engine are not exchanged; an engine says that it is not `refittable`."""

    def __init__(self, engine: Any, logger: Any):
        raise TypeError(
            "Refitter: the engine is not refittable; build it again from an ONNX model with the new weights"
        )
