"""Derive the table of driver functions from public headers, and set routes from the functions that exist.

A developer runs it when NVIDIA publishes headers (`--headers DIRECTORY ...`, oldest first) or when `native/cuda` or `native/cpu` has gained
functions (`--sync`). Only facts go into the table: names, versions, parameter counts. Needs a C preprocessor (`cpp`).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from anywarp.catalogue import coverage
from anywarp.catalogue.load import DATA, Row, Table, load

HEADERS = ("cuda.h", "cudaGL.h", "cudaVDPAU.h", "cudaEGL.h", "cudaProfiler.h")
TYPEDEFS = (
    "cudaTypedefs.h",
    "cudaGLTypedefs.h",
    "cudaVDPAUTypedefs.h",
    "cudaEGLTypedefs.h",
    "cudaProfilerTypedefs.h",
)
# What the headers include from elsewhere; only names are wanted, so empty files do.
FOREIGN = ("GL/gl.h", "GL/glext.h", "vdpau/vdpau.h", "EGL/egl.h", "EGL/eglext.h", "crt/host_defines.h")
# Every variant is declared under the first; the others are the views of ordinary programs.
VIEWS = ("-D__CUDA_API_VERSION_INTERNAL", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM", "-DANYWARP_DEFAULT_VIEW")

_PARAMETERS = r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)"
_PROTOTYPE = re.compile(rf"\bCUresult (?:__attribute__\(\(\w+\)\) )?(cu[A-Z]\w*) ?{_PARAMETERS} ?;")
_TYPEDEF = re.compile(r"\*PFN_(cu[A-Z]\w*?)_v(\d+)(_pt[sd][sz])?\)")
_VARIANT = re.compile(r"(_v\d+)?(_pt[sd][sz])?$")
_ORDINAL = re.compile(r"_v(\d+)(?:_pt[sd][sz])?$")
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXTS = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_CALL = re.compile(rf"\b(cu[A-Z]\w*)\s*{_PARAMETERS}\s*(?:noexcept\s*)?(?:try\s*)?\{{", re.DOTALL)

# The reason given for an absent function, by the first pattern that matches its name; a row's reason may be edited.
REASONS = (
    (r"cu(Graphics)?(GL|EGL|VDPAU)|cuGraphicsEGL|cuEventCreateFromEGLSync", "no OpenGL, EGL or VDPAU device is shared with graphics"),
    (r"cuGraphics", "there are no graphics resources to share"),
    (r"cuTexRef|cuModuleGetTexRef|cuModuleGetSurfRef|cuSurfRef|cuParamSetTexRef", "texture and surface references are deprecated since CUDA 11"),
    (r"cuMemMapArray", "sparse CUDA arrays are not there"),
    (r"cuTensorMapSetAllocationClass", "hardware that the device does not have"),
    (r"cuExternalMemoryGetMappedMipmappedArray", "how another interface lays out images is not known"),
    (r"cuMulticast", "the instructions for such memory (multimem) need compute capability 9.0; the device says so (attribute 132)"),
    (r"cuCheckpoint", "the memory of device and host is one, which checkpoints of processes hold anyway"),
    (r"cuDeviceGetLuid", "a number of Windows"),
    (r"cuDeviceGet(Clique|Fabric)", "hardware that the device does not have"),
    (r"cuMemGetHandleForAddressRange", "memory has no dma-buf"),
    (r"cuFlushGPUDirect|cuFabric|cuMemBatchDecompress|.*NvSciSync|.*Cig\b|.*ToCig", "hardware that the device does not have"),
    (r"cuStream(Begin|End|Is)?Captur|cuStreamGetCapture|cuStreamUpdateCapture|cuThreadExchangeStreamCapture", "streams are not captured yet"),
    (r"cuGraph", "this part of graphs is not there yet"),
    (r"cuUserObject", "user objects of graphs are not there yet"),
    (r"cuStream(Wait|Write)Value|cuStreamBatchMemOp", "memory operations on streams are not there yet"),
    (r"cuLogicalEndpoint", "hardware that the device does not have"),
    (r"cuLink", "linking at run time is not there yet"),
    (r"cuMem(Address|Map|Unmap|Create|Release|SetAccess|GetAccess|Retain|GetAllocation)", "virtual memory management is not there yet"),
    (r"cuMemPool|cuMem\w*Pool|cuDevice\w*Pool", "this part of memory pools is not there yet"),
    (r"cuParam|cuLaunch(Grid|GridAsync)?$|cuFuncSet(BlockShape|SharedSize)|cuCtx(Attach|Detach)", "removed by NVIDIA after CUDA 3"),
)  # fmt: skip
ANY_REASON = "not there yet"
OLD_REASON = "an interface of CUDA before 3.2, for 32-bit device addresses"


def headers_of(directory: Path) -> tuple[dict[str, int], dict[tuple[str, bool], list[int]]]:
    """Read one directory of headers: each function's parameter count, and the versions of each (base, per-thread)."""
    functions: dict[str, int] = {}
    for view in VIEWS:
        for match in _PROTOTYPE.finditer(_preprocess(directory, view)):
            functions[match[1]] = _count(match[2])
    versions: dict[tuple[str, bool], list[int]] = {}
    for name in TYPEDEFS:
        for match in _TYPEDEF.finditer((directory / name).read_text(encoding="utf-8", errors="replace")):
            known = versions.setdefault((match[1], bool(match[3])), [])
            known += [int(match[2])] if int(match[2]) not in known else []
    return functions, versions


