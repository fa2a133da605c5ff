"""The index finds every declaration and body, and only those, without reading bodies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anywarp.diagnostics import AnywarpError, Source
from anywarp.ptx.bodies import body_ranges
from anywarp.ptx.index import index_module
from anywarp.ptx.tree import Instruction, Variable

HEAD = ".version 8.0\n.target sm_80, debug\n.address_size 64\n"
MODULE = HEAD + (
    '.file 1 "brace}.cu"\n'
    '// a comment with } and " and /*\n'
    ".visible .global .u32 table[2] = {1, 2};\n"
    ".func helper(.param .u64 a);\n"
    ".visible .entry one(.param .u64 a) .maxntid 64\n{\n\t.reg .b32 %r<3>; // {\n\t/* } */ { mov.u32 %r1, 1; }\n\t"
    'ld.global.v2.u32 {%r1, %r2}, [%rd1];\n\t.pragma "x{y";\n\tcall helper, (%r1);\nL_one:\n\t@!%p1 bra L_one;\n\tret;\n}\n'
    ".func helper(.param .u64 a) { st.global.u32 [a], 1; call other; ret; }\n"
    ".section .debug_str { .b8 123 }\n"
    ".entry two() { ret; }.extern .func other;"
)


def test_header_and_items():
    index = index_module(MODULE, "m.ptx")
    assert (index.version, index.target, index.address_size) == ((8, 0), ("sm_80", "debug"), 64)
    assert [type(i).__name__ for i in index.items] == [
        "File", "Variable", "Function", "Function", "Function", "Section", "Function", "Function",
    ]  # fmt: skip
    assert index.entries == ("one", "two")
    assert index.functions["one"].header.params == (Variable("param", "u64", "a"),)
    assert index.functions["one"].header.directives[0].arguments == (64,)
    assert index.functions["other"].body is None


def test_ranges_hold_the_bodies():
    index = index_module(MODULE)
    start, end = index.functions["one"].body
    assert MODULE[start] == "{" and MODULE[end - 1] == "}" and MODULE[end:].startswith("\n.func helper")
    assert MODULE[slice(*index.functions["two"].body)] == "{ ret; }"


def test_bytes_and_text_give_the_same():
    assert index_module(MODULE.encode() + b"\0\0").items == index_module(MODULE).items


def test_a_definition_replaces_its_declaration():
    index = index_module(MODULE)
    assert index.functions["helper"].body is not None
    assert [f.body is None for f in index.module().items if getattr(f, "name", "") == "helper"] == [True, False]


def test_functions_are_parsed_on_demand():
    index = index_module(HEAD + ".entry good() { ret; }\n.entry bad() { this is not PTX }\n")
    assert index.function("good").body.statements == (Instruction("ret", (), ()),)
    with pytest.raises(AnywarpError):
        index.function("bad")
    with pytest.raises(AnywarpError) as caught:
        index.function("missing")
    assert caught.value.diagnostic.code == "P010"


def test_opcodes_are_counted_without_parsing():
    assert index_module(MODULE).opcodes("one") == {
        "mov.u32": 1, "ld.global.v2.u32": 1, "call": 1, "bra": 1, "ret": 1,
    }  # fmt: skip
    assert index_module(MODULE).opcodes("other") == {}


def test_opcodes_with_bare_names():
    body = "{ a: b: add.u32 ra,rb,rc; mov.b32 {lo, hi}, rr;{ret;} @p exit; cp.async.bulk.shared::cluster.global.x::y [a], b; bar; }"
    assert index_module(HEAD + ".entry k()" + body).opcodes("k") == {
        "add.u32": 1, "mov.b32": 1, "ret": 1, "exit": 1, "cp.async.bulk.shared::cluster.global.x::y": 1, "bar": 1,
    }  # fmt: skip


def test_mentions_follow_calls_and_addresses():
    index = index_module(MODULE)
    assert set(index.mentions("one")) == {"helper"}
    assert set(index.mentions("helper")) == {"other"}
    assert index.mentions("two") == ()


def test_mentions_follow_aliases():
    index = index_module(HEAD + ".func f() { ret; }\n.alias g, f;\n.entry k() { call g; }")
    assert index.mentions("k") == ("f",)


def slow_ranges(text):
    """Match braces letter by letter: the meaning of `body_ranges` without its speed."""
    found, opened, depth, at = {}, 0, 0, 0
    while at < len(text):
        if text.startswith("//", at):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            at = len(text) if end < 0 else end + 2
        elif text[at] == '"':
            at += 1
            while at < len(text) and text[at] not in '"\n':
                at += 1
            at += at < len(text) and text[at] == '"'
        else:
            if text[at] == "{":
                depth += 1
                opened = at if depth == 1 else opened
            elif text[at] == "}":
                depth -= 1
                if depth < 0:
                    return None
                if depth == 0:
                    found[opened] = at + 1
            at += 1
    return None if depth else found


@pytest.mark.parametrize(
    "text", ["/* {\n{ */ {}", "{ /*\n}*/ }\n", '{"/*"}\n{}', "// /* {\n{}", "/*/ { */{}", '"{\n{}', "{}/*"]
)
def test_block_comments_and_strings_across_lines(text):
    assert body_ranges(Source("", text)) == slow_ranges(text) != {}


def test_the_limit_of_nesting():
    assert body_ranges(Source("", "{" * 129 + "}" * 129)) == {0: 258}
    with pytest.raises(AnywarpError) as caught:
        body_ranges(Source("", "{" * 130 + "}" * 130))
    assert caught.value.diagnostic.code == "P005"


@given(
    st.lists(st.sampled_from(["{", "}", "{}", '"', "/", "*", "\n", "a", "//", "/*", "*/", " ", "é"]), max_size=40).map(
        "".join
    )
)
def test_braces_match_as_a_slow_reader_matches_them(text):
    expected = slow_ranges(text)
    if expected is None:
        with pytest.raises(AnywarpError):
            body_ranges(Source("", text))
    else:
        assert body_ranges(Source("", text)) == expected
