// Host functions and callbacks in a stream, in order with its kernels, and times between events.
//
// expect: callbacks: right
#include <chrono>
#include <string>
#include <thread>

#include "example.h"

__global__ void add(int* value, int amount) { *value += amount; }

struct Log {
  int* value;  // managed memory
  std::string text;
};

void CUDART_CB note(void* argument) {
  Log& log = *static_cast<Log*>(argument);
  log.text += std::to_string(*log.value) + " ";
}

void CUDART_CB note_status(cudaStream_t, cudaError_t status, void* argument) {
  static_cast<Log*>(argument)->text += std::string(cudaGetErrorName(status)) + " ";
}

void CUDART_CB pause(void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

int main() {
  Log log;
  CHECK(cudaMallocManaged(&log.value, sizeof(int)));
  *log.value = 0;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  CHECK(cudaEventRecord(start, stream));
  for (int i = 1; i <= 3; ++i) {
    add<<<1, 1, 0, stream>>>(log.value, i);
    CHECK(cudaLaunchHostFunc(stream, note, &log));
  }
  CHECK(cudaStreamAddCallback(stream, note_status, &log, 0));
  CHECK(cudaLaunchHostFunc(stream, pause, nullptr));
  CHECK(cudaEventRecord(stop, stream));
  const bool busy =
      cudaStreamQuery(stream) == cudaErrorNotReady && cudaEventQuery(stop) == cudaErrorNotReady;
  cudaGetLastError();
  CHECK(cudaEventSynchronize(stop));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));

  std::printf("%s\n", log.text.c_str());
  const bool right =
      log.text == "1 3 6 cudaSuccess " && busy && milliseconds >= 19 && milliseconds < 60'000;
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(log.value));
  return verdict("callbacks", right);
}
