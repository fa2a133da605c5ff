"""Kernels that launch kernels (CUDA C++ Programming Guide, dynamic parallelism), compiled from CUDA C++ and run on the processor."""

import subprocess
import sys

import pytest

from toolchain.programs import started

PROGRAM = r"""#include <cstdio>
#include <cstring>
struct Given { int at; double weight; char letter; float values[5]; };

__global__ void leaf(double *out, Given g, short less) {
  extern __shared__ float shared[];
  shared[threadIdx.x] = g.values[threadIdx.x % 5];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < (int)blockDim.x; ++i) sum += shared[i];
  if (threadIdx.x == 0) out[g.at] = sum + g.weight + g.letter + less;
}
__global__ void every_thread_launches(double *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Given g{i, i * 0.5, (char)(i % 7), {1.f * i, 2, 3, 4, 5}};
  if (i % 3 != 1) leaf<<<1, 5 + i % 4, 16 * sizeof(float)>>>(out, g, (short)-i);
}

__global__ void note(int *log, int value) { log[++log[0]] = value; }
__global__ void notes_twice(int *log, int value) {
  note<<<1, 1>>>(log, value);
  note<<<1, 1>>>(log, value + 1);
}
__global__ void in_order(int *log) {
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 50);
  notes_twice<<<1, 1>>>(log, 1);
  notes_twice<<<1, 1, 0, cudaStreamFireAndForget>>>(log, 10);
  note<<<1, 1>>>(log, 20);
}
__global__ void chain(int *log, int left) {
  if (threadIdx.x == 0 && ++log[0], threadIdx.x == 0 && left > 1) chain<<<1, 32, 0, cudaStreamTailLaunch>>>(log, left - 1);
}

__global__ void errors(int *log) {
  int fits = 1 + threadIdx.x % 2 * 2047;  // of every other thread too many
  note<<<1, fits>>>(log + 40, 1);
  int first = cudaPeekAtLastError(), second = cudaGetLastError();
  atomicAdd(&log[threadIdx.x % 2], first * 10000 + second * 100 + cudaGetLastError());
}
__global__ void facts(int *log) {
  cudaFuncAttributes found;
  cudaStream_t stream;
  cudaEvent_t event;
  log[1] = cudaGetDevice(log) * 100 + cudaDeviceGetAttribute(&log[2], cudaDevAttrWarpSize, 0);
  log[3] = cudaDeviceGetAttribute(&log[4], cudaDevAttrWarpSize, 77);
  log[5] = cudaFuncGetAttributes(&found, leaf) * 10000 + found.maxThreadsPerBlock;
  log[6] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) + cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  log[7] = cudaEventRecord(event, stream) + cudaStreamWaitEvent(stream, event) + cudaEventDestroy(event) + cudaStreamDestroy(stream);
  log[8] = cudaStreamCreateWithFlags(&stream, 0);
  printf("%s: %s\n", cudaGetErrorName(cudaErrorInvalidConfiguration), cudaGetErrorString(cudaErrorInvalidConfiguration));
}
__global__ void sums(int *values, int count) {  // a block per half, which waits for both halves of its own
  if (threadIdx.x || count == 1) return;
  sums<<<1, 32>>>(values, count / 2);
  sums<<<1, 32>>>(values + count / 2, count / 2);
  if (cudaDeviceSynchronize()) return;
  values[0] += values[count / 2];
}
__global__ void memory(int *from, int *to) {
  cudaMemsetAsync(from, 7, 16 * sizeof(int));
  cudaMemset2DAsync(from + 1, 2 * sizeof(int), 1, sizeof(int), 7);
  cudaMemcpyAsync(to, from, 16 * sizeof(int), cudaMemcpyDeviceToDevice);
  note<<<1, 1>>>(to + 20, 5);
  cudaMemcpy2DAsync(to + 30, 3 * sizeof(int), from, 2 * sizeof(int), sizeof(int), 2, cudaMemcpyDefault);
  to[40] = cudaMemcpyAsync(to, from, 4, cudaMemcpyHostToDevice);
  int *own;
  cudaMalloc(&own, 64);
  own[3] = 4;
  to[41] = own[3];
  cudaFree(own);
}

__global__ void waits(volatile int *log) {
  while (!log[0]) {}
  log[1] = 3;
}
__global__ void starts_one_that_waits(int *log, int really) {
  if (really) waits<<<1, 1>>>(log);
}

static int *fresh() {
  static int *log;
  if (!log) cudaMallocManaged(&log, 400);
  memset(log, 0, 400);
  return log;
}
static void said(const char *what, int *log, int count) {
  printf("%s", what);
  for (int i = 0; i < count; ++i) printf(" %d", log[i]);
  printf(" (%s)\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
int main() {
  double *out;
  cudaMallocManaged(&out, 300 * sizeof *out);
  for (int i = 0; i < 300; ++i) out[i] = -1;
  every_thread_launches<<<3, 100>>>(out);
  cudaDeviceSynchronize();
  int wrong = 0;
  for (int i = 0; i < 300; ++i) {
    float values[5] = {1.f * i, 2, 3, 4, 5}, sum = 0;
    for (int k = 0; k < 5 + i % 4; ++k) sum += values[k % 5];
    wrong += out[i] != (i % 3 == 1 ? -1 : sum + i * 0.5 + i % 7 - i);
  }
  printf("wrong %d\n", wrong);
  int *log = fresh(), *to;
  in_order<<<1, 1>>>(log), cudaDeviceSynchronize(), said("order", log, 8);
  chain<<<1, 32>>>(fresh(), 2000), cudaDeviceSynchronize(), said("chain", log, 1);
  errors<<<1, 32>>>(fresh()), cudaDeviceSynchronize(), said("errors", log, 2);
  facts<<<1, 1>>>(fresh()), cudaDeviceSynchronize(), said("facts", log, 9);
  for (int i = 0; i < 64; ++i) log[i] = i * i;
  sums<<<1, 32>>>(log, 64), cudaDeviceSynchronize(), said("sums", log, 2);
  for (int i = 0; i < 50; ++i) starts_one_that_waits<<<1, 1>>>(fresh(), i == 49), i < 49 && cudaDeviceSynchronize();
  *(volatile int *)log = 1;
  cudaDeviceSynchronize(), said("later", log, 2);
  cudaMallocManaged(&to, 400), memset(to, 0, 400);
  memory<<<1, 1>>>(fresh(), to), cudaDeviceSynchronize(), said("memory", to, 42);
}
"""


