// Floating point of 8 bits: e4m3 (finite, up to 448) and e5m2 (as IEEE's formats), their conversions, for both sides.
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// Rounded to nearest even; what is too large becomes the largest number, or NaN (e4m3) or infinity (e5m2).
AW_BOTH_BIG __nv_fp8_storage_t aw_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  unsigned int sign = (unsigned int)(aw_bits(x) >> 63) << 7, largest = kind == __NV_E4M3 ? 0x7e : 0x7b;
  if (aw_is_nan(x)) return 0x7f;
  unsigned int bits;
  if (kind == __NV_E5M2) {
    bits = aw_narrow<5, 2>(aw_abs(x));
  } else {
    int e = aw_abs(x) > 1.0e6 ? 19 : (int)(aw_bits(x) >> 52 & 2047) - 1023;
    e = e < -6 ? -6 : e;
    bits = e > 8 ? 0x7f : ((unsigned int)(e + 6) << 3) + (unsigned int)__builtin_rint(aw_abs(x) * aw_power_of_2(3 - e));
  }
  bits = bits <= largest ? bits : saturate == __NV_SATFINITE ? largest : kind == __NV_E4M3 ? 0x7f : 0x7c;
  return (__nv_fp8_storage_t)(sign | bits);
}
AW_BOTH_BIG double aw_of_fp8(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E5M2) return aw_widen<5, 2>(bits);
  unsigned int e = bits >> 3 & 15, m = bits & 7;
  double value = e ? (8 + m) * aw_power_of_2((int)e - 10) : m * aw_power_of_2(-9);
  value = (bits & 0x7f) == 0x7f ? aw_nan() : value;
  return bits & 0x80 ? -value : value;
}
AW_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return aw_to_fp8(x, s, k);
}
AW_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return aw_to_fp8(x, s, k);
}
AW_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return aw_to_fp8(__half2float(x), s, k);
}
AW_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t s,
                                                       __nv_fp8_interpretation_t k) {
  return aw_to_fp8(__bfloat162float(x), s, k);
}
AW_BOTH __nv_fp8x2_storage_t aw_fp8_pair(unsigned int low, unsigned int high) {
  return (__nv_fp8x2_storage_t)(low | high << 8);
}
AW_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return aw_fp8_pair(aw_to_fp8(v.x, s, k), aw_to_fp8(v.y, s, k));
}
AW_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 v, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return aw_fp8_pair(aw_to_fp8(v.x, s, k), aw_to_fp8(v.y, s, k));
}
AW_BOTH __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t k) {
  return aw_fp8_pair(__nv_cvt_halfraw_to_fp8(__half_raw{v.x}, s, k), __nv_cvt_halfraw_to_fp8(__half_raw{v.y}, s, k));
}
AW_BOTH __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw v, __nv_saturation_t s,
                                                            __nv_fp8_interpretation_t k) {
  return aw_fp8_pair(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{v.x}, s, k),
                     __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{v.y}, s, k));
}
AW_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t k) {
  return __float2half((float)aw_of_fp8(x, k));
}
AW_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t k) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, k).x,
                     __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), k).x};
}

#define AW_FP8(name, kind)                                                                                            \
  struct __nv_fp8_##name {                                                                                            \
    __nv_fp8_storage_t __x;                                                                                           \
    __nv_fp8_##name() = default;                                                                                      \
    AW_HD explicit __nv_fp8_##name(float v) : __x(aw_to_fp8(v, __NV_SATFINITE, kind)) {}                              \
    AW_HD explicit __nv_fp8_##name(double v) : __x(aw_to_fp8(v, __NV_SATFINITE, kind)) {}                             \
    AW_HD explicit __nv_fp8_##name(__half v) : __x(aw_to_fp8(__half2float(v), __NV_SATFINITE, kind)) {}               \
    AW_HD explicit __nv_fp8_##name(__nv_bfloat16 v) : __x(aw_to_fp8(__bfloat162float(v), __NV_SATFINITE, kind)) {}    \
    AW_HD explicit __nv_fp8_##name(int v) : __x(aw_to_fp8(v, __NV_SATFINITE, kind)) {}                                \
    AW_HD explicit __nv_fp8_##name(unsigned int v) : __x(aw_to_fp8(v, __NV_SATFINITE, kind)) {}                       \
    AW_HD explicit __nv_fp8_##name(long long v) : __x(aw_to_fp8((double)v, __NV_SATFINITE, kind)) {}                  \
    AW_HD explicit operator float() const { return (float)aw_of_fp8(__x, kind); }                                     \
    AW_HD explicit operator double() const { return aw_of_fp8(__x, kind); }                                           \
    AW_HD explicit operator __half() const { return __float2half((float)*this); }                                     \
    AW_HD explicit operator __nv_bfloat16() const { return __float2bfloat16((float)*this); }                          \
    AW_HD explicit operator int() const { return aw_to_whole<int>(aw_of_fp8(__x, kind), aw_toward_zero); }            \
    AW_HD explicit operator bool() const { return (__x & 0x7f) != 0; }                                                \
  };                                                                                                                  \
  struct __nv_fp8x2_##name {                                                                                          \
    __nv_fp8x2_storage_t __x;                                                                                         \
    __nv_fp8x2_##name() = default;                                                                                    \
    AW_HD explicit __nv_fp8x2_##name(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind)) {}            \
    AW_HD explicit __nv_fp8x2_##name(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind)) {}          \
    AW_HD explicit __nv_fp8x2_##name(__half2 v) : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, kind)) {}         \
    AW_HD explicit __nv_fp8x2_##name(__nv_bfloat162 v) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, kind)) {} \
    AW_HD explicit operator float2() const {                                                                          \
      return float2{(float)aw_of_fp8((__nv_fp8_storage_t)__x, kind), (float)aw_of_fp8((__nv_fp8_storage_t)(__x >> 8), kind)}; \
    }                                                                                                                 \
    AW_HD explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kind); }                         \
  };                                                                                                                  \
  struct __nv_fp8x4_##name {                                                                                          \
    __nv_fp8x4_storage_t __x;                                                                                         \
    __nv_fp8x4_##name() = default;                                                                                    \
    AW_HD explicit __nv_fp8x4_##name(float4 v)                                                                        \
        : __x(__nv_cvt_float2_to_fp8x2(float2{v.x, v.y}, __NV_SATFINITE, kind) |                                      \
              (unsigned int)__nv_cvt_float2_to_fp8x2(float2{v.z, v.w}, __NV_SATFINITE, kind) << 16) {}                \
    AW_HD explicit operator float4() const {                                                                          \
      return float4{(float)aw_of_fp8((__nv_fp8_storage_t)__x, kind), (float)aw_of_fp8((__nv_fp8_storage_t)(__x >> 8), kind),  \
                    (float)aw_of_fp8((__nv_fp8_storage_t)(__x >> 16), kind), (float)aw_of_fp8((__nv_fp8_storage_t)(__x >> 24), kind)}; \
    }                                                                                                                 \
  };
