"""Turn irreducible control flow into loops with one header, before SSA exists.

Later stages order blocks by loops and run them under masks, which needs every cycle to have one entry. Compilers seldom emit
others, but jump threading and hand-written PTX do.
"""

from __future__ import annotations

from anywarp.compiler.cfg import predecessors, reverse_postorder, strong_components
from anywarp.compiler.skeleton import Assign, Node, Skeleton, Step
from anywarp.compiler.variables import Register


def make_reducible(skeleton: Skeleton) -> int:
    """Give each cycle with several entries a dispatching header; returns how many were needed.

    Legality: every edge to an entry sets a state register and goes to the dispatcher, which jumps to that entry and does
    nothing else.
    """
    made = 0
    graph = skeleton.graph()
    work: list[tuple[list[int], set[int]]] = [(reverse_postorder(graph), set())]
    while work:
        nodes, cut = work.pop()
        for component in strong_components(graph, nodes, cut):
            inside = set(component)
            alive = set(reverse_postorder(graph))
            pred = predecessors(graph)
            entries = [v for v in component if v == 0 or any(p not in inside and p in alive for p in pred[v])]
            # An entry of an outer cycle counts for this one only through edges from outside it.
            if len(entries) <= 1:
                header = entries[0] if entries else component[-1]
                work.append((component, cut | {header}))
                continue
            dispatcher, links = _dispatch(skeleton, entries, inside, f"%state{made}")
            made += 1
            graph = skeleton.graph()
            work.append(([*component, dispatcher, *links], cut | {dispatcher}))
    return made


def _dispatch(skeleton: Skeleton, entries: list[int], inside: set[int], name: str) -> tuple[int, list[int]]:
    """Route all edges to `entries` through a new switch; returns it and the new blocks on the edges from `inside`.

    Edges from outside the cycle have blocks of their own: shared ones would be entries of the cycle again.
    """
    state = Register(name, "i32")
    dispatcher = len(skeleton.nodes)
    span = skeleton.nodes[entries[0]].span or skeleton.nodes[0].span
    assert span is not None
    skeleton.nodes.append(Node(kind="switch", targets=list(entries), span=span))
    skeleton.nodes[dispatcher].step = Step(state, {}, [state], [], span)
    position = {entry: i for i, entry in enumerate(entries)}
    links: dict[tuple[int, bool], int] = {}
    for node in range(dispatcher):
        targets = skeleton.nodes[node].targets
        for slot, target in enumerate(targets):
            index = position.get(target)
            if index is None:
                continue
            link = (target, node in inside)
            if link not in links:
                links[link] = len(skeleton.nodes)
                step = Step(Assign(state, index, "i32"), {}, [], [state], span)
                skeleton.nodes.append(Node([step], "jump", [dispatcher], span=span))
            targets[slot] = links[link]
    return dispatcher, [block for (_, within), block in links.items() if within]
