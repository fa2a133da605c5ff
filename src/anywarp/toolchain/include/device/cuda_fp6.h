// Floating point of 6 bits, in bytes: e2m3 (up to 7.5) and e3m2 (up to 28), without infinity and NaN.
#ifndef __CUDA_FP6_H__
#define __CUDA_FP6_H__

#if defined(__cplusplus)
#include "cuda_fp8.h"

typedef __nv_fp8_storage_t __nv_fp6_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp6x2_storage_t;
typedef __nv_fp8x4_storage_t __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;
#define __CUDA_FP6_TYPES_EXIST__

AW_BOTH_BIG __nv_fp6_storage_t aw_to_fp6(double x, __nv_fp6_interpretation_t kind, enum cudaRoundMode rounding) {
  return kind == __NV_E2M3 ? aw_to_finite<2, 3>(x, rounding) : aw_to_finite<3, 2>(x, rounding);
}
AW_BOTH_BIG double aw_of_fp6(unsigned int x, __nv_fp6_interpretation_t kind) {
  return kind == __NV_E2M3 ? aw_of_finite<2, 3>(x & 0x3f) : aw_of_finite<3, 2>(x & 0x3f);
}

#define AW_STORAGE_2 __nv_fp6x2_storage_t
#define AW_WITH_ROUNDING(T) (T x, __nv_fp6_interpretation_t kind, enum cudaRoundMode rounding)
#define AW_ROUNDING(x) (x, kind, rounding)
AW_NARROW_TO(fp6, fp6x2, halfraw2, bfloat16raw2, 8, aw_to_fp6, AW_WITH_ROUNDING, AW_ROUNDING)
#undef AW_WITH_ROUNDING
#undef AW_ROUNDING
#define AW_WITH_KIND(T) (T x, __nv_fp6_interpretation_t kind)
#define AW_KIND(x) (x, kind)
AW_NARROW_BACK(fp6, fp6x2, 8, aw_of_fp6, AW_WITH_KIND, AW_KIND)
#undef AW_WITH_KIND
#undef AW_KIND
#undef AW_STORAGE_2

#define AW_FP6_TYPES(name, MAKE, READ)                                                                            \
  AW_NARROW_TYPES(__nv_fp6_##name, __nv_fp6x2_##name, __nv_fp6x4_##name, __nv_fp6_storage_t, __nv_fp6x2_storage_t, \
                  __nv_fp6x4_storage_t, 8, MAKE, READ, (__x & 0x1f) != 0)
#define AW_MAKE(x) aw_to_fp6(x, __NV_E2M3, cudaRoundNearest)
#define AW_READ(x) aw_of_fp6(x, __NV_E2M3)
AW_FP6_TYPES(e2m3, AW_MAKE, AW_READ)
#undef AW_MAKE
#undef AW_READ
#define AW_MAKE(x) aw_to_fp6(x, __NV_E3M2, cudaRoundNearest)
#define AW_READ(x) aw_of_fp6(x, __NV_E3M2)
AW_FP6_TYPES(e3m2, AW_MAKE, AW_READ)
#undef AW_MAKE
#undef AW_READ
#undef AW_FP6_TYPES
#endif

#endif
