"""`anywarp run --device hip`: packages for ROCm come before an environment's own, where they fit, and nothing else changes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.runtime import overlay
from fakes import wheels

VERSIONS = (
    "import torch, torchvision, triton; from importlib import metadata; "
    "print(torch.__version__, torchvision.__version__, triton.__version__, metadata.version('torch'))"
)


@pytest.fixture
def run(environment, surroundings, tmp_path):
    """Run a command under `anywarp run --device hip` with drivers that are none, which no Python loads."""
    for folder in (tmp_path / "lib", tmp_path / "lib" / "hip"):
        folder.mkdir()
        (folder / "libcuda.so.1").write_bytes(b"")

    def call(*command, options=(), **more):
        words = [sys.executable, "-m", "anywarp", "run", "--device", "hip", *options, "--", *map(str, command)]
        env = {**surroundings, "ANYWARP_LIBRARY_DIR": str(tmp_path / "lib"), **more}
        return subprocess.run(words, env=env, capture_output=True, text=True, timeout=60)

    return call


def test_packages_for_rocm_win_for_import_and_metadata(env, environment, run):
    env("make")
    before = environment.state()
    done = run(environment.python, "-B", "-c", VERSIONS)
    assert (done.stdout, done.stderr) == ("2.10.0+rocm7.1 0.25.0+rocm7.1 3.6.0 2.10.0+rocm7.1\n", "")
    assert environment.state() == before


@pytest.mark.parametrize("command", ["script", "env", "long", "shell"])
def test_whatever_starts_python_finds_them(env, environment, run, tmp_path, command):
    env("make")
    (environment.folder / "bin" / "tool").write_text(
        {
            "script": f"#!{environment.python}\n{VERSIONS}\n",
            "env": f"#!/usr/bin/env python\n{VERSIONS}\n",
            "long": f"#!/bin/sh\n'''exec' \"{environment.python}\" \"$0\" \"$@\"\n' '''\n{VERSIONS}\n".replace(
                "$(env)", "\\$(env)"
            ),
            "shell": f'#!/bin/sh\nexec python -c "{VERSIONS}"\n',
        }[command]
    )
    (environment.folder / "bin" / "tool").chmod(0o755)
    if command == "script":  # the kernel splits a first line at spaces
        link = tmp_path / "plain"
        link.symlink_to(environment.folder)
        (environment.folder / "bin" / "tool").write_text(f"#!{link}/bin/python\n{VERSIONS}\n")
    done = run("tool", PATH=f"{environment.folder}/bin:/usr/bin:/bin")
    assert done.stdout == "2.10.0+rocm7.1 0.25.0+rocm7.1 3.6.0 2.10.0+rocm7.1\n", done.stderr


def test_what_the_program_brings_itself_stays_before_them(env, environment, run, tmp_path):
    env("make")
    (tmp_path / "own" / "torch").mkdir(parents=True)
    (tmp_path / "own" / "torch" / "__init__.py").write_text("__version__ = 'own'")
    done = run(environment.python, "-c", "import torch; print(torch.__version__)", PYTHONPATH=str(tmp_path / "own"))
    assert done.stdout == "own\n"


def test_another_environment_is_left_alone(env, run, tmp_path):
    env("make")
    other = wheels.Environment(tmp_path / "other")
    other.install("torch", "2.10.0+rocm7.0", wheels.torch("2.10.0+rocm7.0", hip="7.0"))
    done = run(
        other.python, "-c", "import sys, torch; print(torch.__version__, [p for p in sys.path if 'overlays' in p])"
    )
    assert (done.stdout, done.stderr) == ("2.10.0+rocm7.0 []\n", "")


MENDING = {
    "anywarp",
    "anywarp.devices",
    "anywarp.devices.facts",
    "anywarp.devices.hip",
    "anywarp.devices.hip.software",
    "anywarp.devices.hip.tables",
    "anywarp.devices.hip.topology",
    "anywarp.diagnostics",
    "anywarp.frameworks",
    "anywarp.frameworks.torch",
    "anywarp.frameworks.torch.found",
    "anywarp.frameworks.torch.messages",
    "anywarp.frameworks.torch.patches",
    "anywarp.frameworks.torch.rocm",
    "anywarp.frameworks.torch.rocm.builds",
    "anywarp.frameworks.torch.rocm.float8",
    "anywarp.frameworks.torch.rocm.itself",
    "anywarp.frameworks.torch.rocm.miopen",
    "anywarp.frameworks.torch.scope",
    "anywarp.frameworks.watching",
    "anywarp.settings",
}
"""What looks at a torch for ROCm and its GPUs when it is imported (frameworks/torch/rocm/itself.py), with what that needs."""


def test_a_torch_for_rocm_that_is_there_meets_no_harm(run, tmp_path):
    """Nothing is loaded before it, and no module of ours but these and the one that Python itself executes at its start."""
    other = wheels.Environment(tmp_path / "other")
    other.install("torch", "2.10.0+rocm7.1", wheels.torch("2.10.0+rocm7.1", hip="7.1"))
    code = (
        "import os, sys, torch; print(*sorted(m for m in sys.modules if 'anywarp' in m), os.environ.get('LD_PRELOAD'))"
    )
    done = run(other.python, "-c", code)
    *ours, preloaded = done.stdout.split()
    assert (set(ours), preloaded, done.stderr) == (MENDING, "None", "")


def test_what_has_no_counterpart_is_said_before_the_start(env, environment, run):
    environment.install("flash-attn", "2.8.3")
    assert env("make").returncode == 1
    done = run(environment.python, "-c", "import sys; print('started', file=sys.stderr)")
    said, started = done.stderr.splitlines()
    assert said.startswith("anywarp: flash-attn 2.8.3 has no counterpart for ROCm: ") and "(use flash-attn;" in said
    assert started == "started"


def test_an_overlay_that_fits_no_longer_stops_the_run(env, environment, run):
    env("make")
    shutil.rmtree(environment.packages / "torch-2.10.0+cu128.dist-info")
    environment.install("torch", "2.11.0", wheels.torch("2.11.0", cuda="12.8"))
    done = run(environment.python, "-c", "print('started')")
    assert (done.returncode, done.stdout) == (2, "")
    assert "error[R032]" in done.stderr and "torch 2.10.0+cu128 has been replaced by 2.11.0 since" in done.stderr


def test_one_that_fits_no_longer_is_left_out_where_only_a_child_sees_it(env, environment, run, tmp_path):
    env("make")
    shutil.rmtree(environment.packages / "torch-2.10.0+cu128.dist-info")
    other = wheels.Environment(tmp_path / "other")
    code = f"import subprocess; subprocess.run([{str(environment.python)!r}, '-c', 'import torch; print(torch.__version__)'])"
    done = run(other.python, "-c", code)
    assert done.stdout == "2.10.0+cu128\n" and "error[R032]: torch in " in done.stderr


def test_a_torch_for_cuda_without_an_overlay_is_pointed_out(environment, run):
    done = run(environment.python, "-c", "pass")
    assert done.returncode == 0
    assert "warning[R033]: torch 2.10.0 in " in done.stderr and "anywarp env make --python" in done.stderr


def test_pure_leaves_python_as_it_is(env, environment, run):
    env("make")
    done = run(environment.python, "-c", "import torch; print(torch.__version__)", options=["--pure"])
    assert (done.stdout, done.stderr) == ("2.10.0+cu128\n", "")


def test_a_record_that_others_may_change_is_refused(env, environment, surroundings, run):
    env("make")
    overlay.place(Path(surroundings["ANYWARP_CACHE_DIR"]), str(environment.folder)).chmod(0o666)
    done = run(environment.python, "-c", "pass")
    assert done.returncode == 2 and "error[R032]" in done.stderr and "others may write to it" in done.stderr
