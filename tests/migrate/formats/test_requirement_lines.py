"""Files of requirements: any that a grammar makes is read as `packaging` reads its requirements, and nothing of a text is lost or moved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from anywarp.migrate.formats import requirements
from anywarp.migrate.formats.requirements import Line, lines


@dataclass(frozen=True)
class Made:
    """A line as it was made: its text, the requirement in it as PEP 508 has it, and its options by their long names."""

    text: str
    request: str = ""
    options: tuple[tuple[str, str], ...] = ()


NAMES = st.sampled_from(["torch", "cupy-cuda12x", "a.b_c", "x"])
SPECIFIERS = st.sampled_from(["", "==2.1.0+cu121", ">= 1 , < 3", "~=2.0", "!=1.*"])
EXTRAS = st.sampled_from(["", "[cuda12]", "[a,b]"])
MARKERS = st.sampled_from(["", " ; sys_platform == 'linux'", ' ;python_version >= "3.10" and extra == "x"'])
ADDRESSES = ["https://example.org/whl/cu121", "file:///a#b", "${INDEX}/simple"]
BREAKS = st.sampled_from([" ", "   ", " \\\n", " \\\n    ", "\t\\\n\t"])
OPTIONS = {
    "--index-url": ["--index-url ", "--index-url=", "-i "],
    "--requirement": ["-r ", "-r", "--requirement "],
    "--find-links": ["-f ", "--find-links="],
}


@st.composite
def requested(draw: st.DrawFn) -> Made:
    url = draw(st.sampled_from(["", "", "", " @ https://example.org/a-1-py3-none-any.whl"]))
    request = draw(NAMES) + draw(EXTRAS) + (url or draw(SPECIFIERS)) + draw(MARKERS)
    hashes = draw(st.lists(st.sampled_from(["sha256:ab", "sha256:cd"]), max_size=2))
    text = request + "".join(f"{draw(BREAKS)}--hash={one}" for one in hashes)
    if draw(st.booleans()) and not hashes:
        text += draw(st.sampled_from(["  # a note, --hash=no", "\t#-r x"]))
    return Made(draw(st.sampled_from(["", "  "])) + text + "\n", request, tuple(("--hash", one) for one in hashes))


@st.composite
def optional(draw: st.DrawFn) -> Made:
    names = draw(st.lists(st.sampled_from(sorted(OPTIONS)), min_size=1, max_size=3))
    options = tuple((name, draw(st.sampled_from(ADDRESSES))) for name in names)
    return Made(
        draw(BREAKS).join(draw(st.sampled_from(OPTIONS[name])) + value for name, value in options) + "\n", "", options
    )


MADE = st.one_of(
    requested(),
    optional(),
    st.sampled_from([Made("\n"), Made("# torch \\\n"), Made("   # -i x\n"), Made("--pre\n", "", (("--pre", ""),))]),
)


def tiled(text: str) -> list[Line]:
    """Return the lines of a text, which together are the text, each as long as what is written."""
    found, place = list(lines(text)), 0
    for one in found:
        assert one.start == place < one.end and len(one.text) == one.end - one.start
        place = one.end
        for option in one.options:
            assert one.start <= option.written <= option.start <= option.end <= one.end
    assert place == len(text)
    return found


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(MADE, max_size=5), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
def test_what_a_grammar_makes_is_read(made: list[Made], ending: str, mark: bool) -> None:
    text = ("\xef\xbb\xbf" if mark else "") + "".join(one.text for one in made).replace("\n", ending)
    found = tiled(text)[mark:]
    assert len(found) == len(made)
    for read, one in zip(found, made, strict=True):
        assert bool(read.request) == bool(one.request)
        if one.request:
            assert str(Requirement(read.request)) == str(Requirement(one.request))
            assert text[slice(*read.span)] == read.request or "\\" in text[slice(*read.span)]
        assert tuple((option.name, option.value) for option in read.options) == one.options
        assert [text[option.start : option.end] for option in read.options] == [value for _, value in one.options]
        assert read.hashed == any(name == "--hash" for name, _ in one.options)


@given(
    st.lists(
        st.sampled_from(
            ["torch", " ", "\\\n", "\\", "\n", "\r\n", "#", " #x", "--hash=", "-i", "'", '"', "=", "é", "\0", "[", ";"]
        ),
        max_size=30,
    ).map("".join)
    | st.text()
)
def test_any_text_is_its_lines(text: str) -> None:
    for one in tiled(text):
        assert "\n" not in one.request


@pytest.mark.parametrize("piece", ["torch \\\n", "-i '", "--hash=a ", "# \\\n", "a #b "])
def test_long_texts_end_soon(piece: str) -> None:
    tiled(piece * 40_000)


def requests(text: str) -> list[str]:
    return [one.request for one in lines(text) if one.request]


def test_a_comment_does_not_go_on_and_ends_what_does() -> None:
    assert requests("# torch \\\ncupy\n") == ["cupy"]
    assert requests("torch \\\n# note\ncupy\n") == ["torch", "cupy"]
    assert requests("torch # note \\\ncupy\n") == ["torch"], "comments are taken off when lines are joined"


def test_a_backslash_goes_on_at_the_very_end_of_a_line_alone() -> None:
    assert requests("torch \\\n  ==2.0\n") == ["torch     ==2.0"]
    assert len(requests("torch \\ \nnumpy\n")) == 2


def test_an_option_may_be_short_joined_or_one_of_several() -> None:
    (line,) = lines("-rbase.txt -ihttps://a --extra-index-url=https://b --no-index --pre -c 'c d'\n")
    assert [(one.name, one.value) for one in line.options] == [
        ("--requirement", "base.txt"),
        ("--index-url", "https://a"),
        ("--extra-index-url", "https://b"),
        ("--no-index", ""),
        ("--pre", ""),
        ("--constraint", "c d"),
    ]


def test_which_file_is_one_is_told_by_its_name_or_its_lines() -> None:
    for name in ("requirements.txt", "requirements-dev.in", "x_constraints.txt", "reqs.txt", "requirements/base.txt"):
        assert requirements.named(PurePath(name), b""), name
    for name in ("notes.txt", "requirements.md", "prerequisites.rst"):
        assert not requirements.named(PurePath(name), b"words\n"), name
