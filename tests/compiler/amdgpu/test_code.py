"""What the machine code of small kernels looks like: the instructions that a person would have written."""

from __future__ import annotations

import re

import pytest

from anywarp.compiler.amdgpu.barrier_plan import plan_barriers
from anywarp.compiler.amdgpu.directed import only_directed
from anywarp.compiler.amdgpu.spaces import origins, spaces_of_addresses
from compiler.amdgpu.amd_code import given, llvm, machine, module

PAIR = ("gfx942", "gfx1100")


def names(lines):
    return [line.split()[0] for line in lines]


# --- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", PAIR)
def test_neighbours_in_shared_memory_are_read_at_once(arch):
    body = """shl.b32 %r3, %r2, 4; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3; st.shared.f32 [%r4], %f0; bar.sync 0;
      ld.shared.f32 %f1, [%r4]; ld.shared.f32 %f2, [%r4+4]; ld.shared.f32 %f3, [%r4+8]; ld.shared.f32 %f4, [%r4+12];
      add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; mul.f32 %f1, %f1, %f3; st.global.f32 [%rd1], %f1;"""
    found = names(machine(module(body, ".shared .align 16 .b8 tile[1024];"), arch))
    assert [n for n in found if "b128" in n and n.startswith("ds_")] == [
        "ds_load_b128" if arch == "gfx1100" else "ds_read_b128"
    ]


@pytest.mark.parametrize("arch", PAIR)
@pytest.mark.parametrize(("first", "row", "at_once"), [(0, 64, True), (32, 16, True), (8, 64, False), (0, 24, False)])
def test_rows_of_shared_memory_that_a_loop_goes_through_are_read_at_once_where_they_are_aligned(
    first, row, at_once, arch
):
    body = f"""mov.u32 %r4, tile; add.u32 %r4, %r4, {first}; mov.u32 %r3, 0; st.shared.u32 [tile+12], %r1; bar.sync 0;
    LOOP: ld.shared.f32 %f1, [%r4]; ld.shared.f32 %f2, [%r4+4]; ld.shared.f32 %f3, [%r4+8]; ld.shared.f32 %f4, [%r4+12];
      fma.rn.f32 %f0, %f1, %f2, %f0; fma.rn.f32 %f0, %f3, %f4, %f0; add.u32 %r4, %r4, {row}; add.u32 %r3, %r3, 1;
      setp.lt.u32 %p1, %r3, %r1; @%p1 bra LOOP; st.global.f32 [%rd1], %f0;"""
    found = names(machine(module(body, ".shared .align 4 .b8 tile[4096];"), arch))
    assert any("b128" in n and n.startswith("ds_") for n in found) is at_once


@pytest.mark.parametrize("arch", PAIR)
def test_a_generic_address_of_a_known_space_is_used_there(arch):
    body = """mov.u64 %rd3, tile; cvta.shared.u64 %rd4, %rd3; mul.wide.u32 %rd5, %r2, 4; add.u64 %rd6, %rd4, %rd5; mov.u32 %r3, 0;
    LOOP: ld.u32 %r4, [%rd6]; add.u32 %r4, %r4, 7; st.u32 [%rd6], %r4; add.u64 %rd6, %rd6, 256; add.u32 %r3, %r3, 1;
      setp.lt.u32 %p1, %r3, %r1; @%p1 bra LOOP; add.u64 %rd7, %rd1, %rd5; ld.u32 %r5, [%rd7]; st.u32 [%rd7+4], %r5; bar.sync 0;
      ld.shared.u32 %r6, [tile+8]; st.u32 [%rd7], %r6;"""
    found = names(machine(module(body, ".shared .align 16 .b8 tile[1024];"), arch))
    assert not [n for n in found if n.startswith("flat_")]
    assert [n for n in found if n.startswith("ds_")]


@pytest.mark.parametrize(
    ("scaled", "size"), [("shl.b64 %rd5, %rd5, 2", 4), ("mul.lo.s64 %rd5, %rd5, 12", 12), ("mov.u64 %rd5, %rd5", 1)]
)
def test_a_row_is_added_to_its_array_before_the_loop_over_it(scaled, size):
    body = f"""mov.u32 %r6, %ctaid.x; mul.wide.u32 %rd3, %r6, %r1; mov.u32 %r3, %tid.x;
    LOOP: cvt.s64.s32 %rd4, %r3; add.s64 %rd5, %rd4, %rd3; {scaled}; add.s64 %rd6, %rd1, %rd5; ld.global.u8 %r4, [%rd6];
      add.u32 %r5, %r5, %r4; add.u32 %r3, %r3, 64; setp.lt.s32 %p1, %r3, %r1; @%p1 bra LOOP; st.global.u32 [%rd2], %r5;"""
    text = llvm(module(body), "gfx942")
    first, second = re.findall(rf"(%\w+) = getelementptr \[{size} x i8\], ptr addrspace\(1\) (%\w+), i64 (%\w+)", text)
    assert f"{first[2]} = mul i64" in text and f"{second[2]} = sext i32" in text
    assert second[1] == first[0] and first[1].startswith("%h")  # the argument itself


