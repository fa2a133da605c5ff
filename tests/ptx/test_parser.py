"""The syntax around instructions: what each construct becomes in the tree, written out by hand from the manual."""

import pytest

from anywarp.ptx.parser import parse_module
from anywarp.ptx.printer import print_module
from anywarp.ptx.tree import (
    Address,
    Alias,
    CallPrototype,
    Directive,
    File,
    Function,
    GenericAddress,
    Group,
    Guard,
    InitialList,
    Instruction,
    Integer,
    Label,
    Location,
    Masked,
    Name,
    Negated,
    Offset,
    Pair,
    Pragma,
    Registers,
    Scope,
    Section,
    Sink,
    Targets,
    Variable,
    Vector,
)

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def items(text):
    module = parse_module(HEAD + text)
    assert parse_module(print_module(module)) == module
    return module.items


def body(text):
    (function,) = items(f".entry k() {{\n{text}\n}}\n")
    return function.body.statements


def operands(text):
    (instruction,) = body(text)
    assert isinstance(instruction, Instruction)
    return instruction.operands


def test_header():
    module = parse_module(
        "// made by hand\n.version 7.8 /* old */ .target sm_90a, texmode_independent\n.address_size 32"
    )
    assert (module.version, module.target, module.address_size) == ((7, 8), ("sm_90a", "texmode_independent"), 32)


def test_address_size_is_32_when_not_said():
    assert parse_module(".version 1.4 .target sm_10").address_size == 32


def test_zeros_at_the_end_are_ignored():
    assert parse_module(HEAD + "\0\0\0").items == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".global .u32 a;", Variable("global", "u32", "a")),
        (".visible .global .align 8 .b8 x[16];", Variable("global", "b8", "x", (16,), align=8, linkage="visible")),
        (".extern .shared .align 16 .b8 s[];", Variable("shared", "b8", "s", (None,), align=16, linkage="extern")),
        (".weak .const .f64 c[2][3];", Variable("const", "f64", "c", (2, 3), linkage="weak")),
        (".common .global .s16 x;", Variable("global", "s16", "x", linkage="common")),
        (".global .attribute(.managed) .u32 x;", Variable("global", "u32", "x", attributes=("managed",))),
        (".global .attribute(.unified(0x10, 2)) .u32 x;", Variable("global", "u32", "x", attributes=("unified(16, 2)",))),
        (".global .v4 .f32 .align 16 v;", Variable("global", "f32", "v", vector=4, align=16)),
        (".global .u32 a = 7;", Variable("global", "u32", "a", initial=Integer(7))),
        (
            ".global .u32 a[2][2] = {{1, 2}, {3U, -4}};",
            Variable(
                "global", "u32", "a", (2, 2),
                initial=InitialList(
                    (InitialList((Integer(1), Integer(2))), InitialList((Integer(3, True), Integer(-4))))
                ),
            ),
        ),
        (".global .u64 p = f;", Variable("global", "u64", "p", initial=Name("f"))),
        (".global .u64 p = f + 8 - 2;", Variable("global", "u64", "p", initial=Offset(Name("f"), 6))),
        (".global .u64 p = generic(f)+8;", Variable("global", "u64", "p", initial=GenericAddress("f", 8))),
        (
            ".global .u8 p[2] = {0xff(f), 0xFF00(generic(f)+4)};",
            Variable(
                "global", "u8", "p", (2,),
                initial=InitialList((Masked(0xFF, Name("f")), Masked(0xFF00, GenericAddress("f", 4)))),
            ),
        ),
        (".global .u32 x[WARP_SZ * 2];", Variable("global", "u32", "x", (64,))),
        (".global .texref t;", Variable("global", "texref", "t")),
        (".alias g, f;", Alias("g", "f")),
        ('.file 1 "a b.cu", 12, 34', File(1, "a b.cu", (12, 34))),
        ('.file\t1 "/*\\x"', File(1, "/*\\x")),
        ('.pragma "nounroll", "b";', Pragma(("nounroll", "b"))),
        (".section .debug_str { L: .b8 1,2 // }\n}", Section(".debug_str", " L: .b8 1,2 // }\n")),
        (".loc 1 2 3", Location(1, 2, 3)),
        ('.unheard "x";', Directive("unheard", ("x",))),
    ],
)  # fmt: skip
def test_item(text, expected):
    assert items(text) == (expected,)


def test_several_names_in_one_declaration():
    assert items(".global .align 4 .b8 a[4], b = 1;") == (
        Variable("global", "b8", "a", (4,), align=4),
        Variable("global", "b8", "b", align=4, initial=Integer(1)),
    )


