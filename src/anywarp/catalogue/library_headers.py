"""Write our own headers of cuBLAS, cuDNN and their sisters from the tables of functions, types and constants.

`python -m anywarp.catalogue.library_headers` writes them to `toolchain/include/libraries`, where `anywarp nvcc` and our own native
libraries include them. What CUDA 12 declares otherwise stands behind `AW_CUDA_12`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anywarp.catalogue import binding_headers
from anywarp.catalogue.generate_library import CUDNN_VERSIONS
from anywarp.catalogue.rocm import (
    CONSTANT_COLUMNS,
    DATA,
    TYPE_COLUMNS,
    Constant,
    Function,
    Library,
    Type,
    load,
    read,
    symbols_of,
)

MADE = "// Facts of NVIDIA's public interface, written by anywarp.catalogue.library_headers; change that instead.\n"
FOLDER = Path(__file__).resolve().parents[1] / "toolchain" / "include" / "libraries"
MAJORS = (12, 13)


@dataclass(frozen=True, slots=True)
class Header:
    """One header: its table, which of its functions it declares, and what it includes; `types` where it defines those of the table."""

    name: str
    stem: str
    includes: tuple[str, ...] = ()
    functions: Callable[[str], bool] = lambda _: False
    types: bool = False
    renames: bool = False  # what a program calls without the suffix _v2


def _begins(*prefixes: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(prefixes)


_WITHOUT_HANDLE = {
    "cublasGetVersion_v2", "cublasGetProperty", "cublasGetCudartVersion", "cublasLoggerConfigure", "cublasSetLoggerCallback",
    "cublasGetLoggerCallback", "cublasGetStatusName", "cublasGetStatusString", "cublasCreate_v2", "cublasXerbla",
    *(f"cublas{way}{what}{more}{wide}" for way in ("Set", "Get") for what in ("Vector", "Matrix") for more in ("", "Async") for wide in ("", "_64")),
}  # fmt: skip
"""Functions of cuBLAS's present interface that take no handle."""


@cache
def _legacy() -> frozenset[str]:
    """Return the interface of before CUDA 4, without handles, which cublas.h declares."""
    plain = (f.name for f in load("cublas").functions if not any("cublasHandle_t" in p for p in f.parameters.values()))
    return frozenset(name for name in plain if not name.startswith("cublasXt")) - _WITHOUT_HANDLE


def _has_handle(name: str) -> bool:
    return name.startswith("cublas") and not name.startswith("cublasXt") and name not in _legacy()


_RUNTIME = ("driver_types.h", "library_types.h", "cuComplex.h")
_CUDNN = ("driver_types.h", "library_types.h")
HEADERS = (
    Header("cublas_api.h", "cublas", ("stdint.h", *_RUNTIME, "cuda_fp16.h", "cuda_bf16.h"), _has_handle, types=True),
    Header("cublas_v2.h", "cublas", ("cublas_api.h",), renames=True),
    Header("cublasXt.h", "cublas", ("cublas_v2.h",), _begins("cublasXt")),
    Header("cublas.h", "cublas", ("cublas_api.h",), lambda name: name in _legacy()),
    Header("cublasLt.h", "cublaslt", ("stdio.h", "cublas_api.h"), _begins("cublasLt"), types=True),
    Header("cufft.h", "cufft", _RUNTIME, lambda name: not name.startswith("cufftXt"), types=True),
    Header("cufftXt.h", "cufft", ("cufft.h",), _begins("cufftXt")),
    Header("cudalibxt.h", "cufft", ("cufft.h",)),
    Header("curand.h", "curand", _RUNTIME, _begins("curand"), types=True),
    Header("cusparse.h", "cusparse", ("stdio.h", "stdint.h", *_RUNTIME, "cuda_fp16.h", "cuda_bf16.h"), _begins("cusparse"), types=True),
    Header("cusparse_v2.h", "cusparse", ("cusparse.h",)),
    Header("cusolver_common.h", "cusolver", (*_RUNTIME, "cublas_api.h", "cusparse.h"), types=True),
    Header("cusolverDn.h", "cusolver", ("cusolver_common.h", "cublas_v2.h"), _begins("cusolverDn")),
    Header("cusolverSp.h", "cusolver", ("cusolver_common.h", "cusparse.h"), _begins("cusolverSp")),
    Header("cusolverSp_LOWLEVEL_PREVIEW.h", "cusolver", ("cusolverSp.h",)),
    Header("cusolverRf.h", "cusolver", ("cusolver_common.h",), _begins("cusolverRf")),
    Header("cusolverMg.h", "cusolver", ("cusolver_common.h", "cusolverDn.h"), _begins("cusolverMg")),
    Header("nccl.h", "nccl", ("limits.h", "stddef.h", "stdint.h", "cuda_runtime_api.h"), _begins("nccl"), types=True),
    Header("cutensor.h", "cutensor", ("stdio.h", *_RUNTIME, "stdint.h", "stddef.h"), _begins("cutensor"), types=True),
    Header("cufile.h", "cufile", ("stdlib.h", "stdbool.h", "stdint.h", "sys/types.h", "sys/socket.h", "cuda.h"), _begins("cuFile"), types=True, renames=True),
    Header("cusparseLt.h", "cusparselt", ("stddef.h", "stdint.h", "stdalign.h", *_CUDNN, "cusparse.h"), _begins("cusparseLt"), types=True),
    Header("cudnn.h", "cudnn", (*_CUDNN, "stdint.h", "stddef.h"), _begins("cudnn"), types=True),
    *(Header(f"cudnn_{part}.h", "cudnn", ("cudnn.h",))
      for part in ("version", "graph", "ops", "cnn", "adv", "backend", "ops_infer", "ops_train", "cnn_infer", "cnn_train", "adv_infer", "adv_train")),
)  # fmt: skip


