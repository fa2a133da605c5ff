// Floating-point formats of 8, 6 and 4 bits: rounding to them, and the types and functions that they have in common.
#ifndef ANYWARP_NARROW_FLOAT_H
#define ANYWARP_NARROW_FLOAT_H

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "device_types.h"
#include "small_float.h"

// The code of a magnitude with E exponent and M mantissa bits, as if there were more exponents than E bits tell; huge for infinity.
template <int E, int M>
AW_HD static inline unsigned int aw_narrow_code(double a, aw_rounding how) {
  constexpr int bias = (1 << (E - 1)) - 1;
  int e = (int)(aw_bits(a) >> 52 & 2047) - 1023;
  if (e > bias + 2) return 0xffff;
  e = e < 1 - bias ? 1 - bias : e;
  return ((unsigned int)(e + bias - 1) << M) + (unsigned int)aw_round_whole(a * aw_power_of_2(M - e), how);
}
template <int E, int M>
AW_HD static inline double aw_narrow_value(unsigned int code) {
  constexpr int bias = (1 << (E - 1)) - 1;
  unsigned int e = code >> M, m = code & ((1u << M) - 1);
  return e ? (double)(m | 1u << M) * aw_power_of_2((int)e - bias - M) : (double)m * aw_power_of_2(1 - bias - M);
}
// The direction in which a magnitude is rounded so that the number with its sign goes where it is to go.
AW_BOTH aw_rounding aw_of_magnitude(enum cudaRoundMode how, bool negative) {
  return how == cudaRoundNearest                                 ? aw_nearest
         : how == (negative ? cudaRoundMinInf : cudaRoundPosInf) ? aw_upward
                                                                 : aw_toward_zero;
}
// Formats without infinity and NaN: what is too large becomes the largest number, and so does NaN, with a positive sign.
template <int E, int M>
AW_HD static inline unsigned char aw_to_finite(double x, enum cudaRoundMode how) {
  constexpr unsigned int largest = (1u << (E + M)) - 1;
  if (aw_is_nan(x)) return (unsigned char)largest;
  unsigned int sign = (unsigned int)(aw_bits(x) >> 63);
  unsigned int code = aw_narrow_code<E, M>(aw_abs(x), aw_of_magnitude(how, sign));
  return (unsigned char)(sign << (E + M) | (code < largest ? code : largest));
}
template <int E, int M>
AW_HD static inline double aw_of_finite(unsigned int code) {
  double value = aw_narrow_value<E, M>(code & ((1u << (E + M)) - 1));
  return code >> (E + M) & 1 ? -value : value;
}
AW_BOTH double aw_wide(float x) { return x; }
AW_BOTH double aw_wide(double x) { return x; }
AW_BOTH double aw_wide(__half x) { return __half2float(x); }
AW_BOTH double aw_wide(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class I>
AW_HD static inline double aw_wide_whole(I x) {
  return (I)-1 < (I)0 ? aw_whole_to_double((long long)x) : aw_whole_to_double((unsigned long long)x);
}
AW_BOTH unsigned int aw_side_by_side(unsigned int low, unsigned int high, int width) { return low | high << width; }

// The functions between a format and wider ones. `to` and `back` make and read one code; PARAMETERS, NAMES and VALUES are what
// follows the number: how it is declared, how it is passed on, and what is passed where the format is read again.
#define AW_NARROW_TO(one, two, half2, bfloat2, width, to, PARAMETERS, NAMES)                                              \
  AW_BOTH __nv_fp8_storage_t __nv_cvt_double_to_##one PARAMETERS(double) { return to NAMES(x); }                          \
  AW_BOTH __nv_fp8_storage_t __nv_cvt_float_to_##one PARAMETERS(float) { return to NAMES(x); }                            \
  AW_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_##one PARAMETERS(__half_raw) { return to NAMES(aw_wide(__half(x))); }    \
  AW_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_##one PARAMETERS(__nv_bfloat16_raw) {                                \
    return to NAMES(aw_wide(__nv_bfloat16(x)));                                                                           \
  }                                                                                                                       \
  AW_BOTH AW_STORAGE_2 __nv_cvt_double2_to_##two PARAMETERS(double2) {                                                    \
    return (AW_STORAGE_2)aw_side_by_side(to NAMES(x.x), to NAMES(x.y), width);                                            \
  }                                                                                                                       \
  AW_BOTH AW_STORAGE_2 __nv_cvt_float2_to_##two PARAMETERS(float2) {                                                      \
    return (AW_STORAGE_2)aw_side_by_side(to NAMES(x.x), to NAMES(x.y), width);                                            \
  }                                                                                                                       \
  AW_BOTH AW_STORAGE_2 __nv_cvt_##half2##_to_##two PARAMETERS(__half2_raw) {                                              \
    __half2 h(x);                                                                                                         \
    return (AW_STORAGE_2)aw_side_by_side(to NAMES(aw_wide(h.x)), to NAMES(aw_wide(h.y)), width);                          \
  }                                                                                                                       \
  AW_BOTH AW_STORAGE_2 __nv_cvt_##bfloat2##_to_##two PARAMETERS(__nv_bfloat162_raw) {                                     \
    __nv_bfloat162 h(x);                                                                                                  \
    return (AW_STORAGE_2)aw_side_by_side(to NAMES(aw_wide(h.x)), to NAMES(aw_wide(h.y)), width);                          \
  }
