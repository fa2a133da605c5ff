"""Write cuBLAS's exported functions that differ in the type and the width of their arguments only: each calls the template of its family.

The build runs it (`python generate_blas.py OUTDIR`, with the standard library only). A family is a template in the chapter's header in
`native/libraries/cublas`; C++ finds the type of the elements by the arguments. The interface of before CUDA 4 (`cublasSgemm`, by `legacy.h`) and that of
several devices (`cublasXtSgemm`, by `xt.h`) are calls of the same templates.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

if __name__ == "__main__" and not __package__:  # run as a file by the build, where nothing is installed
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from anywarp.catalogue.rocm import Function, load, parameters_of

MADE = "// Made by anywarp/catalogue/generate_blas.py; change the templates instead.\n"

CHAPTERS: dict[str, tuple[str, ...]] = {
    "level1": ("asum", "axpy", "copy", "dot", "dotc", "dotu", "iamax", "iamin", "nrm2", "rot", "rotg", "rotm", "rotmg", "scal", "swap"),
    "level2": (
        "gbmv", "gemv", "ger", "gerc", "geru", "hbmv", "hemv", "her", "her2", "hpmv", "hpr", "hpr2", "sbmv", "spmv", "spr", "spr2",
        "symv", "syr", "syr2", "tbmv", "tbsv", "tpmv", "tpsv", "trmv", "trsv",
    ),
    "level3": (
        "dgmm", "geam", "gemm", "gemm3m", "hemm", "her2k", "herk", "herkx", "symm", "syr2k", "syrk", "syrkx", "tpttr", "trmm", "trsm",
        "trttp",
    ),
    "batched": (
        "gemm3mBatched", "gemm3mStridedBatched", "gemmBatched", "gemmGroupedBatched", "gemmStridedBatched", "gemvBatched",
        "gemvStridedBatched", "trsmBatched",
    ),
    "extended": (
        "AsumEx", "AxpyEx", "CopyEx", "DotEx", "DotcEx", "GemmBatchedEx", "GemmEx", "GemmGroupedBatchedEx", "GemmStridedBatchedEx",
        "HSHgemvBatched", "HSHgemvStridedBatched", "HSSgemvBatched", "HSSgemvStridedBatched", "Hgemm", "HgemmBatched",
        "HgemmStridedBatched", "Nrm2Ex", "RotEx", "ScalEx", "SwapEx", "TSSgemvBatched", "TSSgemvStridedBatched", "TSTgemvBatched",
        "CherkEx", "Cherk3mEx", "CsyrkEx", "Csyrk3mEx", "IamaxEx", "IaminEx", "RotgEx", "RotmEx", "RotmgEx", "TSTgemvStridedBatched",
        "gemm3mEx", "gemmEx",
    ),
    "transfers": (
        "GetMatrix", "GetMatrixAsync", "GetVector", "GetVectorAsync", "SetMatrix", "SetMatrixAsync", "SetVector", "SetVectorAsync",
    ),
    "factor": ("gelsBatched", "geqrfBatched", "getrfBatched", "getriBatched", "getrsBatched", "matinvBatched"),
}  # fmt: skip
"""By header: the families in it."""

_NAME = re.compile(r"cublas(I?)(\w+?)(?:_v2)?(?:_64)?")
_XT = re.compile(r"cublasXt[SDCZ](\w+)")
_TYPES = ("Sc", "Dz", "Cs", "Zd", "S", "D", "C", "Z", "s", "d", "c", "z")
"""What says the type in a name: of the elements, or of the result and the elements (Scasum), or of the elements and a factor (Csscal)."""


def family_of(function: Function) -> str | None:
    """Return the family of a function that takes a handle or copies; None for those of other chapters and those written by hand."""
    match = _NAME.fullmatch(function.name)
    if not match:
        return None
    names = [match[1] + match[2]]
    if not _takes(function, "cublasHandle_t"):
        return next((name for name in names if name in CHAPTERS["transfers"]), None)
    names += [match[1].lower() + match[2].removeprefix(kind) for kind in _TYPES if match[2].startswith(kind)]
    return next((name for name in names if any(name in families for families in CHAPTERS.values())), None)


def _takes(function: Function, kind: str) -> bool:
    return any(kind in text for text in function.parameters.values())


def call(function: Function) -> str:
    """Return the C++ of one function with a handle, or of a copy."""
    parameters = function.parameters[max(function.parameters)]
    names = [parameter.name for parameter in parameters_of(parameters)]
    return (
        f"AW_EXPORT cublasStatus_t {function.name}({parameters}) {{\n"
        f'  return api<"{function.name}">([&] {{ aw::cublas::{family_of(function)}({", ".join(names)}); }}, {", ".join(names)});\n}}\n'
    )


def legacy_call(function: Function, family: str) -> str:
    """Return the C++ of a function of before CUDA 4: letters say what enums say today, and scalars come by value."""
    parameters = function.parameters[max(function.parameters)]
    names, passed = list[str](), list[str]()
    for parameter in parameters_of(parameters):
        names.append(parameter.name)
        if parameter.base == "char":
            passed.append(f"{next(word for word in _LETTERS if parameter.name.startswith(word))}_of({parameter.name})")
        else:
            passed.append(("" if parameter.pointers or parameter.base == "int" else "&") + parameter.name)
    if family == "trmm":
        passed += ["B", "ldb"]  # its successor can write to another matrix
    result = function.result
    if result != "void":
        passed.append("&result")
    return (
        f"AW_EXPORT {result} {function.name}({parameters}) {{\n"
        + (f"  {result} result{{}};\n" if result != "void" else "")
        + f'  legacy<"{function.name}">([&](cublasHandle_t handle) {{ aw::cublas::{family}(handle, {", ".join(passed)}); }}, '
        + f"{', '.join(names)});\n"
        + ("  return result;\n" if result != "void" else "")
        + "}\n"
    )


_LETTERS = ("trans", "uplo", "diag", "side")
"""What a parameter that is a letter begins with; `trans_of` and the like in `legacy.h` say which constant it is."""


def legacy_calls(functions: Iterable[Function]) -> str:
    """Return the functions of before CUDA 4 that compute: those that have a successor with a handle."""
    successors = {f.name.removesuffix("_v2"): family_of(f) for f in functions if f.name.endswith("_v2")}
    chosen = (
        (f, family) for f in functions if not _takes(f, "Handle_t") and (family := successors.get(f.name)) is not None
    )
    return "".join(legacy_call(f, family) for f, family in chosen)


def xt_calls(functions: Iterable[Function]) -> str:
    """Return the functions for several devices that compute."""
    made = list[str]()
    for function in functions:
        match = _XT.fullmatch(function.name)
        if match and match[1] in (*CHAPTERS["level3"], "spmm"):
            parameters = function.parameters[max(function.parameters)]
            names = ", ".join(parameter.name for parameter in parameters_of(parameters))
            made.append(
                f"AW_EXPORT cublasStatus_t {function.name}({parameters}) {{\n"
                f'  return api<"{function.name}">([&] {{ on_host(handle, [&](cublasHandle_t own) {{ '
                f"aw::cublas::{match[1]}(own, {names.removeprefix('handle, ')}); }}); }}, {names});\n}}\n"
            )
    return "".join(made)


def main(directory: Path) -> None:
    """Write one file per chapter; versions of CUDA declare these functions alike."""
    directory.mkdir(parents=True, exist_ok=True)
    functions = load("cublas").functions
    chapters = {
        chapter: "".join(call(f) for f in functions if family_of(f) in families)
        for chapter, families in CHAPTERS.items()
    }
    chapters |= {"legacy": legacy_calls(functions), "xt": xt_calls(functions)}
    for chapter, text in chapters.items():
        text = f'{MADE}#include "libraries/cublas/{chapter}.h"\n\nusing namespace aw::cublas;\n\n{text}'
        (directory / f"cublas_{chapter}.cpp").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
