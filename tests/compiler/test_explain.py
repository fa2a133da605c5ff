"""What is said of a kernel's code: kinds of accesses and branches that follow from how CUDA numbers threads, with their lines."""

import re

import pytest

from anywarp.compiler.explain import Explanation, explain
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.places import Places
from anywarp.compiler.simd.spills import register_traffic
from anywarp.compiler.simd.target import this_machine
from anywarp.compiler.stages import compile_seen
from anywarp.diagnostics import Source, Span
from anywarp.ptx.index import index_module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.file 1 "folder/kernel.cu"
.visible .entry k(.param .u64 p, .param .u32 n)
{
 .reg .pred %p<3>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<10>;
 .shared .align 4 .b8 s[4096];
 ld.param.u64 %rd1,[p]; ld.param.u32 %r9,[n]; cvta.to.global.u64 %rd2,%rd1;
 mov.u32 %r1,%tid.x; mul.wide.u32 %rd3,%r1,4; add.s64 %rd4,%rd2,%rd3;
"""


def explained(body: str, block=(64, 1, 1)) -> Explanation:
    index = index_module(HEAD + body + "\n ret;\n}\n")
    return explain(compile_seen(index, "k", Specialisation(block, 32), this_machine()), index.source)


def kinds(explanation: Explanation) -> dict[int, str]:
    """Map each line, counted from the one behind HEAD as 1, to the kind of what stands there."""
    first = HEAD.count("\n")
    return {f.place.line - first: f.kind for part in explanation.parts for f in part.findings if f.place}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ld.global.f32 %f1,[%rd4]; st.shared.f32 [s],%f1;", "vector"),
        ("ld.global.f32 %f1,[%rd2]; st.shared.f32 [s],%f1;", "one address"),
        ("mul.wide.u32 %rd5,%r1,132; add.s64 %rd6,%rd2,%rd5; ld.global.f32 %f1,[%rd6]; st.shared.f32 [s],%f1;", "strided"),
        (
            "ld.global.u32 %r2,[%rd4]; and.b32 %r2,%r2,255; mul.wide.u32 %rd5,%r2,4; add.s64 %rd6,%rd2,%rd5;\n"
            " ld.global.f32 %f1,[%rd6]; st.shared.f32 [s],%f1;",
            "gather",
        ),
    ],
)  # fmt: skip
def test_an_access_is_named_by_where_its_lanes_lie(code, kind):
    loads = [f for part in explained(code).parts for f in part.findings if f.kind.startswith("global load")]
    assert loads[-1].kind == f"global load, {kind}"


LOCAL = (
    "mov.u32 %r2,l; and.b32 %r3,%r9,7; mad.lo.u32 %r2,%r3,4,%r2; st.local.f32 [%r2+8],%f1;\n"
    " ld.local.f32 %f2,[%r2+4]; st.global.f32 [%rd4],%f2;"
)


@pytest.mark.parametrize(
    ("more", "kind", "words"),
    [
        ("", "vector", "lanes' copies of an element side by side"),
        ("cvta.local.u64 %rd5,%rd6; st.global.u64 [%rd2],%rd5;", "strided", "lanes lie 64 bytes apart"),
    ],
)  # fmt: skip
def test_every_lane_has_local_memory_of_its_own(more, kind, words):
    """What all lanes index alike is one vector where their copies lie side by side, and else a place in each lane's piece: never one access."""
    code = f".local .align 8 .b8 l[64]; mov.u64 %rd6,l; {more} ld.global.f32 %f1,[%rd4];\n{LOCAL}"
    found = [f for part in explained(code).parts for f in part.findings if f.kind.startswith("local")]
    assert len(found) >= 2 and {f.kind.partition(", ")[2] for f in found} == {kind}
    assert all(words in f.words for f in found)


def test_a_gather_says_which_load_its_addresses_come_from():
    code = (
        "ld.global.u32 %r2,[%rd4];\n and.b32 %r2,%r2,255; mul.wide.u32 %rd5,%r2,4; add.s64 %rd6,%rd2,%rd5;\n"
        " ld.global.f32 %f1,[%rd6]; st.global.f32 [%rd4],%f1;"
    )
    gather = next(f for part in explained(code).parts for f in part.findings if "gather" in f.kind)
    assert gather.place.line == HEAD.count("\n") + 3
    assert f"the load at line {HEAD.count(chr(10)) + 1}" in gather.words


def test_pieces_and_broadcasts_of_a_block_in_two_dimensions():
    """Rows of 16: sixteen lanes share tid.y, and their tid.x are neighbours (CUDA numbers threads x first)."""
    if this_machine().machine.chunk > 16:
        pytest.skip("vectors longer than a row")
    code = (
        "mov.u32 %r2,%tid.y; mul.wide.u32 %rd5,%r2,4096; add.s64 %rd6,%rd2,%rd5; add.s64 %rd7,%rd6,%rd3;\n"
        " ld.global.f32 %f1,[%rd7];\n ld.global.f32 %f2,[%rd6];\n add.f32 %f3,%f1,%f2; st.global.f32 [%rd7],%f3;"
    )
    found = kinds(explained(code, (16, 4, 1)))
    assert (found[2], found[3]) == ("global load, pieces", "global load, broadcast")


def test_branches_are_told_apart():
    code = (
        "setp.eq.u32 %p1,%r9,7;\n @%p1 bra A;\n st.global.u32 [%rd4],%r9;\nA:\n"
        " setp.lt.u32 %p2,%r1,%r9;\n @!%p2 bra B;\n st.global.u32 [%rd4],%r1;\nB:"
    )
    found = kinds(explained(code))
    assert (found[2], found[6]) == ("uniform branch", "varying branch")


LOOP = """
 mov.u32 %r3,0; mov.f32 %f1,0f00000000;
L: ld.global.f32 %f2,[%rd4];
 add.f32 %f1,%f1,%f2; add.s64 %rd4,%rd4,256; add.u32 %r3,%r3,1;
 setp.lt.u32 %p1,%r3,LIMIT;
 @%p1 bra L;
 st.shared.f32 [s],%f1;
"""


@pytest.mark.parametrize(("limit", "words"), [("%r9", "all lanes make the same trips"), ("%r1", "at different trips")])
def test_a_loop_says_whether_lanes_stay_together(limit, words):
    parts = explained(LOOP.replace("LIMIT", limit)).parts
    assert len(parts) == 2
    assert words in parts[1].name
    first = HEAD.count("\n")
    assert first < parts[1].lines[0] <= parts[1].lines[1] <= first + 6
    assert any(f.kind == "global load, vector" for f in parts[1].findings)


def test_text_and_json_say_the_same():
    explanation = explained(LOOP.replace("LIMIT", "%r9"))
    text, data = explanation.as_text(), explanation.as_json()
    for part in data["parts"]:
        assert part["name"] in text
        assert all(f["words"] in text for f in part["findings"])


def test_the_source_line_of_a_place_is_that_of_the_last_loc():
    text = '.file 1 "a.cu"\n.file 2 "b.h"\n.loc 1 7 3\nadd;\n.loc 2 40 1\nmul; sub;\n'
    places = Places(Source("x", text))
    found = {word: places.at(Span(text.index(word), text.index(word) + 3)) for word in ("add", "mul", "sub", ".fi")}
    assert [(found[w].line, found[w].source) for w in ("add", "mul", "sub")] == [
        (4, "a.cu:7"),
        (6, "b.h:40"),
        (6, "b.h:40"),
    ]
    assert found["sub"].instruction == "sub"
    assert found[".fi"].source == ""


def test_spills_are_counted_for_the_loop_that_holds_them():
    """The remarks as LLVM's assembly printer writes them for x86-64."""
    text = """
# %bb.0:                                # %entry
	movq	%rcx, -16(%rsp)                 # 8-byte Spill
.LBB0_8:                                # %block.head
                                        # =>This Loop Header: Depth=1
                                        #     Child Loop BB0_9 Depth 2
	movq	%rcx, -104(%rsp)                # 8-byte Spill
.LBB0_9:                                # %F4
                                        #   Parent Loop BB0_8 Depth=1
                                        # =>  This Inner Loop Header: Depth=2
	vmovups	%zmm1, 64(%rsp)                 # 64-byte Spill
	vaddps	64(%rsp), %zmm1, %zmm2          # 64-byte Folded Reload
.LBB0_10:                               # %S5
                                        #   in Loop: Header=BB0_9 Depth=2
	vmovups	64(%rsp), %zmm3                 # 64-byte Reload
"""
    found = register_traffic(text)
    assert {k: (t.spills, t.reloads) for k, t in found.items()} == {None: (1, 0), 8: (1, 0), 9: (1, 2)}
    assert (found[9].vector_spills, found[9].vector_reloads, found[9].blocks) == (1, 2, {4, 5})


def test_spills_of_a_kernel_that_needs_more_registers_than_there_are():
    """Eighty values of 32 lanes live at once; no x86-64 processor has more than 32 registers of 16 lanes."""
    loads = "".join(f" ld.global.f32 %g{i},[%rd4+{4096 * i}];\n" for i in range(80))
    sums = "".join(f" fma.rn.f32 %f1,%g{i},%g{79 - i},%f1; mul.f32 %f1,%f1,%g{i};\n" for i in range(80))
    code = f" .reg .f32 %g<80>;\n{loads} bar.sync 0;\n mov.f32 %f1,0f3F800000;\n{sums} st.global.f32 [%rd4],%f1;"
    words = next(fact for fact in explained(code).facts if fact.startswith("in all: "))
    assert int(re.search(r"(\d+) and \d+ of whole vectors", words)[1]) >= 80 * 2 - 32
