"""Which waiting instructions are watched for lanes that come to another one, and that the code asks and says where."""

import re

import pytest

from anywarp.compiler.amdgpu.crossing_code import CROSSED
from anywarp.compiler.amdgpu.crossings import record_bytes, watch_crossings
from anywarp.compiler.amdgpu.target import make_target
from anywarp.compiler.analysis import analyse
from anywarp.compiler.attributes import Waiting
from anywarp.compiler.ir import CONVERGE, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.ptx.index import index_module
from emulator import crossings

MARKED = {
    "shuffles on both ways": ["some", "some"],
    "votes on both ways": ["some", "some"],
    "matches on both ways": ["some", "some"],
    "reductions on both ways": ["some", "some"],
    "one way, and behind where they meet": ["some", "all"],
    "some end behind the first": ["some", "some"],
    "a barrier of the warp, and behind where they meet": ["some", "all"],
    "the same under a condition twice": ["some", "some"],
    "those from n on end without one": ["some", "some"],
    "halves that name themselves": ["some", "some", "all"],
    "whole warps part": [],
}
OTHERS = {
    "several on one way": ("@!%p1 bra DONE; " + "redux.sync.add.u32 %r4, %r1, -1; add.u32 %r9, %r9, %r4; " * 5 + "DONE:", []),
    "one after the other": ("redux.sync.add.u32 %r4, %r1, -1; redux.sync.max.u32 %r9, %r4, -1;", []),
    "threads of a block gather between": (
        "@!%p1 bra DONE; redux.sync.add.u32 %r4, %r1, -1; DONE: bar.sync 0; redux.sync.max.u32 %r9, %r4, -1;",
        [],
    ),
    "a choice that all lanes make": (
        "setp.lt.u32 %p3, %r8, 7; @!%p3 bra DONE; redux.sync.add.u32 %r4, %r1, -1; DONE: redux.sync.max.u32 %r9, %r4, -1;",
        [],
    ),
}  # fmt: skip


def prepared(body, lanes=64):
    how = Specialisation(block=(64, 1, 1), lanes=lanes)
    text = crossings.kernel(body.replace("MASK", "-1"))
    return prepare_kernel(IndexedModule(index_module(text)), "k", how), how, text


@pytest.mark.parametrize("name", [*MARKED, *OTHERS])
def test_only_what_lanes_may_come_to_apart_is_watched(name):
    body, expected = OTHERS[name] if name in OTHERS else (crossings.BODIES[name][0], MARKED[name])
    kernel, how, _ = prepared(body)
    for _ in range(2):  # compilation may ask twice
        watch_crossings(kernel, analyse(kernel, how))
    ops = [one for block in kernel.blocks for one in (*block.ops, block.terminator)]
    watched = [op for op in ops if isinstance(op.attrs, Waiting) and op.attrs.watched is not None]
    assert sorted("some" if op.attrs.watched.apart else "all" for op in watched) == sorted(expected)
    assert all(getattr(op, "name", "") in (CONVERGE, "barrier") for op in watched)
    assert record_bytes(kernel, how, 100) == ((104, 16 + 12) if "some" in expected else (100, 0))


@pytest.mark.parametrize("arch", ["gfx942", "gfx90a", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("name", [name for name, marks in MARKED.items() if marks])
def test_the_code_stops_and_names_the_line(name, arch):
    kernel, how, text = prepared(crossings.BODIES[name][0], 32 if arch.startswith("gfx1") else 64)
    code = make_target(arch).emitted(kernel, analyse(kernel, how), how)[0].text
    said = {int(line) for line in re.findall(rf"@aw_hip_stop\(.*i32 {CROSSED}, i32 (\d+)\)", code)}
    lines = [i for i, line in enumerate(text.splitlines(), 1) if ".sync" in line]
    assert said and said <= set(lines)
