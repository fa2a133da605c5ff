"""Calls and returns (section 9.7.12 of the manual): frames, arguments and results, lane by lane.

Every call gets a frame of its own in local memory, so recursion works as far as the depth limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from anywarp.devices.reference.machine import Machine
from anywarp.devices.reference.program import Code, Place, Register, size_of
from anywarp.devices.reference.services import SERVICES
from anywarp.devices.reference.values import Plain, plain
from anywarp.devices.reference.warp import Frame, Lane
from anywarp.devices.reference.windows import FRAME_PARAMS
from anywarp.ptx.isa.ops import Type
from anywarp.ptx.tree import Function, Group, Instruction, Name, Operand

DEPTH_LIMIT = 512
_BY_WIDTH: dict[int, Type] = {1: "i1", 8: "i8", 16: "i16", 32: "i32", 64: "i64", 128: "i128"}


def parts(instruction: Instruction) -> tuple[Sequence[Operand], Operand, Sequence[Operand]]:
    """Take a call apart: results, what is called, arguments."""
    operands = list(instruction.operands)
    first = operands.pop(0)
    results: Sequence[Operand] = ()
    if isinstance(first, Group):
        results, first = first.elements, operands.pop(0)
    arguments = operands[0].elements if operands and isinstance(operands[0], Group) else ()
    return results, first, arguments


def call(machine: Machine, at: int) -> None:
    """Make the running lanes call; they go on at the first step of what they call, or behind a service."""
    results, called, arguments = parts(machine.instruction)
    for name, lanes in _targets(machine, called).items():
        machine.active = sum(1 << n for n in lanes)
        code = machine.program.codes.get(name)
        if code is not None:
            _enter(machine, code, arguments, at)
        elif name in SERVICES:
            _serve(machine, name, results, arguments)
        else:
            machine.fail("D010", f"the function {name} has no body")


def _targets(machine: Machine, called: Operand) -> dict[str, list[int]]:
    """Group the running lanes by the function each calls."""
    lanes = machine.running()
    symbol = machine.names.find(called.name) if isinstance(called, Name) else None
    if isinstance(symbol, Function) or (isinstance(called, Name) and symbol is None):
        assert isinstance(called, Name)
        return {machine.program.aliases.get(called.name, called.name): lanes}
    found: dict[str, list[int]] = {}
    addresses = machine.read(called, "i64")
    for n in lanes:
        name = machine.program.function_at(addresses.lanes[n])
        if name is None:
            machine.fail("D011", f"call to 0x{addresses.lanes[n]:x}, which is no function", n)
        found.setdefault(name, []).append(n)
    return found


def _enter(machine: Machine, code: Code, arguments: Sequence[Operand], at: int) -> None:
    if len(arguments) != len(code.params):
        machine.fail("D010", f"{code.function.name} takes {len(code.params)} arguments, not {len(arguments)}")
    lanes = machine.running()
    bases = [_push(machine, machine.lane(n), n, code, at) for n in lanes]
    machine.warp.forget(machine.depth + 1, lanes, code.function.name)
    for formal, actual in zip(code.params, arguments, strict=True):
        values = _values(machine, actual, _size(formal))
        for n, base in zip(lanes, bases, strict=True):
            _put(machine, machine.lane(n), n, formal, machine.depth + 1, base, values[n])
    for n in lanes:
        machine.lane(n).at = code.first


def _push(machine: Machine, lane: Lane, n: int, code: Code, at: int) -> int:
    """Give a lane a new frame without making it the current one for reads of arguments; returns its base."""
    if len(lane.frames) >= DEPTH_LIMIT:
        machine.fail("D013", f"calls are nested more than {DEPTH_LIMIT} deep", n)
    top = lane.frames[-1]
    base = -(-(top.base + top.code.frame_bytes) // 16) * 16
    short = base + code.frame_bytes - len(lane.local)
    if short > 0:
        lane.local = lane.local + bytearray(short)
    lane.frames.append(Frame(code, base, machine.instruction, at + 1))
    return base


def _size(formal: Place | Register) -> int:
    return size_of(formal.variable) if isinstance(formal, Place) else max(1, formal.width // 8)


def _values(machine: Machine, actual: Operand, size: int) -> dict[int, bytes]:
    """Return the bytes of an argument for each running lane, as the caller sees them."""
    symbol = machine.names.find(actual.name) if isinstance(actual, Name) else None
    if isinstance(symbol, Place) and symbol.frame:
        return {n: _get(machine, n, symbol, machine.lane(n).frames[machine.depth].base) for n in machine.running()}
    width = 1 if isinstance(symbol, Register) and symbol.width == 1 else 8 * size
    value = machine.read(actual, _BY_WIDTH[width])
    return {n: value.lanes[n].to_bytes(size, "little") for n in machine.running()}


def _get(machine: Machine, n: int, place: Place | Register, base: int) -> bytes:
    if isinstance(place, Register):
        depth = len(machine.lane(n).frames) - 1
        value = machine.warp.register(depth, place.key)[n] & ((1 << place.width) - 1)
        return value.to_bytes(_size(place), "little")
    start = base + place.address % FRAME_PARAMS
    return bytes(machine.lane(n).local[start : start + size_of(place.variable)])


def _put(machine: Machine, lane: Lane, n: int, place: Place | Register, depth: int, base: int, value: bytes) -> None:
    if isinstance(place, Register):
        number = int.from_bytes(value, "little") & ((1 << place.width) - 1)
        machine.warp.register(depth, place.key)[n] = number
        return
    start = base + place.address % FRAME_PARAMS
    size = min(len(value), size_of(place.variable))
    lane.local[start : start + size] = value[:size]


def _serve(machine: Machine, name: str, results: Sequence[Operand], arguments: Sequence[Operand]) -> None:
    """Run a function that CUDA provides; its parameters are as wide as the caller's variables."""
    columns: list[Plain] = []
    for actual in arguments:
        symbol = machine.names.find(actual.name) if isinstance(actual, Name) else None
        size = size_of(symbol.variable) if isinstance(symbol, Place) else 8
        values = _values(machine, actual, size)
        columns.append(plain("i64", [int.from_bytes(values.get(n, b""), "little") for n in range(32)]))
    returned = machine.host_call(name, columns, "i64")
    for n in machine.running():
        assert returned is not None
        if results:
            _result(machine, n, results[0], returned.lanes[n].to_bytes(8, "little"))
        machine.lane(n).at += 1


def _result(machine: Machine, n: int, actual: Operand, value: bytes) -> None:
    """Store a result where the caller wants it; the caller's frame is the current one."""
    lane = machine.lane(n)
    symbol = machine.names.find(actual.name) if isinstance(actual, Name) else None
    if not isinstance(symbol, (Place, Register)):
        machine.fail("D010", "a result that is neither a register nor a variable", n)
    depth = len(lane.frames) - 1
    _put(machine, lane, n, symbol, depth, lane.frames[-1].base, value)


def leave(machine: Machine) -> None:
    """Make the running lanes return; a lane that returns from the kernel ends."""
    for n in machine.running():
        lane = machine.lane(n)
        frame = lane.frames[-1]
        if frame.call is None:
            lane.status = "ended"
            continue
        values = [_get(machine, n, formal, frame.base) for formal in frame.code.returns]
        lane.frames.pop()
        lane.at = frame.back
        names = machine.names
        machine.names = machine.program.steps[frame.back - 1].names
        for actual, value in zip(parts(frame.call)[0], values, strict=False):
            _result(machine, n, actual, value)
        machine.names = names
