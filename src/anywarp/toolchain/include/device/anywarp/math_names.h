// <math.h> for device code, and CUDA's additions to it for both sides: the names, each with its float and its overloads.
#ifndef ANYWARP_MATH_NAMES_H
#define ANYWARP_MATH_NAMES_H

// A constexpr function of the standard library yields to a __device__ one of its name only where that is in a system header,
// which this is not to those who name the toolkit's include folder by -I.
#pragma GCC system_header

#include "arithmetic.h"
#include "math_bessel.h"
#include "math_exact.h"
#include "math_float.h"

// AW_C_: what the host's library has too (here for the device only); AW_OWN_: what only CUDA has (here for both).
#define AW_LINE(where, T, name, parameters, value) \
  where T name parameters { return value; }
#define AW_DEVICE_ONLY static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define AW_BOTH_SIDES static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
// Names with one argument: double, float with the suffix, and float by overloading.
#define AW_NAMES_1(where, name, of_double, of_float)         \
  AW_LINE(where, double, name, (double x), of_double(x))     \
  AW_LINE(where, float, name##f, (float x), of_float(x))     \
  AW_LINE(where, float, name, (float x), of_float(x))
#define AW_NAMES_2(where, name, of_double, of_float)                   \
  AW_LINE(where, double, name, (double x, double y), of_double(x, y))  \
  AW_LINE(where, float, name##f, (float x, float y), of_float(x, y))   \
  AW_LINE(where, float, name, (float x, float y), of_float(x, y))
#define AW_C_1(name) AW_NAMES_1(AW_DEVICE_ONLY, name, aw_##name, aw_##name##f)
#define AW_C_2(name) AW_NAMES_2(AW_DEVICE_ONLY, name, aw_##name, aw_##name##f)
#define AW_OWN_1(name) AW_NAMES_1(AW_BOTH_SIDES, name, aw_##name, aw_##name##f)
#define AW_BUILTIN_1(name) AW_NAMES_1(AW_DEVICE_ONLY, name, __builtin_##name, __builtin_##name##f)
#define AW_BUILTIN_2(name) AW_NAMES_2(AW_DEVICE_ONLY, name, __builtin_##name, __builtin_##name##f)

AW_BUILTIN_1(fabs)
AW_LINE(AW_DEVICE_ONLY, float, ceilf, (float x), __builtin_ceilf(x))
AW_BUILTIN_1(floor)
AW_BUILTIN_1(trunc)
AW_BUILTIN_1(rint)
AW_NAMES_1(AW_DEVICE_ONLY, nearbyint, __builtin_rint, __builtin_rintf)
AW_BUILTIN_1(sqrt)
AW_BUILTIN_2(copysign)
AW_BUILTIN_2(fmin)
AW_BUILTIN_2(fmax)
AW_C_1(round)
AW_C_1(cbrt)
AW_C_1(sinh)
AW_C_1(cosh)
AW_C_1(asin)
AW_C_1(acos)
AW_C_1(atan)
AW_C_1(asinh)
AW_C_1(acosh)
AW_C_1(atanh)
AW_C_1(expm1)
AW_C_1(log1p)
AW_C_1(erf)
AW_C_1(erfc)
AW_C_1(lgamma)
AW_C_1(tgamma)
AW_C_2(atan2)
// -use_fast_math: these become the hardware's approximations, the double ones stay.
#ifdef __USE_FAST_MATH__
#define AW_FAST_1(name) AW_NAMES_1(AW_DEVICE_ONLY, name, aw_##name, __##name##f)
AW_NAMES_2(AW_DEVICE_ONLY, pow, aw_pow, __powf)
#else
#define AW_FAST_1(name) AW_C_1(name)
AW_C_2(pow)
#endif
AW_FAST_1(sin)
AW_FAST_1(cos)
AW_FAST_1(tan)
AW_FAST_1(exp)
AW_FAST_1(exp2)
AW_FAST_1(log)
AW_FAST_1(log2)
AW_FAST_1(log10)
AW_FAST_1(tanh)
#ifdef __USE_FAST_MATH__
AW_DEVICE_ONLY void sincosf(float x, float *s, float *c) { __sincosf(x, s, c); }
#else
AW_DEVICE_ONLY void sincosf(float x, float *s, float *c) { aw_sincosf(x, s, c); }
#endif
AW_DEVICE_ONLY void sincos(double x, double *s, double *c) { aw_sincos(x, s, c); }
AW_DEVICE_ONLY void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
// glibc declares this one as well.
#if defined(__USE_FAST_MATH__)
AW_NAMES_1(AW_DEVICE_ONLY, exp10, aw_exp10, __exp10f)
#else
AW_NAMES_1(AW_DEVICE_ONLY, exp10, aw_exp10, aw_exp10f)
#endif

#define AW_NORMS(T, f)                                                                                     \
  AW_LINE(AW_DEVICE_ONLY, T, hypot##f, (T x, T y), aw_norm##f(x, y, 0, 0))                                 \
  AW_LINE(AW_BOTH_SIDES, T, rhypot##f, (T x, T y), aw_rnorm##f(x, y, 0, 0))                                \
  AW_LINE(AW_BOTH_SIDES, T, norm3d##f, (T a, T b, T c), aw_norm##f(a, b, c, 0))                            \
  AW_LINE(AW_BOTH_SIDES, T, rnorm3d##f, (T a, T b, T c), aw_rnorm##f(a, b, c, 0))                          \
  AW_LINE(AW_BOTH_SIDES, T, norm4d##f, (T a, T b, T c, T d), aw_norm##f(a, b, c, d))                       \
  AW_LINE(AW_BOTH_SIDES, T, rnorm4d##f, (T a, T b, T c, T d), aw_rnorm##f(a, b, c, d))                     \
  AW_BOTH_SIDES T norm##f(int n, const T *p) { return aw_norm_of<T>(n, p, false); }                        \
  AW_BOTH_SIDES T rnorm##f(int n, const T *p) { return aw_norm_of<T>(n, p, true); }
// The root of the sum of n squares, brought near 1 by the largest.
template <class T>
AW_HD static inline T aw_norm_of(int n, const T *p, bool reciprocal) {
  double most = 0.0, sum = 0.0, low = 0.0;
  for (int k = 0; k < n; ++k) most = aw_abs(p[k]) > most || aw_is_nan(p[k]) ? aw_abs(p[k]) : most;
  if (!(most > 0.0 && most < aw_inf())) {
    for (int k = 0; k < n; ++k) most = aw_abs(p[k]) == aw_inf() ? aw_inf() : most;
    return (T)(reciprocal ? 1.0 / most : most);
  }
  int e = aw_exponent(most);
  for (int k = 0; k < n; ++k) {
    double v = aw_ldexp((double)p[k], -e);
    aw_pair square = aw_product(v, v), s = aw_sum(sum, square.hi);
    sum = s.hi, low += s.lo + square.lo;
  }
  double root = __builtin_sqrt(sum + low);
  return (T)aw_ldexp(reciprocal ? 1.0 / root : root, reciprocal ? -e : e);
}
AW_NORMS(double, )
AW_NORMS(float, f)
AW_LINE(AW_DEVICE_ONLY, float, hypot, (float x, float y), aw_normf(x, y, 0, 0))
AW_LINE(AW_BOTH_SIDES, float, rhypot, (float x, float y), aw_rnormf(x, y, 0, 0))
#undef AW_NORMS

AW_OWN_1(rsqrt)
AW_OWN_1(rcbrt)
AW_OWN_1(sinpi)
AW_OWN_1(cospi)
AW_OWN_1(erfinv)
AW_OWN_1(erfcinv)
AW_OWN_1(erfcx)
AW_OWN_1(normcdf)
AW_OWN_1(normcdfinv)
AW_OWN_1(cyl_bessel_i0)
AW_OWN_1(cyl_bessel_i1)
AW_BOTH_SIDES void sincospi(double x, double *s, double *c) { *s = aw_sinpi(x), *c = aw_cospi(x); }
AW_BOTH_SIDES void sincospif(float x, float *s, float *c) { *s = aw_sinpif(x), *c = aw_cospif(x); }
AW_BOTH_SIDES void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
AW_C_1(j0)
AW_C_1(j1)
AW_C_1(y0)
AW_C_1(y1)
#define AW_ORDERED(name)                                                                                   \
  AW_LINE(AW_DEVICE_ONLY, double, name, (int n, double x), aw_##name(n, x))                                \
  AW_LINE(AW_DEVICE_ONLY, float, name##f, (int n, float x), (float)aw_##name(n, (double)x))                \
  AW_LINE(AW_DEVICE_ONLY, float, name, (int n, float x), (float)aw_##name(n, (double)x))
AW_ORDERED(jn)
AW_ORDERED(yn)
#undef AW_ORDERED

AW_LINE(AW_DEVICE_ONLY, double, fma, (double x, double y, double z), __builtin_fma(x, y, z))
AW_LINE(AW_DEVICE_ONLY, float, fmaf, (float x, float y, float z), __builtin_fmaf(x, y, z))
AW_LINE(AW_DEVICE_ONLY, float, fma, (float x, float y, float z), __builtin_fmaf(x, y, z))
AW_LINE(AW_DEVICE_ONLY, double, fdim, (double x, double y), x <= y ? 0.0 : aw_add(x, -y))
AW_LINE(AW_DEVICE_ONLY, float, fdimf, (float x, float y), x <= y ? 0.0f : aw_add(x, -y))
AW_LINE(AW_DEVICE_ONLY, float, fdim, (float x, float y), fdimf(x, y))

#define AW_EXACT(T, f, Format)                                                                             \
  AW_DEVICE_ONLY T fmod##f(T x, T y) {                                                                     \
    unsigned int n;                                                                                        \
    return aw_remainder<Format, false>(x, y, &n);                                                          \
  }                                                                                                        \
  AW_DEVICE_ONLY T remainder##f(T x, T y) {                                                                \
    unsigned int n;                                                                                        \
    return aw_remainder<Format, true>(x, y, &n);                                                           \
  }                                                                                                        \
  AW_DEVICE_ONLY T remquo##f(T x, T y, int *quotient) {                                                    \
    unsigned int n;                                                                                        \
    T r = aw_remainder<Format, true>(x, y, &n);                                                            \
    int low = (int)(n & 0x7fffffffu);                                                                      \
    *quotient = __builtin_signbit(x) != __builtin_signbit(y) ? -low : low;                                 \
    return r;                                                                                              \
  }                                                                                                        \
  AW_LINE(AW_DEVICE_ONLY, T, nextafter##f, (T x, T y), aw_next<Format>(x, y))                              \
  AW_LINE(AW_DEVICE_ONLY, int, ilogb##f, (T x), aw_ilogb(x))                                               \
  AW_LINE(AW_DEVICE_ONLY, T, logb##f, (T x), (T)aw_logb(x))                                                \
  AW_LINE(AW_DEVICE_ONLY, T, frexp##f, (T x, int *e), (T)aw_frexp(x, e))                                   \
  AW_LINE(AW_DEVICE_ONLY, T, ldexp##f, (T x, int n), (T)aw_ldexp(x, n))                                    \
  AW_LINE(AW_DEVICE_ONLY, T, scalbn##f, (T x, int n), (T)aw_ldexp(x, n))                                   \
  AW_LINE(AW_DEVICE_ONLY, T, scalbln##f, (T x, long n), (T)aw_ldexp(x, n > 3000 ? 3000 : n < -3000 ? -3000 : (int)n)) \
  AW_DEVICE_ONLY T modf##f(T x, T *whole) {                                                                \
    *whole = __builtin_trunc##f(x);                                                                        \
    return __builtin_copysign##f(__builtin_isinf(x) ? (T)0 : aw_add(x, -*whole), x);                       \
  }                                                                                                        \
  AW_LINE(AW_DEVICE_ONLY, T, nan##f, (const char *), (T)aw_nan())
AW_EXACT(double, , aw_format_double)
AW_EXACT(float, f, aw_format_float)
#undef AW_EXACT
AW_LINE(AW_DEVICE_ONLY, float, fmod, (float x, float y), fmodf(x, y))
AW_LINE(AW_DEVICE_ONLY, float, remainder, (float x, float y), remainderf(x, y))
AW_LINE(AW_DEVICE_ONLY, float, remquo, (float x, float y, int *q), remquof(x, y, q))
AW_LINE(AW_DEVICE_ONLY, float, nextafter, (float x, float y), nextafterf(x, y))
AW_LINE(AW_DEVICE_ONLY, int, ilogb, (float x), ilogbf(x))
AW_LINE(AW_DEVICE_ONLY, float, logb, (float x), logbf(x))
AW_LINE(AW_DEVICE_ONLY, float, frexp, (float x, int *e), frexpf(x, e))
AW_LINE(AW_DEVICE_ONLY, float, ldexp, (float x, int n), ldexpf(x, n))
AW_LINE(AW_DEVICE_ONLY, float, scalbn, (float x, int n), scalbnf(x, n))
AW_LINE(AW_DEVICE_ONLY, float, scalbln, (float x, long n), scalblnf(x, n))
AW_LINE(AW_DEVICE_ONLY, float, modf, (float x, float *whole), modff(x, whole))

// To integers: conversions of PTX, so that numbers out of range end at the nearest integer.
#define AW_TO_WHOLE(name, T, of_double, of_float)                \
  AW_LINE(AW_DEVICE_ONLY, T, name, (double x), (T)of_double)     \
  AW_LINE(AW_DEVICE_ONLY, T, name##f, (float x), (T)of_float)    \
  AW_LINE(AW_DEVICE_ONLY, T, name, (float x), (T)of_float)
AW_TO_WHOLE(lrint, long, __double2ll_rn(x), __float2ll_rn(x))
AW_TO_WHOLE(llrint, long long, __double2ll_rn(x), __float2ll_rn(x))
AW_TO_WHOLE(lround, long, __double2ll_rz(aw_round(x)), __float2ll_rz(aw_roundf(x)))
AW_TO_WHOLE(llround, long long, __double2ll_rz(aw_round(x)), __float2ll_rz(aw_roundf(x)))
#undef AW_TO_WHOLE

AW_LINE(AW_DEVICE_ONLY, float, abs, (float x), __builtin_fabsf(x))
AW_LINE(AW_DEVICE_ONLY, double, abs, (double x), __builtin_fabs(x))
#define AW_CLASS(name, builtin)                                             \
  AW_LINE(AW_DEVICE_ONLY, bool, name, (double x), __builtin_##builtin(x))   \
  AW_LINE(AW_DEVICE_ONLY, bool, name, (float x), __builtin_##builtin(x))
// glibc's <math.h> has macros of these names in C only; C++ undoes them.
AW_CLASS(isnan, isnan)
AW_CLASS(isinf, isinf)
AW_CLASS(isfinite, isfinite)
AW_CLASS(signbit, signbit)
AW_CLASS(isnormal, isnormal)
#undef AW_CLASS
AW_LINE(AW_DEVICE_ONLY, int, __isnan, (double x), __builtin_isnan(x))
AW_LINE(AW_DEVICE_ONLY, int, __isinf, (double x), __builtin_isinf(x))
AW_LINE(AW_DEVICE_ONLY, int, __finite, (double x), __builtin_isfinite(x))
AW_LINE(AW_DEVICE_ONLY, int, __signbit, (double x), __builtin_signbit(x))
AW_LINE(AW_DEVICE_ONLY, int, __isnand, (double x), __builtin_isnan(x))
AW_LINE(AW_DEVICE_ONLY, int, __isinfd, (double x), __builtin_isinf(x))
AW_LINE(AW_DEVICE_ONLY, int, __isfinited, (double x), __builtin_isfinite(x))
AW_LINE(AW_DEVICE_ONLY, int, __signbitd, (double x), __builtin_signbit(x))
AW_LINE(AW_DEVICE_ONLY, int, __isfinitef, (float x), __builtin_isfinite(x))
AW_LINE(AW_DEVICE_ONLY, int, __isnanf, (float x), __builtin_isnan(x))
AW_LINE(AW_DEVICE_ONLY, int, __isinff, (float x), __builtin_isinf(x))
AW_LINE(AW_DEVICE_ONLY, int, __finitef, (float x), __builtin_isfinite(x))
AW_LINE(AW_DEVICE_ONLY, int, __signbitf, (float x), __builtin_signbit(x))
AW_LINE(AW_DEVICE_ONLY, double, powi, (double x, int n), aw_pow(x, (double)n))
AW_LINE(AW_DEVICE_ONLY, double, pow, (double x, int n), aw_pow(x, (double)n))
AW_LINE(AW_DEVICE_ONLY, float, pow, (float x, int n), powf(x, (float)n))
AW_LINE(AW_DEVICE_ONLY, double, pow, (float x, double y), aw_pow((double)x, y))
AW_LINE(AW_DEVICE_ONLY, double, pow, (double x, float y), aw_pow(x, (double)y))

// min and max of floating point: the number, where one of the two is not one.
AW_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
AW_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
AW_BOTH double min(double a, double b) { return __builtin_fmin(a, b); }
AW_BOTH double max(double a, double b) { return __builtin_fmax(a, b); }
AW_BOTH double min(float a, double b) { return __builtin_fmin(a, b); }
AW_BOTH double max(float a, double b) { return __builtin_fmax(a, b); }
AW_BOTH double min(double a, float b) { return __builtin_fmin(a, b); }
AW_BOTH double max(double a, float b) { return __builtin_fmax(a, b); }

#include "math_std.h"

#undef AW_LINE
#undef AW_NAMES_1
#undef AW_NAMES_2
#undef AW_C_1
#undef AW_C_2
#undef AW_OWN_1
#undef AW_BUILTIN_1
#undef AW_BUILTIN_2
#undef AW_FAST_1
#endif
