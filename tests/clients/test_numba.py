"""numba-cuda as it comes from PyPI runs its kernels, feature by feature, with numpy's results."""

import importlib.util
import json
import statistics
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from anywarp.cli.main import call

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


def test_bench_gives_the_times_of_a_program(tmp_path, monkeypatch, capfd):
    """Each run that it tells of took place, succeeded, and was as long as the program itself says, at least."""
    monkeypatch.setenv("ANYWARP_RESULTS", str(tmp_path / "results.sqlite"))
    program = [sys.executable, *FLAGS, str(HERE / "numba_timed.py"), str(tmp_path / "own")]
    status = call(["bench", "--device", "cpu", "--seconds", "0.01", "--format", "json", "--", *program])
    out, err = capfd.readouterr()
    assert status in (0, 1), err
    (found,) = json.loads(out)
    first, *own = [float(line) for line in (tmp_path / "own").read_text().splitlines()]
    result = found["result"]
    assert result["calls"] == len(own) == len(result["times_ms"]) >= 3 and found["device"] == "cpu"
    assert result["first_s"] > first and all(ours > 1e3 * theirs for ours, theirs in zip(result["times_ms"], own))
    assert result["latency_ms"]["p50"]["value"] == pytest.approx(statistics.median(result["times_ms"]), rel=1e-3)
    assert result["throughput"]["value"] == pytest.approx(1e3 / statistics.mean(result["times_ms"]), rel=1e-3)
