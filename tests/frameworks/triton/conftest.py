"""Tests of Triton: each runs a program in a process of its own by `anywarp run`, because Triton wants a torch with `cuda`.

Without Triton, torch or our libraries they are skipped, with the reason.
"""

import importlib.util
import os
import subprocess
import sys

import pytest

from anywarp import settings


def pytest_configure(config):
    config.addinivalue_line("markers", "triton: needs Triton and PyTorch")


def unavailable():
    """Return why there is nothing to test here, "" when there is."""
    for package in ("triton", "torch"):
        if importlib.util.find_spec(package) is None:
            return f"this machine has no {package}"
    if not (settings.LIBRARY_DIR.get() / "ptxas").exists():
        return "the native libraries are not built (scripts/build)"
    return ""


@pytest.fixture(scope="session", autouse=True)
def needed():
    if reason := unavailable():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def triton_cache(tmp_path_factory):
    """Triton's own cache, new for these tests and the same for all of them, as its driver module takes seconds to build."""
    return tmp_path_factory.mktemp("triton")


@pytest.fixture(scope="session")
def under_anywarp(triton_cache):
    """Run Python with these words by `anywarp run`; returns what `subprocess.run` does."""

    def run(*words, **environment):
        command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, "-W", "ignore", *map(str, words)]
        env = {**os.environ, "TRITON_CACHE_DIR": str(triton_cache), "OMP_NUM_THREADS": "1", **environment}
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=250)

    return run
