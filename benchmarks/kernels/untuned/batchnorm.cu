// batch normalisation of images of 7 x 7, one block per channel: places are divided into image and pixel
extern "C" __global__ void batchnorm(const float* x, float* y, int channels, int batch, float eps) {
  __shared__ float part[2][8];
  int c = blockIdx.x, total = batch * 49;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < total; i += blockDim.x) {
    float v = x[((size_t)(i / 49) * channels + c) * 49 + i % 49];
    s += v;
    q += v * v;
  }
  for (int o = 16; o; o >>= 1) {
    s += __shfl_xor_sync(~0u, s, o);
    q += __shfl_xor_sync(~0u, q, o);
  }
  if (threadIdx.x % 32 == 0) {
    part[0][threadIdx.x / 32] = s;
    part[1][threadIdx.x / 32] = q;
  }
  __syncthreads();
  s = q = 0;
  for (int w = 0; w < 8; w++) {
    s += part[0][w];
    q += part[1][w];
  }
  float mean = s / total, inv = rsqrtf(q / total - mean * mean + eps);
  for (int i = threadIdx.x; i < total; i += blockDim.x) {
    size_t at = ((size_t)(i / 49) * channels + c) * 49 + i % 49;
    y[at] = (x[at] - mean) * inv;
  }
}
