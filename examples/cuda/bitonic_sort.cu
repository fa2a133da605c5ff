// Sorts by a bitonic network: the near exchanges in shared memory, the far ones in global memory.
//
// expect: bitonic_sort: right
#include <algorithm>
#include <vector>

#include "example.h"

constexpr int kTile = 512;  // elements a block sorts, with half as many threads

__device__ void order(unsigned& a, unsigned& b, bool ascending) {
  if ((a > b) == ascending) {
    const unsigned saved = a;
    a = b;
    b = saved;
  }
}

// All exchanges of distance below the tile, for the stages from `from` to `to`.
__global__ void exchange_near(unsigned* data, int from, int to) {
  __shared__ unsigned tile[kTile];
  unsigned* own = data + blockIdx.x * kTile;
  tile[threadIdx.x] = own[threadIdx.x];
  tile[threadIdx.x + kTile / 2] = own[threadIdx.x + kTile / 2];
  for (int stage = from; stage <= to; stage *= 2) {
    for (int distance = min(stage, kTile) / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const int low = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
      const bool ascending = ((blockIdx.x * kTile + low) & stage) == 0;
      order(tile[low], tile[low + distance], ascending);
    }
  }
  __syncthreads();
  own[threadIdx.x] = tile[threadIdx.x];
  own[threadIdx.x + kTile / 2] = tile[threadIdx.x + kTile / 2];
}

__global__ void exchange_far(unsigned* data, int stage, int distance) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int low = 2 * thread - (thread & (distance - 1));
  order(data[low], data[low + distance], (low & stage) == 0);
}

int main() {
  const int count = 1 << 14;
  std::vector<unsigned> values(count), sorted(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<unsigned>(noise(i) * 4e9f);

  unsigned* data;
  CHECK(cudaMalloc(&data, count * sizeof(unsigned)));
  CHECK(cudaMemcpy(data, values.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));
  exchange_near<<<count / kTile, kTile / 2>>>(data, 2, kTile);
  for (int stage = 2 * kTile; stage <= count; stage *= 2) {
    for (int distance = stage / 2; distance >= kTile; distance /= 2) {
      exchange_far<<<count / 512, 256>>>(data, stage, distance);
    }
    exchange_near<<<count / kTile, kTile / 2>>>(data, stage, stage);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sorted.data(), data, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(data));

  std::sort(values.begin(), values.end());
  std::printf("%d keys, smallest %u, largest %u\n", count, sorted.front(), sorted.back());
  return verdict("bitonic_sort", sorted == values);
}