def test_tables_of_numbers():
    numbers = [0, 7, 255, 8, 7, 9223372036854775807]
    for text in (" 0, 7 ,255,\n010, 7, 9223372036854775807", "0,7,0xFF,8,7, 9223372036854775807"):
        (table,) = items(f".global .u64 t[6] = {{{text}}};")
        assert table.initial == InitialList(tuple(map(Integer, numbers)))
    (empty,) = items(".global .u64 t[6] = { };")
    assert empty.initial == InitialList(())


def test_entry_with_every_parameter_kind_and_directive():
    (f,) = items(
        """.visible .entry k(
        .param .u64 a, .param .align 8 .b8 c[16], .param .u64 .ptr b, .param .u64 .ptr .global .align 8 g,
        .param .u64 .ptr .align 4 h, .param .v4 .f32 v, .param .texref t, .param .align 4 .u32 d[2][3]
        ) .maxntid 32, 4, 1 .reqntid 16 .minnctapersm 2 .maxnreg 64 .maxclusterrank 8 .explicitcluster
        .reqnctapercluster 1, 2 .blocksareclusters .noreturn .pragma "nounroll"; { }"""
    )
    assert (f.kind, f.linkage, f.name, f.body) == ("entry", "visible", "k", Scope(()))
    assert f.params == (
        Variable("param", "u64", "a"),
        Variable("param", "b8", "c", (16,), align=8),
        Variable("param", "u64", "b", pointer=("", 0)),
        Variable("param", "u64", "g", pointer=("global", 8)),
        Variable("param", "u64", "h", pointer=("", 4)),
        Variable("param", "f32", "v", vector=4),
        Variable("param", "texref", "t"),
        Variable("param", "u32", "d", (2, 3), align=4),
    )
    assert f.directives == (
        Directive("maxntid", (32, 4, 1)), Directive("reqntid", (16,)), Directive("minnctapersm", (2,)),
        Directive("maxnreg", (64,)), Directive("maxclusterrank", (8,)), Directive("explicitcluster"),
        Directive("reqnctapercluster", (1, 2)), Directive("blocksareclusters"), Directive("noreturn"),
        Directive("pragma", ("nounroll",)),
    )  # fmt: skip


def test_functions_and_declarations():
    first, second, third, fourth = items(
        """.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
        .weak .func (.reg .u32 r) .attribute(.unified(1, 2)) f (.reg .u32 x) .abi_preserve 16 { ret; }
        .func .attribute(.unified(1, 2)) g;
        .func h (.param .b64 _, .param .align 8 .b8 _[8]) .noreturn;""".replace(" .attribute(.unified(1, 2)) f", " f")
    )
    assert first == Function(
        "func", "vprintf", (Variable("param", "b64", "a"), Variable("param", "b64", "b")),
        (Variable("param", "b32", "r"),), linkage="extern",
    )  # fmt: skip
    assert second.returns == (Variable("reg", "u32", "r"),) and second.directives == (Directive("abi_preserve", (16,)),)
    assert third == Function("func", "g", (), attributes=("unified(1, 2)",))
    assert fourth.params == (Variable("param", "b64", "_"), Variable("param", "b8", "_", (8,), align=8))


def test_registers_and_local_declarations():
    assert body(".reg .pred %p<3>, q; .reg .v2 .b32 v; .shared .align 4 .b8 s[16]; .local .u32 l; .param .b64 p0;") == (
        Registers("pred", (("%p", 3), ("q", None))),
        Registers("b32", (("v", None),), 2),
        Variable("shared", "b8", "s", (16,), align=4),
        Variable("local", "u32", "l"),
        Variable("param", "b64", "p0"),
    )


def test_labels_scopes_and_empty_statements():
    assert body("a: b: { .reg .u32 r; { ret; } }; $L_1:\nret;") == (
        Label("a"),
        Label("b"),
        Scope((Registers("u32", (("r", None),)), Scope((Instruction("ret", (), ()),)))),
        Label("$L_1"),
        Instruction("ret", (), ()),
    )


def test_guards():
    one, two, three = body("@p ret; @!%p1 bra.uni L; @ ! q\n exit;")
    assert one.guard == Guard(Name("p"))
    assert two == Instruction("bra", ("uni",), (Name("L"),), Guard(Name("%p1"), True))
    assert three == Instruction("exit", (), (), Guard(Name("q"), True))


