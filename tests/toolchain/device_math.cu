// Every mathematical function, one kernel each: d_NAME for double, f_NAME for float.
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
#define ONE(name)                                                            \
  extern "C" __global__ void d_##name(const double *x, double *r, int n) {   \
    INDEX;                                                                   \
    if (i < n) r[i] = name(x[i]);                                            \
  }                                                                          \
  extern "C" __global__ void f_##name(const float *x, float *r, int n) {     \
    INDEX;                                                                   \
    if (i < n) r[i] = name##f(x[i]);                                         \
  }
#define TWO(name)                                                                            \
  extern "C" __global__ void d_##name(const double *x, const double *y, double *r, int n) {  \
    INDEX;                                                                                   \
    if (i < n) r[i] = name(x[i], y[i]);                                                      \
  }                                                                                          \
  extern "C" __global__ void f_##name(const float *x, const float *y, float *r, int n) {     \
    INDEX;                                                                                   \
    if (i < n) r[i] = name##f(x[i], y[i]);                                                   \
  }
ONE(exp)
ONE(exp2)
ONE(exp10)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log10)
ONE(log1p)
ONE(cbrt)
ONE(rcbrt)
ONE(sqrt)
ONE(rsqrt)
ONE(sin)
ONE(cos)
ONE(tan)
ONE(sinpi)
ONE(cospi)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(asinh)
ONE(acosh)
ONE(atanh)
ONE(erf)
ONE(erfc)
ONE(erfcx)
ONE(erfinv)
ONE(erfcinv)
ONE(normcdf)
ONE(normcdfinv)
ONE(lgamma)
ONE(tgamma)
ONE(ceil)
ONE(floor)
ONE(trunc)
ONE(round)
ONE(rint)
ONE(nearbyint)
ONE(logb)
#ifndef WITHOUT_BESSEL
ONE(j0)
ONE(j1)
ONE(y0)
ONE(y1)
ONE(cyl_bessel_i0)
ONE(cyl_bessel_i1)
#endif
TWO(pow)
TWO(atan2)
TWO(fmod)
TWO(remainder)
TWO(hypot)
TWO(rhypot)
TWO(fdim)
TWO(copysign)
TWO(nextafter)
TWO(fmin)
TWO(fmax)
