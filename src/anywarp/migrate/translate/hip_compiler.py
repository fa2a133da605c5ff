"""Finding a compiler for HIP with HIP's headers: what a machine with ROCm has, or one put together from packages.

Nothing of ROCm runs for compiling: clang with the back end for AMD GPUs, its own headers for HIP and HIP's headers suffice.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anywarp import settings
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.migrate.translate import build_codes as codes
from anywarp.toolchain import clang

OLDEST = 17
"""The oldest clang whose HIP serves: ROCm 6's is 17."""

_ROCM = Path("/opt/rocm")
_CLANGS = ("clang++", *(f"clang++-{version}" for version in range(26, OLDEST - 1, -1)))
_WRAPPER = "__clang_hip_runtime_wrapper.h"
_HELP = (
    "install ROCm's hipcc, or name a compiler in ANYWARP_HIP_COMPILER and folders of headers in ANYWARP_HIP_INCLUDE;"
    " docs/translate-checking.md has the commands"
)


@dataclass(frozen=True)
class HipCompiler:
    """How HIP is compiled here: the words that start the compiler and always follow, its name, and the release of HIP's headers."""

    command: tuple[str, ...]
    name: str
    hip: str
    includes: tuple[Path, ...] = ()


@cache
def find() -> HipCompiler:
    """Return the compiler to check with; AnywarpError (M160) where there is none, saying what is missing.

    In order: ANYWARP_HIP_COMPILER; hipcc or amdclang++ (ANYWARP_ROCM_PATH, /opt/rocm, the path); a clang++ on the path that
    knows AMD GPUs; the package ziglang's clang with clang's own headers for HIP from the package clang-tidy. All but the
    first two need HIP's headers: ANYWARP_HIP_INCLUDE, ROCm's folder, the package triton's, the system's.
    """
    asked = settings.HIP_COMPILER.get()
    if asked:
        return _asked(asked)
    for folder in _rocm_folders():
        for name in ("hipcc", "amdclang++"):
            program = shutil.which(str(folder / "bin" / name)) or shutil.which(str(folder / "llvm/bin" / name))
            if program:
                return _of_rocm(program, folder)
    for name in ("hipcc", "amdclang++"):
        if program := shutil.which(name):
            return _of_rocm(program, Path(program).resolve().parent.parent)
    headers = _hip_headers()
    if headers is None:
        raise _none("there is no hipcc, and no folder with HIP's headers for another clang")
    for name in _CLANGS:
        program = shutil.which(name)
        if program and _knows_amd(program):
            return HipCompiler(
                _with_headers((program,), headers, None), _version(program), hip_version(headers), _extra()
            )
    return _packaged(headers)


def hip_version(include: Path) -> str:
    """Return the release of HIP that a folder of headers belongs to, such as 7.1; empty where it does not say."""
    path = include / "hip" / "hip_version.h"
    text = path.read_text(errors="replace") if path.is_file() else ""
    numbers = dict(re.findall(r"#define HIP_VERSION_(MAJOR|MINOR)\s+(\d+)", text))
    return f"{numbers['MAJOR']}.{numbers['MINOR']}" if len(numbers) == 2 else ""


def _asked(text: str) -> HipCompiler:
    words = tuple(shlex.split(text))
    program = shutil.which(words[0])
    if program is None:
        raise _none(f"{words[0]} (ANYWARP_HIP_COMPILER) cannot be run")
    if Path(program).name.startswith(("hipcc", "amdclang")):
        return HipCompiler((program, *words[1:]), _version(program), "", _extra())
    headers = _hip_headers()
    command = (program, *words[1:]) if headers is None else _with_headers((program, *words[1:]), headers, None)
    return HipCompiler(command, _version(program), hip_version(headers) if headers else "", _extra())


def _of_rocm(program: str, folder: Path) -> HipCompiler:
    return HipCompiler((program,), _version(program), hip_version(folder / "include"), _extra())


def _extra() -> tuple[Path, ...]:
    return tuple(Path(part).expanduser() for part in settings.HIP_INCLUDE.get().split(":") if part)


def _rocm_folders() -> Iterator[Path]:
    named = settings.ROCM_PATH.get()
    if named:
        yield Path(named)
        yield Path(named).parent
    yield _ROCM


def _hip_headers() -> Path | None:
    """Return the folder that holds hip/hip_runtime.h, of HIP 6 or newer."""
    folders = [*_extra(), *(folder / "include" for folder in _rocm_folders())]
    spec = importlib.util.find_spec("triton")
    if spec is not None and spec.submodule_search_locations:
        folders.append(Path(next(iter(spec.submodule_search_locations))) / "backends/amd/include")
    folders.append(Path("/usr/include"))
    for folder in folders:
        version = hip_version(folder)
        if version and int(version.split(".")[0]) >= 6:
            return folder
    return None


def _packaged(headers: Path) -> HipCompiler:
    spec = importlib.util.find_spec("ziglang")
    program = (
        Path(next(iter(spec.submodule_search_locations))) / "zig" if spec and spec.submodule_search_locations else None
    )
    if program is None or not program.is_file():
        raise _none("there is no hipcc, no clang++ that knows AMD GPUs, and no package ziglang")
    words = (str(program), "clang")
    version = _clang_version(words)
    resources = next((folder for folder in _resource_folders() if folder.name.split(".")[0] == str(version)), None)
    if resources is None:
        raise _none(
            f"clang {version} of the package ziglang lacks clang's own headers for HIP: pip install 'clang-tidy=={version}.*'"
        )
    return HipCompiler(
        _with_headers((*words, f"--target={clang.host_triple()}"), headers, resources),
        f"clang {version} of ziglang", hip_version(headers), _extra(),
    )  # fmt: skip


def _resource_folders() -> Iterator[Path]:
    """Yield folders of clang's own headers that have those for HIP; each is named by its version."""
    places: list[Path] = []
    spec = importlib.util.find_spec("clang_tidy")
    if spec is not None and spec.submodule_search_locations:
        places += Path(next(iter(spec.submodule_search_locations))).glob("data/lib/clang/*")
    places += sorted(Path("/usr/lib").glob("llvm-*/lib/clang/*"), reverse=True)
    yield from (place for place in places if (place / "include" / _WRAPPER).is_file())


def _with_headers(command: tuple[str, ...], headers: Path, resources: Path | None) -> tuple[str, ...]:
    """Add what clang adds where it finds ROCm: HIP's headers, clang's wrappers around the C++ library's, no device libraries."""
    options = ["-nogpuinc", "-nogpulib", "-D__HIP_PLATFORM_AMD__"]
    if resources is None:
        printed = _printed(*command, "-print-resource-dir")
        resources = Path(printed.strip()) if printed.strip() else None
    else:
        options += ["-resource-dir", str(resources)]
    if resources is not None:
        options += ["-isystem", str(resources / "include" / "cuda_wrappers")]
    return (*command, *options, "-isystem", str(headers), "-include", _WRAPPER)


def _knows_amd(program: str) -> bool:
    return _clang_version((program,)) >= OLDEST and "amdgcn" in _printed(program, "--print-targets")


def _clang_version(command: tuple[str, ...]) -> int:
    match = re.search(r"clang version (\d+)", _printed(*command, "--version"))
    return int(match[1]) if match else 0


def _version(program: str) -> str:
    first = _printed(program, "--version").strip().splitlines()
    return f"{Path(program).name} ({first[0]})" if first else Path(program).name


def _printed(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _none(message: str) -> AnywarpError:
    return AnywarpError(Diagnostic(codes.NO_COMPILER, message, "warning", help=_HELP))
