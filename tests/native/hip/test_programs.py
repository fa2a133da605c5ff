"""CUDA sample programs over the fake HIP runtime, as users start them; `programs.py` makes the page about all of them."""

import os
import re

import pytest

from native.hip import programs

pytestmark = [pytest.mark.native, pytest.mark.nvcc]

FEW = {"graph_capture": 300}
"""Programs and how many launches each must give, by what its source says."""


REFUSED = {"graph_conditional": "HIP's graphs have no conditional nodes"}
"""Programs that HIP has no answer for, and what they are told."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")

    def build(name):
        program = programs.examples.programs()[name]
        target, words = programs.examples.build(program, programs.examples.WAYS["shared"], folder)
        assert target.exists(), words
        return program, target

    return build


@pytest.mark.parametrize("name", FEW)
def test_a_program_comes_through_and_gives_its_launches(name, built, same_compiler):
    program, target = built(name)
    outcome = programs.run(program, target, "gfx942", emulate=False)
    assert outcome.through, outcome.words
    assert outcome.launches == FEW[name]


@pytest.mark.amd_emulator
@pytest.mark.skipif(not os.environ.get("TINYGRAD"), reason="TINYGRAD names no checkout of tinygrad")
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("name", ["vector_add", "grid_sync"])
def test_an_emulated_program_is_right(name, arch, built, same_compiler):
    program, target = built(name)
    outcome = programs.run(program, target, arch, emulate=True)
    assert outcome.right, outcome.words
    assert outcome.launches


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(programs.examples.programs()) - set(FEW)))
def test_every_program_comes_through(name, built, same_compiler):
    program, target = built(name)
    outcome = programs.run(program, target, programs.devices_of(program, "gfx942"), emulate=False)
    if name in REFUSED:
        assert not outcome.through
        assert REFUSED[name] in outcome.words
        return
    assert outcome.through, outcome.words
    kernels = len(re.findall(r"<<<", program.main.read_text()))
    assert outcome.launches or not kernels
