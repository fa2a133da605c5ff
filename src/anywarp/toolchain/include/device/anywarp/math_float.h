// The functions of <math.h> and CUDA's own for float: through double where that is the shorter way to a right result.
#ifndef ANYWARP_MATH_FLOAT_H
#define ANYWARP_MATH_FLOAT_H

#include "math_special.h"

#define AW_BY_DOUBLE_1(name) \
  AW_BOTH_BIG float aw_##name##f(float x) { return (float)aw_##name((double)x); }
#define AW_BY_DOUBLE_2(name) \
  AW_BOTH_BIG float aw_##name##f(float x, float y) { return (float)aw_##name((double)x, (double)y); }
AW_BY_DOUBLE_1(exp2)
AW_BY_DOUBLE_1(exp10)
AW_BY_DOUBLE_1(expm1)
AW_BY_DOUBLE_1(cbrt)
AW_BY_DOUBLE_1(rcbrt)
AW_BY_DOUBLE_1(sinpi)
AW_BY_DOUBLE_1(cospi)
AW_BY_DOUBLE_1(tanpi)
AW_BY_DOUBLE_1(asin)
AW_BY_DOUBLE_1(acos)
AW_BY_DOUBLE_1(sinh)
AW_BY_DOUBLE_1(cosh)
AW_BY_DOUBLE_1(erfc)
AW_BY_DOUBLE_1(erfcx)
AW_BY_DOUBLE_1(erfinv)
AW_BY_DOUBLE_1(erfcinv)
AW_BY_DOUBLE_1(normcdf)
AW_BY_DOUBLE_1(normcdfinv)
AW_BY_DOUBLE_1(lgamma)
AW_BY_DOUBLE_1(tgamma)
AW_BY_DOUBLE_2(atan2)
#undef AW_BY_DOUBLE_1
#undef AW_BY_DOUBLE_2
// The functions that programs call most, in floats alone: twice as many of them fit into a vector.
AW_BOTH float aw_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
AW_BOTH float aw_from_bitsf(unsigned int x) { return __builtin_bit_cast(float, x); }
AW_BOTH unsigned int aw_bitsf(float x) { return __builtin_bit_cast(unsigned int, x); }
template <int N>
AW_HD_INLINE static inline float aw_polynomialf(const double (&c)[N], float x) {
  float r = (float)c[N - 1];
AW_UNROLL
  for (int k = N - 2; k >= 0; --k) r = aw_fmaf(r, x, (float)c[k]);
  return r;
}
AW_BOTH_BIG float aw_expf(float x) {
  float c = x > 89.0f ? 89.0f : x < -105.0f ? -105.0f : x;
  float shifted = aw_fmaf(c, 1.44269504f, 12582912.0f), n = shifted - 12582912.0f;
  float r = aw_fmaf(-n, -1.90465430e-9f, aw_fmaf(-n, 0.693147182f, c));
  float e = aw_fmaf(r * r, aw_polynomialf(aw_expf_p, r), r) + 1.0f;
  int exponent = (int)(aw_bitsf(shifted) - 0x4b400000u), half = exponent >> 1;
  return e * aw_from_bitsf((unsigned int)(half + 127) << 23) * aw_from_bitsf((unsigned int)(exponent - half + 127) << 23);
}
AW_BOTH_BIG float aw_logf(float x) {
  bool small = x < 1.17549435e-38f;
  unsigned int b = aw_bitsf(small ? x * 16777216.0f : x);
  int exponent = (int)(b - 0x3f3504f3u) >> 23;  // x = 2^exponent (1 + f), sqrt(1/2) <= 1 + f < sqrt(2)
  float f = aw_from_bitsf(b - ((unsigned int)exponent << 23)) - 1.0f, n = (float)(small ? exponent - 24 : exponent);
  float rest = aw_fmaf(f * f, aw_fmaf(f, aw_polynomialf(aw_logf_p, f), -0.5f), n * 1.42860677e-6f);
  // The high part of n log(2) is exact, and what its sum with f loses is found again: it is 0 where that is smaller.
  float high = n * 0.693145752f, sum = high + f, lost = n == 0.0f ? 0.0f : (high - sum) + f, value = sum + (rest + lost);
  value = x < __builtin_inff() ? value : x;
  value = x == 0.0f ? -__builtin_inff() : value;
  return x < 0.0f ? __builtin_nanf("") : value;
}
AW_BOTH_BIG float aw_erff(float x) {
  float a = __builtin_fabsf(x), b = a < 4.0f ? a : 4.0f;
  float near = aw_fmaf(a, aw_polynomialf(aw_erff_p, a * a), a);
  float far = 1.0f - aw_expf(aw_fmaf(-b, b, aw_polynomialf(aw_erfcf_p, b)));
  return x != x ? x : __builtin_copysignf(a < 1.0f ? near : far, x);
}
// Where the double function works in pairs of doubles, plain ones are exact enough for a float.
struct aw_plain_angle {
  double s, c;  // of the rest
  int quadrant;
};
// What x is beside a multiple of pi/2, no float of which is nearer than 1e-9: two parts of pi/2 leave 2^-50 of it.
AW_BOTH aw_plain_angle aw_anglef(double x) {
  double r;
  int quadrant;
  if (aw_abs(x) < 1.0e8) {
    double shifted = aw_fma(x, 0.6366197723675814, 6755399441055744.0), n = aw_add(shifted, -6755399441055744.0);
    r = aw_fma(-n, 6.123233995736766e-17, aw_fma(-n, 1.5707963267948966, x));
    quadrant = (int)aw_bits(shifted);
  } else {
    // x = m 2^exponent times 96 digits of 2/pi, modulo 4: those before give multiples of 4. Short, as it is inlined wherever a sine is.
    unsigned long long b = aw_bits(x), m = (b & 0xfffffffffffffull | 0x10000000000000ull) >> 29;
    int place = (int)(b >> 52 & 0x7ff) - 1046 + 62, word = place >> 6, shift = place & 63;
    unsigned long long w0 = aw_two_over_pi[word], w1 = aw_two_over_pi[word + 1], w2 = aw_two_over_pi[word + 2];
    unsigned long long high = w0 << shift | w1 >> 1 >> (63 - shift), low = (w1 << shift | w2 >> 1 >> (63 - shift)) >> 32;
    unsigned long long rest = m * low, turn = m * high + (rest >> 32);
    r = (double)(long long)(turn << 2 | (rest & 0xffffffffull) >> 30) * 8.515303950216386e-20;  // pi/2 2^-64
    quadrant = (int)((turn >> 61) + 1 >> 1);
    if (x < 0.0) r = -r, quadrant = -quadrant;
  }
  double z = r * r;
  double s = aw_fma(z * r, aw_polynomial(aw_sin_p, z), r), c = aw_fma(z * z, aw_polynomial(aw_cos_p, z), aw_fma(-0.5, z, 1.0));
  return {s, c, quadrant};
}
AW_BOTH float aw_circularf(aw_plain_angle a, int add) {
  int q = a.quadrant + add;
  float value = (float)(q & 1 ? a.c : a.s);
  return q & 2 ? -value : value;
}
AW_BOTH_BIG float aw_sinf(float x) {
  float value = aw_circularf(aw_anglef((double)x), 0);
  return __builtin_fabsf(x) < __builtin_inff() ? (x == 0.0f ? x : value) : __builtin_nanf("");
}
AW_BOTH_BIG float aw_cosf(float x) {
  float value = aw_circularf(aw_anglef((double)x), 1);
  return __builtin_fabsf(x) < __builtin_inff() ? value : __builtin_nanf("");
}
AW_BOTH_BIG void aw_sincosf(float x, float *s, float *c) {
  aw_plain_angle a = aw_anglef((double)x);
  bool finite = __builtin_fabsf(x) < __builtin_inff();
  *s = finite ? (x == 0.0f ? x : aw_circularf(a, 0)) : __builtin_nanf("");
  *c = finite ? aw_circularf(a, 1) : __builtin_nanf("");
}
AW_BOTH_BIG float aw_tanf(float x) {
  aw_plain_angle a = aw_anglef((double)x);
  float value = (float)(a.quadrant & 1 ? -a.c / a.s : a.s / a.c);
  return __builtin_fabsf(x) < __builtin_inff() ? (x == 0.0f ? x : value) : __builtin_nanf("");
}
AW_BOTH float aw_log2f(float x) { return (float)(aw_log((double)x) * 1.4426950408889634); }
AW_BOTH float aw_log10f(float x) { return (float)(aw_log((double)x) * 0.4342944819032518); }
AW_BOTH double aw_log1p_plain(double x) {
  double u = 1.0 + x;
  // What the sum lost, over u, is what the logarithm lacks.
  double rest = aw_add(x, -aw_add(u, -1.0)) / u;
  return u < aw_inf() && u > 0.0 ? aw_log(u) + rest : aw_log(u);
}
AW_BOTH_BIG float aw_log1pf(float x) { return x == 0.0f ? x : (float)aw_log1p_plain((double)x); }
AW_BOTH_BIG float aw_tanhf(float x) {
  double a = aw_abs((double)x);
  aw_exp_parts p = aw_exp_core(2.0 * (a < 22.0 ? a : 22.0), 0.0);
  double scale = aw_power_of_2(p.n), t = aw_fma(scale, p.e, scale - 1.0);
  return x != x ? x : __builtin_copysignf((float)(t / (t + 2.0)), x);
}
AW_BOTH_BIG float aw_atanf(float x) {
  double a = aw_abs((double)x);
  bool far = a > 2.414213562373095, middle = a > 0.41421356237309503;
  double top = far ? -1.0 : middle ? a - 1.0 : a, bottom = far ? a : middle ? a + 1.0 : 1.0;
  double t = a == aw_inf() ? 0.0 : top / bottom, z = t * t;
  double base = far ? 1.5707963267948966 : middle ? 0.7853981633974483 : 0.0;
  return x != x ? x : __builtin_copysignf((float)(base + aw_fma(t * z, aw_polynomial(aw_atan_p, z), t)), x);
}
AW_BOTH_BIG float aw_asinhf(float x) {
  double a = aw_abs((double)x), z = a * a;
  double value = aw_log1p_plain(a + z / (1.0 + __builtin_sqrt(1.0 + z)));
  return x != x ? x : __builtin_copysignf(a < aw_inf() ? (float)value : __builtin_inff(), x);
}
AW_BOTH_BIG float aw_acoshf(float x) {
  double t = (double)x - 1.0;
  return (float)(x >= 1.0f ? aw_log1p_plain(t + __builtin_sqrt(t * (t + 2.0))) : aw_nan());
}
AW_BOTH_BIG float aw_atanhf(float x) {
  double a = aw_abs((double)x);
  double value = 0.5 * aw_log1p_plain(2.0 * a / (1.0 - a));
  return x != x ? x : __builtin_copysignf((float)(a < 1.0 ? value : a == 1.0 ? aw_inf() : aw_nan()), a > 1.0 ? 1.0f : x);
}
AW_BOTH_BIG float aw_powf(float x, float y) {
  double p = (double)y * aw_log(aw_abs((double)x));
  return (float)aw_pow_edges((double)x, (double)y, aw_exp(p));
}
#ifdef __CUDA_ARCH__
AW_BOTH float aw_rsqrtf(float x) {
  float r;
  __asm__("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
#else
AW_BOTH float aw_rsqrtf(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
#endif
// Squares of floats neither overflow in double nor lose anything.
AW_BOTH_BIG float aw_normf(float a, float b, float c, float d) {
  double x = a, y = b, z = c, w = d, r = __builtin_sqrt(x * x + y * y + z * z + w * w);
  return (float)(aw_any_inf(x, y, z, w) ? aw_inf() : r);
}
AW_BOTH_BIG float aw_rnormf(float a, float b, float c, float d) {
  double x = a, y = b, z = c, w = d, r = 1.0 / __builtin_sqrt(x * x + y * y + z * z + w * w);
  return (float)(aw_any_inf(x, y, z, w) ? 0.0 : r);
}

#endif
