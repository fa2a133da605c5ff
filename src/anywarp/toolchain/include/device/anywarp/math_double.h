// The functions of <math.h> and CUDA's own for double, without branches where lanes would part.
#ifndef ANYWARP_MATH_DOUBLE_H
#define ANYWARP_MATH_DOUBLE_H

#include "attributes.h"
#include "math_tables.h"

// Products and sums that must be rounded on their own: the compiler fuses plain ones, as nvcc does, also with a product of the caller's that is
// an argument here.
#if defined(__CUDA_ARCH__)
AW_BOTH double aw_mul(double a, double b) { return __nvvm_mul_rn_d(a, b); }
AW_BOTH double aw_add(double a, double b) { return __nvvm_add_rn_d(a, b); }
AW_BOTH float aw_add(float a, float b) { return __nvvm_add_rn_f(a, b); }
#else
AW_BOTH double aw_mul(double a, double b) {
  volatile double r = a * b;
  return r;
}
AW_BOTH double aw_add(double a, double b) {
  volatile double r = a + b;
  return r;
}
AW_BOTH float aw_add(float a, float b) {
  volatile float r = a + b;
  return r;
}
#endif
AW_BOTH double aw_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
AW_BOTH double aw_from_bits(unsigned long long x) { return __builtin_bit_cast(double, x); }
AW_BOTH unsigned long long aw_bits(double x) { return __builtin_bit_cast(unsigned long long, x); }
AW_BOTH double aw_abs(double x) { return __builtin_fabs(x); }
AW_BOTH double aw_sign(double x, double sign) { return __builtin_copysign(x, sign); }
AW_BOTH double aw_inf(void) { return __builtin_inf(); }
AW_BOTH double aw_nan(void) { return __builtin_nan(""); }
AW_BOTH bool aw_is_nan(double x) { return x != x; }

// A number as a sum hi + lo, |lo| at most half a unit of hi's last place.
struct aw_pair {
  double hi, lo;
};
AW_BOTH aw_pair aw_fast_sum(double big, double small) {
  double s = aw_add(big, small);
  return {s, aw_add(small, -aw_add(s, -big))};
}
AW_BOTH aw_pair aw_sum(double a, double b) {
  double s = aw_add(a, b), t = aw_add(s, -a);
  return {s, aw_add(aw_add(a, -aw_add(s, -t)), aw_add(b, -t))};
}
AW_BOTH aw_pair aw_product(double a, double b) {
  double p = aw_mul(a, b);
  return {p, aw_fma(a, b, -p)};
}
AW_BOTH aw_pair aw_pair_sum(aw_pair a, aw_pair b) {
  aw_pair s = aw_sum(a.hi, b.hi);
  return aw_fast_sum(s.hi, aw_add(s.lo, aw_add(a.lo, b.lo)));
}
AW_BOTH aw_pair aw_pair_product(aw_pair a, aw_pair b) {
  aw_pair p = aw_product(a.hi, b.hi);
  return aw_fast_sum(p.hi, aw_fma(a.hi, b.lo, aw_fma(a.lo, b.hi, p.lo)));
}
AW_BOTH aw_pair aw_quotient(aw_pair a, aw_pair b) {
  double q = a.hi / b.hi;
  double rest = aw_add(aw_fma(-q, b.hi, a.hi), aw_fma(-q, b.lo, a.lo));
  return aw_fast_sum(q, rest / b.hi);
}

// Horner's rule, lowest coefficient first.
template <int N>
AW_HD_INLINE static inline double aw_polynomial(const double (&c)[N], double x) {
  double r = c[N - 1];
AW_UNROLL
  for (int k = N - 2; k >= 0; --k) r = aw_fma(r, x, c[k]);
  return r;
}
template <int M, int N>
AW_HD_INLINE static inline double aw_piece(const double (&c)[M][N], double x,
                                                                                   double low, double per_unit,
                                                                                   double rest = 0.0) {
  double place = (x - low) * per_unit;
  int k = (int)place;
  k = k < 0 ? 0 : k > M - 1 ? M - 1 : k;
  return aw_polynomial(c[k], (x - (low + (k + 0.5) / per_unit)) + rest);
}

