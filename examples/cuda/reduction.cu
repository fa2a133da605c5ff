// Sums an array in five ways: shared memory, sequential addressing, warp shuffles, several
// elements a thread, and atomics.
//
// build: -arch=sm_80
// expect: reduction: right
#include <vector>

#include "example.h"

constexpr int kThreads = 256;

// Neighbours first: half of each warp idles, which is why the other versions exist.
__global__ void interleaved(const unsigned* in, unsigned* out, int count) {
  __shared__ unsigned partial[kThreads];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < count ? in[i] : 0;
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

__global__ void sequential(const unsigned* in, unsigned* out, int count) {
  __shared__ unsigned partial[kThreads];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < count ? in[i] : 0;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}

__device__ unsigned warp_sum(unsigned value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xFFFFFFFF, value, offset);
  return value;
}

// The sum of a block, in its thread 0.
__device__ unsigned block_sum(unsigned value) {
  __shared__ unsigned of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? of_warp[lane] : 0;
  return warp == 0 ? warp_sum(value) : 0;
}

__global__ void shuffles(const unsigned* in, unsigned* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned sum = block_sum(i < count ? in[i] : 0);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void grid_stride(const unsigned* in, unsigned* out, int count) {
  unsigned own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    own += in[i];
  const unsigned sum = block_sum(own);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void atomics(const unsigned* in, unsigned* out, int count) {
  unsigned own = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    own += in[i];
  own = __reduce_add_sync(0xFFFFFFFF, own);
  if (threadIdx.x % 32 == 0) atomicAdd(out, own);
}

using Kernel = void (*)(const unsigned*, unsigned*, int);

unsigned total(Kernel kernel, const unsigned* in, int count, int blocks, unsigned* scratch) {
  std::vector<unsigned> partial(blocks);
  CHECK(cudaMemset(scratch, 0, blocks * sizeof(unsigned)));
  kernel<<<blocks, kThreads>>>(in, scratch, count);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(partial.data(), scratch, blocks * sizeof(unsigned), cudaMemcpyDeviceToHost));
  unsigned sum = 0;
  for (unsigned part : partial) sum += part;
  return sum;
}

int main() {
  const int count = 40'007;
  const int blocks = (count + kThreads - 1) / kThreads;
  std::vector<unsigned> values(count);
  unsigned expected = 0;
  for (int i = 0; i < count; ++i) expected += values[i] = i * 2654435761u;

  unsigned *in, *scratch;
  CHECK(cudaMalloc(&in, count * sizeof(unsigned)));
  CHECK(cudaMalloc(&scratch, blocks * sizeof(unsigned)));
  CHECK(cudaMemcpy(in, values.data(), count * sizeof(unsigned), cudaMemcpyHostToDevice));

  bool right = true;
  const struct {
    const char* name;
    Kernel kernel;
    int blocks;
  } ways[] = {{"interleaved", interleaved, blocks},
              {"sequential", sequential, blocks},
              {"shuffles", shuffles, blocks},
              {"grid stride", grid_stride, 8},
              {"atomics", atomics, 8}};
  for (const auto& way : ways) {
    const bool same = total(way.kernel, in, count, way.blocks, scratch) == expected;
    std::printf("%s: %s\n", way.name, same ? "right" : "WRONG");
    right = right && same;
  }
  CHECK(cudaFree(in));
  CHECK(cudaFree(scratch));
  return verdict("reduction", right);
}
