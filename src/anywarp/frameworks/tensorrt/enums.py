"""TensorRT's enumerations, with the numbers of its headers; what only its GPU code knows is there for programs that name it."""

# pyright: basic
from __future__ import annotations

from enum import Enum
from typing import Any


class Named(Enum):
    """A member is a number where one is wanted (`1 << flag`, `severity <= ERROR`), and equal to no other kind."""

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__

    def __rlshift__(self, one: int) -> int:
        return one << int(self)

    def __lt__(self, other: Any) -> bool:
        return int(self) < int(other)

    def __le__(self, other: Any) -> bool:
        return int(self) <= int(other)


def _named(name: str, words: str, start: int = 0) -> Any:
    return Named(name, words, start=start, module="tensorrt")


class DataType(Named):
    """Types of elements."""

    FLOAT, HALF, INT8, INT32, BOOL, UINT8, FP8, BF16, INT64, INT4, FP4 = range(11)

    @property
    def itemsize(self) -> Any:
        """Bytes per element."""
        return {"FLOAT": 4, "HALF": 2, "INT32": 4, "BF16": 2, "INT64": 8, "INT4": 0.5, "FP4": 0.5}.get(self.name, 1)


Severity = _named("Severity", "INTERNAL_ERROR ERROR WARNING INFO VERBOSE")
NetworkDefinitionCreationFlag = _named("NetworkDefinitionCreationFlag", "EXPLICIT_BATCH STRONGLY_TYPED")
BuilderFlag = _named(
    "BuilderFlag",
    "FP16 INT8 DEBUG GPU_FALLBACK REFIT DISABLE_TIMING_CACHE TF32 SPARSE_WEIGHTS SAFETY_SCOPE OBEY_PRECISION_CONSTRAINTS "
    "PREFER_PRECISION_CONSTRAINTS DIRECT_IO REJECT_EMPTY_ALGORITHMS VERSION_COMPATIBLE EXCLUDE_LEAN_RUNTIME FP8 "
    "ERROR_ON_TIMING_CACHE_MISS BF16 DISABLE_COMPILATION_CACHE STRIP_PLAN REFIT_IDENTICAL WEIGHT_STREAMING INT4",
)
MemoryPoolType = _named(
    "MemoryPoolType", "WORKSPACE DLA_MANAGED_SRAM DLA_LOCAL_DRAM DLA_GLOBAL_DRAM TACTIC_DRAM TACTIC_SHARED_MEMORY"
)
TensorIOMode = _named("TensorIOMode", "NONE INPUT OUTPUT")
TensorLocation = _named("TensorLocation", "DEVICE HOST")
TensorFormat = _named("TensorFormat", "LINEAR CHW2 HWC8 CHW4 CHW16 CHW32 DHWC8 CDHW32 HWC DLA_LINEAR DLA_HWC4 HWC16")
DeviceType = _named("DeviceType", "GPU DLA")
EngineCapability = _named("EngineCapability", "STANDARD SAFETY DLA_STANDALONE")
ProfilingVerbosity = _named("ProfilingVerbosity", "LAYER_NAMES_ONLY NONE DETAILED")
HardwareCompatibilityLevel = _named("HardwareCompatibilityLevel", "NONE AMPERE_PLUS SAME_COMPUTE_CAPABILITY")
ExecutionContextAllocationStrategy = _named(
    "ExecutionContextAllocationStrategy", "STATIC ON_PROFILE_CHANGE USER_MANAGED"
)
TacticSource = _named(
    "TacticSource", "CUBLAS CUBLAS_LT CUDNN EDGE_MASK_CONVOLUTIONS JIT_CONVOLUTIONS"
)  # fmt: skip
PreviewFeature = _named("PreviewFeature", "PROFILE_SHARING_0806 ALIASED_PLUGIN_IO_10_03")
LayerInformationFormat = _named("LayerInformationFormat", "ONELINE JSON")
OnnxParserFlag = _named("OnnxParserFlag", "NATIVE_INSTANCENORM ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA")
ErrorCode = _named(
    "ErrorCode",
    "SUCCESS INTERNAL_ERROR MEM_ALLOC_FAILED MODEL_DESERIALIZE_FAILED INVALID_VALUE INVALID_GRAPH INVALID_NODE "
    "UNSUPPORTED_GRAPH UNSUPPORTED_NODE",
)
"""What an error of the parser is."""

_ONNX = {"FLOAT": 1, "HALF": 10, "INT8": 3, "INT32": 6, "BOOL": 9, "UINT8": 2, "FP8": 17, "BF16": 16, "INT64": 7}
"""TensorProto.DataType, by onnx.proto."""

_NUMPY = {
    "FLOAT": "float32",
    "HALF": "float16",
    "INT8": "int8",
    "INT32": "int32",
    "BOOL": "bool_",
    "UINT8": "uint8",
    "INT64": "int64",
}
DOUBLE = 11
"""ONNX's float64, which TensorRT takes and gives as float32."""


def of_onnx(number: int, wide: bool) -> DataType | None:
    """Return the type that TensorRT has for an element type of ONNX, None if none.

    float64 goes in and out as float32, and int64 as int32 unless `wide`: so up to TensorRT 9.
    """
    if number == DOUBLE:
        return DataType.FLOAT
    found = next((DataType[name] for name, each in _ONNX.items() if each == number), None)
    return DataType.INT32 if found is DataType.INT64 and not wide else found


def to_onnx(kind: DataType) -> int:
    """Return ONNX's number of a type."""
    return _ONNX[kind.name]


def nptype(trt_type: DataType) -> Any:
    """Return numpy's type; TypeError where numpy has none (bfloat16, types of 8 and 4 bits)."""
    import numpy as np

    if trt_type.name not in _NUMPY:
        raise TypeError(f"numpy has no type for {trt_type}")
    return getattr(np, _NUMPY[trt_type.name])
