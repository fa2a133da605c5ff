"""One text for both vendors is compiled for both: as HIP, and as CUDA by `anywarp nvcc`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.diagnostics import AnywarpError
from anywarp.migrate.target import parse_target
from anywarp.migrate.translate import check
from anywarp.toolchain import clang
from migrate.translate import device_code

HERE = Path(__file__).resolve()
EXAMPLES = HERE.parents[3] / "examples" / "cuda"
PROGRAMS = ("vector_add.cu", "scan.cu", "reduction.cu", "callbacks.cu")


def _has_clang() -> bool:
    try:
        clang.find()
    except AnywarpError:
        return False
    return True


@pytest.fixture(scope="module")
def dual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some examples and the kernels of warps.cu, translated with --keep-cuda."""
    source, output = tmp_path_factory.mktemp("in"), tmp_path_factory.mktemp("dual") / "out"
    for path in (*(EXAMPLES / name for name in ("example.h", *PROGRAMS)), HERE.with_name("warps.cu")):
        (source / path.name).write_bytes(path.read_bytes())
    done = device_code.translate(source, output, "gfx942", "--keep-cuda")
    assert done.returncode == 0, done.stdout + done.stderr
    return output


@pytest.mark.hip_compiler
def test_it_compiles_as_hip(dual: Path):
    found = list(check.check(dual, [*PROGRAMS, "warps.cu"], parse_target("hip:gfx942", rocm="7.1")))
    assert {each.path: each.result for each in found if each.state != "compiles"} == {}


@pytest.mark.skipif(not _has_clang(), reason="no clang that compiles CUDA")
@pytest.mark.parametrize("program", [*PROGRAMS, "warps.cu"])
def test_it_compiles_as_cuda(dual: Path, tmp_path: Path, program: str):
    command = [sys.executable, "-m", "anywarp", "nvcc", "-c", str(dual / program), "-o", str(tmp_path / "out.o")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
