// position of the greatest element of each row (the first of equals)
extern "C" __global__ void argmax(const float* x, int* out, int cols) {
  __shared__ float values[8];
  __shared__ int places[8];
  const float* row = x + (size_t)blockIdx.x * cols;
  float best = -INFINITY;
  int place = cols;
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    if (row[i] > best) {
      best = row[i];
      place = i;
    }
  for (int o = 16; o; o >>= 1) {
    float v = __shfl_down_sync(~0u, best, o);
    int p = __shfl_down_sync(~0u, place, o);
    if (v > best || (v == best && p < place)) {
      best = v;
      place = p;
    }
  }
  if (threadIdx.x % 32 == 0) {
    values[threadIdx.x / 32] = best;
    places[threadIdx.x / 32] = place;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; w++)
      if (values[w] > best || (values[w] == best && places[w] < place)) {
        best = values[w];
        place = places[w];
      }
    out[blockIdx.x] = place;
  }
}
