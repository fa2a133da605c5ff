// Warp-aggregated atomics: the lanes that append to a list agree on one of them to reserve the
// places of all.
//
// expect: warp_aggregate: right
#include <algorithm>
#include <vector>

#include "example.h"

__device__ unsigned reserve(unsigned* counter) {
  const unsigned active = __activemask();
  const unsigned lane = threadIdx.x % 32;
  const int leader = __ffs(active) - 1;
  unsigned first = 0;
  if (lane == unsigned(leader)) first = atomicAdd(counter, __popc(active));
  first = __shfl_sync(active, first, leader);
  return first + __popc(active & ((1u << lane) - 1));
}

__global__ void collect(const unsigned* in, unsigned* out, unsigned* counter, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && in[i] % 3 == 0) out[reserve(counter)] = in[i];
}

// Lanes with the same key add together: one atomic per key and warp.
__global__ void count_keys(const unsigned* in, unsigned* bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned members = __ballot_sync(0xFFFFFFFF, i < count);
  if (i >= count) return;
  const unsigned key = in[i] % 7;
  const unsigned peers = __match_any_sync(members, key);
  if (threadIdx.x % 32 == unsigned(__ffs(peers) - 1)) atomicAdd(&bins[key], __popc(peers));
}

int main() {
  const int count = 20'011, threads = 160, blocks = (count + threads - 1) / threads;
  std::vector<unsigned> values(count), expected, bins(8), expected_bins(8);
  for (int i = 0; i < count; ++i) {
    values[i] = static_cast<unsigned>(noise(i) * 1e6f);
    if (values[i] % 3 == 0) expected.push_back(values[i]);
    ++expected_bins[values[i] % 7];
  }
  unsigned *in, *out, *counters;
  CHECK(cudaMalloc(&in, count * sizeof(unsigned)));
  CHECK(cudaMalloc(&out, count * sizeof(unsigned)));
  CHECK(cudaMalloc(&counters, 8 * sizeof(unsigned)));
  CHECK(cudaMemset(counters, 0, 8 * sizeof(unsigned)));
  CHECK(cudaMemcpy(in, values.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));
  collect<<<blocks, threads>>>(in, out, counters + 7, count);
  count_keys<<<blocks, threads>>>(in, counters, count);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(bins.data(), counters, 8 * sizeof(unsigned), cudaMemcpyDeviceToHost));
  std::vector<unsigned> collected(std::min<unsigned>(bins[7], count));
  CHECK(cudaMemcpy(collected.data(), out, collected.size() * sizeof(unsigned),
                   cudaMemcpyDeviceToHost));
  for (unsigned* pointer : {in, out, counters}) CHECK(cudaFree(pointer));

  std::sort(collected.begin(), collected.end());
  std::sort(expected.begin(), expected.end());
  expected_bins[7] = expected.size();
  std::printf("%zu of %d collected\n", collected.size(), count);
  return verdict("warp_aggregate", collected == expected && bins == expected_bins);
}
