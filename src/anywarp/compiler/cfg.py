"""Graph algorithms on control flow: orders, dominators, loops, and the repair of irreducible graphs.

All work on integer graphs (a list of successor lists, node 0 the entry) and without recursion, because the shape and size of
a graph come from the program being compiled.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from anywarp.compiler.ir import Block, Kernel

Graph: TypeAlias = Sequence[Sequence[int]]


def predecessors(succ: Graph) -> list[list[int]]:
    """Return the distinct predecessors of each node, in node order."""
    pred: list[list[int]] = [[] for _ in succ]
    for node, targets in enumerate(succ):
        for target in dict.fromkeys(targets):
            pred[target].append(node)
    return pred


def reverse_postorder(succ: Graph, entry: int = 0) -> list[int]:
    """Return the nodes reachable from `entry` in reverse postorder of a depth-first search."""
    seen = [False] * len(succ)
    seen[entry] = True
    out: list[int] = []
    stack = [(entry, iter(succ[entry]))]
    while stack:
        node, targets = stack[-1]
        for target in targets:
            if not seen[target]:
                seen[target] = True
                stack.append((target, iter(succ[target])))
                break
        else:
            out.append(node)
            stack.pop()
    out.reverse()
    return out


def dominators(succ: Graph, entry: int = 0) -> list[int]:
    """Return each node's immediate dominator: `entry` for itself, -1 for an unreachable node.

    Semi-NCA (Georgiadis 2005): semidominators with path compression as in Lengauer and Tarjan, then the nearest common ancestor
    of parent and semidominator. Close to linear, whatever the shape.
    """
    order, parent = _depth_first(succ, entry)
    number = [-1] * len(succ)
    for i, node in enumerate(order):
        number[node] = i
    pred = predecessors(succ)
    semi = list(range(len(order)))
    label = list(range(len(order)))
    ancestor = list(parent)
    for w in range(len(order) - 1, 0, -1):
        for p in pred[order[w]]:
            if number[p] >= 0:
                semi[w] = min(semi[w], semi[_lowest(number[p], w, ancestor, label, semi)])
        label[w] = w
    idom = list(parent)
    for w in range(1, len(order)):
        while idom[w] > semi[w]:
            idom[w] = idom[idom[w]]
    out = [-1] * len(succ)
    for w, node in enumerate(order):
        out[node] = order[idom[w]]
    return out


def _depth_first(succ: Graph, entry: int) -> tuple[list[int], list[int]]:
    """Return the reachable nodes in preorder, and each one's parent in the tree, by position (the entry is its own)."""
    position = {entry: 0}
    order = [entry]
    parent = [0]
    stack = [(0, iter(succ[entry]))]
    while stack:
        at, targets = stack[-1]
        for target in targets:
            if target not in position:
                position[target] = len(order)
                order.append(target)
                parent.append(at)
                stack.append((position[target], iter(succ[target])))
                break
        else:
            stack.pop()
    return order, parent


def _lowest(v: int, last: int, ancestor: list[int], label: list[int], semi: list[int]) -> int:
    """Return the node with the least semidominator on the tree path above `v` down to linked nodes (those after `last`)."""
    if v <= last:
        return v
    path: list[int] = []
    while ancestor[v] > last:
        path.append(v)
        v = ancestor[v]
    for one in reversed(path):
        above = ancestor[one]
        if semi[label[above]] < semi[label[one]]:
            label[one] = label[above]
        ancestor[one] = ancestor[above]
    return label[path[0]] if path else label[v]


def postdominators(succ: Graph, entry: int = 0) -> list[int]:
    """Return each reachable node's immediate postdominator; `len(succ)` is the virtual exit, -1 marks unreachable nodes.

    A node from which no exit can be reached (an infinite loop) gets an edge to the virtual exit where needed, so that every
    reachable node has a postdominator.
    """
    n = len(succ)
    reachable = reverse_postorder(succ, entry)
    backward: list[list[int]] = [[] for _ in range(n + 1)]
    for node in reachable:
        for target in dict.fromkeys(succ[node]):
            backward[target].append(node)
    exits = [node for node in reachable if not succ[node]]
    backward[n] = exits
    seen: set[int] = set()
    _mark(backward, exits, seen)
    for node in reversed(reachable):
        if node not in seen:
            backward[n].append(node)
            _mark(backward, [node], seen)
    idom = dominators(backward, n)
    alive = set(reachable)
    return [idom[v] if v in alive else -1 for v in range(n)]


def _mark(graph: Graph, roots: Sequence[int], seen: set[int]) -> None:
    work = list(roots)
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work += graph[node]


