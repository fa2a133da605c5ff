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
AW_BY_DOUBLE_1(log2)
AW_BY_DOUBLE_1(log10)
AW_BY_DOUBLE_1(log1p)
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
AW_BY_DOUBLE_1(atan)
AW_BY_DOUBLE_1(sinh)
AW_BY_DOUBLE_1(cosh)
AW_BY_DOUBLE_1(tanh)
AW_BY_DOUBLE_1(asinh)
AW_BY_DOUBLE_1(acosh)
AW_BY_DOUBLE_1(atanh)
AW_BY_DOUBLE_1(erf)
AW_BY_DOUBLE_1(erfc)
AW_BY_DOUBLE_1(erfcx)
AW_BY_DOUBLE_1(erfinv)
AW_BY_DOUBLE_1(erfcinv)
AW_BY_DOUBLE_1(normcdf)
AW_BY_DOUBLE_1(normcdfinv)
AW_BY_DOUBLE_1(lgamma)
AW_BY_DOUBLE_1(tgamma)
AW_BY_DOUBLE_2(pow)
AW_BY_DOUBLE_2(atan2)
#undef AW_BY_DOUBLE_1
#undef AW_BY_DOUBLE_2
AW_BOTH_BIG void aw_sincosf(float x, float *s, float *c) {
  double u, v;
  aw_sincos((double)x, &u, &v);
  *s = (float)u, *c = (float)v;
}
AW_BOTH float aw_rsqrtf(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
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
