"""Checks are silent where nothing is wrong: every benchmark kernel, under all checks, through streams and graphs."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "benchmarks" / "kernels"


def test_the_benchmark_kernels_are_clean():
    names = sorted(path.stem for path in KERNELS.glob("*.ptx"))
    command = [sys.executable, "-m", "anywarp", "run", "--check", "all", "--"]
    command += [sys.executable, str(HERE / "run_clean.py"), str(KERNELS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == names
    assert "nothing found in" in done.stderr
    assert "anywarp: check:" not in done.stderr


def test_barriers_and_shuffles_of_the_warp_at_different_places_are_clean(tmp_path):
    command = [sys.executable, "-m", "anywarp", "run", "--check", "all", "--"]
    command += [sys.executable, str(HERE / "run_sides.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "nothing found in" in done.stderr
    assert "anywarp: check:" not in done.stderr
