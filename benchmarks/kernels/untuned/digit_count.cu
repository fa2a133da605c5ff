// counts of a 6-bit digit: lanes with the same digit are found by match and counted once
extern "C" __global__ void digit_count(const unsigned* keys, unsigned* counts, int n, int shift) {
  __shared__ unsigned local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  unsigned below = (1u << (threadIdx.x & 31)) - 1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned active = __activemask();
    unsigned digit = keys[i] >> shift & 63;
    unsigned same = __match_any_sync(active, digit);
    if (!(same & below)) atomicAdd(&local[digit], __popc(same));
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
