// Random numbers made by device code: XORWOW, Philox4x32-10, MRG32k3a and Sobol's sequences; uniform, normal, log-normal and Poisson.
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#if !defined(__CUDACC_RTC__)
#include <curand.h>  // programs rely on it
#endif
#include "anywarp/device.h"
#include "anywarp/discrete.h"
#include "anywarp/xorwow_jumps.h"

#define AW_RAND __device__ static inline

struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// XORWOW (Marsaglia 2003): five words by xor and shift, and a counter that is added.
AW_RAND unsigned int curand(curandStateXORWOW_t *s) {
  unsigned int t = s->v[0] ^ (s->v[0] >> 2);
  s->v[0] = s->v[1], s->v[1] = s->v[2], s->v[2] = s->v[3], s->v[3] = s->v[4];
  s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
  s->d += 362437;
  return s->v[4] + s->d;
}
// 2^k steps for every bit of n, the first bit counting 2^first: a sum of some of the next 160 states.
AW_RAND void aw_xorwow_jump(curandStateXORWOW_t *s, unsigned long long n, int first) {
  unsigned int d = s->d;
  for (int k = first; n; n >>= 1, ++k) {
    if (!(n & 1)) continue;
    unsigned int sum[5] = {};
    for (int bit = 0; bit < 160; ++bit) {
      unsigned int take = 0u - (aw_xorwow_jumps[k][bit >> 5] >> (bit & 31) & 1);
      for (int w = 0; w < 5; ++w) sum[w] ^= s->v[w] & take;
      curand(s);
    }
    for (int w = 0; w < 5; ++w) s->v[w] = sum[w];
  }
  s->d = d;
}
AW_RAND void skipahead(unsigned long long n, curandStateXORWOW_t *s) {
  aw_xorwow_jump(s, n, 0);
  s->d += 362437u * (unsigned int)n;
}
// Subsequences are 2^67 steps apart, a multiple of the counter's period.
AW_RAND void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *s) { aw_xorwow_jump(s, n, 67); }
AW_RAND void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                         curandStateXORWOW_t *s) {
  unsigned int t0 = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u);
  unsigned int t1 = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
  s->d = 6615241u + t1 + t0;
  s->v[0] = 123456789u + t0, s->v[1] = 362436069u ^ t0, s->v[2] = 521288629u + t1, s->v[3] = 88675123u ^ t1;
  s->v[4] = 5783321u + t0;
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0, s->boxmuller_extra_double = 0;
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
}

// Philox4x32-10 (Salmon and others, 2011): ten rounds of two products over a counter of 128 bits.
AW_RAND uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
  for (int round = 0; round < 10; ++round) {
    unsigned int h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
    unsigned int h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
    c = uint4{h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0};
    k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
  }
  return c;
}
AW_RAND void aw_philox_add(uint4 &c, unsigned long long n) {
  unsigned long long low = (unsigned long long)c.y << 32 | c.x, sum = low + n;
  c.x = (unsigned int)sum, c.y = (unsigned int)(sum >> 32);
  if (sum < low && !++c.z) ++c.w;
}
AW_RAND void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s) {
  s->STATE += (unsigned int)(n & 3);
  n /= 4;
  if (s->STATE > 3) ++n, s->STATE -= 4;
  aw_philox_add(s->ctr, n);
  s->output = curand_Philox4x32_10(s->ctr, s->key);
}
AW_RAND void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s) {
  unsigned long long high = ((unsigned long long)s->ctr.w << 32 | s->ctr.z) + n;
  s->ctr.z = (unsigned int)high, s->ctr.w = (unsigned int)(high >> 32);
  s->output = curand_Philox4x32_10(s->ctr, s->key);
}
AW_RAND void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                         curandStatePhilox4_32_10_t *s) {
  s->ctr = uint4{0, 0, 0, 0};
  s->key = uint2{(unsigned int)seed, (unsigned int)(seed >> 32)};
  s->STATE = 0;
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0, s->boxmuller_extra_double = 0;
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
}
AW_RAND unsigned int curand(curandStatePhilox4_32_10_t *s) {
  unsigned int r = s->STATE == 0 ? s->output.x : s->STATE == 1 ? s->output.y : s->STATE == 2 ? s->output.z : s->output.w;
  if (++s->STATE == 4) {
    aw_philox_add(s->ctr, 1);
    s->output = curand_Philox4x32_10(s->ctr, s->key);
    s->STATE = 0;
  }
  return r;
}
AW_RAND uint4 curand4(curandStatePhilox4_32_10_t *s) {
  uint4 now = s->output;
  aw_philox_add(s->ctr, 1);
  uint4 next = s->output = curand_Philox4x32_10(s->ctr, s->key);
  switch (s->STATE) {
    case 1: return uint4{now.y, now.z, now.w, next.x};
    case 2: return uint4{now.z, now.w, next.x, next.y};
    case 3: return uint4{now.w, next.x, next.y, next.z};
    default: return now;
  }
}

// 32 bits to (0, 1]; two numbers of 32 bits to 53 bits of (0, 1].
AW_RAND float _curand_uniform(unsigned int x) { return x * 2.3283064365386963e-10f + 2.3283064365386963e-10f / 2.0f; }
AW_RAND double aw_uniform_53(unsigned int x, unsigned int y) {
  unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << 21);
  return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}
