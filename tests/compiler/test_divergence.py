"""What is claimed of a divergent branch, against lanes that are led through random graphs one block at a time."""

import random
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from anywarp.compiler.attributes import Barrier
from anywarp.compiler.cfg import ControlFlow, arrange_blocks, control_flow
from anywarp.compiler.divergence import influence, splits
from anywarp.compiler.ir import Block, Const, Kernel, Terminator

LANES = 4


def kernel_of(succ: list[list[int]]) -> Kernel:
    blocks = [Block(f"n{i}") for i in range(len(succ))]
    for block, targets in zip(blocks, succ, strict=True):
        names = {0: "exit", 1: "jump", 2: "branch"}
        args = [Const("i1", 0)] if len(targets) == 2 else []
        block.terminator = Terminator(names[len(targets)], args, [blocks[t] for t in targets])
    kernel = Kernel("k", blocks, [])
    arrange_blocks(kernel)
    return kernel


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    size = draw(st.integers(2, 11))
    succ = [draw(st.lists(st.integers(1, size - 1), max_size=2, unique=True)) for _ in range(size)]
    if not succ[0]:
        succ[0] = [1]
    kernel = kernel_of(succ)
    if draw(st.booleans()):
        straight = [b for b in kernel.blocks if b.terminator.name == "jump"]
        for block in draw(st.lists(st.sampled_from(straight), max_size=3)) if straight else []:
            block.terminator = Terminator("barrier", [], block.terminator.targets, Barrier("sync", False))
    return kernel


@dataclass
class Visit:
    block: int
    lanes: dict[int, int]  # lane -> block it came from
    left: dict[int, dict[int, int]] = field(default_factory=dict)  # lane -> loop header -> time it left the loop


def walk(flow: ControlFlow, divergent: int, seed: int) -> list[Visit]:
    """Lead lanes through the graph in linear order: lanes at one block run it together, all others wait.

    At block `divergent` each lane chooses for itself; at every other branch the lanes that are there choose together. Behind a
    barrier lanes go on when no other can.
    """
    chance = random.Random(seed)
    waiting: dict[int, dict[int, int]] = {0: dict.fromkeys(range(LANES), -1)}
    left: dict[int, dict[int, int]] = {lane: {} for lane in range(LANES)}
    ends: dict[int, list[int]] = {}
    for loop in reversed(flow.loops):
        ends.setdefault(max(loop.blocks), []).append(loop.header)
    out: list[Visit] = []
    parked: dict[int, dict[int, int]] = {}
    position = 0
    while (waiting or parked) and len(out) < 200:
        if not waiting:
            waiting, parked, position = parked, {}, 0
        lanes = waiting.pop(position, None)
        if lanes:
            out.append(Visit(position, lanes, {lane: dict(left[lane]) for lane in lanes}))
            together = chance.random()
            for lane in lanes:
                targets = flow.succ[position]
                if targets:
                    choice = chance.random() if position == divergent else together
                    target = targets[int(choice * len(targets))]
                    place = parked if splits(flow, position) else waiting
                    place.setdefault(target, {})[lane] = position
                    for loop in flow.nest.around(position):
                        if target not in loop.blocks:
                            left[lane][loop.header] = len(out)
        back = [h for h in ends.get(position, []) if h in waiting]
        position = back[0] if back else position + 1
    return out


