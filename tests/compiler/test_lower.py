"""Lowering small kernels: what the IR looks like, and what is said of kernels that cannot be lowered."""

import pytest

from anywarp.compiler import codes
from anywarp.compiler.attributes import Symbol
from anywarp.compiler.ir import Kernel, Op, Specialisation
from anywarp.compiler.lower import lower_kernel
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.text import print_kernel
from anywarp.compiler.verify import check, verify
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
DECLARED = ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<4>; .reg .b16 %h<4>;\n"


def lowered(body: str, params: str = ".param .u64 out, .param .u32 n", before: str = "") -> Kernel:
    text = f"{HEAD}{before}.entry k({params}) {{ {DECLARED} {body} ret; }}"
    kernel = lower_kernel(IndexedModule(index_module(text)), "k")
    check(kernel, "lowering")
    return kernel


def prepared(body: str, params: str = ".param .u64 out, .param .u32 n", before: str = "") -> Kernel:
    text = f"{HEAD}{before}.entry k({params}) {{ {DECLARED} {body} ret; }}"
    return prepare_kernel(IndexedModule(index_module(text)), "k", Specialisation((64, 1, 1)), checked=True)


def lines(kernel: Kernel) -> list[str]:
    return [line.strip() for line in print_kernel(kernel).splitlines()[1:]]


START = "ld.param.u64 %d1, [out]; ld.param.u32 %r1, [n];\n"


def test_guards_blend_registers_and_stay_on_memory() -> None:
    kernel = lowered(
        START + "setp.lt.u32 %p1, %r1, 10; mov.u32 %r2, 7; @%p1 add.u32 %r2, %r1, 1;"
        "@!%p1 st.global.u32 [%d1], %r2; @%p1 ld.global.u32 %r3, [%d1+4]; st.global.u32 [%d1+8], %r3;"
    )
    assert lines(kernel) == [
        "entry:",
        "%0:i64 = param offset=0",
        "%1:i32 = param offset=8",
        "%2:i1 = icmp predicate=ult %1, i32 0xa",
        "%3:i1 = icmp predicate=uge %1, i32 0xa",
        "%4:i32 = add %1, i32 1",
        "%5:i32 = select %2, %4, i32 7",
        "store space=global %0, %5 if %3",
        "%7:i64 = add %0, i64 4",
        "%8:i32 = load space=global %7 if %2",
        "%9:i64 = add %0, i64 8",
        "store space=global %9, %8",
        "exit",
    ]


def test_a_loop_has_phis_for_what_changes_and_closes_what_leaves() -> None:
    kernel = prepared(
        START + "mov.u32 %r2, 0; LOOP: add.u32 %r3, %r2, 1; mov.u32 %r2, %r3; setp.lt.u32 %p1, %r2, %r1; @%p1 bra LOOP;"
        "st.global.u32 [%d1], %r3; st.global.u32 [%d1+4], %r1;"
    )
    assert lines(kernel) == [
        "entry:",
        "%0:i64 = param offset=0",
        "%1:i32 = param offset=8",
        "jump -> b1",
        "b1:",
        "%2:i32 = phi entry: i32 0, b1: %3",
        "%3:i32 = add %2, i32 1",
        "%4:i1 = icmp predicate=ult %3, %1",
        "branch %4 -> b1, b2",
        "b2:",
        "%5:i32 = phi b1: %3",
        "store space=global %0, %5",
        "%7:i64 = add %0, i64 4",
        "store space=global %7, %1",
        "exit",
    ]


TWICE = """.func (.param .b32 result) twice(.param .b32 a, .param .align 4 .b8 pair[8])
{ .reg .b32 %r<4>; .reg .pred %p;
  ld.param.u32 %r1, [a]; ld.param.u32 %r2, [pair+4];
  setp.eq.u32 %p, %r1, 0; @%p bra ZERO;
  add.u32 %r3, %r1, %r2; st.param.b32 [result], %r3; ret;
ZERO: st.param.b32 [result], 5; ret; }
"""
CALL = """{ .param .b32 p0; .param .align 4 .b8 p1[8]; .param .b32 ret0;
  st.param.b32 [p0], %r1; st.param.b32 [p1], 1; st.param.b32 [p1+4], 2;
  call.uni (ret0), twice, (p0, p1); ld.param.b32 %r2, [ret0]; } st.global.u32 [%d1], %r2;"""


