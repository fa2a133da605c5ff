"""One `.sync` instruction for lanes that came to it at different places: each with its own operands and destinations."""

from __future__ import annotations

from dataclasses import replace

from anywarp.devices.reference.machine import Machine
from anywarp.devices.reference.program import Names, Register, Step
from anywarp.devices.reference.values import plain
from anywarp.ptx.isa.operands import read, value_type, write
from anywarp.ptx.isa.registry import expand
from anywarp.ptx.isa.warp import exchanged_types
from anywarp.ptx.tree import WIDTHS, Name, Operand, Pair


def exchange(machine: Machine, lanes: list[int]) -> None:
    """Run the instruction at which `lanes` stand, which is of one form, and let them go on behind it."""
    warp = machine.warp
    steps = {warp.place(n): machine.program.steps[machine.lane(n).at] for n in lanes}
    groups = {place: [n for n in lanes if warp.place(n) == place] for place in steps}
    first = next(iter(steps.values()))
    written, taken = exchanged_types(first.instruction)
    results, sources = _registers("result", written), _registers("source", taken)
    files = {name: warp.register(0, register.key) for name, register in (*results, *sources)}
    for place, step in steps.items():
        machine.begin(warp, groups[place], step)
        for (name, _), type, operand in zip(sources, taken, step.instruction.operands[1:], strict=True):
            values = read(machine, operand, value_type(type)).lanes
            for n in groups[place]:
                files[name][n] = values[n]
    names = Names("", None)
    names.symbols.update([*results, *sources])
    to: list[Operand] = [Name(name) for name, _ in results]
    operands = (Pair(*to) if len(to) > 1 else to[0], *(Name(name) for name, _ in sources))
    one = replace(first.instruction, operands=operands, guard=None)
    machine.begin(warp, lanes, Step(one, names))
    machine.depth = 0
    expand(machine, one)
    for place, step in steps.items():
        machine.begin(warp, groups[place], step)
        destination = step.instruction.operands[0]
        own = [destination.first, destination.second] if isinstance(destination, Pair) else [destination]
        for operand, (name, _), type in zip(own, results, written, strict=False):
            write(machine, operand, plain(value_type(type), files[name]))
    for n in lanes:
        machine.lane(n).at += 1


def _registers(kind: str, types: list[str]) -> list[tuple[str, Register]]:
    """Return registers for operands, under names that no PTX has."""
    return [(f"%{kind}:{n}", Register(f"{kind}:{n}", WIDTHS[t])) for n, t in enumerate(types)]
