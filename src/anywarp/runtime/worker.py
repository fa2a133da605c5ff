"""One compiler process of the compile service: takes a request, answers with a container or with what is wrong.

Compiling happens in processes of its own so that a kernel which crashes the code generator, or keeps it busy for ever, costs one
worker and not the service; and so that several kernels compile at once.
"""

from __future__ import annotations

import socket
import traceback
from collections import OrderedDict
from typing import TYPE_CHECKING

from anywarp.devices import device as devices
from anywarp.diagnostics import AnywarpError, Diagnostic
from anywarp.ptx.lines import LineTable
from anywarp.runtime import surroundings, wire
from anywarp.runtime.modules import UNKNOWN, cuda_code, open_image
from anywarp.runtime.wire import Message, message

if TYPE_CHECKING:
    from anywarp.ptx.index import ModuleIndex

KEPT_MODULES = 4
"""Indexed modules kept for the next kernel: programs compile many kernels of one module in a row."""


class Worker:
    """Answers requests one after the other; keeps the modules seen last."""

    def __init__(self) -> None:
        self._modules: OrderedDict[str, ModuleIndex] = OrderedDict()

    def answer(self, request: Message) -> Message:
        """Return the reply to `describe` or `compile`; never raises for what a request or an image contains."""
        try:
            image = request.value("image")
            if request.value("op") == "measure":
                return _measured(request.value("device"))
            if not request.payload and image not in self._modules:
                return message(("status", "need-image"))
            if request.value("op") == "locate":
                return self._place(request, image)
            return message(("status", "ok"), payload=self._container(request, image))
        except AnywarpError as error:
            return failure(error.diagnostic)
        except RecursionError:
            return failure(Diagnostic("R006", "the compiler ran out of stack: the module is nested too deeply"))
        except MemoryError:
            return failure(_out_of_memory(request))
        except Exception as error:
            return failure(_internal(request, error))

    def _container(self, request: Message, image: str) -> bytes:
        device = devices.named(request.value("device"))
        index = self._module(image, request.payload)
        if request.value("op") == "describe":
            return device.describe(index)
        block = block_of(request)
        shape = None if block == (0, 0, 0) else block
        options = request.value("options")
        return device.compile(index, devices.CompileRequest(request.value("kernel"), shape, options))

    def _place(self, request: Message, image: str) -> Message:
        """Return the line of PTX that an instruction or a report came from, and its line of source."""
        index, digest = self._module(image, request.payload), request.value("digest")
        table = LineTable(index.source.text)
        line, offset = number_of(request, "line"), number_of(request, "offset")
        device = devices.named(request.value("device"))
        if not line and digest and isinstance(device, devices.Locates):
            block = block_of(request)
            shape = None if block == (0, 0, 0) else block
            wanted = devices.CompileRequest(request.value("kernel"), shape, request.value("options"))
            line = table.access_behind(device.locate(index, wanted, digest, offset))
        source = table.source_of(line)
        shown = (("source", str(source)),) if source is not None else ()
        return message(("status", "ok"), ("ptx_line", line), *shown)

    def _module(self, image: str, content: bytes) -> ModuleIndex:
        if image not in self._modules:
            self._modules[image] = open_image(content, f"<image {image[:8]}>")
            while len(self._modules) > KEPT_MODULES:
                self._modules.popitem(last=False)
        self._modules.move_to_end(image)
        return self._modules[image]


def _measured(name: str) -> Message:
    """Return the record of this machine, if that is what a device's name stands for and there is something to be measured of it."""
    device = devices.named(name)
    if not isinstance(device, devices.Measures) or device.identity() != name:
        return message(("status", "none"))
    return message(("status", "ok"), payload=device.measure())


def number_of(request: Message, key: str) -> int:
    """Return a number that is not negative; WireError unless the request holds one under `key`."""
    text = request.value(key)
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise wire.WireError(f"the message needs a number for {key!r}")
    return int(text)


def block_of(request: Message) -> tuple[int, int, int]:
    """Return the block shape that a request names; WireError unless it is three numbers as CUDA allows them."""
    values = request.values("block")
    if len(values) != 3 or not all(v.isascii() and v.isdecimal() and len(v) < 6 for v in values):
        raise wire.WireError("the message needs three numbers for 'block'")
    x, y, z = map(int, values)
    return x, y, z


def subject(request: Message) -> str:
    """Return what a request is about, in words for a message."""
    names = request.values("kernel")
    return f"kernel {names[0]}" if names else "a module"


def failure(*problems: Diagnostic) -> Message:
    """Return the reply for problems, the first of which decides the CUDA error."""
    text = "\n".join(problem.as_text() for problem in problems)
    first = problems[0]
    code = UNKNOWN if first.code == "R006" else cuda_code(first)
    return message(("status", "error"), ("cuda", code), ("diagnostic", first.code), payload=text.encode())


def _out_of_memory(request: Message) -> Diagnostic:
    limit = surroundings.memory_bytes()
    if limit is None:
        return Diagnostic("R006", f"the compiler ran out of memory on {subject(request)}")
    return Diagnostic(
        "R009",
        f"the compiler ran out of memory on {subject(request)}: it may use {limit >> 20} MiB, the limit that the program which started the "
        "compile service had",
        help="raise the hard limit (ulimit -v), or compile ahead without it: anywarp cache warm",
    )


def _internal(request: Message, error: Exception) -> Diagnostic:
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
    return Diagnostic(
        "R006",
        f"the compiler failed on {subject(request)} ({type(error).__name__}: {error}, at {where})",
        help="this is a defect in anywarp; please report it with the kernel's PTX",
    )


def serve(connection: socket.socket) -> None:
    """Answer requests until the service closes the connection."""
    worker = Worker()
    while (request := wire.receive(connection)) is not None:
        wire.send(connection, worker.answer(request))


def main() -> None:
    """Serve the socket that the service left as standard input."""
    with socket.socket(fileno=0) as connection:
        serve(connection)


if __name__ == "__main__":
    main()
