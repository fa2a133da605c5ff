"""Decoding of barrier forms."""

from __future__ import annotations

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.ptx.isa.barriers import BarrierForm, barrier_of
from anywarp.ptx.tree import Instruction, Integer, Name, Negated
from semantics.evaluate import instructions

ID, COUNT, D, P = Name("%b"), Name("%n"), Name("%d"), Name("%p")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("bar.sync 0;", BarrierForm("sync", Integer(0))),
        ("bar.sync %b, %n;", BarrierForm("sync", ID, COUNT)),
        ("bar.cta.sync 1;", BarrierForm("sync", Integer(1))),
        ("bar.arrive 2, 64;", BarrierForm("arrive", Integer(2), Integer(64))),
        ("bar.warp.sync 0xffffffff;", BarrierForm("sync", Integer(0xFFFFFFFF), warp=True)),
        ("bar.red.popc.u32 %d, %b, %p;", BarrierForm("red_popc", ID, None, P, D)),
        ("bar.red.and.pred %d, %b, %n, !%p;", BarrierForm("red_and", ID, COUNT, Negated(P), D)),
        ("bar.red.or.pred %d, 0, %p;", BarrierForm("red_or", Integer(0), None, P, D)),
        ("barrier.sync 0;", BarrierForm("sync", Integer(0), aligned=False)),
        ("barrier.sync.aligned 0;", BarrierForm("sync", Integer(0))),
        ("barrier.cta.sync %b, %n;", BarrierForm("sync", ID, COUNT, aligned=False)),
        ("barrier.cta.arrive.aligned 3, 96;", BarrierForm("arrive", Integer(3), Integer(96))),
        ("barrier.cta.red.popc.aligned.u32 %d, %b, %p;", BarrierForm("red_popc", ID, None, P, D)),
        ("barrier.red.or.pred %d, %b, %n, %p;", BarrierForm("red_or", ID, COUNT, P, D, aligned=False)),
    ],
)  # fmt: skip
def test_every_spelling_is_decoded(text, form):
    (i,) = instructions(text)
    assert barrier_of(i) == form


@pytest.mark.parametrize(
    ("form", "count", "code"),
    [
        ("bar.sync", 0, "C102"), ("bar.sync", 3, "C102"), ("bar.arrive", 1, "C102"), ("bar.warp.sync", 2, "C102"), ("bar.red.and.pred", 2, "C102"),
        ("barrier.cluster.arrive", 0, "C102"), ("barrier.cluster.sync", 0, "C101"), ("bar.red.xor.pred", 3, "C101"), ("add.s32", 3, "C101"),
    ],
)  # fmt: skip
def test_what_is_no_barrier_is_refused(form, count, code):
    opcode, *modifiers = form.split(".")
    with pytest.raises(AnywarpError) as caught:
        barrier_of(Instruction(opcode, tuple(modifiers), (Integer(0),) * count))
    assert caught.value.diagnostic.code == code
