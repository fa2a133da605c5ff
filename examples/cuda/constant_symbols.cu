// Constant memory and symbols: a filter's weights in __constant__, copies to and from symbols with
// offsets, their addresses.
//
// expect: constant_symbols: right
#include <vector>

#include "example.h"

constexpr int kRadius = 3;

__constant__ int weights[2 * kRadius + 1] = {1, 2, 3, 4, 3, 2, 1};
__device__ unsigned launches;
__device__ const float table[4] = {0.5f, 0.25f, 0.125f, 0.0625f};
__device__ float chosen;

__global__ void filter(const int* in, int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) {
    ++launches;
    chosen = table[launches];
  }
  if (i >= count) return;
  int sum = 0;
  for (int k = -kRadius; k <= kRadius; ++k) {
    if (i + k >= 0 && i + k < count) sum += weights[k + kRadius] * in[i + k];
  }
  out[i] = sum;
}

std::vector<int> expected(const std::vector<int>& in, const int* taps) {
  std::vector<int> out(in.size());
  for (int i = 0; i < int(in.size()); ++i) {
    for (int k = -kRadius; k <= kRadius; ++k) {
      if (i + k >= 0 && i + k < int(in.size())) out[i] += taps[k + kRadius] * in[i + k];
    }
  }
  return out;
}

int main() {
  const int count = 1'500, blocks = (count + 255) / 256;
  std::vector<int> input(count), result(count);
  for (int i = 0; i < count; ++i) input[i] = static_cast<int>(noise(i) * 1000);
  int *in, *out;
  CHECK(cudaMalloc(&in, count * sizeof(int)));
  CHECK(cudaMalloc(&out, count * sizeof(int)));
  CHECK(cudaMemcpy(in, input.data(), count * sizeof(int), cudaMemcpyHostToDevice));

  int taps[2 * kRadius + 1];
  CHECK(cudaMemcpyFromSymbol(taps, weights, sizeof taps));  // what the program was compiled with
  filter<<<blocks, 256>>>(in, out, count);
  CHECK(cudaMemcpy(result.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost));
  bool right = taps[0] == 1 && taps[3] == 4 && result == expected(input, taps);

  const int changed[] = {-10, 20};
  CHECK(cudaMemcpyToSymbol(weights, changed, sizeof changed,
                           2 * sizeof(int)));  // the third and the fourth
  taps[2] = -10;
  taps[3] = 20;
  filter<<<blocks, 256>>>(in, out, count);
  CHECK(cudaMemcpy(result.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost));
  right = right && result == expected(input, taps);

  void* address;
  size_t bytes = 0;
  unsigned seen = 0;
  float value = 0;
  CHECK(cudaGetSymbolSize(&bytes, weights));
  CHECK(cudaGetSymbolAddress(&address, launches));
  CHECK(cudaMemcpy(&seen, address, sizeof seen, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpyFromSymbol(&value, chosen, sizeof value));
  std::printf("%zu bytes of weights, %u launches, %.3f chosen\n", bytes, seen, value);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
  return verdict("constant_symbols", right && bytes == sizeof taps && seen == 2 && value == 0.125f);
}
