"""Products of float16 and bfloat16 where oneDNN has no instructions for them: computed in float and rounded once."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.native, pytest.mark.torch]
PROGRAM = Path(__file__).with_name("narrow_products_program.py")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """What the program printed on a processor whose oneDNN may use AVX2 alone, and which operators were computed in a wider type."""
    report = tmp_path_factory.mktemp("report") / "report.json"
    command = [sys.executable, "-m", "anywarp", "run", "--report", str(report), "--", sys.executable, str(PROGRAM)]
    surroundings = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=surroundings)
    assert done.returncode == 0, done.stderr
    operators = json.loads(report.read_text())["operators"]
    return done.stdout.splitlines(), {each["name"] for each in operators if each["widened"]}


def test_products_are_rounded_once(ran):
    lines = [line.split() for line in ran[0]]
    errors = {
        (" ".join(words[:-2]), words[-2]): float(words[-1])
        for words in lines
        if words[-1][0].isdigit() and words[0] != "empty"
    }
    assert len(errors) == 14 and max(errors.values()) <= 1, errors


def test_products_into_what_is_there_and_of_nothing(ran):
    assert [line.split()[-1] for line in ran[0] if line.startswith("mm into")] == ["True"] * 2
    assert [line.split()[-2:] for line in ran[0] if line.startswith("empty")] == [["0", "0.0"]] * 2


def test_factors_of_different_types_are_refused(ran):
    assert [line.split()[-1] for line in ran[0] if line.startswith("mixed")] == ["True"] * 2


def test_float_computes(ran):
    assert {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::convolution"} <= ran[1]
