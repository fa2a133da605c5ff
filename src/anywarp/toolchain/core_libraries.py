"""Finding NVIDIA's CUDA C++ Core Libraries (CCCL: Thrust, CUB, libcu++), which are headers under Apache-2.0 and come with toolkits.

nvcc has them on its include path, and so programs take them for granted. They are not ours and not copied: where this machine has them, they
are searched before our headers, of which some (`cuda/atomic`, `thrust/complex.h` ...) stand in for the most frequent of them.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from anywarp import settings
from anywarp.toolchain import codes, placing

_PARTS = ("thrust", "cub", "cuda", "nv")
_MARK = "thrust/version.h"
_IN_PACKAGES = ("nvidia/cu13/include/cccl", "nvidia/cuda_cccl/include", "cuda/cccl/headers/include")
"""Where packages of the index have them: nvidia-cuda-cccl, nvidia-cuda-cccl-cu12, cuda-cccl."""

_WANTED = re.compile(r"(?<![\w./-])(?:thrust|cub|cuda|nv)/[\w./-]+")
"""A header of theirs among the dependencies that clang lists without having found it: as it is included, not by a path."""


@cache
def folder() -> Path | None:
    """Return the folder to search for their headers, with nothing else in it; None where there is none.

    ANYWARP_CCCL, else CUDA_HOME, CUDA_PATH or /usr/local/cuda, else the packages of this Python. AnywarpError (T009) where ANYWARP_CCCL names none.
    """
    asked = settings.CCCL.get()
    if asked == "none":
        return None
    if asked:
        if not (Path(asked) / _MARK).is_file():
            raise codes.problem(
                codes.CORE_LIBRARIES,
                f"{asked} (ANYWARP_CCCL) has no {_MARK}",
                "name the folder in which `thrust` and `cub` lie",
            )
        return _apart(Path(asked))
    return next((_apart(place) for place in _places() if (place / _MARK).is_file()), None)


def options() -> list[str]:
    """Return the compiler's options for them."""
    place = folder()
    return [] if place is None else ["-isystem", str(place)]


def missing(command: Sequence[str]) -> str | None:
    """Return a header of theirs that a compilation did not find, where they are not here; `command` compiles, and lists dependencies here."""
    if folder() is not None:
        return None
    # -MG takes a header that is not there for one that is yet to be made, and lists it as it is included.
    listed = subprocess.run([*command, "-M", "-MG", "-MF", "-"], capture_output=True, text=True, check=False).stdout
    found = _WANTED.search(listed.replace("\\\n", " "))
    return found[0] if found else None


def _places() -> Iterator[Path]:
    environment = settings.environment()
    for home in (environment.get("CUDA_HOME"), environment.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            yield Path(home) / "include/cccl"  # from CUDA 13 on
            yield Path(home) / "include"
    for packages in dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))):
        for inside in _IN_PACKAGES:
            yield Path(packages) / inside


def _apart(place: Path) -> Path:
    """Return a folder with their headers alone: toolkits up to CUDA 12 have them beside their own, which must not be taken for ours."""
    if not (place / "cuda_runtime.h").exists():
        return place
    name = hashlib.sha256(str(place.resolve()).encode()).hexdigest()[:12]
    apart = settings.CACHE_DIR.get().absolute() / f"cccl-{name}"
    apart.mkdir(mode=0o700, parents=True, exist_ok=True)
    for part in _PARTS:
        target = place.resolve() / part
        if target.is_dir():
            placing.link(apart / part, target)
    return apart
