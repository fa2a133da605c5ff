"""Run a kernel of a PTX module by plain interpretation.

The yardstick for the other devices: it shares with them the parser and the meanings of instructions, and nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anywarp.devices.reference import windows
from anywarp.devices.reference.launch import Launch, Triple
from anywarp.devices.reference.machine import Machine
from anywarp.devices.reference.memory import Memory, Region
from anywarp.devices.reference.objects import Objects
from anywarp.devices.reference.program import Code, Place, Program, size_of
from anywarp.devices.reference.scheduler import Scheduler
from anywarp.devices.reference.values import LANES
from anywarp.devices.reference.warp import Frame, Lane, Warp
from anywarp.diagnostics import AnywarpError, Diagnostic, Source
from anywarp.ptx.parser import parse_module

STEP_LIMIT = 20_000_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a launch leaves beside the buffers: what the kernel printed and how many steps it took."""

    printed: str
    steps: int


def run_kernel(
    ptx: str,
    name: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    dynamic_shared: int = 0,
    *,
    step_limit: int = STEP_LIMIT,
    objects: Objects | None = None,
) -> Outcome:
    """Run kernel `name` of the module `ptx` over `grid` blocks of `block` threads.

    `args` in order: a numpy array is a device buffer, updated in place, and passes its address; a numpy scalar or `bytes`
    passes its bytes; an int or float is converted to the parameter's type. `objects` are textures and surfaces by handle, or by
    the name of the `.texref` or `.surfref` variable that they are bound to. AnywarpError names instruction, block and thread
    of an access outside the buffers (D011), a trap (D012), endless recursion (D013), a deadlock (D014), no end (D015).
    """
    return run_loaded(load(ptx), name, grid, block, args, dynamic_shared, step_limit=step_limit, objects=objects)


def load(ptx: str) -> Program:
    """Return a module whose variables last from one launch to the next."""
    return Program(parse_module(ptx), Source("<ptx>", ptx))


def run_loaded(
    program: Program,
    name: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    dynamic_shared: int = 0,
    *,
    buffers: Sequence[npt.NDArray[Any]] = (),
    step_limit: int = STEP_LIMIT,
    objects: Objects | None = None,
) -> Outcome:
    """Run a kernel of a loaded module, as `run_kernel`; `buffers` are device memory besides, which `args` may point into."""
    code = program.codes.get(name)
    if code is None or code.function.kind != "entry":
        raise AnywarpError(Diagnostic("D010", f"the module has no kernel {name}"))
    params = pack_arguments(code, args)
    static = -(-program.shared_bytes // 16) * 16
    launch = Launch(_triple(grid), _triple(block), params, static, dynamic_shared, objects=objects or {})
    given: list[npt.NDArray[Any]] = [a for a in args if isinstance(a, np.ndarray)]
    memory = Memory([*buffers, *given])
    memory.add(Region(windows.GLOBAL_DATA, memoryview(program.global_data)))
    memory.add(Region(windows.CONST_DATA, memoryview(program.const_data), writable=False))
    memory.set_window(windows.PARAM, bytearray(params), writable=False)
    machine = Machine(program, launch, memory)
    left = step_limit
    gx, gy, gz = launch.grid
    for linear in range(gx * gy * gz):
        machine.ctaid = (linear % gx, linear // gx % gy, linear // (gx * gy))
        memory.set_window(windows.SHARED, bytearray(static + dynamic_shared))
        scheduler = Scheduler(machine, _warps(code, launch.block), left)
        scheduler.run()
        left = scheduler.steps_left
    return Outcome("".join(launch.printed), step_limit - left)


def _triple(shape: int | Sequence[int]) -> Triple:
    given = [shape] if isinstance(shape, int) else [int(n) for n in shape]
    x, y, z = [*given, 1, 1][:3]
    if min(x, y, z) < 1:
        raise ValueError(f"an empty launch: {shape}")
    return x, y, z


def _warps(code: Code, block: Triple) -> list[Warp]:
    bx, by, bz = block
    threads = [(n % bx, n // bx % by, n // (bx * by)) for n in range(bx * by * bz)]
    warps: list[Warp] = []
    for first in range(0, len(threads), LANES):
        lanes: list[Lane | None] = [_lane(code, t) for t in threads[first : first + LANES]]
        warps.append(Warp(len(warps), lanes + [None] * (LANES - len(lanes))))
    return warps


def _lane(code: Code, thread: Triple) -> Lane:
    return Lane(thread, code.first, [Frame(code, 0)], local=bytearray(code.frame_bytes))


def pack_arguments(code: Code, args: Sequence[Any]) -> bytes:
    """Lay out `args` as the kernel's parameters; ValueError when they do not fit."""
    if len(args) != len(code.params):
        raise ValueError(f"{code.function.name} takes {len(code.params)} arguments, not {len(args)}")
    packed = bytearray()
    for place, value in zip(code.params, args, strict=True):
        assert isinstance(place, Place)
        data = _argument(place, value)
        packed.extend(bytes(place.address - len(packed)))
        packed.extend(data)
    return bytes(packed)


def _argument(place: Place, value: Any) -> bytes:
    variable, size = place.variable, size_of(place.variable)
    if isinstance(value, np.ndarray):
        data = int(value.ctypes.data).to_bytes(8, "little")
    elif isinstance(value, (bytes, bytearray, np.generic)):
        data = bytes(value) if isinstance(value, (bytes, bytearray)) else value.tobytes()
    elif isinstance(value, float) or variable.type in ("f32", "f64"):
        data = struct.pack("<f" if size == 4 else "<d", value)
    else:
        data = (int(value) & ((1 << (8 * size)) - 1)).to_bytes(size, "little")
    if len(data) != size:
        raise ValueError(f"parameter {variable.name} has {size} bytes, the argument {len(data)}")
    return data
