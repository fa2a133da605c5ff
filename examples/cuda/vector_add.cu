// Adds two vectors: allocation, copies, one launch, and a bounds check for the last block.
//
// expect: vector_add: right
#include <vector>

#include "example.h"

__global__ void add(const float* a, const float* b, float* sum, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}

int main() {
  const int count = 50'003;
  const size_t bytes = count * sizeof(float);
  std::vector<float> a(count), b(count), sum(count);
  for (int i = 0; i < count; ++i) {
    a[i] = noise(i);
    b[i] = noise(i + count) - 0.5f;
  }

  float *device_a, *device_b, *device_sum;
  CHECK(cudaMalloc(&device_a, bytes));
  CHECK(cudaMalloc(&device_b, bytes));
  CHECK(cudaMalloc(&device_sum, bytes));
  CHECK(cudaMemcpy(device_a, a.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), bytes, cudaMemcpyHostToDevice));

  const int threads = 256;
  const int blocks = (count + threads - 1) / threads;
  add<<<blocks, threads>>>(device_a, device_b, device_sum, count);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sum.data(), device_sum, bytes, cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += sum[i] != a[i] + b[i];
  std::printf("%d elements in %d blocks, %d wrong\n", count, blocks, wrong);

  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_sum));
  return verdict("vector_add", wrong == 0);
}
