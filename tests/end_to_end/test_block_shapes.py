"""A program whose block shapes follow its data is not compiled for without end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

PROGRAM = Path(__file__).with_name("many_shapes.py")


@pytest.mark.parametrize(("shapes", "most"), [(3, 3), (30, 9)])
def test_the_compilations_of_one_kernel_are_bounded(tmp_path, shapes, most):
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "anywarp", "run", "--report", str(report), "--", sys.executable, str(PROGRAM)]
    done = subprocess.run([*command, str(shapes)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
    (kernel,) = json.loads(report.read_text())["kernels"]
    assert kernel["launches"] == shapes
    assert kernel["compiled"] + kernel["cached"] <= most
