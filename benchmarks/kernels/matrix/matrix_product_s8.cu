// C = A B of 8-bit integers, A by rows and B by columns, sums in 32 bits: tiles of 128 x 128 by four warps, two stages of cp.async, ldmatrix and mma.sync.
// nvcc -ptx -arch=sm_80 -o matrix_product_s8.ptx matrix_product_s8.cu
#include <cstdint>

constexpr int TILE = 128, DEPTH = 64, THREADS = 128, STAGE = 2 * TILE * DEPTH;

__device__ inline void copy16(uint32_t to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
}

// Rows are 64 bytes: pieces of 16 bytes are swapped so that eight rows of a matrix lie in all banks.
__device__ inline uint32_t place(int row, int piece) { return row * 64 + ((piece ^ ((row >> 1) & 3)) << 4); }

__device__ inline void load_stage(uint32_t base, const int8_t *a, const int8_t *b, int k) {
  for (int i = threadIdx.x; i < TILE * 4; i += THREADS) {
    int row = i >> 2, piece = i & 3;
    copy16(base + place(row, piece), a + size_t(row) * k + piece * 16);
    copy16(base + TILE * DEPTH + place(row, piece), b + size_t(row) * k + piece * 16);
  }
  asm volatile("cp.async.commit_group;");
}

__device__ inline void load_four(uint32_t (&to)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from));
}

extern "C" __global__ void __launch_bounds__(THREADS)
matrix_product_s8(const int8_t *__restrict__ a, const int8_t *__restrict__ b, int32_t *__restrict__ c, int n, int k) {
  __shared__ __align__(128) unsigned char room[2 * STAGE];
  uint32_t base = uint32_t(__cvta_generic_to_shared(room));
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int warp_row = (warp >> 1) * 64, warp_column = (warp & 1) * 64;
  a += size_t(blockIdx.y) * TILE * k;
  b += size_t(blockIdx.x) * TILE * k;
  int32_t sums[4][8][4] = {};
  load_stage(base, a, b, k);
  for (int at = 0; at < k; at += DEPTH) {
    uint32_t now = base + ((at / DEPTH) & 1) * STAGE;
    if (at + DEPTH < k) {
      load_stage(base + (((at / DEPTH) & 1) ^ 1) * STAGE, a + at + DEPTH, b + at + DEPTH, k);
      asm volatile("cp.async.wait_group 1;");
    } else {
      asm volatile("cp.async.wait_group 0;");
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < DEPTH; step += 32) {
      uint32_t left[4][4], right[4][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) load_four(left[i], now + place(warp_row + i * 16 + (lane & 15), (step >> 4) + (lane >> 4)));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        int row = warp_column + j * 16 + (lane & 7) + (lane >> 4) * 8;
        load_four(right[j], now + TILE * DEPTH + place(row, (step >> 4) + (lane >> 3 & 1)));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
              : "+r"(sums[i][j][0]), "+r"(sums[i][j][1]), "+r"(sums[i][j][2]), "+r"(sums[i][j][3])
              : "r"(left[i][0]), "r"(left[i][1]), "r"(left[i][2]), "r"(left[i][3]), "r"(right[j / 2][j % 2 * 2]),
                "r"(right[j / 2][j % 2 * 2 + 1]));
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
        *reinterpret_cast<int2 *>(c + size_t(row) * n + column) = make_int2(sums[i][j][2 * half], sums[i][j][2 * half + 1]);
      }
}
