// Sorts keys with values, four bits at a time: counts per block, a scan of the counts, and a
// scatter that keeps the order.
//
// expect: radix_sort: right
#include <algorithm>
#include <numeric>
#include <vector>

#include "example.h"

constexpr int kThreads = 128;
constexpr int kDigits = 16;

__global__ void count_digits(const unsigned* keys, unsigned* counts, int count, int shift) {
  __shared__ unsigned of_block[kDigits];
  if (threadIdx.x < kDigits) of_block[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&of_block[keys[i] >> shift & (kDigits - 1)], 1u);
  __syncthreads();
  // Digit by digit, so that one scan gives every block its place among all of them.
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = of_block[threadIdx.x];
}

// An exclusive scan by one block, carrying from piece to piece.
__global__ void scan_counts(unsigned* counts, int count) {
  __shared__ unsigned sums[kThreads];
  unsigned carry = 0;
  for (int first = 0; first < count; first += blockDim.x) {
    const int i = first + threadIdx.x;
    const unsigned own = i < count ? counts[i] : 0;
    sums[threadIdx.x] = own;
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
      const unsigned before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
      __syncthreads();
      sums[threadIdx.x] += before;
      __syncthreads();
    }
    if (i < count) counts[i] = carry + sums[threadIdx.x] - own;
    carry += sums[blockDim.x - 1];
    __syncthreads();
  }
}

__global__ void scatter(const unsigned* keys, const unsigned* values, unsigned* keys_out,
                        unsigned* values_out, const unsigned* places, int count, int shift) {
  __shared__ unsigned of_warp[kThreads / 32][kDigits];
  for (unsigned i = threadIdx.x; i < kThreads / 32 * kDigits; i += blockDim.x)
    of_warp[i / kDigits][i % kDigits] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // Elements behind the end get a digit of their own, so that the whole warp takes part in the
  // match.
  const unsigned digit = i < count ? keys[i] >> shift & (kDigits - 1) : kDigits;
  const unsigned peers = __match_any_sync(0xFFFFFFFF, digit);
  const unsigned rank = __popc(peers & ((1u << lane) - 1));
  if (i < count && rank == 0) of_warp[warp][digit] = __popc(peers);
  __syncthreads();
  if (i >= count) return;
  unsigned place = places[digit * gridDim.x + blockIdx.x] + rank;
  for (int before = 0; before < warp; ++before) place += of_warp[before][digit];
  keys_out[place] = keys[i];
  values_out[place] = values[i];
}

int main() {
  const int count = 10'001;
  const int blocks = (count + kThreads - 1) / kThreads;
  std::vector<unsigned> keys(count), order(count);
  for (int i = 0; i < count; ++i)
    keys[i] = static_cast<unsigned>(noise(i) * 65536);  // with ties, which must keep order
  std::iota(order.begin(), order.end(), 0u);

  unsigned *from, *from_values, *to, *to_values, *counts;
  CHECK(cudaMalloc(&from, count * sizeof(unsigned)));
  CHECK(cudaMalloc(&from_values, count * sizeof(unsigned)));
  CHECK(cudaMalloc(&to, count * sizeof(unsigned)));
  CHECK(cudaMalloc(&to_values, count * sizeof(unsigned)));
  CHECK(cudaMalloc(&counts, blocks * kDigits * sizeof(unsigned)));
  CHECK(cudaMemcpy(from, keys.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(from_values, order.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));
  for (int shift = 0; shift < 16; shift += 4) {
    count_digits<<<blocks, kThreads>>>(from, counts, count, shift);
    scan_counts<<<1, kThreads>>>(counts, blocks * kDigits);
    scatter<<<blocks, kThreads>>>(from, from_values, to, to_values, counts, count, shift);
    CHECK(cudaGetLastError());
    std::swap(from, to);
    std::swap(from_values, to_values);
  }
  std::vector<unsigned> sorted(count), places(count);
  CHECK(cudaMemcpy(sorted.data(), from, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(places.data(), from_values, count * sizeof(unsigned), cudaMemcpyDeviceToHost));

  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  bool right = places == order;
  for (int i = 0; i < count; ++i) right = right && sorted[i] == keys[order[i]];
  std::printf("%d keys with values, smallest %u, largest %u\n", count, sorted.front(),
              sorted.back());
  for (unsigned* pointer : {from, from_values, to, to_values, counts}) CHECK(cudaFree(pointer));
  return verdict("radix_sort", right);
}
