"""Write what follows from the tables for one of NVIDIA's libraries on the processor: its exports, and the functions that it has not.

The build runs it (`python generate_library.py STEM OUTDIR`, with the standard library only). Every function of the table gets a weak definition
that returns the library's status for what is not supported; what is written by hand in `native/libraries/STEM` takes its place in the link.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:  # run as a file by the build, where nothing is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from anywarp.catalogue.rocm import Function, Library, Symbol, load, symbols_of
from anywarp.catalogue.rocm_libraries import LIBRARIES, Replaced, Variant

MADE = "// Made by anywarp/catalogue/generate_library.py; change the tables instead.\n"

CUDNN = Replaced(
    "cudnn", "cuDNN", (Variant("8", "libcudnn.so.8", (12,)), Variant("9", "libcudnn.so.9", (13,))), "", "", (), "cudnnStatus_t",
    {
        "success": "CUDNN_STATUS_SUCCESS", "not_initialized": "CUDNN_STATUS_NOT_INITIALIZED", "alloc_failed": "CUDNN_STATUS_ALLOC_FAILED",
        "invalid_value": "CUDNN_STATUS_BAD_PARAM", "not_supported": "CUDNN_STATUS_NOT_SUPPORTED", "internal": "CUDNN_STATUS_INTERNAL_ERROR",
    },
)  # fmt: skip

CUDNN_VERSIONS = {12: (8, 9, 7), 13: (9, 28, 0)}
"""By the columns of its tables: the headers that they were made from, which are of no version of CUDA."""

CUTENSOR = Replaced(
    "cutensor", "cuTENSOR", (Variant("2", "libcutensor.so.2", (12, 13)),), "", "", (), "cutensorStatus_t",
    {
        "success": "CUTENSOR_STATUS_SUCCESS", "not_initialized": "CUTENSOR_STATUS_NOT_INITIALIZED",
        "invalid_value": "CUTENSOR_STATUS_INVALID_VALUE", "not_supported": "CUTENSOR_STATUS_NOT_SUPPORTED",
        "internal": "CUTENSOR_STATUS_INTERNAL_ERROR",
    },
)  # fmt: skip

CUFILE = Replaced(
    "cufile", "cuFile", (Variant("0", "libcufile.so.0", (12, 13)),), "", "", (), "CUfileOpError",
    {
        "success": "CU_FILE_SUCCESS", "not_initialized": "CU_FILE_DRIVER_NOT_INITIALIZED", "invalid_value": "CU_FILE_INVALID_VALUE",
        "not_supported": "CU_FILE_PLATFORM_NOT_SUPPORTED", "internal": "CU_FILE_INTERNAL_ERROR",
    },
    versioned=False,
)  # fmt: skip

CUFILE_VERSION = (1, 20, 0)
"""Of the package whose header its table was made from: the header has none."""

CUSPARSELT = Replaced(
    "cusparselt", "cuSPARSELt", (Variant("0", "libcusparseLt.so.0", (12, 13)),), "", "", (), "cusparseStatus_t",
    LIBRARIES["cusparse"].codes, versioned=False,
)  # fmt: skip

NVSHMEM = Replaced(
    "nvshmem", "NVSHMEM", (Variant("3", "libnvshmem_host.so.3", (12, 13)),), "", "", (), "nvshmemx_status",
    {
        "success": "NVSHMEMX_SUCCESS", "not_initialized": "NVSHMEMX_ERROR_INTERNAL", "invalid_value": "NVSHMEMX_ERROR_INVALID_VALUE",
        "not_supported": "NVSHMEMX_ERROR_NOT_SUPPORTED", "internal": "NVSHMEMX_ERROR_INTERNAL",
    },
)  # fmt: skip

REPLACED = {
    **LIBRARIES, "cudnn": CUDNN, "cutensor": CUTENSOR, "cufile": CUFILE, "cusparselt": CUSPARSELT, "nvshmem": NVSHMEM,
}  # fmt: skip

_ALLOC_FAILED = {
    "cublas": "CUBLAS_STATUS_ALLOC_FAILED", "cublaslt": "CUBLAS_STATUS_ALLOC_FAILED", "cufft": "CUFFT_ALLOC_FAILED",
    "curand": "CURAND_STATUS_ALLOCATION_FAILED", "cusparse": "CUSPARSE_STATUS_ALLOC_FAILED",
    "cusolver": "CUSOLVER_STATUS_ALLOC_FAILED", "nccl": "ncclSystemError", "cudnn": "CUDNN_STATUS_ALLOC_FAILED",
    "cutensor": "CUTENSOR_STATUS_ALLOC_FAILED", "cufile": "CU_FILE_NOMEM_ERROR", "cusparselt": "CUSPARSE_STATUS_ALLOC_FAILED",
    "nvshmem": "NVSHMEMX_ERROR_OUT_OF_MEMORY",
}  # fmt: skip


def functions_of(library: Library, variant: Variant) -> list[Function]:
    """Return the functions that a variant exports."""
    return [f for f in library.functions if set(variant.majors) & set(f.majors)]


def version_of(library: Library, variant: Variant) -> tuple[int, int, int]:
    """Return major, minor and patch of NVIDIA's header of a variant."""
    if library.stem == "cudnn":
        return CUDNN_VERSIONS[max(variant.majors)]
    macros = {c.name: c.values.get(max(variant.majors), 0) for c in library.constants.get("#define", ())}
    prefix = library.stem.upper().replace("CUBLASLT", "CUBLAS")
    if library.stem == "cufile":
        return CUFILE_VERSION
    spelt = {"nccl": "{}", "cutensor": "{}", "nvshmem": "VENDOR_{}_VERSION"}.get(library.stem, "VER_{}")
    parts = [spelt.format(part) for part in ("MAJOR", "MINOR", "PATCH")]
    if prefix == "CUBLAS" and library.stem == "cublaslt":
        return version_of(load("cublas"), variant)
    major, minor, patch = (macros[f"{prefix}_{part}"] for part in parts)
    return major, minor, patch


