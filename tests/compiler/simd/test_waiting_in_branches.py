"""Many branches in which lanes wait for others: the code grows with their number, not with its square, and computes the same."""

import numpy as np
import pytest

from anywarp.compiler.analysis import analyse
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.module_view import IndexedModule
from anywarp.compiler.options import read_options
from anywarp.compiler.pipeline import compile_kernel, prepare_kernel
from anywarp.compiler.simd import flow, machine_code, target
from anywarp.compiler.simd.flow import PROMOTED_MASKS
from anywarp.devices.cpu.execute import Program
from anywarp.ptx.index import index_module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<4>;
ld.param.u64 %d1,[out]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; mul.wide.u32 %d2,%r2,4; add.u64 %d1,%d1,%d2; mov.u32 %r3,%r2;
"""
TAIL = "st.global.u32 [%d1],%r3;\nret;\n}\n"


def branches(count):
    """Each lane goes by a bit of its own; those that go add up what they have, and each counts the trips of a loop."""
    return "".join(
        f"shr.u32 %r5,%r3,{i % 7};\nand.b32 %r4,%r5,1;\nsetp.eq.u32 %p1,%r4,0;\nvote.sync.ballot.b32 %r6,!%p1,-1;\n@%p1 bra L{i};\n"
        f"mad.lo.u32 %r3,%r3,{2 * i + 3},%r1;\nredux.sync.add.u32 %r7,%r3,%r6;\nxor.b32 %r3,%r3,%r7;\nL{i}:\n"
        for i in range(count)
    )


def expected(count, n, threads):
    found = [list(range(first, first + 32)) for first in range(0, threads, 32)]
    for x in found:
        for i in range(count):
            go = [lane for lane in range(32) if x[lane] >> i % 7 & 1]
            for lane in go:
                x[lane] = (x[lane] * (2 * i + 3) + n) % (1 << 32)
            total = sum(x[lane] for lane in go) % (1 << 32)
            for lane in go:
                x[lane] ^= total
    return [value for x in found for value in x]


@pytest.mark.parametrize(
    ("count", "options", "promoted"),
    [
        *((count, options, PROMOTED_MASKS) for count in (5, 60) for options in ("", "tier=quick")),
        *((count, "gang=64", promoted) for count, promoted in ((5, PROMOTED_MASKS), (8, 6))),  # 60 take minutes
    ],
)
def test_they_compute_the_same(count, options, promoted, monkeypatch):
    """With few masks in registers, and with more than are kept there."""
    monkeypatch.setattr(flow, "PROMOTED_MASKS", promoted)
    out = np.zeros(96 if options != "gang=64" else 128, np.uint32)
    Program(HEAD + branches(count) + TAIL).run("k", 1, len(out), (out, 0x1234567), options=options)
    assert out.tolist() == expected(count, 0x1234567, len(out))


def optimised_phis(count):
    how = Specialisation((64, 1, 1))
    kernel = prepare_kernel(IndexedModule(index_module(HEAD + branches(count) + TAIL)), "k", how)
    machine = target.make_target("x86_64-unknown-linux-gnu", "skylake-avx512", "+avx512f,+avx512bw,+avx512dq,+avx512vl")
    text = machine.emit_text(kernel, analyse(kernel, how), how)[0]
    llvm = machine_code._target_machine(machine.triple, machine.cpu, machine.features)
    module = machine_code.parse(text, machine.triple, str(llvm.target_data), "k")
    machine_code._optimise(module, llvm)
    return str(module).count(" = phi ")


def test_the_values_that_lanes_keep_while_they_wait_are_no_phis_at_every_block():
    few, many = optimised_phis(25), optimised_phis(50)
    assert few > 25 and many < 2.5 * few


def test_code_that_is_too_long_to_be_optimised_says_so(monkeypatch):
    index, machine = index_module(HEAD + branches(5) + TAIL), target.this_machine()

    def notes(options=""):
        return [
            n for n in compile_kernel(index, "k", read_options(options, (64, 1, 1)), machine).notes if "optimised" in n
        ]

    assert notes() == []
    monkeypatch.setattr(machine_code, "_OPTIMISED", 50)
    assert len(notes()) == 1 and notes()[0].startswith("not optimised: ") and notes("tier=quick") == []
