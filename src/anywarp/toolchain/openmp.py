"""OpenMP in the host's half of CUDA C++: its header, and the runtime that clang's code calls.

GCC keeps `omp.h` where only GCC looks. Its runtime, libgomp, has the functions of the standard but not those that clang's code calls (`__kmpc_*`):
these are LLVM's, which the system has as libomp, or Intel's build of it from the package index (`intel-openmp`). Both also have what
GCC's code calls (`GOMP_*`), so that files which the host's compiler compiled share one team of threads with those that clang did.
"""

from __future__ import annotations

import ctypes.util
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from anywarp import settings
from anywarp.toolchain import codes, placing

OPTION = "-fopenmp"
_HEADER = "omp.h"
_NAMES = ("libomp.so", "libomp.so.5", "libiomp5.so")


def as_clang(words: Sequence[str]) -> list[str]:
    """Return options for the host's compiler, of which OpenMP is asked of clang by its runtime's name. AnywarpError (T010) without one."""
    if OPTION in words:
        runtime()
    return [f"{OPTION}=libomp" if word == OPTION else word for word in words]


def linked(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the linker's options without OpenMP's, and what brings in its runtime: before libraries that a program names, libgomp among them."""
    if OPTION not in words:
        return list(words), []
    place = runtime()
    return [word for word in words if word != OPTION], [str(place), f"-Wl,-rpath,{place.parent}"]


def header() -> list[str]:
    """Return the option for a folder that has GCC's `omp.h` alone, which nvcc's programs find without asking; nothing where there is none."""
    found = _header()
    if found is None:
        return []
    folder = settings.CACHE_DIR.get().absolute() / "openmp" / found.parent.as_posix().strip("/").replace("/", "-")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    placing.link(folder / _HEADER, found)
    return ["-idirafter", str(folder)]


def runtime() -> Path:
    """Return LLVM's runtime for OpenMP. AnywarpError (T010) where there is none."""
    found = next((place for place in _places() if place.exists()), None)
    if found is None:
        raise codes.problem(
            codes.OPENMP, "OpenMP in CUDA C++ needs LLVM's runtime for it (libomp), and there is none here",
            "python -m pip install --no-deps intel-openmp, or install the system's libomp",
        )  # fmt: skip
    return found


def _places() -> Iterator[Path]:
    folders = [Path(sysconfig.get_path("data")) / "lib"]
    folders += sorted(Path("/usr/lib").glob("llvm-*/lib"), reverse=True)
    for folder in folders:
        for name in _NAMES:
            yield folder / name
    for name in ("omp", "iomp5"):
        known = ctypes.util.find_library(name)
        if known is not None:
            yield from (folder / known for folder in _system())


def _system() -> Iterator[Path]:
    machine = sysconfig.get_config_var("MULTIARCH") or ""
    for folder in (f"/usr/lib/{machine}", f"/lib/{machine}", "/usr/lib64", "/usr/local/lib", "/usr/lib"):
        yield Path(folder)


@cache
def _header() -> Path | None:
    for compiler in (settings.CXX.get(), "g++", "c++", "gcc"):
        words = compiler.split()
        if not words or shutil.which(words[0]) is None:
            continue
        asked = [*words, f"-print-file-name=include/{_HEADER}"]
        place = Path(subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip())
        if place.is_absolute() and place.is_file():
            return place.resolve()
    return None