REASONS = {
    r"cusparseSpMMOp\w*": "its operators come as LTO-IR, code that only NVIDIA's own linker reads",
}
"""Why functions cannot be there, by their names."""


def absent(function: Function, status: str) -> str:
    """Return the C++ of a function that says that it is not there; it reads no arguments, whatever it is called with."""
    reason = next(
        (r for names, r in REASONS.items() if re.fullmatch(names, function.name)), "not there yet on the device cpu"
    )
    number = f'aw::lib::absent("{function.name}", "{reason}")'
    plain = "int" if status == "nvshmemx_status" else status  # whose functions return its numbers as int
    if function.result in ("", plain, status, status.removesuffix("_t"), status + "_t"):
        return f"AW_PUBLIC int {function.name}() {{ return {number}; }}\n"
    if function.result == "CUfileError_t":  # two words, of which the second is a CUresult: success
        return f"AW_PUBLIC uint64_t {function.name}() {{ return uint32_t({number}); }}\n"
    if function.result == "ssize_t":  # how much was read or written, or a status with its sign changed
        return f"AW_PUBLIC ssize_t {function.name}() {{ return -{number}; }}\n"
    said = f"{number};"
    if function.result == "void":
        return f"AW_PUBLIC void {function.name}() {{ {said} }}\n"
    kind = {"cuComplex": "aw_complex<float>", "cuDoubleComplex": "aw_complex<double>"}.get(
        function.result, function.result
    )
    if kind not in ("float", "double", "int", "size_t") and "complex" not in kind:
        kind = "void*"
    return f"AW_PUBLIC {kind} {function.name}() {{ {said} return {{}}; }}\n"


def source(library: Library, replaced: Replaced, variant: Variant) -> str:
    """Return the C++ of what answers where nothing is written by hand, and the library's codes."""
    names = ("success", "not_initialized", "alloc_failed", "invalid_value", "not_supported", "internal")
    codes = {**replaced.codes, "alloc_failed": _ALLOC_FAILED[replaced.stem]}
    # cuDNN 9 counts its statuses anew.
    values = {
        c.name: c.values.get(variant.majors[0], next(iter(c.values.values())))
        for c in library.constants[replaced.status]
    }
    numbers = ", ".join(str(values[codes[name]]) for name in names)
    return "".join(
        [
            MADE,
            '#include <sys/types.h>\n\n#include <cstddef>\n#include <cstdint>\n\n#include "libraries/api.h"\n\n',
            "#define AW_PUBLIC AW_EXPORT __attribute__((weak))\n",
            "template <class T>\nstruct aw_complex {\n  T x, y;\n};\n\n",
            f"const aw::lib::Codes aw::lib::codes = {{{numbers}}};\n",
            f"const aw::lib::Version aw::lib::version = {{{max(variant.majors)}, {', '.join(map(str, version_of(library, variant)))}}};\n\n",
            *(absent(function, replaced.status) for function in functions_of(library, variant)),
        ]
    )


def exports(library: Library, replaced: Replaced, variant: Variant) -> str:
    """Return a linker version script: every function, under the version that the original has, and nothing else."""
    if symbols := symbols_of(replaced.stem):
        return _versions(symbols)
    version = f"{variant.soname} " if replaced.versioned else ""
    names = sorted(f.name for f in functions_of(library, variant))
    return f"{version}{{\n  global:\n" + "".join(f"    {name};\n" for name in names) + "  local:\n    *;\n};\n"


def _versions(symbols: tuple[Symbol, ...]) -> str:
    by_version: dict[str, list[str]] = {}
    for symbol in symbols:
        by_version.setdefault(symbol.version, []).append(symbol.name)
    nodes = [
        f"{version} {{\n  global:\n" + "".join(f"    {name};\n" for name in sorted(names)) + "};\n"
        for version, names in sorted(by_version.items())
    ]
    nodes[0] = nodes[0].replace("};", "  local:\n    *;\n};")
    return "".join(nodes)


def main(stem: str, directory: Path) -> None:
    """Write the files of one library."""
    directory.mkdir(parents=True, exist_ok=True)
    library, replaced = load(stem), REPLACED[stem]
    for variant in replaced.variants:
        made = {"absent.cpp": source(library, replaced, variant), "exports.map": exports(library, replaced, variant)}
        for name, text in made.items():
            (directory / f"{stem}_{variant.name}_{name}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
