"""A wheel in an empty environment, with no compiler in reach, as a stranger installs it. `scripts/ci wheel` builds one and runs this.

WHEEL names the file, WHEEL_PYTHON the Python that gets it (the one of the tests otherwise). Packages come from the index.
"""

import importlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

WHEEL = os.environ.get("WHEEL")
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
COMPILERS = ("cc", "gcc", "g++", "c++", "clang", "clang++", "ld", "as", "nvcc", "ptxas", "zig")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(WHEEL is None, reason="WHEEL names no wheel: scripts/ci wheel builds one"),
    pytest.mark.timeout(1800),
]

PROGRAM = """
import ctypes, sys

PTX = b'''
.version 7.0
.target sm_70
.address_size 64
.visible .entry triple(.param .u64 place, .param .u32 count) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [place]; ld.param.u32 %r0, [count];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0;
  @%p ret;
  mul.wide.u32 %d1, %r4, 4; add.u64 %d2, %d0, %d1;
  ld.global.u32 %r5, [%d2]; mul.lo.u32 %r5, %r5, 3; st.global.u32 [%d2], %r5;
  ret;
}
'''
cuda = ctypes.CDLL("libcuda.so.1")

def check(status):
    assert status == 0, status

context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
place, count = ctypes.c_uint64(), ctypes.c_uint32(1000)
numbers = (ctypes.c_uint32 * count.value)(*range(count.value))
check(cuda.cuInit(0))
check(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0))
check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b"triple"))
check(cuda.cuMemAlloc_v2(ctypes.byref(place), ctypes.sizeof(numbers)))
check(cuda.cuMemcpyHtoD_v2(place, numbers, ctypes.sizeof(numbers)))
arguments = (ctypes.c_void_p * 2)(*(ctypes.addressof(each) for each in (place, count)))
check(cuda.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, None, arguments, None))
check(cuda.cuMemcpyDtoH_v2(numbers, place, ctypes.sizeof(numbers)))
assert list(numbers) == [3 * each for each in range(count.value)]
print("right")
"""

TRAINING = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
inputs = torch.randn(256, 8, device="cuda")
wanted = inputs.sum(1, keepdim=True)
losses = []
for _ in range(60):
    loss = torch.nn.functional.mse_loss(model(inputs), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert loss.device == torch.device("cuda:0") and losses[-1] < losses[0] / 10, losses
try:
    inputs + torch.ones(256, 8)
except RuntimeError as error:
    assert "at least two devices" in str(error)
else:
    raise AssertionError("devices were mixed")
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libanywarp_torch" in line}
print(torch.__version__, *mapped)
"""


class Installed:
    """An environment with the wheel; `run` starts its commands with nothing else on the search path."""

    def __init__(self, place: Path):
        self.bin, self.place = place / "environment/bin", place
        python = os.environ.get("WHEEL_PYTHON", sys.executable)
        subprocess.run([python, "-m", "venv", place / "environment"], check=True)
        self.environment = {
            "PATH": str(self.bin), "HOME": str(place), "LC_ALL": "C.UTF-8", "ANYWARP_SERVICE_IDLE": "10",
            **{name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "OPENBLAS_"))},
        }  # fmt: skip

    def run(self, *command, **options):
        """Run a command of the environment to its end; what it prints is in the message of a failure."""
        words = [str(self.bin / command[0]) if (self.bin / str(command[0])).exists() else str(command[0])]
        words += map(str, command[1:])
        done = subprocess.run(
            words, env=self.environment, cwd=self.place, capture_output=True, text=True, timeout=900, **options
        )
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def add(self, *requirements):
        """Install packages, never from source."""
        self.run("python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *requirements)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    place = Installed(tmp_path_factory.mktemp("stranger"))
    place.add(Path(WHEEL).absolute())
    return place


def test_no_compiler_is_in_reach(installed):
    assert [each for each in COMPILERS if shutil.which(each, path=installed.environment["PATH"])] == []


def test_the_wheel_is_for_old_systems():
    assert "manylinux_2_28_" in Path(WHEEL).name
    assert Path(WHEEL).stat().st_size < 60 << 20


def test_the_wheel_has_the_device_library_as_bitcode():
    with zipfile.ZipFile(WHEEL) as files:
        assert files.read("anywarp/lib/libdevice.10.bc")[:4] == b"BC\xc0\xde"


def test_a_python_program_runs(installed):
    (installed.place / "program.py").write_text(PROGRAM)
    assert installed.run("anywarp", "run", "--", "python", "program.py").endswith("right\n")


def test_every_library_loads(installed):
    found = installed.run(
        "python", "-c", "import anywarp, pathlib; print(pathlib.Path(anywarp.__file__).parent / 'lib')"
    )
    libraries = [each for each in Path(found.strip()).rglob("*.so*") if each.parent.name not in ("stubs", "torch")]
    assert len(libraries) > 30
    script = "import ctypes, sys; [ctypes.CDLL(each) for each in sys.argv[1:]]"
    for folder in {each.parent for each in libraries}:
        mine = [each for each in libraries if each.parent == folder and not each.name.startswith("libanywarp_")]
        # A library may need another of the same folder, or, in hip/, of the one above.
        if mine:
            installed.run("python", "-c", script, *sorted(mine))


def test_the_machine_is_examined(installed):
    assert "cpu" in installed.run("anywarp", "doctor")
    assert installed.run("anywarp", "explain", "C101")


def test_instructions_compute_what_they_must(installed):
    installed.run("anywarp", "selftest", "--every", "100")


def test_cuda_sources_are_compiled_by_the_extra_nvcc(installed):
    installed.add(f"{Path(WHEEL).absolute()}[nvcc]")
    installed.run("anywarp", "nvcc", "-O3", EXAMPLES / "cuda/vector_add.cu", "-o", "vector_add")
    assert "vector_add: right" in installed.run("anywarp", "run", "--", "./vector_add")


@pytest.fixture
def standins(monkeypatch):
    """Return the versions of torch that a release compiles stand-ins for, on this processor."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    inputs = importlib.import_module("releasing.standins").inputs(os.uname().machine)
    return [each.version for each in inputs if each.package == "torch"]


def test_the_wheel_has_a_stand_in_for_each_version_of_torch(standins, tmp_path):
    from anywarp.frameworks.torch import binary

    with zipfile.ZipFile(WHEEL) as files:
        names = [each for each in files.namelist() if each.startswith("anywarp/lib/torch/") and each.endswith(".so")]
        made = {name.split("/")[3]: files.extract(name, tmp_path) for name in names}
    assert sorted(made) == sorted(standins)
    for version, path in made.items():
        identity = binary.built_for(Path(path)) or ""
        assert identity.startswith(f"{version} ") and len(identity.split()[1]) == 40


def test_a_pytorch_program_runs_on_cuda(installed, standins):
    python = installed.bin / "python"
    got = subprocess.run(
        [python, ROOT / "scripts/cpu_torch"], env=installed.environment, capture_output=True, text=True
    )
    if got.returncode:
        assert "tests of PyTorch will be skipped" in got.stderr, got.stderr
        pytest.skip("this machine has no torch")
    (installed.place / "train.py").write_text(TRAINING)
    version, library = installed.run("anywarp", "run", "--", "python", "train.py").split()
    version = version.partition("+")[0]
    assert version in standins
    assert library.endswith(f"/site-packages/anywarp/lib/torch/{version}/libanywarp_torch.so")
    assert not list(installed.place.rglob("errors.txt")) and not (installed.place / ".cache/anywarp/torch").exists()
