// sparse matrix times vector, rows of up to `width` entries stored entry by entry (ELL), one row per thread
extern "C" __global__ void ell_spmv(const int* column, const float* value, const float* x, float* y, int rows, int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float s = 0;
  for (int k = 0; k < width; k++) {
    int c = column[(size_t)k * rows + row];
    if (c >= 0) s += value[(size_t)k * rows + row] * __ldg(&x[c]);
  }
  y[row] = s;
}