AW_FP8(e4m3, __NV_E4M3)
AW_FP8(e5m2, __NV_E5M2)
#undef AW_FP8

// Scale factors: a power of two from 2^-127 to 2^127, 0xff for NaN. The magnitude is rounded in the direction asked for.
AW_BOTH_BIG __nv_fp8_storage_t aw_to_e8m0(double x, __nv_saturation_t saturate, enum cudaRoundMode rounding) {
  double a = aw_abs(x);
  if (aw_is_nan(x)) return 0xff;
  int e = a < 5.877471754111438e-39 ? -128 : (int)(aw_bits(a) >> 52 & 2047) - 1023;
  double power = aw_power_of_2(e < 1000 ? e : 1000);
  bool more = a > power, up = rounding == cudaRoundPosInf ? more : rounding == cudaRoundNearest && a > 1.5 * power;
  e = e == -128 ? -127 : up && e < 1000 ? e + 1 : e;
  return (__nv_fp8_storage_t)(e <= 127 ? e + 127 : saturate == __NV_SATFINITE ? 0xfe : 0xff);
}
AW_BOTH double aw_of_e8m0(__nv_fp8_storage_t x) { return x == 0xff ? aw_nan() : aw_power_of_2((int)x - 127); }
AW_BOTH __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t s, enum cudaRoundMode r) {
  return aw_to_e8m0(x, s, r);
}
AW_BOTH __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t s, enum cudaRoundMode r) {
  return aw_to_e8m0(x, s, r);
}
AW_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t s, enum cudaRoundMode r) {
  return aw_to_e8m0(__bfloat162float(x), s, r);
}
AW_BOTH __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 v, __nv_saturation_t s, enum cudaRoundMode r) {
  return aw_fp8_pair(aw_to_e8m0(v.x, s, r), aw_to_e8m0(v.y, s, r));
}
AW_BOTH __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 v, __nv_saturation_t s, enum cudaRoundMode r) {
  return aw_fp8_pair(aw_to_e8m0(v.x, s, r), aw_to_e8m0(v.y, s, r));
}
AW_BOTH __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(__nv_bfloat162_raw v, __nv_saturation_t s, enum cudaRoundMode r) {
  return aw_fp8_pair(__nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw{v.x}, s, r),
                     __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw{v.y}, s, r));
}
AW_BOTH __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) { return __float2bfloat16((float)aw_of_e8m0(x)); }
AW_BOTH __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return __nv_bfloat162_raw{__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)x).x,
                            __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(x >> 8)).x};
}
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  AW_HD explicit __nv_fp8_e8m0(float v) : __x(aw_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  AW_HD explicit __nv_fp8_e8m0(double v) : __x(aw_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  AW_HD explicit __nv_fp8_e8m0(__half v) : __nv_fp8_e8m0(__half2float(v)) {}
  AW_HD explicit __nv_fp8_e8m0(__nv_bfloat16 v) : __nv_fp8_e8m0(__bfloat162float(v)) {}
  AW_HD explicit operator float() const { return (float)aw_of_e8m0(__x); }
  AW_HD explicit operator double() const { return aw_of_e8m0(__x); }
  AW_HD explicit operator __half() const { return __float2half((float)*this); }
  AW_HD explicit operator __nv_bfloat16() const { return __nv_cvt_e8m0_to_bf16raw(__x); }
  AW_HD explicit operator bool() const { return true; }
};
struct __nv_fp8x2_e8m0 {
  __nv_fp8x2_storage_t __x;
  __nv_fp8x2_e8m0() = default;
  AW_HD explicit __nv_fp8x2_e8m0(float2 v) : __x(__nv_cvt_float2_to_e8m0x2(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  AW_HD explicit operator __nv_bfloat162() const { return __nv_cvt_e8m0x2_to_bf162raw(__x); }
};
struct __nv_fp8x4_e8m0 {
  __nv_fp8x4_storage_t __x;
  __nv_fp8x4_e8m0() = default;
  AW_HD explicit __nv_fp8x4_e8m0(float4 v)
      : __x(__nv_cvt_float2_to_e8m0x2(float2{v.x, v.y}, __NV_SATFINITE, cudaRoundPosInf) |
            (unsigned int)__nv_cvt_float2_to_e8m0x2(float2{v.z, v.w}, __NV_SATFINITE, cudaRoundPosInf) << 16) {}
};

#endif
