// softmax of rows of odd length, 128 threads per row, warps by shuffles
__device__ float all(float v, float* part, bool biggest) {
  for (int o = 16; o; o >>= 1) {
    float other = __shfl_xor_sync(~0u, v, o);
    v = biggest ? fmaxf(v, other) : v + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  return biggest ? fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3])) : part[0] + part[1] + part[2] + part[3];
}
extern "C" __global__ void softmax_odd(const float* x, float* y, int cols) {
  __shared__ float part[4];
  const float* xr = x + (size_t)blockIdx.x * cols;
  float* yr = y + (size_t)blockIdx.x * cols;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) m = fmaxf(m, xr[i]);
  m = all(m, part, true);
  float s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += __expf(xr[i] - m);
  s = 1.0f / all(s, part, false);
  for (int i = threadIdx.x; i < cols; i += blockDim.x) yr[i] = __expf(xr[i] - m) * s;
}
