"""Crafted text ends in a diagnostic, in linear time and without deep recursion."""

import random
import time

import pytest

from anywarp.diagnostics import AnywarpError, Source
from anywarp.ptx.index import index_module
from anywarp.ptx.parser import parse_module
from anywarp.ptx.statements import parse_body

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
GOOD = (
    HEAD + '.file 1 "a.cu"\n.visible .global .align 4 .u64 t[2] = {generic(a)+8, 0xFF(b)};\n/* c */\n'
    ".visible .entry k(.param .u64 .ptr .global .align 8 p, .param .align 8 .b8 q[16])\n.maxntid 64, 1, 1\n{\n"
    "\t.reg .pred %p<2>;\n\t.loc 1 2 3, function_name $L, inlined_at 1 2 3\n\t// begin inline asm\n\t{ add.f32 %f1, 0f3F800000, -1.5e3; }\n"
    "T: .branchtargets L1, L2;\nP: .callprototype (.param .b32 _) _ (.param .b64 _);\nL1: L2:\n"
    "\t@!%p1 bra L1;\n\tld.global.v4.u32 {%r1, _, %r2, %r3}, [%rd1+-16];\n\tcall (r), f, (a, 1), P;\n"
    '\t.pragma "nounroll";\n\tsetp.lt.and.s32 %p0|%p1, %r1, WARP_SZ, !%p1;\n\tret;\n}\n.alias x, k;\n'
)


def read(text):
    """Parse everything; return the diagnostic's code, or None when the text is well-formed."""
    try:
        index_module(text).module()
    except AnywarpError as error:
        assert error.diagnostic.code.startswith("P") and error.diagnostic.message
        error.diagnostic.as_text()
        return error.diagnostic.code
    return None


def test_the_sample_is_good():
    assert read(GOOD) is None


def test_every_truncation_is_reported():
    opened, closed = GOOD.index("\n{\n") + 1, GOOD.rindex("}")
    assert {read(GOOD[:length]) for length in range(opened + 1, closed)} == {"P003"}
    header = range(GOOD.index(".visible .entry") + 1, opened)
    assert None not in {read(GOOD[:length]) for length in header}
    for length in range(opened):
        read(GOOD[:length])


def test_every_flipped_byte_is_reported_or_harmless():
    data, rng = GOOD.encode(), random.Random(1)
    for at in range(len(data)):
        for value in {0, 0xFF, data[at] ^ 0x80, rng.randrange(256), ord("{"), ord('"')}:
            read(data[:at] + bytes([value]) + data[at + 1 :])


def test_random_shuffles_of_tokens():
    rng, words = random.Random(2), GOOD.split(" ")
    for _ in range(300):
        rng.shuffle(words)
        read(HEAD + " ".join(words))
        read(HEAD + ".entry k() {" + " ".join(words[:30]) + "}")


@pytest.mark.parametrize("depth", [129, 100_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("{", "}"), ("{ ret;", "}"), ("mov.b32 a, " + "{" * 9, "}" * 9 + ";")],
    ids=["bare", "filled", "vector"],
)
def test_deep_scopes(depth, opening, closing):
    assert read(HEAD + ".entry k() {" + opening * depth + closing * depth + "}") in ("P005", "P001")


def test_depth_within_the_limit():
    assert read(HEAD + ".entry k() " + "{" * 129 + "ret;" + "}" * 129) is None
    assert read(HEAD + ".entry k() " + "{" * 130 + "ret;" + "}" * 130) == "P005"


@pytest.mark.parametrize(
    "text", ["[" * 50_000, "{" * 60 + "a", "!" * 50_000, "-" * 50_000, "a|" * 50_000, "@" * 50_000]
)
def test_deep_operands(text):
    assert read(HEAD + f".entry k() {{ mov.b32 {text};" + "}" * (1 + text.count("{"))) is not None


def test_a_body_parsed_alone_has_the_limit_too():
    text = "{" * 130 + "}" * 130
    with pytest.raises(AnywarpError) as caught:
        parse_body(Source("", text), 0, len(text))
    assert caught.value.diagnostic.code == "P005"


def test_deep_initial_values():
    assert read(HEAD + ".global .b8 x[1] = " + "{" * 100_000 + "1" + "}" * 100_000 + ";") == "P005"
    assert read(HEAD + ".global .b8 x[1] = " + "0xFF(" * 100_000) == "P005"


SIZE = 10_000_000
LONG = {
    "blanks": " " * SIZE,
    "letters": "a" * SIZE,
    "dots": ".a" * (SIZE // 2),
    "colons": "a::" * (SIZE // 3),
    "digits": "9" * SIZE,
    "zeros": "0" * SIZE,
    "open comments": "/* " * (SIZE // 3),
    "comments": "/**/" * (SIZE // 4),
    "quotes": '"' * SIZE,
    "slashes": "/" * SIZE,
    "commas": "mov.b32 a" + ",a" * (SIZE // 20) + " " * (SIZE - SIZE // 10),
    "stars": "*" * SIZE,
    "percent": "%" * SIZE,
    "guards": "@%p " * (SIZE // 4),
    "bad UTF-8": b"\xff\xfe" * (SIZE // 2),
    "dashes": "a-" * (SIZE // 2),
}


@pytest.mark.spread("place")
@pytest.mark.parametrize("place", ["module", "body"])
@pytest.mark.parametrize("name", LONG)
def test_ten_megabytes_on_one_line(name, place):
    text = LONG[name] if isinstance(LONG[name], bytes) else LONG[name].encode()
    head = HEAD.encode() if place == "module" else HEAD.encode() + b".entry k() {\n"
    started = time.process_time()
    read(head + text + (b"" if place == "module" else b"\n}\n"))
    assert time.process_time() - started < 20, "not linear in the text"


@pytest.mark.slow
def test_ten_megabytes_of_instructions_on_one_line():
    text = HEAD + ".entry k() { .reg .b32 %r<9>; " + "add.s32 %r1, %r2, %r3; " * 430_000 + "}"
    assert len(text) > 9_000_000
    started = time.process_time()
    assert len(parse_module(text).function("k").body.statements) == 430_001
    assert time.process_time() - started < 60


def test_bad_utf8_is_harmless_in_comments_and_strings():
    index = index_module(HEAD.encode() + b'.file 1 "\xff.cu" // \xfe\n.entry k() { ret; /* \x80 */ }')
    assert index.function("k").body is not None
    assert read(HEAD.encode() + b".entry k() { ret\xff; }") == "P002"
