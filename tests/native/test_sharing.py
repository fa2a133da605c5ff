"""What the threads of the pool share: the blocks of a grid, piece by piece, and the nodes of memory of a machine that has several."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from native.by_hand import ROOT

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def sharing(tmp_path_factory):
    program = tmp_path_factory.mktemp("sharing") / "sharing"
    command = [
        "g++",
        "-std=c++20",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{ROOT}/native",
        f"{ROOT}/tests/native/sharing.cpp",
    ]
    subprocess.run([*command, f"{ROOT}/native/devices/memory_nodes.cpp", "-o", str(program), "-lpthread"], check=True)

    def run(*arguments, before=()):
        words = [*before, str(program), *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout.split("\n")[:-1]

    return run


def claimed(sharing, *arguments):
    return sorted(tuple(map(int, line.split())) for line in sharing("claim", *arguments))


@settings(max_examples=25)
@given(total=st.integers(0, 5000), largest=st.integers(1, 400), smallest=st.integers(1, 50), threads=st.integers(1, 9))
def test_each_number_is_claimed_once(sharing, total, largest, smallest, threads):
    pieces = claimed(sharing, total, largest, smallest, threads)
    ends = [first + count for first, count in pieces]
    assert [first for first, _ in pieces] == [0, *ends][: len(pieces)] and (ends or [0])[-1] == total
    assert all(1 <= count <= largest for _, count in pieces)


def test_pieces_become_smaller_towards_the_end(sharing):
    pieces = [count for _, count in claimed(sharing, 10_000, 300, 4, 8)]
    assert pieces[0] == 300 and pieces[-2] == 4 and pieces == sorted(pieces, reverse=True)


def test_one_thread_takes_whole_pieces(sharing):
    assert claimed(sharing, 10, 4, 1, 1) == [(0, 4), (4, 4), (8, 2)]


def nodes(folder: Path, memory: str, **processors: str) -> Path:
    (folder / "has_memory").write_text(memory + "\n")
    for name, numbers in processors.items():
        (folder / name).mkdir()
        (folder / name / "cpulist").write_text(numbers + "\n")
    return folder


@pytest.mark.parametrize(
    ("processors", "found"),
    [((0, 9), "0 1 2"), ((0, 1, 3), "0 1"), ((8, 10, 11), "1 1"), ((5,), "0"), ((70, 0), "0 65 2")],
)
def test_nodes_are_those_of_the_processors_that_blocks_may_run_on(sharing, tmp_path, processors, found):
    """Node 2 has processors and no memory, node 3 memory and no processors (CXL): neither is beside a thread's memory."""
    folder = nodes(tmp_path, "0-1,3,65", node0="0-3", node1="8-11", node2="4-7", node3="", node65="64-127")
    assert sharing("nodes", folder, *processors) == [found]


def test_a_machine_that_says_nothing_of_nodes_has_none(sharing, tmp_path):
    assert sharing("nodes", tmp_path, 0) == ["0"]
    (tmp_path / "has_memory").write_text("0-,x\n-3\n")
    assert sharing("nodes", tmp_path, 0) == ["0"]


nodes_told = pytest.mark.skipif(not Path("/proc/self/numa_maps").exists(), reason="this Linux has no nodes of memory")


@nodes_told
def test_memory_is_spread_over_the_nodes(sharing):
    """numa_maps(5) of proc: the policy that is in force for a range."""
    assert sharing("policy") == ["interleave:0"]


@nodes_told
def test_a_program_keeps_the_policy_that_it_was_given(sharing):
    assert sharing("policy", "own") == ["prefer:0"]
