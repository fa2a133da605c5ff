"""The memory a kernel sees: the caller's buffers and the interpreter's own, by generic address.

Every access is checked against what exists, so a kernel that strays is told so instead of reading something else.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anywarp.devices.reference import windows
from anywarp.ptx.isa.ops import AddressSpace


class Stray(Exception):
    """Raised for an access outside everything that exists, or not naturally aligned; says what is wrong."""


@dataclass(frozen=True, slots=True)
class Region:
    """Adjacent bytes: generic address of the first, the bytes, whether a kernel may write them."""

    start: int
    data: memoryview
    writable: bool = True


class Memory:
    """All regions that one thread can reach; shared, local and parameter memory are set as threads take turns."""

    def __init__(self, buffers: Iterable[npt.NDArray[Any]]) -> None:
        self._fixed: list[Region] = []
        self._starts: list[int] = []
        self._own: dict[int, Region] = {}
        for buffer in buffers:
            if buffer.nbytes:
                self.add(Region(buffer.ctypes.data, _bytes(buffer), buffer.flags.writeable))

    def add(self, region: Region) -> None:
        """Make a region reachable by all threads."""
        at = bisect_right(self._starts, region.start)
        self._starts.insert(at, region.start)
        self._fixed.insert(at, region)

    def remove(self, start: int) -> bool:
        """Take away the region that begins at `start`; False when there is none."""
        if start not in self._starts:
            return False
        at = self._starts.index(start)
        del self._starts[at], self._fixed[at]
        return True

    def set_window(self, start: int, data: bytearray, *, writable: bool = True) -> None:
        """Make `data` the content of one of the windows."""
        self._own[start] = Region(start, memoryview(data), writable)

    def _at(self, address: int, size: int) -> Region | None:
        own = self._own.get(address & -windows.SIZE)
        candidates = [own] if own else []
        at = bisect_right(self._starts, address)
        candidates += self._fixed[max(0, at - 2) : at]  # two: buffers may overlap when one is a view of another
        for region in candidates:
            if region.start <= address and address + size <= region.start + len(region.data):
                return region
        return None

    def find(self, address: int, size: int, *, write: bool) -> memoryview:
        """Return the `size` bytes at a generic address; Stray when they are not there."""
        if address % size:
            raise Stray(f"misaligned address 0x{address:x} for {size} bytes")
        region = self._at(address, size)
        if region is None:
            raise Stray(f"illegal address 0x{address:x} for {size} bytes{self._near(address)}")
        if write and not region.writable:
            raise Stray(f"address 0x{address:x} is read-only")
        return region.data[address - region.start : address - region.start + size]

    def _near(self, address: int) -> str:
        """Say which buffer the address just misses."""
        for region in self._fixed:
            end = region.start + len(region.data)
            if end <= address < end + 4096:
                return f", {address - end} bytes behind the end of a buffer of {len(region.data)} bytes"
            if region.start - 4096 <= address < region.start:
                return f", {region.start - address} bytes before a buffer of {len(region.data)} bytes"
        return ""


WINDOWS: dict[AddressSpace, int] = {
    "shared": windows.SHARED,
    "local": windows.LOCAL,
    "param": windows.PARAM,
    "global": 0,
    "const": 0,
    "generic": 0,
}
"""Generic address of address 0 of each space."""


def in_space(space: AddressSpace, address: int) -> bool:
    """Tell whether a generic address falls into `space`; what is in no other window is global."""
    window = address & -windows.SIZE
    if space == "const":
        return window == windows.CONST_DATA
    if space in ("shared", "local", "param"):
        return window == WINDOWS[space]
    return window not in (windows.SHARED, windows.LOCAL, windows.PARAM, windows.CONST_DATA)


def _bytes(buffer: npt.NDArray[Any]) -> memoryview:
    if not buffer.flags.c_contiguous:
        raise ValueError("a device buffer must be contiguous")
    return memoryview(buffer.reshape(-1).view(np.uint8)).cast("B")  # type: ignore[arg-type]
