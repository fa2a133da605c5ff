"""Builder, its configuration and optimization profiles: what becomes an engine."""

# pyright: basic
from __future__ import annotations

from typing import Any

from anywarp.frameworks.tensorrt import engine as engines
from anywarp.frameworks.tensorrt import model as models
from anywarp.frameworks.tensorrt import plan as plans
from anywarp.frameworks.tensorrt.dims import Dims
from anywarp.frameworks.tensorrt.enums import (
    BuilderFlag,
    DeviceType,
    EngineCapability,
    HardwareCompatibilityLevel,
    MemoryPoolType,
    NetworkDefinitionCreationFlag,
    ProfilingVerbosity,
)
from anywarp.frameworks.tensorrt.logger import ILogger, Told
from anywarp.frameworks.tensorrt.network import INetworkDefinition

MOST_BYTES = (1 << 31) - 1
"""What a protobuf message can hold, and so a model with its weights inside."""
NOT_SERVED = {
    BuilderFlag.REFIT: "engines whose weights are exchanged",
    BuilderFlag.SAFETY_SCOPE: "the safety runtime",
    BuilderFlag.STRIP_PLAN: "engines without weights",
    BuilderFlag.REFIT_IDENTICAL: "engines whose weights are exchanged",
}
"""Flags that promise something of an engine that ours is not; others allow what need not be done, or are about a GPU's code."""


class IOptimizationProfile:
    """The smallest, usual and largest shape of each input that varies."""

    __slots__ = ("_values", "extra_memory_target", "shapes")

    def __init__(self) -> None:
        self.shapes: plans.Profile = {}
        self._values: dict[str, Any] = {}
        self.extra_memory_target = 1.0

    def set_shape(self, input: str, min: Any, opt: Any, max: Any) -> None:
        """Set the shapes of an input; ValueError unless they have as many dimensions and grow."""
        self.shapes[input] = _growing(min, opt, max)

    def get_shape(self, input: str) -> list[Dims]:
        """Return the three shapes of an input, none where it has none."""
        return [Dims(shape) for shape in self.shapes.get(input, ())]

    def set_shape_input(self, input: str, min: Any, opt: Any, max: Any) -> None:
        """Set the values of an input that shapes follow from. Any value is computed with here."""
        self._values[input] = _growing(min, opt, max)

    def get_shape_input(self, input: str) -> list[list[int]]:
        """Return the three lists of values of such an input."""
        return [list(each) for each in self._values.get(input, ())]

    def __bool__(self) -> bool:
        return True


def _growing(low: Any, usual: Any, high: Any) -> Any:
    shapes = [tuple(int(size) for size in ([each] if isinstance(each, int) else each)) for each in (low, usual, high)]
    if len({len(shape) for shape in shapes}) != 1:
        raise ValueError("min, opt and max have not as many dimensions as each other")
    if not all(a <= b <= c for a, b, c in zip(*shapes)):
        raise ValueError("min, opt and max do not grow in each dimension")
    return tuple(shapes)


class ITimingCache:
    """Nothing is timed while an engine is built, so this holds nothing."""

    def serialize(self) -> engines.IHostMemory:
        """Return it as bytes: none."""
        return engines.IHostMemory(b"")

    def combine(self, input_cache: ITimingCache, ignore_mismatch: bool) -> bool:
        """Take the entries of another one, which has none."""
        return True

    def reset(self) -> bool:
        """Remove all entries."""
        return True


