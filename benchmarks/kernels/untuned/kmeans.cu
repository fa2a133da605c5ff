// nearest of 60 centres in 16 dimensions for each point; centres in shared memory, blocks of 192 threads
extern "C" __global__ void kmeans(const float* points, const float* centres, int* out, int n, int k) {
  __shared__ float c[64 * 16];
  for (int i = threadIdx.x; i < k * 16; i += blockDim.x) c[i] = centres[i];
  __syncthreads();
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  float v[16];
#pragma unroll
  for (int d = 0; d < 16; d++) v[d] = points[(size_t)p * 16 + d];
  float best = INFINITY;
  int which = 0;
  for (int j = 0; j < k; j++) {
    float s = 0;
#pragma unroll
    for (int d = 0; d < 16; d++) {
      float t = v[d] - c[j * 16 + d];
      s += t * t;
    }
    if (s < best) {
      best = s;
      which = j;
    }
  }
  out[p] = which;
}