// Two independent normal numbers from two uniform ones (Box and Muller).
AW_RAND float2 _curand_box_muller(unsigned int x, unsigned int y) {
  float u = _curand_uniform(x);
  float angle = y * 1.4629180792671596e-9f + 1.4629180792671596e-9f / 2.0f;
  float r = sqrtf(-2.0f * logf(u)), s, c;
  sincosf(angle, &s, &c);
  return float2{s * r, c * r};
}
AW_RAND double2 aw_box_muller(double u, double v) {
  double r = sqrt(-2.0 * log(u)), s, c;
  sincospi(2.0 * v, &s, &c);
  return double2{s * r, c * r};
}

#include "anywarp/curand_mrg32k3a.h"
#include "anywarp/curand_sobol.h"

template <class S>
AW_RAND float curand_uniform(S *s) {
  return _curand_uniform(curand(s));
}
template <class S>
AW_RAND double curand_uniform_double(S *s) {
  unsigned int x = curand(s), y = curand(s);
  return aw_uniform_53(x, y);
}
template <class S>
AW_RAND float2 curand_normal2(S *s) {
  unsigned int x = curand(s), y = curand(s);
  return _curand_box_muller(x, y);
}
template <class S>
AW_RAND double2 curand_normal2_double(S *s) {
  double u = curand_uniform_double(s), v = curand_uniform_double(s);
  return aw_box_muller(u, v);
}
// Normal numbers come in pairs: the second waits in the state.
template <class S>
AW_RAND float curand_normal(S *s) {
  if (s->boxmuller_flag) {
    s->boxmuller_flag = 0;
    return s->boxmuller_extra;
  }
  float2 pair = curand_normal2(s);
  s->boxmuller_flag = 1, s->boxmuller_extra = pair.y;
  return pair.x;
}
template <class S>
AW_RAND double curand_normal_double(S *s) {
  if (s->boxmuller_flag_double) {
    s->boxmuller_flag_double = 0;
    return s->boxmuller_extra_double;
  }
  double2 pair = curand_normal2_double(s);
  s->boxmuller_flag_double = 1, s->boxmuller_extra_double = pair.y;
  return pair.x;
}
template <class S>
AW_RAND float curand_log_normal(S *s, float mean, float deviation) {
  return expf(mean + deviation * curand_normal(s));
}
template <class S>
AW_RAND double curand_log_normal_double(S *s, double mean, double deviation) {
  return exp(mean + deviation * curand_normal_double(s));
}
template <class S>
AW_RAND float2 curand_log_normal2(S *s, float mean, float deviation) {
  float2 n = curand_normal2(s);
  return float2{expf(mean + deviation * n.x), expf(mean + deviation * n.y)};
}
template <class S>
AW_RAND double2 curand_log_normal2_double(S *s, double mean, double deviation) {
  double2 n = curand_normal2_double(s);
  return double2{exp(mean + deviation * n.x), exp(mean + deviation * n.y)};
}
AW_RAND float4 curand_uniform4(curandStatePhilox4_32_10_t *s) {
  uint4 x = curand4(s);
  return float4{_curand_uniform(x.x), _curand_uniform(x.y), _curand_uniform(x.z), _curand_uniform(x.w)};
}
AW_RAND double2 curand_uniform2_double(curandStatePhilox4_32_10_t *s) {
  uint4 x = curand4(s);
  return double2{aw_uniform_53(x.x, x.y), aw_uniform_53(x.z, x.w)};
}
AW_RAND float4 curand_normal4(curandStatePhilox4_32_10_t *s) {
  uint4 x = curand4(s);
  float2 a = _curand_box_muller(x.x, x.y), b = _curand_box_muller(x.z, x.w);
  return float4{a.x, a.y, b.x, b.y};
}
AW_RAND float4 curand_log_normal4(curandStatePhilox4_32_10_t *s, float mean, float deviation) {
  float4 n = curand_normal4(s);
  return float4{expf(mean + deviation * n.x), expf(mean + deviation * n.y), expf(mean + deviation * n.z),
                expf(mean + deviation * n.w)};
}
// Poisson by counting how many uniform numbers multiply to less than exp(-lambda), in parts that a float's range holds: exact
// for every lambda, and as long as lambda is large.
template <class S>
AW_RAND unsigned int curand_poisson(S *s, double lambda) {
  unsigned int count = 0;
  double left = lambda, product = 1.0;
  for (;;) {
    product *= curand_uniform_double(s);
    while (product < 1.0 && left > 0.0) {
      double part = left < 500.0 ? left : 500.0;
      product *= exp(part);
      left -= part;
    }
    if (product <= 1.0) return count;
    ++count;
  }
}

// A distribution of curandCreatePoissonDistribution: the first number that is at least as probable, or a smaller one.
template <class S>
AW_RAND unsigned int curand_discrete(S *s, curandDiscreteDistribution_t distribution) {
  double u = curand_uniform_double(s);
  unsigned int low = 0, high = distribution->count - 1;
  while (low < high) {
    unsigned int middle = (low + high) / 2;
    if (distribution->sums[middle] < u)
      low = middle + 1;
    else
      high = middle;
  }
  return distribution->first + low;
}

#undef AW_RAND
#endif
