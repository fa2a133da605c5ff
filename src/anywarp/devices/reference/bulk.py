"""Copies, fills and reductions of whole arrays by one lane: what bulk copies do, all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from anywarp.devices.reference.launch import Host
from anywarp.devices.reference.memory import Stray
from anywarp.ptx.isa.ops import BITS, AtomicOp, Type

Update = Callable[[AtomicOp, Type, int, list[int]], int]


def run_bulk(machine: Host, lane: int, name: str, arguments: list[int], update: Update) -> None:
    """Run the service `bulk_copy`, `bulk_zero`, `bulk_mask` or `bulk_OPERATION_TYPE` (see the compiler's `simd.bulk`).

    `update(operation, type, old, [value])` gives what an atomic operation leaves.
    """
    kind, _, type = name.removeprefix("bulk_").partition("_")
    target, source, size = arguments[:3]
    step = BITS[type] // 8 if type else next(k for k in (16, 8, 4, 2, 1) if (target | source | size) % k == 0)
    try:
        there = [bytes(machine.memory.find(source + n, step, write=False)) for n in range(0, size, step)]
        here = [machine.memory.find(target + n, step, write=True) for n in range(0, size, step)]
    except Stray as stray:
        machine.fail("D011", f"{stray}, in a bulk copy", lane)
    for n, (piece, found) in enumerate(zip(here, there, strict=True)):
        if kind == "copy":
            piece[:] = found
        elif kind == "zero":
            piece[:] = bytes(step)
        elif kind == "mask":
            for k in range(step):
                if arguments[3] >> (n * step + k) % 16 & 1:
                    piece[k] = found[k]
        else:
            old, value = (int.from_bytes(x, "little") for x in (piece, found))
            piece[:] = update(cast("AtomicOp", kind), cast("Type", type), old, [value]).to_bytes(step, "little")
