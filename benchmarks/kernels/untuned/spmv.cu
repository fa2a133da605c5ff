// sparse matrix (rows compressed) times vector, one warp per row
extern "C" __global__ void spmv(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float s = 0;
  for (int i = start[row] + lane; i < start[row + 1]; i += 32) s += value[i] * x[column[i]];
  for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
  if (lane == 0) y[row] = s;
}
