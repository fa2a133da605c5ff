// 5 x 5 convolution with clamped borders, by tiles of 16 x 16 with a halo in shared memory
extern "C" __global__ void conv5x5(const float* in, const float* k, float* out, int w, int h) {
  __shared__ float tile[20][20];
  int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  for (int t = threadIdx.y * 16 + threadIdx.x; t < 400; t += 256) {
    int x = min(max(x0 + t % 20 - 2, 0), w - 1), y = min(max(y0 + t / 20 - 2, 0), h - 1);
    tile[t / 20][t % 20] = in[(size_t)y * w + x];
  }
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int j = 0; j < 5; j++)
#pragma unroll
    for (int i = 0; i < 5; i++) s += k[j * 5 + i] * tile[threadIdx.y + j][threadIdx.x + i];
  int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
  if (x < w && y < h) out[(size_t)y * w + x] = s;
}
