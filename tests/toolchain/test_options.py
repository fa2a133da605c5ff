"""nvcc's command line, in all the spellings its manual allows."""

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import compile_commands
from anywarp.toolchain.options import parse


def refused(*words):
    with pytest.raises(AnywarpError) as caught:
        parse(words)
    assert caught.value.diagnostic.code == "T002"
    return caught.value.diagnostic.message


@pytest.mark.parametrize(
    "words",
    [
        ("--gpu-architecture", "sm_86"),
        ("--gpu-architecture=sm_86",),
        ("-arch", "sm_86"),
        ("-arch=sm_86",),
    ],
)
def test_a_value_stands_behind_the_option_or_behind_an_equals_sign(words):
    assert parse(words).last("gpu-architecture") == "sm_86"


@pytest.mark.parametrize(
    "words", [("-Ia", "-I", "b"), ("-I=a", "--include-path=b"), ("--include-path", "a,b"), ("-Ia,b",)]
)
def test_folders_add_up(words):
    folders = parse(words).all("include-path")
    assert [folder.lstrip("=") for folder in folders] == ["a", "b"]


def test_short_options_take_their_value_at_once():
    line = parse(["-O3", "-DN=4", "-lm", "-L/lib", "-UX", "x.cu"])
    assert (line.last("optimize"), line.all("define-macro"), line.all("library")) == ("3", ["N=4"], ["m"])
    assert (line.all("library-path"), line.all("undefine-macro"), line.inputs) == (["/lib"], ["X"], ["x.cu"])


def test_lists_split_at_commas_that_are_not_escaped_or_quoted():
    assert parse(["-Xcompiler", "-Wall,-fPIC"]).all("compiler-options") == ["-Wall", "-fPIC"]
    assert parse(["-Xcompiler", r"-Wl\,-z"]).all("compiler-options") == ["-Wl,-z"]
    assert parse(["-Xlinker", '"-rpath,x",-z']).all("linker-options") == ['"-rpath,x"', "-z"]


def test_words_for_fatbinary_are_taken():
    """pointnet2_ops and others pass them (`-Xfatbin -compress-all`)."""
    assert parse(["-Xfatbin", "-compress-all", "x.cu"]).inputs == ["x.cu"]
    assert parse(["--fatbin-options", "-compress-all,-compress-level=9", "x.cu"]).inputs == ["x.cu"]


def test_several_architectures_are_kept_in_order():
    line = parse(["-gencode", "arch=compute_70,code=sm_70", "-gencode=arch=compute_80,code=[sm_80,compute_80]"])
    assert line.all("generate-code") == ["arch=compute_70,code=sm_70", "arch=compute_80,code=[sm_80,compute_80]"]


def test_true_and_false_are_read_and_nothing_else():
    assert parse(["-rdc=true"]).truth("relocatable-device-code", False)
    assert not parse(["--fmad", "false"]).truth("fmad", True)
    assert "'yes'" in refused("-rdc=yes")


def test_an_unknown_option_is_named():
    assert "'--no-such-thing'" in refused("--no-such-thing", "x.cu")
    assert "'-fPIC'" in refused("-fPIC")


def test_unknown_options_go_to_the_host_when_asked():
    line = parse(["-forward-unknown-to-host-compiler", "-fopenmp-simd", "x.cu"])
    assert line.unknown == ["-fopenmp-simd"]


def test_an_option_without_its_value_says_so():
    assert "wants a value" in refused("x.cu", "-o")


@pytest.mark.parametrize("word", ["--cuda", "-optix-ir", "--ltoir"])
def test_what_cannot_be_made_is_refused(word):
    assert "cannot make" in refused(word)


def test_files_of_options_stand_for_their_words(tmp_path):
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text('-DA="two words" -O2\n')
    outer.write_text(f"-c --options-file {inner}")
    for words in (["-optf", str(outer)], [f"--options-file={outer}"], [f"@{outer}"]):
        line = parse([*words, "x.cu"])
        assert (line.all("define-macro"), line.last("optimize"), line.flag("compile")) == (["A=two words"], "2", True)


def test_files_of_options_that_include_themselves_end(tmp_path):
    file = tmp_path / "loop"
    file.write_text(f"@{file}")
    assert "without end" in refused(f"@{file}")
    assert "cannot be read" in refused("@/nowhere/at/all")


@pytest.mark.parametrize("said", ["-fPIC", "'-fPIC'"])
def test_a_choice_of_position_stays_the_only_one_also_in_quotes(said):
    """torch's build of extensions leaves quotes around it, which nvcc's shell would have taken away."""
    given = compile_commands.passed_on(parse(["--compiler-options", said]).all("compiler-options"))
    assert given == ["-fPIC"]
    assert compile_commands._position_chosen(parse(["--compiler-options", said]))
    assert not compile_commands._position_chosen(parse(["--compiler-options", "-O2"]))
