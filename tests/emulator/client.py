"""Launch kernels in the emulating process, which is started when first needed and kept for later launches."""

from __future__ import annotations

import atexit
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")
LIMIT = 5_000_000
"""Instructions of all waves together before a launch is given up."""


class EmulationFault(RuntimeError):
    """The kernel did what hardware would stop it for, or the emulator cannot go on."""


class _Server:
    def __init__(self):
        self.process = None

    def start(self):
        root = os.environ["TINYGRAD"]
        environment = {**os.environ, "PYTHONWARNINGS": "ignore", "DEBUG": "0"}
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER), root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )

    def ask(self, request):
        if self.process is None or self.process.poll() is not None:
            self.start()
        data = pickle.dumps(request)
        pipe = self.process
        try:
            pipe.stdin.write(struct.pack("<Q", len(data)) + data)
            pipe.stdin.flush()
            head = pipe.stdout.read(8)
        except BrokenPipeError:
            head = b""
        if len(head) < 8:
            code = pipe.wait()
            self.process = None
            raise EmulationFault(f"the emulating process ended with {code}")
        return pickle.loads(pipe.stdout.read(struct.unpack("<Q", head)[0]))

    def end(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait(10)
            self.process = None


_server = _Server()
atexit.register(_server.end)


def launch(code, target, name, grid, block, kernarg, memory, dynamic_shared=0, limit=LIMIT, counts=None):
    """Run kernel `name` of the code object `code` for `target` (gfx942 ...).

    `memory` are (address, bytes): what the kernel may touch. Returns (their bytes afterwards, instructions of all waves).
    `counts`, a dictionary, gets for each name of an instruction how often waves executed it, bytes asked for, and lines of memory touched.
    """
    request = {
        "target": target, "data": code, "name": name, "grid": grid, "block": block, "kernarg": kernarg, "memory": memory,
        "dynamic_shared": dynamic_shared, "limit": limit, "counted": counts is not None,
    }  # fmt: skip
    reply = _server.ask(request)
    if "fault" in reply:
        raise EmulationFault(reply["fault"])
    if counts is not None:
        counts.update(reply["counts"])
    return reply["memory"], reply["instructions"]
