"""Lanes that name each other at different `.sync` instructions: the kernel is stopped and says where; those that end are not waited for."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import crossings
from semantics.emulated import KernelTrap, Program

pytestmark = pytest.mark.amd_emulator
THREADS, BELOW = 96, 16


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("any_shape", [False, True])
@pytest.mark.parametrize("mask", ["0xffffffff", "%r10"])
@pytest.mark.parametrize("name", crossings.BODIES)
def test_lanes_at_different_instructions(name, mask, any_shape, arch):
    body, wanted = crossings.BODIES[name]
    text = crossings.kernel(body.replace("MASK", mask))
    out = np.zeros(THREADS, np.uint32)
    program = Program(text, arch)
    if wanted is None:
        with pytest.raises(KernelTrap, match=r"came to another instruction"):
            program.run("k", 1, THREADS, (out, np.uint32(BELOW)), any_shape=any_shape)
    else:
        program.run("k", 1, THREADS, (out, np.uint32(BELOW)), any_shape=any_shape)
        np.testing.assert_array_equal(out, [wanted(t, BELOW) for t in range(THREADS)])


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", crossings.BODIES)
def test_lanes_that_all_go_one_way_are_served(name, arch):
    body, _ = crossings.BODIES[name]
    program = Program(crossings.kernel(body.replace("MASK", "0xffffffff")), arch)
    program.run("k", 1, THREADS, (np.zeros(THREADS, np.uint32), np.uint32(0)))
