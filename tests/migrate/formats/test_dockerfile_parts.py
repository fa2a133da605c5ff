"""Dockerfiles: what is read of any that a grammar makes, and that nothing of a text is lost or moved."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anywarp.migrate.formats.dockerfile import Instruction, instructions, parts
from anywarp.migrate.formats.dockerfile_scope import Scope


@dataclass(frozen=True)
class Made:
    """An instruction as it was made: its text, its name and words, and the lines of its here-document."""

    text: str
    name: str
    words: tuple[str, ...]
    lines: str = ""


TOKENS = st.sampled_from(["apt-get", "a", "/x/y", "b=c", "1.2:3", "@z", "a.b_c", "&&"])
GAPS = st.sampled_from(
    ["{}", "  ", "\t", " ~\n  ", "~\n ", " ~ \t\n  ", " ~\n# note ~\n  ", " ~\n\n  ~\n ", "  ~\n   # it's \"\n  "]
).map(lambda gap: " " if gap == "{}" else gap)


@st.composite
def made(draw: st.DrawFn) -> Made:
    name = draw(st.sampled_from("RUN COPY ADD WORKDIR USER EXPOSE VOLUME STOPSIGNAL".split()))
    words = tuple(draw(st.lists(TOKENS, min_size=1, max_size=4)))
    text = draw(st.sampled_from([name, name.lower(), "  " + name.capitalize()]))
    for word in words:
        text += draw(GAPS) + word
    if name not in ("RUN", "COPY", "ADD") or not draw(st.booleans()):
        return Made(text + "\n", name, words)
    mark = draw(st.sampled_from(["EOF", "E-1", "end.of"]))
    dash, quote = draw(st.sampled_from(["", "-"])), draw(st.sampled_from(["", "'", '"']))
    inside = draw(st.lists(st.sampled_from(["RUN x", "# no comment", "", f" {mark}", f"{mark} ", "a ~"]), max_size=4))
    lines = "".join(line + "\n" for line in inside)
    tabs = draw(st.sampled_from(["", "\t\t"])) if dash else ""
    operator = f"<<{dash}{quote}{mark}{quote}"
    return Made(
        f"{text}{draw(GAPS)}{operator}\n{lines}{tabs}{mark}\n",
        name,
        (*words, operator.replace("'", "").replace('"', "")),
        lines,
    )


BETWEEN = st.sampled_from(["", "\n", "# RUN x ~\n", "  # y\n", " \t\n"])


def tiled(text: str) -> list[Instruction]:
    """Return the instructions of a text, whose parts are the text and whose arguments are as long as what is written."""
    place = 0
    for part in parts(text):
        assert part.start == place < part.end
        place = part.end
        if isinstance(part, Instruction):
            written = text[part.at : part.at + len(part.arguments)]
            assert len(written) == len(part.arguments) and part.at + len(part.arguments) <= part.end
            assert text[part.at + len(part.arguments) : part.end].strip("\r\n") == ""
            for one in part.heredocs:
                assert written[slice(*one.operator)].lstrip("0123456789").startswith("<<")
    assert place == len(text)
    return list(instructions(text))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(BETWEEN, made()), max_size=4),
    st.sampled_from(["\\", "`"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_what_a_grammar_makes_is_read(made: list[tuple[str, Made]], escape: str, ending: str, mark: bool) -> None:
    text = "# syntax=docker/dockerfile:1\n" + ("# escape=`\n" if escape == "`" else "")
    text += "".join(between + one.text for between, one in made)
    text = ("\xef\xbb\xbf" if mark else "") + text.replace("~", escape).replace("\n", ending)
    found = tiled(text)
    assert [one.name for one in found] == [one.name for _, one in made]
    for read, (_, one) in zip(found, made, strict=True):
        assert tuple(word.text for word in read.words) == one.words
        assert [
            text[read.at + word.start : read.at + word.end].strip("'\"") for word in read.words if word.text[0] != "<"
        ] == [word for word in one.words if word[0] != "<"]
        assert len(read.heredocs) == one.words[-1].startswith("<<")
        for here in read.heredocs:
            assert text[read.at + here.lines[0] : read.at + here.lines[1]] == one.lines.replace("~", escape).replace(
                "\n", ending
            )


WORDS = ["RUN ", "FROM", "ONBUILD RUN ", "HEALTHCHECK CMD ", "\\\n", "\\", "`", "\n", "\r\n", "<<A", "<<-'B C'", "A", "\tA", "#", "# escape=`\n", '["a", "b"]', '"', "'", " x=y", "--from=z ", "é", "\0"]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=30).map("".join) | st.text(max_size=200))
def test_any_text_is_its_parts(text: str) -> None:
    for one in tiled(text):
        _ = one.options, one.array, one.words, one.pairs, one.inner
        assert one.script is None or len(one.script) == len(one.arguments)


@pytest.mark.parametrize(
    "piece", ["RUN <<A\n", "RUN a \\\n", "RUN <<A <<B <<C\n", 'ENV A="', "RUN '", "${A:-", "# escape=`\n", "\n# \\\n"]
)
def test_long_texts_end_soon(piece: str) -> None:
    """What grew with the square of the length would take minutes here."""
    text = "FROM x\n" + piece * 40_000
    for one in tiled(text):
        _ = one.options, one.words, one.pairs, one.script
        Scope().expand(one.arguments)


def only(text: str) -> Instruction:
    (one,) = instructions(text)
    return one


def test_options_stand_before_the_arguments_also_over_lines() -> None:
    one = only('COPY --chown="a b" \\\n  --from=img --link /x /y\n')
    assert [(option.name, option.value) for option in one.options] == [("chown", "a b"), ("from", "img"), ("link", "")]
    assert [word.text for word in one.words] == ["/x", "/y"]
    assert [word.text for word in only("COPY -- --x /y").words] == ["--x", "/y"]


def test_the_form_of_json_is_strings_alone() -> None:
    one = only('RUN ["sh", "-c", "a \\"b\\""]')
    assert [(word.text, one.arguments[word.start : word.end]) for word in one.words] == [
        ("sh", "sh"),
        ("-c", "-c"),
        ('a "b"', 'a \\"b\\"'),
    ]
    assert one.script is None
    assert (
        only("RUN ['sh']").array is None
        and only('RUN ["sh", 1]').array is None
        and only("RUN [ -f x ]").script == "[ -f x ]"
    )


def test_env_has_two_forms() -> None:
    pairs = [(pair.name, pair.value) for pair in only('ENV A="x y" B=c\\\n  C=').pairs]
    assert pairs == [("A", "x y"), ("B", "c"), ("C", "")]
    assert [(pair.name, pair.value) for pair in only("ENV FLAGS -arch=sm_80 b=c ").pairs] == [
        ("FLAGS", "-arch=sm_80 b=c")
    ]
    assert [(pair.name, pair.value) for pair in only("ARG A B=1").pairs] == [("A", None), ("B", "1")]


def test_two_escape_characters_at_the_end_of_a_line_are_one_that_is_meant() -> None:
    assert [one.name for one in instructions("ENV A x\\\\\nENV B y\n")] == ["ENV", "ENV"]


def test_directives_stand_first_and_nothing_else_is_one() -> None:
    assert [part.kind for part in parts("# syntax=x\n#ESCAPE = `\nRUN a `\n b\n")] == [
        "directive",
        "directive",
        "instruction",
    ]
    for before in ("\n", "# a comment\n", "# unknown=x\n", "FROM x\n"):
        assert [one.arguments for one in instructions(before + "# escape=`\nRUN a `\n")][-1] == "a `"


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("RUN <<E\na\nE\n", "a"),
        ("RUN <<E\n#!/usr/bin/env python3\na\nE\n", ""),
        ("RUN <<E\n#!/bin/bash\na\nE\n", "#!/bin/bash\na"),
        ("RUN bash -euo pipefail <<E\na\nE\n", "a"),
        ("RUN bash -c b <<E\na\nE\n", "bash -c b <<E\na\nE"),
        ("RUN <<E python3\na\nE\n", "<<E python3\na\nE"),
        ("RUN python3 <<E\na\nE\n", "python3 <<E\na\nE"),
        ("RUN <<-E\n\ta\n E\n\tE\n", "a\n E"),
        ('RUN echo "<<E"\nE\n', 'echo "<<E"'),
    ],
)  # fmt: skip
def test_what_of_an_instruction_a_shell_runs(text: str, script: str) -> None:
    one = next(instructions(text))
    assert one.script is not None and one.script.strip() == script and len(one.script) == len(one.arguments)


def test_who_reads_which_argument() -> None:
    scope = Scope()
    scope.argument("A", "1")
    assert scope.expand("${A}-${B:-${A}x}${A:+y}${B:+z}\\$A$C", base=True) == "1-1xy\\$A$C"
    scope.stage("x", "Base")
    assert scope.expand("$A") == "$A", "a stage does not read it unless it says so"
    scope.argument("A", None)
    scope.argument("D", "2")
    scope.variable("A", "env")
    assert scope.expand("$A$D") == "env2"
    assert scope.expand("$A$D", base=True) == "1$D"
    scope.stage("base", "")
    assert scope.expand("$A$D") == "env$D" and scope.is_stage("BASE"), (
        "variables go on to who builds on a stage, arguments do not"
    )
