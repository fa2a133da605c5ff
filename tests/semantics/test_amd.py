"""Every row of the instruction table, and rows across lanes, on AMD GPUs in the emulator, against the table's own values."""

import pytest

from anywarp.check.conformance import kernels
from anywarp.check.conformance.table import ROWS
from anywarp.check.conformance.warp_rows import ROWS as ACROSS
from semantics.conftest import ARCHITECTURES
from semantics.test_devices import LAUNCHES, SIZE, chunks, thinned, told

pytestmark = pytest.mark.amd_emulator


@pytest.fixture(params=ARCHITECTURES)
def run(request):
    from semantics.emulated import run_emulated

    name, _, form = request.param.partition("/")
    return run_emulated(name, any_shape=form == "any")


@chunks(thinned(ROWS))
def test_rows_with_all_lanes_on(run, rows):
    told(kernels.check_straight(run, rows, seed=1, threads=40))


@chunks(thinned(ROWS)[1::6])
def test_rows_in_a_divergent_loop_under_guards(run, rows):
    told(kernels.check_divergent(run, rows, seed=3, threads=45))


@pytest.mark.long
@chunks(ROWS)
def test_every_row(run, rows):
    told(kernels.check_straight(run, rows, seed=4, threads=64))


@pytest.mark.parametrize("masks, threads", LAUNCHES)
@pytest.mark.parametrize("how", ["all", "branch", "guard"])
def test_rows_across_lanes(run, how, masks, threads):
    rows = ACROSS if how == "branch" else ACROSS[::2]
    for n in range(0, len(rows), SIZE):
        told(kernels.check_across(run, rows[n : n + SIZE], how, masks, 0, threads))
