"""A device that lives outside the package: it "compiles" a kernel to its own name, and misbehaves when a name asks for it.

Kernels named `crash`, `hang`, `spin`, `eat` and `defect` kill, stall, burden and break the compiler process, as hostile or unlucky input
might.
"""

import os
import signal
import time
from pathlib import Path

from anywarp.devices.device import CompileRequest, DeviceInfo
from anywarp.diagnostics import AnywarpError, Diagnostic

try:
    from images import container  # as the service finds it, by this folder alone
except ImportError:
    from fakes.images import container


def _record(kernel: str) -> None:
    """Leave one line per compilation, for tests that count them."""
    if place := os.environ.get("ANYWARP_TOY_RECORD"):
        with open(place, "a") as file:
            file.write(f"{kernel}\n")


class PaperDevice:
    """Answers the device protocol with containers whose payload is readable; no program runs on it."""

    name = "paper"

    def identity(self) -> str:
        return "toy:1"

    def probe(self) -> tuple[DeviceInfo, ...]:
        return (DeviceInfo("a toy", 1 << 20, ("plastic",)),)

    def describe(self, index) -> bytes:
        return container(",".join(index.entries).encode(), "kind module\n")

    def compile(self, index, request: CompileRequest) -> bytes:
        _record(request.kernel)
        if request.kernel not in index.entries:
            raise AnywarpError(Diagnostic("C999", f"no kernel {request.kernel}", help="name one that exists"))
        if request.kernel == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if request.kernel == "defect":
            raise KeyError("a defect of the compiler")
        if request.kernel == "eat":
            bytearray(64 << 30)
        while request.kernel == "spin":
            pass
        if request.kernel in ("hang", "slow"):
            time.sleep(0.5 if request.kernel == "slow" else 3600)
        return container(f"{request.kernel} {request.block}".encode())


class ToyDevice(PaperDevice):
    """The same for programs too: with a driver library in a folder of its own."""

    name = "toy"

    def libraries(self, ours):
        return Path(os.environ["ANYWARP_TOY_LIBRARIES"])


device = ToyDevice()
paper = PaperDevice()
half = object()
