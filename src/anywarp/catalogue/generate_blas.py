"""Write cuBLAS's exported functions that differ in the type and the width of their arguments only: each calls the template of its family.

The build runs it (`python generate_blas.py OUTDIR`, with the standard library only). A family is a template in the chapter's header in
`native/libraries/cublas`; C++ finds the type of the elements by the arguments.
"""

from __future__ import annotations

import re
import sys
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
        "TSTgemvStridedBatched", "gemm3mEx", "gemmEx",
    ),
    "factor": ("gelsBatched", "geqrfBatched", "getrfBatched", "getriBatched", "getrsBatched", "matinvBatched"),
}  # fmt: skip
"""By header: the families in it."""

_NAME = re.compile(r"cublas(I?)(\w+?)(?:_v2)?(?:_64)?")
_TYPES = ("Sc", "Dz", "Cs", "Zd", "S", "D", "C", "Z", "s", "d", "c", "z")
"""What says the type in a name: of the elements, or of the result and the elements (Scasum), or of the elements and a factor (Csscal)."""


def family_of(function: Function) -> str | None:
    """Return the family of a function that takes a handle; None for those that are written by hand."""
    match = _NAME.fullmatch(function.name)
    if not match or not any("cublasHandle_t" in text for text in function.parameters.values()):
        return None
    names = [match[1] + match[2]]
    names += [match[1].lower() + match[2].removeprefix(kind) for kind in _TYPES if match[2].startswith(kind)]
    return next((name for name in names if any(name in families for families in CHAPTERS.values())), None)


def call(function: Function, major: int) -> str:
    """Return the C++ of one function."""
    parameters = function.parameters[major]
    names = [parameter.name for parameter in parameters_of(parameters)]
    return (
        f"AW_EXPORT cublasStatus_t {function.name}({parameters}) {{\n"
        f'  return api<"{function.name}">([&] {{ aw::cublas::{family_of(function)}({", ".join(names)}); }}, {", ".join(names)});\n}}\n'
    )


def main(directory: Path) -> None:
    """Write one file per chapter; versions of CUDA declare these functions alike."""
    directory.mkdir(parents=True, exist_ok=True)
    functions = load("cublas").functions
    for chapter, families in CHAPTERS.items():
        chosen = "".join(call(f, max(f.parameters)) for f in functions if family_of(f) in families)
        text = f'{MADE}#include "libraries/cublas/{chapter}.h"\n\nusing aw::cublas::api;\n\n{chosen}'
        (directory / f"cublas_{chapter}.cpp").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