def _preprocess(directory: Path, view: str) -> str:
    source = "".join(f"#include <{header}>\n" for header in HEADERS if (directory / header).exists())
    with tempfile.TemporaryDirectory() as foreign:
        for name in FOREIGN:
            (Path(foreign) / name).parent.mkdir(exist_ok=True)
            (Path(foreign) / name).touch()
        command = ["cpp", "-P", f"-I{directory}", "-idirafter", foreign, view, "-"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    return re.sub(r"\s+", " ", done.stdout)


def _count(parameters: str) -> int:
    text = re.sub(r"\([^()]*\)", "", parameters).strip()
    return 0 if text in ("", "void") else text.count(",") + 1


def derive(directories: Iterable[Path]) -> list[Row]:
    """Join the headers of several CUDA versions, oldest first, into rows that are all absent."""
    functions: dict[str, int] = {}
    versions: dict[tuple[str, bool], set[int]] = {}
    for directory in directories:
        found, dated = headers_of(directory)
        functions |= found
        for key, values in dated.items():
            versions.setdefault(key, set()).update(values)
    families: dict[tuple[str, bool], list[str]] = {}
    for name in functions:
        families.setdefault((_VARIANT.sub("", name), _is_per_thread(name)), []).append(name)
    rows: list[Row] = []
    for (base, per_thread), names in families.items():
        since = sorted(versions.get((base, per_thread), ()))
        if len(since) != len(names):
            raise SystemExit(f"{base}: {len(names)} functions but versions {since}")
        names.sort(key=_ordinal)
        for name, version in zip(names, since, strict=True):
            rows.append(Row(name, base, "absent", "", version, per_thread, functions[name], ANY_REASON))
    rows = [replace(row, reason=reason_for(row, functions)) for row in rows]
    return sorted(rows, key=lambda row: row.name)


def _is_per_thread(name: str) -> bool:
    return name.endswith(("_ptsz", "_ptds"))


def _ordinal(name: str) -> int:
    match = _ORDINAL.search(name)
    return int(match[1]) if match else 1


def reason_for(row: Row, names: Container[str]) -> str:
    """Say why a function is absent when nobody has said it better; `names` are all functions."""
    if row.since < 3020 and f"{row.base}_v2" in names and row.name == row.base:
        return OLD_REASON
    return next((reason for pattern, reason in REASONS if re.match(pattern, row.name)), ANY_REASON)


def defined_in(sources: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Find which of `names` the C++ texts define, and in which file: `name(...) {`, or `AW_DEFINE...(name`."""
    wanted = set(names)
    found: dict[str, str] = {}
    for file, text in sources.items():
        plain = _TEXTS.sub('""', _COMMENTS.sub(" ", text))
        hits = [match[1] for match in _CALL.finditer(plain)]
        hits += re.findall(r"\bAW_DEFINE\w*\(\s*(cu[A-Z]\w*)", plain)
        found |= {name: file for name in hits if name in wanted}
    return found


def sync(table: Table, defined: Iterable[str]) -> Table:
    """Set every route from the functions that are defined; aliases stay while their target is defined."""
    there, names = set(defined), {row.name for row in table.rows}
    rows: list[Row] = []
    for row in table.rows:
        if row.name in there:
            row = replace(row, route="custom", target="", reason="")
        elif row.route == "custom" or (row.route == "alias" and row.target not in there):
            row = replace(row, route="absent", target="", reason=reason_for(row, names))
        rows.append(row)
    return Table(table.source, tuple(rows))


def in_driver(native: Path, names: Sequence[str]) -> set[str]:
    """Return those of `names` that the driver for `cpu` has: defined in its sources, or a variant made of such a one (generate_per_thread)."""
    files = sorted(file for folder in ("cuda", "cpu") for file in (native / folder).glob("*.cpp"))
    sources = {str(file): file.read_text() for file in files}
    defined = set(defined_in(sources, names))
    return defined | {name for name in names if _is_per_thread(name) and name.rpartition("_")[0] in defined}


def main(arguments: Sequence[str]) -> int:
    """Run as a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m anywarp.catalogue.derive", description=__doc__)
    parser.add_argument(
        "--headers", nargs="+", type=Path, metavar="DIRECTORY", help="include directories, oldest first"
    )
    parser.add_argument(
        "--sync", action="store_true", help="set the routes from native/cuda/*.cpp and native/cpu/*.cpp"
    )
    options = parser.parse_args(arguments)
    if not options.headers and not options.sync:
        parser.error("nothing to do")
    path, repository = DATA / "cuda.tsv", Path(__file__).resolve().parents[3]
    if options.headers:
        source = f"functions of libcuda.so.1, from the public headers of CUDA {_listed(options.headers)} by anywarp.catalogue.derive"
        old = {row.name: row for row in load(path).rows} if path.exists() else {}
        rows = [_keep(row, old.get(row.name)) for row in derive(options.headers)]
        path.write_text(Table(source, tuple(rows)).as_text(), encoding="utf-8")
    table = load(path)
    table = sync(table, in_driver(repository / "native", [row.name for row in table.rows]))
    path.write_text(table.as_text(), encoding="utf-8")
    (repository / "docs" / "coverage").mkdir(exist_ok=True)
    (repository / "docs" / "coverage" / "libcuda.md").write_text(coverage.as_markdown(table), encoding="utf-8")
    return 0


def _listed(directories: Sequence[Path]) -> str:
    """Name the versions of CUDA that the headers say they are of: `12.9 and 13.5`."""
    texts = (directory.joinpath("cuda.h").read_text(encoding="utf-8", errors="replace") for directory in directories)
    found = (re.search(r"#define CUDA_VERSION (\d+)", text) for text in texts)
    versions = [f"{int(match[1]) // 1000}.{int(match[1]) % 1000 // 10}" for match in found if match is not None]
    return " and ".join(filter(None, (", ".join(versions[:-1]), versions[-1])))


def _keep(row: Row, old: Row | None) -> Row:
    return row if old is None else replace(row, route=old.route, target=old.target, reason=old.reason)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
