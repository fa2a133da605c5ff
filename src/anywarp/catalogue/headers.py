"""Write our own C headers of CUDA's interface from the facts that `interface` read.

Programs, our runtime library and our compiler driver include them, so that no file of NVIDIA's is needed to build anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from anywarp.catalogue.interface import Function, Interface

MADE = "// Facts of CUDA's public interface, written by anywarp.catalogue.headers; change that instead.\n"
GUARDS = {
    "cuda.h": "__cuda_cuda_h__",
    "cudaProfiler.h": "__cuda_profiler_h__",
    "cudaTypedefs.h": "CUDATYPEDEFS_H",
    "cuda_runtime_api.h": "__CUDA_RUNTIME_API_H__",
    "driver_types.h": "__DRIVER_TYPES_H__",
    "library_types.h": "__LIBRARY_TYPES_H__",
    "surface_types.h": "__SURFACE_TYPES_H__",
    "texture_types.h": "__TEXTURE_TYPES_H__",
    "device_types.h": "__DEVICE_TYPES_H__",
    "cuda_profiler_api.h": "__CUDA_PROFILER_API_H__",
    "vector_types.h": "__VECTOR_TYPES_H__",
    "builtin_types.h": "__BUILTIN_TYPES_H__",
    "host_defines.h": "__HOST_DEFINES_H__",
    "cuda_device_runtime_api.h": "__CUDA_DEVICE_RUNTIME_API_H__",
    "cudart_platform.h": "__CUDART_PLATFORM_H__",
}
INCLUDES = {
    "cuda.h": ("<stdint.h>", "<stdlib.h>"),
    "cudaProfiler.h": ('"cuda.h"',),
    "cudaTypedefs.h": ('"cuda.h"',),
    "cuda_runtime_api.h": ('"host_defines.h"', '"builtin_types.h"', '"cuda_device_runtime_api.h"'),
    "driver_types.h": ('"host_defines.h"', '"vector_types.h"', "<limits.h>", "<stddef.h>"),
    "surface_types.h": ('"driver_types.h"',),
    "texture_types.h": ('"driver_types.h"',),
    "device_types.h": ('"host_defines.h"',),
    "cuda_profiler_api.h": ('"driver_types.h"',),
    "cuda_device_runtime_api.h": ('"driver_types.h"', '"host_defines.h"'),
    "builtin_types.h": tuple(f'"{name}_types.h"' for name in ("device", "driver", "surface", "texture", "vector")),
    "cudart_platform.h": (),
    "library_types.h": (),
}
_UUID = """#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
struct CUuuid_st {
  char bytes[16];
};
typedef struct CUuuid_st CUuuid;
#endif
"""
_MARKERS = {  # what nvcc calls them: clang's attribute
    "__host__": "host",
    "__device__": "device",
    "__global__": "global",
    "__shared__": "shared",
    "__constant__": "constant",
    "__managed__": "managed",
}


def write(interface: Interface, major: int, folder: Path) -> list[Path]:
    """Write the headers of one major version into `folder`; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {name: _header(interface, name) for name in INCLUDES}
    contents["host_defines.h"] = _host_defines()
    contents["vector_types.h"] = _vector_types(major)
    (folder / "crt").mkdir(exist_ok=True)
    contents["crt/host_defines.h"] = '#pragma once\n#include "../host_defines.h"\n'
    for name, text in contents.items():
        (folder / name).write_text(MADE + text, encoding="utf-8")
    return [folder / name for name in contents]


def _guarded(name: str, text: str) -> str:
    guard = GUARDS[name]
    return f"#ifndef {guard}\n#define {guard}\n\n{text}\n#endif\n"


def _header(interface: Interface, name: str) -> str:
    parts = "".join(f"#include {file}\n" for file in INCLUDES[name]) + "\n"
    macros = [m for m in interface.macros.get(name, ()) if m[0] not in GUARDS.values()]
    types = [_portable(text) for text in interface.types.get(name, ())]
    functions = [f for f in interface.functions.values() if f.header == name]
    if name == "cuda.h":
        parts += "#define CUDAAPI\n#define CUDA_CB\n"
    if name == "driver_types.h":
        parts += "#define CUDART_CB\n"
    if name == "cuda_runtime_api.h":
        parts += _DEFAULT_VALUES
    parts += "".join(f"#define {key} {value}\n" for key, value in macros if not value.startswith("PFN_"))
    parts += '\n#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    if name in ("cuda.h", "driver_types.h"):
        parts += _UUID
    parts += "".join(text + "\n" for text in types if "struct CUuuid_st\n" not in text and text != _UUID_TYPE)
    parts += "\n" + "".join(_prototype(f) for f in functions)
    parts += "\n#ifdef __cplusplus\n}\n#endif\n"
    parts += _renames(interface, {f.name for f in functions})
    parts += "".join(f"#define {key} {value}\n" for key, value in macros if value.startswith("PFN_"))
    if name == "cuda_runtime_api.h":
        parts += "\n#undef AW_DEFAULT\n"
    return _guarded(name, parts)


_UUID_TYPE = "typedef struct CUuuid_st CUuuid;"
_DEFAULT_VALUES = """#define __CUDART_API_VERSION CUDART_VERSION
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#define __CUDART_API_PER_THREAD_DEFAULT_STREAM
#define __CUDART_API_PTDS(name) name##_ptds
#define __CUDART_API_PTSZ(name) name##_ptsz
#else
#define __CUDART_API_PTDS(name) name
#define __CUDART_API_PTSZ(name) name
#endif
#ifdef __cplusplus
#define AW_DEFAULT(value) = value
#else
#define AW_DEFAULT(value)
#endif
#define CUDART_DEVICE __device__
"""


