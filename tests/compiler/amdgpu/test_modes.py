"""Which kernels have one warp per wave on waves of 64 lanes, and what is noted about those that no mode serves."""

from dataclasses import replace

import pytest

from anywarp.compiler import verify
from anywarp.compiler.amdgpu import modes, turns
from anywarp.compiler.amdgpu.barrier_plan import plan_barriers
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.analysis import analyse
from anywarp.compiler.attributes import Barrier, Trapped
from anywarp.compiler.cfg import control_flow
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module
from anywarp.runtime.modules import cuda_code
from emulator import warp_modes


def prepared(text, arch, block=(128, 1, 1), options=""):
    """The kernel as it is emitted for an architecture, with the specialisation that was chosen."""
    asked = read_options(options, block)
    kernel = prepare_kernel(IndexedModule(index_module(text)), "k", asked)
    target = make_target(arch)
    return kernel, replace(asked, lanes=target.choose_gang(kernel, asked).lanes), target.arch.wave


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


def test_in_a_block_that_has_no_room_for_one_warp_per_wave_lanes_take_turns():
    gang, _ = chosen(warp_modes.APART, (1024, 1, 1))
    assert gang.lanes == 64 and "no room" in gang.reason
    artifact = compile_kernel(
        index_module(warp_modes.APART), "k", read_options("", (1024, 1, 1)), make_target("gfx942")
    )
    assert any(note.startswith(modes.TURNS) for note in artifact.notes) and artifact.amd.max_threads == 1024


REDUCED = warp_modes.NAMED.replace("bar.sync 1, 64", "setp.eq.u32 %p3, %r1, 0; barrier.red.popc.u32 %r11, 1, 64, %p3")


def test_what_no_mode_serves_is_refused_and_says_what_to_do():
    """Two warps in a wave that add up at a barrier for some threads; a card would take 1024 threads."""
    target = make_target("gfx942")
    with pytest.raises(AnywarpError, match="reduces") as caught:
        compile_kernel(index_module(REDUCED), "k", read_options("", (1024, 1, 1)), target)
    assert cuda_code(caught.value.diagnostic) == 701 and "at most 512 threads" in caught.value.diagnostic.help
    compile_kernel(index_module(REDUCED), "k", read_options("", (512, 1, 1)), target)
    compile_kernel(index_module(REDUCED), "k", read_options("", (1024, 1, 1)), make_target("gfx1100"))
    assert compile_kernel(index_module(REDUCED), "k", read_options("", None), target).amd.warps_per_wave == 1


WAITING = ["SAFE", "SPIN", "TURN", "FLAG", "MEETING", "PAIR"]


