// Kernels as CUDA programs have them, compiled by `nvcc -ptx -arch=sm_80 kernels.cu` into kernels.ptx beside this file.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void

KERNEL sum_shuffle(const float* in, float* out, int n) {
  __shared__ float partial[32];
  float x = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x += in[i];
  for (int offset = 16; offset; offset >>= 1) x += __shfl_down_sync(~0u, x, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x < 32) {
    x = threadIdx.x < (blockDim.x + 31) / 32 ? partial[threadIdx.x] : 0;
    for (int offset = 16; offset; offset >>= 1) x += __shfl_down_sync(~0u, x, offset);
    if (threadIdx.x == 0) atomicAdd(out, x);
  }
}

KERNEL scan(const int* in, int* out, int n) {
  extern __shared__ int s[];
  int t = threadIdx.x;
  s[t] = t < n ? in[blockIdx.x * n + t] : 0;
  for (int d = 1; d < blockDim.x; d *= 2) {
    __syncthreads();
    int x = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += x;
  }
  if (t < n) out[blockIdx.x * n + t] = s[t];
}

KERNEL histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned bins[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (bins[i]) atomicAdd(&out[i], bins[i]);
}

KERNEL matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[8][8], sb[8][9];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    sa[threadIdx.y][threadIdx.x] = y < n && k + threadIdx.x < n ? a[y * n + k + threadIdx.x] : 0.0f;
    sb[threadIdx.y][threadIdx.x] = x < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + x] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 8; i++) sum = fmaf(sa[threadIdx.y][i], sb[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (x < n && y < n) c[y * n + x] = sum;
}

KERNEL mandelbrot(int* out, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  double cr = -2.0 + 3.0 * x / width, ci = -1.5 + 3.0 * y / height, zr = 0, zi = 0;
  int n = 0;
  while (n < limit && __dadd_rn(__dmul_rn(zr, zr), __dmul_rn(zi, zi)) < 4.0) {
    double t = __dadd_rn(__dsub_rn(__dmul_rn(zr, zr), __dmul_rn(zi, zi)), cr);
    zi = __dadd_rn(__dmul_rn(__dmul_rn(2.0, zr), zi), ci);
    zr = t;
    n++;
  }
  out[y * width + x] = n;
}

KERNEL bitonic_sort(unsigned* data) {
  extern __shared__ unsigned s_sort[];
  unsigned t = threadIdx.x;
  s_sort[t] = data[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned k = 2; k <= blockDim.x; k <<= 1)
    for (unsigned j = k >> 1; j; j >>= 1) {
      unsigned other = t ^ j;
      if (other > t) {
        unsigned a = s_sort[t], b = s_sort[other];
        if ((a > b) == ((t & k) == 0)) {
          s_sort[t] = b;
          s_sort[other] = a;
        }
      }
      __syncthreads();
    }
  data[blockIdx.x * blockDim.x + t] = s_sort[t];
}

KERNEL softmax(const float* in, float* out, int columns) {
  __shared__ float shared;
  const float* row = in + blockIdx.x * columns;
  float best = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += 32) best = fmaxf(best, row[i]);
  for (int o = 16; o; o /= 2) best = fmaxf(best, __shfl_xor_sync(~0u, best, o));
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) sum += expf(row[i] - best);
  for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x == 0) shared = 1.0f / sum;
  __syncwarp();
  for (int i = threadIdx.x; i < columns; i += 32) out[blockIdx.x * columns + i] = expf(row[i] - best) * shared;
}

KERNEL compact(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool keep = i < n && in[i] % 3 == 0;
  unsigned mask = __ballot_sync(~0u, keep);
  int lane = threadIdx.x & 31, base = 0;
  if (lane == 0 && mask) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = in[i];
}

struct Body {
  float3 position;
  float mass;
  double energy;
};

__device__ __noinline__ float attraction(const Body& a, const Body& b) {
  float dx = a.position.x - b.position.x, dy = a.position.y - b.position.y, dz = a.position.z - b.position.z;
  return a.mass * b.mass * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
}

KERNEL bodies(Body* all, Body extra, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Body mine = all[i];
  float sum = attraction(mine, extra);
  for (int j = 0; j < n; j++)
    if (j != i) sum += attraction(mine, all[j]);
  all[i].energy = sum;
}

__constant__ int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

KERNEL machine(const unsigned char* code, int* out, int length, int steps) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, stack[8], top = 0, at = t % length, x = t;
  for (int i = 0; i < 8; i++) stack[i] = i;
  for (int i = 0; i < steps; i++) {
    switch (code[at]) {
      case 0: x += table[(x + i) & 15]; break;
      case 1: stack[top++ & 7] = x; break;
      case 2: x ^= stack[--top & 7]; break;
      case 3: x = x * 1103515245 + 12345; break;
      case 4: if (x & 1) at = (at + 3) % length; break;
      case 5: if (x < 0) goto done; x = -x / 3; break;
      case 6: x = (int)((long long)x * 2654435761LL >> 7); continue;
      default: x = __brev(x) + __clz(x) + __ffs(x);
    }
    at = (at + 1) % length;
  }
done:
  out[t] = x + top;
}

KERNEL halves(const __half2* a, const __half2* b, __half2* out, const __nv_bfloat16* c, __nv_bfloat16* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 x = __hfma2(a[i], b[i], __hadd2(a[i], b[i]));
  out[i] = __hgt2(x, b[i]).x != __half(0) ? __hneg2(x) : x;
  d[i] = __float2bfloat16(__bfloat162float(c[i]) * 3.0f + 1.0f);
}

KERNEL life(const unsigned char* in, unsigned char* out, int width, int height) {
  __shared__ unsigned char tile[6][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 6 * 34; i += 128) {
    int gx = (int)(blockIdx.x * 32) + i % 34 - 1, gy = (int)(blockIdx.y * 4) + i / 34 - 1;
    tile[i / 34][i % 34] = gx >= 0 && gx < width && gy >= 0 && gy < height ? in[gy * width + gx] : 0;
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  int around = -tile[threadIdx.y + 1][threadIdx.x + 1];
  for (int dy = 0; dy < 3; dy++)
    for (int dx = 0; dx < 3; dx++) around += tile[threadIdx.y + dy][threadIdx.x + dx];
  out[y * width + x] = around == 3 || (around == 2 && tile[threadIdx.y + 1][threadIdx.x + 1]);
}

KERNEL wide_integers(const unsigned long long* a, const unsigned long long* b, unsigned long long* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned __int128 p = (unsigned __int128)a[i] * b[i] + a[i];
  out[4 * i] = (unsigned long long)p;
  out[4 * i + 1] = (unsigned long long)(p >> 64);
  out[4 * i + 2] = b[i] ? a[i] / b[i] : 1;
  out[4 * i + 3] = b[i] ? (unsigned long long)((long long)a[i] % (long long)(b[i] | 1)) : 2;
}

KERNEL primes(unsigned* out, int n) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= n) return;
  bool prime = x > 1;
  for (unsigned d = 2; d * d <= x; d++)
    if (x % d == 0) {
      prime = false;
      break;
    }
  unsigned together = __match_any_sync(__activemask(), prime);
  out[x] = prime;
  if (together == 0) out[x] = 77;
}
