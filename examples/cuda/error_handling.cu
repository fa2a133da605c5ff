// Errors: which call returns which, what peek and get do to the last error, names and texts, and
// what does not stick.
//
// expect: error_handling: right
#include <cstring>

#include "example.h"

__global__ void nothing() {}

int failures = 0;

void expect(const char* what, cudaError_t got, cudaError_t wanted) {
  if (got == wanted) return;
  std::printf("%s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(wanted));
  ++failures;
}

int main() {
  int device_count = 0;
  void* memory = nullptr;
  char host[16] = {};
  CHECK(cudaGetDeviceCount(&device_count));

  expect("a device that is not there", cudaSetDevice(device_count), cudaErrorInvalidDevice);
  expect("peek", cudaPeekAtLastError(), cudaErrorInvalidDevice);
  expect("get", cudaGetLastError(), cudaErrorInvalidDevice);
  expect("get again", cudaGetLastError(), cudaSuccess);

  expect("no block", (nothing<<<0, 32>>>(), cudaGetLastError()), cudaErrorInvalidConfiguration);
  expect("too many threads", (nothing<<<1, 2048>>>(), cudaGetLastError()),
         cudaErrorInvalidConfiguration);
  expect("too much shared memory", (nothing<<<1, 32, 1 << 24>>>(), cudaGetLastError()),
         cudaErrorInvalidValue);
  expect("a launch that works", (nothing<<<1, 32>>>(), cudaGetLastError()), cudaSuccess);

  expect("too much memory", cudaMalloc(&memory, size_t(1) << 50), cudaErrorMemoryAllocation);
  expect("an allocation after it", cudaMalloc(&memory, 64), cudaSuccess);
  expect("the last error stays until it is asked for", cudaGetLastError(),
         cudaErrorMemoryAllocation);
  expect("no place for the pointer", cudaMalloc(static_cast<void**>(nullptr), 64),
         cudaErrorInvalidValue);
  expect("a copy beyond the end", cudaMemcpy(host, memory, 16, static_cast<cudaMemcpyKind>(17)),
         cudaErrorInvalidMemcpyDirection);
  expect("a pointer that was not allocated", cudaFree(host), cudaErrorInvalidValue);
  expect("nothing to free", cudaFree(nullptr), cudaSuccess);
  expect("host memory that is not pinned", cudaFreeHost(host), cudaErrorInvalidValue);

  cudaEvent_t event, never;
  float milliseconds;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventCreate(&never));
  CHECK(cudaEventRecord(event, 0));
  expect("an event that was never recorded", cudaEventElapsedTime(&milliseconds, event, never),
         cudaErrorInvalidResourceHandle);
  expect("an attribute that is not there",
         cudaDeviceGetAttribute(&device_count, static_cast<cudaDeviceAttr>(9999), 0),
         cudaErrorInvalidValue);
  expect("a symbol that is none", cudaMemcpyToSymbol(static_cast<const void*>(host), host, 4),
         cudaErrorInvalidSymbol);
  cudaGetLastError();
  CHECK(cudaDeviceSynchronize());  // none of them sticks

  const bool words =
      !std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") &&
      !std::strcmp(cudaGetErrorString(cudaSuccess), "no error") &&
      !std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") &&
      !std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
  CHECK(cudaEventDestroy(event));
  CHECK(cudaEventDestroy(never));
  CHECK(cudaFree(memory));
  std::printf("%d unexpected\n", failures);
  return verdict("error_handling", failures == 0 && words);
}
