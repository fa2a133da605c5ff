// int8 matrix times int8 vector, four products at a time, one warp per row
extern "C" __global__ void gemv_int8(const int* a, const int* x, int* y, int words, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  int s = 0;
  for (int i = lane; i < words; i += 32) s = __dp4a(a[(size_t)row * words + i], x[i], s);
  for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
  if (lane == 0) y[row] = s;
}
