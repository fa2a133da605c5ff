"""Programs for CUDA over AMD's real HIP, on an emulated card: examples, selftest, numba."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from amd_stack import stack
from amd_stack.cards import CARDS
from native.hip import programs

pytestmark = [pytest.mark.amd_stack, pytest.mark.native]
ROOT = Path(__file__).resolve().parents[2]
FEW = ("vector_add", "reduction", "device_printf", "grid_sync")
"""Programs for every card that the emulator has; all others run on the first, in the long layer."""

WRONG = {
    "graph_conditional": "HIP's graphs have no conditional nodes",
    "ipc": "each process has an emulator of its own, and with it a list of shared memory of its own (read in simulated_kfd.cpp)",
    "virtual_memory": "the emulator has no DRM_AMDGPU_GEM_VA, by which ROCr maps (read in interposer.cpp)",
}
"""Programs that do not pass, and why."""


def card_of(name):
    if not stack.emulated(name):
        pytest.skip(f"the emulator was built without {CARDS[name][1]}")
    return name


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")

    def build(name):
        program = programs.examples.programs()[name]
        target = folder / program.name
        if not target.exists():
            target, words = programs.examples.build(program, programs.examples.WAYS["shared"], folder)
            assert target.exists(), words
        return program, target

    return build


def outcome(program, target, card):
    cards = 2 if program.name == "peer_copies" else 1
    command = [sys.executable, "-m", "anywarp", "run", "--device", "hip", "--", target]
    return stack.run(command, card, cards, **program.environment)


@pytest.mark.nvcc
@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("name", FEW)
def test_a_program_is_right(name, card, built):
    card = card_of(card)
    program, target = built(name)
    done = outcome(program, target, card)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(re.search(wanted, done.stdout, re.M) for wanted in program.expected), done.stdout


@pytest.mark.nvcc
@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(programs.examples.programs()) - set(FEW) - set(WRONG)))
def test_every_program_is_right(name, built):
    program, target = built(name)
    done = outcome(program, target, card_of("gfx942"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(re.search(wanted, done.stdout + done.stderr, re.M) for wanted in program.expected), done.stdout


@pytest.mark.parametrize("suite", ["driver", "lanes", "programs", "faults"])
def test_selftest_passes(suite, tmp_path):
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "anywarp", "selftest", "--device", "hip", "--suite", suite, "--report", report]
    done = stack.run(command, card_of("gfx942"))
    found = json.loads(report.read_text()) if report.exists() else {}
    assert done.returncode == 0, done.stdout + done.stderr + json.dumps(found.get("problems"), indent=1)


NUMBA = """
import numpy as np
from numba import cuda

@cuda.jit
def turned(out, given):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = given[out.size - 1 - i] * 3 + i

given = np.arange(1000, dtype=np.int32) ** 2 % 977
out = cuda.device_array(1000, np.int32)
turned[4, 256](out, cuda.to_device(given))
assert np.array_equal(out.copy_to_host(), given[::-1] * 3 + np.arange(1000)), out.copy_to_host()[:8]
print("right")
"""


@pytest.mark.numba
def test_a_kernel_of_numba_is_right(tmp_path):
    (tmp_path / "program.py").write_text(NUMBA)
    command = [sys.executable, "-m", "anywarp", "run", "--device", "hip", "--", sys.executable, tmp_path / "program.py"]
    done = stack.run(command, card_of("gfx942"), HOME=os.environ.get("HOME", str(tmp_path)))
    assert "right" in done.stdout, done.stdout + done.stderr
