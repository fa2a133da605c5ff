// sparse matrix times vector from a list of entries (row, column, value), added up by atomics
extern "C" __global__ void coo_spmv(const int* row, const int* column, const float* value, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}
