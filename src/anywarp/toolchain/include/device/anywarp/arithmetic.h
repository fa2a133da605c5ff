// Arithmetic with a stated rounding and the fast functions: chapters "Single/Double Precision Intrinsics" of the CUDA math API.
#ifndef ANYWARP_ARITHMETIC_H
#define ANYWARP_ARITHMETIC_H

#include "attributes.h"

#define AW_ROUNDED_2(name, T, c, form)                                                       \
  AW_FN T name(T a, T b) {                                                                   \
    T r;                                                                                     \
    __asm__(form " %0, %1, %2;" : "=" c(r) : c(a), c(b));                                    \
    return r;                                                                                \
  }
#define AW_ROUNDED_1(name, T, c, form)                                                       \
  AW_FN T name(T a) {                                                                        \
    T r;                                                                                     \
    __asm__(form " %0, %1;" : "=" c(r) : c(a));                                              \
    return r;                                                                                \
  }
#define AW_ROUNDED_3(name, T, c, form)                                                       \
  AW_FN T name(T x, T y, T z) {                                                              \
    T r;                                                                                     \
    __asm__(form " %0, %1, %2, %3;" : "=" c(r) : c(x), c(y), c(z));                          \
    return r;                                                                                \
  }
// PTX's word for each of CUDA's roundings: nearest even, toward zero, up, down.
#define AW_4_WAYS(COUNT, name, T, c, op, type)       \
  COUNT(name##_rn, T, c, op ".rn" type)              \
  COUNT(name##_rz, T, c, op ".rz" type)              \
  COUNT(name##_ru, T, c, op ".rp" type)              \
  COUNT(name##_rd, T, c, op ".rm" type)
#if defined(__CUDA_FTZ) && __CUDA_FTZ
#define AW_F32 ".ftz.f32"
#else
#define AW_F32 ".f32"
#endif
AW_4_WAYS(AW_ROUNDED_2, __fadd, float, "f", "add", AW_F32)
AW_4_WAYS(AW_ROUNDED_2, __fsub, float, "f", "sub", AW_F32)
AW_4_WAYS(AW_ROUNDED_2, __fmul, float, "f", "mul", AW_F32)
AW_4_WAYS(AW_ROUNDED_2, __fdiv, float, "f", "div", AW_F32)
AW_4_WAYS(AW_ROUNDED_1, __fsqrt, float, "f", "sqrt", AW_F32)
AW_4_WAYS(AW_ROUNDED_1, __frcp, float, "f", "rcp", AW_F32)
AW_4_WAYS(AW_ROUNDED_3, __fmaf, float, "f", "fma", AW_F32)
AW_4_WAYS(AW_ROUNDED_3, __fmaf_ieee, float, "f", "fma", ".f32")
AW_4_WAYS(AW_ROUNDED_2, __dadd, double, "d", "add", ".f64")
AW_4_WAYS(AW_ROUNDED_2, __dsub, double, "d", "sub", ".f64")
AW_4_WAYS(AW_ROUNDED_2, __dmul, double, "d", "mul", ".f64")
AW_4_WAYS(AW_ROUNDED_2, __ddiv, double, "d", "div", ".f64")
AW_4_WAYS(AW_ROUNDED_1, __dsqrt, double, "d", "sqrt", ".f64")
AW_4_WAYS(AW_ROUNDED_1, __drcp, double, "d", "rcp", ".f64")
AW_4_WAYS(AW_ROUNDED_3, __fma, double, "d", "fma", ".f64")

// Defined by the approximations of the hardware; each is one instruction of PTX, or two.
AW_ROUNDED_1(__aw_ex2, float, "f", "ex2.approx" AW_F32)
AW_ROUNDED_1(__aw_lg2, float, "f", "lg2.approx" AW_F32)
AW_ROUNDED_1(__aw_rsqrt, float, "f", "rsqrt.approx" AW_F32)
AW_ROUNDED_1(__sinf, float, "f", "sin.approx" AW_F32)
AW_ROUNDED_1(__cosf, float, "f", "cos.approx" AW_F32)
AW_ROUNDED_1(__tanhf, float, "f", "tanh.approx.f32")
AW_ROUNDED_2(__fdividef, float, "f", "div.approx" AW_F32)
AW_ROUNDED_2(__aw_div_full, float, "f", "div.full" AW_F32)
AW_FN float __frsqrt_rn(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
AW_FN float __exp2f(float x) { return __aw_ex2(x); }
AW_FN float __expf(float x) { return __aw_ex2(__fmul_rn(x, 1.4426950408889634f)); }
AW_FN float __exp10f(float x) { return __aw_ex2(__fmul_rn(x, 3.3219280948873623f)); }
AW_FN float __log2f(float x) { return __aw_lg2(x); }
AW_FN float __logf(float x) { return __fmul_rn(__aw_lg2(x), 0.6931471805599453f); }
AW_FN float __log10f(float x) { return __fmul_rn(__aw_lg2(x), 0.3010299956639812f); }
AW_FN float __powf(float x, float y) { return __aw_ex2(__fmul_rn(y, __aw_lg2(x))); }
AW_FN float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
AW_FN void __sincosf(float x, float *s, float *c) { *s = __sinf(x), *c = __cosf(x); }
AW_FN float __saturatef(float x) { return __nvvm_saturate_f(x); }
AW_FN float fdividef(float a, float b) { return __fdividef(a, b); }
AW_FN double fdivide(double a, double b) { return a / b; }
AW_FN double __rsqrt_approx(double x) { return __nvvm_rsqrt_approx_d(x); }

#endif
