// A library with a kernel and a constant of the same names as its neighbour's; this constant is set
// at run time.
#include <cuda_runtime.h>

__constant__ float parameter = 0;

static __global__ void apply(float* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= data[i] * parameter;
}

extern "C" cudaError_t transform(float* data, int count) {
  const float one = 1;
  const cudaError_t status = cudaMemcpyToSymbol(parameter, &one, sizeof one);
  if (status != cudaSuccess) return status;
  apply<<<(count + 127) / 128, 128>>>(data, count);
  return cudaGetLastError();
}
