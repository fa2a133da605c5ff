// The occupancy calls: block sizes suggested for a kernel, blocks per multiprocessor, and launches
// with what they say.
//
// expect: occupancy: right
#include <vector>

#include "example.h"

__global__ void square(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= data[i];
}

__global__ __launch_bounds__(128) void square_bounded(int* data, int count) {
  extern __shared__ int line[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  line[threadIdx.x] = i < count ? data[i] : 0;
  __syncthreads();
  if (i < count) data[i] = line[threadIdx.x] * line[threadIdx.x];
}

struct SharedBytes {
  __host__ __device__ size_t operator()(int threads) const { return threads * sizeof(int); }
};

int main() {
  const int count = 10'000;
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) values[i] = i % 15 - 7;
  int* data;
  CHECK(cudaMalloc(&data, count * sizeof(int)));
  CHECK(cudaMemcpy(data, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));

  int grid = 0, block = 0, per_processor = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, square, 0, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, square, block, 0));
  bool right = block % 32 == 0 && block >= 32 && block <= properties.maxThreadsPerBlock &&
               per_processor >= 1 &&
               per_processor * block <= properties.maxThreadsPerMultiProcessor && grid >= 1;
  square<<<(count + block - 1) / block, block>>>(data, count);

  // Shared memory that depends on the block size, and a kernel that promised at most 128 threads.
  int grid_bounded = 0, block_bounded = 0;
  const SharedBytes shared_of;
  CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid_bounded, &block_bounded,
                                                       square_bounded, shared_of, 0));
  right = right && block_bounded >= 32 && block_bounded <= 128;
  square_bounded<<<(count + block_bounded - 1) / block_bounded, block_bounded,
                   shared_of(block_bounded)>>>(data, count);
  CHECK(cudaGetLastError());

  // As much shared memory as there is leaves room for one block at most.
  int crowded = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&crowded, square, 32,
                                                      properties.sharedMemPerBlock));
  right = right && crowded >= 1 &&
          size_t(crowded) * properties.sharedMemPerBlock <= properties.sharedMemPerMultiprocessor;
  square<<<1, properties.maxThreadsPerBlock + 1>>>(data, count);
  right = right && cudaGetLastError() == cudaErrorInvalidConfiguration;

  CHECK(cudaMemcpy(values.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    const int x = i % 15 - 7;
    wrong += values[i] != x * x * x * x;
  }
  std::printf("%d wrong\n", wrong);
  return verdict("occupancy", right && wrong == 0);
}
