"""Warps that wait for each other: with one warp per wave they end; with two in a wave of 64 they hang or go wrong."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import warp_modes
from semantics.emulated import KernelTrap, Program

pytestmark = pytest.mark.amd_emulator
THREADS = 128


def run(arch, name, options="", limit=100_000, threads=THREADS, any_shape=False):
    out = np.full(threads, -1, np.int32)
    program = Program(getattr(warp_modes, name), arch)
    program.run("k", 1, threads, (out,), options=options, limit=limit, any_shape=any_shape)
    return out


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("options", ["", "gang=64", "any"])
@pytest.mark.parametrize("name", ["APART", "NAMED", "EARLY", "WHOLE"])
def test_barriers_of_some_warps(arch, name, options):
    out = run(arch, name, options.replace("any", ""), any_shape=options == "any")
    np.testing.assert_array_equal(out, warp_modes.wanted(name, THREADS))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_lock_between_warps_goes_round(arch):
    out = run(arch, "LOCK")
    assert sorted(out[::32]) == [1, 2, 3, 4]


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("options", ["", "gang=64", "any"])
@pytest.mark.parametrize("name", ["SAFE", "SPIN", "TURN", "FLAG", "MEETING", "PAIR"])
def test_lanes_of_a_warp_that_wait_for_each_other(arch, name, options):
    threads = 64
    any_shape = options == "any"
    out = run(arch, name, "" if any_shape else options, 2_000_000, threads, any_shape)
    if name in ("SAFE", "SPIN", "PAIR"):
        out = np.sort(out)
    np.testing.assert_array_equal(out, warp_modes.wanted(name, threads))


def test_two_warps_in_a_wave_hold_a_lock_in_turns():
    assert sorted(run("gfx942", "LOCK", "gang=64")[::32]) == [1, 2, 3, 4]


def test_two_warps_in_a_wave_wait_at_different_barriers():
    np.testing.assert_array_equal(run("gfx942", "APART", "gang=64"), warp_modes.wanted("APART", THREADS))


@pytest.mark.parametrize("any_shape", [False, True])
@pytest.mark.parametrize("name", ["LOCK", "APART", "NAMED", "TURN", "MEETING"])
def test_warps_of_a_block_that_has_no_room_for_one_warp_per_wave(name, any_shape):
    out = run("gfx942", name, "", 20_000_000, 1024, any_shape)
    if name == "LOCK":
        np.testing.assert_array_equal(np.sort(out[::32]), range(1, 33))
    else:
        np.testing.assert_array_equal(out, warp_modes.wanted(name, 1024))


ROUNDS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.u64 %d2, %d2, %d1;
and.b32 %r2, %r1, 31; mov.u32 %r3, 0; mov.u32 %r9, 0;
LOOP: add.u32 %r3, %r3, 1;
CHOICE
NEXT: setp.lt.u32 %p2, %r3, 6; @%p2 bra LOOP;
st.global.u32 [%d2], %r9; ret; }
"""
NAMES_ALL = """add.u32 %r7, %r3, %r2; and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 1; @%p1 bra NEXT;
redux.sync.add.u32 %r5, %r3, 0xffffffff; add.u32 %r9, %r9, %r5;"""
NAMES_THOSE_THERE = """add.u32 %r7, %r3, %r2; and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 1; @%p1 bra NEXT;
activemask.b32 %r6; redux.sync.add.u32 %r5, %r3, %r6; add.u32 %r9, %r9, %r5;"""
SAME_TRIPS = """setp.gt.u32 %p1, %r1, 4096; @%p1 bra NEXT;
redux.sync.add.u32 %r5, %r3, 0xffffffff; add.u32 %r9, %r9, %r5;"""


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_a_mask_that_names_lanes_at_another_trip_stops_the_kernel(arch):
    """Waiting for them would take lanes that move on their own; a value without them would be wrong."""
    program = Program(ROUNDS.replace("CHOICE", NAMES_ALL), arch)
    with pytest.raises(KernelTrap, match="another trip of a loop"):
        program.run("k", 1, THREADS, (np.zeros(THREADS, np.int32),))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(("choice", "lanes"), [(NAMES_THOSE_THERE, 16), (SAME_TRIPS, 32)])
def test_masks_of_the_lanes_that_are_there_are_served(arch, choice, lanes):
    out = np.zeros(THREADS, np.int32)
    Program(ROUNDS.replace("CHOICE", choice), arch).run("k", 1, THREADS, (out,))
    trips = [[k for k in range(1, 7) if lanes == 32 or (k + t) % 2 == 0] for t in range(THREADS)]
    np.testing.assert_array_equal(out, [lanes * sum(k) for k in trips])
