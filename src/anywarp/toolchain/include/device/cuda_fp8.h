// Floating point of 8 bits: e4m3 (finite, up to 448), e5m2 (as IEEE's formats), ue5m3 (without a sign) and e8m0 (powers of two).
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#if defined(__cplusplus)
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;
#define __CUDA_FP8_TYPES_EXIST__

#include "anywarp/narrow_float.h"

// Rounded to nearest even; what is too large becomes the largest number, or NaN (e4m3) or infinity (e5m2).
AW_BOTH_BIG __nv_fp8_storage_t aw_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  if (aw_is_nan(x)) return 0x7f;
  unsigned int sign = (unsigned int)(aw_bits(x) >> 63) << 7, largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
  unsigned int code =
      kind == __NV_E4M3 ? aw_narrow_code<4, 3>(aw_abs(x), aw_nearest) : aw_narrow_code<5, 2>(aw_abs(x), aw_nearest);
  code = code <= largest ? code : saturate != __NV_NOSAT ? largest : largest + 1;
  return (__nv_fp8_storage_t)(sign | code);
}
AW_BOTH_BIG double aw_of_fp8(unsigned int x, __nv_fp8_interpretation_t kind) {
  unsigned int code = x & 0x7f;
  double value = kind == __NV_E4M3 ? aw_narrow_value<4, 3>(code) : aw_narrow_value<5, 2>(code);
  value = code > (kind == __NV_E4M3 ? 0x7e : 0x7c) ? aw_nan() : kind == __NV_E5M2 && code == 0x7c ? aw_inf() : value;
  return x & 0x80 ? -value : value;
}
// What is too large for a format without infinity: NaN, unless it saturates or the rounding stops at the largest number.
AW_BOTH bool aw_stops_short(double a, __nv_saturation_t saturate, aw_rounding how) {
  return saturate != __NV_NOSAT || (how == aw_toward_zero && a != aw_inf());
}
// Without a sign, which is dropped first: up to 114688.
AW_BOTH_BIG __nv_fp8_storage_t aw_to_ue5m3(double x, __nv_saturation_t saturate, enum cudaRoundMode rounding) {
  if (aw_is_nan(x)) return 0xff;
  aw_rounding how = aw_of_magnitude(rounding, false);
  unsigned int code = aw_narrow_code<5, 3>(aw_abs(x), how);
  return (__nv_fp8_storage_t)(code <= 0xfe ? code : aw_stops_short(aw_abs(x), saturate, how) ? 0xfe : 0xff);
}
AW_BOTH_BIG double aw_of_ue5m3(unsigned int x) {
  return (x & 0xff) == 0xff ? aw_nan() : aw_narrow_value<5, 3>(x & 0xff);
}
// Scale factors: a power of two from 2^-127 to 2^127, 0xff for NaN. The magnitude is rounded in the direction asked for, half-way up.
AW_BOTH_BIG __nv_fp8_storage_t aw_to_e8m0(double x, __nv_saturation_t saturate, enum cudaRoundMode rounding) {
  double a = aw_abs(x);
  if (aw_is_nan(x)) return 0xff;
  int e = a < 5.877471754111438e-39 ? -128 : (int)(aw_bits(a) >> 52 & 2047) - 1023;
  double power = aw_power_of_2(e < 1000 ? e : 1000);
  aw_rounding how = rounding == cudaRoundNearest ? aw_nearest : rounding == cudaRoundZero || rounding == cudaRoundMinInf ? aw_toward_zero : aw_upward;
  bool up = how == aw_nearest ? a >= 1.5 * power : how == aw_upward && a > power;
  e = e == -128 ? -127 : up && e < 1000 ? e + 1 : e;
  return (__nv_fp8_storage_t)(e <= 127 ? e + 127 : aw_stops_short(a, saturate, how) ? 0xfe : 0xff);
}
AW_BOTH double aw_of_e8m0(unsigned int x) { return (x & 0xff) == 0xff ? aw_nan() : aw_power_of_2((int)(x & 0xff) - 127); }

#define AW_STORAGE_2 __nv_fp8x2_storage_t
#define AW_WITH_SATURATION(T) (T x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)
#define AW_SATURATION(x) (x, saturate, kind)
AW_NARROW_TO(fp8, fp8x2, halfraw2, bfloat16raw2, 8, aw_to_fp8, AW_WITH_SATURATION, AW_SATURATION)
#undef AW_WITH_SATURATION
#undef AW_SATURATION
#define AW_WITH_KIND(T) (T x, __nv_fp8_interpretation_t kind)
#define AW_KIND(x) (x, kind)
AW_NARROW_BACK(fp8, fp8x2, 8, aw_of_fp8, AW_WITH_KIND, AW_KIND)
#undef AW_WITH_KIND
#undef AW_KIND
#define AW_WITH_ROUNDING(T) (T x, __nv_saturation_t saturate, enum cudaRoundMode rounding)
#define AW_ROUNDING(x) (x, saturate, rounding)
AW_NARROW_TO(ue5m3, ue5m3x2, half2raw, bfloat162raw, 8, aw_to_ue5m3, AW_WITH_ROUNDING, AW_ROUNDING)
AW_NARROW_TO(e8m0, e8m0x2, half2raw, bfloat162raw, 8, aw_to_e8m0, AW_WITH_ROUNDING, AW_ROUNDING)
#undef AW_WITH_ROUNDING
#undef AW_ROUNDING
#define AW_ALONE(T) (T x)
#define AW_SELF(x) (x)
AW_NARROW_BACK(ue5m3, ue5m3x2, 8, aw_of_ue5m3, AW_ALONE, AW_SELF)
AW_NARROW_BACK_BFLOAT(e8m0, e8m0x2, 8, aw_of_e8m0, AW_ALONE, AW_SELF)
#undef AW_ALONE
#undef AW_SELF
#undef AW_STORAGE_2

#define AW_FP8_TYPES(name, MAKE, READ, TRUE)                                                                      \
  AW_NARROW_TYPES(__nv_fp8_##name, __nv_fp8x2_##name, __nv_fp8x4_##name, __nv_fp8_storage_t, __nv_fp8x2_storage_t, \
                  __nv_fp8x4_storage_t, 8, MAKE, READ, TRUE)
#define AW_MAKE(x) aw_to_fp8(x, __NV_SATFINITE, __NV_E4M3)
#define AW_READ(x) aw_of_fp8(x, __NV_E4M3)
AW_FP8_TYPES(e4m3, AW_MAKE, AW_READ, (__x & 0x7f) != 0)
#undef AW_MAKE
#undef AW_READ
#define AW_MAKE(x) aw_to_fp8(x, __NV_SATFINITE, __NV_E5M2)
#define AW_READ(x) aw_of_fp8(x, __NV_E5M2)
AW_FP8_TYPES(e5m2, AW_MAKE, AW_READ, (__x & 0x7f) != 0)
#undef AW_MAKE
#define AW_MAKE(x) aw_to_ue5m3(x, __NV_SATFINITE, cudaRoundNearest)
AW_FP8_TYPES(ue5m3, AW_MAKE, aw_of_ue5m3, __x != 0)
#undef AW_MAKE
#define AW_MAKE(x) aw_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)
AW_FP8_TYPES(e8m0, AW_MAKE, aw_of_e8m0, true)
#undef AW_MAKE
#undef AW_READ
#undef AW_FP8_TYPES
#endif

#endif