// x * 2^n for |n| < 2100, rounded once.
AW_BOTH double aw_power_of_2(int n) { return aw_from_bits((unsigned long long)(unsigned int)(n + 1023) << 52); }
AW_BOTH double aw_scale(double x, int n) {
  int a = n >> 1;
  return aw_mul(aw_mul(x, aw_power_of_2(a)), aw_power_of_2(n - a));
}

// exp(hi + lo) = (value of `one` + e) * 2^n: the caller adds, so that expm1 can leave the one out.
struct aw_exp_parts {
  double e;
  int n;
};
AW_BOTH aw_exp_parts aw_exp_core(double x, double lo) {
  double shifted = aw_fma(x, 1.4426950408889634, 6755399441055744.0);
  double n = aw_add(shifted, -6755399441055744.0);
  double r = aw_fma(-n, 0.6931471805599453, x);
  r = aw_fma(-n, 2.3190468138462996e-17, r) + lo;
  return {aw_fma(aw_mul(r, r), aw_polynomial(aw_exp_p, r), r), (int)aw_bits(shifted)};
}
AW_BOTH double aw_clamp(double x, double low, double high) { return x > high ? high : x < low ? low : x; }
AW_BOTH_BIG double aw_exp_pair(double x, double lo) {
  aw_exp_parts p = aw_exp_core(aw_clamp(x, -760.0, 720.0), lo);
  return aw_scale(1.0 + p.e, p.n);
}
AW_BOTH_BIG double aw_exp(double x) { return aw_exp_pair(x, 0.0); }

// log(2) in two parts; the first ends early enough that n times it is exact.
#define AW_LN2_HI 0.6931471803691238
#define AW_LN2_LO 1.9082149292705877e-10

