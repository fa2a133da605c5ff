// Small programs as people write them, for `anywarp selftest`; compiled by `nvcc -ptx -arch=sm_80 programs.cu` into programs.ptx.
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void

KERNEL axpy(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = fmaf(a, x[i], y[i]);
}

KERNEL transpose(const int* in, int* out, int width, int height) {
  __shared__ int tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

KERNEL dot(const double* a, const double* b, double* out, int n) {
  extern __shared__ double parts[];
  double sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < blockDim.x / 32; w++) sum += parts[w];
    atomicAdd(out, sum);
  }
}

// The even numbers of the input in their order, one block.
KERNEL keep_even(const int* in, int* out, int* count, int n) {
  __shared__ int totals[32];
  int t = threadIdx.x, keep = t < n && in[t] % 2 == 0;
  unsigned votes = __ballot_sync(~0u, keep);
  int before = __popc(votes & ((1u << (t % 32)) - 1));
  if (t % 32 == 0) totals[t / 32] = __popc(votes);
  __syncthreads();
  for (int w = 0; w < t / 32; w++) before += totals[w];
  if (keep) out[before] = in[t];
  if (t == blockDim.x - 1) *count = before + keep;
}

KERNEL colours(const unsigned* keys, unsigned* groups, unsigned* leaders) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned same = __match_any_sync(~0u, keys[t]);
  groups[t] = same;
  leaders[t] = __ffs(same) - 1 == threadIdx.x % 32;
}

KERNEL half_axpy(__half2 a, const __half2* x, __half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma2(a, x[i], y[i]);
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL recursion(int* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 12); }

__device__ int table[64];
__constant__ int weights[4] = {3, 1, 4, 1};
KERNEL fill_table(int factor) { table[threadIdx.x] = factor * threadIdx.x + weights[threadIdx.x % 4]; }
KERNEL read_table(int* out) { out[threadIdx.x] = table[63 - threadIdx.x]; }

KERNEL trap_in_one(int who) {
  if (threadIdx.x == who) __trap();
}