def test_a_call_is_expanded_and_its_parameters_become_values() -> None:
    assert lines(prepared(START + CALL, before=TWICE)) == [
        "entry:",
        "%0:i64 = param offset=0",
        "%1:i32 = param offset=8",
        "%2:i1 = icmp predicate=eq %1, i32 0",
        "branch %2 -> b4, b5",
        "b5:",
        "%3:i32 = add %1, i32 2",
        "jump -> b2",
        "b4:",
        "jump -> b2",
        "b2:",
        "%4:i32 = phi b5: %3, b4: i32 5",
        "store space=global %0, %4",
        "exit",
    ]


def test_a_call_with_registers_works_the_same() -> None:
    before = ".func (.reg .u32 r) inc(.reg .u32 a) { add.u32 r, a, 1; ret; }\n"
    kernel = prepared(START + "call.uni (%r2), inc, (%r1); st.global.u32 [%d1], %r2;", before=before)
    assert "%2:i32 = add %1, i32 1" in lines(kernel)


def test_a_function_that_is_called_twice_is_expanded_twice() -> None:
    once = prepared(START + CALL, before=TWICE)
    twice = prepared(START + CALL + CALL, before=TWICE)
    adds = [sum(op.name == "add" for b in k.blocks for op in b.ops) for k in (once, twice)]
    assert adds == [1, 2]


def test_an_alias_stands_for_its_function() -> None:
    kernel = prepared(START + CALL.replace("twice", "other"), before=TWICE + ".alias other, twice;\n")
    assert len(kernel.blocks) == 4


def test_registers_of_an_inner_scope_hide_outer_ones_of_any_family() -> None:
    kernel = prepared(
        START + "mov.u32 %r2, 1; { .reg .b32 %r2; mov.u32 %r2, 2; { .reg .f32 %r<4>; mov.f32 %r2, 0f3F800000;"
        "st.global.f32 [%d1], %r2; } st.global.u32 [%d1+4], %r2; } st.global.u32 [%d1+8], %r2;"
    )
    stores = [op.args[1] for b in kernel.blocks for op in b.ops if op.name == "store"]
    assert [(v.type, v.bits) for v in stores] == [("f32", 0x3F800000), ("i32", 2), ("i32", 1)]  # type: ignore[attr-defined]


def test_variables_are_laid_out_by_use_and_dynamic_memory_lies_behind() -> None:
    kernel = prepared(
        ".shared .f64 second[2]; .local .b32 keep[4]; mov.u32 %r1, first; mov.u64 %d1, dyn; st.shared.u32 [%r1+16], 1;"
        "ld.shared.u32 %r2, [second+8]; st.shared.u32 [%d1], %r2; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2;"
        "mov.u32 %r5, keep; add.u32 %r6, %r5, %r4; st.local.u32 [%r6], 9; ld.local.u32 %r7, [keep+8];"
        "cvta.shared.u64 %d3, %d1; st.u32 [%d3+4], %r7;",
        before=".extern .shared .align 32 .b8 dyn[];\n.shared .align 8 .b8 first[20];\n",
        params="",
    )
    assert (kernel.shared_bytes, kernel.local_bytes, kernel.dynamic_shared_align) == (64, 16, 32)
    stores = [
        op.args[0].attrs for b in kernel.blocks for op in b.ops if op.name == "store" and isinstance(op.args[0], Op)
    ]
    dynamic = (64, -1)
    assert Symbol("shared", 64, dynamic) in stores
    assert Symbol("shared", 68, dynamic) in stores  # the generic store was found to be one to shared memory


