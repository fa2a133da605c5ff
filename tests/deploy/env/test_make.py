"""`anywarp env make`: packages for ROCm lie beside an environment whole or not at all, and the environment stays as it is."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fakes import wheels

INDEX = "https://download.pytorch.org/whl/rocm7.1"
LAID = ["pytorch-triton-rocm 3.6.0", "torch 2.10.0+rocm7.1", "torchvision 0.25.0+rocm7.1"]


def overlays(surroundings):
    return list(Path(surroundings["ANYWARP_CACHE_DIR"]).glob("overlays/objects/*/*"))


def log(surroundings):
    path = Path(surroundings["FAKE_LOG"])
    return path.read_text().splitlines() if path.exists() else []


def test_counterparts_of_the_same_version_and_what_they_lack_are_laid_beside_it(env, environment, surroundings, record):
    before = environment.state()
    done = env("make")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:-1] == LAID
    assert environment.state() == before
    first, second = log(surroundings)
    assert first.endswith("--index-url " + INDEX + " -- torch==2.10.0+rocm7.1 torchvision==0.25.0+rocm7.1")
    assert second.endswith("--index-url " + INDEX + " -- pytorch-triton-rocm==3.6.0")
    assert all("--no-deps --only-binary :all:" in line for line in (first, second))
    assert [one["name"] for one in record()["replaced"]] == ["torch", "torchvision"]


def test_pip_installs_from_a_folder_alone(env, environment, surroundings, index):
    before = environment.state()
    done = env("make", "--installer", "pip", "--no-index", "--find-links", index)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:-1] == LAID and log(surroundings) == []
    assert environment.state() == before


def test_what_pip_does_not_find_is_said_in_a_line(env, surroundings, tmp_path):
    done = env("make", "--installer", "pip", "--no-index", "--find-links", tmp_path)
    assert done.returncode == 2 and overlays(surroundings) == []
    assert "error[Y061]: pip could not install torch==2.10.0+rocm7.1" in done.stderr
    assert "No matching distribution found for torch==2.10.0+rocm7.1" in done.stderr


def test_an_interrupted_make_leaves_nothing_half_and_the_next_one_works(env, environment, surroundings):
    command = [sys.executable, "-m", "anywarp", "env", "make", "--python", str(environment.folder)]
    child = subprocess.Popen(
        command, env={**surroundings, "FAKE_UV": "hang"}, start_new_session=True, stderr=subprocess.PIPE
    )
    hangs = Path(surroundings["FAKE_LOG"]).parent / "hangs"
    limit = time.monotonic() + 30
    while not hangs.exists() and time.monotonic() < limit:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate()
    (left,) = overlays(surroundings)
    assert left.name.startswith(".new-")
    assert env("check").returncode == 2
    assert env("make").returncode == 0
    (made,) = overlays(surroundings)
    assert not made.name.startswith(".new-") and env("check").returncode == 0


@pytest.mark.parametrize(
    ("trouble", "code", "words"),
    [("full", "Y062", "is full; nothing was left there"), ("cut", "Y061", "came without its file")],
)
def test_a_failing_installer_leaves_nothing_and_is_told(env, surroundings, trouble, code, words):
    done = env("make", FAKE_UV=trouble)
    assert done.returncode == 2 and f"error[{code}]" in done.stderr and words in done.stderr
    assert overlays(surroundings) == []


def test_a_full_disk_is_named(env, environment, surroundings, index):
    cache = surroundings["ANYWARP_CACHE_DIR"]
    mount = ["mount", "-t", "tmpfs", "-o", "mode=700,size=64k", "tmpfs", cache]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this user may not mount a file system")
    try:
        wheels.wheel(
            index,
            "torch",
            "2.10.0+rocm7.1",
            {**wheels.torch("2.10.0+rocm7.1"), "torch/lib/libtorch_hip.so": "x" * 200_000},
        )
        done = env("make", "--installer", "pip", "--no-index", "--find-links", index)
        assert done.returncode == 2, done.stdout
        assert "error[Y062]" in done.stderr and "is full; nothing was left there" in done.stderr
        assert overlays(surroundings) == []
    finally:
        subprocess.run(["umount", "--lazy", cache], check=True)


def test_two_at_once_make_one(environment, surroundings):
    command = [sys.executable, "-m", "anywarp", "env", "make", "--python", str(environment.folder)]
    children = [
        subprocess.Popen(
            command, env={**surroundings, "FAKE_UV": "slow"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    told = [child.communicate(timeout=60) for child in children]
    assert [child.returncode for child in children] == [0, 0], told
    assert sorted(out.splitlines()[-1].partition(":")[0] for out, _ in told) == ["made", "shared"]
    assert len(log(surroundings)) == 2 and len(overlays(surroundings)) == 1


def test_environments_share_what_they_want_alike_and_the_last_removes_it(env, surroundings, tmp_path):
    other = wheels.Environment(tmp_path / "other")
    other.install("torch", "2.10.0", wheels.torch("2.10.0", cuda="12.8"))
    other.install("torchvision", "0.25.0")
    other.install("filelock", "3.19.1")
    other.install("pillow", "11.0.0")
    assert env("make").returncode == 0
    done = env("make", python=other.python)
    assert done.returncode == 0 and done.stdout.splitlines()[-1].startswith("shared: ")
    assert len(env("list", "--format", "json").stdout.split('"prefix"')) == 3
    assert env("remove").stdout == "removed; its packages serve another environment and stay\n"
    shutil.rmtree(other.folder)
    assert "(the environment is gone)" in env("list").stdout
    assert env("remove", python=other.folder).stdout == "removed\n"
    assert overlays(surroundings) == [] and env("list").stdout == ""


def test_an_environment_that_lacks_something_does_not_share(env, surroundings, index, tmp_path):
    wheels.wheel(index, "filelock", "3.20.0")
    other = wheels.Environment(tmp_path / "other")
    other.install("torch", "2.10.0", wheels.torch("2.10.0", cuda="12.8"))
    other.install("torchvision", "0.25.0")
    other.install("pillow", "11.0.0")
    assert env("make", python=other.folder).stdout.splitlines()[0] == "filelock 3.20.0"
    done = env("make")
    assert done.stdout.splitlines()[-1].startswith("made: ") and done.stdout.splitlines()[:-1] == LAID
    assert len(overlays(surroundings)) == 2


def test_two_packages_with_one_file_are_refused(env, surroundings, index):
    wheels.wheel(index, "torchvision", "0.25.0+rocm7.1", {"torch/version.py": "__version__ = 'another'\n"})
    wheels.wheel(index, "pytorch-triton-rocm", "3.6.0", {"torch/version.py": "__version__ = 'another'\n"})
    done = env("make")
    assert done.returncode == 2 and "error[Y061]" in done.stderr and overlays(surroundings) == []


def test_a_cache_that_others_may_write_to_is_not_used(env, surroundings):
    os.chmod(surroundings["ANYWARP_CACHE_DIR"], 0o777)
    done = env("make")
    assert done.returncode == 2 and "error[Y062]" in done.stderr and "not yours alone" in done.stderr


@pytest.mark.parametrize(
    ("place", "words"),
    [("/bin/true", "cannot be asked"), ("/nowhere/python", "cannot be asked"), ("/etc", "no Python in")],
)
def test_what_is_no_python_is_told(env, place, words):
    done = env("make", python=place)
    assert done.returncode == 2 and "error[Y060]" in done.stderr and words in done.stderr
