"""The process that emulates: takes launches on stdin and answers on stdout, both pickled behind their length, until stdin ends."""

from __future__ import annotations

import ctypes
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent


def compilers(folder):
    """Have `clang` on PATH, which tinygrad compiles with: the wheel ziglang serves. Return the command of a C compiler."""
    if shutil.which("clang"):
        return ["clang"]
    import ziglang

    zig = Path(ziglang.__file__).with_name("zig")
    script = Path(folder) / "clang"
    script.write_text(f'#!/bin/sh\nexec "{zig}" clang "$@"\n')
    script.chmod(0o755)
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
    return [shutil.which("gcc")] if shutil.which("gcc") else [str(zig), "cc"]


def library(command, folder):
    """Compile memory.c; returns it loaded."""
    out = Path(folder) / "memory.so"
    subprocess.run(
        [*command, "-O2", "-march=native", "-shared", "-fPIC", str(HERE / "memory.c"), "-o", str(out)],
        check=True,
        stderr=subprocess.PIPE,
    )
    return ctypes.CDLL(str(out))


def serve(root):
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what tinygrad prints is no answer
    os.environ.setdefault("CACHELEVEL", "2")
    sys.path.insert(0, str(HERE.parent))
    with tempfile.TemporaryDirectory() as folder:
        lib = library(compilers(folder), folder)
        from emulator import machine

        emu, machines = machine.load_tinygrad(root), {}
        while length := sys.stdin.buffer.read(8):
            request = pickle.loads(sys.stdin.buffer.read(struct.unpack("<Q", length)[0]))
            started = time.perf_counter()
            try:
                arch = machine.family(request.pop("target"))
                if arch not in machines:
                    machines[arch] = machine.Machine(emu, lib, arch)
                counts = {} if request.pop("counted", False) else None
                memory, instructions = machines[arch].execute(**request, counts=counts)
                reply = {
                    "memory": memory,
                    "instructions": instructions,
                    "seconds": time.perf_counter() - started,
                    "counts": counts,
                }
            except machine.Fault as fault:
                reply = {"fault": str(fault)}
            except Exception:
                reply = {"fault": traceback.format_exc()}
            data = pickle.dumps(reply)
            answers.write(struct.pack("<Q", len(data)) + data)
            answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
