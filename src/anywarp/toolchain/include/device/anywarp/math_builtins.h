// __builtin_exp and its like in device code, where nvcc knows them and clang has no code for this processor: it ends with an error, or calls a
// function of C that is not there. libcu++'s <cuda/std/cmath> is written with them wherever __has_builtin tells that they are there.
#ifndef ANYWARP_MATH_BUILTINS_H
#define ANYWARP_MATH_BUILTINS_H
#ifdef __CUDA_ARCH__

#pragma GCC system_header

#define AW_ONE(result, name, parameters, arguments) \
  AW_BOTH result aw_builtin_##name parameters noexcept { return ::name arguments; }
#define AW_TWO(name, double_, double_parameters, float_, float_parameters, arguments) \
  AW_ONE(double_, name, double_parameters, arguments)                                 \
  AW_ONE(float_, name##f, float_parameters, arguments)
#define AW_OF_1(name) AW_TWO(name, double, (double x), float, (float x), (x))
#define AW_OF_2(name) AW_TWO(name, double, (double x, double y), float, (float x, float y), (x, y))
#define AW_TO(whole, name) AW_TWO(name, whole, (double x), whole, (float x), (x))

AW_OF_1(sin)
AW_OF_1(cos)
AW_OF_1(tan)
AW_OF_1(asin)
AW_OF_1(acos)
AW_OF_1(atan)
AW_OF_1(sinh)
AW_OF_1(cosh)
AW_OF_1(tanh)
AW_OF_1(asinh)
AW_OF_1(acosh)
AW_OF_1(atanh)
AW_OF_1(exp)
AW_OF_1(exp2)
AW_OF_1(exp10)
AW_OF_1(expm1)
AW_OF_1(log)
AW_OF_1(log2)
AW_OF_1(log10)
AW_OF_1(log1p)
AW_OF_1(logb)
AW_OF_1(cbrt)
AW_OF_1(erf)
AW_OF_1(erfc)
AW_OF_1(lgamma)
AW_OF_1(tgamma)
AW_OF_2(pow)
AW_OF_2(atan2)
AW_OF_2(hypot)
AW_OF_2(remainder)
AW_OF_2(nextafter)
AW_OF_2(fdim)
AW_TO(int, ilogb)
AW_TO(long, lround)
AW_TO(long, lrint)
AW_TO(long long, llround)
AW_TO(long long, llrint)
AW_TWO(scalbn, double, (double x, int n), float, (float x, int n), (x, n))
AW_TWO(scalbln, double, (double x, long n), float, (float x, long n), (x, n))
AW_TWO(modf, double, (double x, double *y), float, (float x, float *y), (x, y))
AW_TWO(remquo, double, (double x, double y, int *q), float, (float x, float y, int *q), (x, y, q))

#undef AW_ONE
#undef AW_TWO
#undef AW_OF_1
#undef AW_OF_2
#undef AW_TO

#define __builtin_sin aw_builtin_sin
#define __builtin_sinf aw_builtin_sinf
#define __builtin_cos aw_builtin_cos
#define __builtin_cosf aw_builtin_cosf
#define __builtin_tan aw_builtin_tan
#define __builtin_tanf aw_builtin_tanf
#define __builtin_asin aw_builtin_asin
#define __builtin_asinf aw_builtin_asinf
#define __builtin_acos aw_builtin_acos
#define __builtin_acosf aw_builtin_acosf
#define __builtin_atan aw_builtin_atan
#define __builtin_atanf aw_builtin_atanf
#define __builtin_sinh aw_builtin_sinh
#define __builtin_sinhf aw_builtin_sinhf
#define __builtin_cosh aw_builtin_cosh
#define __builtin_coshf aw_builtin_coshf
#define __builtin_tanh aw_builtin_tanh
#define __builtin_tanhf aw_builtin_tanhf
#define __builtin_asinh aw_builtin_asinh
#define __builtin_asinhf aw_builtin_asinhf
#define __builtin_acosh aw_builtin_acosh
#define __builtin_acoshf aw_builtin_acoshf
#define __builtin_atanh aw_builtin_atanh
#define __builtin_atanhf aw_builtin_atanhf
#define __builtin_exp aw_builtin_exp
#define __builtin_expf aw_builtin_expf
#define __builtin_exp2 aw_builtin_exp2
#define __builtin_exp2f aw_builtin_exp2f
#define __builtin_exp10 aw_builtin_exp10
#define __builtin_exp10f aw_builtin_exp10f
#define __builtin_expm1 aw_builtin_expm1
#define __builtin_expm1f aw_builtin_expm1f
#define __builtin_log aw_builtin_log
#define __builtin_logf aw_builtin_logf
#define __builtin_log2 aw_builtin_log2
#define __builtin_log2f aw_builtin_log2f
#define __builtin_log10 aw_builtin_log10
#define __builtin_log10f aw_builtin_log10f
#define __builtin_log1p aw_builtin_log1p
#define __builtin_log1pf aw_builtin_log1pf
#define __builtin_logb aw_builtin_logb
#define __builtin_logbf aw_builtin_logbf
#define __builtin_cbrt aw_builtin_cbrt
#define __builtin_cbrtf aw_builtin_cbrtf
#define __builtin_erf aw_builtin_erf
#define __builtin_erff aw_builtin_erff
#define __builtin_erfc aw_builtin_erfc
#define __builtin_erfcf aw_builtin_erfcf
#define __builtin_lgamma aw_builtin_lgamma
#define __builtin_lgammaf aw_builtin_lgammaf
#define __builtin_tgamma aw_builtin_tgamma
#define __builtin_tgammaf aw_builtin_tgammaf
#define __builtin_pow aw_builtin_pow
#define __builtin_powf aw_builtin_powf
#define __builtin_atan2 aw_builtin_atan2
#define __builtin_atan2f aw_builtin_atan2f
#define __builtin_hypot aw_builtin_hypot
#define __builtin_hypotf aw_builtin_hypotf
#define __builtin_remainder aw_builtin_remainder
#define __builtin_remainderf aw_builtin_remainderf
#define __builtin_nextafter aw_builtin_nextafter
#define __builtin_nextafterf aw_builtin_nextafterf
#define __builtin_fdim aw_builtin_fdim
#define __builtin_fdimf aw_builtin_fdimf
#define __builtin_ilogb aw_builtin_ilogb
#define __builtin_ilogbf aw_builtin_ilogbf
#define __builtin_lround aw_builtin_lround
#define __builtin_lroundf aw_builtin_lroundf
#define __builtin_lrint aw_builtin_lrint
#define __builtin_lrintf aw_builtin_lrintf
#define __builtin_llround aw_builtin_llround
#define __builtin_llroundf aw_builtin_llroundf
#define __builtin_llrint aw_builtin_llrint
#define __builtin_llrintf aw_builtin_llrintf
#define __builtin_scalbn aw_builtin_scalbn
#define __builtin_scalbnf aw_builtin_scalbnf
#define __builtin_scalbln aw_builtin_scalbln
#define __builtin_scalblnf aw_builtin_scalblnf
#define __builtin_modf aw_builtin_modf
#define __builtin_modff aw_builtin_modff
#define __builtin_remquo aw_builtin_remquo
#define __builtin_remquof aw_builtin_remquof

#endif
#endif
