// points in a quarter circle: Marsaglia's xorshift with 128 bits per thread, kept in memory between launches
extern "C" __global__ void pi_xorshift(uint4* states, unsigned* hits, int points) {
  __shared__ unsigned part[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 s = states[i];
  unsigned inside = 0;
  for (int k = 0; k < points; k++) {
    unsigned r[2];
    for (int j = 0; j < 2; j++) {
      unsigned t = s.x ^ s.x << 11;
      s.x = s.y;
      s.y = s.z;
      s.z = s.w;
      s.w = s.w ^ s.w >> 19 ^ t ^ t >> 8;
      r[j] = s.w;
    }
    float x = (r[0] >> 9) * (1.0f / 8388608.0f), y = (r[1] >> 9) * (1.0f / 8388608.0f);
    if (x * x + y * y < 1.0f) inside++;
  }
  states[i] = s;
  part[threadIdx.x] = inside;
  __syncthreads();
  for (int o = blockDim.x / 2; o; o >>= 1) {
    if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(hits, part[0]);
}