@pytest.mark.parametrize("changes", ["%r3", "%r4"])
def test_a_sum_of_what_changes_alike_is_one_step(changes):
    body = f"""mov.u32 %r3, %tid.x; mov.u32 %r4, 0;
    LOOP: mul.wide.s32 %rd3, {changes}, 5; cvt.s64.s32 %rd4, %r3; add.s64 %rd5, %rd3, %rd4; shl.b64 %rd5, %rd5, 2; add.s64 %rd6, %rd1, %rd5;
      ld.global.u32 %r4, [%rd6]; add.u32 %r3, %r3, 64; setp.lt.s32 %p1, %r3, %r1; @%p1 bra LOOP; st.global.u32 [%rd2], %r4;"""
    assert "getelementptr [4 x i8]" not in llvm(module(body), "gfx942")


def test_a_generic_address_from_memory_stays_one():
    found = names(
        machine(module("ld.global.u64 %rd3, [%rd1]; ld.u32 %r3, [%rd3]; st.global.u32 [%rd1], %r3;"), "gfx942")
    )
    assert [n for n in found if n.startswith("flat_load")] == ["flat_load_dword"]


def test_a_sum_of_an_unknown_address_and_a_parameter_is_not_taken_for_global():
    """The parameter may be a distance in an array of shared memory."""
    kernel, _, _ = given(
        module("ld.global.u64 %rd3, [%rd1]; add.u64 %rd4, %rd3, %rd2; ld.u32 %r3, [%rd4]; st.global.u32 [%rd1], %r3;")
    )
    (load,) = (op for b in kernel.blocks for op in b.ops if op.name == "load" and op.type == "i32")
    assert load.args[0] not in spaces_of_addresses(origins(kernel))


@pytest.mark.parametrize("arch", PAIR)
def test_what_all_lanes_read_of_the_parameters_and_constants_is_read_once(arch):
    found = names(
        machine(
            module("ld.const.u32 %r3, [c+8]; st.global.u32 [%rd1], %r3;", ".const .align 4 .u32 c[4] = {1,2,3,4};"),
            arch,
        )
    )
    assert not [n for n in found if n.startswith(("global_load", "flat_load"))]
    assert [n for n in found if n.startswith("s_load")]


@pytest.mark.parametrize(
    ("arch", "right_everywhere"),
    [("gfx90a", False), ("gfx1030", False), ("gfx1100", False), ("gfx942", True), ("gfx1201", True)],
)
def test_float_atomics_are_the_hardwares_where_that_is_right_on_all_memory(arch, right_everywhere):
    body = "red.global.add.f32 [%rd1], 0f3F800000; atom.shared.add.f32 %f1, [s], 0f3F800000; st.global.f32 [%rd2], %f1;"
    found = names(machine(module(body, ".shared .f32 s;"), arch))
    assert bool([n for n in found if "cmpswap" in n and n.startswith("global")]) is not right_everywhere


@pytest.mark.parametrize(
    ("scope", "wanted"), [("cta", 'syncscope("workgroup")'), ("gpu", 'syncscope("agent")'), ("sys", "")]
)
def test_scopes_are_llvms(scope, wanted):
    text = llvm(
        module(
            f"atom.acq_rel.{scope}.global.add.u32 %r3, [%rd1], 1; ld.acquire.{scope}.global.u32 %r4, [%rd2]; fence.sc.{scope}; st.global.u32 [%rd1+4], %r4;"
        ),
        "gfx942",
    )
    for start in ("atomicrmw", "load atomic", "fence"):
        (line,) = (x for x in text.splitlines() if start in x)
        assert (wanted in line) if wanted else ("syncscope" not in line)


# --- rounding ---------------------------------------------------------------------------------------------------------

MODE = """  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 2
  s_delay_alu instid0(VALU_DEP_1)
  v_fma_f32 v1, s5, s7, v0
  v_mov_b32_e32 v2, v3
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0
"""


