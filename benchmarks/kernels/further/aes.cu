// AES-128 of blocks of 16 bytes with given round keys, one block per thread; one table of 256 words in shared memory
__device__ unsigned left(unsigned v, int by) { return __funnelshift_l(v, v, by); }
extern "C" __global__ void aes(const uint4* in, const unsigned* table, const unsigned* keys, uint4* out, int n) {
  __shared__ unsigned t[256], k[44];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) t[i] = table[i];
  if (threadIdx.x < 44) k[threadIdx.x] = keys[threadIdx.x];
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    uint4 s = in[i];
    unsigned a = s.x ^ k[0], b = s.y ^ k[1], c = s.z ^ k[2], d = s.w ^ k[3];
    for (int r = 1; r < 10; r++) {
      unsigned e = t[a & 255] ^ left(t[b >> 8 & 255], 8) ^ left(t[c >> 16 & 255], 16) ^ left(t[d >> 24], 24) ^ k[4 * r];
      unsigned f = t[b & 255] ^ left(t[c >> 8 & 255], 8) ^ left(t[d >> 16 & 255], 16) ^ left(t[a >> 24], 24) ^ k[4 * r + 1];
      unsigned g = t[c & 255] ^ left(t[d >> 8 & 255], 8) ^ left(t[a >> 16 & 255], 16) ^ left(t[b >> 24], 24) ^ k[4 * r + 2];
      unsigned h = t[d & 255] ^ left(t[a >> 8 & 255], 8) ^ left(t[b >> 16 & 255], 16) ^ left(t[c >> 24], 24) ^ k[4 * r + 3];
      a = e; b = f; c = g; d = h;
    }
#define LAST(p, q, r, s) ((t[p & 255] >> 8 & 255) | (t[q >> 8 & 255] & 0xff00) | (t[r >> 16 & 255] << 8 & 0xff0000) | (t[s >> 24] << 16 & 0xff000000))
    out[i] = make_uint4(LAST(a, b, c, d) ^ k[40], LAST(b, c, d, a) ^ k[41], LAST(c, d, a, b) ^ k[42], LAST(d, a, b, c) ^ k[43]);
  }
}
