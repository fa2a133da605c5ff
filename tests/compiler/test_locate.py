"""From an instruction of the machine code back to its line of PTX."""

import hashlib
from dataclasses import replace

import pytest

from anywarp.compiler import pipeline
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.simd.debug_lines import attach, line_at, machine_code
from anywarp.compiler.simd.target import SYMBOL, this_machine
from anywarp.ptx.index import index_module

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .f32 %f<9>;
.reg .b32 %r<9>;
.reg .b64 %d<9>;
ld.param.u64 %d1, [p];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 4;
add.u64 %d3, %d1, %d2;
ld.global.f32 %f1, [%d3];
sqrt.rn.f32 %f2, %f1;
div.rn.f32 %f3, %f1, %f2;
st.global.f32 [%d3+4096], %f3;
ret;
}
"""


@pytest.mark.parametrize("quick", [False, True])
def test_instructions_lead_to_the_lines_they_were_made_of(quick):
    index, target = index_module(PTX), this_machine()
    specialisation = Specialisation((64, 1, 1), quick=quick)
    code = pipeline.compile_kernel(index, "k", specialisation, target).object
    digest, size = hashlib.sha256(code).hexdigest(), len(machine_code(code)[0])
    lines = PTX.split("\n")
    seen = [pipeline.locate(index, "k", specialisation, target, digest, o) for o in range(size // 2, size, size // 8)]
    named = {lines[n - 1].split()[0] for n in seen if n}
    assert named & {"ld.global.f32", "sqrt.rn.f32", "div.rn.f32", "st.global.f32"}
    assert named <= {line.split()[0] for line in lines[8:16]}


def test_code_that_differs_says_nothing():
    index, target = index_module(PTX), this_machine()
    specialisation = Specialisation((64, 1, 1))
    code = pipeline.compile_kernel(index, "k", replace(specialisation, block=(32, 1, 1)), target).object
    digest = hashlib.sha256(code).hexdigest()
    assert pipeline.locate(index, "k", specialisation, target, digest, len(machine_code(code)[0]) // 2) == 0
    assert pipeline.locate(index, "k", specialisation, target, "", 100) == 0


def test_an_object_without_lines_has_none():
    code = pipeline.compile_kernel(index_module(PTX), "k", Specialisation((64, 1, 1)), this_machine()).object
    assert line_at(code, SYMBOL, 100) == 0
    assert line_at(code, "another", 0) == 0


def test_every_instruction_gets_the_line_of_its_place():
    body, metadata = attach(["  a", "  b", "label:", "  c"], [(1, 50), (3, 70)], lambda offset: offset // 10)
    assert [line.partition(", !dbg ")[0] for line in body.split("\n")] == ["  a", "  b", "label:", "  c"]
    names = [line.partition(", !dbg ")[2] for line in body.split("\n")]
    assert names[2] == ""
    for name, number in zip((names[0], names[1], names[3]), (0, 5, 7), strict=True):
        assert f"{name} = !DILocation(line: {number}," in metadata
