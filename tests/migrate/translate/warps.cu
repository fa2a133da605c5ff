#include <cooperative_groups.h>
#include <cuda_runtime.h>

__device__ int warp_sum(int v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}
extern "C" __global__ void sums(const int* in, int* out) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int v = warp_sum(in[threadIdx.x]);
  if (lane == 0) out[warp] = v;
}
extern "C" __global__ void block_sum(const int* in, int* out) {
  __shared__ int part[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int v = warp_sum(in[threadIdx.x]);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < 8 ? part[lane] : 0;
    v = warp_sum(v);
    if (lane == 0) out[0] = v;
  }
}
extern "C" __global__ void votes(const int* in, unsigned* out) {
  int i = threadIdx.x, lane = i & 31;
  unsigned odd = __ballot_sync(0xffffffffu, in[i] & 1);
  out[i * 4] = odd;
  out[i * 4 + 1] = __popc(odd & ((1u << lane) - 1));
  out[i * 4 + 2] = __any_sync(0xffffffffu, in[i] == 77);
  out[i * 4 + 3] = __all_sync(0xffffffffu, in[i] > 1000);
}
extern "C" __global__ void butterfly(const int* in, int* out) {
  int v = in[threadIdx.x];
  for (int mask = 1; mask < 32; mask *= 2) v = v * 31 + __shfl_xor_sync(0xffffffff, v, mask);
  out[threadIdx.x] = v;
}
extern "C" __global__ void scan(const int* in, int* out) {
  int lane = threadIdx.x % warpSize, v = in[threadIdx.x];
  for (int d = 1; d < warpSize; d <<= 1) {
    int other = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += other;
  }
  out[threadIdx.x] = v;
}
extern "C" __global__ void picked(const int* in, int* out) {
  int i = threadIdx.x;
  out[i * 2] = __shfl_sync(0xffffffff, in[i], 5);
  out[i * 2 + 1] = __shfl_sync(0xffffffff, in[i], (i + 3) & 15, 16);
}
extern "C" __global__ void branches(const int* in, unsigned* out) {
  int i = threadIdx.x;
  if (in[i] & 2) {
    out[i] = __activemask();
  } else {
    out[i] = __popc(__activemask());
  }
}
extern "C" __global__ void neighbours(const int* in, int* out) {
  __shared__ int tile[256];
  int i = threadIdx.x;
  tile[i] = in[i];
  __syncwarp();
  int other = tile[i ^ 31];
  __syncwarp();
  tile[i] = other * 2;
  __syncwarp(0xffffffff);
  out[i] = tile[i ^ 1];
}
extern "C" __global__ void alike(const int* in, unsigned* out) {
  out[threadIdx.x] = __match_any_sync(0xffffffff, in[threadIdx.x] % 5);
}
extern "C" __global__ void lanes(unsigned* out) {
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  unsigned less;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(less));
  out[threadIdx.x * 2] = lane;
  out[threadIdx.x * 2 + 1] = less;
}
extern "C" __global__ void edges(const int* in, int* out) {
  int i = threadIdx.x;
  out[i * 2] = __shfl_down_sync(0xffffffff, in[i], 3);
  out[i * 2 + 1] = __shfl_up_sync(0xffffffff, in[i], 3);
}

// Groups of the threads of a tile with equal remainders: how many there are, and the rank in it.
__global__ void labels(const int *in, int *out) {
  auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  auto group = cooperative_groups::labeled_partition(tile, in[threadIdx.x] & 3);
  out[threadIdx.x] = static_cast<int>(group.size() * 100 + group.thread_rank());
}
