"""Calls that are made for real: recursion, pointers, virtual functions, the stack; expected values worked out in Python."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from anywarp.compiler import call_graph, codes
from anywarp.compiler.module_view import IndexedModule
from anywarp.devices.cpu.execute import KernelTrap, Program
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module
from semantics.devices import DEVICES, module

PTX = (Path(__file__).parent / "cases" / "calls.ptx").read_text()
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
BLOCKS = [1, 32, 33, 96]


@cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


@cache
def ackermann(m, n):
    return n + 1 if m == 0 else ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


@pytest.fixture(params=DEVICES)
def run(request):
    def run(name, grid, block, args):
        DEVICES[request.param](PTX, name, grid, block, args)

    run.device = request.param
    return run


def numbers(run, name, block, *more, grid=2, dtype=np.int32):
    out = np.zeros(grid * block, dtype)
    run(name, grid, block, [out, *more])
    return list(out)


@pytest.mark.parametrize("block", [1, 33])
def test_recursion_with_two_calls(run, block):
    assert numbers(run, "fib", block, grid=1) == [fibonacci(i % 13) + i for i in range(block)]


def test_a_call_whose_argument_is_a_call(run):
    assert numbers(run, "ack", 33, grid=1) == [ackermann(i % 3, i // 3 % 3) for i in range(33)]


def test_every_thread_sorts_its_own_row(run):
    rows = np.random.default_rng(5).integers(0, 90, (40, 17)).astype(np.int32)
    wanted = np.sort(rows, 1)
    run("sort", 1, 40, [rows, 17])
    np.testing.assert_array_equal(rows, wanted)


def test_a_walk_through_a_tree_that_differs_per_lane(run):
    count = 50
    nodes = np.full((count, 3), -1, np.int32)
    random = np.random.default_rng(7)
    nodes[:, 2] = random.integers(1, 1000, count)
    for child in range(1, count):  # every node hangs below one with a smaller number
        while True:
            parent, side = random.integers(0, child), random.integers(0, 2)
            if nodes[parent, side] < 0:
                nodes[parent, side] = child
                break
    below = nodes[:, 2].copy()
    for at in reversed(range(count)):
        below[at] += sum(below[child] for child in nodes[at, :2] if child >= 0)
    assert numbers(run, "tree", count, nodes, grid=1) == list(below)


@pytest.mark.parametrize("block", BLOCKS)
def test_virtual_functions_through_tables_in_memory(run, block):
    wanted = [i * i * 2 + 7 if i % 3 else i * 3 * 2 + 9 for i in range(2 * block)]
    assert numbers(run, "virtuals", block, dtype=np.float32) == wanted


@pytest.mark.parametrize("block", BLOCKS)
def test_a_table_of_functions_indexed_differently_by_each_lane(run, block):
    wanted = [(i + 3, i - 3, i * 3)[(i + 1) % 3] + 1 for i in range(2 * block)]
    assert numbers(run, "pointers", block, 1) == wanted


@pytest.mark.parametrize("block", BLOCKS)
def test_a_callback_in_a_struct_passed_by_value(run, block):
    assert numbers(run, "callbacks", block) == [((2 * i + 1) if i & 1 else (i + 1) * i) + i for i in range(2 * block)]


def test_a_pointer_stored_by_one_kernel_is_called_by_another(run):
    pointer, out = np.zeros(1, np.uint64), np.zeros(40, np.int32)
    run("give_pointer", 1, 1, [pointer])
    run("take_pointer", 1, 40, [out, pointer])
    assert list(out) == [i - 9 for i in range(40)]


@pytest.mark.parametrize("block", [32, 33, 96])
def test_barriers_inside_of_a_function_called_through_a_pointer(run, block):
    wanted = [(i + 5) % block for i in range(block)]
    assert numbers(run, "barriers", block, 5) == wanted * 2


def test_calls_nest_as_deep_as_the_stack_reaches(run):
    one = np.ones(1, np.int32)
    wanted = [(n := 30 if i == 3 else i % 7) * (n + 1) // 2 + n for i in range(40)]
    assert numbers(run, "deep", 40, 30, one, grid=1) == wanted


def test_a_larger_stack_holds_deeper_calls():
    out, one = np.zeros(40, np.int32), np.ones(1, np.int32)
    with pytest.raises(KernelTrap, match="stack"):
        module(PTX).run("deep", 1, 40, [out, 1500, one])
    module(PTX).run("deep", 1, 40, [out, 1500, one], options="gang=32 stack=524288")
    assert out[3] == 1500 * 1501 // 2 + 1500


def test_a_stack_that_overflows_names_thread_and_line():
    with pytest.raises(KernelTrap, match=r"stack of a thread is full.*lane 3 \(line \d+"):
        module(PTX).run("deep", 1, 40, [np.zeros(40, np.int32), 100_000, np.ones(1, np.int32)])


def test_a_call_through_a_null_pointer_names_thread_and_line():
    line = next(n for n, text in enumerate(PTX.splitlines(), 1) if n > PTX[: PTX.index("entry null_pointer")].count("\n")
                and "call (" in text)  # fmt: skip
    with pytest.raises(KernelTrap, match=rf"no function.*lane 5 \(line {line} "):
        module(PTX).run("null_pointer", 1, 40, [np.zeros(40, np.int32)])


# --- by hand ----------------------------------------------------------------------------------------------------------------


def handmade(run_device, text, name, block, *args):
    DEVICES[run_device](HEAD + text, name, 1, block, list(args))


LISTED = """
.func (.reg .b32 r) twice(.reg .b32 a) { add.u32 r, a, a; ret; }
.func (.reg .b32 r) next(.reg .b32 a) { add.u32 r, a, 1; ret; }
.func (.reg .b32 r) other(.reg .b32 a) { mov.u32 r, 77; ret; }
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
  LIST: .calltargets twice, next;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
  and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
  mov.u64 %d3, twice; mov.u64 %d4, next; selp.b64 %d3, %d3, %d4, %p1; WHICH
  call (%r3), %d3, (%r1), LIST;
  @%p1 call (%r3), %d3, (%r3), LIST;
  st.global.u32 [%d1], %r3; ret; }
