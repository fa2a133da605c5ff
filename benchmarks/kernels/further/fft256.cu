// complex Fourier transforms of 256 points, one block of 64 threads each: four passes of radix 4 in shared memory
__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
extern "C" __global__ void fft256(const float2* in, const float2* roots, float2* out) {
  __shared__ float2 data[256];
  int t = threadIdx.x;
  float2 v[4];
  for (int r = 0; r < 4; r++) v[r] = in[(size_t)blockIdx.x * 256 + t + 64 * r];
  for (int size = 1; size < 256; size *= 4) {
    int k = t % size;
    for (int r = 1; r < 4; r++) v[r] = times(v[r], __ldg(&roots[r * k * (64 / size)]));
    float2 a = plus(v[0], v[2]), b = minus(v[0], v[2]), c = plus(v[1], v[3]), d = minus(v[1], v[3]);
    d = make_float2(d.y, -d.x);
    int to = (t - k) * 4 + k;
    __syncthreads();
    data[to] = plus(a, c);
    data[to + size] = plus(b, d);
    data[to + 2 * size] = minus(a, c);
    data[to + 3 * size] = minus(b, d);
    __syncthreads();
    for (int r = 0; r < 4; r++) v[r] = data[t + 64 * r];
  }
  for (int r = 0; r < 4; r++) out[(size_t)blockIdx.x * 256 + t + 64 * r] = v[r];
}
