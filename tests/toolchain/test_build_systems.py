"""CMake, pointed at the folder that is laid out as a toolkit: it takes the driver for nvcc, and what it builds runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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


DEFAULTS = """
cmake_minimum_required(VERSION 3.22)
project(x LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(device main.cu)
add_executable(mixed main.cu other.cpp)
add_executable(plain plain.cpp)
target_link_libraries(plain CUDA::cudart CUDA::cuda_driver CUDA::nvrtc CUDA::nvml)
message(STATUS "versions ${CMAKE_CUDA_COMPILER_VERSION} ${CUDAToolkit_VERSION}")
message(STATUS "architectures ${CMAKE_CUDA_ARCHITECTURES}")
"""
PLAIN = """
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nvml.h>
#include <nvrtc.h>
int main() {
  int count = 0, major, minor;
  unsigned managed = 0;
  if (nvmlInit() || nvmlDeviceGetCount(&managed)) return 2;
  return cuInit(0) || nvrtcVersion(&major, &minor) || cudaGetDeviceCount(&count) || count < 1 || managed < 1;
}
"""
CMAKES = sorted(
    {found for path in (None, str(Path(sys.executable).parent)) if (found := shutil.which("cmake", path=path))}
)


@pytest.mark.native
@pytest.mark.parametrize(
    "cmake", CMAKES or [pytest.param("", marks=pytest.mark.skip(reason="this machine has no cmake"))]
)
def test_cmake_needs_to_be_told_nothing_and_what_it_builds_starts_alone(nvcc, tmp_path, cmake):
    """No architecture, no library path: the compiler's output says the one, the linked library's name holds the other."""
    main = MAIN.replace("__device__ int times_three(int);", "__device__ int times_three(int x) { return 3 * x; }")
    for name, text in {"CMakeLists.txt": DEFAULTS, "main.cu": main, "other.cpp": "", "plain.cpp": PLAIN}.items():
        (tmp_path / name).write_text(text)
    home = nvcc("--print-cuda-home").stdout.strip()
    environment = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "CUDAARCHS")}
    words = ["-S", ".", "-B", "build", f"-DCMAKE_CUDA_COMPILER={home}/bin/nvcc", "-G", "Unix Makefiles"]
    configured = subprocess.run([cmake, *words], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    told = nvcc("--version").stdout.rpartition(", V")[2].strip()
    assert f"versions {told} {told}\n" in configured.stdout
    assert "architectures 80\n" in configured.stdout
    built = subprocess.run([cmake, "--build", "build"], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert built.returncode == 0, built.stdout + built.stderr
    environment["ANYWARP_BUILD_ID"] = build_id()
    for program, words in (("device", ["3", "93"]), ("mixed", ["3", "93"]), ("plain", [])):
        ran = subprocess.run(
            [tmp_path / "build" / program], env=environment, capture_output=True, text=True, check=True
        )
        assert ran.stdout.split() == words, (program, ran.stderr)