"""


def test_listed_targets_register_parameters_and_a_guarded_call(run):
    out = np.zeros(33, np.uint32)
    handmade(run.device, LISTED.replace("WHICH", ""), "k", 33, out)
    assert list(out) == [i + 1 if i & 1 else 4 * i for i in range(33)]


def test_a_function_that_is_not_listed_is_not_called():
    text = LISTED.replace("WHICH", "setp.eq.u32 %p2, %r1, 9; mov.u64 %d4, other; selp.b64 %d3, %d4, %d3, %p2;")
    with pytest.raises(KernelTrap, match=r"no function.*lane 9"):
        Program(HEAD + text).run("k", 1, 33, [np.zeros(33, np.uint32)])


ALLOCATED = """
.func (.reg .b32 r) fill(.reg .b32 n) {
  .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
  mul.wide.u32 %d1, n, 4; alloca.u64 %d2, %d1, 64; mov.u64 %d3, %d2; mov.u32 %r1, 0; mov.u32 r, 0;
  cvta.local.u64 %d5, %d2; and.b64 %d5, %d5, 63; cvt.u32.u64 %r4, %d5; shl.b32 %r4, %r4, 20; or.b32 r, r, %r4;
A: setp.ge.u32 %p1, %r1, n; @%p1 bra B; st.local.u32 [%d3], %r1; add.u64 %d3, %d3, 4; add.u32 %r1, %r1, 1; bra A;
B: setp.eq.u32 %p1, n, 0; @%p1 ret; sub.u32 %r2, n, 1; call (%r3), fill, (%r2);
  mov.u64 %d3, %d2; mov.u32 %r1, 0;
C: setp.ge.u32 %p1, %r1, n; @%p1 bra D; ld.local.u32 %r2, [%d3]; add.u32 r, r, %r2; add.u64 %d3, %d3, 4; add.u32 %r1, %r1, 1; bra C;
D: add.u32 r, r, %r3; ret; }
.func (.reg .b32 r) keep(.reg .b32 n) {
  .reg .b64 %d<9>; mul.wide.u32 %d1, n, 256; alloca.u64 %d2, %d1; st.local.u32 [%d2], n; ld.local.u32 r, [%d2]; ret; }
.visible .entry k(.param .u64 out, .param .u32 times) {
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; ld.param.u32 %r6, [times];
  and.b32 %r2, %r1, 7; call (%r3), fill, (%r2);
  stacksave.u64 %d3; mov.u32 %r5, 0;
L: alloca.u64 %d4, 512; st.local.u32 [%d4], %r1; ld.local.u32 %r4, [%d4]; RESTORE
  add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r6; @%p1 bra L;
  mov.u32 %r5, 0;
M: call (%r4), keep, (1); add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r6; @%p1 bra M;
  add.u32 %r3, %r3, %r4; st.global.u32 [%d1], %r3; ret; }
