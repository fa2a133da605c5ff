"""The order: needs before users, whatever order things are given in; held against its rule written down a second time, slowly."""

from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.deploy.fleet.organisation.order import LEAST_DAYS, Node, circles, order

NAMES = [f"n{i}" for i in range(9)]


@st.composite
def graphs(draw):
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    return [
        Node(
            name,
            frozenset(draw(st.lists(st.sampled_from([*NAMES, "elsewhere"]), max_size=3))),
            draw(st.integers(0, 3)),
            draw(st.sampled_from([0.0, 0.25, 1.5, 10.0])),
            draw(st.integers(0, 2)),
            draw(st.booleans()) and draw(st.booleans()),
        )
        for name in names
    ]


def reached(nodes):
    """From each name, all that it needs, however far: Warshall's way, without the code under test."""
    names = {node.name for node in nodes}
    found = {node.name: {need for need in node.needs if need in names} for node in nodes}
    for _ in nodes:
        for name in names:
            found[name] |= {far for need in list(found[name]) for far in found[need]}
    return found


@given(nodes=graphs())
@settings(max_examples=80, deadline=None)
def test_needs_come_before_users_and_circles_together(nodes):
    groups, needs = order(nodes), reached(nodes)
    place = {name: number for number, group in enumerate(groups) for name in group.names}
    assert sorted(place) == sorted(node.name for node in nodes) and sum(len(group.names) for group in groups) == len(
        nodes
    )
    for name, needed in needs.items():
        for other in needed:
            assert place[other] == place[name] if name in needs[other] else place[other] < place[name]


@given(nodes=graphs(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_order_in_which_things_are_given_does_not_matter(nodes, data):
    assert order(data.draw(st.permutations(nodes))) == order(nodes)


@given(nodes=graphs())
@settings(max_examples=80, deadline=None)
def test_each_place_is_the_best_of_what_may_be_next(nodes):
    groups, needs = order(nodes), reached(nodes)
    by_name = {node.name: node for node in nodes}
    blocked = {name for name in by_name if by_name[name].blocked or any(by_name[far].blocked for far in needs[name])}
    moved = set()
    for at, group in enumerate(groups):
        ready = [other for other in groups[at:] if all(need in moved or need in other.names for name in other.names for need in needs[name])]  # fmt: skip
        assert group == min(ready, key=lambda one: rank(one, by_name, needs, blocked))
        moved |= set(group.names)


def rank(group, by_name, needs, blocked):
    users = {name for name in by_name if needs[name] & set(group.names)} | set(group.names)
    days = sum(by_name[name].days for name in group.names)
    value = round(sum(by_name[name].gpus for name in users) / max(round(days, 4), LEAST_DAYS), 6)
    return bool(blocked & set(group.names)), -value, max(by_name[name].risk for name in group.names), group.names


def test_a_long_chain_and_a_long_circle_take_no_recursion():
    chain = [Node(f"{n:05}", frozenset({f"{n - 1:05}"})) for n in range(5000)]
    assert [group.names[0] for group in order(reversed(chain))] == [node.name for node in chain]
    circle = {str(n): [str((n + 1) % 5000)] for n in range(5000)}
    assert [len(found) for found in circles(circle)] == [5000]
