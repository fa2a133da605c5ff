"""Graph algorithms against their definitions, on random graphs."""

from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.compiler.cfg import (
    Dominance,
    dominance_frontiers,
    dominators,
    linear_order,
    natural_loops,
    postdominators,
    reverse_postorder,
    strong_components,
)


@st.composite
def graphs(draw: st.DrawFn, largest: int = 9) -> list[list[int]]:
    size = draw(st.integers(1, largest))
    node = st.integers(0, size - 1)
    return [draw(st.lists(node, max_size=3, unique=True)) for _ in range(size)]


def reached(succ: list[list[int]], start: int, without: int | None = None) -> set[int]:
    seen: set[int] = set()
    work = [start] if start != without else []
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work += [t for t in succ[node] if t != without]
    return seen


@given(graphs())
def test_a_dominator_is_on_every_path_from_the_entry(succ: list[list[int]]) -> None:
    dominance = Dominance(dominators(succ))
    alive = reached(succ, 0)
    for a in range(len(succ)):
        for b in range(len(succ)):
            expected = a in alive and b in alive and (a == b or b not in reached(succ, 0, a))
            assert dominance.dominates(a, b) == expected


@given(graphs())
def test_a_postdominator_is_on_every_path_to_an_exit(succ: list[list[int]]) -> None:
    idom = postdominators(succ)
    alive = reached(succ, 0)
    exits = {v for v in alive if not succ[v]}
    for node in alive:
        ways_out = reached(succ, node)
        if not ways_out & exits:
            continue  # infinite loops get an edge somewhere
        chain = {node}
        while idom[node] != len(succ) and idom[node] not in chain:
            node = idom[node]
            chain.add(node)
        start = next(iter(chain))
        assert all(0 <= v < len(succ) for v in chain), start
    # Exact where every node can reach an exit.
    if all(reached(succ, v) & exits for v in alive):
        for node in alive:
            strict = {v for v in alive if v != node and not reached(succ, node, v) & exits}
            chain: set[int] = set()
            up = idom[node]
            while up != len(succ):
                chain.add(up)
                up = idom[up]
            assert chain == strict


@given(graphs())
def test_a_frontier_is_where_dominance_ends(succ: list[list[int]]) -> None:
    idom = dominators(succ)
    dominance = Dominance(idom)
    frontiers = dominance_frontiers(succ, idom)
    alive = reached(succ, 0)
    for a in alive:
        expected = {
            t for p in alive if dominance.dominates(a, p) for t in succ[p] if not (dominance.dominates(a, t) and a != t)
        }
        assert frontiers[a] == expected


@given(graphs())
def test_a_loop_is_what_reaches_its_latch_past_the_header(succ: list[list[int]]) -> None:
    nest = natural_loops(succ)
    dominance = Dominance(dominators(succ))
    alive = reached(succ, 0)
    back = {(v, t) for v in alive for t in succ[v] if dominance.dominates(t, v)}
    assert {loop.header for loop in nest.loops} == {t for _, t in back}
    for loop in nest.loops:
        latches = {v for v, t in back if t == loop.header}
        assert set(loop.latches) == latches
        expected = {
            v for v in alive if v == loop.header or any(latch in reached(succ, v, loop.header) for latch in latches)
        }
        assert loop.blocks == expected
        assert set(loop.exits) == {(v, t) for v in loop.blocks for t in succ[v] if t not in loop.blocks}
        around = [one for one in nest.loops if one is not loop and loop.header in one.blocks]
        assert loop.depth == len(around) + 1 or nest.irreducible
        assert loop.parent is None or loop.blocks < loop.parent.blocks or nest.irreducible


@given(graphs())
def test_irreducible_is_what_stays_cyclic_without_back_edges(succ: list[list[int]]) -> None:
    dominance = Dominance(dominators(succ))
    order = reverse_postorder(succ)
    forward = [[t for t in succ[v] if not dominance.dominates(t, v)] if v in order else [] for v in range(len(succ))]
    cyclic = any(v in reached(forward, t) for v in order for t in forward[v])
    assert bool(natural_loops(succ).irreducible) == cyclic


@given(graphs(12))
@settings(max_examples=300)
def test_linear_order_keeps_loops_together(succ: list[list[int]]) -> None:
    nest = natural_loops(succ)
    order = linear_order(succ, nest)
    assert sorted(order) == sorted(reached(succ, 0))
    assert order[0] == 0
    if nest.irreducible:
        return
    position = {v: i for i, v in enumerate(order)}
    dominance = Dominance(dominators(succ))
    for v in order:
        for t in succ[v]:
            assert position[t] > position[v] or dominance.dominates(t, v)
    for loop in nest.loops:
        places = sorted(position[v] for v in loop.blocks)
        assert places == list(range(places[0], places[0] + len(places)))
        assert order[places[0]] == loop.header


@given(graphs())
def test_strong_components_are_mutual_reachability(succ: list[list[int]]) -> None:
    found = {frozenset(c) for c in strong_components(succ, range(len(succ)), set())}
    expected: set[frozenset[int]] = set()
    for v in range(len(succ)):
        mutual = frozenset(w for w in range(len(succ)) if w in reached(succ, v) and v in reached(succ, w))
        if len(mutual) > 1 or v in succ[v]:
            expected.add(mutual)
    assert found == expected


def test_ten_thousand_blocks_in_a_row_need_no_recursion() -> None:
    succ = [[v + 1, max(0, v - 1)] for v in range(10_000)] + [[]]
    succ[0] = [1]
    order = reverse_postorder(succ)
    assert len(order) == 10_001
    assert dominators(succ)[10_000] == 9_999