#define AW_NARROW_BACK(one, two, width, back, PARAMETERS, NAMES)                                                          \
  AW_BOTH __half_raw __nv_cvt_##one##_to_halfraw PARAMETERS(__nv_fp8_storage_t) { return __double2half(back NAMES(x)); }  \
  AW_BOTH __half2_raw __nv_cvt_##two##_to_halfraw2 PARAMETERS(AW_STORAGE_2) {                                             \
    return __half2(__double2half(back NAMES(x)), __double2half(back NAMES(x >> width)));                                  \
  }                                                                                                                       \
  AW_NARROW_BACK_BFLOAT(one, two, width, back, PARAMETERS, NAMES)
#define AW_NARROW_BACK_BFLOAT(one, two, width, back, PARAMETERS, NAMES)                                                   \
  AW_BOTH __nv_bfloat16_raw __nv_cvt_##one##_to_bf16raw PARAMETERS(__nv_fp8_storage_t) {                                  \
    return __double2bfloat16(back NAMES(x));                                                                              \
  }                                                                                                                       \
  AW_BOTH __nv_bfloat162_raw __nv_cvt_##two##_to_bf162raw PARAMETERS(AW_STORAGE_2) {                                      \
    return __nv_bfloat162(__double2bfloat16(back NAMES(x)), __double2bfloat16(back NAMES(x >> width)));                   \
  }

