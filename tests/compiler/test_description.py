"""Module descriptions: each line that the driver library reads, from PTX written for it."""

from urllib.parse import unquote

from anywarp.compiler.artifact import unpack_container
from anywarp.compiler.description import pack_module
from anywarp.compiler.layout import AddressOf, Entry, Global, ModuleLayout, Param


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
