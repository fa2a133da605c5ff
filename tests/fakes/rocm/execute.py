"""Execute the launches of the fake HIP runtime in the instruction emulator, in the memory of the process that launched.

Started by the fake itself (FAKE_HIP_EXECUTE) with the number of a socket and of the process; needs a checkout of tinygrad (TINYGRAD).
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import socket
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from emulator import machine as machines
from emulator import server

LIMIT = 200_000_000
"""Instructions of all waves together before a launch is given up."""


class Memory:
    """The launching process's memory, mapped here part by part."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.files: dict[int, int] = {}
        self.maps: dict[tuple[int, int, int], int] = {}
        self.kept: list[object] = []

    def host(self, file: int, at: int, size: int) -> int:
        """Return where `size` bytes at `at` of the process's open file lie here."""
        key = (file, at, size)
        if key not in self.maps:
            if file not in self.files:
                self.files[file] = os.open(f"/proc/{self.process}/fd/{file}", os.O_RDWR)
            mapped = mmap.mmap(self.files[file], size, offset=at)
            view = ctypes.c_char.from_buffer(mapped)
            self.kept += [mapped, view]
            self.maps[key] = ctypes.addressof(view)
        return self.maps[key]


class SharedLaunch(machines.Launch):
    """A launch whose memory is not a copy: (address, where it lies here, bytes)."""

    def __init__(self, machine, code, name, grid, block, kernarg, dynamic_shared, memory):
        super().__init__(machine, code, name, grid, block, kernarg, dynamic_shared, [])
        shared = [machines._Place(start, size, host, 1) for start, host, size in memory]
        self.places = (machines._Place * (len(self.places) + len(shared)))(*self.places, *shared)


def main() -> None:
    """Answer launches until the process that sends them has ended."""
    stream = socket.socket(fileno=int(sys.argv[1])).makefile("rwb")
    memory = Memory(int(sys.argv[2]))
    os.environ.setdefault("CACHELEVEL", "2")
    os.dup2(2, 1)
    machines.Launch = SharedLaunch
    with tempfile.TemporaryDirectory() as folder:
        library = server.library(server.compilers(folder), folder)
        serve(stream, memory, library)


def serve(stream, memory: Memory, library: ctypes.CDLL) -> None:
    """Answer the lines of a stream."""
    codes: dict[int, bytes] = {}
    emulator, made = machines.load_tinygrad(os.environ["TINYGRAD"]), {}
    for line in stream:
        request = json.loads(line)
        if "code" in request:
            codes[request["module"]] = bytes.fromhex(request["code"])
        try:
            arch = machines.family(request["target"])
            if arch not in made:
                made[arch] = machines.Machine(emulator, library, arch)
            run(made[arch], request, codes[request["module"]], memory)
            reply = "done"
        except machines.Fault as fault:
            reply = str(fault)
        except Exception as error:
            reply = f"{type(error).__name__}: {error}"
        try:
            stream.write(reply.replace("\n", " ").encode() + b"\n")
            stream.flush()
        except BrokenPipeError:  # the process that launched has ended
            os._exit(0)


def run(machine: machines.Machine, request: dict, code: bytes, memory: Memory) -> None:
    """Execute one launch. Memory that the process registered is copied here and back."""
    places, copied = [], []
    for start, size, file, at in request["places"]:
        if file < 0:
            outside = os.open(f"/proc/{memory.process}/mem", os.O_RDWR)
            room = ctypes.create_string_buffer(os.pread(outside, size, start), size)
            copied.append((outside, start, room))
            places.append((start, ctypes.addressof(room), size))
        else:
            places.append((start, memory.host(file, at, size), size))
    machine.execute(
        code, request["name"], tuple(request["grid"]), tuple(request["block"]), bytes.fromhex(request["kernarg"]), request["shared"],
        places, LIMIT,
    )  # fmt: skip
    for outside, start, room in copied:
        os.pwrite(outside, room.raw, start)
        os.close(outside)


if __name__ == "__main__":
    main()