struct aw_split {
  double f;
  int n;
};
// x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for positive finite x.
AW_BOTH aw_split aw_split_log(double x) {
  bool small = x < 2.2250738585072014e-308;
  unsigned long long b = aw_bits(small ? x * 18014398509481984.0 : x);
  int n = (int)((long long)(b - 0x3fe6a09e667f3bcdull) >> 52);
  return {aw_from_bits(b - ((unsigned long long)(long long)n << 52)) - 1.0, small ? n - 54 : n};
}
// What no formula gives: log of inf, nan, 0 and negative numbers.
AW_BOTH double aw_log_edges(double x, double value) {
  value = x < aw_inf() ? value : x;
  value = x == 0.0 ? -aw_inf() : value;
  return x < 0.0 ? aw_nan() : value;
}
AW_BOTH_BIG double aw_log(double x) {
  aw_split p = aw_split_log(x);
  double f = p.f, s = f / (2.0 + f), z = s * s, half = aw_mul(0.5 * f, f), n = p.n;
  // log(1 + f) = f - (half - s (half + 2 z P)), because 2 s = f - s f.
  double r = 2.0 * z * aw_polynomial(aw_log_p, z);
  double tail = aw_fma(s, half + r, n * AW_LN2_LO);
  double value = aw_fma(n, AW_LN2_HI, -((half - tail) - f));
  return aw_log_edges(x, value);
}
// log(1 + f + lo) + n log(2) as a pair, to about 2^-66.
AW_BOTH aw_pair aw_log_pair(double f, double lo, int exponent) {
  aw_pair denominator = aw_fast_sum(2.0, f);
  aw_pair s = aw_quotient({f, lo}, {denominator.hi, denominator.lo + lo});
  aw_pair z = aw_pair_product(s, s);
  double n = exponent;
  double p = aw_mul(z.hi, aw_polynomial(aw_log_q, z.hi));
  aw_pair sum = aw_fast_sum(0.6666666666666666, p);
  sum.lo += 3.700743415417188e-17;
  aw_pair tail = aw_pair_product(aw_pair_product(s, z), sum);
  aw_pair log1 = aw_pair_sum({2.0 * s.hi, 2.0 * s.lo}, tail);
  aw_pair whole = {n * AW_LN2_HI, 0.0};
  return aw_pair_sum(aw_pair_sum(whole, aw_product(n, AW_LN2_LO)),
                     {log1.hi, aw_fma(n, 1.1612227229362532e-26, log1.lo)});
}
AW_BOTH aw_pair aw_log_pair(double x) {
  aw_split p = aw_split_log(x);
  return aw_log_pair(p.f, 0.0, p.n);
}
AW_BOTH_BIG double aw_log2(double x) {
  aw_split p = aw_split_log(x);
  aw_pair l = aw_pair_product(aw_log_pair(p.f, 0.0, 0), {1.4426950408889634, 2.0355273740931033e-17});
  aw_pair r = aw_sum((double)p.n, l.hi);
  return aw_log_edges(x, r.hi + (r.lo + l.lo));
}
AW_BOTH_BIG double aw_log10(double x) {
  aw_pair l = aw_pair_product(aw_log_pair(x), {0.4342944819032518, 1.098319650216765e-17});
  return aw_log_edges(x, l.hi + l.lo);
}
// log(1 + x) as a pair, 1 + x positive.
AW_BOTH aw_pair aw_log1p_pair(double x, double lo) {
  aw_pair u = aw_sum(1.0, x);
  u = aw_fast_sum(u.hi, u.lo + lo);
  aw_split p = aw_split_log(u.hi < 1.0e300 ? u.hi : 1.0e300);
  bool near = p.n == 0;
  double scale = aw_power_of_2(-p.n);
  return aw_log_pair(near ? x : p.f, near ? lo : u.lo * scale, p.n);
}
AW_BOTH_BIG double aw_log1p(double x) {
  aw_pair l = aw_log1p_pair(x, 0.0);
  double value = x > 1.0e300 ? aw_log(x) : l.hi + l.lo;
  value = x > -1.0 ? value : x == -1.0 ? -aw_inf() : aw_nan();
  return aw_abs(x) < 1.0e-300 || aw_is_nan(x) ? x : value;
}
AW_BOTH_BIG double aw_expm1(double x) {
  double c = aw_clamp(x, -50.0, 710.0);
  double shifted = aw_fma(c, 1.4426950408889634, 6755399441055744.0);
  double n = aw_add(shifted, -6755399441055744.0);
  aw_pair r = aw_sum(aw_fma(-n, 0.6931471805599453, c), aw_mul(-n, 2.3190468138462996e-17));
  int k = (int)aw_bits(shifted);
  aw_pair e = aw_fast_sum(r.hi, aw_fma(aw_mul(r.hi, r.hi), aw_polynomial(aw_exp_p, r.hi), r.lo));
  // 2^k (1 + e) - 1, in halves so that 2^1024 does not appear.
  double half = aw_power_of_2(k - 1);
  aw_pair t = aw_sum(aw_fma(half, e.hi, 0.0), half - 0.5);
  double value = 2.0 * (t.hi + aw_fma(half, e.lo, t.lo));
  value = x > 709.8 ? aw_inf() : k == 0 ? e.hi + e.lo : value;
  return x == 0.0 || aw_is_nan(x) ? x : value;
}
AW_BOTH_BIG double aw_exp2(double x) {
  double c = aw_clamp(x, -1080.0, 1030.0);
  double shifted = aw_add(c, 6755399441055744.0), f = c - aw_add(shifted, -6755399441055744.0);
  aw_pair r = aw_product(f, 0.6931471805599453);
  double e = aw_fma(aw_mul(r.hi, r.hi), aw_polynomial(aw_exp_p, r.hi), aw_fma(f, 2.3190468138462996e-17, r.lo) + r.hi);
  return aw_scale(1.0 + e, (int)aw_bits(shifted));
}
AW_BOTH_BIG double aw_exp10(double x) {
  double c = aw_clamp(x, -340.0, 320.0);
  double shifted = aw_fma(c, 3.321928094887362, 6755399441055744.0), n = aw_add(shifted, -6755399441055744.0);
  // log10(2) in two parts, then the rest times log(10).
  double f = aw_fma(-n, 0.30102999566398120, c);
  f = aw_fma(-n, -2.8037281277851704e-18, f);
  aw_pair r = aw_product(f, 2.302585092994046), one = aw_fast_sum(1.0, r.hi);
  double e = aw_fma(aw_mul(r.hi, r.hi), aw_polynomial(aw_exp_p, r.hi), aw_fma(f, -2.1707562233822494e-16, r.lo));
  return aw_scale(one.hi + (one.lo + e), (int)aw_bits(shifted));
}