class IBuilderConfig(Told):
    """How an engine is to be built. What tunes a GPU's code is kept and has no effect."""

    __slots__ = (
        "DLA_core", "_cache", "_pools", "avg_timing_iterations", "builder_optimization_level", "default_device_type",
        "engine_capability", "flags", "hardware_compatibility_level", "int8_calibrator", "max_aux_streams", "max_num_tactics", "min_timing_iterations",
        "plugins_to_serialize", "profile_stream", "profiles", "profiling_verbosity", "progress_monitor", "tactic_sources",
    )  # fmt: skip

    def __init__(self, logger: ILogger):
        super().__init__(logger)
        self.reset()

    num_optimization_profiles = property(lambda self: len(self.profiles))

    def reset(self) -> None:
        """Set everything back."""
        self.profiles: list[IOptimizationProfile] = []
        self._pools: dict[Any, int] = {}
        self._cache: ITimingCache | None = None
        self.flags = 1 << int(BuilderFlag.TF32)
        self.default_device_type, self.DLA_core = DeviceType.GPU, -1
        self.engine_capability, self.int8_calibrator = EngineCapability.STANDARD, None
        self.hardware_compatibility_level = HardwareCompatibilityLevel.NONE
        self.profiling_verbosity, self.progress_monitor = ProfilingVerbosity.LAYER_NAMES_ONLY, None
        self.avg_timing_iterations, self.min_timing_iterations, self.builder_optimization_level = 1, 1, 3
        self.max_aux_streams, self.max_num_tactics, self.profile_stream, self.tactic_sources = 0, -1, 0, 0
        self.plugins_to_serialize: list[str] = []

    def set_flag(self, flag: Any) -> None:
        """Set a flag."""
        self.flags |= 1 << int(flag)

    def clear_flag(self, flag: Any) -> None:
        """Clear a flag."""
        self.flags &= ~(1 << int(flag))

    def get_flag(self, flag: Any) -> bool:
        """Tell whether a flag is set."""
        return bool(self.flags & 1 << int(flag))

    def set_memory_pool_limit(self, pool: Any, pool_size: int) -> None:
        """Limit a pool of memory on a card: ONNX Runtime takes what it needs of the host's."""
        self._pools[pool] = int(pool_size)

    def get_memory_pool_limit(self, pool: Any) -> int:
        """Return the limit that was set, 0 where none was."""
        return self._pools.get(pool, 0)

    @property
    def max_workspace_size(self) -> int:
        """The limit of the workspace, by its name up to TensorRT 8."""
        return self.get_memory_pool_limit(MemoryPoolType.WORKSPACE)

    @max_workspace_size.setter
    def max_workspace_size(self, size: int) -> None:
        self.set_memory_pool_limit(MemoryPoolType.WORKSPACE, size)

    def add_optimization_profile(self, profile: IOptimizationProfile) -> int:
        """Add a profile and return its number."""
        self.profiles.append(profile)
        return len(self.profiles) - 1

    def set_calibration_profile(self, profile: IOptimizationProfile) -> bool:
        """Refuse: there is no calibration."""
        self.error("IBuilderConfig.set_calibration_profile", "calibration is not served")
        return False

    def create_timing_cache(self, serialized_timing_cache: Any) -> ITimingCache:
        """Return a cache; what the bytes hold is about a card."""
        return ITimingCache()

    def set_timing_cache(self, cache: ITimingCache, ignore_mismatch: bool) -> bool:
        """Take a cache."""
        self._cache = cache
        return True

    def get_timing_cache(self) -> ITimingCache | None:
        """Return the cache that was set."""
        return self._cache

    def set_tactic_sources(self, tactic_sources: int) -> bool:
        """Keep which libraries a card's code may call."""
        self.tactic_sources = tactic_sources
        return True

    def get_tactic_sources(self) -> int:
        """Return them."""
        return self.tactic_sources

    def set_preview_feature(self, feature: Any, enable: bool) -> None:
        """Refuse with a warning: there are none here."""
        self.warn("IBuilderConfig.set_preview_feature", f"{feature} is not served")

    def get_preview_feature(self, feature: Any) -> bool:
        """Say that a preview feature is off."""
        return False