def test_calls():
    plain, full, uni, indirect = body(
        """call f; call (r, _), f, (a, 1, 0f3F800000); call.uni (retval0), \n vprintf, \n ( \n param0, \n param1 \n );
        call (r), %rd1, (a), proto;"""
    )
    assert plain.operands == (Name("f"),)
    assert full.operands[0] == Group((Name("r"), Sink())) and full.operands[1] == Name("f")
    assert uni.operands == (Group((Name("retval0"),)), Name("vprintf"), Group((Name("param0"), Name("param1"))))
    assert indirect.operands[1:] == (Name("%rd1"), Group((Name("a"),)), Name("proto"))
    assert body("call (), f, ();")[0].operands == (Group(()), Name("f"), Group(()))


def test_jump_tables_and_prototypes():
    assert body("t: .branchtargets a, b; a: brx.idx %r1, t; b: c: .calltargets f; p: .callprototype (.param .b32 _) _ "
                "(.param .b64 _) .noreturn; q: .callprototype _ ();") == (
        Targets("branchtargets", "t", ("a", "b")), Label("a"), Instruction("brx", ("idx",), (Name("%r1"), Name("t"))),
        Label("b"), Targets("calltargets", "c", ("f",)),
        CallPrototype("p", (Variable("param", "b32", "_"),), (Variable("param", "b64", "_"),), (Directive("noreturn"),)),
        CallPrototype("q", (), ()),
    )  # fmt: skip


def test_debug_locations_and_pragmas():
    assert body('.loc 1 26 7\n.loc 1 2 3, function_name $L__info+4, inlined_at 1 26 7\n.pragma "nounroll";\nret;')[
        :3
    ] == (
        Location(1, 26, 7),
        Location(1, 2, 3, "function_name $L__info + 4, inlined_at 1 26 7"),
        Pragma(("nounroll",)),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov.u32 %r1, %tid.x;", (Name("%r1"), Name("%tid", "x"))),
        ("mov.u64 a, local0[0];", (Name("a"), Offset(Name("local0"), 0, indexed=True))),
        ("mov.u64 a, local0[2];", (Name("a"), Offset(Name("local0"), 2, indexed=True))),
        ("mov.u64 a, v+8;", (Name("a"), Offset(Name("v"), 8))),
        ("mov.u32 a, WARP_SZ;", (Name("a"), Name("WARP_SZ"))),
        ("mov.u32 a, WARP_SZ - 1;", (Name("a"), Integer(31))),
        ("mov.b16 h, 0x3C00;", (Name("h"), Integer(0x3C00))),
        ("mov.b32 a, 1|2;", (Name("a"), Integer(3, True))),
        ("mov.b32 a, 5 % 3;", (Name("a"), Integer(2))),
        ("mov.b32 a, 4U;", (Name("a"), Integer(4, True))),
        ("mov.b32 {a, _}, r;", (Vector((Name("a"), Sink())), Name("r"))),
        ("ld.u32 r, [a+-8];", (Name("r"), Address(Name("a"), -8))),
        ("ld.u32 r, [%rd1+0];", (Name("r"), Address(Name("%rd1"), 0))),
        ("ld.u32 r, [a - 4 + 2*3];", (Name("r"), Address(Name("a"), 2))),
        ("ld.u32 r, [64];", (Name("r"), Address(Integer(64)))),
        ("tex.v r, [t, {x, y}];", (Name("r"), Address(Name("t"), 0, (Vector((Name("x"), Name("y"))),)))),
        (
            "tex.v r|p, [t, s, {x}];",
            (Pair(Name("r"), Name("p")), Address(Name("t"), 0, (Name("s"), Vector((Name("x"),))))),
        ),
        ("foo r, [a, b];", (Name("r"), Address(Name("a"), 0, (Name("b"),)))),
        ("setp.lt.and.s32 p|_, a, b, !q;", (Pair(Name("p"), Sink()), Name("a"), Name("b"), Negated(Name("q")))),
        ("vadd r, a.b0, b.h1;", (Name("r"), Name("a", "b0"), Name("b", "h1"))),
        ("add /* one */ r, // two\n a, /* ; */ b;", (Name("r"), Name("a"), Name("b"))),
    ],
)
def test_operands(text, expected):
    assert operands(text) == expected


def test_blanks_between_modifiers_are_allowed():
    assert body("add .s32\n.x r;") == (Instruction("add", ("s32", "x"), (Name("r"),)),)


def test_spans_point_at_the_statement():
    module = parse_module(HEAD + ".entry k() {\n  @p add.s32 a, b;\n  st.v2.u32 [a], {b, c} ;\n}")
    text = HEAD + ".entry k() {\n  @p add.s32 a, b;\n  st.v2.u32 [a], {b, c} ;\n}"
    spans = [s.span for s in module.function("k").body.statements]
    assert [text[s.start : s.end] for s in spans] == ["@p add.s32 a, b;", "st.v2.u32 [a], {b, c} ;"]
