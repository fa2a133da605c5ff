// The functions of <math.h> and CUDA's own for float: through double where that is the shorter way to a right result.
#ifndef ANYWARP_MATH_FLOAT_H
#define ANYWARP_MATH_FLOAT_H

#include "math_special.h"

#define AW_BY_DOUBLE_1(name) \
  AW_BOTH_BIG float aw_##name##f(float x) { return (float)aw_##name((double)x); }
#define AW_BY_DOUBLE_2(name) \
  AW_BOTH_BIG float aw_##name##f(float x, float y) { return (float)aw_##name((double)x, (double)y); }
AW_BY_DOUBLE_1(exp)
AW_BY_DOUBLE_1(exp2)
AW_BY_DOUBLE_1(exp10)
AW_BY_DOUBLE_1(expm1)
AW_BY_DOUBLE_1(log)
AW_BY_DOUBLE_1(cbrt)
AW_BY_DOUBLE_1(rcbrt)
AW_BY_DOUBLE_1(sin)
AW_BY_DOUBLE_1(cos)
AW_BY_DOUBLE_1(tan)
AW_BY_DOUBLE_1(sinpi)
AW_BY_DOUBLE_1(cospi)
AW_BY_DOUBLE_1(tanpi)
AW_BY_DOUBLE_1(asin)
AW_BY_DOUBLE_1(acos)
AW_BY_DOUBLE_1(sinh)
AW_BY_DOUBLE_1(cosh)
AW_BY_DOUBLE_1(erf)
AW_BY_DOUBLE_1(erfc)
AW_BY_DOUBLE_1(erfcx)
AW_BY_DOUBLE_1(erfinv)
AW_BY_DOUBLE_1(erfcinv)
AW_BY_DOUBLE_1(normcdf)
AW_BY_DOUBLE_1(normcdfinv)
AW_BY_DOUBLE_1(lgamma)
AW_BY_DOUBLE_1(tgamma)
AW_BY_DOUBLE_2(atan2)
#undef AW_BY_DOUBLE_1
#undef AW_BY_DOUBLE_2
AW_BOTH_BIG void aw_sincosf(float x, float *s, float *c) {
  double u, v;
  aw_sincos((double)x, &u, &v);
  *s = (float)u, *c = (float)v;
}

// Where the double function works in pairs of doubles, plain ones are exact enough for a float.
AW_BOTH float aw_log2f(float x) { return (float)(aw_log((double)x) * 1.4426950408889634); }
AW_BOTH float aw_log10f(float x) { return (float)(aw_log((double)x) * 0.4342944819032518); }
AW_BOTH double aw_log1p_plain(double x) {
  double u = 1.0 + x;
  // What the sum lost, over u, is what the logarithm lacks.
  double rest = aw_add(x, -aw_add(u, -1.0)) / u;
  return u < aw_inf() && u > 0.0 ? aw_log(u) + rest : aw_log(u);
}
AW_BOTH_BIG float aw_log1pf(float x) { return x == 0.0f ? x : (float)aw_log1p_plain((double)x); }
AW_BOTH_BIG float aw_tanhf(float x) {
  double a = aw_abs((double)x);
  aw_exp_parts p = aw_exp_core(2.0 * (a < 22.0 ? a : 22.0), 0.0);
  double scale = aw_power_of_2(p.n), t = aw_fma(scale, p.e, scale - 1.0);
  return x != x ? x : __builtin_copysignf((float)(t / (t + 2.0)), x);
}
AW_BOTH_BIG float aw_atanf(float x) {
  double a = aw_abs((double)x);
  bool far = a > 2.414213562373095, middle = a > 0.41421356237309503;
  double top = far ? -1.0 : middle ? a - 1.0 : a, bottom = far ? a : middle ? a + 1.0 : 1.0;
  double t = a == aw_inf() ? 0.0 : top / bottom, z = t * t;
  double base = far ? 1.5707963267948966 : middle ? 0.7853981633974483 : 0.0;
  return x != x ? x : __builtin_copysignf((float)(base + aw_fma(t * z, aw_polynomial(aw_atan_p, z), t)), x);
}
AW_BOTH_BIG float aw_asinhf(float x) {
  double a = aw_abs((double)x), z = a * a;
  double value = aw_log1p_plain(a + z / (1.0 + __builtin_sqrt(1.0 + z)));
  return x != x ? x : __builtin_copysignf(a < aw_inf() ? (float)value : __builtin_inff(), x);
}
AW_BOTH_BIG float aw_acoshf(float x) {
  double t = (double)x - 1.0;
  return (float)(x >= 1.0f ? aw_log1p_plain(t + __builtin_sqrt(t * (t + 2.0))) : aw_nan());
}
AW_BOTH_BIG float aw_atanhf(float x) {
  double a = aw_abs((double)x);
  double value = 0.5 * aw_log1p_plain(2.0 * a / (1.0 - a));
  return x != x ? x : __builtin_copysignf((float)(a < 1.0 ? value : a == 1.0 ? aw_inf() : aw_nan()), a > 1.0 ? 1.0f : x);
}
AW_BOTH_BIG float aw_powf(float x, float y) {
  double p = (double)y * aw_log(aw_abs((double)x));
  return (float)aw_pow_edges((double)x, (double)y, aw_exp(p));
}
#ifdef __CUDA_ARCH__
AW_BOTH float aw_rsqrtf(float x) {
  float r;
  __asm__("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
#else
AW_BOTH float aw_rsqrtf(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
#endif
// Squares of floats neither overflow in double nor lose anything.
AW_BOTH_BIG float aw_normf(float a, float b, float c, float d) {
  double x = a, y = b, z = c, w = d, r = __builtin_sqrt(x * x + y * y + z * z + w * w);
  return (float)(aw_any_inf(x, y, z, w) ? aw_inf() : r);
}
AW_BOTH_BIG float aw_rnormf(float a, float b, float c, float d) {
  double x = a, y = b, z = c, w = d, r = 1.0 / __builtin_sqrt(x * x + y * y + z * z + w * w);
  return (float)(aw_any_inf(x, y, z, w) ? 0.0 : r);
}

#endif
