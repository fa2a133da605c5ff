"""Every row of the instruction table on the devices that run kernels: straight, in divergent flow, with any values.

The expected values are the table's own; no device is compared with another here.
"""

from collections import Counter

import pytest
from hypothesis import strategies as st

from anywarp.check.conformance import kernels
from anywarp.check.conformance.rows import EDGES, KINDS, WIDTH, row
from anywarp.check.conformance.table import ROWS
from anywarp.check.conformance.warp_inputs import MASKS
from anywarp.check.conformance.warp_rows import ROWS as ACROSS
from semantics.devices import (
    DEVICES,
    interpret,
    run_compiled,
    run_for_any_block,
    run_in_gangs,
    run_in_pairs,
    run_quickly,
)
from spread import properties

SIZE = 24
ACROSS_SIZE, GANG_SIZE = 8, 4
"""Rows in one kernel whose lanes work together. LLVM's time grows faster than the number of rows that end in branches."""


def chunks(rows, size=SIZE):
    """The rows by `size`, as test parameters named for their first row."""
    parts = [rows[n : n + size] for n in range(0, len(rows), size)]
    return pytest.mark.parametrize(
        "rows", parts, ids=[f"{getattr(part[0], 'name', part[0].text.split()[0])} and on" for part in parts]
    )


def thinned(rows):
    """All rows of most instructions, every fifth of those that have very many; the long test runs all."""
    many = {name for name, count in Counter(r.text.split(".")[0] for r in rows).items() if count > 60}
    return [r for n, r in enumerate(rows) if n % 5 == 0 or r.text.split(".")[0] not in many]


def told(wrong):
    assert not wrong, f"{len(wrong)} rows are wrong:\n" + "\n".join(wrong[:20])


@pytest.mark.spread("run")
@pytest.mark.parametrize("run", [run_compiled, run_quickly])
@chunks(thinned(ROWS))
def test_rows_with_all_lanes_on(rows, run):
    told(kernels.check_straight(run, rows, seed=1, threads=32))


@chunks(thinned(ROWS)[2::8])
def test_rows_in_a_block_with_a_partial_warp(rows):
    told(kernels.check_straight(run_for_any_block, rows, seed=2, threads=33))


@chunks(thinned(ROWS)[::8])
def test_rows_in_a_divergent_loop_under_guards(rows):
    told(kernels.check_divergent(run_compiled, rows, seed=3, threads=45))


@chunks(thinned(ROWS)[3::50])
def test_rows_in_gangs_of_several_warps(rows):
    told(kernels.check_straight(run_in_pairs, rows, seed=7, threads=128))
    told(kernels.check_divergent(run_in_pairs, rows, seed=8, threads=64))


@pytest.mark.long
@chunks(ROWS)
def test_every_row_in_divergent_flow_and_partial_warps(rows):
    told(kernels.check_straight(run_compiled, rows, seed=1, threads=32))
    told(kernels.check_straight(run_for_any_block, rows, seed=4, threads=45, blocks=2))
    told(kernels.check_divergent(run_compiled, rows, seed=5, threads=77))


@chunks(thinned(ROWS)[1::12])
def test_rows_on_the_interpreter(rows):
    told(kernels.check_straight(interpret, rows, seed=5, threads=33))
    told(kernels.check_divergent(interpret, rows, seed=6, threads=45))


LAUNCHES = [(MASKS[:3], 77), (MASKS[3:6], 96), ((MASKS[6], MASKS[7], MASKS[0]), 96)]
"""Masks of the warps of a block, and how many threads it has: with a partial warp or without one."""
HOW = ["branch", "all", "guard"]


@chunks(ACROSS, ACROSS_SIZE)
@pytest.mark.parametrize("masks, threads", LAUNCHES)
@pytest.mark.parametrize("how", HOW)
@pytest.mark.spread("how", "masks", "threads")
def test_rows_across_lanes(how, masks, threads, rows):
    for seed in range(2):
        told(kernels.check_across(run_compiled, rows, how, masks, seed, threads))


@chunks(ACROSS[1::8], GANG_SIZE)
@pytest.mark.parametrize("run", [run_in_gangs, run_in_pairs])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.spread("how", "run")
def test_rows_across_the_lanes_of_gangs(how, run, rows):
    told(kernels.check_across(run, rows, how, MASKS[:4] if run is run_in_gangs else MASKS[4:8], 1, 128))


@pytest.mark.parametrize("how", HOW)
def test_rows_across_lanes_on_the_interpreter(how):
    told(kernels.check_across(interpret, ACROSS[::5], how, *LAUNCHES[0][:1], 2, LAUNCHES[0][1]))


def _bits(kind):
    return st.one_of(st.sampled_from(EDGES[kind]), st.integers(0, (1 << WIDTH[KINDS[kind]]) - 1))


@st.composite
def rows_with_values(draw):
    one = draw(st.sampled_from([r for r in ROWS if r.sources]))
    lanes = draw(st.lists(st.tuples(*(_bits(k) for k in one.sources)), min_size=1, max_size=32))
    lanes = [tuple(x % 9 if k == "small" else x for k, x in zip(one.sources, lane, strict=True)) for lane in lanes]
    return one, (lanes * kernels.THREADS)[: kernels.THREADS]


@properties(40, 400, rows_with_values(), derandomize=True)
def test_any_values(found):
    one, lanes = found
    told(kernels.check_straight(run_compiled, [one], threads=32, values=[[lanes]]))


@pytest.mark.parametrize("name", DEVICES)
def test_a_wrong_value_is_noticed(name):
    """The comparison itself: rows whose expectation is wrong in one value, in the kept value, in the row that runs."""
    wrong = row("add.u32", "u32", "u32 u32", lambda a, b: (a + b + (a == 7)) & 0xFFFFFFFF)
    right = row("add.u32", "u32", "u32 u32", lambda a, b: (a + b) & 0xFFFFFFFF)
    lanes = [(n, 3 * n) for n in range(kernels.THREADS)]
    found = kernels.check_straight(DEVICES[name], [right, wrong], values=[[lanes, lanes]])
    assert len(found) == 1 and "expected 0x1d, thread 7" in found[0]
    never = row("sub.u32", "u32", "u32 u32", lambda a, b: 1)
    assert len(kernels.check_divergent(DEVICES[name], [right, never])) == 1
