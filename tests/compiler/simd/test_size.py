"""Code and the time to make it grow in proportion to the kernel; hostile shapes neither hang nor overflow the stack."""

from __future__ import annotations

import numpy as np
import pytest

from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.pipeline import prepare_kernel
from anywarp.compiler.simd import machine_code
from anywarp.compiler.simd.target import this_machine
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module


def kernel(body, registers=40):
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{{
.reg .pred %p<{registers}>; .reg .b32 %r<{registers}>; .reg .b64 %d<{registers}>;
ld.param.u64 %d1,[out]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; mul.wide.u32 %d2,%r2,4; add.u64 %d2,%d1,%d2;
mov.u32 %r3,%r2;
{body}
st.global.u32 [%d2],%r3;
ret;
}}
"""


def ifs(n, between="", loop=False):
    text = "".join(
        f"and.b32 %r4,%r2,{1 << (i % 6)};\nsetp.eq.u32 %p1,%r4,0;\n@%p1 bra L{i};\nmad.lo.u32 %r3,%r3,3,{i};\nL{i}:\n{between}\n"
        for i in range(n)
    )
    return kernel(
        f"mov.u32 %r9,0;\nAGAIN:\n{text}\nadd.u32 %r9,%r9,1;\nsetp.lt.u32 %p2,%r9,%r1;\n@%p2 bra AGAIN;"
        if loop
        else text
    )


def optimised_lines(text):
    target, specialisation = this_machine(), Specialisation((64, 1, 1))
    made = prepare_kernel(IndexedModule(index_module(text)), "k", specialisation)
    ir, _, _ = target.emit_text(made, analyse(made, specialisation), specialisation)
    machine = machine_code._target_machine(target.triple, target.cpu, target.features)
    module = machine_code.parse(ir, target.triple, str(machine.target_data), "k")
    machine_code._optimise(module, machine)
    return str(module).count("\n")


@pytest.mark.parametrize("between, loop", [("", False), ("", True), ("bar.sync 0;", False), ("bar.sync 0;", True)])
def test_code_grows_in_proportion(between, loop):
    small, large = (optimised_lines(ifs(n, between, loop)) for n in (30, 120))
    assert large < 4.6 * small


@pytest.mark.parametrize("between", ["", "bar.sync 0;"])
def test_many_divergent_blocks(between):
    out = np.zeros(64, np.uint32)
    Program(ifs(120, between)).run("k", 1, 64, [out, np.uint32(1)])
    want = np.arange(64, dtype=np.uint32)
    for i in range(120):
        want = np.where(np.arange(64) & 1 << (i % 6), want * np.uint32(3) + np.uint32(i), want)
    assert (out == want).all()


def test_an_address_that_doubles_again_and_again():
    body = "add.u32 %r5,%r1,%r2;\ncvt.s64.s32 %d3,%r5;\n" + "add.u64 %d3,%d3,%d3;\n" * 64
    body += "add.u64 %d4,%d3,%d1;\nsetp.eq.u64 %p1,%d4,12345;\n@%p1 st.global.u32 [%d4],%r5;"
    out = np.zeros(64, np.uint32)
    Program(kernel(body)).run("k", 1, 64, [out, np.uint32(7)])
    assert (out == np.arange(64)).all()


def test_a_long_chain_of_address_arithmetic():
    body = "add.u32 %r5,%r1,%r2;\ncvt.s64.s32 %d3,%r5;\nmov.u32 %r6,%ctaid.y;\ncvt.u64.u32 %d5,%r6;\n"
    body += "mad.lo.s64 %d5,%d5,%d5,%d1;\nadd.u64 %d3,%d3,%d5;\n" * 1000
    body += "setp.eq.u64 %p1,%d3,12345;\n@%p1 st.global.u32 [%d3],%r2;"
    out = np.zeros(64, np.uint32)
    Program(kernel(body)).run("k", 1, 64, [out, np.uint32(7)])
    assert (out == np.arange(64)).all()
