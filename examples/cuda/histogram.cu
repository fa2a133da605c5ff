// Counts bytes: atomics in shared memory, one private histogram a block, then a merge; and the
// same with global atomics only.
//
// expect: histogram: right
#include <vector>

#include "example.h"

constexpr int kBins = 256;

__global__ void histogram_shared(const uint8_t* data, unsigned* bins, int count) {
  __shared__ unsigned own[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&own[data[i]], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}

__global__ void histogram_global(const uint8_t* data, unsigned* bins, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    atomicAdd(&bins[data[i]], 1u);
  }
}

int main() {
  const int count = 100'003;
  std::vector<uint8_t> data(count);
  std::vector<unsigned> expected(kBins), shared(kBins), global(kBins);
  for (int i = 0; i < count; ++i) {
    const float x = noise(i);
    data[i] = static_cast<uint8_t>(x * x * 256);  // crowded at the low end
    ++expected[data[i]];
  }

  uint8_t* device_data;
  unsigned* bins;
  CHECK(cudaMalloc(&device_data, count));
  CHECK(cudaMalloc(&bins, kBins * sizeof(unsigned)));
  CHECK(cudaMemcpy(device_data, data.data(), count, cudaMemcpyHostToDevice));

  CHECK(cudaMemset(bins, 0, kBins * sizeof(unsigned)));
  histogram_shared<<<12, 192>>>(device_data, bins, count);
  CHECK(cudaMemcpy(shared.data(), bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));

  CHECK(cudaMemset(bins, 0, kBins * sizeof(unsigned)));
  histogram_global<<<12, 192>>>(device_data, bins, count);
  CHECK(cudaMemcpy(global.data(), bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));

  std::printf("%d bytes, %u of them 0, %u of them 255\n", count, shared[0], shared[255]);
  CHECK(cudaFree(device_data));
  CHECK(cudaFree(bins));
  return verdict("histogram", shared == expected && global == expected);
}
