"""Finding a clang that compiles CUDA: the one of the package `ziglang`, or one on the path.

It needs the NVPTX back end and nothing else of a CUDA toolkit: headers are ours.
"""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anywarp import settings
from anywarp.toolchain import codes

OLDEST = 19
"""The oldest clang whose CUDA mode we use (PTX 8.6, __grid_constant__)."""

_NAMES = ("clang++", *(f"clang++-{version}" for version in range(26, OLDEST - 1, -1)))


@dataclass(frozen=True, slots=True)
class Clang:
    """How clang is called: the words that start it, the options it always gets, its version's first number."""

    command: tuple[str, ...]
    options: tuple[str, ...]
    version: int


@cache
def find() -> Clang:
    """Return the clang to use: ANYWARP_CLANG, else the package ziglang's, else one on the path. AnywarpError (T001) for none."""
    asked = settings.CLANG.get()
    if asked:
        return _on_path(asked) or _none(
            f"{asked} (ANYWARP_CLANG) is no clang {OLDEST} or newer with the NVPTX back end"
        )
    packaged = _of_package()
    if packaged is not None:
        return packaged
    for name in _NAMES:
        found = _on_path(name)
        if found is not None:
            return found
    return _none("CUDA C++ is compiled by clang, and there is none here")


def host_triple() -> str:
    """Return the triple of this machine's own code, with glibc."""
    return f"{platform.machine()}-linux-gnu"


def _of_package() -> Clang | None:
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0])
    if not (folder / "zig").is_file():
        return None
    # The wheel keeps clang's own headers where clang itself does not look for them.
    return Clang((str(folder / "zig"), "clang"), ("-resource-dir", str(folder / "lib")), OLDEST)


def _on_path(name: str) -> Clang | None:
    program = shutil.which(name)
    if program is None:
        return None
    match = re.search(r"clang version (\d+)", _printed(program, "--version"))
    if match is None or int(match[1]) < OLDEST or "nvptx64" not in _printed(program, "--print-targets"):
        return None
    return Clang((program,), (), int(match[1]))


def _printed(program: str, question: str) -> str:
    return subprocess.run([program, question], capture_output=True, text=True, check=False).stdout


def _none(message: str) -> Clang:
    raise codes.problem(codes.NO_CLANG, message, "install one as a package: python -m pip install 'anywarp[nvcc]'")
