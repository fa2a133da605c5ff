// Kernels of test_barrier_library.py: CUDA's own barriers, pipelines and bulk copies, as its headers write them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// Each thread passes a number to its neighbour, round after round.
extern "C" __global__ void ring(const int* in, int* out, int rounds) {
  __shared__ block_barrier bar;
  __shared__ int slots[256];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  int mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int r = 0; r < rounds; r++) {
    slots[threadIdx.x] = mine;
    auto token = bar.arrive();
    bar.wait(std::move(token));
    mine = slots[(threadIdx.x + 1) % blockDim.x] + r;
    bar.arrive_and_wait();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

// Tiles come by bulk copies that a barrier counts, and go back by a bulk copy.
extern "C" __global__ void tiles(const float* in, float* out, int count) {
  __shared__ alignas(128) float tile[64];
  __shared__ alignas(8) block_barrier bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  for (int t = blockIdx.x; t < count; t += gridDim.x) {
    block_barrier::arrival_token token;
    if (threadIdx.x == 0) {
      cuda::memcpy_async(tile, in + 64 * t, cuda::aligned_size_t<16>(sizeof(tile)), bar);
    }
    token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 64; i += blockDim.x) tile[i] = tile[i] * 2 + 1;
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
      cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out + 64 * t, tile, sizeof(tile));
      cuda::ptx::cp_async_bulk_commit_group();
      cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
    }
    __syncthreads();
  }
}

// A two-stage pipeline over a block's tiles.
extern "C" __global__ void staged(const int* in, int* out, int tiles_per_block) {
  __shared__ int stage[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const int* mine = in + blockIdx.x * tiles_per_block * 64;
  int sum = 0;
  for (int t = 0, fetched = 0; t < tiles_per_block; t++) {
    for (; fetched < tiles_per_block && fetched < t + 2; fetched++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[fetched % 2], mine + 64 * fetched, cuda::aligned_size_t<4>(sizeof(int) * 64), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += stage[t % 2][threadIdx.x];
    block.sync();
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// What small floats and scale factors make of numbers, and back.
extern "C" __global__ void small_floats(const float2* in, unsigned* out, float2* back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 x = in[i];
  unsigned e4m3 = __nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, __NV_E4M3);
  unsigned e3m2 = __nv_cvt_float2_to_fp6x2(x, __NV_E3M2, cudaRoundNearest);
  unsigned e2m1 = __nv_cvt_float2_to_fp4x2(x, __NV_E2M1, cudaRoundNearest);
  unsigned scale = __nv_cvt_float2_to_e8m0x2(x, __NV_SATFINITE, cudaRoundPosInf);
  out[4 * i] = e4m3, out[4 * i + 1] = e3m2, out[4 * i + 2] = e2m1, out[4 * i + 3] = scale;
  __half2_raw h = __nv_cvt_fp4x2_to_halfraw2(e2m1, __NV_E2M1);
  back[i] = __half22float2(__half2(h));
}
