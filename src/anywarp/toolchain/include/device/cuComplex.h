// Complex numbers as C has them: cuFloatComplex, cuDoubleComplex.
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#ifndef __CUDACC_RTC__
#include <math.h>
#endif

#include "vector_types.h"

#if defined(__CUDACC__) || defined(__CUDA__)
#define AW_COMPLEX static __inline__ __attribute__((host, device, unused))
#else
#define AW_COMPLEX static __inline__ __attribute__((unused))
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// The quotient is taken by the larger part of the divisor, so that squares do not overflow.
#define AW_COMPLEX_FUNCTIONS(C, R, f, absolute)                                       \
  AW_COMPLEX C make_##C(R x, R y) {                                                   \
    C z;                                                                              \
    z.x = x, z.y = y;                                                                 \
    return z;                                                                         \
  }                                                                                   \
  AW_COMPLEX R cuCreal##f(C z) { return z.x; }                                        \
  AW_COMPLEX R cuCimag##f(C z) { return z.y; }                                        \
  AW_COMPLEX C cuConj##f(C z) { return make_##C(z.x, -z.y); }                         \
  AW_COMPLEX C cuCadd##f(C a, C b) { return make_##C(a.x + b.x, a.y + b.y); }         \
  AW_COMPLEX C cuCsub##f(C a, C b) { return make_##C(a.x - b.x, a.y - b.y); }         \
  AW_COMPLEX C cuCmul##f(C a, C b) { return make_##C(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \
  AW_COMPLEX C cuCdiv##f(C a, C b) {                                                  \
    R s = absolute(b.x) + absolute(b.y), t = 1 / s;                                   \
    R ax = a.x * t, ay = a.y * t, bx = b.x * t, by = b.y * t;                         \
    R n = 1 / (bx * bx + by * by);                                                    \
    return make_##C((ax * bx + ay * by) * n, (ay * bx - ax * by) * n);                \
  }                                                                                   \
  AW_COMPLEX R cuCabs##f(C z) { return hypot##f(z.x, z.y); }                          \
  AW_COMPLEX C cuCfma##f(C a, C b, C c) {                                             \
    R x = a.x * b.x + c.x, y = a.x * b.y + c.y;                                       \
    return make_##C(x - a.y * b.y, y + a.y * b.x);                                    \
  }
AW_COMPLEX_FUNCTIONS(cuFloatComplex, float, f, fabsf)
AW_COMPLEX_FUNCTIONS(cuDoubleComplex, double, , fabs)
#undef AW_COMPLEX_FUNCTIONS
AW_COMPLEX cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
AW_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return make_cuFloatComplex((float)z.x, (float)z.y); }
AW_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return make_cuDoubleComplex(z.x, z.y); }
#undef AW_COMPLEX

#endif
