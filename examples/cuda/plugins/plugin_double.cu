// A library with a kernel and a constant of the same names as its neighbour's.
#include <cuda_runtime.h>

__constant__ float parameter = 2;

static __global__ void apply(float* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= parameter;
}

extern "C" cudaError_t transform(float* data, int count) {
  apply<<<(count + 127) / 128, 128>>>(data, count);
  return cudaGetLastError();
}