@pytest.mark.parametrize(
    ("text", "fine"),
    [
        (MODE, True),
        (MODE + MODE, True),
        (MODE.replace("v_mov_b32_e32 v2, v3", "v_add_f32_e32 v2, v3, v3"), False),
        (MODE.replace("v_mov_b32_e32 v2, v3", "v_dual_mul_f32 v2, v3, v3 :: v_dual_mov_b32 v1, v2"), False),
        (MODE.replace("  v_fma_f32 v1, s5, s7, v0\n", ""), False),
        (MODE.replace("v_mov_b32_e32 v2, v3", "s_cbranch_scc1 .LBB0_2"), False),
        (MODE.replace("  v_mov_b32_e32 v2, v3", ".LBB0_2:"), False),
        (MODE[: MODE.index("  v_mov")], False),
        ("v_add_f32_e32 v2, v3, v3\n", True),
    ],
)
def test_a_mode_is_set_for_one_instruction_alone(text, fine):
    assert only_directed(text) is fine


@pytest.mark.parametrize("arch", PAIR)
def test_a_directed_sum_sets_the_mode_around_itself(arch):
    body = """ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2]; fma.rm.f32 %f3, %f1, %f2, %f1; add.rz.f32 %f4, %f3, %f2;
      add.f32 %f4, %f4, %f1; st.global.f32 [%rd1], %f4;"""
    lines = machine(module(body), arch)
    assert only_directed("\n".join("  " + line for line in lines))
    assert [line[-1] for line in lines if line.startswith("s_setreg")] == ["2", "0", "3", "0"]
    assert "@aw.fma.rm(" not in llvm(module(body), arch)
    assert llvm(module(body), arch, apart=True).count("define internal float @aw.") == 2


# --- barriers ---------------------------------------------------------------------------------------------------------


def barriers(body, block=(256, 1, 1)):
    kernel, _, how = given(module(body), block=block)
    return plan_barriers(kernel, how)


def test_barriers_of_all_threads_need_no_memory():
    plan = barriers("bar.sync 0; barrier.sync 3; bar.sync 2, 256;")
    assert (plan.counted, plan.bytes) == (frozenset(), 0)


def test_barriers_of_some_threads_are_counted():
    plan = barriers("bar.sync 0; bar.sync 2, 128; bar.arrive 3, 256; bar.sync 3, 256;")
    assert plan.counted == {2, 3}
    assert plan.bytes == 32


def test_a_barrier_whose_number_is_not_known_may_be_a_counted_one():
    plan = barriers("bar.sync %r1; bar.sync 2, 128;")
    assert len(plan.counted) == len(plan.slots) == 16


def test_counters_lie_between_static_and_dynamic_shared_memory():
    body = """st.shared.u32 [own], %r2; barrier.cta.red.popc.u32 %r3, 0, %p1; st.shared.u32 [more+4], %r3; bar.sync 0;
      ld.shared.u32 %r4, [own]; ld.shared.u32 %r5, [more]; add.u32 %r4, %r4, %r5; st.global.u32 [%rd1], %r4;"""
    text = llvm(module(body, ".shared .align 4 .u32 own; .extern .shared .align 64 .b8 more[];"), "gfx942")
    assert "@aw.lds = internal addrspace(3) global [128 x i8]" in text  # 64 of its own, to the dynamic one's alignment
    assert "@aw.dynamic = external addrspace(3) global [0 x i8], align 64" in text


@pytest.mark.parametrize("arch", [*PAIR, "gfx1201"])
def test_a_barrier_of_the_block_is_the_hardwares(arch):
    found = names(machine(module("bar.sync 0; st.global.u32 [%rd1], %r2;"), arch, block=(256, 1, 1)))
    assert len([n for n in found if n in ("s_barrier", "s_barrier_wait")]) == 1


# --- lanes ------------------------------------------------------------------------------------------------------------


def test_two_warps_share_a_wave_of_64_and_see_only_their_own_half():
    text = llvm(module("activemask.b32 %r3; st.global.u32 [%rd1], %r3;"), "gfx942")
    assert "llvm.amdgcn.ballot.i64" in text
    assert "lshr i64" in text
    alone = llvm(module("activemask.b32 %r3; st.global.u32 [%rd1], %r3;"), "gfx942", lanes=32)
    assert "lshr i64" not in alone
    assert "llvm.amdgcn.ballot.i32" in llvm(module("activemask.b32 %r3; st.global.u32 [%rd1], %r3;"), "gfx1100")


