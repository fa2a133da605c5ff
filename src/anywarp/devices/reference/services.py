"""The functions that CUDA provides to kernels: printf, malloc, free, assertions.

They are called like functions of the module but have no body there.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from anywarp.devices.reference.launch import Host
from anywarp.devices.reference.memory import Stray

_CONVERSION = re.compile(r"%[-+ #0]*(?:\d+)?(?:\.\d+)?(?:hh|h|ll|l|j|z|t)?([diouxXeEfFgGaAcsp%])")
_LENGTH = re.compile(r"(?:hh|h|ll|l|j|z|t)(?=[a-zA-Z]$)")


def _text(machine: Host, lane: int, address: int) -> str:
    """Read a text that ends with NUL."""
    found = bytearray()
    while len(found) < 1 << 20:
        try:
            byte = machine.memory.find(address + len(found), 1, write=False)[0]
        except Stray as stray:
            machine.fail("D011", f"{stray}, reading a text", lane)
        if byte == 0:
            break
        found.append(byte)
    return found.decode("utf-8", errors="replace")


def _vprintf(machine: Host, lane: int, arguments: list[int]) -> int:
    """Print with the arguments packed as C passes them to a variadic function: each aligned to its size, floats as f64."""
    template = _text(machine, lane, arguments[0])
    at, count = arguments[1], 0

    def take(size: int) -> bytes:
        nonlocal at, count
        at, count = -(-at // size) * size, count + 1
        found = machine.memory.find(at, size, write=False).tobytes()
        at += size
        return found

    def show(match: re.Match[str]) -> str:
        kind = match[1]
        if kind == "%":
            return "%"
        spec = _LENGTH.sub("", match[0])
        if kind == "s":
            return spec % _text(machine, lane, int.from_bytes(take(8), "little"))
        if kind == "p":
            return f"0x{int.from_bytes(take(8), 'little'):x}"
        if kind in "eEfFgGaA":
            return spec % struct.unpack("<d", take(8))[0]
        wide = re.search(r"(ll|l|j|z|t)[a-zA-Z]$", match[0]) is not None
        return spec % int.from_bytes(take(8 if wide else 4), "little", signed=kind in "di")

    machine.launch.printed.append(_CONVERSION.sub(show, template))
    return count


def _malloc(machine: Host, lane: int, arguments: list[int]) -> int:
    return machine.allocate(arguments[0]) if arguments[0] < 1 << 30 else 0


def _free(machine: Host, lane: int, arguments: list[int]) -> int:
    if arguments[0] and not machine.memory.remove(arguments[0]):
        machine.fail("D011", f"freeing 0x{arguments[0]:x}, which is not allocated", lane)
    return 0


def _assertfail(machine: Host, lane: int, arguments: list[int]) -> int:
    message, file, line, function = arguments[:4]
    where = f"{_text(machine, lane, file)}:{line & 0xFFFFFFFF}: {_text(machine, lane, function)}"
    machine.fail("D012", f"{where}: assertion `{_text(machine, lane, message)}` failed", lane)


def _nanosleep(machine: Host, lane: int, arguments: list[int]) -> int:
    return 0  # may sleep for any time up to twice the one asked for, so not at all


SERVICES: dict[str, Callable[[Host, int, list[int]], int]] = {
    "vprintf": _vprintf,
    "malloc": _malloc,
    "free": _free,
    "__assertfail": _assertfail,
    "assertfail": _assertfail,
    "nanosleep": _nanosleep,
}
"""By name: what a lane gets back from its values."""
