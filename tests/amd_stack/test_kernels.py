"""Kernels of benchmarks/kernels through our driver and HIP on an emulated card: right numbers, no races by the emulator's own detector."""

import pytest

from amd_stack import kernels, stack
from amd_stack.cards import CARDS

pytestmark = [pytest.mark.amd_stack, pytest.mark.native]
FEW = ("vecadd", "reduce_shared")
"""In every run of the job; the others in the long layer."""


def check(name, card):
    if not stack.emulated(card):
        pytest.skip(f"the emulator was built without {CARDS[card][1]}")
    each = kernels.seen(name, card)
    assert each.right, each.said
    assert not each.races, each.races[0]
    return each


@pytest.mark.parametrize("card", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", FEW)
def test_a_kernel_has_no_races(name, card):
    check(name, card)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(kernels.names()) - set(FEW)))
def test_no_kernel_has_races(name):
    check(name, "gfx942")


def test_counts_are_those_of_the_instructions():
    # waves of 64: 16,384 elements are 256 waves, each of which loads twice and stores once
    executed = check("vecadd", "gfx942").executed
    assert (executed["global_load_dword"], executed["global_store_dword"], executed["s_endpgm"]) == (512, 256, 256)
