// A failing assert in a kernel: the message on stderr, and an error that sticks to every later
// call until the process ends.
//
// expect: device_assert: right
// expect: values\[i\] < 90
#include <cassert>

#include "example.h"

__global__ void inspect(const int* values, int count) {
  const int i = threadIdx.x;
  if (i < count) assert(values[i] < 90);
}

int main() {
  int host[64];
  for (int i = 0; i < 64; ++i) host[i] = i + 20;
  int* values;
  CHECK(cudaMalloc(&values, sizeof host));
  CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
  inspect<<<1, 64>>>(values, 64);
  CHECK(cudaGetLastError());
  const bool passed =
      cudaDeviceSynchronize() == cudaSuccess;  // 83 is the largest: no thread complains

  host[41] = 99;
  CHECK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
  inspect<<<1, 64>>>(values, 64);
  const cudaError_t failed = cudaDeviceSynchronize();
  const cudaError_t later = cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
  cudaGetLastError();  // clears errors of single calls, but not this one
  void* more;
  const cudaError_t still = cudaMalloc(&more, 16);
  std::printf("the wait: %s\na copy: %s\nan allocation: %s\n", cudaGetErrorName(failed),
              cudaGetErrorName(later), cudaGetErrorName(still));
  return verdict("device_assert", passed && failed == cudaErrorAssert && later == cudaErrorAssert &&
                                      still == cudaErrorAssert);
}
