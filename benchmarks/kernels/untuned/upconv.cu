// transposed convolution, 4 x 4 kernel, stride 2, padding 1: every output pixel gathers four input pixels per channel
extern "C" __global__ void upconv(const float* in, const float* k, float* out, int w, int h, int channels) {
  int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ox >= 2 * w || oy >= 2 * h) return;
  float s = 0;
  for (int c = 0; c < channels; c++)
    for (int j = (oy + 1) % 2; j < 4; j += 2) {
      int iy = (oy + 1 - j) / 2;
      if (oy + 1 < j || iy >= h) continue;
      for (int i = (ox + 1) % 2; i < 4; i += 2) {
        int ix = (ox + 1 - i) / 2;
        if (ox + 1 < i || ix >= w) continue;
        s += in[((size_t)c * h + iy) * w + ix] * k[(c * 4 + j) * 4 + i];
      }
    }
  out[(size_t)oy * 2 * w + ox] = s;
}
