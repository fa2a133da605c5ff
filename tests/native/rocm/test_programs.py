"""A program written for CUDA's libraries gets right numbers from libraries under ROCm's names that compute on the host."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from anywarp.catalogue.rocm_libraries import LIBRARIES
from fakes.rocm import build
from native.rocm.programs import library_of, soname_of

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def rocm(tmp_path_factory):
    """A folder with libraries that compute."""
    folder = tmp_path_factory.mktemp("rocm")
    for stem in LIBRARIES:
        target = folder / soname_of(stem, 7)
        subprocess.run(
            ["cc", "-O1", "-w", "-shared", "-fPIC", f"-DFAKE_{stem}", "-o", target, HERE / "computing.c", "-lm"],
            check=True,
        )
    return folder


@pytest.mark.parametrize("place", [0, -1], ids=["CUDA 12", "CUDA 13"])
def test_a_program_gets_right_numbers(place, rocm, tmp_path):
    libraries = [library_of(replaced.variants[place].soname) for replaced in LIBRARIES.values()]
    program = tmp_path / "program"
    subprocess.run(
        ["c++", "-std=c++17", "-O0", "-Wall", "-o", program, HERE / "user_program.cpp", *libraries],
        check=True,
        timeout=100,
    )
    needed = subprocess.run(["readelf", "-V", "-W", program], capture_output=True, text=True, check=True).stdout
    assert (
        "libcublas.so.1" in needed
    )  # linked to versions of symbols, as programs are that were built with NVIDIA's libraries
    environment = os.environ | {
        "ANYWARP_ROCM_PATH": str(rocm),
        "ANYWARP_HIP_LIBRARY": str(build.hip() / "7" / "libamdhip64.so.7"),
        "FAKE_HIP_DEVICES": "gfx942,gfx942,gfx942",
        "LD_LIBRARY_PATH": str(libraries[0].parent),
    }
    ran = subprocess.run([program], capture_output=True, text=True, timeout=60, env=environment)
    assert ran.returncode == 0 and ran.stdout == "all right\n", ran.stderr