def _version_of_cudnn(major: int) -> str:
    """Return cuDNN's version as macros; since 9 it counts in ten thousands."""
    parts = dict(zip(("CUDNN_MAJOR", "CUDNN_MINOR", "CUDNN_PATCHLEVEL"), CUDNN_VERSIONS[major], strict=True))
    thousands = 1000 if parts["CUDNN_MAJOR"] < 9 else 10000
    whole = f"#define CUDNN_VERSION (CUDNN_MAJOR * {thousands} + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)\n"
    return "".join(f"#define {name} {value}\n" for name, value in parts.items()) + whole


@cache
def _elsewhere() -> frozenset[str]:
    """Return the types that the headers of the runtime and of devices define."""
    found: set[str] = {"cuComplex", "cuFloatComplex", "cuDoubleComplex", "__half", "__nv_bfloat16", "float2", "double2"}
    typedefs = re.compile(
        r"\}\s*(\w+);|^typedef [^;{}]*?\b(\w+);|^(?:typedef )?(?:enum|struct)(?: __\S+)? (\w+)\s*\{", re.MULTILINE
    )
    for path in sorted((FOLDER.parent / "13").glob("*.h")):
        matches = typedefs.findall(path.read_text(encoding="utf-8"))
        found |= {name for groups in matches for name in groups if name}
    return frozenset(found)


def write(folder: Path = FOLDER) -> list[Path]:
    """Write all headers; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / header.name for header in HEADERS]
    for header, path in zip(HEADERS, written, strict=True):
        path.write_text(text_of(header), encoding="utf-8")
    return [*written, *binding_headers.write(folder)]


def text_of(header: Header) -> str:
    """Return the whole text of one header."""
    library = load(header.stem)
    guard = "ANYWARP_" + re.sub(r"\W", "_", header.name).upper()
    parts = [MADE, f"#ifndef {guard}\n#define {guard}\n\n", *(_include(name) for name in header.includes), "\n"]
    if header.types:
        versions = {major: _version_of_cudnn(major) for major in MAJORS} if header.stem == "cudnn" else {}
        parts += [_by_major(versions), _macros(library), _LIMITS_OF_CUDNN if versions else ""]
    parts.append('#ifdef __cplusplus\nextern "C" {\n#endif\n\n')
    if header.types:
        parts += [_types(library, _elsewhere() | _defined_before(header)), "\n"]
        objects = [symbol.name for symbol in symbols_of(header.stem) if symbol.kind == "object"]
        parts += [f"extern const cutensorComputeDescriptor_t {name};\n" for name in objects]
    parts += [_prototypes(f) for f in library.functions if f.result and header.functions(f.name)]
    parts.append("\n#ifdef __cplusplus\n}\n#endif\n\n")
    if header.name == "cublasLt.h":
        parts.append(_LT_INITIALISERS)
    if header.renames:
        parts.append(_renames(library))
    if header.name == "cufile.h":
        parts += [_ERRORS_OF_CUFILE, _names_of("CUfileOpError", library)]
    return "".join([*parts, "#endif\n"])


def _include(name: str) -> str:
    return f"#include <{name}>\n" if name.startswith(("std", "sys/")) or name == "limits.h" else f'#include "{name}"\n'


def _defined_before(header: Header) -> set[str]:
    """Return the types of the headers that this one includes."""
    found: set[str] = set()
    for other in HEADERS:
        if other.name in header.includes and other.types:
            found |= set(_own(load(other.stem), _elsewhere() | _defined_before(other)))
            found |= _defined_before(other)
    return found


def _own(library: Library, elsewhere: frozenset[str] | set[str]) -> dict[str, tuple[Type, tuple[int, ...]]]:
    """Return the types of this library's own table that nobody else defines, with the versions of CUDA that have them."""
    rows = read(DATA / f"{library.stem}_types.tsv", TYPE_COLUMNS)
    majors = {row["name"]: tuple(int(major) for major in row["majors"].split()) for row, _ in rows}
    return {name: (library.types[name], has) for name, has in majors.items() if name not in elsewhere}


