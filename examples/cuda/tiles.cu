// Cooperative groups: tiles of 4 to 32 threads, shuffles and votes in them, coalesced groups, and
// the group's reduce.
//
// build: -arch=sm_80
// expect: tiles: right
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <vector>

#include "example.h"

namespace cg = cooperative_groups;

// Each tile of Size threads adds its values by shuffles; every thread gets the sum.
template <int Size>
__global__ void tile_sums(const int* in, int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<Size>(block);
  const int i = block.group_index().x * block.size() + block.thread_rank();
  int sum = in[i];
  for (int mask = tile.size() / 2; mask > 0; mask /= 2) sum += tile.shfl_xor(sum, mask);
  out[i] = sum + 1000 * tile.meta_group_rank();
}

__global__ void reductions(const int* in, int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int largest = cg::reduce(warp, in[i], cg::greater<int>());
  const int sum = cg::reduce(warp, in[i], cg::plus<int>());
  out[i] = warp.any(in[i] == largest) ? largest - sum : -1;
}

// The threads with odd values find each other: their rank among themselves, in order of lanes.
__global__ void odd_ranks(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = -1;
  if (in[i] & 1) {
    const cg::coalesced_group active = cg::coalesced_threads();
    out[i] = active.thread_rank() + 100 * active.size();
  }
}

int main() {
  const int count = 256, threads = 64;
  std::vector<int> input(count), result(count);
  for (int i = 0; i < count; ++i) input[i] = static_cast<int>(noise(i) * 100);
  int *in, *out;
  CHECK(cudaMalloc(&in, count * sizeof(int)));
  CHECK(cudaMalloc(&out, count * sizeof(int)));
  CHECK(cudaMemcpy(in, input.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  bool right = true;
  const auto compare = [&](const char* name, auto expected) {
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += result[i] != expected(i);
    std::printf("%s: %d wrong\n", name, wrong);
    right = right && wrong == 0;
  };
  const auto sum_of = [&](int i, int size) {
    int sum = 0;
    for (int j = i / size * size; j < i / size * size + size; ++j) sum += input[j];
    return sum;
  };

  tile_sums<4><<<count / threads, threads>>>(in, out);
  compare("tiles of 4", [&](int i) { return sum_of(i, 4) + 1000 * (i % threads / 4); });
  tile_sums<16><<<count / threads, threads>>>(in, out);
  compare("tiles of 16", [&](int i) { return sum_of(i, 16) + 1000 * (i % threads / 16); });
  tile_sums<32><<<count / threads, threads>>>(in, out);
  compare("tiles of 32", [&](int i) { return sum_of(i, 32) + 1000 * (i % threads / 32); });
  reductions<<<count / threads, threads>>>(in, out);
  compare("reductions", [&](int i) {
    int largest = input[i / 32 * 32];
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) largest = std::max(largest, input[j]);
    return largest - sum_of(i, 32);
  });
  odd_ranks<<<count / threads, threads>>>(in, out);
  compare("coalesced group", [&](int i) {
    if (input[i] % 2 == 0) return -1;
    int rank = 0, size = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      rank += j < i && input[j] % 2;
      size += input[j] % 2;
    }
    return rank + 100 * size;
  });
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict("tiles", right);
}
