"""`anywarp run --summary` and `--report` of a PyTorch program: the operators that ran on `cuda`."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.torch

PROGRAM = """
import torch
x = torch.ones(256, 256).cuda()
for _ in range(3):
    x = x @ x
x.half().erfinv().cpu()
torch.ones(8) + 1
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.json"
    command = [sys.executable, "-m", "anywarp", "run", "--summary", "--report", str(path)]
    done = subprocess.run([*command, "--", sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stderr, json.loads(path.read_text())


def test_the_report_counts_operators_on_the_device(ran):
    found = {each["name"]: each for each in ran[1]["operators"]}
    assert found["aten::mm"]["count"] == 3 and found["aten::mm"]["ms"] > 0
    assert found["Memcpy HtoD (Pageable -> Device)"]["copied_bytes"] == 256 * 256 * 4
    assert found["Memcpy DtoH (Device -> Pageable)"]["copied_bytes"] == 256 * 256 * 2
    assert "aten::add" not in found  # ran on the CPU


def test_the_summary_says_so_in_words(ran):
    text = ran[0]
    assert "of PyTorch on cuda in" in text and "operators by time" in text
    assert "3  aten::mm  (" in text