class Builder(Told):
    """Makes engines of networks."""

    __slots__ = ("error_recorder", "gpu_allocator", "max_batch_size", "max_threads")
    platform_has_fast_fp16 = platform_has_fast_int8 = platform_has_tf32 = True
    num_DLA_cores = max_DLA_batch_size = 0

    def __init__(self, logger: ILogger):
        super().__init__(logger)
        self.max_batch_size, self.max_threads = 1, 1
        self.error_recorder = self.gpu_allocator = None

    def create_network(self, flags: int = 0) -> INetworkDefinition:
        """Return an empty network. Its batch is a dimension of the model (EXPLICIT_BATCH), whatever the flags."""
        from anywarp.frameworks.tensorrt.version import is_wide

        return INetworkDefinition(
            self.logger, int(flags) | 1 << int(NetworkDefinitionCreationFlag.EXPLICIT_BATCH), is_wide()
        )

    def create_builder_config(self) -> IBuilderConfig:
        """Return a configuration."""
        return IBuilderConfig(self.logger)

    def create_optimization_profile(self) -> IOptimizationProfile:
        """Return an empty profile."""
        return IOptimizationProfile()

    def is_network_supported(self, network: INetworkDefinition, config: IBuilderConfig) -> bool:
        """Tell whether an engine can be built."""
        return _against(network, config) is None

    def build_serialized_network(
        self, network: INetworkDefinition, config: IBuilderConfig
    ) -> engines.IHostMemory | None:
        """Build an engine and return it as bytes, None with a message where it cannot be."""
        engine = self._build(network, config, "Builder.build_serialized_network")
        return None if engine is None else engine.serialize()

    def build_engine(self, network: INetworkDefinition, config: IBuilderConfig) -> engines.ICudaEngine | None:
        """Build an engine, None with a message where it cannot be."""
        return self._build(network, config, "Builder.build_engine")

    build_engine_with_config = build_engine

    def reset(self) -> None:
        """Set everything back."""
        self.max_batch_size, self.max_threads = 1, 1

    def _build(self, network: INetworkDefinition, config: IBuilderConfig, function: str) -> engines.ICudaEngine | None:
        if (text := _against(network, config)) is not None:
            self.error(function, text)
            return None
        profiles = [_of_network(profile, network) for profile in config.profiles]
        plan = plans.Plan(network.model.SerializeToString(), network.name, profiles, network.wide)
        try:
            return engines.ICudaEngine(plan, self.logger)
        except engines.EngineError as error:
            self.error(function, str(error))
            return None


def _of_network(profile: IOptimizationProfile, network: INetworkDefinition) -> plans.Profile:
    names = {network.get_input(number).name for number in range(network.num_inputs)}  # type: ignore[union-attr]
    return {name: shapes for name, shapes in profile.shapes.items() if name in names}


def _against(network: INetworkDefinition, config: IBuilderConfig) -> str | None:
    """Say why no engine can be built of a network, None if nothing is known against it."""
    if network.model is None:
        return "the network is empty: read an ONNX model with OnnxParser"
    if network.refused:
        return f"the network asks for what is not served: {network.refused[0]}"
    for flag, what in NOT_SERVED.items():
        if config.get_flag(flag):
            return f"{what} ({flag}) are not served"
    if config.int8_calibrator is not None:
        return "calibration for INT8 is not served: quantize the ONNX model (QuantizeLinear, DequantizeLinear)"
    if config.get_flag(BuilderFlag.INT8) and not models.quantizes(network.model):
        return "BuilderFlag.INT8 without calibration needs a model that says how to quantize (QuantizeLinear, DequantizeLinear)"
    if config.default_device_type is DeviceType.DLA:
        return "there is no DLA"
    if network.model.ByteSize() > MOST_BYTES:
        return f"the model has {network.model.ByteSize()} bytes with its weights; up to 2 GiB are served"
    return _against_profiles(network, config.profiles)


def _against_profiles(network: INetworkDefinition, profiles: list[IOptimizationProfile]) -> str | None:
    inputs = [network.get_input(number) for number in range(network.num_inputs)]
    varying = [each for each in inputs if each is not None and -1 in each.shape]
    if varying and not profiles:
        return f"the input {varying[0].name} has a shape that varies, {varying[0].shape}, but there is no optimization profile"
    for number, profile in enumerate(profiles):
        for tensor in varying:
            if tensor.name not in profile.shapes:
                return f"optimization profile {number} says nothing of the input {tensor.name}, whose shape varies"
        for tensor in inputs:
            for shape in profile.shapes.get(tensor.name, ()):  # type: ignore[union-attr]
                declared = tensor.shape  # type: ignore[union-attr]
                if len(shape) != len(declared) or any(d not in (-1, s) for d, s in zip(declared, shape)):
                    return f"optimization profile {number} has {Dims(shape)} for {tensor.name}, which is {declared}"  # type: ignore[union-attr]
    return None
