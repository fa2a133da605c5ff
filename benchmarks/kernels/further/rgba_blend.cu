// one picture over another by its alpha, four bytes per pixel, rounded as a division by 255 is
__device__ unsigned char mix(int front, int back, int alpha) { return (front * alpha + back * (255 - alpha) + 127) / 255; }
extern "C" __global__ void rgba_blend(const uchar4* front, const uchar4* back, uchar4* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uchar4 f = front[i], b = back[i];
    if (f.w == 0) {
      out[i] = b;
      continue;
    }
    out[i] = make_uchar4(mix(f.x, b.x, f.w), mix(f.y, b.y, f.w), mix(f.z, b.z, f.w), mix(255, b.w, f.w));
  }
}
