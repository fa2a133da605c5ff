// sorts 1024 keys per block in shared memory, 512 threads, a barrier in every step
extern "C" __global__ void bitonic(const unsigned* in, unsigned* out) {
  __shared__ unsigned keys[1024];
  int t = threadIdx.x;
  size_t base = (size_t)blockIdx.x * 1024;
  keys[t] = in[base + t];
  keys[t + 512] = in[base + t + 512];
  for (int size = 2; size <= 1024; size *= 2)
    for (int stride = size / 2; stride; stride /= 2) {
      __syncthreads();
      int i = 2 * t - (t & (stride - 1)), j = i + stride;
      unsigned a = keys[i], b = keys[j];
      if ((a > b) == ((i & size) == 0)) {
        keys[i] = b;
        keys[j] = a;
      }
    }
  __syncthreads();
  out[base + t] = keys[t];
  out[base + t + 512] = keys[t + 512];
}
