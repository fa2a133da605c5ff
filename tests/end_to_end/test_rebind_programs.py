"""Programs as nvcc builds them by default, with NVIDIA's runtime inside, run on ours when redirected, and say why not when not."""

import subprocess
import sys

import pytest

from anywarp import settings

pytestmark = [pytest.mark.native, pytest.mark.nvcc]

KERNEL = """
#include <cstdio>
__global__ void add(int* a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] += 3 * i; }
static int work() {
  constexpr int n = 1000;
  int host[n], *device, wrong = 0;
  for (int i = 0; i < n; ++i) host[i] = 7 * i;
  if (cudaError_t e = cudaMalloc(&device, sizeof host)) return 1000 + e;
  cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice);
  add<<<4, 256>>>(device, n);
  if (cudaError_t e = cudaGetLastError()) return 1000 + e;
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (int i = 0; i < n; ++i) wrong += host[i] != 10 * i;
  return wrong;
}
"""
PROGRAM = KERNEL + 'int main() { printf("%d\\n", work()); }\n'
LIBRARY = KERNEL + 'extern "C" int wrong() { return work(); }\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("nvcc")


def build(folder, name, source, *flags):
    (folder / f"{name}.cu").write_text(source)
    subprocess.run(
        ["nvcc", "-arch=sm_80", "-o", folder / name, folder / f"{name}.cu", *flags], check=True, capture_output=True
    )
    return folder / name


@pytest.fixture(scope="module")
def program(folder):
    return build(folder, "program", PROGRAM)


@pytest.fixture(scope="module")
def library(folder):
    return build(folder, "libwork.so", LIBRARY, "-shared", "-Xcompiler", "-fPIC")


def run(*command, rebind=True):
    words = [sys.executable, "-m", "anywarp", "run", *(["--rebind"] if rebind else []), "--", *map(str, command)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def test_a_program_runs_redirected(program):
    ran = run(program)
    assert (ran.stdout, ran.stderr) == ("0\n", "")


def test_without_debug_information(program, folder):
    subprocess.run(["strip", "--strip-debug", "-o", folder / "undebugged", program], check=True)
    ran = run(folder / "undebugged")
    assert (ran.stdout, ran.stderr) == ("0\n", "")


@pytest.mark.parametrize("flags", [("-rdc=true",), ("-Xcompiler", "-no-pie", "-Xlinker", "-no-pie")])
def test_relocatable_device_code_and_fixed_addresses(folder, flags):
    ran = run(build(folder, f"program{len(flags)}", PROGRAM, *flags))
    assert (ran.stdout, ran.stderr) == ("0\n", "")


def test_a_library_loaded_again_and_again(library):
    script = (
        "import ctypes, sys, _ctypes\n"
        "for _ in range(5):\n"
        "    loaded = ctypes.CDLL(sys.argv[1]); print(loaded.wrong()); _ctypes.dlclose(loaded._handle)\n"
    )
    ran = run(sys.executable, "-c", script, library)
    assert (ran.stdout, ran.stderr) == ("0\n" * 5, "")


def test_without_being_asked_for_one_message_says_what_to_do(program):
    ran = run(program, rebind=False)
    assert int(ran.stdout) > 1000
    assert ran.stderr.startswith(f"anywarp: error[N001]: {program} carries NVIDIA's CUDA runtime")
    assert ran.stderr.count("\n") == 1


def test_a_stripped_program_says_so_once(program, folder):
    subprocess.run(["strip", "-s", "-o", folder / "stripped", program], check=True)
    ran = run(folder / "stripped")
    assert int(ran.stdout) > 1000
    assert ran.stderr.startswith(f"anywarp: warning[N002]: {folder / 'stripped'} carries NVIDIA's CUDA runtime")
    assert ran.stderr.count("\n") == 1


def test_the_shared_runtime_needs_no_redirection(folder):
    if not (settings.LIBRARY_DIR.get() / "libcudart.so.13").exists():
        pytest.skip("libcudart is not built")
    ran = run(build(folder, "shared", PROGRAM, "-cudart", "shared"), rebind=False)
    assert (ran.stdout, ran.stderr) == ("0\n", "")
