// Dynamic shared memory above 48 KiB: refused until the kernel's attribute allows it; function
// attributes and preferences.
//
// expect: large_shared: right
#include <vector>

#include "example.h"

// Reverses `count` numbers of each block through shared memory.
__global__ void reverse(const int* in, int* out, int count) {
  extern __shared__ int line[];
  const int* own = in + blockIdx.x * count;
  for (int i = threadIdx.x; i < count; i += blockDim.x) line[i] = own[i];
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    out[blockIdx.x * count + i] = line[count - 1 - i];
}

int main() {
  int device, most = 0;
  CHECK(cudaGetDevice(&device));
  CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int blocks = 2, count = 15'000, bytes = count * sizeof(int);  // 60 000 bytes
  std::vector<int> input(blocks * count), result(blocks * count);
  for (int i = 0; i < blocks * count; ++i) input[i] = i * 3 + 1;
  int *in, *out;
  CHECK(cudaMalloc(&in, blocks * bytes));
  CHECK(cudaMalloc(&out, blocks * bytes));
  CHECK(cudaMemcpy(in, input.data(), blocks * bytes, cudaMemcpyHostToDevice));

  reverse<<<blocks, 128, bytes>>>(in, out, count);
  const cudaError_t refused = cudaGetLastError();
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared));
  reverse<<<blocks, 128, bytes>>>(in, out, count);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), out, blocks * bytes, cudaMemcpyDeviceToHost));

  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, reverse));
  int wrong = 0;
  for (int b = 0; b < blocks; ++b) {
    for (int i = 0; i < count; ++i)
      wrong += result[b * count + i] != input[b * count + count - 1 - i];
  }
  std::printf("without the attribute: %s; with it: %d wrong\n", cudaGetErrorName(refused), wrong);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict("large_shared", most >= bytes && refused == cudaErrorInvalidValue && wrong == 0 &&
                                     attributes.maxDynamicSharedSizeBytes == bytes &&
                                     attributes.sharedSizeBytes == 0);
}
