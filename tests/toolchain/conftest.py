"""A clang for the tests that compile, and how they call the driver."""

import subprocess
import sys

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import clang


@pytest.fixture(scope="session")
def needs_clang():
    """Skip where CUDA C++ cannot be compiled."""
    try:
        clang.find()
    except AnywarpError:
        pytest.skip("this machine has no clang for CUDA: python -m pip install ziglang")


@pytest.fixture
def nvcc(needs_clang, tmp_path):
    """Run the driver in a folder of the test's own; returns what subprocess returns."""

    def run(*words, code=0, seconds=120):
        command = [sys.executable, "-m", "anywarp.toolchain", *map(str, words)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=seconds, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run