def test_the_block_bounds_what_llvm_plans_for():
    assert '"amdgpu-flat-work-group-size"="1,96"' in llvm(module(""), "gfx942", block=(96, 1, 1))
    assert '"amdgpu-flat-work-group-size"="1,192"' in llvm(module(""), "gfx942", block=(96, 1, 1), lanes=32)
    assert "!reqd_work_group_size !{i32 192, i32 1, i32 1}" in llvm(module(""), "gfx942", block=(48, 2, 1), lanes=32)
    bounded = module("").replace(".param .u32 n)", ".param .u32 n) .maxntid 128, 1, 1")
    assert '"amdgpu-flat-work-group-size"="1,128"' in llvm(bounded, "gfx1100", block=None)


def test_a_butterfly_exchanges_lanes_without_computing_addresses():
    body = """ld.global.u32 %r3, [%rd1]; shfl.sync.bfly.b32 %r4, %r3, 16, 31, -1; add.u32 %r3, %r3, %r4; shfl.sync.bfly.b32 %r4, %r3, 8, 31, -1;
      add.u32 %r3, %r3, %r4; shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1; add.u32 %r3, %r3, %r4; st.global.u32 [%rd1], %r3;"""
    assert not [n for n in names(machine(module(body), "gfx942")) if "permute" in n]
    found = machine(module(body), "gfx1100")
    assert [line.split("row_mask")[0].split()[-1] for line in found if "_dpp" in line] == [
        "row_xmask:8",
        "quad_perm:[1,0,3,2]",
    ]
    assert not [n for n in names(found) if "permute" in n]
    # The third operand narrows what is exchanged: lanes 0 to 15 and 16 to 31 by themselves, which a swizzle of 16 would not.
    narrow = module(
        "ld.global.u32 %r3, [%rd1]; shfl.sync.bfly.b32 %r4, %r3, 16, 0x100f, -1; st.global.u32 [%rd1], %r4;"
    )
    assert not [n for n in names(machine(narrow, "gfx942")) if "swizzle" in n]


@pytest.mark.parametrize("arch", PAIR)
@pytest.mark.parametrize(("shuffle", "bound", "distances"), [("down", 31, (16, 8, 1)), ("up", 0, (1, 2, 16))])
def test_lanes_at_constant_distances_are_read_by_one_address(arch, shuffle, bound, distances):
    body = " ".join(
        f"shfl.sync.{shuffle}.b32 %r4, %r3, {each}, {bound}, -1; add.u32 %r3, %r3, %r4;" for each in distances
    )
    found = machine(module(f"ld.global.u32 %r3, [%rd1]; {body} st.global.u32 [%rd1], %r3;"), arch)
    reads = [line for line in found if line.startswith("ds_bpermute")]
    assert len(reads) == len(distances)
    if shuffle == "down":  # the distance is the instruction's own, which is never negative
        assert len({line.split(",")[1] for line in reads}) == 1
        assert [int(line.split("offset:")[1]) for line in reads] == [4 * each for each in distances]
    assert len([line for line in found if "cndmask" in line]) == len(distances)
    assert not [line for line in found if line.startswith("v_and_b32") and "0x7c" in line]


@pytest.mark.parametrize("arch", PAIR)
@pytest.mark.parametrize("shuffle", ["shfl.sync.down.b32 %r4, %r3, 4, 0x100f", "shfl.sync.down.b32 %r4, %r3, %r1, 31"])
def test_other_distances_are_read_by_their_own_address(arch, shuffle):
    found = machine(module(f"ld.global.u32 %r3, [%rd1]; {shuffle}, -1; st.global.u32 [%rd1], %r4;"), arch)
    assert not [line for line in found if line.startswith("ds_bpermute") and "offset" in line]


def test_two_products_of_float32_are_one_instruction_where_the_card_has_such():
    body = """mul.wide.u32 %rd3, %r2, 8; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
      ld.global.v2.f32 {%f1, %f2}, [%rd1]; ld.global.v2.f32 {%f3, %f4}, [%rd2];
      fma.rn.f32 %f5, %f1, %f3, %f1; fma.rn.f32 %f6, %f2, %f4, %f2; mul.f32 %f5, %f5, %f3; mul.f32 %f6, %f6, %f4;
      st.global.v2.f32 [%rd1], {%f5, %f6};"""
    paired = {"v_pk_fma_f32", "v_pk_mul_f32"}
    assert paired <= set(names(machine(module(body), "gfx942")))
    # RDNA 3 has no such instructions (its ISA, chapter 16).
    assert not paired & set(names(machine(module(body), "gfx1100")))
