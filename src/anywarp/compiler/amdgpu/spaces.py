"""Which space an address surely points into, by how it was made.

PTX from C++ names the space of most accesses. Where it does not, it follows from a conversion out of a space, or from a kernel's
parameter, which can hold addresses of global memory only. Arithmetic keeps an address in its space.
"""

from __future__ import annotations

from anywarp.compiler.attributes import InSpace
from anywarp.compiler.ir import Const, Kernel, Op, Phi, Undefined, Value
from anywarp.ptx.isa.ops import BITS

_ANY, UNKNOWN = "any", "unknown"
DISTANCE = "distance"
MAYBE = "maybe global"
"""Of a parameter: an address of global memory or a number, which code that uses it as an address does not have to tell apart."""
_NUMBERS = frozenset("mul mulhi dot4 shl lshr ashr zext sext trunc ctpop div rem".split())
SMALL = ("shared", "local")


def origins(kernel: Kernel) -> dict[Value, str]:
    """Return for all values of 32 and 64 bits what they are: the space of an address, MAYBE, DISTANCE or UNKNOWN."""
    values = [v for b in kernel.blocks for v in (*b.phis, *b.ops) if v.type in ("i32", "i64")]
    found: dict[Value, str] = dict.fromkeys(values, _ANY)
    changed = True
    while changed:  # downwards from "any": each value changes at most twice
        changed = False
        for value in values:
            now = _state(value, found)
            if now != found[value]:
                found[value] = now if found[value] == _ANY else UNKNOWN
                changed = True
    return found


def spaces_of_addresses(found: dict[Value, str]) -> dict[Value, str]:
    """Return the space that 64-bit values point into where they are used as generic addresses, as far as it is sure."""
    named = {MAYBE: "global", _ANY: "", UNKNOWN: "", DISTANCE: ""}
    return {v: space for v, s in found.items() if v.type == "i64" and (space := named.get(s, s))}


def _of(value: Value, found: dict[Value, str]) -> str:
    if isinstance(value, Const):
        return DISTANCE
    return _ANY if isinstance(value, Undefined) else found.get(value, UNKNOWN)


def _state(value: Value, found: dict[Value, str]) -> str:
    if isinstance(value, Phi):
        return _meet([_of(v, found) for v in value.incoming.values() if not is_null(v)])
    assert isinstance(value, Op)
    states = [_of(a, found) for a in value.args]
    if value.name in ("to_generic", "symbol"):
        return InSpace.of(value).space
    if value.name == "from_generic":
        return InSpace.of(value).space if InSpace.of(value).space in SMALL else states[0]
    if value.name == "param":
        return MAYBE if value.type == "i64" else DISTANCE
    if value.name == "add":
        return _sum(states)
    if value.name == "sub":
        return _sum([states[0], DISTANCE if states[1] == states[0] else states[1]])
    if value.name == "select":
        return _meet([s for s, a in zip(states[1:], value.args[1:], strict=True) if not is_null(a)])
    if value.name == "and" and isinstance(value.args[1], Const):
        upper = value.args[1].bits >> (BITS[value.type] // 2)
        return states[0] if upper == (1 << BITS[value.type] // 2) - 1 else DISTANCE
    if value.name in ("zext", "trunc") and states[0] in (*SMALL, _ANY) and BITS[value.args[0].type] >= 32:
        return states[0]
    return DISTANCE if value.name in _NUMBERS else UNKNOWN


def is_null(value: Value) -> bool:
    """Tell whether a value is the null pointer."""
    return isinstance(value, Const) and value.bits == 0


def _meet(states: list[str]) -> str:
    known = {s for s in states if s != _ANY}
    if not known:
        return _ANY
    if known == {"global", MAYBE}:
        return "global"
    return known.pop() if len(known) == 1 else UNKNOWN


def _sum(states: list[str]) -> str:
    """Return what an address plus something is."""
    known = set(states)
    if _ANY in known:
        return _ANY
    sure = known - {DISTANCE, MAYBE, UNKNOWN}
    if sure:
        return sure.pop() if len(sure) == 1 else UNKNOWN
    return known.pop() if len(known) == 1 else MAYBE if known == {MAYBE, DISTANCE} else UNKNOWN
