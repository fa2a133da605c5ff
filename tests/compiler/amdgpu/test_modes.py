"""Which kernels have one warp per wave on waves of 64 lanes, and what is noted about those that no mode serves."""

import pytest

from anywarp.compiler.amdgpu import modes
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.ptx.index import index_module
from emulator import warp_modes


def chosen(text, block=(128, 1, 1), options="", wave=64):
    asked = read_options(options, block)
    kernel = prepare_kernel(IndexedModule(index_module(text)), "k", asked)
    return modes.choose_warps(kernel, asked, wave), modes.remarks(kernel, asked)


@pytest.mark.parametrize("name", ["LOCK", "APART", "NAMED"])
def test_warps_that_wait_for_each_other_have_waves_of_their_own(name):
    gang, _ = chosen(getattr(warp_modes, name))
    assert gang.lanes == 32 and gang.reason.startswith("one warp per wave: ")


@pytest.mark.parametrize("name", ["EARLY", "WHOLE"])
def test_two_warps_share_a_wave_where_they_stay_together(name):
    assert chosen(getattr(warp_modes, name)) == ((modes.Gang(64, "two warps share a wave")), ())


def test_small_blocks_and_waves_of_32_need_no_choice():
    assert chosen(warp_modes.APART, (32, 1, 1))[0].lanes == 64
    assert chosen(warp_modes.APART, wave=32)[0].lanes == 32


def test_what_is_asked_for_is_done_and_said():
    assert chosen(warp_modes.EARLY, options="gang=32")[0] == modes.Gang(32, "one warp per wave was asked for")
    gang = chosen(warp_modes.APART, options="gang=64")[0]
    assert gang.lanes == 64 and "although the warps of a pair may wait at different barriers" in gang.reason


def test_a_block_that_has_no_room_for_one_warp_per_wave_is_told():
    gang, _ = chosen(warp_modes.APART, (1024, 1, 1))
    assert gang.lanes == 64 and "no room" in gang.reason


def test_lanes_that_wait_for_each_other_are_noted():
    every_lane = warp_modes.LOCK.replace("@%p2 bra END;", "")
    assert modes.INTERLOCKED in chosen(every_lane)[1]
    assert modes.INTERLOCKED not in chosen(warp_modes.EARLY)[1]


@pytest.mark.parametrize("arch, warps", [("gfx942", 1), ("gfx1100", 1), ("gfx90a", 1)])
def test_the_artifact_says_how_many_warps_share_a_wave_and_why(arch, warps):
    index = index_module(warp_modes.APART)
    artifact = compile_kernel(index, "k", read_options("", (128, 1, 1)), make_target(arch))
    assert artifact.amd.warps_per_wave == warps
    assert any("one warp per wave" in n or "a wave has 32 lanes" in n for n in artifact.notes)
    two = compile_kernel(index_module(warp_modes.EARLY), "k", read_options("", (128, 1, 1)), make_target(arch))
    assert two.amd.warps_per_wave == (1 if arch == "gfx1100" else 2)
