"""Programs that the driver builds and this machine runs: what they print is told by themselves and checked here."""

import numpy as np
import pytest

from anywarp import settings
from toolchain.programs import started

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(
        not (settings.LIBRARY_DIR.get() / "libcudart.so.13").exists(), reason="libcudart.so.13 is not built"
    ),
]


@pytest.fixture
def build(nvcc, tmp_path):
    """Build a program of files and run it; returns its words."""

    def run(files, *words, name="program"):
        for file, text in files.items():
            (tmp_path / file).write_text(text)
        nvcc(*words, *[file for file in files if not file.endswith(".h")], "-o", name)
        return start(tmp_path / name)

    return run


def start(program):
    return started(program).stdout.split()


SUM = """
#include <cstdio>
#include <vector>
__constant__ float scale[2];
__device__ int launches;
template <class T> __global__ void add(const T* a, const T* b, T* c, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i == 0) atomicAdd(&launches, 1);
  if (i < n) c[i] = a[i] * scale[0] + b[i] * scale[1];
}
int main() {
  const int n = 1000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = i, b[i] = 3 * i + 1;
  float *x, *y, *z, factors[2] = {2, 5};
  cudaMalloc(&x, n * 4), cudaMalloc(&y, n * 4), cudaMalloc(&z, n * 4);
  cudaMemcpy(x, a.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(y, b.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol(scale, factors, sizeof factors);
  add<<<(n + 127) / 128, 128>>>(x, y, z, n);
  cudaMemcpy(c.data(), z, n * 4, cudaMemcpyDeviceToHost);
  int wrong = 0, count;
  for (int i = 0; i < n; ++i) wrong += c[i] != 2 * a[i] + 5 * b[i];
  cudaMemcpyFromSymbol(&count, launches, sizeof count);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, add<float>);
  int grid, block;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, add<float>);
  printf("%d %d %d %d %s\\n", wrong, count, attributes.maxThreadsPerBlock, block % 32, cudaGetErrorString(cudaGetLastError()));
}
"""


@pytest.mark.parametrize(
    "words", [[], ["-cudart", "shared", "-O3"], ["-arch=sm_86", "-G", "-g"], ["-default-stream", "per-thread"]]
)
def test_a_program_with_constants_variables_and_templates(build, words):
    assert build({"sum.cu": SUM}, *words) == ["0", "1", "1024", "0", "no", "error"]


FIRST = """
#include "parts.h"
__device__ int counter;
static __device__ int own = 9;
__device__ int twice(int x) { return 2 * x + plus_one(own); }
"""
SECOND = """
#include <cstdio>
#include "parts.h"
static __device__ int own = 5;
namespace { __global__ void hidden(int* p) { *p = own; } }
__global__ void k(int* out) {
  out[threadIdx.x] = twice(threadIdx.x) + plus_one(1);
  if (threadIdx.x == 0) counter = 77 + own;
}
int main() {
  int* p;
  cudaMallocManaged(&p, 256);
  k<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  printf("%d %d ", p[0], p[31]);
  hidden<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  int seen = 0;
  cudaMemcpyFromSymbol(&seen, counter, sizeof seen);
  printf("%d %d\\n", p[0], seen);
}
"""
PARTS = """
extern __device__ int twice(int);
extern __device__ int counter;
template <class T> __device__ T plus_one(T x) { return x + 1; }
"""
RELOCATABLE = {"parts.h": PARTS, "first.cu": FIRST, "second.cu": SECOND}


def test_device_code_is_linked_across_files(build):
    # twice(x) = 2 x + 10; plus_one(1) = 2; counter = 77 + 5
    assert build(RELOCATABLE, "-rdc=true") == ["12", "74", "5", "82"]


def test_device_code_is_linked_from_objects_archives_and_in_a_step_of_its_own(build, nvcc, tmp_path):
    expected = build(RELOCATABLE, "-rdc=true")
    nvcc("-dc", "first.cu", "second.cu")
    nvcc("-lib", "first.o", "-o", "libfirst.a")
    nvcc("second.o", "-L.", "-lfirst", "-o", "archived")
    assert start(tmp_path / "archived") == expected
    nvcc("-dlink", "first.o", "second.o", "-o", "device.o")
    nvcc("-nodlink", "first.o", "second.o", "device.o", "-o", "apart")
    assert start(tmp_path / "apart") == expected


