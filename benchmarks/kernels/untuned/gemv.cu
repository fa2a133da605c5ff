// matrix times vector, one block of 96 threads per row
extern "C" __global__ void gemv(const float* a, const float* x, float* y, int cols) {
  __shared__ float part[3];
  const float* row = a + (size_t)blockIdx.x * cols;
  float s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += row[i] * x[i];
  for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1] + part[2];
}