def _portable(text: str) -> str:
    return re.sub(r"_Alignas\((\d+)\)", r"__attribute__((aligned(\1)))", text)


def _prototype(function: Function) -> str:
    parts: list[str] = []
    for place, parameter in enumerate(function.parameters):
        value = function.defaults.get(place)
        parts.append(parameter if value is None else f"{parameter} AW_DEFAULT({value})")
    return f"{function.result} {function.name}({', '.join(parts) or 'void'});\n"


def _renames(interface: Interface, functions: Iterable[str]) -> str:
    here = set(functions)
    usual = {name: to for name, to in interface.renamed.items() if to in here}
    per_thread = {name: to for name, to in interface.renamed_per_thread.items() if to in here}
    both = {name: to for name, to in usual.items() if per_thread.get(name) == to}
    if not usual and not per_thread:
        return ""
    lines = ["", "#ifndef __CUDA_API_VERSION_INTERNAL"]
    lines += [f"#define {name} {to}" for name, to in both.items()]
    lines += ["#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM"]
    for name, to in per_thread.items():
        lines += [f"#define {name} {to}"] if name not in both else []
    lines += ["#else"]
    lines += [f"#define {name} {to}" for name, to in usual.items() if name not in both]
    return "\n".join([*lines, "#endif", "#endif", ""])


def _host_defines() -> str:
    lines = [
        "#ifdef __cplusplus",
        "#define __aw_inline inline",
        "#endif",
        "#define __no_return__ __attribute__((noreturn))",
        "#undef __forceinline__",
        "#define __forceinline__ __inline__ __attribute__((always_inline))",
        "#define __align__(n) __attribute__((aligned(n)))",
        "#define __builtin_align__(n) __align__(n)",
        "#define __inline_hint__",
        "#define __thread__ __thread",
        "#define __import__",
        "#define __export__",
        "#define __cdecl",
        "#define CUDARTAPI",
        "#define CUDARTAPI_CDECL",
        "#define __specialization_static",
        "#define __device_builtin__",
        "#define __device_builtin_texture_type__",
        "#define __device_builtin_surface_type__",
        "#define __cudart_builtin__",
        "#if defined(__CUDACC__) || defined(__CUDA__)",
        "#define __annotate__(a) __attribute__((a))",
        "#ifndef __launch_bounds__",
        "#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))",
        "#endif",
        "#else",
        "#define __annotate__(a)",
        "#endif",
        "#define __location__(a) __annotate__(a)",
    ]
    for marker, attribute in _MARKERS.items():
        lines += [f"#ifndef {marker}", f"#define {marker} __location__({attribute})", "#endif"]
    lines += ["#ifndef __grid_constant__", "#define __grid_constant__ __location__(grid_constant)", "#endif"]
    lines += ["#ifndef __cluster_dims__", "#define __cluster_dims__(...) __location__(cluster_dims(__VA_ARGS__))"]
    lines += ["#endif", "#ifndef __nv_pure__", "#define __nv_pure__", "#endif"]
    return _guarded("host_defines.h", "\n".join(lines) + "\n")


_SCALARS = {
    "char": ("signed char", 1),
    "uchar": ("unsigned char", 1),
    "short": ("short", 2),
    "ushort": ("unsigned short", 2),
    "int": ("int", 4),
    "uint": ("unsigned int", 4),
    "long": ("long int", 8),
    "ulong": ("unsigned long", 8),
    "longlong": ("long long int", 8),
    "ulonglong": ("unsigned long long int", 8),
    "float": ("float", 4),
    "double": ("double", 8),
}


def vectors(major: int) -> Mapping[str, tuple[str, int, int]]:
    """Return the vector types of one major version: name, element, count and alignment in bytes."""
    found: dict[str, tuple[str, int, int]] = {}
    for name, (element, size) in _SCALARS.items():
        for count in (1, 2, 3, 4):
            whole = size * count if count in (2, 4) else size
            found[f"{name}{count}"] = (element, count, min(whole, 16))
        if size == 8 and major >= 13:
            found[f"{name}4_16a"] = (element, 4, 16)
            found[f"{name}4_32a"] = (element, 4, 32)
    return found


def _vector_types(major: int) -> str:
    text = '#include "host_defines.h"\n\n' + (_SILENCE if major >= 13 else "")
    for name, (element, count, alignment) in vectors(major).items():
        members = " ".join(f"{element} {letter};" for letter in "xyzw"[:count])
        aligned = f"__align__({alignment}) " if count in (2, 4) else ""
        text += f"struct {aligned}{name} {{ {members} }};\ntypedef struct {name} {name};\n"
    return _guarded("vector_types.h", text + _DIM3)


_SILENCE = """\
#define __NV_SILENCE_DEPRECATION_BEGIN \\
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \\"-Wdeprecated-declarations\\"")
#define __NV_SILENCE_DEPRECATION_END _Pragma("GCC diagnostic pop")

"""
"""What NVIDIA's narrow floats put around their uses of vectors that CUDA 13 deprecates."""

_DIM3 = """
struct dim3 {
  unsigned int x, y, z;
#if defined(__cplusplus) && __cplusplus >= 201103L
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3(void) const { return uint3{x, y, z}; }
#elif defined(__cplusplus)
  __host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ operator uint3(void) const {
    uint3 v = {x, y, z};
    return v;
  }
#endif
};
typedef struct dim3 dim3;
"""
