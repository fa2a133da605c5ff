"""Build the libraries of the fake ROCm, once per content of their sources.

Tests ask for a folder with the libraries in it; the compiler runs only where something has changed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
API = ROOT / "native" / "hip" / "hip_api.h"
PLACE = Path(os.environ.get("FAKE_ROCM_PLACE") or ROOT / "build" / "fakes" / "rocm")
COMPILER = ("ccache", "g++") if shutil.which("ccache") else ("g++",)
FLAGS = ("-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-invalid-offsetof", "-pthread")


def hip() -> Path:
    """Return a folder with libamdhip64.so.6 and libamdhip64.so.7, in folders `6` and `7` of which each is a ROCm's lib."""
    sources = sorted(
        path
        for path in (*HERE.glob("*.[hcS]*"), HERE / "generate_hip.py", *(HERE / "hip").iterdir(), API)
        if path.is_file()
    )
    folder = PLACE / f"hip-{digest(sources)}"
    if (folder / "7" / "libamdhip64.so.7").exists():
        return folder
    work = folder.with_name(f"{folder.name}.{os.getpid()}")
    work.mkdir(parents=True)
    _run([sys.executable, HERE / "generate_hip.py", API, work])
    parts = ("hip_table.cpp", *sorted(str(path) for path in (HERE / "hip").glob("*.cpp")), str(HERE / "recorder.cpp"))
    (work / "all.cpp").write_text("".join(f'#include "{part}"\n' for part in parts))
    includes = [f"-I{path}" for path in (work, HERE, HERE / "hip", API.parent)]
    _run([*COMPILER, *FLAGS, *includes, "-c", work / "all.cpp", "-o", work / "all.o"])
    for version in ("6", "7"):
        (work / version).mkdir()
        link([work / "all.o", work / f"entries_{version}.S"], work / version / f"libamdhip64.so.{version}")
    return _kept(work, folder)


def library(name: str, runtime: int, target: Path) -> Path:
    """Build a fake of a library of ROCm (hipblas, rccl ...) as the file `target`, for the HIP runtime 6 or 7; return the file.

    What it has follows from the catalogue's tables, so each of its functions is one that a forwarder may call.
    """
    from anywarp.catalogue import rocm

    from .generate_hip import entries
    from .generate_library import functions, source

    stems = sorted(path.name.removesuffix("_types.tsv") for path in rocm.DATA.glob("*_types.tsv"))
    those, types = functions(name, runtime, [stem for stem in stems if (rocm.DATA / f"{stem}.tsv").exists()])
    if not those:
        raise LookupError(f"no table has a function of {name} for the HIP runtime {runtime}")
    text, assembly = source(those, types), entries(list(enumerate(those)))
    folder = (
        PLACE
        / f"{name}-{digest([HERE / 'recorder.cpp', HERE / 'recorder.h', HERE / 'enter.S'], text + assembly + target.name)}"
    )
    if not (folder / target.name).exists():
        work = folder.with_name(f"{folder.name}.{os.getpid()}")
        work.mkdir(parents=True)
        (work / "table.cpp").write_text(text)
        (work / "entries.S").write_text(assembly)
        for path in (work / "table.cpp", HERE / "recorder.cpp"):
            _run([*COMPILER, *FLAGS, f"-I{HERE}", "-c", path, "-o", work / f"{path.stem}.o"])
        link([work / "table.o", work / "recorder.o", work / "entries.S"], work / target.name)
        _kept(work, folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(folder / target.name, target)
    return target


def link(inputs: Sequence[Path], target: Path) -> None:
    """Link objects and assembly into a shared library whose own name is that of its file."""
    flags = ("-shared", "-pthread", f"-Wl,-soname,{target.name}", "-Wl,-Bsymbolic", "-Wl,-z,defs")
    _run(["g++", *flags, *inputs, HERE / "enter.S", "-o", target])


def digest(sources: Sequence[Path], more: str = "") -> str:
    """Return a short name for the content of some files."""
    found = hashlib.sha256(more.encode())
    for path in sources:
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


def _kept(work: Path, folder: Path) -> Path:
    try:
        work.rename(folder)
    except OSError:  # somebody else has built the same meanwhile
        shutil.rmtree(work)
    return folder


def _run(command: Sequence[object]) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(str(part) for part in command)}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    print(hip())
