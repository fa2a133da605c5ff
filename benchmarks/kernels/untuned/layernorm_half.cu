// one block of 128 threads per row of half precision numbers, sums in single precision
#include <cuda_fp16.h>
extern "C" __global__ void layernorm_half(const __half* x, const __half* g, const __half* b, __half* y, int cols, float eps) {
  __shared__ float part[2][4];
  const __half* xr = x + (size_t)blockIdx.x * cols;
  __half* yr = y + (size_t)blockIdx.x * cols;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float v = __half2float(xr[i]);
    s += v;
    q += v * v;
  }
  for (int o = 16; o; o >>= 1) {
    s += __shfl_xor_sync(~0u, s, o);
    q += __shfl_xor_sync(~0u, q, o);
  }
  if (threadIdx.x % 32 == 0) {
    part[0][threadIdx.x / 32] = s;
    part[1][threadIdx.x / 32] = q;
  }
  __syncthreads();
  s = part[0][0] + part[0][1] + part[0][2] + part[0][3];
  q = part[1][0] + part[1][1] + part[1][2] + part[1][3];
  float mean = s / cols, inv = rsqrtf(q / cols - mean * mean + eps);
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    yr[i] = __float2half((__half2float(xr[i]) - mean) * inv * __half2float(g[i]) + __half2float(b[i]));
}
