"""Where SSA form needs phis: pruned, and closed at loop exits.

A value that leaves a loop gets a phi at the loop's exit, so that what differs between lanes which leave at different trips is
told apart from the value inside the loop, which does not.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from anywarp.compiler.cfg import Graph, LoopNest

V = TypeVar("V", bound=Hashable)


def place_phis(
    pred: Graph,
    frontiers: list[set[int]],
    nest: LoopNest,
    definitions: Mapping[V, set[int]],
    exposed: Mapping[V, set[int]],
) -> list[list[V]]:
    """Return the variables that need a phi in each node.

    `definitions` are the nodes that define a variable, `exposed` those that read it before defining it.
    """
    out: list[list[V]] = [[] for _ in pred]
    closings = _closings(nest, len(pred))
    for variable, readers in exposed.items():
        writers = definitions.get(variable)
        if not writers:
            continue
        live = _live(pred, writers, readers)
        placed: set[int] = set()
        work = list(writers)
        while work:
            node = work.pop()
            for target in (*frontiers[node], *closings[node]):
                if target in live and target not in placed:
                    placed.add(target)
                    out[target].append(variable)
                    if target not in writers:
                        work.append(target)
    return out


def _live(pred: Graph, writers: set[int], readers: set[int]) -> set[int]:
    """Return the nodes on entry to which the variable is live."""
    live = set(readers)
    work = list(readers)
    while work:
        for p in pred[work.pop()]:
            if p not in live and p not in writers:
                live.add(p)
                work.append(p)
    return live


def _closings(nest: LoopNest, size: int) -> list[tuple[int, ...]]:
    """Return for each node the targets of the exits of all loops around it."""
    targets = {loop.header: tuple(dict.fromkeys(t for _, t in loop.exits)) for loop in nest.loops}
    cached: dict[int, tuple[int, ...]] = {}
    out: list[tuple[int, ...]] = [()] * size
    for loop in nest.loops:
        outer = cached[loop.parent.header] if loop.parent is not None else ()
        cached[loop.header] = tuple(dict.fromkeys((*targets[loop.header], *outer)))
    for node in range(size):
        loop = nest.innermost[node]
        if loop is not None:
            out[node] = cached[loop.header]
    return out
