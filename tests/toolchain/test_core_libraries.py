"""Thrust, CUB and libcu++: found where toolkits and packages have them, searched before our headers, and named where they are not there."""

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.toolchain import core_libraries, cuda_home, driver

HERE = Path(__file__).parent
ASKED = """
#include <thrust/complex.h>
#include <cub/version.cuh>
__global__ void write(int* out) { *out = FOUND; }
"""


def put(place, number):
    """Write the least that is taken for these libraries; `number` is what they define."""
    for name in ("thrust/version.h", "cub/version.cuh", "nv/target", "cuda/version"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("")
    (place / "thrust/complex.h").write_text(f"#define FOUND {number}\n")
    return place


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """No place of this machine counts but those of the test."""
    for name in ("CUDA_HOME", "CUDA_PATH", "ANYWARP_CCCL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "site-packages"))
    monkeypatch.setattr(
        Path, "is_file", lambda self, real=Path.is_file: "/usr/local/cuda" not in str(self) and real(self)
    )
    core_libraries.folder.cache_clear()
    yield monkeypatch
    core_libraries.folder.cache_clear()


@pytest.mark.parametrize(
    "inside", ["nvidia/cu13/include/cccl", "nvidia/cuda_cccl/include", "cuda/cccl/headers/include"]
)
def test_packages_of_the_index_have_them(elsewhere, tmp_path, inside):
    place = put(tmp_path / "site-packages" / inside, 1)
    assert core_libraries.folder() == place


def test_a_toolkit_comes_before_a_package_and_cuda_home_before_cuda_path(elsewhere, tmp_path):
    put(tmp_path / "site-packages/nvidia/cu13/include/cccl", 1)
    path, home = put(tmp_path / "a/include/cccl", 2), put(tmp_path / "b/include/cccl", 3)
    elsewhere.setenv("CUDA_PATH", str(tmp_path / "a"))
    assert core_libraries.folder() == path
    core_libraries.folder.cache_clear()
    elsewhere.setenv("CUDA_HOME", str(tmp_path / "b"))
    assert core_libraries.folder() == home


def test_the_folder_that_build_systems_get_has_them_where_toolkits_do(elsewhere, tmp_path):
    elsewhere.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
    without = cuda_home.make()
    assert not (without / "include/cccl").exists()
    elsewhere.setenv("ANYWARP_CCCL", str(put(tmp_path / "libraries", 1)))
    core_libraries.folder.cache_clear()
    home = cuda_home.make()
    assert home != without and (home / "include/cccl/thrust/version.h").is_file()
    elsewhere.setenv("ANYWARP_CCCL", "")
    elsewhere.setenv("CUDA_HOME", str(home))  # a program that is built with this folder finds the same
    core_libraries.folder.cache_clear()
    assert core_libraries.folder() == home / "include/cccl" and cuda_home.make() == home


def test_what_is_said_of_the_surroundings_names_them_for_cmake(elsewhere, tmp_path, capfd):
    elsewhere.setenv("ANYWARP_CCCL", str(put(tmp_path / "libraries", 1)))
    elsewhere.setenv("ANYWARP_CACHE_DIR", str(tmp_path / "cache"))
    elsewhere.chdir(tmp_path)
    Path("a.cu").write_text("")
    assert driver.run(["--dryrun", "-c", "a.cu"]) == 0
    said = f'#$ SYSTEM_INCLUDES="-isystem" "{cuda_home.folder()}/include/cccl"'
    assert said in capfd.readouterr().err
    elsewhere.setenv("ANYWARP_CCCL", "none")
    core_libraries.folder.cache_clear()
    assert driver.run(["--dryrun", "-c", "a.cu"]) == 0
    assert "SYSTEM_INCLUDES" not in capfd.readouterr().err


def test_where_there_are_none_nothing_is_searched(elsewhere, tmp_path):
    elsewhere.setenv("CUDA_HOME", str(tmp_path))
    assert core_libraries.folder() is None
    assert core_libraries.options() == []


def test_a_folder_that_is_named_must_have_them(elsewhere, tmp_path):
    elsewhere.setenv("ANYWARP_CCCL", str(tmp_path))
    with pytest.raises(AnywarpError, match=r"ANYWARP_CCCL\) has no thrust/version.h") as caught:
        core_libraries.folder()
    assert caught.value.diagnostic.code == "T009"


def test_they_are_searched_before_our_headers(nvcc, monkeypatch, tmp_path):
    monkeypatch.setenv("ANYWARP_CCCL", str(put(tmp_path / "libraries", 4711)))
    (tmp_path / "a.cu").write_text(ASKED)
    nvcc("-ptx", "a.cu", "-o", "a.ptx")
    assert "4711" in (tmp_path / "a.ptx").read_text()


def test_of_a_toolkit_that_has_them_beside_its_own_headers_only_they_are_taken(nvcc, monkeypatch, tmp_path):
    include = put(tmp_path / "toolkit/include", 4712)
    (include / "cuda_runtime.h").write_text("#error the toolkit's own header\n")
    monkeypatch.setenv("ANYWARP_CCCL", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    (tmp_path / "a.cu").write_text(ASKED)
    nvcc("-ptx", "a.cu", "-o", "a.ptx")
    assert "4712" in (tmp_path / "a.ptx").read_text()


def test_their_place_moves_with_the_toolkit(elsewhere, tmp_path):
    include = put(tmp_path / "toolkit/include", 1)
    (include / "cuda_runtime.h").write_text("")
    elsewhere.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    apart = core_libraries.folder()
    assert sorted(os.listdir(apart)) == ["cub", "cuda", "nv", "thrust"]
    (apart / "cub").unlink()
    (apart / "cub").symlink_to(tmp_path)
    core_libraries.folder.cache_clear()
    assert core_libraries.folder() == apart
    assert (apart / "cub").resolve() == include / "cub"


@pytest.mark.parametrize("header", ["thrust/device_vector.h", "cub/cub.cuh", "cuda/std/ranges"])
def test_a_program_that_wants_them_is_told_what_they_are_and_where_to_get_them(nvcc, tmp_path, header):
    (tmp_path / "a.h").write_text(f"#include <{header}>\n")
    (tmp_path / "a.cu").write_text('#include "a.h"\nint main() {}\n')
    said = nvcc("a.cu", "-o", "a", code=2).stderr
    assert "file not found" in said, "clang's own message is first"
    assert f"error[T009]: {header} belongs to" in said
    assert "pip install nvidia-cuda-cccl" in said


@pytest.mark.parametrize(
    "text", ['#include "no/thrust/a.h"', "#include <nowhere.h>\n#include <cuda/std/atomic>", "int x = y;"]
)
def test_other_errors_are_left_as_they_are(nvcc, tmp_path, text):
    (tmp_path / "a.cu").write_text(text + "\nint main() {}\n")
    assert "T009" not in nvcc("a.cu", "-o", "a", code=1).stderr


@pytest.mark.long
@pytest.mark.native
def test_what_programs_take_from_them_computes_what_the_host_does(nvcc, monkeypatch, tmp_path):
    monkeypatch.setenv("ANYWARP_CCCL", "")
    brought = [Path(each) / "cccl" for each in os.environ.get("NVIDIA_INCLUDE", "").split(":") if each]
    core_libraries.folder.cache_clear()
    place = next((each for each in brought if each.is_dir()), core_libraries.folder())
    if place is None:
        pytest.skip("no CUDA C++ Core Libraries (nvidia-cuda-cccl) here")
    monkeypatch.setenv("ANYWARP_CCCL", str(place))
    nvcc("-std=c++17", "--extended-lambda", "-O2", HERE / "core_libraries.cu", "-o", "program", seconds=600)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout == "53 checks, 0 wrong\n", done.stdout + done.stderr
    assert done.returncode == 0
