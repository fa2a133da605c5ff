"""Run a piece of Python against a library of ours, with fakes of ROCm's libraries on the path, in a process of its own.

What the program puts into `out` comes back, with the calls that reached the fakes in their order.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from anywarp import settings

PRELUDE = """
import ctypes, json
from ctypes import c_void_p as P, c_int, c_int64, c_size_t, c_float, c_double, c_char, byref, sizeof
out = {}
def ints(*values): return (c_int * len(values))(*values)
"""


class Answer:
    """What a program said: `out`, the calls at the fakes, and its standard error."""

    def __init__(self, out, calls, errors):
        self.out, self.calls, self.errors = out, calls, errors

    def names(self):
        return [call["call"] for call in self.calls]

    def of(self, name):
        """Return the calls of one function, without its name."""
        return [
            {key: value for key, value in call.items() if key != "call"} for call in self.calls if call["call"] == name
        ]

    def one(self, name):
        (call,) = self.of(name)
        return call


def run(code, fakes: Path, folder: Path, site=False, **more):
    """Run `code` behind PRELUDE; `fakes` has the fakes of ROCm, `site` tells whether it imports packages; AssertionError with its stderr where it fails."""
    log = folder / "calls"
    log.unlink(missing_ok=True)
    libraries = settings.LIBRARY_DIR.get().resolve() / "hip"
    paths = f"{libraries}:{fakes}"
    env = {
        **os.environ,
        "LD_LIBRARY_PATH": paths,
        "ANYWARP_ROCM_PATH": str(fakes),
        "FAKE_ROCM_LOG": str(log),
        "ANYWARP_LOG": "warn",
        **more,
    }
    done = subprocess.run(
        [sys.executable, *([] if site else ["-S"]), "-c", PRELUDE + code + "\nprint(json.dumps(out))"],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    calls = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return Answer(json.loads(done.stdout.splitlines()[-1]), calls, done.stderr)
