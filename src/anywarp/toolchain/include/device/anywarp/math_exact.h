// Functions with exact results: remainders, parts of a number, neighbours, rounding to integers.
#ifndef ANYWARP_MATH_EXACT_H
#define ANYWARP_MATH_EXACT_H

#include "math_double.h"

// Numbers as integers: sign, exponent and significand of each format.
struct aw_format_double {
  typedef double number;
  typedef unsigned long long bits;
  typedef long long whole;
  static constexpr int digits = 52, bias = 1023, top = 2047;
};
struct aw_format_float {
  typedef float number;
  typedef unsigned int bits;
  typedef int whole;
  static constexpr int digits = 23, bias = 127, top = 255;
};

// |x| = m 2^e with an integer m; subnormals as they are.
template <class F>
struct aw_significand {
  unsigned long long m;
  int e;
};
template <class F>
AW_HD static inline aw_significand<F> aw_take_apart(typename F::number x) {
  typename F::bits b = __builtin_bit_cast(typename F::bits, x);
  int e = (int)(b >> F::digits) & F::top;
  unsigned long long m = b & (((typename F::bits)1 << F::digits) - 1);
  return {e ? m | 1ull << F::digits : m, (e ? e : 1) - F::bias - F::digits};
}
// x - n y for the whole n toward zero (or the nearest, ties to even), exactly; and the low bits of n.
template <class F, bool Nearest>
AW_HD static inline typename F::number aw_remainder(typename F::number x, typename F::number y,
                                                                            unsigned int *quotient) {
  typedef typename F::number T;
  T a = x < 0 ? -x : x, b = y < 0 ? -y : y;
  *quotient = 0;
  if (!(b > 0) || aw_add(a, -a) != 0) return (x * y) / (x * y);
  if (aw_add(b, -b) != 0) return x;
  aw_significand<F> p = aw_take_apart<F>(a), q = aw_take_apart<F>(b);
  unsigned long long r = p.m, d = q.m;
  unsigned int n = 0;
  if (a < b) {
    // Twice x against y decides, and y - x is exact where it is needed.
    T half = aw_add(b, -a);
    if (!Nearest || !(a > half)) return x;
    *quotient = 1;
    return x < 0 ? half : -half;
  }
  n = (unsigned int)(r / d), r %= d;
  for (int left = p.e - q.e; left > 0;) {
    int step = left < 63 - F::digits ? left : 63 - F::digits;
    r <<= step;
    n = (step < 32 ? n << step : 0u) + (unsigned int)(r / d);
    r %= d, left -= step;
  }
  bool minus = x < 0;
  if (Nearest && (2 * r > d || (2 * r == d && (n & 1)))) r = d - r, ++n, minus = !minus;
  *quotient = n;
  T v = (T)aw_scale((double)r, q.e);
  return r == 0 ? __builtin_bit_cast(T, (typename F::bits)(__builtin_bit_cast(typename F::bits, x) >> (sizeof(T) * 8 - 1)
                                                           << (sizeof(T) * 8 - 1)))
                : minus ? -v : v;
}

template <class F>
AW_HD static inline typename F::number aw_next(typename F::number x, typename F::number y) {
  typedef typename F::bits B;
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  B b = __builtin_bit_cast(B, x);
  if (x == 0) return __builtin_bit_cast(typename F::number, (B)((y < 0 ? (B)1 << (sizeof(B) * 8 - 1) : 0) | 1));
  b = (x < y) == (x > 0) ? b + 1 : b - 1;
  return __builtin_bit_cast(typename F::number, b);
}
// The exponent of the number, subnormals counted as if they were not; for finite x other than 0.
AW_BOTH int aw_exponent(double x) {
  bool small = aw_abs(x) < 2.2250738585072014e-308;
  return (int)(aw_bits(small ? x * 18014398509481984.0 : x) >> 52 & 2047) - 1023 - (small ? 54 : 0);
}
AW_BOTH int aw_ilogb(double x) {
  int value = x == 0.0 ? -2147483647 - 1 : aw_exponent(x);
  return aw_is_nan(x) ? -2147483647 - 1 : aw_abs(x) == aw_inf() ? 2147483647 : value;
}
AW_BOTH double aw_logb(double x) {
  double value = x == 0.0 ? -aw_inf() : (double)aw_exponent(x);
  return aw_is_nan(x) ? x : aw_abs(x) == aw_inf() ? aw_inf() : value;
}
// x with the exponent 0: 1 <= |m| < 2.
AW_BOTH double aw_mantissa(double x) {
  bool small = aw_abs(x) < 2.2250738585072014e-308;
  unsigned long long b = aw_bits(small ? x * 18014398509481984.0 : x);
  return aw_from_bits((b & 0x800fffffffffffffull) | 0x3ff0000000000000ull);
}
AW_BOTH bool aw_is_plain(double x) { return aw_abs(x) > 0.0 && aw_abs(x) < aw_inf(); }
AW_BOTH double aw_frexp(double x, int *e) {
  *e = aw_is_plain(x) ? aw_exponent(x) + 1 : 0;
  return aw_is_plain(x) ? 0.5 * aw_mantissa(x) : x;
}
AW_BOTH double aw_ldexp(double x, int n) {
  n = n < -3000 ? -3000 : n > 3000 ? 3000 : n;
  int t = aw_exponent(x) + n;
  double value = aw_scale(aw_mantissa(x), t < -1200 ? -1200 : t > 1100 ? 1100 : t);
  return aw_is_plain(x) ? value : x;
}
AW_BOTH double aw_round(double x) {
  double t = __builtin_trunc(x), d = aw_add(x, -t);
  double r = aw_abs(d) >= 0.5 ? t + aw_sign(1.0, x) : t;
  return aw_sign(aw_abs(x) < 4503599627370496.0 ? r : x, x);
}
AW_BOTH float aw_roundf(float x) {
  float t = __builtin_truncf(x), d = aw_add(x, -t);
  float r = __builtin_fabsf(d) >= 0.5f ? t + __builtin_copysignf(1.0f, x) : t;
  return __builtin_copysignf(__builtin_fabsf(x) < 8388608.0f ? r : x, x);
}

#endif
