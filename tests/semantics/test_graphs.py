"""Random control-flow graphs on the devices, against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantics.devices import DEVICES, run_compiled
from semantics.graphs import Graph, Node, graphs
from semantics.test_programs import numbers, seeds, some

THREADS = st.sampled_from([1, 31, 32, 33, 48, 64, 96, 128])


def check(run_kernel, graph, threads, seed):
    inputs = numbers(seed, 1, threads)[0].copy()
    out = np.zeros_like(inputs)
    run_kernel(graph.ptx(), "graph", 1, threads, [inputs, out])
    np.testing.assert_array_equal(out, graph.compute(inputs), err_msg=f"{threads} threads, seed {seed}\n{graph}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("examples", [8, pytest.param(20, marks=pytest.mark.long)])
def test_any_graph(device, part, examples):
    @some(examples)
    @given(graphs(part + 2), THREADS, seeds)
    def agree(graph, threads, seed):
        check(DEVICES[device], graph, threads, seed)

    agree()


@pytest.mark.long
@some(500)
@given(graphs(), THREADS, seeds)
def test_many_graphs(graph, threads, seed):
    check(run_compiled, graph, threads, seed)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("threads", [2, 32, 45])
def test_a_loop_that_lanes_enter_at_two_places(device, threads):
    add = ("add.u32", 0, 0, ("c", 8))
    start = Node((("xor.b32", 0, 0, ("c", 0)),), (1, 2), ("u", "lt", 0, ("c", 255)), 0)
    graph = Graph((start, Node((add,), (2,), start.condition, 0), Node((add, add), (1,), start.condition, 0)), 6)
    check(DEVICES[device], graph, threads, 3)
