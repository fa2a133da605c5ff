"""One set of questions to HIP's driver interface, for the fake of the tests and for the real one over an emulated card: the same answers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from amd_stack import stack
from fakes.rocm import build
from native.hip import contract

PROGRAM = Path(contract.__file__)
ANSWERS = json.loads(PROGRAM.with_name("contract_answers.json").read_text())
"""What HIP 6.4.3 answered; tests/amd_stack/answers.py asks it again."""

NEWER = "the fake has what CLR of July 2026 says"
DIFFERS = {
    ("allocation_errors", "free the middle"): "HIP takes it; the fake finds the mistake",
    ("registered_memory", "free device's as host's"): "HIP takes it; the fake finds the mistake",
    ("registered_memory", "again"): NEWER,
    ("last_error", "after a success"): NEWER,
    ("last_error", "got"): NEWER,
    ("forbidden_globally", "unload a module"): NEWER,
    **{
        ("names_of_errors", str(code)): "the fake has few names, and no sentences"
        for code in (0, 1, 2, 400, 500, 600, 719, 900, 99999)
    },
}
"""Where the fake answers otherwise, and why: docs/hip-stack.md."""


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    folder = tmp_path_factory.mktemp("contract")
    (folder / "fill.ptx").write_text(contract.KERNEL)
    command = [sys.executable, "-m", "anywarp", "compile", "--device", "hip:gfx942", "--emit", "object"]
    subprocess.run([*command, "-o", folder / "fill", folder / "fill.ptx"], check=True)
    return folder / "fill"


def answers(text):
    return json.loads(text.splitlines()[-1])


@pytest.mark.native
@pytest.mark.parametrize("name", contract.CASES)
def test_the_fake_answers_as_hip_does(name, code, tmp_path):
    library = build.hip() / "6" / "libamdhip64.so.6"
    devices = "gfx942,gfx942" if name in contract.TWO_DEVICES else "gfx942"
    env = {**os.environ, "HIP_LIBRARY": str(library), "CODE": str(code), "FAKE_HIP_DEVICES": devices}
    done = subprocess.run([sys.executable, PROGRAM, name], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    # the fake executes no kernels
    found, wanted = contract.without_values(answers(done.stdout)), contract.without_values(ANSWERS[name])
    assert found.keys() == wanted.keys()
    assert {(name, question) for question in wanted if found[question] != wanted[question]} == {
        each for each in DIFFERS if each[0] == name
    }


@pytest.mark.amd_stack
@pytest.mark.parametrize("name", contract.CASES)
def test_hip_answers_so(name, code):
    cards = 2 if name in contract.TWO_DEVICES else 1
    done = stack.run(
        [sys.executable, PROGRAM, name], cards=cards, limit=120, HIP_LIBRARY="libamdhip64.so.6", CODE=str(code)
    )
    assert done.returncode == 0, done.stderr
    assert answers(done.stdout) == ANSWERS[name]
