"""Which device functions are expanded at every call, and which once per kernel and called for real.

Expanding a call where it stands is what makes kernels fast, but recursion has no end of it, a function pointer has no place for
it, and a deep graph of calls grows without bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from anywarp.compiler.cfg import strong_components
from anywarp.compiler.skeleton import ModuleView
from anywarp.ptx.tree import Function, Group, Instruction, Name, Scope, Statement

INLINE_BUDGET = 60_000
"""Instructions of a kernel up to which every call is expanded where it stands."""

_ROUNDS = 12
_SATURATED = 1 << 60


@dataclass(slots=True)
class _Body:
    """What matters of a function: its instructions, how often it calls which function, whether it calls through pointers."""

    size: int = 0
    calls: dict[str, int] = field(default_factory=dict[str, int])
    indirect: bool = False


def shared_functions(module: ModuleView, kernel: Function) -> frozenset[str]:
    """Return the functions, by name, that `kernel` needs and that are to be expanded once.

    These are the recursive ones, those whose address is taken if the kernel calls through pointers at all, and where the whole
    would become too large those that contribute most to it.
    """
    bodies = _reachable(module, kernel)
    if len(bodies) == 1 and not bodies[kernel.name].indirect:
        return frozenset()
    pointed: set[str] = set()
    if any(body.indirect for body in bodies.values()):
        pointed = {name for name in module.address_taken() if name in bodies}
    shared = _recursive(bodies, pointed) | pointed
    for _ in range(_ROUNDS):
        more = _heavy(bodies, kernel.name, shared)
        if not more:
            break
        shared |= more
    return frozenset(shared)


def _reachable(module: ModuleView, kernel: Function) -> dict[str, _Body]:
    """Read all functions that may be called from `kernel`."""
    out: dict[str, _Body] = {}
    work = [kernel]
    pointers = False
    while work:
        function = work.pop()
        if function.name in out:
            continue
        body = out[function.name] = _read(module, function)
        names = list(body.calls)
        if body.indirect and not pointers:
            pointers = True
            names += module.address_taken()
        for name in names:
            callee = module.function(name)
            if callee is not None and callee.body is not None:
                work.append(callee)
    return out


def _read(module: ModuleView, function: Function) -> _Body:
    out = _Body()
    assert function.body is not None
    work: list[Statement] = list(function.body.statements)
    while work:
        statement = work.pop()
        if isinstance(statement, Scope):
            work += statement.statements
        elif isinstance(statement, Instruction):
            out.size += 1
            if statement.opcode == "call":
                _note_call(module, statement, out)
    return out


def _note_call(module: ModuleView, call: Instruction, out: _Body) -> None:
    operands = [o for o in call.operands if not isinstance(o, Group)]
    name = operands[0] if operands else None
    callee = module.function(name.name) if isinstance(name, Name) else None
    if callee is None:
        out.indirect = True
    elif callee.body is not None:
        out.calls[callee.name] = out.calls.get(callee.name, 0) + 1


def _recursive(bodies: dict[str, _Body], pointed: set[str]) -> set[str]:
    """Return the functions on a circle of calls; a call through a pointer may reach each of `pointed`."""
    names = list(bodies)
    number = {name: i for i, name in enumerate(names)}
    graph = [[number[c] for c in [*bodies[name].calls, *(pointed if bodies[name].indirect else ())]] for name in names]
    return {names[i] for component in strong_components(graph, range(len(names)), set()) for i in component}


def _heavy(bodies: dict[str, _Body], kernel: str, shared: set[str]) -> set[str]:
    """Return what must be shared, too, for the whole to fit: nothing if it does."""
    order = _callees_first(bodies, shared)
    total: dict[str, int] = {}
    for name in order:
        body = bodies[name]
        inside = (n * total.get(c, 0) for c, n in body.calls.items() if c not in shared)
        total[name] = min(body.size + sum(inside), _SATURATED)
    roots = [kernel, *(s for s in shared if s in bodies)]
    if sum(total[r] for r in roots) <= INLINE_BUDGET:
        return set()
    times = dict.fromkeys(bodies, 0)
    for root in roots:
        times[root] = 1
    for name in reversed(order):
        for callee, count in bodies[name].calls.items():
            if callee not in shared and callee in times:
                times[callee] = min(times[callee] + times[name] * count, _SATURATED)
    return {
        name for name in bodies
        if name not in shared and name != kernel and times[name] > 1 and (times[name] - 1) * total[name] > INLINE_BUDGET // 64
    }  # fmt: skip


def _callees_first(bodies: dict[str, _Body], shared: set[str]) -> list[str]:
    """Order the functions so that each comes behind those expanded in it; circles go through shared ones only."""
    out: list[str] = []
    done: set[str] = set()
    for root in bodies:
        work = [(root, iter(bodies[root].calls))] if root not in done else []
        done.add(root)
        while work:
            name, callees = work[-1]
            for callee in callees:
                if callee in bodies and callee not in done and callee not in shared:
                    done.add(callee)
                    work.append((callee, iter(bodies[callee].calls)))
                    break
            else:
                out.append(name)
                work.pop()
    return out