AW_BOTH bool aw_is_whole(double y) { return __builtin_trunc(y) == y; }
AW_BOTH bool aw_is_odd(double y) { return aw_is_whole(y) && aw_abs(y) < 9007199254740992.0 && ((long long)y & 1); }
// What pow gives where exp(y log|x|), which is `value`, is not the answer.
AW_BOTH double aw_pow_edges(double x, double y, double value) {
  double a = aw_abs(x);
  bool odd = aw_is_odd(y);
  value = x < 0.0 ? (odd ? -value : aw_is_whole(y) ? value : aw_nan()) : value;
  // Zero and infinity to a power: zero or infinity, with the sign of an odd power.
  double edge = (a == 0.0) == (y < 0.0) ? aw_inf() : 0.0;
  value = a == 0.0 || a == aw_inf() ? (odd ? aw_sign(edge, x) : edge) : value;
  double endless = a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? aw_inf() : 0.0;
  value = aw_abs(y) == aw_inf() ? endless : value;
  value = aw_is_nan(x) || aw_is_nan(y) ? x + y : value;
  return x == 1.0 || y == 0.0 ? 1.0 : value;
}
AW_BOTH_BIG double aw_pow(double x, double y) {
  aw_pair l = aw_log_pair(aw_abs(x));
  aw_pair p = aw_product(y, l.hi);
  p = aw_fast_sum(p.hi, aw_fma(y, l.lo, p.lo));
  return aw_pow_edges(x, y, aw_exp_pair(p.hi, aw_abs(p.hi) < 800.0 ? p.lo : 0.0));
}
AW_BOTH_BIG double aw_cbrt(double x) {
  double a = aw_abs(x);
  bool small = a < 2.2250738585072014e-308;
  unsigned long long b = aw_bits(small ? a * 18014398509481984.0 : a);
  int n = (int)(b >> 52) - 1023 - (small ? 54 : 0);
  int third = (n + 3072) / 3 - 1024, rest = n - 3 * third;
  double m = aw_from_bits((b & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  double y = aw_polynomial(aw_cbrt_p, m) * (rest == 0 ? 1.0 : rest == 1 ? 1.2599210498948732 : 1.5874010519681994);
  m = aw_scale(m, rest);
  // Newton's step twice, the second with the residual computed exactly enough to leave only the last rounding.
  y = aw_fma((m / (y * y) - y), 0.3333333333333333, y);
  aw_pair square = aw_product(y, y), cube = aw_product(square.hi, y);
  double residual = (m - cube.hi) - aw_fma(square.lo, y, cube.lo);
  y = aw_fma(residual / (3.0 * y * y), 1.0, y);
  double value = aw_sign(y * aw_power_of_2(third), x);
  return a == 0.0 || !(a < aw_inf()) ? x : value;
}
AW_BOTH_BIG double aw_rcbrt(double x) {
  double y = 1.0 / aw_cbrt(x);
  double a = aw_abs(x);
  if (!(a > 0.0 && a < aw_inf())) return y;
  // One correction of y for y^3 x = 1; scaled so that nothing overflows.
  int n = (int)(aw_bits(y) >> 52 & 0x7ff) - 1023;
  double m = aw_scale(y, -n), c = aw_scale(aw_scale(x, n), 2 * n);
  aw_pair square = aw_product(m, m), cube = aw_product(square.hi, m);
  double e = aw_fma(cube.hi, -c, 1.0) - aw_fma(square.lo, m, cube.lo) * c;
  return aw_scale(aw_fma(m * 0.3333333333333333, e, m), n);
}
AW_BOTH_BIG double aw_rsqrt(double x) {
  bool small = x < 2.2250738585072014e-308;
  double a = small ? x * 18014398509481984.0 : x;
  double y = 1.0 / __builtin_sqrt(a);
  aw_pair p = aw_product(y, a);
  double e = aw_fma(-y, p.hi, 1.0) - y * p.lo;
  double better = aw_fma(0.5 * y, e, y);
  y = a > 0.0 && a < aw_inf() ? better : y;
  y = small ? y * 134217728.0 : y;
  return x == 0.0 ? aw_sign(aw_inf(), x) : y;
}

#endif
