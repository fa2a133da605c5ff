// the game of life on a torus, 32 cells per word: sums of neighbours bit by bit
extern "C" __global__ void life_bits(const unsigned* in, unsigned* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int before = x ? x - 1 : w - 1, after = x < w - 1 ? x + 1 : 0;
  unsigned ones = 0, twos = 0, fours = 0, alive = 0;
  for (int d = -1; d <= 1; d++) {
    const unsigned* row = in + (size_t)((y + d + h) % h) * w;
    unsigned here = row[x];
    unsigned from[3] = {__funnelshift_l(row[before], here, 1), here, __funnelshift_r(here, row[after], 1)};
    if (d == 0) alive = here;
    for (int k = 0; k < 3; k++) {
      if (d == 0 && k == 1) continue;
      unsigned carry = ones & from[k];
      ones ^= from[k];
      fours |= twos & carry;
      twos ^= carry;
    }
  }
  out[(size_t)y * w + x] = twos & ~fours & (ones | alive);
}