@given(kernels(), st.integers(0, 1 << 32), st.data())
@settings(max_examples=800, deadline=None)
def test_lanes_do_only_what_the_influence_of_a_branch_allows(kernel: Kernel, seed: int, data: st.DataObject) -> None:
    flow = control_flow(kernel)
    branches = [n for n in range(len(flow.blocks)) if len(flow.succ[n]) == 2]
    if flow.nest.irreducible or not branches:
        return
    divergent = data.draw(st.sampled_from(branches))
    effect = influence(flow, divergent)
    if effect.staggered:
        return  # then nothing is claimed
    loops = {loop.header for loop in effect.loops}
    for visit in walk(flow, divergent, seed):
        name = flow.blocks[visit.block].name
        if visit.block not in effect.blocks:
            assert len(visit.lanes) == LANES, f"{name} runs with fewer lanes"
        if visit.block not in effect.joins:
            assert len(set(visit.lanes.values())) == 1, f"lanes come to {name} on different ways"
        sources = set(visit.lanes.values())
        left = [loop for loop in flow.loops if sources <= loop.blocks and visit.block not in loop.blocks]
        for loop in left:
            # Leaving an outer loop apart by an edge out of an inner one is said of the outer loop.
            if not any(outer.header in loops for outer in left if loop.blocks <= outer.blocks):
                times = {visit.left[lane][loop.header] for lane in visit.lanes}
                assert len(times) == 1, f"lanes leave the loop of {flow.blocks[loop.header].name} apart"


def test_a_break_makes_the_join_behind_it_one_of_lanes() -> None:
    # 1 header, 2 branch (divergent), 3 sets, 4 meets inside the loop, 5 outside
    flow = control_flow(kernel_of([[1], [2, 5], [3, 4], [4, 5], [1], []]))
    named = {b.name: i for i, b in enumerate(flow.blocks)}
    effect = influence(flow, named["n2"])
    assert named["n4"] in effect.joins
    assert named["n5"] in effect.joins
    assert [flow.blocks[loop.header].name for loop in effect.loops] == ["n1"]


def test_an_if_within_a_loop_leaves_the_loop_uniform() -> None:
    flow = control_flow(kernel_of([[1], [2, 5], [3, 4], [4], [1], []]))
    named = {b.name: i for i, b in enumerate(flow.blocks)}
    effect = influence(flow, named["n2"])
    assert {flow.blocks[n].name for n in effect.blocks} == {"n3"}
    assert {flow.blocks[n].name for n in effect.joins} == {"n4"}
    assert not effect.loops


def test_lanes_that_end_thin_out_what_follows_but_join_nowhere() -> None:
    flow = control_flow(kernel_of([[1, 2], [], [3, 4], [5], [5], []]))
    effect = influence(flow, 0)
    assert {flow.blocks[n].name for n in effect.blocks} == {"n1", "n2", "n3", "n4", "n5"}
    assert not effect.joins


def with_barriers(succ: list[list[int]], *at: str, warp: bool = False) -> ControlFlow:
    kernel = kernel_of(succ)
    for block in kernel.blocks:
        if block.name in at:
            block.terminator = Terminator("barrier", [], block.terminator.targets, Barrier("sync", warp))
    return control_flow(kernel)


def staggered(flow: ControlFlow, branch: str = "n0") -> set[str]:
    number = next(i for i, b in enumerate(flow.blocks) if b.name == branch)
    return {flow.blocks[n].name for n in influence(flow, number).staggered}


def test_a_barrier_on_one_side_of_a_branch_staggers_lanes_if_the_others_come_to_one_too() -> None:
    ways = [[1, 2], [2], [3], []]
    assert staggered(with_barriers(ways, "n1", "n2")) == {"n1"}
    assert staggered(with_barriers(ways, "n1")) == set()
    assert staggered(with_barriers(ways, "n1", "n2", warp=True)) == set()
    assert staggered(with_barriers([[1, 2], [3], [3], []], "n1", "n2")) != set()


def test_barriers_of_lanes_that_are_left_when_others_end_are_not_staggered() -> None:
    assert staggered(with_barriers([[1, 2], [], [3], [4], []], "n2", "n3")) == set()


def test_a_barrier_in_a_loop_that_lanes_leave_apart_is_staggered_if_one_follows() -> None:
    loop = [[1], [2], [1, 3], [4], []]
    assert staggered(with_barriers(loop, "n1", "n3"), "n2") == {"n1"}
    assert staggered(with_barriers(loop, "n1"), "n2") == set()
