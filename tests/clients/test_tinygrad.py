"""tinygrad as it comes from PyPI runs on its CUDA device, operator by operator, with numpy's results."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import clang

SCRIPT = Path(__file__).parent / "tinygrad_ops.py"
PARTS = 4
FAMILIES = ("elementwise", "reduction", "movement", "indexing", "linear", "network")


def run(*arguments, **more):
    command = [sys.executable, "-m", "anywarp", "run", "--", sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280, env={**os.environ, **more})


@pytest.mark.tinygrad
@pytest.mark.native
def test_the_table_has_at_least_150_operators():
    names = run("--list").stdout.split()
    assert len({"cast" if name.startswith(("cast_", "bitcast_")) else name for name in names}) >= 150


@pytest.mark.tinygrad
@pytest.mark.native
@pytest.mark.parametrize("name", ["matmul_odd", "softmax", "gather", "conv2d_padding", "sort_repeated", "cumsum_long"])
def test_operator_gives_the_values_of_numpy(name):
    done = run("--only", name, "--first-type")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.tinygrad
@pytest.mark.native
@pytest.mark.parametrize("name", ["matmul_odd", "softmax", "conv2d_padding", "cumsum_long"])
def test_operator_gives_the_values_of_numpy_through_nvrtc(name, tmp_path):
    """`DEV=CUDA` renders CUDA C++ and names /usr/include among the folders of headers."""
    try:
        found = clang.find()
    except AnywarpError:
        pytest.skip("this machine has no clang for CUDA")
    cc = tmp_path / "clang"  # tinygrad's own device for the host wants one by a single word
    cc.write_text(f'#!/bin/sh\nexec {shlex.join(found.command)} "$@"\n')
    cc.chmod(0o755)
    done = run("--only", name, "--first-type", DEV="CUDA", CC=str(cc))
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.tinygrad
@pytest.mark.native
@pytest.mark.slow
@pytest.mark.spread("part")
@pytest.mark.parametrize("part", [f"{k}/{PARTS}" for k in range(1, PARTS + 1)])
@pytest.mark.parametrize("family", FAMILIES)
def test_family_of_operators_gives_the_values_of_numpy(family, part):
    done = run("--family", family, "--first-type", "--part", part)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.tinygrad
@pytest.mark.native
@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_family_of_operators_gives_the_values_of_numpy_in_every_type(family):
    done = run("--family", family)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
