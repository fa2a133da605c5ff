// Floating-point formats of 16 bits and less: rounding a double to them in every direction, and back, by arithmetic alone.
#ifndef ANYWARP_SMALL_FLOAT_H
#define ANYWARP_SMALL_FLOAT_H

#include "math_double.h"

enum aw_rounding { aw_nearest, aw_toward_zero, aw_upward, aw_downward };

AW_BOTH double aw_round_whole(double x, aw_rounding how) {
  return how == aw_nearest       ? __builtin_rint(x)
         : how == aw_toward_zero ? __builtin_trunc(x)
         : how == aw_upward      ? __builtin_ceil(x)
                                 : __builtin_floor(x);
}
// The bits of x in a format of one sign, E exponent and M mantissa bits with IEEE's infinities and NaN.
template <int E, int M>
AW_HD static inline unsigned short aw_narrow(double x, aw_rounding how = aw_nearest) {
  constexpr int bias = (1 << (E - 1)) - 1;
  constexpr unsigned int infinity = ((1u << E) - 1) << M;
  unsigned int sign = (unsigned int)(aw_bits(x) >> 63) << (E + M);
  if (aw_is_nan(x)) return (unsigned short)(sizeof(short) * 8 == E + M + 1 ? 0x7fff : infinity | 1);
  if (aw_abs(x) == aw_inf()) return (unsigned short)(sign | infinity);
  int e = (int)(aw_bits(x) >> 52 & 2047) - 1023;
  e = e < 1 - bias ? 1 - bias : e;
  // In units of the last place the number is whole after rounding; its carry moves on into the exponent.
  double units = aw_abs(aw_round_whole(aw_mul(x, aw_power_of_2(M - e < 1022 ? M - e : 1022)), how));
  unsigned int bits = e > bias + 1 ? infinity + 1 : ((unsigned int)(e + bias - 1) << M) + (unsigned int)units;
  if (bits >= infinity) {
    bool stop = how == aw_toward_zero || (how == aw_upward && sign) || (how == aw_downward && !sign);
    bits = stop ? infinity - 1 : infinity;
  }
  return (unsigned short)(sign | bits);
}
template <int E, int M>
AW_HD static inline double aw_widen(unsigned int bits) {
  constexpr int bias = (1 << (E - 1)) - 1;
  unsigned int e = bits >> M & ((1u << E) - 1), m = bits & ((1u << M) - 1);
  double value = e ? (double)(m | 1u << M) * aw_power_of_2((int)e - bias - M) : (double)m * aw_power_of_2(1 - bias - M);
  value = e == (1u << E) - 1 ? (m ? aw_nan() : aw_inf()) : value;
  return bits >> (E + M) & 1 ? -value : value;
}
// 64 bits to a double from which a second rounding to few bits comes out as one from all 64 would.
AW_BOTH double aw_whole_to_double(unsigned long long x) {
  return (double)(x >> 53 ? (x & ~0x7ffull) | ((x & 0x7ff) ? 0x400 : 0) : x);
}
AW_BOTH double aw_whole_to_double(long long x) {
  return x < 0 ? -aw_whole_to_double((unsigned long long)(0 - (unsigned long long)x))
               : aw_whole_to_double((unsigned long long)x);
}
// A double to an integer of any width, the nearest where it does not fit; NaN is 0, or 2^63 of 64 bits (CUDA Math API, __half2ll_rz).
template <class T>
AW_HD static inline T aw_to_whole(double x, aw_rounding how) {
  constexpr bool is_signed = (T)-1 < (T)0;
  constexpr int bits = sizeof(T) * 8 - is_signed;
  constexpr T most = (T)(~0ull >> (64 - bits)), least = is_signed ? (T)(-most - 1) : (T)0;
  double r = aw_round_whole(x, how);
  return aw_is_nan(x) ? (sizeof(T) == 8 ? (T)(1ull << 63) : (T)0) : r >= aw_power_of_2(bits) ? most : r <= (double)least ? least : (T)r;
}

#endif
