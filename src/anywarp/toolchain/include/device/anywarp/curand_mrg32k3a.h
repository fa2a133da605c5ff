// MRG32k3a (L'Ecuyer, Good parameters and implementations for combined multiple recursive random number generators, 1999).
#ifndef ANYWARP_CURAND_MRG32K3A_H
#define ANYWARP_CURAND_MRG32K3A_H

#include "anywarp/mrg32k3a_jumps.h"

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

#define AW_M1 4294967087ull
#define AW_M2 4294944443ull
// The norm of a residue, and what stretches it over 32 bits.
#define AW_MRG_NORM 2.328306549295728e-10
#define AW_MRG_BITS 1.000000048662

// 1 to AW_M1, as the published generator has it before it divides.
AW_RAND unsigned int aw_mrg(curandStateMRG32k3a_t *s) {
  unsigned long long p = (1403580ull * s->s1[1] + 810728ull * (AW_M1 - s->s1[0])) % AW_M1;
  unsigned long long q = (527612ull * s->s2[2] + 1370589ull * (AW_M2 - s->s2[0])) % AW_M2;
  s->s1[0] = s->s1[1], s->s1[1] = s->s1[2], s->s1[2] = (unsigned int)p;
  s->s2[0] = s->s2[1], s->s2[1] = s->s2[2], s->s2[2] = (unsigned int)q;
  return (unsigned int)(p > q ? p - q : p + AW_M1 - q);
}
AW_RAND double curand_MRG32k3a(curandStateMRG32k3a_t *s) { return aw_mrg(s); }
AW_RAND unsigned int curand(curandStateMRG32k3a_t *s) { return (unsigned int)(aw_mrg(s) * AW_MRG_BITS); }

// 2^k steps for every bit of n, the first bit counting 2^first.
AW_RAND void aw_mrg_jump(unsigned int *v, unsigned long long m, const unsigned int (*jumps)[9], unsigned long long n, int first) {
  for (int k = first; n; n >>= 1, ++k) {
    if (!(n & 1)) continue;
    unsigned int next[3];
    for (int i = 0; i < 3; ++i) {
      unsigned long long sum = 0;
      for (int j = 0; j < 3; ++j) sum += (unsigned long long)jumps[k][3 * i + j] * v[j] % m;
      next[i] = (unsigned int)(sum % m);
    }
    v[0] = next[0], v[1] = next[1], v[2] = next[2];
  }
}
AW_RAND void aw_mrg_jump(curandStateMRG32k3a_t *s, unsigned long long n, int first) {
  aw_mrg_jump(s->s1, AW_M1, aw_mrg32k3a_jumps[0], n, first);
  aw_mrg_jump(s->s2, AW_M2, aw_mrg32k3a_jumps[1], n, first);
}
AW_RAND void skipahead(unsigned long long n, curandStateMRG32k3a_t *s) { aw_mrg_jump(s, n, 0); }
AW_RAND void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *s) { aw_mrg_jump(s, n, 76); }
AW_RAND void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *s) { aw_mrg_jump(s, n, 127); }
AW_RAND void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                         curandStateMRG32k3a_t *s) {
  for (int i = 0; i < 3; ++i) s->s1[i] = s->s2[i] = 12345;
  if (seed) {
    unsigned long long x = (unsigned int)seed ^ 0x55555555u, y = (unsigned int)(seed >> 32) ^ 0xaaaaaaaau;
    s->s1[0] = s->s1[2] = (unsigned int)(x * 12345 % AW_M1), s->s1[1] = (unsigned int)(y * 12345 % AW_M1);
    s->s2[0] = s->s2[2] = (unsigned int)(y * 12345 % AW_M2), s->s2[1] = (unsigned int)(x * 12345 % AW_M2);
  }
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0, s->boxmuller_extra_double = 0;
  skipahead_subsequence(subsequence, s);
  skipahead(offset, s);
}
AW_RAND double curand_uniform_double(curandStateMRG32k3a_t *s) { return aw_mrg(s) * AW_MRG_NORM; }
AW_RAND float curand_uniform(curandStateMRG32k3a_t *s) { return (float)curand_uniform_double(s); }
AW_RAND float2 curand_normal2(curandStateMRG32k3a_t *s) {
  float u = curand_uniform(s), angle = curand_uniform(s) * 6.2831855f;
  float r = sqrtf(-2.0f * logf(u)), sine, cosine;
  sincosf(angle, &sine, &cosine);
  return float2{sine * r, cosine * r};
}
AW_RAND double2 curand_normal2_double(curandStateMRG32k3a_t *s) {
  double u = curand_uniform_double(s), v = curand_uniform_double(s);
  return aw_box_muller(u, v);
}

#undef AW_M1
#undef AW_M2
#undef AW_MRG_NORM
#undef AW_MRG_BITS
#endif