def _macros(library: Library) -> str:
    """Return the constants that are macros: those of a value, without decoration and versions of functions."""
    lines: list[str] = []
    for constant in _constants(library, "#define"):
        values = {major: str(value) for major, value in constant.values.items()}
        lines.append(_by_major({m: f"#define {constant.name} {v}\n" for m, v in values.items()}))
    return "".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Macro:
    name: str
    values: dict[int, str]


_DECORATION = re.compile(
    r"API$|WINAPI$|DEPRECATED|CPP_VERSION|^NCCL_VERSION$|_H_?$|^CUFFT_PLAN_NULL$|CUSPARSE_DEPRECATED"
)


def _constants(library: Library, kind: str) -> list[_Macro]:
    """Return the macros of a table as they stand there: expressions, by version."""
    found: list[_Macro] = []
    for row, _ in read(DATA / f"{library.stem}_constants.tsv", CONSTANT_COLUMNS):
        name, old, new = row["name"], row["value_12"], row["value_13"]
        if row["type"] != kind or _DECORATION.search(name) or re.fullmatch(r"\w+_v2(_64)?", old):
            continue
        values = ((12, old), (13, old if new == "=" else new))
        found.append(_Macro(name, {major: value for major, value in values if value and not value.startswith("()")}))
    return [macro for macro in found if macro.values]


def _by_major(texts: dict[int, str]) -> str:
    """Return what stands for each version of CUDA, once where both are the same."""
    old, new = texts.get(12, ""), texts.get(13, "")
    if old == new:
        return new
    if not new:
        return f"#ifdef AW_CUDA_12\n{old}#endif\n"
    return f"#ifndef AW_CUDA_12\n{new}#endif\n" if not old else f"#ifdef AW_CUDA_12\n{old}#else\n{new}#endif\n"


def _types(library: Library, elsewhere: frozenset[str] | set[str]) -> str:
    """Return the definitions, each behind those that it names."""
    own = _own(library, elsewhere)
    texts: list[str] = []
    waiting = sorted(own, key=lambda name: own[name][0].kind not in ("enum", "handle"))
    while waiting:
        named = set(waiting)
        ready = [name for name in waiting if not (_mentioned(own[name][0]) & named - {name})] or waiting[:1]
        for name in ready:
            entry, majors = own[name]
            text = _type(library, entry)
            texts.append(text if majors == MAJORS else _by_major(dict.fromkeys(majors, text)))
            waiting.remove(name)
    return "".join(texts)


def _mentioned(entry: Type) -> set[str]:
    if entry.kind == "callback" and not entry.definition:
        return {"cudnnDebug_t"}
    return set(re.findall(r"\w+", entry.definition)) if entry.kind != "enum" else set()


def _type(library: Library, entry: Type) -> str:
    name, definition = entry.name, entry.definition
    if entry.kind == "enum":
        return _enum(name, library.constants.get(name, ()))
    if entry.kind == "struct":
        bodies = definition.split(" | ")
        texts = [f"typedef struct {name} {{ {body} }} {name};\n" for body in bodies]
        return _by_major({12: texts[0], 13: texts[-1]})
    if entry.kind == "callback":
        if not definition:  # cuDNN's one, whose debug structure is of the table
            return f"typedef void (*{name})(cudnnSeverity_t, void *, const cudnnDebug_t *, const char *);\n"
        return f"typedef {definition.replace('(*)', f'(*{name})', 1)};\n"
    if not definition:
        tag = {"cudnnHandle_t": "cudnnContext", "cudnnBackendDescriptor_t": ""}.get(
            name, re.sub(r"_t$", "Struct", name)
        )
        return f"typedef struct {tag} *{name};\n" if tag else f"typedef void *{name};\n"
    if match := re.fullmatch(r"(.+?)\s*(\[\d+\])", definition):
        return f"typedef {match[1]} {name}{match[2]};\n"
    if definition.startswith("enum ") and definition.removeprefix("enum ") in library.types:
        return f"typedef {definition.removeprefix('enum ')} {name};\n"
    if definition.startswith("struct ") and definition.removeprefix("struct ") in library.types:
        return f"typedef {definition} {name};\n"
    return f"typedef {definition} {name};\n"


