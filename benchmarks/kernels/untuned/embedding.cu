// rows of a table by index, scaled; rows of 300 by blocks of 100 threads
extern "C" __global__ void embedding(const float* table, const int* index, float* out, int dim, float scale) {
  const float* row = table + (size_t)index[blockIdx.x] * dim;
  for (int i = threadIdx.x; i < dim; i += blockDim.x) out[(size_t)blockIdx.x * dim + i] = row[i] * scale;
}
