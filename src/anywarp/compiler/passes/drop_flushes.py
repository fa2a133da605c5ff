"""Drop flushes of values that are never subnormal: code compiled with `.ftz` flushes what it flushed before.

Every operand and every result of a `.ftz` instruction is flushed, so most flushes see what another has made.
"""

from __future__ import annotations

from anywarp.compiler.ir import Const, Kernel, Op, Phi, Specialisation, Undefined, Value
from anywarp.compiler.uses import substitute

_NEVER = frozenset({"flush", "int_to_float", "fround"})
"""Operations that give no subnormal number: whole numbers and what has been flushed."""

_PASSES = frozenset({"fneg", "fabs", "fmin", "fmax", "select", "shuffle"})
"""Operations whose result is one of their operands (a shuffle's: or undefined), up to its sign."""

_FIRST_FLOAT = {"select": 1}
_FLOATS = {"shuffle": 1}
_FORMATS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11)}


def drop_flushes(kernel: Kernel, specialisation: Specialisation) -> None:
    """Replace each `flush` of a value that cannot be subnormal by the value.

    Legality: flushing changes nothing but subnormal numbers. Phis are taken to carry none until one that comes in may be one.
    """
    subnormal = subnormal_values(kernel)
    mapping: dict[Value, Value] = {}
    for block in kernel.blocks:
        for op in block.ops:
            if op.name == "flush" and op.args[0] not in subnormal and _settled(op.args[0]):
                mapping[op] = op.args[0]
    substitute(kernel, mapping)
    for block in kernel.blocks:
        block.ops = [op for op in block.ops if op not in mapping]


def _settled(value: Value) -> bool:
    return not isinstance(value, Const) or not _is_subnormal(value)


def _is_subnormal(value: Const) -> bool:
    if value.type not in _FORMATS:
        return True
    fraction, exponent = _FORMATS[value.type]
    field = value.bits >> fraction & (1 << exponent) - 1
    return field == 0 and value.bits & (1 << fraction) - 1 != 0


def _sources(value: Op | Phi) -> list[Value] | None:
    """Return the values of which a value may be any; None: it may be anything."""
    if isinstance(value, Phi):
        return list(value.incoming.values())
    if value.name in _NEVER:
        return []
    if value.name in _PASSES:
        return value.args[_FIRST_FLOAT.get(value.name, 0) : _FLOATS.get(value.name)]
    return None


def subnormal_values(kernel: Kernel) -> set[Value]:
    """Return the values of float type that may be subnormal: all that one that may be reaches."""
    found: set[Value] = set()
    users: dict[Value, list[Value]] = {}
    for block in kernel.blocks:
        for value in (*block.phis, *block.ops):
            if value.type not in _FORMATS:
                continue
            sources = _sources(value)
            if sources is None or any(isinstance(s, Const) and _is_subnormal(s) for s in sources):
                found.add(value)
            for source in sources or ():
                if not isinstance(source, Const | Undefined):
                    users.setdefault(source, []).append(value)
    work = list(found)
    while work:
        for user in users.get(work.pop(), ()):
            if user not in found:
                found.add(user)
                work.append(user)
    return found