def _enum(name: str, constants: Iterable[Constant]) -> str:
    lines = "".join(
        _by_major({m: f"  {c.name} = {v},\n" for m, v in c.values.items() if m in MAJORS}) for c in constants
    )
    return f"typedef enum {name} {{\n{lines}}} {name};\n"


def _prototypes(function: Function) -> str:
    texts = {
        major: f"{function.result} {function.name}({parameters or 'void'});\n"
        for major, parameters in function.parameters.items()
    }
    text = re.sub(r"\b_Bool\b", "bool", _by_major(texts))  # C++ knows the latter alone; <stdbool.h> gives it to C
    narrow = re.search(r"\b(__half|__nv_bfloat16)\b", text)  # which C has not
    return f"#ifdef __cplusplus\n{text}#endif\n" if narrow else text


def _renames(library: Library) -> str:
    names = [f.name for f in library.functions]
    shorter = {name: name.replace("_v2", "") for name in names if "_v2" in name}
    return "".join(f"#define {short} {name}\n" for name, short in shorter.items())


_LT_INITIALISERS = """\
#ifdef __cplusplus
// As documented: a descriptor in the caller's own memory.
extern "C" {
cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t, size_t, cudaDataType, uint64_t, uint64_t, int64_t);
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t, size_t, cublasComputeType_t, cudaDataType);
cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t, size_t, cudaDataType);
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t, size_t);
}
static inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t it, cudaDataType type, uint64_t rows,
                                                      uint64_t cols, int64_t ld) {
  return cublasLtMatrixLayoutInit_internal(it, sizeof(*it), type, rows, cols, ld);
}
static inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t it, cublasComputeType_t compute,
                                                    cudaDataType_t scale) {
  return cublasLtMatmulDescInit_internal(it, sizeof(*it), compute, scale);
}
static inline cublasStatus_t cublasLtMatrixTransformDescInit(cublasLtMatrixTransformDesc_t it, cudaDataType scale) {
  return cublasLtMatrixTransformDescInit_internal(it, sizeof(*it), scale);
}
static inline cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t it) {
  return cublasLtMatmulPreferenceInit_internal(it, sizeof(*it));
}
#endif

"""


_LIMITS_OF_CUDNN = """\
#define CUDNN_DIM_MAX 8
#define CUDNN_BN_MIN_EPSILON 0.0
#define CUDNN_LRN_MIN_N 1
#define CUDNN_LRN_MAX_N 16
#define CUDNN_LRN_MIN_K 1e-5
#define CUDNN_LRN_MIN_BETA 0.01
#define CUDNN_SEQDATA_DIM_COUNT 4
#define CUDNN_ATTN_QUERYMAP_ALL_TO_ONE 0
#define CUDNN_ATTN_QUERYMAP_ONE_TO_ONE (1U << 0)
#define CUDNN_ATTN_DISABLE_PROJ_BIASES 0
#define CUDNN_ATTN_ENABLE_PROJ_BIASES (1U << 1)
"""
"""What the table, read from preprocessed headers, has not."""


_ERRORS_OF_CUFILE = """
#define IS_CUFILE_ERR(err) (abs((err)) > CUFILEOP_BASE_ERR)
#define CUFILE_ERRSTR(err) cufileop_status_error((CUfileOpError)abs((err)))
#define IS_CUDA_ERR(status) ((status).err == CU_FILE_CUDA_DRIVER_ERROR)
#define CU_FILE_CUDA_ERR(status) ((status).cu_err)

"""


def _names_of(kind: str, library: Library) -> str:
    """Return a function that says an error by its name."""
    cases = "".join(f'    case {each.name}: return "{each.name}";\n' for each in library.constants[kind])
    return (
        "static inline const char *cufileop_status_error(CUfileOpError status) {\n"
        f'  switch (status) {{\n{cases}  }}\n  return "unknown cufile error";\n}}\n\n'
    )


if __name__ == "__main__":
    for path in write():
        print(path.name)
