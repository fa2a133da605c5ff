"""What a function keeps across its calls for real: its registers that are read behind them.

Every call of a shared function uses the same registers of the graph, so a caller that may be called again inside of its own call
must have its values on the stack. The kernel itself is never called again; it keeps what SSA form could not simply carry on.
"""

from __future__ import annotations

from collections.abc import Iterable

from anywarp.compiler.calls import Shared, Site
from anywarp.compiler.cfg import Dominance, dominators
from anywarp.compiler.skeleton import Activation, Assign, Node, Step
from anywarp.compiler.variables import Place, Register
from anywarp.compiler.walk import place_in
from anywarp.ptx.isa.ops import BITS


def save_registers(nodes: list[Node], sites: list[Site], shared: Iterable[Shared], special: set[Register]) -> None:
    """Store what is live behind each call before it and load it again there; `special` registers look after themselves."""
    live = _live(nodes, {s.going: s.back for s in sites}, {s.leaving for s in shared})
    writers = _writers(nodes)
    dominance = Dominance(dominators([list(dict.fromkeys(node.targets)) for node in nodes]))
    slots: dict[tuple[Activation | None, Register], Place] = {}
    for site in sites:
        kept = [r for r in live[site.back] if r not in special]
        if site.owner is None:
            kept = [r for r in kept if not _carried(writers.get(r, []), site.back, dominance)]
        kept.sort(key=lambda r: r.name)
        saves: list[Step] = []
        restores: list[Step] = []
        for register in kept:
            place = slots.get((site.owner, register))
            if place is None:
                place = slots[site.owner, register] = _slot(site.owner, register)
            base = [] if place.frame is None else [place.frame]
            saves.append(Step(Assign(place, register, register.type), {}, [register, *base], [], site.span))
            restores.append(Step(Assign(register, place, register.type), {}, base, [register], site.span))
        nodes[site.going].steps[:0] = saves
        at = 1 if site.owner is None else 2  # behind the steps that make the caller's frame current again
        nodes[site.back].steps[at:at] = restores


def _slot(owner: Activation | None, register: Register) -> Place:
    size = max(1, BITS[register.type] // 8)
    if owner is None:
        return Place(register.name, "local", size, size, pinned=True)
    return place_in(owner.base, owner.reserve(size, size), size, register.name)


def _carried(writers: list[int], back: int, dominance: Dominance) -> bool:
    """Tell whether a register of the kernel has one value wherever it is read: it needs no phi on its way through calls."""
    return not writers or (len(writers) == 1 and dominance.dominates(writers[0], back))


def _writers(nodes: list[Node]) -> dict[Register, list[int]]:
    out: dict[Register, list[int]] = {}
    for number, node in enumerate(nodes):
        for step in node.steps:
            for register in step.writes:
                out.setdefault(register, []).append(number)
    return out


def _live(nodes: list[Node], over: dict[int, int], leaving: set[int]) -> list[set[Register]]:
    """Return what is live on entry to each node when a call is an edge to the block behind it."""
    succ = [
        [over[n]] if n in over else [] if n in leaving else list(dict.fromkeys(node.targets))
        for n, node in enumerate(nodes)
    ]
    pred: list[list[int]] = [[] for _ in nodes]
    for node, targets in enumerate(succ):
        for target in targets:
            pred[target].append(node)
    reads: list[set[Register]] = []
    writes: list[set[Register]] = []
    for node in nodes:
        used: set[Register] = set()
        made: set[Register] = set()
        for step in node.steps:
            used.update(r for r in step.reads if r not in made)
            made.update(step.writes)
        if node.step is not None:
            used.update(r for r in node.step.reads if r not in made)
        reads.append(used)
        writes.append(made)
    live = [set(used) for used in reads]
    work = list(range(len(nodes)))
    queued = set(work)
    while work:
        node = work.pop()
        queued.discard(node)
        for p in pred[node]:
            new = live[node] - writes[p] - live[p]
            if new:
                live[p] |= new
                if p not in queued:
                    queued.add(p)
                    work.append(p)
    return live