@pytest.fixture(scope="module")
def program(needs_clang, tmp_path_factory):
    """Build PROGRAM once."""
    return built(PROGRAM, tmp_path_factory.mktemp("program"))


def built(text, folder):
    """Build a program with launches by kernels."""
    (folder / "a.cu").write_text(text)
    command = [
        sys.executable,
        "-m",
        "anywarp.toolchain",
        "-rdc=true",
        "-std=c++17",
        "-DCUDA_FORCE_CDP1_IF_SUPPORTED",
        "a.cu",
        "-o",
        "a",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "a"


@pytest.fixture(scope="module")
def lines(program):
    """What it prints, by the first word."""
    return dict(line.split(maxsplit=1) for line in started(program).stdout.splitlines())


def test_each_thread_launches_with_arguments_shape_and_shared_memory_of_its_own(lines):
    assert lines["wrong"] == "0"


def test_launches_keep_their_order_with_their_children_and_the_tail_comes_last(lines):
    assert lines["order"] == "6 1 2 10 11 20 50 0 (no error)"


def test_a_kernel_that_launches_itself_at_its_tail_goes_on_for_thousands_of_links(lines):
    assert lines["chain"] == "2000 (no error)"


def test_an_impossible_shape_is_the_error_of_the_thread_that_asked_and_is_forgotten_once_read(lines):
    nine = 16 * (9 * 10000 + 9 * 100)
    assert lines["errors"] == f"0 {nine} (no error)"


def test_devices_attributes_streams_and_events_answer_as_on_the_host(lines):
    assert lines["facts"] == "0 0 32 101 0 1024 0 0 1 (no error)"
    assert lines["cudaErrorInvalidConfiguration:"] == "invalid configuration argument"


def test_a_kernel_may_wait_for_its_children_as_before_cuda_12(lines):
    assert lines["sums"] == f"{sum(i * i for i in range(64))} 1 (no error)"


def test_a_launch_returns_before_its_kernels_children_have_ended(lines):
    assert lines["later"] == "1 3 (no error)"


def test_copies_and_fills_are_done_in_the_order_of_launches(lines):
    seven, one = 0x07070707, 0x01010101
    filled = [one if i % 2 and i < 14 else seven for i in range(16)]
    row = [0] * 10
    row[0] = row[3] = seven
    numbers = [*filled, *[0] * 4, 1, 5, *[0] * 8, *row, 21, 4]
    assert lines["memory"] == " ".join(map(str, numbers)) + " (no error)"


def test_checks_know_the_parameters_of_a_launch_and_look_into_children(program, tmp_path):
    assert "ERROR SUMMARY: 0 errors" in sanitized(program)
    outside = PROGRAM.replace("log[++log[0]] = value;", "log[++log[0] + 200] = value;")
    told = sanitized(built(outside, tmp_path))
    assert "Invalid __global__ write of size 4 bytes" in told and "at note(int*, int)" in told


def sanitized(program):
    """Return what `anywarp sanitize` says of a run."""
    command = [sys.executable, "-m", "anywarp", "sanitize", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    return done.stdout + done.stderr


def test_without_relocatable_code_the_compiler_says_what_it_wants(nvcc, tmp_path):
    (tmp_path / "a.cu").write_text(PROGRAM)
    told = nvcc("-std=c++17", "-c", "-DCUDA_FORCE_CDP1_IF_SUPPORTED", "a.cu", code=1).stderr
    assert "kernel launch from __device__ or __global__ function requires relocatable device code" in told