@pytest.mark.parametrize("arch", ["gfx942", "gfx90a", "gfx1100"])
@pytest.mark.parametrize("block", [(64, 1, 1), (1024, 1, 1), None])
@pytest.mark.parametrize("name", WAITING)
def test_lanes_that_wait_for_each_other_take_turns(name, block, arch):
    kernel, how, wave = prepared(getattr(warp_modes, name), arch, block)
    assert modes.needs_turns(kernel, how, wave)
    turns.take_turns(kernel, plan_barriers(kernel, how))
    verify.check(kernel, "turns")
    assert turns.takes_turns(kernel)
    waiting = [b for b in kernel.blocks if b.terminator.name == "barrier" and Barrier.of(b.terminator).kind == "yield"]
    assert len(waiting) == 1  # one place where lanes wait for each other, and all ways lead through it
    flow = control_flow(kernel)
    loop = next(one for one in flow.loops if flow.blocks[one.header].name == "turns")
    shared = [
        n for n, b in enumerate(flow.blocks)
        for op in b.ops if op.name in ("store", "atomic") and not flow.dominance.dominates(n, loop.header)
    ]  # fmt: skip
    assert shared and set(shared) <= loop.blocks  # nothing that others wait for is left for behind the loop


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", ["SAFE", "SPIN", "TURN"])
def test_llvm_leaves_giving_back_inside_the_loop(name, arch):
    """In the machine code the last store or exchange of shared memory comes before the last branch backwards over the lock's."""
    index, target = index_module(getattr(warp_modes, name)), make_target(arch)
    how = read_options("", (64, 1, 1))
    kernel = prepare_kernel(IndexedModule(index), "k", how)
    how = replace(how, lanes=target.choose_gang(kernel, how).lanes)
    lines = [line.split(";")[0].strip() for line in target.assembly(kernel, analyse(kernel, how), how).splitlines()]
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.startswith(".LBB")}
    back = [
        (labels[line.split()[-1]], i) for i, line in enumerate(lines)
        if line.startswith(("s_cbranch", "s_branch")) and labels.get(line.split()[-1], i) < i
    ]  # fmt: skip
    taking = [
        i
        for i, line in enumerate(lines)
        if line.startswith(("ds_cmpst", "ds_cmpstore") if name != "TURN" else "ds_read")
    ]
    taking = taking or [i for i, line in enumerate(lines) if line.startswith("ds_load")]
    giving = [
        i for i, line in enumerate(lines) if line.startswith(("ds_wrxchg", "ds_storexchg", "ds_write", "ds_store"))
    ]
    start, end = min(span for span in back if span[0] < taking[0] < span[1])
    assert start < giving[-1] < end


@pytest.mark.parametrize("name", ["LOCK", "APART", "NAMED", "EARLY", "WHOLE"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_one_lane_of_a_warp_that_waits_needs_no_turns(name, arch):
    kernel, how, wave = prepared(getattr(warp_modes, name), arch)
    assert modes.needs_turns(kernel, how, wave) is None


@pytest.mark.parametrize("arch, warps", [("gfx942", 1), ("gfx1100", 1), ("gfx90a", 1)])
def test_the_artifact_says_how_many_warps_share_a_wave_and_why(arch, warps):
    index = index_module(warp_modes.APART)
    artifact = compile_kernel(index, "k", read_options("", (128, 1, 1)), make_target(arch))
    assert artifact.amd.warps_per_wave == warps
    assert any("one warp per wave" in n or "a wave has 32 lanes" in n for n in artifact.notes)
    two = compile_kernel(index_module(warp_modes.EARLY), "k", read_options("", (128, 1, 1)), make_target(arch))
    assert two.amd.warps_per_wave == (1 if arch == "gfx1100" else 2)


BARRIERS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<3>; .shared .b32 box[64];
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; shl.b32 %r3, %r1, 2; mov.u32 %r4, box; add.u32 %r3, %r3, %r4;
  xor.b32 %r5, %r3, 64; setp.lt.u32 %p1, %r2, 16; mov.u32 %r6, 0;
  BODY
BOTH: ld.shared.u32 %r6, [%r5]; st.global.u32 [%d1], %r6; ret; }
"""
SIDE = "st.shared.u32 [%r3], %r1; bar.warp.sync -1;"


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    "body, expected",
    [
        (f"@%p1 bra LOW; {SIDE} bra BOTH; LOW: {SIDE}", True),
        (f"{SIDE} {SIDE}", False),
        (f"@%p1 bra BOTH; {SIDE} {SIDE}", False),
    ],
)
def test_barriers_of_the_warp_on_both_sides_of_a_branch_are_waited_for_in_turns(body, expected, arch):
    kernel, how, wave = prepared(BARRIERS.replace("BODY", body), arch, (64, 1, 1))
    assert bool(modes.needs_turns(kernel, how, wave)) == expected
    if not expected:
        return
    turns.take_turns(kernel, plan_barriers(kernel, how))
    verify.check(kernel, "turns")
    ends = [block.terminator for block in kernel.blocks]
    stuck = [end for end in ends if isinstance(end.attrs, Trapped) and end.attrs.reason == turns.STUCK]
    assert [end.name for end in stuck] == ["trap"]
