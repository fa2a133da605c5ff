"""An environment installed for CUDA, an index of wheels for ROCm in a folder, and `anywarp env` on both."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes import wheels


@pytest.fixture
def index(tmp_path):
    folder = tmp_path / "index"
    wheels.wheel(
        folder,
        "torch",
        "2.10.0+rocm7.1",
        wheels.torch("2.10.0+rocm7.1", hip="7.1.25424"),
        ["pytorch-triton-rocm==3.6.0", "filelock"],
    )
    wheels.wheel(folder, "torchvision", "0.25.0+rocm7.1", needs=["torch==2.10.0", "pillow>=10"])
    wheels.wheel(folder, "pytorch-triton-rocm", "3.6.0", {"triton/__init__.py": "__version__ = '3.6.0'\n"})
    return folder


@pytest.fixture
def environment(tmp_path):
    """The environment, in a folder whose name needs care."""
    made = wheels.Environment(tmp_path / "an 'odd' ü $(env)")
    needs = ["filelock", "triton==3.6.0", "nvidia-cublas-cu12==12.8.4.1"]
    made.install("torch", "2.10.0+cu128", wheels.torch("2.10.0+cu128", cuda="12.8"), needs)
    made.install("torchvision", "0.25.0+cu128", needs=["torch==2.10.0"])
    made.install("triton", "3.6.0", {"triton/__init__.py": "__version__ = 'for CUDA'\n"})
    made.install("nvidia-cublas-cu12", "12.8.4.1")
    made.install("filelock", "3.20.0")
    made.install("pillow", "12.0.0")
    return made


@pytest.fixture
def surroundings(tmp_path, index):
    """The variables of a machine with uv (a fake) and an empty cache."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    return {
        **{
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ANYWARP_", "PYTHON", "PIP_", "UV_"))
        },
        "ANYWARP_CACHE_DIR": str(cache),
        "FAKE_INDEX": str(index),
        "PIP_CONFIG_FILE": os.devnull,
        "FAKE_LOG": str(tmp_path / "log"),
        "PATH": f"{wheels.uv(tmp_path / 'commands')}:{os.environ['PATH']}",
    }


@pytest.fixture
def env(environment, surroundings):
    """Run `anywarp env` for the environment: env("make", ...) returns exit code, output and words."""

    def call(verb, *options, python=environment.folder, **more):
        place = [str(python)] if verb == "remove" else [] if verb == "list" else ["--python", str(python)]
        command = [sys.executable, "-m", "anywarp", "env", verb, *place, *map(str, options)]
        return subprocess.run(command, env={**surroundings, **more}, capture_output=True, text=True, timeout=120)

    return call


@pytest.fixture
def record(environment, surroundings):
    """Return the record that was written for the environment."""

    def read():
        place = Path(f"{surroundings['ANYWARP_CACHE_DIR']}/overlays/environments{environment.folder.resolve()}")
        return json.loads((place / "anywarp-overlay.json").read_text())

    return read
