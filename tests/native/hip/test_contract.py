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
"""What HIP 6.4.3 answered; `python test_contract.py` in this folder's place asks it again."""


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
    wanted = contract.without_values(ANSWERS[name])  # the fake executes no kernels
    assert contract.without_values(answers(done.stdout)) == wanted


@pytest.mark.amd_stack
@pytest.mark.parametrize("name", contract.CASES)
def test_hip_answers_so(name, code):
    cards = 2 if name in contract.TWO_DEVICES else 1
    done = stack.run([sys.executable, PROGRAM, name], cards=cards, limit=120, HIP_LIBRARY="libamdhip64.so.6", CODE=str(code))
    assert done.returncode == 0, done.stderr
    assert answers(done.stdout) == ANSWERS[name]
