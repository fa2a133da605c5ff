"""numba-cuda as it comes from PyPI runs its kernels, feature by feature, with numpy's results."""

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPT = HERE / "numba_features.py"
EXAMPLES = HERE.parents[1] / "examples" / "numba"
FLAGS = ("-W", "ignore")

spec = importlib.util.spec_from_file_location("numba_features", SCRIPT)
features = importlib.util.module_from_spec(spec)
spec.loader.exec_module(features)

pytestmark = [pytest.mark.numba, pytest.mark.native]


def run(script, *arguments):
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, *FLAGS, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


@cache
def run_theme(theme):
    """Run all checks of a theme in one process; returns what was printed, by check, and the end of everything."""
    done = run(SCRIPT, f"{theme}.")
    lines = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("ok", "FAILED"):
            lines[rest.split(":")[0]] = line
    return lines, f"exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("check", [f"{theme}.{name}" for theme in features.THEMES for name in features.names(theme)])
def test_feature_gives_the_values_of_numpy(check):
    lines, everything = run_theme(check.split(".")[0])
    assert lines.get(check, f"not reached: {everything}") == f"ok {check}"


@pytest.mark.parametrize("name", ["reduction", "matmul", "histogram"])
def test_example_agrees_with_numpy(name):
    done = run(EXAMPLES / f"{name}.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{name}: ")
