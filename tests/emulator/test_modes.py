"""Warps that wait for each other: with one warp per wave they end; with two in a wave of 64 they hang or go wrong."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import warp_modes
from emulator.client import EmulationFault
from semantics.emulated import Program

pytestmark = pytest.mark.amd_emulator
THREADS = 128


def run(arch, name, options="", limit=100_000):
    out = np.full(THREADS, -1, np.int32)
    Program(getattr(warp_modes, name), arch).run("k", 1, THREADS, (out,), options=options, limit=limit)
    return out


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", ["APART", "NAMED", "EARLY", "WHOLE"])
def test_barriers_of_some_warps(arch, name):
    np.testing.assert_array_equal(run(arch, name), warp_modes.wanted(name, THREADS))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_lock_between_warps_goes_round(arch):
    out = run(arch, "LOCK")
    assert sorted(out[::32]) == [1, 2, 3, 4]


def test_two_warps_in_a_wave_cannot_hold_a_lock_in_turns():
    with pytest.raises(EmulationFault, match="endless loop"):
        run("gfx942", "LOCK", "gang=64")


def test_two_warps_in_a_wave_cannot_wait_at_different_barriers():
    assert not np.array_equal(run("gfx942", "APART", "gang=64"), warp_modes.wanted("APART", THREADS))
