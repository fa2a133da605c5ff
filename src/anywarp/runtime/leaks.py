"""Which allocations a process never gave back, by its trace.

Source: NVIDIA, Compute Sanitizer User Manual, section Leak Checking: what has not been freed when its context is destroyed, or at the program's end.
"""

from __future__ import annotations

from dataclasses import dataclass

from anywarp.runtime import trace_files as files

_DESTROYING = (
    "cudaDeviceReset", "cudaThreadExit", "cuCtxDestroy", "cuCtxDestroy_v2", "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2",
    "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2",
)  # fmt: skip
"""Calls within which memory goes with its context."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Memory that was not given back: where it lay, how much, and the outermost call that allocated it."""

    address: int
    size: int
    call: str


def of_process(trace: files.ProcessTrace) -> list[Leak]:
    """Return the leaks of one process, in the order in which they were allocated."""
    calls: dict[int, str] = {}
    for record in trace.records:
        if record.kind == files.CALL:  # an inner call ends first, so the outermost stays
            calls[record.correlation] = trace.name(record.name)
    given: list[Leak | None] = []
    held: dict[int, int] = {}
    for record in sorted((r for r in trace.records if r.kind == files.MEMORY), key=lambda r: r.begin):
        address, size, _, _, is_free = record.details
        call = calls.get(record.correlation, "")
        if not is_free:
            held[address] = len(given)
            given.append(Leak(address, size, call))
        elif (place := held.pop(address, None)) is not None and call not in _DESTROYING:
            given[place] = None
    return [leak for leak in given if leak is not None]