def test_a_function_that_no_file_defines_is_named(nvcc, tmp_path):
    for file, text in RELOCATABLE.items():
        (tmp_path / file).write_text(text)
    nvcc("-dc", "first.cu", "second.cu")
    (tmp_path / "again.cu").write_text(FIRST)
    nvcc("-dc", "again.cu")
    done = nvcc("first.o", "again.o", "second.o", "-o", "twice", code=2)
    assert "T005" in done.stderr


MANAGED = """
#include <cstdio>
struct S { int a; float b[4]; };
__device__ __managed__ int x = 42;
__managed__ S s;
static __managed__ float table[64];
__global__ void k() { x += 1; s.b[2] = 3.5f; table[threadIdx.x] = threadIdx.x * 2.0f; }
int pick(bool c, int i) { int& r = c ? x : s.a; return r + table[i]; }
int main() {
  int before = x;
  s.a = 5;
  k<<<1, 64>>>();
  cudaDeviceSynchronize();
  printf("%d %d %g %d %d\\n", before, x, s.b[2], pick(true, 3), pick(false, 4));
}
"""


@pytest.mark.parametrize("words", [["-O0"], ["-O3"], ["-O1", "-rdc=true"]])
def test_managed_variables_are_the_same_on_both_sides(build, words):
    assert build({"managed.cu": MANAGED}, *words) == ["42", "43", "3.5", "49", "13"]


LIBRARY = """
__global__ void square(int* p) { p[threadIdx.x] *= p[threadIdx.x]; }
extern "C" void squares(int* p, int n) { square<<<1, n>>>(p); }
"""
USER = """
#include <cstdio>
#include <cuda_runtime.h>
extern "C" void squares(int*, int);
int main() {
  int *p;
  cudaMallocManaged((void**)&p, 40);
  for (int i = 0; i < 10; ++i) p[i] = i;
  squares(p, 10);
  printf("%d ", cudaDeviceSynchronize());
  for (int i = 0; i < 10; ++i) printf("%d ", p[i]);
}
"""


def test_a_shared_library_with_kernels_serves_a_program_in_plain_c_plus_plus(nvcc, tmp_path):
    (tmp_path / "squares.cu").write_text(LIBRARY)
    (tmp_path / "user.cpp").write_text(USER)
    nvcc("-shared", "-Xcompiler", "-fPIC", "squares.cu", "-o", "libsquares.so")
    nvcc("user.cpp", "-L.", "-lsquares", "-Xlinker", f"-rpath={tmp_path}", "-o", "user")
    assert start(tmp_path / "user") == ["0", *(str(i * i) for i in range(10))]


CONFIGURED = """
#include <cstdio>
__global__ void k(long a, double b, double* out) { out[blockIdx.x] = a + b * gridDim.x; }
int main() {
  double* out;
  cudaMallocManaged(&out, 64);
  cudaLaunchConfig_t config = {};
  config.gridDim = 3, config.blockDim = 1;
  int status = cudaLaunchKernelEx(&config, k, 7, 2.5f, out);
  cudaDeviceSynchronize();
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  float* host = nullptr;
  status += cudaMallocAsync(&host, 64, stream) + cudaFreeAsync(host, stream) + cudaStreamSynchronize(stream);
  auto format = cudaCreateChannelDesc<ushort4>();
  printf("%d %g %g %d\\n", status, out[0], out[2], format.w * 10 + format.f);
}
"""


def test_templates_of_the_runtime_convert_their_arguments(build):
    # a channel of 16 bits, kind unsigned (1)
    assert build({"configured.cu": CONFIGURED}) == ["0", "14.5", "14.5", "161"]


def test_compile_link_and_run_in_one(nvcc, tmp_path):
    (tmp_path / "say.cu").write_text("#include <cstdio>\nint main(int, char** words) { puts(words[1]); return 3; }\n")
    assert nvcc("-run", "say.cu", "--run-args", "hello", code=3).stdout.split() == ["hello"]


