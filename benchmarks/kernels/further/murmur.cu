// MurmurHash3 (32 bits) of records of 64 bytes, one per thread, read as four words at a time
__device__ unsigned rotate(unsigned v, int by) { return v << by | v >> (32 - by); }
__device__ unsigned mix(unsigned h, unsigned k) {
  k *= 0xcc9e2d51u;
  k = rotate(k, 15);
  k *= 0x1b873593u;
  return rotate(h ^ k, 13) * 5 + 0xe6546b64u;
}
extern "C" __global__ void murmur(const uint4* records, unsigned* out, int n, int seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = seed;
  for (int j = 0; j < 4; j++) {
    uint4 k = records[(size_t)i * 4 + j];
    h = mix(mix(mix(mix(h, k.x), k.y), k.z), k.w);
  }
  h ^= 64;
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  h ^= h >> 16;
  out[i] = h;
}