def test_a_local_array_with_constant_indices_becomes_values() -> None:
    kernel = prepared(
        START + ".local .align 8 .b8 depot[16]; .reg .b64 %SP, %SPL; mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL;"
        "st.local.v2.u32 [%SPL+8], {%r1, 3}; setp.gt.u32 %p1, %r1, 4; @%p1 st.local.u32 [%SPL+8], 1; ld.u32 %r2, [%SP+8];"
        "ld.local.u32 %r3, [%SPL+12]; add.u32 %r4, %r2, %r3; st.global.u32 [%d1], %r4;"
    )
    assert kernel.local_bytes == 0
    assert "%3:i32 = select %2, i32 1, %1" in lines(kernel)
    assert "%4:i32 = add %3, i32 3" in lines(kernel)


def test_overlapping_accesses_stay_in_memory() -> None:
    kernel = prepared(
        START + ".local .align 8 .b8 a[8]; st.local.u32 [a], %r1; st.local.u32 [a+4], 7; ld.local.u64 %d2, [a];"
        "st.global.u64 [%d1], %d2;"
    )
    assert kernel.local_bytes == 16


def test_vector_registers_packing_and_carry() -> None:
    kernel = prepared(
        START + ".reg .v4 .f32 %v; ld.global.v4.f32 %v, [%d1]; add.f32 %f1, %v.x, %v.w; mov.b32 %r2, %f1;"
        "mov.b32 {%h1, %h2}, %r2; st.global.v2.u16 [%d1+16], {%h2, %h1}; add.cc.u32 %r3, %r1, %r2; addc.u32 %r4, 0, 0;"
        "st.global.u32 [%d1], %r4;"
    )
    text = lines(kernel)
    assert "%3:f32 = element index=3 %2" in text
    assert "%4:f32 = fadd %2, %3" in text
    assert any(line.startswith("store space=global count=2") for line in text)
    assert any("icmp predicate=ult" in line for line in text)


def test_barriers_end_blocks_and_reductions_begin_the_next() -> None:
    kernel = lowered("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; bar.red.or.pred %p2, 1, %p1; @%p2 bar.sync 0;", "")
    text = lines(kernel)
    assert "barrier kind=red_or warp=False i32 1, none, %1 -> b1" in text
    assert "%3:i1 = barrier_result" in text
    assert "branch %3 -> b2, b3" in text
    assert "barrier kind=sync warp=False i32 0, none, none -> b4" in text


def test_an_irreducible_loop_gets_a_dispatcher() -> None:
    kernel = prepared(
        START + "setp.eq.u32 %p1, %r1, 0; @%p1 bra B; A: add.u32 %r1, %r1, 3; B: sub.u32 %r1, %r1, 1;"
        "setp.lt.u32 %p2, %r1, 100; @%p2 bra A; st.global.u32 [%d1], %r1;"
    )
    assert any(b.terminator.name == "switch" for b in kernel.blocks)
    assert not verify(kernel)


def test_a_branch_on_the_block_shape_is_decided() -> None:
    kernel = prepared(
        START + "mov.u32 %r2, %ntid.x; setp.gt.u32 %p1, %r2, 63; @%p1 bra BIG; st.global.u32 [%d1], 1; ret;"
        "BIG: mov.u32 %r3, %tid.y; st.global.u32 [%d1+4], %r3;"
    )
    assert lines(kernel)[-4:] == [
        "%0:i64 = param offset=0",
        "%1:i64 = add %0, i64 4",
        "store space=global %1, i32 0",
        "exit",
    ]


def test_code_behind_an_end_and_infinite_loops_are_no_trouble() -> None:
    assert len(prepared("ret; DEAD: bra DEAD;", "").blocks) == 1
    assert prepared("L: bra L;", "").blocks[-1].terminator.name == "jump"


