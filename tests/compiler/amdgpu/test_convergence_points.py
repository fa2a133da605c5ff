"""Which waiting instructions are watched: those whose masks may name lanes at another trip of a loop."""

import pytest

from anywarp.compiler.amdgpu.crossings import watch_crossings
from anywarp.compiler.analysis import analyse
from anywarp.compiler.attributes import Converge, Watched
from anywarp.compiler.ir import CONVERGE, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.ptx.index import index_module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n) {
.reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; ld.param.u64 %d2, [out]; add.u64 %d2, %d2, %d1; ld.param.u32 %r8, [n]; mov.u32 %r3, 0; mov.u32 %r9, 0;
"""
TAIL = "st.global.u32 [%d2], %r9; ret; }"
VOTE = "vote.sync.ballot.b32 %r5, %p3, 0xffffffff; add.u32 %r9, %r9, %r5;"
BODIES = {
    "no loop": (f"setp.lt.u32 %p3, %r1, %r8; {VOTE}", False),
    "every trip": (f"LOOP: add.u32 %r3, %r3, 32; setp.lt.u32 %p3, %r3, %r1; {VOTE} @%p3 bra LOOP;", False),
    "some lanes go round": (
        f"LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r1; @%p3 bra NEXT; {VOTE} NEXT: setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;",
        True,
    ),
    "all lanes go round together": (
        f"LOOP: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %r8; @%p3 bra NEXT; {VOTE} NEXT: setp.lt.u32 %p2, %r3, 9; @%p2 bra LOOP;",
        False,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_only_where_lanes_may_go_round_without_it(name):
    body, expected = BODIES[name]
    how = Specialisation(block=(64, 1, 1), lanes=32)
    kernel = prepare_kernel(IndexedModule(index_module(HEAD + body + TAIL)), "k", how)
    for _ in range(2):  # compilation may ask twice
        watch_crossings(kernel, analyse(kernel, how))
    found = [op for block in kernel.blocks for op in block.ops if op.name == CONVERGE]
    assert [Converge.of(op).watched for op in found] == [Watched(apart=True, again=True) if expected else None]
