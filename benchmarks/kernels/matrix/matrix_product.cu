// C = A B of bf16 matrices by rows, sums in f32: tiles of 128 x 128 by four warps, two stages of cp.async, ldmatrix and mma.sync.
// nvcc -ptx -arch=sm_80 -o matrix_product.ptx matrix_product.cu
#include <cuda_bf16.h>
#include <cstdint>

constexpr int TILE = 128, DEPTH = 32, THREADS = 128;
constexpr int A_BYTES = TILE * DEPTH * 2, B_BYTES = DEPTH * TILE * 2, STAGE = A_BYTES + B_BYTES;

__device__ inline void copy16(uint32_t to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

// Rows of A are 64 bytes, those of B 256: pieces of 16 bytes are swapped so that eight rows of a matrix lie in all banks.
__device__ inline uint32_t place_a(int row, int piece) { return row * 64 + ((piece ^ ((row >> 1) & 3)) << 4); }
__device__ inline uint32_t place_b(int row, int piece) { return row * 256 + ((piece ^ (row & 7)) << 4); }

__device__ inline void load_stage(uint32_t base, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int n, int k) {
  for (int i = threadIdx.x; i < TILE * 4; i += THREADS) {
    int row = i >> 2, piece = i & 3;
    copy16(base + place_a(row, piece), a + size_t(row) * k + piece * 8);
  }
  for (int i = threadIdx.x; i < DEPTH * 16; i += THREADS) {
    int row = i >> 4, piece = i & 15;
    copy16(base + A_BYTES + place_b(row, piece), b + size_t(row) * n + piece * 8);
  }
  asm volatile("cp.async.commit_group;");
}

extern "C" __global__ void __launch_bounds__(THREADS)
matrix_product(const __nv_bfloat16 *__restrict__ a, const __nv_bfloat16 *__restrict__ b, __nv_bfloat16 *__restrict__ c,
               int n, int k) {
  __shared__ __align__(128) unsigned char room[2 * STAGE];
  uint32_t base = uint32_t(__cvta_generic_to_shared(room));
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int warp_row = (warp >> 1) * 64, warp_column = (warp & 1) * 64;
  a += size_t(blockIdx.y) * TILE * k;
  b += size_t(blockIdx.x) * TILE;
  float sums[4][8][4] = {};
  load_stage(base, a, b, n, k);
  for (int at = 0; at < k; at += DEPTH) {
    uint32_t now = base + ((at / DEPTH) & 1) * STAGE;
    if (at + DEPTH < k) {
      load_stage(base + (((at / DEPTH) & 1) ^ 1) * STAGE, a + at + DEPTH, b + size_t(at + DEPTH) * n, n, k);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < DEPTH; step += 16) {
      uint32_t left[4][4], right[8][2];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        uint32_t from = now + place_a(warp_row + i * 16 + (lane & 15), (step >> 3) + (lane >> 4));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(left[i][0]), "=r"(left[i][1]), "=r"(left[i][2]), "=r"(left[i][3])
                     : "r"(from));
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        uint32_t from = now + A_BYTES + place_b(step + (lane & 15), ((warp_column + j * 16) >> 3) + (lane >> 4));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(right[2 * j][0]), "=r"(right[2 * j][1]), "=r"(right[2 * j + 1][0]), "=r"(right[2 * j + 1][1])
                     : "r"(from));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
              : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
              : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j][0]), "r"(right[j][1]));
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        int row = blockIdx.y * TILE + warp_row + i * 16 + half * 8 + (lane >> 2);
        int column = blockIdx.x * TILE + warp_column + j * 8 + (lane & 3) * 2;
        *reinterpret_cast<__nv_bfloat162 *>(c + size_t(row) * n + column) =
            __floats2bfloat162_rn(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
      }
}
