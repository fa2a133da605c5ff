// Prefix sums of a long array: a scan in each warp, one over the warps, one over the blocks, and a
// second pass that adds.
//
// expect: scan: right
#include <vector>

#include "example.h"

constexpr int kThreads = 256;

__device__ int warp_scan(int value) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const int before = __shfl_up_sync(0xFFFFFFFF, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

// The inclusive prefix sum of the block's values.
__device__ int block_scan(int value) {
  __shared__ int of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_scan(value);
  if (lane == 31) of_warp[warp] = value;
  __syncthreads();
  if (warp == 0) of_warp[lane] = warp_scan(lane < blockDim.x / 32 ? of_warp[lane] : 0);
  __syncthreads();
  return warp == 0 ? value : value + of_warp[warp - 1];
}

__global__ void scan_blocks(const int* in, int* out, int* totals, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int sum = block_scan(i < count ? in[i] : 0);
  if (i < count) out[i] = sum;
  if (totals && threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = sum;
}

__global__ void add_totals(int* out, const int* scanned_totals, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < count) out[i] += scanned_totals[blockIdx.x - 1];
}

void scan(const int* in, int* out, int count) {
  const int blocks = (count + kThreads - 1) / kThreads;
  int* totals = nullptr;
  if (blocks > 1) CHECK(cudaMalloc(&totals, blocks * sizeof(int)));
  scan_blocks<<<blocks, kThreads>>>(in, out, totals, count);
  CHECK(cudaGetLastError());
  if (blocks == 1) return;
  scan(totals, totals, blocks);
  add_totals<<<blocks, kThreads>>>(out, totals, count);
  CHECK(cudaGetLastError());
  CHECK(cudaFree(totals));
}

bool run(int count) {
  std::vector<int> values(count), sums(count);
  for (int i = 0; i < count; ++i) values[i] = static_cast<int>(noise(i) * 100) - 45;
  int *in, *out;
  CHECK(cudaMalloc(&in, count * sizeof(int)));
  CHECK(cudaMalloc(&out, count * sizeof(int)));
  CHECK(cudaMemcpy(in, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  scan(in, out, count);
  CHECK(cudaMemcpy(sums.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));

  int sum = 0, wrong = 0;
  for (int i = 0; i < count; ++i) {
    sum += values[i];
    wrong += sums[i] != sum;
  }
  std::printf("%d elements, total %d: %d wrong\n", count, sum, wrong);
  return wrong == 0;
}

int main() {
  const bool one_block = run(200);
  const bool two_levels = run(30'001);
  const bool three_levels = run(70'000);
  return verdict("scan", one_block && two_levels && three_levels);
}
