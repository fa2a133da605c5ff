// for each pattern of 256 bits the nearest of a list by the number of different bits; the list goes through shared memory
extern "C" __global__ void hamming(const uint4* patterns, const uint4* list, int2* out, int n, int count) {
  __shared__ uint4 tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 a = make_uint4(0, 0, 0, 0), b = a;
  if (i < n) {
    a = patterns[2 * i];
    b = patterns[2 * i + 1];
  }
  int best = 1000, which = -1;
  for (int first = 0; first < count; first += 128) {
    int here = min(128, count - first);
    __syncthreads();
    for (int j = threadIdx.x; j < 2 * here; j += blockDim.x) tile[j] = list[2 * first + j];
    __syncthreads();
    for (int j = 0; j < here; j++) {
      uint4 c = tile[2 * j], d = tile[2 * j + 1];
      int different = __popc(a.x ^ c.x) + __popc(a.y ^ c.y) + __popc(a.z ^ c.z) + __popc(a.w ^ c.w) +
                      __popc(b.x ^ d.x) + __popc(b.y ^ d.y) + __popc(b.z ^ d.z) + __popc(b.w ^ d.w);
      if (different < best) {
        best = different;
        which = first + j;
      }
    }
  }
  if (i < n) out[i] = make_int2(best, which);
}