"""


@pytest.mark.parametrize("device", ["cpu", "cpu, any block"])
def test_alloca_in_recursion_in_loops_and_in_functions_expanded_in_place(device):
    out = np.zeros(33, np.uint32)
    handmade(device, ALLOCATED.replace("RESTORE", "stackrestore.u64 %d3;"), "k", 33, out, np.uint32(1000))
    assert list(out) == [sum(n * (n - 1) // 2 for n in range(i % 8 + 1)) + 1 for i in range(33)]


@pytest.mark.parametrize(("old", "new"), [("512", "512"), ("512", "-1"), ("512", "20000")])
def test_an_alloca_without_room_names_the_line(old, new):
    body = ALLOCATED.replace("RESTORE", "").replace(f"alloca.u64 %d4, {old}", f"alloca.u64 %d4, {new}")
    line = 3 + body[: body.index("alloca.u64 %d4")].count("\n") + 1
    with pytest.raises(KernelTrap, match=rf"stack of a thread is full.*line {line} "):
        Program(HEAD + body).run("k", 1, 33, [np.zeros(33, np.uint32), np.uint32(1000)])


JUMPS = """.visible .entry k(.param .u64 out, .param .u32 any) {
  .reg .b32 %r<9>; .reg .b64 %d<9>;
  L: .branchtargets A, B, C;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; INDEX
  brx.idx %r2, L;
A: mov.u32 %r3, 10; bra E;
B: mov.u32 %r3, 20; bra E;
C: mov.u32 %r3, 30;
E: st.global.u32 [%d1], %r3; ret; }
"""


@pytest.mark.parametrize("index", ["rem.u32 %r2, %r1, 3;", "ld.param.u32 %r2, [any];"])
def test_branches_by_index(run, index):
    out = np.zeros(33, np.uint32)
    handmade(run.device, JUMPS.replace("INDEX", index), "k", 33, out, np.uint32(1))
    assert list(out) == ([20] * 33 if "any" in index else [10 * (i % 3 + 1) for i in range(33)])


@pytest.mark.parametrize("index", ["mov.u32 %r2, %r1;", "ld.param.u32 %r2, [any];"])
def test_an_index_out_of_range_goes_somewhere(index):
    """PTX leaves open where; lanes must not get lost on the way."""
    out = np.zeros(33, np.uint32)
    Program(HEAD + JUMPS.replace("INDEX", index)).run("k", 1, 33, [out, np.uint32(1 << 31)])
    assert set(out[3:]) <= {10, 20, 30}
    assert list(out[:3]) == [10, 20, 30] or "any" in index


def test_a_graph_of_calls_that_would_explode_is_shared():
    """Each function calls the next one twice: 2 ** 20 copies, expanded in place."""
    depth = 20
    text = "".join(f".func (.reg .b32 r) f{i}(.reg .b32 a);\n" for i in range(depth + 1))
    text += f".func (.reg .b32 r) f{depth}(.reg .b32 a) {{ add.u32 r, a, 1; ret; }}\n"
    for i in range(depth):
        body = f"shr.u32 %b, a, 1; call (%x), f{i + 1}, (%b);" + (f"call (%x), f{i + 1}, (%x);" if i < 10 else "")
        body += "" if i < 10 else f"setp.ne.u32 %p, a, a; @%p call (%x), f{i + 1}, (%x);"
        text += f".func (.reg .b32 r) f{i}(.reg .b32 a) {{ .reg .b32 %x, %b; .reg .pred %p; {body} add.u32 r, %x, 1; ret; }}\n"
    text += """.visible .entry k(.param .u64 out) { .reg .b32 %r<9>; .reg .b64 %d<9>;
      ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;
      shl.b32 %r1, %r1, 8; call (%r2), f0, (%r1); st.global.u32 [%d1], %r2; ret; }"""

    def f(i, a):
        if i == depth:
            return a + 1
        x = f(i + 1, a >> 1)
        return (f(i + 1, x) if i < 10 else x) + 1

    out = np.zeros(3, np.uint32)
    Program(HEAD + text).run("k", 1, 3, [out])
    assert list(out) == [f(0, n << 8) for n in range(3)]


def test_what_is_too_much_even_when_shared_is_refused():
    body = "add.u32 r, a, 1; " * 400
    text = "".join(f".func (.reg .b32 r) f{i}(.reg .b32 a) {{ {body} ret; }}\n" for i in range(800))
    calls = "".join(f"call (%r1), f{i}, (%r1);" for i in range(800))
    with pytest.raises(AnywarpError) as raised:
        Program(f"{HEAD}{text}.visible .entry k() {{ .reg .b32 %r1; mov.u32 %r1, 0; {calls} ret; }}").run("k", 1, 1, [])
    assert raised.value.diagnostic.code == codes.TOO_MUCH_CODE


def test_functions_are_expanded_in_place_where_that_stays_small():
    text = f"{HEAD}.func f() {{ ret; }}\n.func g() {{ call f; call f; ret; }}\n.visible .entry k() {{ call g; call g; ret; }}"
    seen = IndexedModule(index_module(text))
    kernel = seen.function("k")
    assert call_graph.shared_functions(seen, kernel) == frozenset()
