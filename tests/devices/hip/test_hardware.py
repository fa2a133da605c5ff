"""The conformance set on a real AMD GPU, where there is one."""

import json
import subprocess
import sys

import pytest


@pytest.mark.hip
@pytest.mark.slow
def test_the_gpu_answers_everything_right(tmp_path):
    report = tmp_path / "amd.json"
    command = [sys.executable, "-m", "anywarp", "selftest", "--device", "hip", "--every", "7", "--report", str(report)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(report.read_text())["passed"]
