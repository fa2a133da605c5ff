"""Which kernels end whatever others do: those in which no loop looks at memory in a way that takes part in synchronisation."""

import pytest

from anywarp.compiler.independence import is_independent
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.compiler.simd.machine_code import imported_symbols
from anywarp.compiler.simd.objects import stack_bytes
from anywarp.compiler.simd.target import this_machine
from anywarp.ptx.index import index_module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
 .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
 .shared .align 4 .u32 s;
 ld.param.u64 %rd1,[p]; mov.u32 %r2,0;
"""
AGAIN = "\n setp.ne.u32 %p1,%r1,7; @%p1 bra L;\n"


def independent(body: str) -> bool:
    index = index_module(HEAD + body + " st.global.u32 [%rd1],%r1;\n ret;\n}\n")
    return is_independent(prepare_kernel(IndexedModule(index), "k", Specialisation((32, 1, 1), 32)))


@pytest.mark.parametrize(
    "looks",
    [
        "ld.volatile.global.u32 %r1,[%rd1];", "ld.acquire.gpu.global.u32 %r1,[%rd1];", "ld.relaxed.sys.global.u32 %r1,[%rd1];",
        "atom.global.cas.b32 %r1,[%rd1],0,1;", "atom.global.exch.b32 %r1,[%rd1],1;", "atom.global.add.u32 %r1,[%rd1],0;",
        "mov.u32 %r1,%clock;", "mov.u64 %rd2,%globaltimer; cvt.u32.u64 %r1,%rd2;",
    ],
)  # fmt: skip
def test_a_loop_that_may_wait_makes_a_kernel_dependent(looks):
    assert not independent(f"L: {looks}{AGAIN}")


@pytest.mark.parametrize(
    "does",
    [
        "ld.global.u32 %r1,[%rd1];", "red.global.add.u32 [%rd1],1; add.u32 %r1,%r1,1;", "atom.shared.add.u32 %r1,[s],1;",
        "ld.shared.u32 %r1,[s]; bar.sync 0;",
    ],
)  # fmt: skip
def test_other_loops_do_not(does):
    assert independent(f" mov.u32 %r1,0;\nL: {does}{AGAIN}")


def test_looking_once_is_not_waiting():
    assert independent(" ld.volatile.global.u32 %r1,[%rd1]; atom.global.add.u32 %r2,[%rd1],1;")


def test_the_stack_of_a_kernel_grows_with_what_it_keeps():
    """Eighty values of 32 lanes of 4 bytes that live at once do not fit into registers: at least 80 * 128 - 32 * 64 bytes."""

    def made(count):
        loads = "".join(f" ld.global.f32 %g{i},[%rd1+{4 * i}];\n" for i in range(count))
        sums = "".join(f" fma.rn.f32 %f1,%g{i},%g{count - 1 - i},%f1;\n" for i in range(count))
        lanes = " mov.u32 %r1,%tid.x; mul.wide.u32 %rd2,%r1,4; add.s64 %rd1,%rd1,%rd2;\n"
        body = f" .reg .f32 %f<2>; .reg .f32 %g<{count}>; mov.f32 %f1,0f00000000;\n{lanes}{loads} bar.sync 0;\n{sums}"
        text = HEAD + body + " st.global.f32 [%rd1],%f1;\n ret;\n}\n"
        return compile_kernel(index_module(text), "k", Specialisation((32, 1, 1), 32), this_machine())

    small, large = made(1), made(80)
    assert 0 < small.stack < 4096 < 80 * 128 - 32 * 64 <= large.stack
    assert stack_bytes(large.object, "aw_kernel") == large.stack
    assert stack_bytes(large.object, "no_such") == 0
    assert imported_symbols(small.object) <= {"_GLOBAL_OFFSET_TABLE_"}