HOST = """
#include <climits>
#include <cstdio>
#include <vector>
__attribute__((noinline)) bool grows(int x) { return x + 1 > x; }
__global__ void twice(int* p) { register int x = *p; *p = 2 * x; }
constexpr int kRows = 128, kColumns = 256;
int main(int argc, char**) {
  register int most = INT_MAX;
  std::vector<char> cells(kRows * kColumns), next(kRows * kColumns);
  unsigned state = argc;
  for (auto& cell : cells) state = state * 1664525u + 1013904223u, cell = state >> 24 > 180;
  for (int y = 0; y < kRows; ++y) {  // one generation of the game of life, indices by remainders
    for (int x = 0; x < kColumns; ++x) {
      int around = -cells[y * kColumns + x];
      for (int dy = kRows - 1; dy <= kRows + 1; ++dy) {
        for (int dx = kColumns - 1; dx <= kColumns + 1; ++dx) around += cells[(y + dy) % kRows * kColumns + (x + dx) % kColumns];
      }
      next[y * kColumns + x] = around == 3 || (around == 2 && cells[y * kColumns + x]);
    }
  }
  int alive = 0;
  for (char cell : next) alive += cell;
  printf("%d %d\\n", grows(most), alive);
}
"""


def alive():
    """Return how many cells HOST must count, by another way: all at once."""
    state, cells = 1, []
    for _ in range(128 * 256):
        state = (state * 1664525 + 1013904223) % 2**32
        cells.append(state >> 24 > 180)
    board = np.array(cells, int).reshape(128, 256)
    around = sum(np.roll(board, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)) - board
    return int(np.sum((around == 3) | ((around == 2) & (board == 1))))


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_code_for_the_host_does_what_that_of_its_own_compiler_does(build, level):
    """Signed numbers wrap around, loops over remainders are right, and `register` is a warning in C++17."""
    assert build({"host.cu": HOST}, level, "-std=c++17") == ["0", str(alive())]


ASSERTION = """
#ifdef SIDES
extern "C" SIDES void __assert_fail(const char*, const char*, unsigned int, const char*) noexcept __attribute__((noreturn));
#define check(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, __func__))
#else
#include <cassert>
#define check assert
#endif
#include <csignal>
#include <cstdio>
#include <cstdlib>
__device__ int device_only(int i) { check(i < 40); return i; }
__host__ __device__ int both(int i) { check(i >= 0); return i; }
__global__ void kernel(int* p) { p[threadIdx.x] = device_only(threadIdx.x) + both(threadIdx.x); }
int main() {
  int* p;
  cudaMalloc(&p, 256);
  kernel<<<1, 40>>>(p);
  printf("%d\\n", cudaDeviceSynchronize());
  kernel<<<1, 41>>>(p);
  printf("%d\\n", cudaDeviceSynchronize());
  fflush(stdout);
  signal(SIGABRT, [](int) { _Exit(0); });
  both(-1);
  printf("came back\\n");
}
"""


@pytest.mark.parametrize("words", [(), ("-DNDEBUG", "-DSIDES="), ("-DNDEBUG", "-DSIDES=__host__ __device__")])
def test_who_ever_declares_what_assert_calls_each_side_ends_in_its_own(build, words):
    """PyTorch's headers declare it for the host where clang compiles, CCCL's for both sides where NDEBUG keeps <assert.h> from it."""
    assert build({"assertion.cu": ASSERTION}, *words) == ["0", "710"]


RANDOM = """
#include <curand_kernel.h>
#include <cstdio>
__global__ void k(float* own, float* given) {
  curandStatePhilox4_32_10_t state;
  curand_init(7, 0, 0, &state);
  own[0] = curand_uniform(&state), own[1] = given[0];
}
int main() {
  curandGenerator_t generator;
  float *numbers, *out;
  cudaMallocManaged(&numbers, 4096), cudaMallocManaged(&out, 8);
  curandStatus_t done = curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10);
  if (done == CURAND_STATUS_SUCCESS) curandSetPseudoRandomGeneratorSeed(generator, 7);
  curandGenerateUniform(generator, numbers, 1024);
  k<<<1, 1>>>(out, numbers);
  cudaDeviceSynchronize();
  printf("%d %d\\n", done, out[0] > 0 && out[0] <= 1 && out[1] == numbers[0] && out[1] > 0);
}
"""


def test_the_header_of_random_numbers_for_kernels_brings_that_of_generators(build):
    assert build({"random.cu": RANDOM}, "-lcurand") == ["0", "1"]
