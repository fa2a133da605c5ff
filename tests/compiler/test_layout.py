"""Layout of parameters and module data, against ctypes and bytes written by hand."""

import ctypes
import struct
from itertools import pairwise

import pytest

from anywarp.compiler import codes
from anywarp.compiler.ir import Param
from anywarp.compiler.layout import AddressOf, ModuleLayout, parameters
from anywarp.compiler.pipeline import describe_module
from anywarp.diagnostics import AnywarpError
from anywarp.ptx.index import index_module

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def layout(text: str) -> ModuleLayout:
    return describe_module(index_module(HEAD + text))


def test_parameters_lie_as_c_lays_out_a_structure() -> None:
    class Expected(ctypes.Structure):
        _fields_ = (
            ("a", ctypes.c_uint8), ("b", ctypes.c_double), ("c", ctypes.c_int16), ("d", ctypes.c_int32), ("e", ctypes.c_uint8 * 5),
            ("f", ctypes.c_uint64),
        )  # fmt: skip

    index = index_module(
        HEAD
        + ".entry k(.param .u8 a, .param .f64 b, .param .s16 c, .param .b32 d, .param .b8 e[5], .param .u64 f) { ret; }"
    )
    found, size = parameters(index.functions["k"].header.params)
    assert [(p.name, p.offset) for p in found] == [(n, getattr(Expected, n).offset) for n, _ in Expected._fields_]
    assert size == ctypes.sizeof(Expected)


def test_a_parameter_keeps_the_alignment_that_it_states() -> None:
    index = index_module(HEAD + ".entry k(.param .u8 a, .param .align 16 .b8 b[12], .param .v4 .f32 c) { ret; }")
    found, size = parameters(index.functions["k"].header.params)
    assert found == [Param("a", 0, 1, 1), Param("b", 16, 12, 16), Param("c", 32, 16, 16)]
    assert size == 48


def test_initial_values_become_bytes() -> None:
    found = layout(
        ".global .u8 a = 7;\n.global .f32 b = 0f3F800000;\n.const .f64 c[3] = {1.5, 0d4000000000000000};\n"
        ".global .s16 d[2][2] = {{1, -1}, {2}};\n.global .f32 e = 2.5;\n.global .align 8 .b8 f[4] = {1, 2, 255, 4};\n"
        ".global .u32 zero;\n.global .u64 g[] = {1, 2, 3};\n"
    )
    image = {name: found.image[g.offset : g.offset + g.size] for name, g in found.globals.items()}
    assert image == {
        "a": b"\x07",
        "b": struct.pack("<f", 1.0),
        "c": struct.pack("<3d", 1.5, 2.0, 0.0),
        "d": struct.pack("<4h", 1, -1, 2, 0),
        "e": struct.pack("<f", 2.5),
        "f": bytes([1, 2, 255, 4]),
        "zero": bytes(4),
        "g": struct.pack("<3Q", 1, 2, 3),
    }
    assert all(g.offset % g.align == 0 for g in found.globals.values())
    ends = sorted((g.offset, g.offset + g.size) for g in found.globals.values())
    assert all(a[1] <= b[0] for a, b in pairwise(ends))
    assert {g.space for g in found.globals.values()} == {"global", "const"}


def test_addresses_in_initial_values_are_left_to_the_loader() -> None:
    found = layout(
        ".global .u32 x[4];\n.global .u64 p = x;\n.global .u64 q[2] = {x+8, generic(x)+4};\n.global .u8 r[2] = {0xff(x), 0xff00(x)};\n"
    )
    at = {name: g.offset for name, g in found.globals.items()}
    assert set(found.addresses) == {
        AddressOf(at["p"], at["x"], 8, (1 << 64) - 1),
        AddressOf(at["q"], at["x"] + 8, 8, (1 << 64) - 1),
        AddressOf(at["q"] + 8, at["x"] + 4, 8, (1 << 64) - 1),
        AddressOf(at["r"], at["x"], 1, 0xFF),
        AddressOf(at["r"] + 1, at["x"], 1, 0xFF00),
    }


def test_an_extern_that_is_defined_nowhere_is_named() -> None:
    found = layout(".extern .global .u32 far;\n.extern .global .u32 near;\n.visible .global .u32 near = 3;\n")
    assert dict(found.missing) == {"far": "global"}
    assert any("`far`" in text for text in found.diagnostics)
    assert "near" in found.globals


def test_a_managed_variable_is_a_variable() -> None:
    assert layout(".global .attribute(.managed) .align 4 .b32 m;\n").globals["m"].size == 4


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (".global .b8 huge[4000000000];\n", codes.TOO_MUCH_DATA),
        (".global .align 8192 .b8 wide[4];\n", codes.BAD_VARIABLE),
        (".global .u64 p = nothing;\n", codes.BAD_VARIABLE),
        (".global .u32 x[2] = {1, 2, 3};\n", codes.BAD_VARIABLE),
        (".entry k(.param .b8 p[100000]) { ret; }\n", codes.TOO_MUCH_DATA),
    ],
)
def test_what_cannot_be_laid_out_is_refused(text: str, code: str) -> None:
    with pytest.raises(AnywarpError) as raised:
        layout(text)
    assert raised.value.diagnostic.code == code


def test_kernels_are_described_with_their_shapes_and_what_they_lack() -> None:
    found = layout(
        ".func helper() { .reg .b32 %r; frobnicate.b32 %r, %r; ret; }\n"
        ".visible .entry a(.param .u64 p, .param .u32 n) .maxntid 256, 2 .minnctapersm 1 { call.uni helper; ret; }\n"
        ".visible .entry b() .reqntid 64 { ret; }\n"
    )
    a, b = found.entries
    assert (a.name, a.param_bytes, a.maxntid, a.reqntid, a.needs) == ("a", 12, (256, 2, 1), False, ("frobnicate.b32",))
    assert (b.maxntid, b.reqntid, b.needs) == ((64, 1, 1), True, ())
