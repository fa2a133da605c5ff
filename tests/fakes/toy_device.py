"""A device that lives outside the package: it "compiles" a kernel to its own name, and misbehaves when a name asks for it.

Kernels named `crash`, `hang` and `defect` kill, stall and break the compiler process, as hostile or unlucky input might.
"""

import hashlib
import os
import signal
import struct
import time

from anywarp.devices.device import CompileRequest, DeviceInfo
from anywarp.diagnostics import AnywarpError, Diagnostic


def container(header: str, payload: bytes) -> bytes:
    """Make a container as docs/contracts.md, section 1, describes it."""
    body = header.encode() + payload
    return b"ANYWARP1" + struct.pack("<IQ", len(header.encode()), len(payload)) + hashlib.sha256(body).digest() + body


def _record(kernel: str) -> None:
    """Leave one line per compilation, for tests that count them."""
    if place := os.environ.get("TOY_RECORD"):
        with open(place, "a") as file:
            file.write(f"{kernel}\n")


class ToyDevice:
    """Answers the device protocol with containers whose payload is readable."""

    name = "toy"

    def identity(self) -> str:
        return "toy:1"

    def probe(self) -> tuple[DeviceInfo, ...]:
        return (DeviceInfo("a toy", 1 << 20, ("plastic",)),)

    def describe(self, index) -> bytes:
        return container("kind module\n", ",".join(index.entries).encode())

    def compile(self, index, request: CompileRequest) -> bytes:
        _record(request.kernel)
        if request.kernel not in index.entries:
            raise AnywarpError(Diagnostic("C999", f"no kernel {request.kernel}", help="name one that exists"))
        if request.kernel == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if request.kernel == "defect":
            raise KeyError("a defect of the compiler")
        if request.kernel in ("hang", "slow"):
            time.sleep(0.5 if request.kernel == "slow" else 3600)
        return container(f"kind kernel\nname {request.kernel}\n", f"{request.kernel} {request.block}".encode())


device = ToyDevice()
half = object()
