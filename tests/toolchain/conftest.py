"""A clang for the tests that compile, and how they call the driver."""

import os
import subprocess
import sys

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.runtime.build_id import build_id
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


@pytest.fixture
def started():
    """Run a program that was built, and return what it wrote."""

    def run(program):
        environment = {
            **os.environ,
            "ANYWARP_BUILD_ID": build_id(),
        }  # in a checkout, sources may be newer than the build
        done = subprocess.run([program], capture_output=True, text=True, timeout=100, check=False, env=environment)
        assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
        return done.stdout

    return run
