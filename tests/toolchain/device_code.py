"""Compile CUDA C++ for tests of the device's headers and run it in this process, without the runtime libraries."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from anywarp.devices.cpu.execute import Program

HERE = Path(__file__).parent


@cache
def compiled(file: str, *options: str) -> Program:
    """Return the program made of a .cu file beside this one."""
    with TemporaryDirectory() as folder:
        ptx = Path(folder) / "out.ptx"
        command = [sys.executable, "-m", "anywarp.toolchain", "-ptx", *options, str(HERE / file), "-o", str(ptx)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return Program(ptx.read_text())
