// Pi by random points: a generator by hand for each thread (xorshift with 64 bits of state),
// skipped ahead, and block sums.
//
// expect: monte_carlo_pi: right
#include <cmath>

#include "example.h"

constexpr int kThreads = 128, kBlocks = 16, kPoints = 40;

__host__ __device__ inline uint64_t seed_of(
    uint64_t thread) {  // mixes a thread's number into a state that is never 0
  uint64_t z = (thread + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return (z ^ z >> 31) | 1;
}

__host__ __device__ inline uint32_t next(uint64_t& state) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return static_cast<uint32_t>(state * 0x2545F4914F6CDD1Dull >> 32);
}

// Whether a random point of the square lies in the quarter of the disc; integers, so that both
// sides agree exactly.
__host__ __device__ inline bool inside(uint64_t& state) {
  const uint64_t x = next(state), y = next(state);
  return (x * x >> 1) + (y * y >> 1) < (uint64_t(1) << 63);
}

__global__ void throw_points(unsigned long long* hits) {
  uint64_t state = seed_of(blockIdx.x * blockDim.x + threadIdx.x);
  int own = 0;
  for (int i = 0; i < kPoints; ++i) own += inside(state);
  const int in_warp =
      __syncthreads_count(own > 31);  // how many threads were lucky: only to be printed
  for (int offset = 16; offset > 0; offset /= 2) own += __shfl_xor_sync(0xFFFFFFFF, own, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(&hits[0], static_cast<unsigned long long>(own));
  if (threadIdx.x == 0) atomicMax(&hits[1], static_cast<unsigned long long>(in_warp));
}

int main() {
  unsigned long long* hits;
  unsigned long long got[2];
  CHECK(cudaMalloc(&hits, sizeof got));
  CHECK(cudaMemset(hits, 0, sizeof got));
  throw_points<<<kBlocks, kThreads>>>(hits);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, hits, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(hits));

  unsigned long long expected = 0, luckiest = 0;
  for (int block = 0; block < kBlocks; ++block) {
    unsigned long long lucky = 0;
    for (int thread = 0; thread < kThreads; ++thread) {
      uint64_t state = seed_of(block * kThreads + thread);
      int own = 0;
      for (int i = 0; i < kPoints; ++i) own += inside(state);
      expected += own;
      lucky += own > 31;
    }
    luckiest = lucky > luckiest ? lucky : luckiest;
  }
  const double points = double(kBlocks) * kThreads * kPoints, pi = 4 * got[0] / points;
  std::printf("%.0f points: pi is about %.3f\n", points, pi);
  return verdict("monte_carlo_pi",
                 got[0] == expected && got[1] == luckiest && std::fabs(pi - M_PI) < 0.03);
}
