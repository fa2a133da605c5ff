"""Programs that tests run in a process of their own, with a recording library of ROCm and one of ours."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from anywarp import settings
from anywarp.catalogue.rocm_libraries import LIBRARIES
from native.rocm.recorder import build, source_of

PROLOGUE = """
import ctypes, struct, sys
from ctypes import *
from pathlib import Path
sys.path.insert(0, {tests!r})
from native.rocm.recorder import Recorder
lib = CDLL({library!r})
rocm = Recorder(Path({recorder!r})) if {recorder!r} else None
def word(data): return int.from_bytes(data, "little", signed=True)
def last(): return rocm.calls()[-1]
def real(data): return struct.unpack("f" if len(data) == 4 else "d", data)[0]
P = c_void_p
H = P(0x5000)
"""


def soname_of(stem: str, runtime: int) -> str:
    return next(name[2:] for name in LIBRARIES[stem].target_sonames if name.startswith(f"{runtime}:"))


@dataclass(frozen=True)
class Ran:
    """What a program wrote."""

    out: str
    words: str


def library_of(soname: str) -> Path:
    """Return one of our libraries; the test is skipped where it is not built."""
    path = settings.LIBRARY_DIR.get() / "hip" / soname
    if not path.exists():
        pytest.skip(f"{soname} is not built")
    return path


def run(soname: str, recorder: Path | None, body: str, folder: Path | None = None) -> Ran:
    """Run `body` with `lib` (our library) and `rocm` (what it called); its assertions are the test's."""
    text = PROLOGUE.format(
        tests=str(Path(__file__).resolve().parents[2]), library=str(library_of(soname)), recorder=str(recorder or "")
    )
    place = folder or (recorder.parent if recorder else Path("/nonexistent"))
    # ROCm of the machine that tests run on has no part in this.
    environment = os.environ | {"ANYWARP_ROCM_PATH": str(place), "LD_LIBRARY_PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", text + textwrap.dedent(body)],
        capture_output=True, text=True, timeout=60, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return Ran(done.stdout, done.stderr)


def recorder_in(
    folder: Path, stem: str, runtime: int = 7, without: frozenset[str] = frozenset(), extra: str = "", flags: str = ""
) -> Path:
    """Make the recording library of `stem` in `folder`."""
    build(folder, f"libamdhip64.so.{runtime}", "int fake_hip;")
    return build(folder, soname_of(stem, runtime), source_of(stem, runtime, without, extra))
