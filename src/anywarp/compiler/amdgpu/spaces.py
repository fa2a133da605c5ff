"""Which space a generic address surely points into, by how it was made.

PTX from C++ names the space of most accesses. Where it does not, it follows from a conversion out of a space, or from a kernel's
parameter, which can hold addresses of global memory only. Arithmetic keeps an address in its space.
"""

from __future__ import annotations

from anywarp.compiler.ir import Const, Kernel, Op, Phi, Undefined, Value

_ANY, _UNKNOWN = "any", "unknown"
_DISTANCE = "distance"
_MAYBE = "maybe global"
"""Of a parameter: an address of global memory or a number, which code that uses it as an address does not have to tell apart."""
_NUMBERS = frozenset("mul mulhi shl lshr ashr zext sext trunc ctpop div rem".split())


def spaces_of_addresses(kernel: Kernel) -> dict[Value, str]:
    """Return the space that 64-bit values point into where they are used as addresses, as far as it is sure."""
    values = [v for b in kernel.blocks for v in (*b.phis, *b.ops) if v.type == "i64"]
    found: dict[Value, str] = dict.fromkeys(values, _ANY)
    changed = True
    while changed:  # downwards from "any": each value changes at most twice
        changed = False
        for value in values:
            now = _state(value, found)
            if now != found[value]:
                found[value] = now if found[value] == _ANY else _UNKNOWN
                changed = True
    named = {_MAYBE: "global", _ANY: "", _UNKNOWN: "", _DISTANCE: ""}
    return {v: space for v, s in found.items() if (space := named.get(s, s))}


def _of(value: Value, found: dict[Value, str]) -> str:
    if isinstance(value, Const):
        return _DISTANCE
    return _ANY if isinstance(value, Undefined) else found.get(value, _UNKNOWN)


def _state(value: Value, found: dict[Value, str]) -> str:
    if isinstance(value, Phi):
        return _meet([_of(v, found) for v in value.incoming.values() if not _is_null(v)])
    assert isinstance(value, Op)
    states = [_of(a, found) for a in value.args]
    if value.name == "to_generic":
        return str(value.attrs["space"])
    if value.name == "param":
        return _MAYBE
    if value.name == "add":
        return _sum(states)
    if value.name == "sub":
        return _sum([states[0], _DISTANCE if states[1] == states[0] else states[1]])
    if value.name == "select":
        return _meet([s for s, a in zip(states[1:], value.args[1:], strict=True) if not _is_null(a)])
    if value.name == "and" and isinstance(value.args[1], Const):
        return states[0] if value.args[1].bits >> 32 == 0xFFFFFFFF else _DISTANCE
    return _DISTANCE if value.name in _NUMBERS else _UNKNOWN


def _is_null(value: Value) -> bool:
    return isinstance(value, Const) and value.bits == 0


def _meet(states: list[str]) -> str:
    known = {s for s in states if s != _ANY}
    if not known:
        return _ANY
    if known == {"global", _MAYBE}:
        return "global"
    return known.pop() if len(known) == 1 else _UNKNOWN


def _sum(states: list[str]) -> str:
    """Return what an address plus something is."""
    known = set(states)
    if _ANY in known:
        return _ANY
    sure = known - {_DISTANCE, _MAYBE, _UNKNOWN}
    if sure:
        return sure.pop() if len(sure) == 1 else _UNKNOWN
    return known.pop() if len(known) == 1 else _MAYBE if known == {_MAYBE, _DISTANCE} else _UNKNOWN
