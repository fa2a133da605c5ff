"""Which forms are known, and what happens to the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.ptx.isa.registry import STRUCTURAL, expand, find, parse_form, supports
from anywarp.ptx.tree import Instruction, Integer, Name
from semantics.evaluate import instructions
from semantics.warp import Warp


def known(form: str) -> bool:
    opcode, *modifiers = form.split(".")
    return supports(opcode, tuple(modifiers))


@pytest.mark.parametrize(
    "form",
    [
        "add.s32", "add.sat.s32", "add.rn.ftz.sat.f32", "fma.rn.relu.bf16x2", "cvt.rn.satfinite.e4m3x2.f32", "lop3.b32",
        "ld.global.nc.L1::no_allocate.L2::128B.v4.f32", "ld.param.u64", "ld.volatile.shared.u32", "st.relaxed.gpu.v2.u64",
        "atom.add.release.gpu.u32", "atom.relaxed.global.cas.b64", "atom.global.gpu.acq_rel.max.s32", "red.shared.add.u32",
        "vote.ballot.sync.b32", "vote.sync.ballot.b32", "bar.sync", "bar.warp.sync", "barrier.sync", "bra.uni", "call.uni", "ret",
        "membar.gl", "fence.acq_rel.gpu", "fence.proxy.async.shared::cta", "cvta.to.global.u64", "isspacep.local", "prmt.b32",
        "redux.sync.max.f32", "griddepcontrol.wait", "createpolicy.fractional.L2::evict_first.b64", "sub.rn.f32.f16",
    ],
)  # fmt: skip
def test_forms_that_compilers_emit_are_known(form):
    assert known(form)


@pytest.mark.parametrize(
    "form",
    [
        "add", "add.s8", "add.sat.u64", "add.cc.u16", "add.s32.s32", "add.rna.f32", "mul.s32", "mul.lo.hi.s32", "mul.wide.f32",
        "fma.f32", "fma.rn.sat.f64", "setp.lo.s32", "setp.lt.b32", "setp.equ.s32", "cvt.f16.f32.f32", "shl.s32", "popc.u32", "ld.pred",
        "ld.global.global.u32", "st.acquire.gpu.u32", "atom.inc.s32", "atom.add.f32.f32", "shfl.sync.left.b32", "bar.red.xor.pred",
        "bra.always", "wgmma.fence.sync.aligned", "tex.4d.v4.f32.f32", "tcgen05.wait::ld.sync.aligned", "frobnicate.b32", "",
    ],
)  # fmt: skip
def test_forms_that_do_not_exist_or_are_not_there_yet_are_refused(form):
    assert not known(form)


def test_an_unknown_form_is_named_in_full_in_the_error():
    i = Instruction("wgmma", ("fence", "sync", "aligned"), ())
    with pytest.raises(AnywarpError) as caught:
        expand(Warp(), i)
    assert caught.value.diagnostic.code == "C101"
    assert "instruction wgmma.fence.sync.aligned is not supported" in caught.value.diagnostic.message
    assert caught.value.diagnostic.help


@pytest.mark.parametrize(
    ("form", "operands"),
    [
        ("add.s32", 2), ("add.s32", 4), ("fma.rn.f32", 3), ("mov.b32", 1), ("shfl.sync.up.b32", 4), ("trap", 1), ("ld.global.u32", 1),
        ("bfi.b32", 4), ("vote.sync.any.pred", 2), ("atom.global.add.u32", 2), ("max.f32", 2), ("max.f32", 5),
    ],
)  # fmt: skip
def test_a_wrong_number_of_operands_is_an_error_and_no_crash(form, operands):
    opcode, *modifiers = form.split(".")
    warp = Warp()
    name = warp.declare("%x", "b32")
    with pytest.raises(AnywarpError) as caught:
        expand(warp, Instruction(opcode, tuple(modifiers), (name,) * operands))
    assert caught.value.diagnostic.code == "C102"


@pytest.mark.parametrize(
    "text",
    [
        "ld.global.u32 %r0, %s0;", "st.global.v2.u32 [%s0], %r0;", "ld.global.u32 {{%r0, %r1}}, [%s0];", "lop3.b32 %r0, %r0, %r0, %r0, %r1;",
        "ld.global.v4.u32 {{%r0, %r1}}, [%s0];", "mov.b64 %s0, {{%r0, %r0, %r0}};", "st.bulk.weak.shared::cta [%s0], 16, 1;",
        "vadd2.u32.u32.u32 %r0, %r0.h4, %r1, %r0;", "vadd.u32.u32.u32 %r0.b1, %r0, %r1;", "vmad.u32.u32.u32.po %r0, -%r0, %r1, %r0;",
        "mbarrier.arrive.expect_tx.b64 %s0, [%s0];", "mbarrier.test_wait.b64 %p0, %s0, %s0;", "cvt.rs.satfinite.e4m3x4.f32 %r0, {{%f0, %f0}}, %r1;",
        "red.global.v2.f32.add [%s0], %f0;",
    ],
)  # fmt: skip
def test_operands_of_the_wrong_shape_are_an_error_and_no_crash(text):
    warp = Warp()
    for name, ptx in (("%r0", "b32"), ("%r1", "b32"), ("%s0", "b64"), ("%f0", "f32")):
        warp.declare(name, ptx)
    with pytest.raises(AnywarpError) as caught:
        for i in instructions(text):
            expand(warp, i)
    assert caught.value.diagnostic.code == "C102"


def test_structural_opcodes_have_no_meaning_of_their_own():
    stack = {"alloca", "stacksave", "stackrestore"}
    assert {"bra", "brx", "call", "ret", "exit", "bar", "barrier"} | stack == STRUCTURAL
    assert all(find(opcode, ()) is None for opcode in STRUCTURAL)


def test_optional_and_repeated_modifiers_are_counted():
    form = parse_form("add{.sat}.u32/s32")
    assert form.matches(("s32",)) and form.matches(("sat", "u32")) and form.matches(("u32", "sat"))
    assert not form.matches(("sat", "sat", "u32")) and not form.matches(()) and not form.matches(("u32", "s32"))


def test_a_predicate_source_may_be_negated_and_a_destination_dropped():
    warp = Warp()
    warp.declare("%p", "pred", [n & 1 for n in range(32)])
    warp.declare("%q", "pred")
    warp.declare("%d", "b32")
    for i in instructions("and.pred %q, %p, %p; selp.b32 %d, 7, 9, !%q; setp.eq.s32 _|%q, %d, 7;"):
        expand(warp, i)
    assert warp.value("%d") == [7 if n % 2 == 0 else 9 for n in range(32)]
    assert warp.value("%q") == [n & 1 for n in range(32)]


def test_special_registers_and_the_warp_size_can_be_read_anywhere():
    warp = Warp()
    warp.declare("%d", "b32")
    for i in instructions("mad.lo.s32 %d, %laneid, WARP_SZ, %tid.x;"):
        expand(warp, i)
    assert warp.value("%d") == [n * 32 + 7 * n for n in range(32)]


def test_meanings_are_found_once_per_form():
    expand(warp := Warp(), Instruction("mov", ("u32",), (warp_name(warp), Integer(3))))
    assert find("mov", ("u32",)) is find("mov", ("u32",))
    assert warp.value("%w") == [3] * 32


def warp_name(warp: Warp) -> Name:
    return warp.declare("%w", "b32")


LATER = ("multimem", "tcgen05", "wgmma")
"""Beginnings of the counted forms that have no meaning yet."""


def test_every_other_form_counted_in_published_kernels_is_known():
    lines = (Path(__file__).parents[2] / "cases" / "ptx" / "forms.txt").read_text().splitlines()
    forms = [line.split("\t")[0] for line in lines if line and not line.startswith("#")]
    assert len(forms) > 700
    assert [f for f in forms if not known(f) and not f.startswith(LATER)] == []
    assert [f for f in forms if known(f) and f.startswith(LATER)] == []