// The types of one, two and four numbers; MAKE(x) is the code of a double as their constructors round, READ(code) its value.
#define AW_NARROW_TYPES(one, two, four, S1, S2, S4, width, MAKE, READ, TRUE)                                              \
  struct one {                                                                                                            \
    S1 __x;                                                                                                               \
    one() = default;                                                                                                      \
    AW_HD explicit one(__half v) : __x(MAKE(aw_wide(v))) {}                                                               \
    AW_HD explicit one(__nv_bfloat16 v) : __x(MAKE(aw_wide(v))) {}                                                        \
    AW_HD explicit one(float v) : __x(MAKE(v)) {}                                                                         \
    AW_HD explicit one(double v) : __x(MAKE(v)) {}                                                                        \
    AW_HD explicit one(unsigned short v) : __x(MAKE(v)) {}                                                                \
    AW_HD explicit one(unsigned int v) : __x(MAKE(v)) {}                                                                  \
    AW_HD explicit one(unsigned long v) : __x(MAKE(aw_wide_whole(v))) {}                                                  \
    AW_HD explicit one(unsigned long long v) : __x(MAKE(aw_wide_whole(v))) {}                                             \
    AW_HD explicit one(short v) : __x(MAKE(v)) {}                                                                         \
    AW_HD explicit one(int v) : __x(MAKE(v)) {}                                                                           \
    AW_HD explicit one(long v) : __x(MAKE(aw_wide_whole(v))) {}                                                           \
    AW_HD explicit one(long long v) : __x(MAKE(aw_wide_whole(v))) {}                                                      \
    AW_HD explicit operator __half() const { return __double2half(READ(__x)); }                                           \
    AW_HD explicit operator __nv_bfloat16() const { return __double2bfloat16(READ(__x)); }                                \
    AW_HD explicit operator float() const { return (float)READ(__x); }                                                    \
    AW_HD explicit operator double() const { return READ(__x); }                                                          \
    AW_HD explicit operator unsigned char() const { return aw_to_whole<unsigned char>(READ(__x), aw_toward_zero); }       \
    AW_HD explicit operator unsigned short() const { return aw_to_whole<unsigned short>(READ(__x), aw_toward_zero); }     \
    AW_HD explicit operator unsigned int() const { return aw_to_whole<unsigned int>(READ(__x), aw_toward_zero); }         \
    AW_HD explicit operator unsigned long() const { return aw_to_whole<unsigned long>(READ(__x), aw_toward_zero); }       \
    AW_HD explicit operator unsigned long long() const {                                                                  \
      return aw_to_whole<unsigned long long>(READ(__x), aw_toward_zero);                                                  \
    }                                                                                                                     \
    AW_HD explicit operator signed char() const { return aw_to_whole<signed char>(READ(__x), aw_toward_zero); }           \
    AW_HD explicit operator char() const { return aw_to_whole<char>(READ(__x), aw_toward_zero); }                         \
    AW_HD explicit operator short() const { return aw_to_whole<short>(READ(__x), aw_toward_zero); }                       \
    AW_HD explicit operator int() const { return aw_to_whole<int>(READ(__x), aw_toward_zero); }                           \
    AW_HD explicit operator long() const { return aw_to_whole<long>(READ(__x), aw_toward_zero); }                         \
    AW_HD explicit operator long long() const { return aw_to_whole<long long>(READ(__x), aw_toward_zero); }               \
    AW_HD explicit operator bool() const { return TRUE; }                                                                 \
  };                                                                                                                      \
  struct two {                                                                                                            \
    S2 __x;                                                                                                               \
    two() = default;                                                                                                      \
    AW_HD explicit two(__half2 v) : __x((S2)aw_side_by_side(MAKE(aw_wide(v.x)), MAKE(aw_wide(v.y)), width)) {}            \
    AW_HD explicit two(__nv_bfloat162 v) : __x((S2)aw_side_by_side(MAKE(aw_wide(v.x)), MAKE(aw_wide(v.y)), width)) {}     \
    AW_HD explicit two(float2 v) : __x((S2)aw_side_by_side(MAKE(v.x), MAKE(v.y), width)) {}                               \
    AW_HD explicit two(double2 v) : __x((S2)aw_side_by_side(MAKE(v.x), MAKE(v.y), width)) {}                              \
    AW_HD explicit operator __half2() const {                                                                             \
      return __half2(__double2half(READ(__x)), __double2half(READ(__x >> width)));                                        \
    }                                                                                                                     \
    AW_HD explicit operator __nv_bfloat162() const {                                                                      \
      return __nv_bfloat162(__double2bfloat16(READ(__x)), __double2bfloat16(READ(__x >> width)));                         \
    }                                                                                                                     \
    AW_HD explicit operator float2() const { return float2{(float)READ(__x), (float)READ(__x >> width)}; }                \
  };                                                                                                                      \
  struct four {                                                                                                           \
    S4 __x;                                                                                                               \
    four() = default;                                                                                                     \
    AW_HD explicit four(__half2 low, __half2 high)                                                                        \
        : __x((S4)aw_side_by_side(two(low).__x, two(high).__x, 2 * width)) {}                                             \
    AW_HD explicit four(__nv_bfloat162 low, __nv_bfloat162 high)                                                          \
        : __x((S4)aw_side_by_side(two(low).__x, two(high).__x, 2 * width)) {}                                             \
    AW_HD explicit four(float4 v) { *this = of(v); }                                                                      \
    AW_HD explicit four(double4 v) { *this = of(v); }                                                                     \
    AW_HD explicit four(double4_16a v) { *this = of(v); }                                                                 \
    AW_HD explicit four(double4_32a v) { *this = of(v); }                                                                 \
    AW_HD explicit operator float4() const {                                                                              \
      return float4{(float)READ(__x), (float)READ(__x >> width), (float)READ(__x >> 2 * width), (float)READ(__x >> 3 * width)}; \
    }                                                                                                                     \
                                                                                                                          \
   private:                                                                                                               \
    template <class T>                                                                                                    \
    AW_HD static four of(const T &v) {                                                                                    \
      unsigned int low = aw_side_by_side(MAKE(v.x), MAKE(v.y), width), high = aw_side_by_side(MAKE(v.z), MAKE(v.w), width); \
      four made;                                                                                                          \
      made.__x = (S4)aw_side_by_side(low, high, 2 * width);                                                               \
      return made;                                                                                                        \
    }                                                                                                                     \
  };

#endif
