// What calls of the runtime cost on one thread: nanoseconds a call, with those of a call of an empty function
// through the same kind of indirection. Prints lines "name nanoseconds"; benchmarks/call_cost.py builds it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cuda_runtime_api.h"

namespace {

constexpr char kEmpty[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }\n";

void check(cudaError_t code, int line) {
  if (code == cudaSuccess) return;
  fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(code));
  exit(1);
}
#define CHECK(call) check(call, __LINE__)

// The median over rounds of the mean of a call; `settle` runs between rounds and is not timed.
template <class Call, class Settle>
double nanoseconds(int calls, Call call, Settle settle, int rounds = 25) {
  std::vector<double> means;
  for (int round = 0; round < rounds; ++round) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    settle();
    if (round) means.push_back(taken.count() / calls);  // the first one warms
  }
  std::sort(means.begin(), means.end());
  return means[means.size() / 2];
}

void print(const char* name, double value) {
  printf("%s %.2f\n", name, value);
  fflush(stdout);
}

cudaError_t empty() { return cudaSuccess; }
cudaError_t (*volatile empty_function)() = empty;

double graph_replay(cudaKernel_t kernel, cudaStream_t stream, int nodes) {
  cudaGraph_t graph;
  cudaGraphExec_t made;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < nodes; ++i)
    CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 32, nullptr, 0, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&made, graph, 0));
  auto replay = [&] {
    CHECK(cudaGraphLaunch(made, stream));
    CHECK(cudaStreamSynchronize(stream));
  };
  return nanoseconds(3, replay, [] {}) / nodes;
}

}  // namespace

int main() {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  cudaStream_t stream;
  cudaEvent_t event;
  void* memory;
  int device, word = 5;
  CHECK(cudaLibraryLoadData(&library, kEmpty, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cudaLibraryGetKernel(&kernel, library, "empty"));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaMalloc(&memory, 64));
  auto wait = [&] { CHECK(cudaStreamSynchronize(stream)); };
  auto nothing = [] {};
  auto function = reinterpret_cast<const void*>(kernel);

  print("empty", nanoseconds(100000, [] { empty_function(); }, nothing));
  print("cudaGetDevice", nanoseconds(100000, [&] { cudaGetDevice(&device); }, nothing));
  print("cudaGetLastError", nanoseconds(100000, [] { cudaGetLastError(); }, nothing));
  auto launch = [&] { CHECK(cudaLaunchKernel(function, 1, 32, nullptr, 0, stream)); };
  print("cudaLaunchKernel", nanoseconds(1000, launch, wait));
  auto launch_many = [&] { CHECK(cudaLaunchKernel(function, 64, 128, nullptr, 0, stream)); };
  print("cudaLaunchKernel_64_blocks", nanoseconds(1000, launch_many, wait));
  auto copy = [&] { CHECK(cudaMemcpyAsync(memory, &word, 4, cudaMemcpyHostToDevice, stream)); };
  print("cudaMemcpyAsync", nanoseconds(1000, copy, wait));
  print("cudaEventRecord", nanoseconds(1000, [&] { CHECK(cudaEventRecord(event, stream)); }, wait));
  wait();
  auto wait_event = [&] { CHECK(cudaStreamWaitEvent(stream, event, 0)); };
  print("cudaStreamWaitEvent", nanoseconds(1000, wait_event, wait));
  print("graph_kernel", graph_replay(kernel, stream, 1000));
}
