"""Variables that stand for textures, samplers and surfaces: how they are read, printed, laid out and refused."""

import pytest

from anywarp.compiler.description import pack_module
from anywarp.compiler.ir import Specialisation
from anywarp.compiler.pipeline import compile_kernel, describe_module
from anywarp.compiler.simd.target import this_machine
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module
from anywarp.ptx.parser import parse_module
from anywarp.ptx.printer import print_module
from anywarp.ptx.tree import InitialList, Member, Variable

HEAD = ".version 8.5\n.target sm_80, texmode_independent\n.address_size 64\n"
SAMPLER = ".global .samplerref s = { addr_mode_0 = clamp_to_border, addr_mode_2 = mirror, filter_mode = linear, force_unnormalized_coords = 1 };\n"


def test_members_are_kept_and_printed():
    module = parse_module(HEAD + SAMPLER)
    (variable,) = (i for i in module.items if isinstance(i, Variable))
    assert variable.initial == InitialList((
        Member("addr_mode_0", "clamp_to_border"), Member("addr_mode_2", "mirror"), Member("filter_mode", "linear"),
        Member("force_unnormalized_coords", 1),
    ))  # fmt: skip
    assert parse_module(print_module(module)).items == module.items


def test_each_has_eight_bytes_and_is_listed():
    layout = describe_module(
        index_module(HEAD + ".global .u32 x;\n.global .texref t;\n.visible .global .surfref p;\n" + SAMPLER)
    )
    assert layout.references == {"t": ("texref", 8), "p": ("surfref", 16), "s": ("samplerref", 24)}
    assert layout.image[8:24] == bytes(16)  # nothing is bound yet
    # bit 0 linear, bit 1 unnormalised, four bits per address mode from bit 4, bit 63: a sampler
    assert int.from_bytes(layout.image[24:32], "little") == 1 << 63 | 1 << 12 | 4 << 4 | 0b11
    assert b"\nreference t texref 8\n" in pack_module(layout)


@pytest.mark.parametrize(
    "text",
    [".global .texref t = { filter_mode = linear };", ".global .texref t[4];", ".const .texref t;",
     ".global .samplerref s = { width = 4 };", ".global .samplerref s = { filter_mode = cubic };",
     ".global .samplerref s = { filter_mode = 2 };", ".global .samplerref s = { 1, 2 };", ".global .u32 x = { filter_mode = 1 };"],
)  # fmt: skip
def test_what_cannot_be_is_refused(text):
    with pytest.raises(AnywarpError):
        describe_module(index_module(HEAD + text + "\n"))


WRONG = [
    "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0}];",
    "tex.2d.v4.f32.f32 {%f0, %f1}, [%d0, {%f0, %f1}];",
    "tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1}];",
    "tex.grad.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1}], {%f0, %f1};",
    "tex.cube.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1, %f2, %f2}], {%r0, %r0, %r0};",
    "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0+8, {%f0, %f1}];",
    "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1}], %f0, %f1;",
    "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [shared, {%f0, %f1}];",
    "tld4.r.2d.v4.f32.f32 {%f0, %f1, %f2}, [%d0, {%f0, %f1}];",
    "txq.width.b32 %r0, [%d0, {%r0}];",
    "suld.b.2d.b32.trap %r0, [%d0, %d0, {%r0, %r0}];",
    "suld.b.2d.v2.b32.trap %r0, [%d0, {%r0, %r0}];",
    "sust.b.2d.b32.trap [%d0, {%r0}], %r0;",
    "sust.p.2d.v4.b32.trap [%d0, {%r0, %r0}], {%r0, %r0};",
    "sured.b.add.1d.u32.trap [%d0, {%r0}], {%r0, %r0};",
]


@pytest.mark.parametrize("text", WRONG)
def test_operands_that_do_not_fit_are_named(text):
    body = f"{{ .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %d<2>; .shared .b64 shared; {text} ret; }}"
    index = index_module(HEAD + f".visible .entry k() {body}\n")
    with pytest.raises(AnywarpError) as caught:
        compile_kernel(index, "k", Specialisation((32, 1, 1)), this_machine())
    assert caught.value.diagnostic.code.startswith("C") and caught.value.diagnostic.span is not None
