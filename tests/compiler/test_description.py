"""Module descriptions: each line that the driver library reads, from PTX written for it."""

from urllib.parse import unquote

import pytest

from anywarp.compiler.artifact import unpack_container
from anywarp.compiler.description import pack_module
from anywarp.compiler.layout import AddressOf, Entry, Global, ModuleLayout, Param
from anywarp.compiler.pipeline import describe_module
from anywarp.ptx.index import index_module


def lines_of(layout: ModuleLayout) -> tuple[list[list[str]], bytes]:
    header, payload = unpack_container(pack_module(layout))
    return [[unquote(word) for word in line.split(" ")] for line in header.splitlines()], payload


def test_every_part_of_a_layout_has_its_line():
    layout = ModuleLayout(
        ptx=(8, 2),
        target=("sm_80", "debug"),
        image=b"\x01\x02\x03\x04" + bytes(12),
        align=8,
        globals={"a b": Global("a b", "const", 0, 4, 4), "g": Global("g", "global", 8, 8, 8)},
        addresses=(AddressOf(8, 0, 8, (1 << 64) - 1),),
        entries=(
            Entry("k%1", (Param("p", 0, 8, 8), Param("q", 8, 4, 4)), 12, (16, 8, 1), True, ("tex.2d.v4.f32.s32",), 345),
            Entry("plain", (), 0),
        ),
        diagnostics=("one line\nand another",),
    )
    lines, payload = lines_of(layout)
    assert lines == [
        ["kind", "module"],
        ["ptx", "8.2", "sm_80"],
        ["data", "16", "8"],
        ["entry", "k%1", "12", "16", "8", "1", "1"],
        ["text", "k%1", "345"],
        ["param", "k%1", "0", "8", "8"],
        ["param", "k%1", "8", "4", "4"],
        ["needs", "k%1", "tex.2d.v4.f32.s32"],
        ["entry", "plain", "0", "0", "0", "0", "0"],
        ["global", "a b", "const", "0", "4", "4"],
        ["global", "g", "global", "8", "8", "8"],
        ["address", "8", "0", "data", "8", "18446744073709551615"],
        ["diagnostic", "one line\nand another"],
    ]
    assert payload == layout.image


def test_names_that_would_break_a_line_stay_one_word():
    layout = ModuleLayout((7, 8), ("sm_80",), b"", 1, {}, entries=(Entry("a\nkind kernel", (), 0),))
    header, _ = unpack_container(pack_module(layout))
    assert header.splitlines()[3] == "entry a%0Akind%20kernel 0 0 0 0 0"


@pytest.mark.parametrize(
    ("form", "tiled"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", True),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", True),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", False),
        ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", False),
        ("cvt.rn.bf16.f32", False),
    ],
)
def test_kernels_whose_products_may_go_through_tiles_are_named(form, tiled):
    """In their own body or in a function that they call."""
    text = f""".version 8.0
.target sm_80
.address_size 64
.func inner() {{ {form} a; ret; }}
.visible .entry own() {{ {form} a; ret; }}
.visible .entry calling() {{ call inner; ret; }}
.visible .entry other() {{ ret; }}
"""
    header, _ = unpack_container(pack_module(describe_module(index_module(text))))
    found = [line for line in header.splitlines() if line.startswith("tiles")]
    assert found == (["tiles own", "tiles calling"] if tiled else [])
