"""Give `.sync` instructions that meet from different places one place, as ptxas does with a subroutine.

On the skeleton, where registers are variables and no SSA has to be repaired: each instruction becomes moves of its operands into registers of
the group, a jump to the one that is left, and moves of its results behind the switch that leads back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from anywarp.compiler.crossings import Crossing
from anywarp.compiler.skeleton import Assign, Entity, Joined, Node, Skeleton, Step, register_type
from anywarp.compiler.variables import Register
from anywarp.diagnostics import Span
from anywarp.ptx.isa.warp import exchanged_types
from anywarp.ptx.tree import Instruction, Name, Operand, Pair, Sink


def join_crossings(skeleton: Skeleton, crossings: Iterable[Crossing]) -> None:
    """Let the instructions of each crossing that have the same form be one.

    Legality: they are those of the same qualifiers that meet if the masks are equal, too, and the mask is an operand. The skeleton need not be
    reducible afterwards.
    """
    groups = _groups(crossings)
    sites: dict[tuple[Span, str], list[Step]] = {}
    for step in (step for node in skeleton.nodes for step in node.steps):
        what = step.what
        if isinstance(what, Instruction) and what.span in groups and what.has("sync"):
            sites.setdefault((groups[what.span], what.form), []).append(step)
    places = {
        id(step): place
        for some in sites.values()
        if len(some) > 1
        for place in [_make(skeleton, some)]
        for step in some
    }
    for number in range(len(skeleton.nodes)):
        rest: int | None = number
        while rest is not None:
            rest = _divide(skeleton, skeleton.nodes[rest], places)


def _groups(crossings: Iterable[Crossing]) -> dict[Span, Span]:
    """Map each instruction to one that stands for all it is connected with."""
    leader: dict[Span, Span] = {}

    def find(span: Span) -> Span:
        while leader.setdefault(span, span) != span:
            span = leader[span]
        return span

    for crossing in crossings:
        first = min(crossing, key=lambda span: span.start)
        for other in crossing:  # one alone: of a function that is expanded on both ways
            leader[find(other)] = find(first)
    return {span: find(span) for span in list(leader)}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the instructions of a group are one: its node, the types and registers of what it writes and reads, and which of them has come."""

    number: int
    node: Node
    spans: list[Span]
    results: list[tuple[str, Register]]
    sources: list[tuple[str, Register]]
    site: Register


def _make(skeleton: Skeleton, sites: list[Step]) -> _Place:
    first = sites[0].what
    assert isinstance(first, Instruction)
    types, read_types = exchanged_types(first)
    results = [(t, Register(f"%result:{n}", register_type(t))) for n, t in enumerate(types)]  # names that no PTX has
    sources = [(t, Register(f"%source:{n}", register_type(t))) for n, t in enumerate(read_types)]
    names: dict[str, Entity] = {register.name: register for _, register in (*results, *sources)}
    given: list[Operand] = [Name(register.name) for _, register in results]
    operands = (Pair(*given) if len(given) > 1 else given[0], *(Name(register.name) for _, register in sources))
    one = replace(first, operands=operands)
    site = Register("%site:", "i32")
    read, written = [register for _, register in sources], [register for _, register in results]
    joined = Joined(one, site, [])
    back = Step(site, {}, [site], [], first.span)
    skeleton.nodes.append(
        Node([Step(joined, names, [*read, site], written, first.span)], "switch", [], back, span=first.span)
    )
    return _Place(len(skeleton.nodes) - 1, skeleton.nodes[-1], joined.spans, results, sources, site)


def _divide(skeleton: Skeleton, node: Node, places: dict[int, _Place]) -> int | None:
    """Leave a node at the first instruction that has another place; returns the number of the node to come back to."""
    at = next((n for n, step in enumerate(node.steps) if id(step) in places), None)
    if at is None:
        return None
    step, place = node.steps[at], places[id(node.steps[at])]
    assert isinstance(step.what, Instruction)
    first, *sources = step.what.operands
    results = [first.first, first.second] if isinstance(first, Pair) else [first]
    back = [
        _move(step, t, to, Name(r.name), r, [r], step.writes)
        for to, (t, r) in zip(results, place.results)
        if not isinstance(to, Sink)
    ]
    there = [
        _move(step, t, Name(r.name), source, r, step.reads, [r])
        for source, (t, r) in zip(sources, place.sources, strict=True)
    ]
    rest = len(skeleton.nodes)
    skeleton.nodes.append(replace(node, steps=[*back, *node.steps[at + 1 :]]))
    who = Step(Assign(place.site, len(place.node.targets), "i32"), {}, [], [place.site], step.span)
    place.node.targets.append(rest)
    place.spans.append(step.span)
    node.steps[at:] = [*there, who]
    node.kind, node.targets, node.step, node.barrier, node.reason = "jump", [place.number], None, None, 0
    return rest


def _move(
    step: Step,
    type: str,
    to: Operand,
    source: Operand,
    register: Register,
    reads: list[Register],
    writes: list[Register],
) -> Step:
    """Return a `mov` between an operand of `step` and a register of the group."""
    what = Instruction("mov", (type,), (to, source), None, step.span)
    return Step(what, {**step.names, register.name: register}, reads, writes, step.span)
