// Conversions with a rounding each, and reinterpretation: chapter "Type Casting Intrinsics" of the CUDA math API.
#ifndef ANYWARP_CASTS_H
#define ANYWARP_CASTS_H

#include "attributes.h"

// Spelled in PTX: out of range the result is the nearest representable number, and 0 (or the smallest, for 64 bits) for NaN.
#define AW_CAST(name, To, to, From, from, form)                 \
  AW_FN To name(From x) {                                       \
    To r;                                                       \
    __asm__(form " %0, %1;" : "=" to(r) : from(x));             \
    return r;                                                   \
  }
#define AW_TO_INTEGER(prefix, From, from, ptx)                                             \
  AW_TO_INTEGER_1(prefix##int, int, "r", From, from, "s32", ptx)                           \
  AW_TO_INTEGER_1(prefix##uint, unsigned int, "r", From, from, "u32", ptx)                 \
  AW_TO_INTEGER_1(prefix##ll, long long, "l", From, from, "s64", ptx)                      \
  AW_TO_INTEGER_1(prefix##ull, unsigned long long, "l", From, from, "u64", ptx)
#define AW_TO_INTEGER_1(name, To, to, From, from, int_type, ptx)                  \
  AW_CAST(name##_rn, To, to, From, from, "cvt.rni." int_type "." ptx)             \
  AW_CAST(name##_rz, To, to, From, from, "cvt.rzi." int_type "." ptx)             \
  AW_CAST(name##_ru, To, to, From, from, "cvt.rpi." int_type "." ptx)             \
  AW_CAST(name##_rd, To, to, From, from, "cvt.rmi." int_type "." ptx)
#define AW_FROM_INTEGER(name, To, to, ptx, From, from, int_type)               \
  AW_CAST(name##_rn, To, to, From, from, "cvt.rn." ptx "." int_type)           \
  AW_CAST(name##_rz, To, to, From, from, "cvt.rz." ptx "." int_type)           \
  AW_CAST(name##_ru, To, to, From, from, "cvt.rp." ptx "." int_type)           \
  AW_CAST(name##_rd, To, to, From, from, "cvt.rm." ptx "." int_type)
#if defined(__CUDA_FTZ) && __CUDA_FTZ
AW_TO_INTEGER(__float2, float, "f", "f32")
#else
AW_TO_INTEGER(__float2, float, "f", "f32")
#endif
AW_TO_INTEGER(__double2, double, "d", "f64")
AW_FROM_INTEGER(__int2float, float, "f", "f32", int, "r", "s32")
AW_FROM_INTEGER(__uint2float, float, "f", "f32", unsigned int, "r", "u32")
AW_FROM_INTEGER(__ll2float, float, "f", "f32", long long, "l", "s64")
AW_FROM_INTEGER(__ull2float, float, "f", "f32", unsigned long long, "l", "u64")
AW_FROM_INTEGER(__ll2double, double, "d", "f64", long long, "l", "s64")
AW_FROM_INTEGER(__ull2double, double, "d", "f64", unsigned long long, "l", "u64")
AW_CAST(__double2float_rn, float, "f", double, "d", "cvt.rn.f32.f64")
AW_CAST(__double2float_rz, float, "f", double, "d", "cvt.rz.f32.f64")
AW_CAST(__double2float_ru, float, "f", double, "d", "cvt.rp.f32.f64")
AW_CAST(__double2float_rd, float, "f", double, "d", "cvt.rm.f32.f64")
#undef AW_FROM_INTEGER
#undef AW_TO_INTEGER
#undef AW_TO_INTEGER_1
#undef AW_CAST
AW_BOTH double __int2double_rn(int x) { return x; }
AW_BOTH double __uint2double_rn(unsigned int x) { return x; }
AW_BOTH int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
AW_BOTH unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
AW_BOTH float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
AW_BOTH float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
AW_BOTH long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
AW_BOTH double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
AW_BOTH int __double2hiint(double x) { return (int)(__builtin_bit_cast(unsigned long long, x) >> 32); }
AW_BOTH int __double2loint(double x) { return (int)__builtin_bit_cast(unsigned long long, x); }
AW_BOTH double __hiloint2double(int hi, int lo) {
  return __builtin_bit_cast(double, (unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo);
}
// The names of the first releases.
AW_FN int float2int(float x) { return __float2int_rz(x); }
AW_FN float int2float(int x) { return (float)x; }

#endif
