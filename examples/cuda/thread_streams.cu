// The per-thread default stream: launches without a stream from several host threads do not wait
// for each other.
//
// build: --default-stream per-thread
// expect: thread_streams: right
#include <thread>
#include <vector>

#include "example.h"

constexpr int kThreads = 3;

__global__ void wait_and_count(volatile int* gate, int* counter, int step) {
  while (*gate < step) {
  }
  *counter += 1;
}

__global__ void open_gate(volatile int* gate, int step) { *gate = step; }

int main() {
  int* gate;
  int* counters;
  CHECK(cudaMallocManaged(&gate, sizeof(int)));
  CHECK(cudaMallocManaged(&counters, kThreads * sizeof(int)));
  *gate = 0;
  for (int i = 0; i < kThreads; ++i) counters[i] = 0;

  // Each thread's kernel waits for the next thread's, so that one shared stream would never come to
  // the end.
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([=] {
      const int step = kThreads - t;
      if (step > 1) wait_and_count<<<1, 1>>>(gate, counters + t, step - 1);
      open_gate<<<1, 1>>>(gate, step);
      if (step == 1) wait_and_count<<<1, 1>>>(gate, counters + t, 1);
      CHECK(cudaGetLastError());
      CHECK(cudaStreamSynchronize(0));  // this thread's own stream
    });
  }
  for (std::thread& thread : threads) thread.join();
  bool right = *gate == kThreads;
  for (int i = 0; i < kThreads; ++i) right = right && counters[i] == 1;
  std::printf("%d threads, gate at %d\n", kThreads, *gate);

  // The legacy stream still orders itself with the others.
  open_gate<<<1, 1, 0, cudaStreamPerThread>>>(gate, 50);
  open_gate<<<1, 1, 0, cudaStreamLegacy>>>(gate, 51);
  CHECK(cudaStreamSynchronize(cudaStreamLegacy));
  right = right && *gate == 51;
  CHECK(cudaFree(gate));
  CHECK(cudaFree(counters));
  return verdict("thread_streams", right);
}
