"""The functions of the runtime that code for `cpu` calls (docs/contracts.md, section 6), described once for both sides.

`aw_device_runtime` stands for all of CUDA's device run time (dynamic parallelism): DEVICE_CALLS numbers its functions.

Emitters take the types of a call from here, tests the prototypes, and the build writes the C++ declarations
(`python host_functions.py FILE`, with the standard library only), which the compiler of C++ holds the definitions against.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

_LLVM = {"void": "void", "uint32_t": "i32", "int32_t": "i32", "uint64_t": "i64"}


@dataclass(frozen=True, slots=True)
class HostFunction:
    """One function with C linkage: its result, and the types and names of its parameters, as C writes them."""

    name: str
    result: str
    parameters: tuple[tuple[str, str], ...]

    @property
    def takes_worker(self) -> bool:
        """Whether the first parameter is the worker that runs the block."""
        return bool(self.parameters) and self.parameters[0][0] == "AwWorker*"

    @property
    def llvm_result(self) -> str:
        """The result's type in LLVM's words."""
        return llvm_type(self.result)

    @property
    def llvm_parameters(self) -> tuple[str, ...]:
        """The parameters' types in LLVM's words, the worker among them."""
        return tuple(llvm_type(type) for type, _ in self.parameters)

    def declaration(self) -> str:
        """Return the function's declaration in C."""
        parameters = ", ".join(f"{type} {name}" for type, name in self.parameters)
        return f"{self.result} {self.name}({parameters or 'void'});"


def llvm_type(type: str) -> str:
    """Return LLVM's type for one of C; KeyError for one that this table does not use."""
    return "ptr" if type.endswith("*") else _LLVM[type]


def _function(name: str, result: str, parameters: str = "") -> HostFunction:
    pairs = [p.rpartition(" ") for p in parameters.split(", ")] if parameters else []
    return HostFunction(name, result, tuple((type, word) for type, _, word in pairs))


HOST_FUNCTIONS = {
    f.name: f
    for f in (
        _function("aw_globaltimer", "uint64_t"),
        _function("aw_nanosleep", "void", "uint32_t nanoseconds"),
        _function("aw_vprintf", "int32_t", "AwWorker* worker, uint64_t format, uint64_t arguments"),
        _function("aw_malloc", "uint64_t", "AwWorker* worker, uint64_t size"),
        _function("aw_free", "void", "AwWorker* worker, uint64_t address"),
        # CUDA's __assertfail has the size of a character behind these, which is always 1.
        _function(
            "aw_assertfail", "void", "AwWorker* worker, uint64_t message, uint64_t file, uint32_t line, uint64_t function"
        ),
        _function(
            "aw_texture", "void",
            "AwWorker* worker, uint32_t form, uint32_t lanes, const uint8_t* mask, const uint64_t* objects, "
            "const uint32_t* words, uint32_t* results",
        ),
        _function(
            "aw_check", "uint32_t",
            "AwWorker* worker, uint32_t site, uint32_t lanes, const int64_t* first, const void* second",
        ),
        _function("aw_device_runtime", "uint64_t", "AwWorker* worker, uint32_t call, uint64_t thread, uint64_t arguments"),
    )
}  # fmt: skip
"""By name."""

ARGUMENT_BYTES = {"i32": 4, "i64": 8, "dim3": 12, "cudaExtent": 24, "cudaPitchedPtr": 32}
"""Sizes of what the device run time takes by value; each lies at a multiple of 8 bytes behind the one before."""


@dataclass(frozen=True, slots=True)
class DeviceCall:
    """A function of CUDA's device run time: its name without prefix, what it returns, and what it takes by value."""

    name: str
    result: str
    parameters: tuple[str, ...]


def _call(name: str, parameters: str = "", result: str = "i32") -> DeviceCall:
    return DeviceCall(name, result, tuple(parameters.split()))


DEVICE_CALLS = (
    _call("GetParameterBuffer", "i64 i64", "i64"),
    _call("GetParameterBufferV2", "i64 dim3 dim3 i32", "i64"),
    _call("LaunchDevice", "i64 i64 dim3 dim3 i32 i64"),
    _call("LaunchDeviceV2", "i64 i64"),
    _call("DeviceSynchronize"),
    _call("GetLastError"),
    _call("PeekAtLastError"),
    _call("GetErrorString", "i32", "i64"),
    _call("GetErrorName", "i32", "i64"),
    _call("GetDevice", "i64"),
    _call("GetDeviceCount", "i64"),
    _call("DeviceGetAttribute", "i64 i32 i32"),
    _call("DeviceGetLimit", "i64 i32"),
    _call("DeviceGetCacheConfig", "i64"),
    _call("DeviceGetSharedMemConfig", "i64"),
    _call("RuntimeGetVersion", "i64"),
    _call("StreamCreateWithFlags", "i64 i32"),
    _call("StreamDestroy", "i64"),
    _call("StreamWaitEvent", "i64 i64 i32"),
    _call("EventCreateWithFlags", "i64 i32"),
    _call("EventRecord", "i64 i64"),
    _call("EventRecordWithFlags", "i64 i64 i32"),
    _call("EventDestroy", "i64"),
    _call("FuncGetAttributes", "i64 i64"),
    _call("Malloc", "i64 i64"),
    _call("Free", "i64"),
    _call("MemcpyAsync", "i64 i64 i64 i32 i64"),
    _call("Memcpy2DAsync", "i64 i64 i64 i64 i64 i64 i32 i64"),
    _call("Memcpy3DAsync", "i64 i64"),
    _call("MemsetAsync", "i64 i32 i64 i64"),
    _call("Memset2DAsync", "i64 i64 i32 i64 i64 i64"),
    _call("Memset3DAsync", "cudaPitchedPtr i32 cudaExtent i64"),
    _call("OccupancyMaxActiveBlocksPerMultiprocessor", "i64 i64 i32 i64"),
    _call("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "i64 i64 i32 i64 i32"),
)  # fmt: skip
"""The device run time (CUDA C++ Programming Guide, dynamic parallelism), in the order of the numbers that C++ knows them by."""

CALL_BYTES = max(sum(-(-ARGUMENT_BYTES[kind] // 8) * 8 for kind in call.parameters) for call in DEVICE_CALLS)
"""Bytes that the runtime reads for each call, whatever its arguments take."""


def header() -> str:
    """Return the C++ header: a declaration of each, and a list of all by name."""
    return "\n".join([
        "// Made by anywarp/compiler/host_functions.py; change the table there instead.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        '#include "core/kernel_abi.h"',
        "",
        'extern "C" {',
        *(f.declaration() for f in HOST_FUNCTIONS.values()),
        "}",
        "",
        "// The functions of CUDA's device run time, as aw_device_runtime is asked for them.",
        "enum AwDeviceCall : uint32_t {",
        *(f"  AW_CALL_{call.name}," for call in DEVICE_CALLS),
        "};",
        f"#define AW_CALL_BYTES {CALL_BYTES}  // what their arguments take at most",
        "",
        "#define AW_HOST_FUNCTIONS(each) \\",
        *(f"  each({name}) \\" for name in HOST_FUNCTIONS),
        "",
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(header())
