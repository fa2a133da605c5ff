"""What a checked compilation watches: the operations it puts in, and how it lists their places."""

import pytest

from anywarp.compiler.ir import Op, Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.sites import ALIGNED, ARRIVES, COUNTED, STRONG, describe_sites
from anywarp.ptx.index import index_module

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .b8 beside[40];\n"
BODY = """.extern .shared .align 16 .b8 dyn[];
.visible .entry k(.param .u64 p)
{
.reg .pred %q<3>;
.reg .b32 %r<9>;
.reg .b64 %d<9>;
.shared .align 4 .b8 s[64];
ld.param.u64 %d1, [p];
mov.u32 %r1, %tid.x;
setp.lt.u32 %q1, %r1, 9;
.loc 1 5 2
@%q1 ld.global.v2.u32 {%r2, %r3}, [%d1+8];
shl.b32 %r4, %r1, 2;
mov.u32 %r5, s;
add.u32 %r5, %r5, %r4;
st.shared.u32 [%r5+4], %r2;
st.volatile.shared.u32 [dyn], %r3;
bar.sync 0;
bar.arrive 1, 64;
bar.warp.sync 15;
atom.global.add.u32 %r6, [beside+4], %r3;
shfl.sync.idx.b32 %r7, %r6, 0, 31, -1;
st.global.u32 [%d1], %r7;
ret;
}
.file 1 "k.cu"
"""


def checked(*checks):
    index = index_module(HEAD + BODY)
    specialisation = Specialisation((64, 1, 1), checks=frozenset(checks))
    return prepare_kernel(IndexedModule(index), "k", specialisation, checked=True), index


def operations(kernel, name):
    return [op for block in kernel.blocks for op in block.ops if op.name == name]


def test_nothing_is_put_in_without_checks():
    kernel, _ = checked()
    assert not operations(kernel, "check") and not kernel.sites


def test_accesses_are_described():
    kernel, _ = checked("memory", "race", "init", "sync")
    found = [(s.kind, s.space, s.size, s.count, s.flags, s.extent) for s in kernel.sites if s.space != "-"]
    assert found == [
        ("load", "global", 8, 2, 0, None),
        ("store", "shared", 4, 1, 0, (0, 64)),
        ("store", "shared", 4, 1, STRONG, (64, -1)),
        ("atomic", "global", 4, 1, STRONG, (0, 40)),
        ("store", "global", 4, 1, 0, None),
    ]


def test_synchronisation_is_described():
    kernel, _ = checked("sync")
    found = [(s.kind, s.flags) for s in kernel.sites]
    assert found == [
        ("barrier", ALIGNED),
        ("barrier", ALIGNED | COUNTED | ARRIVES),
        ("warp", 0),
        ("members", 0),
        ("exit", 0),
    ]


@pytest.mark.parametrize(
    ("checks", "kinds"),
    [
        (["memory"], {"load", "store", "atomic"}),
        (["init"], {"load", "store", "atomic"}),
        (["race"], {"store", "barrier", "warp", "exit"}),
    ],
)
def test_only_what_is_asked_for_is_watched(checks, kinds):
    kernel, _ = checked(*checks)
    assert {site.kind for site in kernel.sites} == kinds


def test_an_access_that_may_not_be_made_is_left_out():
    kernel, _ = checked("memory")
    (load,) = operations(kernel, "load")
    assert isinstance(load.guard, Op) and load.guard.name == "check"
    for op in (op for block in kernel.blocks for op in block.ops):
        if load in op.args:  # only the operations that make zero of it, and the second element, see it
            assert op.name in ("select", "element")
    kept = [op for op in operations(kernel, "select") if op.args[0] is load.guard]
    assert [op.args[1].name for op in kept] == ["load", "element"]
    assert all(op.args[2].bits == 0 for op in kept)


def test_without_the_check_of_memory_accesses_stay_as_they_are():
    kernel, _ = checked("init")
    (load,) = operations(kernel, "load")
    assert load.guard.name != "check"


def test_places_carry_their_lines():
    kernel, index = checked("memory")
    first = describe_sites(kernel.sites, index.source)[0].split(" ")
    assert first == ["load", "global", "8", "2", "0", "0", "0", "16", "5", "k.cu", "-"]
