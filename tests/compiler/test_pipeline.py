"""The whole way from text to analysis: regions, divergence in real control flow, passes that must do nothing wrong."""

from pathlib import Path

import pytest

from anywarp.compiler import codes
from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Kernel, Op, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import PASSES, compile_kernel, prepare_kernel
from anywarp.compiler.regions import Regions, find_regions
from anywarp.compiler.shapes import Analysis
from anywarp.compiler.simd.target import this_machine
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
DECLARED = ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<4>;\n"
CASES = Path(__file__).parent / "cases"


def analysed(body: str, block: tuple[int, int, int] = (64, 1, 1)) -> tuple[Kernel, Analysis]:
    text = f"{HEAD}.entry k(.param .u64 out, .param .u32 n) {{ {DECLARED} ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n]; {body} ret; }}"
    specialisation = Specialisation(block)
    kernel = prepare_kernel(IndexedModule(index_module(text)), "k", specialisation, checked=True)
    return kernel, analyse(kernel, specialisation)


def regions(body: str) -> tuple[Regions, Analysis]:
    kernel, analysis = analysed(body)
    return find_regions(kernel, analysis), analysis


def test_a_kernel_without_barriers_is_one_region() -> None:
    found, _ = regions("st.global.u32 [%d1], %r1;")
    assert len(found.regions) == 1 and not found.regions[0].live


def test_what_lives_across_a_barrier_is_saved_unless_it_can_be_computed_again() -> None:
    found, _ = regions(
        "mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r2, %r1, 5; ld.global.u32 %r4, [%d1]; bar.sync 0;"
        "add.u32 %r5, %r3, %r4; st.global.u32 [%d1], %r5;"
    )
    first, second = found.regions
    assert [op.name for op in second.live if isinstance(op, Op)] == ["load"]
    assert [op.name for op in second.recomputed] == ["param", "param", "special", "mul", "add"]
    assert not first.live and not found.divergent


def test_a_barrier_in_a_loop_begins_a_region_that_contains_the_loop() -> None:
    found, _ = regions(
        "mov.u32 %r2, 0; LOOP: ld.global.u32 %r3, [%d1]; bar.sync 0; add.u32 %r2, %r2, %r3; setp.lt.u32 %p1, %r2, %r1;"
        "@%p1 bra LOOP; st.global.u32 [%d1], %r2;"
    )
    assert len(found.regions) == 2
    assert len(found.regions[1].live) == 2  # the sum so far and what was loaded


def test_a_barrier_that_only_some_lanes_reach_is_staggered() -> None:
    _, analysis = regions("mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 7; @%p1 bar.sync 0; bar.sync 0;")
    assert analysis.staggered_barriers
    _, analysis = regions(
        "mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 exit; bar.sync 0; st.global.u32 [%d1], 1;"
    )
    assert not analysis.staggered_barriers
    assert analysis.divergent_blocks


def test_a_counter_stays_uniform_in_a_loop_that_lanes_leave_apart_but_not_behind_it() -> None:
    kernel, analysis = analysed(
        "mov.u32 %r2, %tid.x; mov.u32 %r3, 0; LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra LOOP;"
        "st.global.u32 [%d1], %r3;"
    )
    loop, after = kernel.blocks[1], kernel.blocks[2]
    assert analysis.shapes[loop.phis[0]].uniform
    assert analysis.shapes[after.phis[0]].varying
    assert analysis.divergent_loops == {loop}
    assert loop in analysis.divergent_blocks and after not in analysis.divergent_blocks


def test_values_that_meet_after_a_break_are_varying() -> None:
    kernel, analysis = analysed(
        """mov.u32 %r2, %tid.x; mov.u32 %r3, 0; mov.u32 %r6, 0;
        LOOP: setp.eq.u32 %p1, %r3, %r2; @%p1 bra EVEN;
        mov.u32 %r5, 1; bra JOIN;
        EVEN: mov.u32 %r5, 2; setp.gt.u32 %p2, %r1, 9; @%p2 bra DONE;
        JOIN: add.u32 %r6, %r6, %r5; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r1; @%p3 bra LOOP;
        DONE: st.global.u32 [%d1], %r6;"""
    )
    joins = [phi for b in kernel.blocks for phi in b.phis if len(phi.incoming) == 2]
    merged = [phi for phi in joins if {getattr(v, "bits", None) for v in phi.incoming.values()} == {1, 2}]
    assert merged and all(analysis.shapes[phi].varying for phi in merged)


def test_pointers_carried_round_a_uniform_loop_keep_their_stride() -> None:
    kernel, analysis = analysed(
        "mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; mov.u32 %r3, 0;"
        "LOOP: ld.global.f32 %f1, [%d3]; st.global.f32 [%d3+128], %f1; add.s64 %d3, %d3, 256; add.u32 %r3, %r3, 1;"
        "setp.lt.u32 %p1, %r3, %r1; @%p1 bra LOOP;"
    )
    pointer = next(phi for phi in kernel.blocks[1].phis if phi.type == "i64")
    assert analysis.shapes[pointer].stride == 4
    assert not analysis.divergent_blocks


def test_loads_and_ballots_are_as_uniform_as_what_they_depend_on() -> None:
    kernel, analysis = analysed(
        "mov.u32 %r2, %tid.x; ld.global.u32 %r3, [%d1]; mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r4, [%d3];"
        "atom.global.add.u32 %r5, [%d1], 1; setp.lt.u32 %p1, %r4, 5; vote.sync.ballot.b32 %r6, %p1, -1;"
        "add.u32 %r7, %r3, %r4; add.u32 %r7, %r7, %r5; add.u32 %r7, %r7, %r6; st.global.u32 [%d3], %r7;"
    )
    shapes = {op: analysis.shapes[op] for b in kernel.blocks for op in b.ops}
    uniform = [(op.name, s.uniform) for op, s in shapes.items() if op.name in ("load", "atomic", "ballot")]
    assert uniform == [("load", True), ("load", False), ("atomic", False), ("ballot", True)]


def test_each_pass_keeps_the_ir_sound_on_kernels_whose_lanes_part() -> None:
    index = index_module((CASES / "divergence.ptx").read_text())
    view = IndexedModule(index)
    for name in index.entries:
        for block in (None, (32, 1, 1), (16, 16, 1)):
            kernel = prepare_kernel(view, name, Specialisation(block), checked=True)
            assert not analyse(kernel, Specialisation(block)).temporal


def test_every_pass_says_when_it_is_legal() -> None:
    assert all("Legality" in (one.__doc__ or "") for one in PASSES)


def test_block_shapes_that_cannot_be_are_refused() -> None:
    index = index_module(f"{HEAD}.entry k() {{ ret; }}")
    for shape in ((0, 1, 1), (1025, 1, 1), (1, 1, 65), (32, 33, 1)):
        with pytest.raises(AnywarpError) as raised:
            compile_kernel(index, "k", Specialisation(shape), this_machine())
        assert raised.value.diagnostic.code == codes.BLOCK_SHAPE