PROBLEMS = {
    "bra NOWHERE;": (codes.UNKNOWN_LABEL, "NOWHERE"),
    "mov.u32 %r1, %nothing;": (codes.UNKNOWN_REGISTER, "%nothing"),
    "mov.u32 %r1, nothing;": (codes.UNKNOWN_NAME, "nothing"),
    "mov.u32 nothing, %r1;": (codes.WRONG_OPERAND, "nothing"),
    "add.u32 %p1, %r1, %r1;": (codes.WRONG_OPERAND, "%p1"),
    "call.uni missing;": (codes.UNDEFINED_FUNCTION, "missing"),
    "call (%r1), twice, (%r1);": (codes.WRONG_CALL, "2 arguments"),
    "call %d1;": (codes.INDIRECT_CALL, "without a prototype"),
    "alloca.u64 %d1;": (codes.WRONG_OPERAND, "1 operands"),
    "alloca.u64 %d1, 8, 3;": (codes.WRONG_OPERAND, "alignment"),
    "ld.global.u32 %r1, [far];": (codes.UNRESOLVED_EXTERN, "far"),
    ".shared .b8 big[999999999];": (codes.TOO_MUCH_DATA, "big"),
    ".tex .u64 inside;": (codes.MISPLACED_DECLARATION, "inside"),
    "st.param.u32 [n], %r1;": (codes.WRONG_OPERAND, "cannot be written"),
    "brx.idx %r1, NOLIST;": (codes.UNKNOWN_LABEL, "NOLIST"),
    "frobnicate.u32 %r1;": ("C101", "frobnicate.u32"),
}
MUTUAL = ".func odd();\n.func even() { call.uni odd; ret; }\n.func odd() { call.uni even; ret; }\n.extern .global .u32 far;\n"


@pytest.mark.parametrize("body", PROBLEMS)
def test_what_cannot_be_lowered_is_named_at_its_place(body: str) -> None:
    code, words = PROBLEMS[body]
    with pytest.raises(AnywarpError) as raised:
        lowered(body, before=TWICE + MUTUAL)
    found = raised.value.diagnostic
    assert found.code == code
    assert words in found.message
    assert found.span is not None and found.source is not None
    assert found.source.text[found.span.start : found.span.end].strip()


def test_calls_that_double_at_each_level_are_shared() -> None:
    chain = "".join(f".func f{i}() {{ call.uni f{i - 1}; call.uni f{i - 1}; ret; }}\n" for i in range(1, 40))
    assert len(lowered("call.uni f39;", before=".func f0() { ret; }\n" + chain).blocks) < 1000


def test_there_is_no_such_kernel() -> None:
    with pytest.raises(AnywarpError) as raised:
        lower_kernel(IndexedModule(index_module(HEAD)), "k")
    assert raised.value.diagnostic.code == codes.NO_SUCH_KERNEL


def test_twenty_thousand_instructions_lower_in_seconds() -> None:
    body = "".join(f"mad.lo.u32 %r{i % 7 + 2}, %r{(i * 3) % 7 + 2}, %r1, %r{(i * 5) % 7 + 2};\n" for i in range(20_000))
    kernel = prepared(START + "mov.u32 %r2, %r1;" + body + "st.global.u32 [%d1], %r5;")
    assert len(kernel.blocks) == 1


def test_the_verifier_finds_what_is_broken() -> None:
    kernel = lowered(START + "add.u32 %r2, %r1, 1; LOOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra LOOP;")
    loop = kernel.blocks[1]
    loop.ops.reverse()
    assert any("before it is made" in problem for problem in verify(kernel))
    loop.ops.reverse()
    assert not verify(kernel)
    after = kernel.blocks[2]
    after.ops.append(Op("add", "i32", [loop.ops[0], loop.ops[0]]))
    assert any("left its loop" in problem for problem in verify(kernel))
    after.ops[-1] = Op("add", "i64", [loop.phis[0], loop.phis[0]])
    assert any("makes i64" in problem for problem in verify(kernel))
    after.ops.pop()
    loop.phis[0].incoming.popitem()
    assert any("does not match its predecessors" in problem for problem in verify(kernel))
