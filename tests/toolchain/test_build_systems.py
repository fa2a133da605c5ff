"""CMake, pointed at the folder that is laid out as a toolkit: it takes the driver for nvcc, and what it builds runs."""

import os
import shutil
import subprocess

import pytest

from anywarp import settings
from anywarp.runtime.build_id import build_id

LISTS = """
cmake_minimum_required(VERSION 3.22)
project(x LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_library(parts STATIC parts.cu)
set_target_properties(parts PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
add_executable(program main.cu)
target_link_libraries(program parts CUDA::cudart)
set_target_properties(program PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
message(STATUS "found ${CMAKE_CUDA_COMPILER_ID} ${CUDAToolkit_VERSION_MAJOR}")
"""
PARTS = "__device__ int times_three(int x) { return 3 * x; }\n"
MAIN = """
#include <cstdio>
__device__ int times_three(int);
__global__ void k(int* p) { p[threadIdx.x] = times_three(threadIdx.x); }
int main() {
  int host[32], *p;
  cudaMalloc(&p, sizeof host);
  k<<<1, 32>>>(p);
  cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
  printf("%d %d\\n", host[1], host[31]);
}
"""


@pytest.mark.long
@pytest.mark.native
@pytest.mark.skipif(shutil.which("cmake") is None, reason="this machine has no cmake")
def test_cmake_builds_a_program_of_several_files(nvcc, tmp_path):
    for name, text in {"CMakeLists.txt": LISTS, "parts.cu": PARTS, "main.cu": MAIN}.items():
        (tmp_path / name).write_text(text)
    home = nvcc("--print-cuda-home").stdout.strip()
    words = ["-S", ".", "-B", "build", f"-DCMAKE_CUDA_COMPILER={home}/bin/nvcc", "-DCMAKE_CUDA_ARCHITECTURES=80"]
    configured = subprocess.run(["cmake", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    assert "found NVIDIA 13" in configured.stdout
    built = subprocess.run(["cmake", "--build", "build"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    environment = {**os.environ, "ANYWARP_BUILD_ID": build_id(), "LD_LIBRARY_PATH": str(settings.LIBRARY_DIR.get())}
    ran = subprocess.run([tmp_path / "build/program"], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["3", "93"]
