"""NVIDIA's cuda.core and cuda.bindings as they come from PyPI run on our libraries, runtime API and NVRTC included."""

import importlib.util
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "cuda_core_features.py"
CHECKS = [
    line[len("def check_") : line.index("(")]
    for line in SCRIPT.read_text(encoding="utf-8").splitlines()
    if line.startswith("def check_")
]

pytestmark = [
    pytest.mark.numba,
    pytest.mark.native,
    pytest.mark.skipif(importlib.util.find_spec("cuda") is None, reason="needs cuda-core, which numba-cuda brings"),
]


def run(*command):
    return subprocess.run(
        [sys.executable, "-m", "anywarp", "run", *command], capture_output=True, text=True, timeout=280
    )


@cache
def everything():
    done = run("--", sys.executable, str(SCRIPT))
    lines = {
        line.split()[1].rstrip(":"): line for line in done.stdout.splitlines() if line.startswith(("ok ", "FAILED "))
    }
    return lines, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.parametrize("check", CHECKS)
def test_what_cuda_core_does_gives_the_values_of_numpy(check):
    lines, output = everything()
    assert lines.get(check, f"not reached: {output}") == f"ok {check}"


def test_our_nvrtc_comes_before_the_one_in_a_wheel():
    script = (
        "from cuda.pathfinder import load_nvidia_dynamic_lib as load; from cuda.bindings import nvrtc;"
        "load('nvrtc'); result = nvrtc.nvrtcVersion()[0].name;"
        "print({l.split()[-1] for l in open('/proc/self/maps') if 'libnvrtc.so' in l}.pop(), result)"
    )
    done = run("--", sys.executable, "-c", script)
    path, result = done.stdout.split()
    assert Path(path).parent.name != "lib" or "nvidia" not in path, (
        path
    )  # the file that is mapped, whatever was asked for
    assert result == "NVRTC_SUCCESS", done.stderr


def test_streams_per_thread_are_those_of_the_runtime():
    """With this variable cuda.bindings calls the functions of the per-thread default stream."""
    script = (
        "import os; os.environ['CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM'] = '1'\n"
        "import numpy as np; from cuda.bindings import runtime as r\n"
        "_, p = r.cudaMalloc(64); h = np.zeros(64, np.uint8)\n"
        "print(*(int(e[0]) for e in (r.cudaMemset(p, 5, 64), r.cudaMemcpy(h.ctypes.data, p, 64,"
        " r.cudaMemcpyKind.cudaMemcpyDeviceToHost), r.cudaStreamSynchronize(0), r.cudaDeviceSynchronize())), h.sum())\n"
    )
    done = run("--", sys.executable, "-c", script)
    assert done.stdout == "0 0 0 0 320\n", done.stderr


def test_without_changes_to_python_the_runtime_in_the_file_is_named():
    done = run(
        "--pure",
        "--",
        sys.executable,
        "-c",
        "from cuda.bindings import runtime; print(runtime.cudaDeviceSynchronize())",
    )
    assert "N001" in done.stderr and "cuda/bindings/" in done.stderr
    assert "cudaSuccess" not in done.stdout


def test_the_change_is_listed_with_its_reason():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "anywarp",
            "explain",
            "--patches",
            "--",
            sys.executable,
            "-c",
            "import cuda.bindings.runtime",
        ],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert "cuda.bindings._internal.runtime.__pyx_capi__" in done.stdout, done.stdout + done.stderr
