"""Run a program against the driver for AMD GPUs, with a fake HIP runtime under it, in a process of its own.

What the program puts into `out` comes back, with what the fake wrote down.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from anywarp import settings
from fakes.rocm import build

PRELUDE = """
import ctypes, json, os, threading
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p, create_string_buffer
cuda = ctypes.CDLL("libcuda.so.1")
fake = ctypes.CDLL(os.environ["ANYWARP_HIP_LIBRARY"]) if os.path.exists(os.environ["ANYWARP_HIP_LIBRARY"]) else None
out = {}

def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    assert code == 0, (name, code)

def made(name, *arguments, kind=c_void_p):
    value = kind()
    call(name, byref(value), *arguments)
    return value

def fail(function, result, after=0, times=-1):
    fake.fake_rocm_set_result(function.encode(), ctypes.c_int64(result), after, times)

def context(device=0):
    call("cuInit", 0)
    found = made("cuDevicePrimaryCtxRetain", device)
    call("cuCtxSetCurrent", found)
    return found

def memory(size):
    return made("cuMemAlloc_v2", c_size_t(size), kind=c_uint64)
"""


@dataclass
class Answer:
    """What became of a program: `out`, the fake's records, standard error and the exit code."""

    out: dict
    records: list[dict] = field(default_factory=list)
    errors: str = ""
    code: int = 0

    def of(self, function: str) -> list[dict]:
        """Return the arguments of each call of a function of HIP."""
        return [each["args"] for each in self.records if each.get("f") == function]

    def launches(self) -> list[dict]:
        """Return the launches, in the order in which they were given to streams."""
        return [each for each in self.records if "launch" in each]

    def faults(self) -> list[str]:
        """Return what no caller of HIP may do and was done."""
        return [each["fault"] for each in self.records if "fault" in each]


def environment(folder: Path, version: str = "7", **more: str) -> dict[str, str]:
    """Return the environment of a program that finds our driver and the fake of that HIP."""
    libraries = settings.LIBRARY_DIR.get().resolve()
    assert (libraries / "hip" / "libcuda.so.1").exists(), "scripts/build has not built the driver for AMD GPUs"
    runtime = build.hip() / version
    return {
        **os.environ,
        "LD_LIBRARY_PATH": f"{libraries}/hip:{libraries}",
        "ANYWARP_HIP_LIBRARY": str(runtime / f"libamdhip64.so.{version}"),
        "ANYWARP_LOG": "warn",
        "FAKE_ROCM_RECORD": str(folder / "records"),
        "FAKE_HIP_DEVICES": "gfx942",
        **more,
    }


def run(code: str, folder: Path, version: str = "7", check: bool = True, **more: str) -> Answer:
    """Run `code` behind PRELUDE; AssertionError with its standard error where it fails and `check` is on."""
    records = folder / "records"
    records.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", f"{PRELUDE}\n{code}\nprint(json.dumps(out))"],
        env=environment(folder, version, **more), capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert not check or done.returncode == 0, done.stderr
    found = [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []
    out = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
    return Answer(out, found, done.stderr, done.returncode)
