"""What an installation has: every library that the build makes, and libraries without a version that can be linked and opened."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anywarp import settings

pytestmark = pytest.mark.native

BUILD = settings.LIBRARY_DIR.get().resolve().parents[1]
UNVERSIONED = {
    "cuda": ("1", "cuInit"),
    "cudart": ("13", "cudaRuntimeGetVersion"),
    "nvrtc": ("13", "nvrtcVersion"),
    "nvJitLink": ("13", "nvJitLinkVersion"),
    "nvidia-ml": ("1", "nvmlInit_v2"),
    "nvToolsExt": ("1", "nvtxRangePop"),
    "cupti": ("12", "cuptiGetVersion"),
}


def made(folder):
    """Return the programs and libraries below a folder by their places within it; PyTorch's stand-in is a directory of its own."""
    files = (file for file in folder.rglob("*") if file.is_file() and "torch" not in file.relative_to(folder).parts)
    return {str(file.relative_to(folder)) for file in files if file.read_bytes()[:4] == b"\x7fELF"}


@pytest.mark.skipif(not (BUILD / "cmake_install.cmake").exists(), reason="this is no build")
def test_all_that_is_built_is_installed(tmp_path):
    cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if cmake is None:
        pytest.skip("this machine has no cmake")
    done = subprocess.run(
        [cmake, "--install", str(BUILD), "--prefix", str(tmp_path)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert {"libcuda.so.1", "libanywarp_audit.so", "hip/libcuda.so.1", "ptxas"} <= made(BUILD / "native/lib")
    assert made(BUILD / "native/lib") == made(tmp_path / "anywarp/lib")


@pytest.mark.parametrize("name", UNVERSIONED)
def test_a_library_without_a_version_is_linked(name, tmp_path):
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("this machine has no gcc")
    libraries, (version, function) = settings.LIBRARY_DIR.get().resolve(), UNVERSIONED[name]
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(f"int {function}(); int main(int c, char** v) {{ return c > 9 ? {function}(0, 0) : 0; }}\n")
    subprocess.run([compiler, source, f"-L{libraries}/stubs", f"-l{name}", "-o", program], check=True)
    shown = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    assert f"[lib{name}.so.{version}]" in shown
    assert subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": str(libraries)}).returncode == 0


OPENED = """
import ctypes, sys
first, second = map(ctypes.CDLL, sys.argv[1:3])
address = lambda library: ctypes.cast(getattr(library, sys.argv[3]), ctypes.c_void_p).value
assert address(first) == address(second), "two libraries in one process"
if sys.argv[3] == "cuInit":
    assert first.cuModuleLoadData(ctypes.byref(ctypes.c_void_p()), b"no image") != 0  # an exception within
    count = ctypes.c_int()
    assert first.cuInit(0) == 0 and second.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
"""


@pytest.mark.parametrize("name", ["cuda", "cupti"])
@pytest.mark.parametrize("order", [1, -1], ids=["without first", "with first"])
def test_a_library_without_a_version_is_the_one_with_it(name, order):
    libraries, (version, function) = settings.LIBRARY_DIR.get().resolve(), UNVERSIONED[name]
    paths = [f"{libraries}/lib{name}.so", f"{libraries}/lib{name}.so.{version}"][::order]
    done = subprocess.run([sys.executable, "-c", OPENED, *paths, function], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    by_name = [Path(path).name for path in paths]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
    done = subprocess.run(
        [sys.executable, "-c", OPENED, *by_name, function], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", UNVERSIONED)
def test_a_library_without_a_version_has_all_functions(name):
    libraries = settings.LIBRARY_DIR.get().resolve()

    def functions(file):
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", "-P", libraries / file], capture_output=True, text=True, check=True
        ).stdout
        return {line.split()[0].partition("@")[0] for line in listed.splitlines() if line.split()[1] in "TWi"}

    assert functions(f"stubs/lib{name}.so") == functions(f"lib{name}.so.{UNVERSIONED[name][0]}")
