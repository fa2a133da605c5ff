// inclusive prefix sums of 2048 elements per block: four per thread, warps by shuffles, then the warps' totals
extern "C" __global__ void scan(const int* in, int* out, int* totals, int n) {
  __shared__ int sums[16];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int base = (blockIdx.x * 512 + threadIdx.x) * 4;
  int v[4];
#pragma unroll
  for (int k = 0; k < 4; k++) v[k] = base + k < n ? in[base + k] : 0;
  v[1] += v[0]; v[2] += v[1]; v[3] += v[2];
  int total = v[3];
  for (int o = 1; o < 32; o *= 2) {
    int up = __shfl_up_sync(~0u, total, o);
    if (lane >= o) total += up;
  }
  if (lane == 31) sums[warp] = total;
  __syncthreads();
  if (warp == 0) {
    int s = lane < 16 ? sums[lane] : 0;
    for (int o = 1; o < 16; o *= 2) {
      int up = __shfl_up_sync(~0u, s, o);
      if (lane >= o) s += up;
    }
    if (lane < 16) sums[lane] = s;
  }
  __syncthreads();
  int before = total - v[3] + (warp ? sums[warp - 1] : 0);
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (base + k < n) out[base + k] = v[k] + before;
  if (threadIdx.x == 511) totals[blockIdx.x] = before + v[3];
}
