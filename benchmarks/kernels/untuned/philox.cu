// Philox 4x32-10: four uniform numbers in [0, 1) per thread
extern "C" __global__ void philox(float4* out, int n, int seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = 0x2468ACE1u;
#pragma unroll
  for (int r = 0; r < 10; r++) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    unsigned h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const float scale = 1.0f / 16777216.0f;
  out[i] = make_float4((c0 >> 8) * scale, (c1 >> 8) * scale, (c2 >> 8) * scale, (c3 >> 8) * scale);
}
