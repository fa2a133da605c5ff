"""`cuda` mapped to an accelerator of torch's own: the toy under its own name, and as a simulation of a torch built for XPU.

The toy (tests/fakes/accelerator) is compiled here, the library that maps `cuda` by `anywarp run` at its first use; both are kept in build/.
"""

import ast
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp.frameworks.torch import found

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FAKE = ROOT / "tests" / "fakes" / "accelerator"
KEPT = ROOT / "build" / "fakes" / "accelerator"
PROGRAM, ON_TWO_RANKS = HERE / "program.py", HERE / "collectives_program.py"


def checks_of(program):
    functions = (each for each in ast.parse(program.read_text()).body if isinstance(each, ast.FunctionDef))
    return [each.name for each in functions if each.name.startswith("check_")]


KINDS = {"toy": "PrivateUse1", "xpu": "XPU"}

pytestmark = [pytest.mark.torch, pytest.mark.slow]


def torch_here():
    spec = importlib.util.find_spec("torch")
    if spec is None:
        pytest.skip("this machine has no torch")
    torch = found.read(Path(spec.origin).parent)
    if torch.vendor:
        pytest.skip(f"torch is a {torch.vendor} build")
    return torch


def library(name):
    """The toy compiled under the device type that a name has."""
    torch, kind, sources = torch_here(), KINDS[name], [FAKE / each for each in ("toy.cpp", "collectives.cpp")]
    content = b"".join(each.read_bytes() for each in sources)
    known = hashlib.sha256(content + torch.identity.encode() + kind.encode()).hexdigest()[:16]
    target = KEPT / f"libtoy-{known}.so"
    if not target.exists():
        if shutil.which("g++") is None:
            pytest.skip("this machine has no g++")
        KEPT.mkdir(parents=True, exist_ok=True)
        include, beside = torch.folder / "include", target.with_suffix(f".{os.getpid()}")
        command = [
            *("g++", "-std=c++20", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"),
            *("-Wno-unused-parameter", f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.has_cxx11_strings())}"),
            *(f"-DTOY={kind}", f"-DTOY_IS_{kind.upper()}", "-isystem", str(include)),
            *("-isystem", str(include / "torch/csrc/api/include"), *map(str, sources), "-o", str(beside)),
            *(f"-L{torch.folder / 'lib'}", "-lc10", "-ltorch_cpu"),
        ]
        subprocess.run(command, check=True, timeout=1500)
        os.replace(beside, target)
    return target


def run(name, *arguments, toy=True, **more):
    """Run Python under `anywarp run --device NAME`, with the toy installed as a package of a vendor's."""
    command = [sys.executable, "-m", "anywarp", "run", "--device", name, "--", sys.executable, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ANYWARP_CACHE_DIR": str(KEPT / "cache"), "TOY_NAME": name}
    if toy:
        environment |= {"PYTHONPATH": str(FAKE), "TOY_LIBRARY": str(library(name))}
    environment.pop("ANYWARP_TORCH_LIBRARY", None)
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env={**environment, **more})


@pytest.fixture(scope="module", params=KINDS)
def outcomes(request):
    done = run(request.param, PROGRAM)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", checks_of(PROGRAM))
def test_a_program_for_cuda(outcomes, name):
    assert not outcomes[name], outcomes[name]


@pytest.fixture(scope="module")
def outcomes_of_ranks(tmp_path_factory):
    said = tmp_path_factory.mktemp("ranks") / "outcomes"
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")
    done = run("toy", *launcher, ON_TWO_RANKS, TOY_COLLECTIVES="1", OUTCOMES=str(said))
    assert done.returncode == 0, done.stderr
    return [json.loads(Path(f"{said}.{rank}").read_text()) for rank in (0, 1)]


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", checks_of(ON_TWO_RANKS))
def test_a_program_for_nccl_on_two_ranks(outcomes_of_ranks, name):
    for outcomes in outcomes_of_ranks:
        assert not outcomes[name], outcomes[name]


def test_a_torch_without_that_accelerator_is_an_error_before_the_program_starts():
    torch_here()
    done = run("xpu", "-c", "print('started')", toy=False)
    assert done.returncode == 2 and "started" not in done.stdout
    assert "error[F021]" in done.stderr and "sees no xpu" in done.stderr and "torch.xpu.is_available()" in done.stderr
    done = run("npu", "-c", "print('started')", toy=False)
    assert done.returncode == 2 and "started" not in done.stdout
    assert "error[F020]" in done.stderr and "has no device 'npu'" in done.stderr


def test_a_vendors_package_whose_device_is_absent_is_an_error_before_the_program_starts():
    done = run("toy", "-c", "print('started')", TOY_ABSENT="1")
    assert done.returncode == 2 and "started" not in done.stdout and "error[F021]" in done.stderr


def test_a_name_that_nobody_has_is_refused_without_importing_torch():
    done = run("abacus", "-c", "print('started')", toy=False)
    assert done.returncode == 2 and "error[D001]" in done.stderr and not done.stdout


def test_an_environment_without_torch_says_so(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_text(f'#!/bin/sh\nexec {sys._base_executable} -S -I "$@"\n')  # type: ignore
    (tmp_path / "bin" / "python3").chmod(0o755)
    (tmp_path / "pyvenv.cfg").write_text("")
    command = [
        sys.executable,
        "-m",
        "anywarp",
        "run",
        "--device",
        "xpu",
        "--",
        str(tmp_path / "bin" / "python3"),
        "-c",
        "1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and "error[F020]" in done.stderr and "No module named 'torch'" in done.stderr


@pytest.mark.parametrize("option", ["--summary", "--pure", "--report=r.json", "--trace=t.json"])
def test_options_that_would_say_nothing_are_refused(option):
    command = [sys.executable, "-m", "anywarp", "run", "--device", "xpu", option, "--", sys.executable, "-c", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2 and "error[F022]" in done.stderr


def test_a_child_process_is_served_too_and_the_changes_are_written_down(tmp_path):
    code = (
        "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', "
        "'import torch; x = torch.ones(3).cuda(); print(x.device, x.sum().item())']))"
    )
    done = run("toy", "-c", code, ANYWARP_PATCH_REPORT=str(tmp_path))
    assert done.stdout == "cuda:0 3.0\n", done.stderr
    text = "".join(file.read_text() for file in tmp_path.glob("*.jsonl"))
    assert "those of toy" in text and "_cuda_getDeviceCount" in text


def test_a_process_with_another_torch_is_told_once():
    code = "import os; os.environ['TOY_ABSENT'] = '1'; import torch; print(torch.cuda.is_available())"
    done = run("toy", "-c", code)
    assert done.stdout == "False\n" and done.stderr.count("F021") == 1
