"""Derive the tables of runtime functions and of signatures, and our headers, from public headers and exported symbols.

A developer runs it (`--toolkit MAJOR INCLUDE LIBRARY`, twice) when NVIDIA publishes a version, or with `--sync` when
`native/cudart` has gained functions. Needs gcc, nm and the package pycparser for the former.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from anywarp.catalogue import coverage
from anywarp.catalogue.runtime import DATA, RuntimeRow, RuntimeTable, load

REPOSITORY = Path(__file__).resolve().parents[3]
HEADERS = REPOSITORY / "src" / "anywarp" / "toolchain" / "include"

# What compilers call; the interface between them and the library is not in the API's headers.
REGISTRATION = {
    "__cudaRegisterFatBinary": ("void **", "void *fatCubin"),
    "__cudaRegisterFatBinaryEnd": ("void", "void **fatCubinHandle"),
    "__cudaUnregisterFatBinary": ("void", "void **fatCubinHandle"),
    "__cudaRegisterVar": (
        "void",
        "void **fatCubinHandle, char *hostVar, char *deviceAddress, const char *deviceName, int ext, size_t size, "
        "int constant, int global",
    ),
    "__cudaRegisterHostVar": ("void", "void **fatCubinHandle, const char *deviceName, char *hostVar, size_t size"),
    "__cudaRegisterManagedVar": (
        "void",
        "void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress, const char *deviceName, int ext, "
        "size_t size, int constant, int global",
    ),
    "__cudaRegisterTexture": (
        "void",
        "void **fatCubinHandle, const struct textureReference *hostVar, const void **deviceAddress, "
        "const char *deviceName, int dim, int norm, int ext",
    ),
    "__cudaRegisterSurface": (
        "void",
        "void **fatCubinHandle, const struct surfaceReference *hostVar, const void **deviceAddress, "
        "const char *deviceName, int dim, int ext",
    ),
    "__cudaRegisterFunction": (
        "void",
        "void **fatCubinHandle, const char *hostFun, char *deviceFun, const char *deviceName, int thread_limit, "
        "uint3 *tid, uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize",
    ),
    "__cudaRegisterUnifiedTable": ("void", "void *table"),
    "__cudaInitModule": ("char", "void **fatCubinHandle"),
    "__cudaPushCallConfiguration": (
        "unsigned int",
        "dim3 gridDim, dim3 blockDim, size_t sharedMem, struct CUstream_st *stream",
    ),
    "__cudaPopCallConfiguration": ("cudaError_t", "dim3 *gridDim, dim3 *blockDim, size_t *sharedMem, void *stream"),
    "__cudaGetKernel": ("cudaError_t", "cudaKernel_t *kernel, const void *entryFuncAddr"),
    "__cudaLaunchKernel": (
        "cudaError_t",
        "cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream",
    ),
    "__cudaLaunchKernel_ptsz": (
        "cudaError_t",
        "cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream",
    ),
    "__cudaGetProcAddress": (
        "cudaError_t",
        "const char *symbol, void **function, int version, unsigned long long flags",
    ),
}

# Why a function is absent, by the first pattern that matches its name.
REASONS = (
    (r"cuda(Graphics|GL|EGL|VDPAU|EventCreateFromEGLSync)|cuda\w*VDPAU", "no OpenGL, EGL or VDPAU device is shared with graphics"),
    (r".*NvSciSync", "hardware that the device does not have"),
    (r"__cuda(RegisterUnifiedTable|GetProcAddress)", "what it does is not documented"),
    (r"cudaSubgrid", "what it does is not documented"),
)  # fmt: skip
ANY_REASON = "not there yet"


def exports_of(library: Path) -> list[str]:
    """Return the functions that a shared library exports."""
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    names = {line.split()[2].split("@")[0] for line in done.stdout.splitlines() if line.split()[1] in "TW"}
    return sorted(names)


def reason_for(name: str) -> str:
    """Say why a function is absent."""
    return next((reason for pattern, reason in REASONS if re.match(pattern, name)), ANY_REASON)


def defined_in(folder: Path, names: Container[str]) -> set[str]:
    """Find which functions `native/cudart` defines: `rt::name(...) {`, or `rt::AW_V2(name)(...) {`."""
    found: set[str] = set()
    for file in sorted(folder.glob("*.cpp")):
        text = re.sub(r"//[^\n]*", " ", file.read_text(encoding="utf-8"))
        found |= set(re.findall(r"^[a-z][^;(){}\n]*\brt::((?:__)?cuda[A-Z]\w*)\(", text, re.MULTILINE))
        for version, name in re.findall(r"^[a-z][^;(){}\n]*\brt::AW_V(\d)\((cuda\w+)\)\(", text, re.MULTILINE):
            found |= {name, f"{name}_v{version}"}
    variants = {f"{name}_{suffix}" for name in found for suffix in ("ptsz", "ptds")}
    return {name for name in found | variants if name in names}


def sync(table: RuntimeTable, defined: Container[str]) -> RuntimeTable:
    """Set every route from the functions that are defined."""
    rows: list[RuntimeRow] = []
    for row in table.rows:
        if row.name in defined:
            row = replace(row, route="custom", reason="")
        elif row.route == "custom" or row.reason == ANY_REASON:
            row = replace(row, route="absent", reason=reason_for(row.name))
        rows.append(row)
    return RuntimeTable(table.source, tuple(rows))


def _signatures(functions: Mapping[str, tuple[str, str]], name: str) -> tuple[str, str]:
    if name in REGISTRATION:
        return REGISTRATION[name]
    if name not in functions:
        print(f"{name} is exported, and no header declares it", file=sys.stderr)
        return ("cudaError_t", "void")
    return functions[name]


def tables(toolkits: Mapping[int, tuple[Path, Path]], lenders: Sequence[Path]) -> None:
    """Write the tables and headers from (include directory, library) by major version."""
    from anywarp.catalogue import headers, interface  # the developer's packages are needed only here

    exported: dict[int, list[str]] = {}
    known: dict[int, dict[str, tuple[str, str]]] = {}
    for major, (include, library) in toolkits.items():
        facts = interface.read([include, *lenders])
        headers.write(facts, major, HEADERS / str(major))
        exported[major] = exports_of(library)
        known[major] = {f.name: (f.result, f.declared()) for f in facts.functions.values()}
    rows: list[RuntimeRow] = []
    for name in sorted({*exported[12], *exported[13]}):
        majors = tuple(m for m in (12, 13) if name in exported[m])
        result, first = _signatures(known[majors[0]], name)
        second = _signatures(known[majors[-1]], name)[1]
        if majors == (13,):
            first, second = "", first
        rows.append(
            RuntimeRow(name, majors, "absent", reason_for(name), result, first, second if second != first else "=")
        )
    source = "functions of libcudart.so.12 and .13, from their exports and public headers by anywarp.catalogue.derive_runtime"
    (DATA / "cudart.tsv").write_text(RuntimeTable(source, tuple(rows)).as_text(), encoding="utf-8")
    driver = {name: text for name, text in {**known[12], **known[13]}.items() if re.match(r"cu[A-Z]", name)}
    lines = [
        "# parameters of the functions of libcuda.so.1, by anywarp.catalogue.derive_runtime",
        "name\tresult\tparameters",
    ]
    lines += ["\t".join((name, *driver[name])) for name in sorted(driver)]
    (DATA / "cuda_signatures.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m anywarp.catalogue.derive_runtime", description=__doc__)
    parser.add_argument("--toolkit", nargs=3, action="append", default=[], metavar=("MAJOR", "INCLUDE", "LIBRARY"))
    parser.add_argument(
        "--lender", type=Path, action="append", default=[], help="an include directory for what the others lack"
    )
    parser.add_argument("--sync", action="store_true", help="only set the routes from native/cudart/*.cpp")
    options = parser.parse_args(arguments)
    if options.toolkit:
        tables({int(m): (Path(i), Path(lib)) for m, i, lib in options.toolkit}, options.lender)
    path = DATA / "cudart.tsv"
    table = load(path)
    table = sync(table, defined_in(REPOSITORY / "native" / "cudart", {row.name for row in table.rows}))
    path.write_text(table.as_text(), encoding="utf-8")
    page = REPOSITORY / "docs" / "coverage" / "libcudart.md"
    page.write_text(coverage.runtime_as_markdown(table), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
