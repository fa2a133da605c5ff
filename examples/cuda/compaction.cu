// Keeps the elements that satisfy a predicate, in order, in one pass: blocks hand their sums to
// their successors (look-back).
//
// expect: compaction: right
#include <vector>

#include "example.h"

constexpr int kThreads = 128;

__device__ bool wanted(int value) { return value % 5 < 2; }

// Blocks number themselves as they start, so that every predecessor of a block is running or done.
__global__ void compact(const int* in, int* out, int* counts, volatile long long* prefixes,
                        unsigned* ticket, int* total, int count) {
  __shared__ unsigned tile;
  __shared__ int of_warp[kThreads / 32];
  __shared__ int before_block;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
  __syncthreads();
  const int i = tile * kThreads + threadIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool keep = i < count && wanted(in[i]);
  const unsigned mask = __ballot_sync(0xFFFFFFFF, keep);
  if (lane == 0) of_warp[warp] = __popc(mask);
  __syncthreads();
  int place = __popc(mask & ((1u << lane) - 1)), in_block = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w < warp) place += of_warp[w];
    in_block += of_warp[w];
  }
  if (threadIdx.x == 0) {
    // A prefix of n is kept as n + 1, so that 0 says that it is not known yet.
    long long before = 0;
    if (tile > 0) {
      while ((before = prefixes[tile - 1]) == 0) {
      }
      --before;
    }
    prefixes[tile] = before + in_block + 1;
    before_block = static_cast<int>(before);
    counts[tile] = in_block;
    if (tile == gridDim.x - 1) *total = static_cast<int>(before) + in_block;
  }
  __syncthreads();
  if (keep) out[before_block + place] = in[i];
}

int main() {
  const int count = 20'005, blocks = (count + kThreads - 1) / kThreads;
  std::vector<int> input(count), expected;
  for (int i = 0; i < count; ++i) {
    input[i] = static_cast<int>(noise(i) * 10'000);
    if (input[i] % 5 < 2) expected.push_back(input[i]);
  }
  int *in, *out, *counts, *total;
  long long* prefixes;
  unsigned* ticket;
  CHECK(cudaMalloc(&in, count * sizeof(int)));
  CHECK(cudaMalloc(&out, count * sizeof(int)));
  CHECK(cudaMalloc(&counts, blocks * sizeof(int)));
  CHECK(cudaMalloc(&prefixes, blocks * sizeof(long long)));
  CHECK(cudaMalloc(&ticket, sizeof(unsigned)));
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cudaMemset(prefixes, 0, blocks * sizeof(long long)));
  CHECK(cudaMemset(ticket, 0, sizeof(unsigned)));
  CHECK(cudaMemcpy(in, input.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  compact<<<blocks, kThreads>>>(in, out, counts, prefixes, ticket, total, count);
  CHECK(cudaGetLastError());
  int kept = 0, in_last = 0;
  CHECK(cudaMemcpy(&kept, total, sizeof kept, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(&in_last, counts + blocks - 1, sizeof in_last, cudaMemcpyDeviceToHost));
  std::vector<int> result(kept < count ? kept : count);
  CHECK(cudaMemcpy(result.data(), out, result.size() * sizeof(int), cudaMemcpyDeviceToHost));
  for (void* pointer :
       {(void*)in, (void*)out, (void*)counts, (void*)prefixes, (void*)ticket, (void*)total}) {
    CHECK(cudaFree(pointer));
  }
  std::printf("%d of %d kept, %d of them from the last block\n", kept, count, in_last);
  return verdict("compaction", result == expected);
}