class Dominance:
    """Constant-time dominance queries on an immediate-dominator array."""

    def __init__(self, idom: Sequence[int], root: int = 0) -> None:
        self.idom = idom
        self.children: list[list[int]] = [[] for _ in range(len(idom))]
        for node, parent in enumerate(idom):
            if parent >= 0 and node != root:
                self.children[parent].append(node)
        self._in = [-1] * len(idom)
        self._out = [-1] * len(idom)
        clock = 0
        stack = [(root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                self._out[node] = clock
                continue
            self._in[node] = clock
            clock += 1
            stack.append((node, True))
            stack += [(child, False) for child in self.children[node]]

    def dominates(self, a: int, b: int) -> bool:
        """Tell whether `a` dominates `b` (a node dominates itself); unreachable nodes dominate nothing."""
        return self._in[a] >= 0 and self._in[b] >= 0 and self._in[a] <= self._in[b] and self._out[b] <= self._out[a]


def dominance_frontiers(succ: Graph, idom: Sequence[int]) -> list[set[int]]:
    """Return the dominance frontier of each reachable node."""
    out: list[set[int]] = [set() for _ in succ]
    for node, preds in enumerate(predecessors(succ)):
        if idom[node] < 0 or (len(preds) < 2 and node != 0):
            continue
        for p in preds:
            runner = p
            while runner >= 0 and idom[runner] >= 0 and (runner != idom[node] or node == 0):
                if node in out[runner]:
                    break
                out[runner].add(node)
                if runner == idom[runner]:
                    break
                runner = idom[runner]
    return out


# --- loops ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Loop:
    """A natural loop: its header, all its blocks (inner loops' too), back edges' sources, and the edges that leave it."""

    header: int
    blocks: set[int] = field(default_factory=set[int])
    latches: list[int] = field(default_factory=list[int])
    exits: list[tuple[int, int]] = field(default_factory=list["tuple[int, int]"])
    parent: Loop | None = None
    depth: int = 1

    def __repr__(self) -> str:
        return f"<loop {self.header} of {len(self.blocks)}>"


@dataclass(slots=True)
class LoopNest:
    """All loops, outer before inner; `innermost[node]` is the innermost loop that holds a node, or None."""

    loops: list[Loop]
    innermost: list[Loop | None]
    irreducible: list[tuple[int, int]]

    def around(self, node: int) -> list[Loop]:
        """Return the loops that hold `node`, innermost first."""
        out: list[Loop] = []
        loop = self.innermost[node]
        while loop is not None:
            out.append(loop)
            loop = loop.parent
        return out


def natural_loops(succ: Graph, entry: int = 0, dominance: Dominance | None = None) -> LoopNest:
    """Find the natural loops; retreating edges that enter a loop not through its header are listed as irreducible.

    `dominance` spares computing it again.
    """
    order = reverse_postorder(succ, entry)
    position = {node: i for i, node in enumerate(order)}
    dominance = dominance or Dominance(dominators(succ, entry), entry)
    pred = predecessors(succ)
    found: dict[int, Loop] = {}
    irreducible: list[tuple[int, int]] = []
    for node in order:
        for target in dict.fromkeys(succ[node]):
            if position[target] > position[node]:
                continue
            if dominance.dominates(target, node):
                found.setdefault(target, Loop(target)).latches.append(node)
            else:
                irreducible.append((node, target))
    innermost: list[Loop | None] = [None] * len(succ)
    # Inner loops have later headers: fill them first, then the first loop that claims a block is its innermost.
    for loop in sorted(found.values(), key=lambda one: -position[one.header]):
        loop.blocks = {loop.header}
        work = [v for v in loop.latches if v != loop.header]
        while work:
            node = work.pop()
            if node not in loop.blocks and node in position:
                loop.blocks.add(node)
                work += pred[node]
        for node in loop.blocks:
            inner = innermost[node]
            if inner is None:
                innermost[node] = loop
        loop.exits = [(v, t) for v in sorted(loop.blocks) for t in dict.fromkeys(succ[v]) if t not in loop.blocks]
    loops = sorted(found.values(), key=lambda one: position[one.header])
    _nest(loops)
    return LoopNest(loops, innermost, irreducible)


def _nest(loops: list[Loop]) -> None:
    """Set parents and depths; `loops` has outer loops before inner ones."""
    current: dict[int, Loop] = {}
    for loop in loops:
        loop.parent = current.get(loop.header)
        loop.depth = 1 if loop.parent is None else loop.parent.depth + 1
        for node in loop.blocks:
            current[node] = loop


def linear_order(succ: Graph, nest: LoopNest, entry: int = 0) -> list[int]:
    """Order the reachable nodes topologically (back edges apart) so that each loop's blocks are contiguous, header first."""
    base = reverse_postorder(succ, entry)
    position = {node: i for i, node in enumerate(base)}
    depth_of = [0 if loop is None else loop.depth for loop in nest.innermost]
    members: dict[Loop | None, list[int]] = {None: []}
    for loop in nest.loops:
        members.setdefault(loop, [])
        members.setdefault(loop.parent, []).append(loop.header)
    for node in base:
        loop = nest.innermost[node]
        if loop is None or loop.header != node:
            members[loop].append(node)
    at_header = {loop.header: loop for loop in nest.loops}

    def representative(node: int, scope: Loop | None) -> int:
        """Return the member of `scope` that stands for `node`: itself, or the header of the child loop around it."""
        want = 0 if scope is None else scope.depth
        loop = nest.innermost[node]
        if depth_of[node] <= want or loop is None:
            return node
        while loop.depth > want + 1 and loop.parent is not None:
            loop = loop.parent
        return loop.header

    edges: dict[Loop | None, dict[int, set[int]]] = {}
    for node in base:
        for target in succ[node]:
            scope = nest.innermost[node]
            while scope is not None and target not in scope.blocks:
                scope = scope.parent
            if scope is None or target != scope.header:
                sources = edges.setdefault(scope, {})
                sources.setdefault(representative(node, scope), set()).add(representative(target, scope))
    sequences: dict[Loop | None, list[int]] = {}
    for scope, nodes in members.items():
        inside = ([scope.header] if scope is not None else []) + nodes
        sequences[scope] = _topological(inside, edges.get(scope, {}), position)
    out: list[int] = []
    stack: list[tuple[int, Loop | None]] = [(node, None) for node in reversed(sequences[None])]
    while stack:
        node, scope = stack.pop()
        loop = at_header.get(node)
        if loop is not None and loop is not scope:
            stack += [(inner, loop) for inner in reversed(sequences[loop])]
        else:
            out.append(node)
    return out


def _topological(nodes: list[int], edges: dict[int, set[int]], position: dict[int, int]) -> list[int]:
    """Sort by forward edges, ties in reverse postorder; leftovers of irreducible cycles follow in that order too."""
    inside = set(nodes)
    degree = dict.fromkeys(nodes, 0)
    for source, targets in edges.items():
        for target in targets:
            if target in inside and target != source:
                degree[target] += 1
    ready = [(position[v], v) for v in nodes if degree[v] == 0]
    heapq.heapify(ready)
    out: list[int] = []
    while ready:
        _, node = heapq.heappop(ready)
        out.append(node)
        for target in edges.get(node, ()):
            if target in inside and target != node:
                degree[target] -= 1
                if degree[target] == 0:
                    heapq.heappush(ready, (position[target], target))
    if len(out) < len(nodes):
        done = set(out)
        out += sorted((v for v in nodes if v not in done), key=lambda v: position[v])
    return out


def strong_components(succ: Graph, nodes: Sequence[int], cut: set[int]) -> list[list[int]]:
    """Return the cyclic strongly connected components of the graph on `nodes`, edges into `cut` left out (Tarjan)."""
    inside = set(nodes)
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    path: list[int] = []
    out: list[list[int]] = []
    for root in nodes:
        if root in number:
            continue
        work = [(root, iter(succ[root]))]
        number[root] = low[root] = len(number)
        path.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in inside or target in cut:
                    continue
                if target not in number:
                    number[target] = low[target] = len(number)
                    path.append(target)
                    on_stack.add(target)
                    work.append((target, iter(succ[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], number[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    component = [path.pop()]
                    while component[-1] != node:
                        component.append(path.pop())
                    on_stack.difference_update(component)
                    if len(component) > 1 or (node in succ[node] and node not in cut):
                        out.append(component)
    return out


# --- kernels ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ControlFlow:
    """A kernel's graph in numbers: `blocks[i]` is node i. Made fresh after every change of the kernel."""

    blocks: list[Block]
    index: dict[Block, int]
    succ: list[list[int]]
    pred: list[list[int]]
    nest: LoopNest
    dominance: Dominance

    @property
    def loops(self) -> list[Loop]:
        """All loops, outer before inner."""
        return self.nest.loops


def control_flow(kernel: Kernel) -> ControlFlow:
    """Build the graph of `kernel`, its dominators and its loops."""
    index = {block: i for i, block in enumerate(kernel.blocks)}
    succ = [[index[t] for t in dict.fromkeys(block.terminator.targets)] for block in kernel.blocks]
    dominance = Dominance(dominators(succ))
    return ControlFlow(kernel.blocks, index, succ, predecessors(succ), natural_loops(succ, 0, dominance), dominance)


def arrange_blocks(kernel: Kernel) -> None:
    """Drop unreachable blocks and put the rest in linear order with contiguous loops."""
    flow = control_flow(kernel)
    order = linear_order(flow.succ, flow.nest)
    kept = {flow.blocks[i] for i in order}
    kernel.blocks = [flow.blocks[i] for i in order]
    for block in kernel.blocks:
        for phi in block.phis:
            for source in [b for b in phi.incoming if b not in kept]:
                del phi.incoming[source]
