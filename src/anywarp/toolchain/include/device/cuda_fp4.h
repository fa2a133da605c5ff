// Floating point of 4 bits, e2m1 (up to 6, without infinity and NaN): one in a byte, two in a byte, four in 16 bits.
#ifndef __CUDA_FP4_H__
#define __CUDA_FP4_H__

#if defined(__cplusplus)
#include "cuda_fp6.h"

typedef __nv_fp8_storage_t __nv_fp4_storage_t;
typedef __nv_fp8_storage_t __nv_fp4x2_storage_t;
typedef __nv_fp8x2_storage_t __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;
#define __CUDA_FP4_TYPES_EXIST__

AW_BOTH_BIG __nv_fp4_storage_t aw_to_fp4(double x, __nv_fp4_interpretation_t, enum cudaRoundMode rounding) {
  return aw_to_finite<2, 1>(x, rounding);
}
AW_BOTH_BIG double aw_of_fp4(unsigned int x, __nv_fp4_interpretation_t) { return aw_of_finite<2, 1>(x & 15); }

#define AW_STORAGE_2 __nv_fp4x2_storage_t
#define AW_WITH_ROUNDING(T) (T x, __nv_fp4_interpretation_t kind, enum cudaRoundMode rounding)
#define AW_ROUNDING(x) (x, kind, rounding)
AW_NARROW_TO(fp4, fp4x2, halfraw2, bfloat16raw2, 4, aw_to_fp4, AW_WITH_ROUNDING, AW_ROUNDING)
#undef AW_WITH_ROUNDING
#undef AW_ROUNDING
#define AW_WITH_KIND(T) (T x, __nv_fp4_interpretation_t kind)
#define AW_KIND(x) (x, kind)
AW_NARROW_BACK(fp4, fp4x2, 4, aw_of_fp4, AW_WITH_KIND, AW_KIND)
#undef AW_WITH_KIND
#undef AW_KIND
#undef AW_STORAGE_2

#define AW_MAKE(x) aw_to_fp4(x, __NV_E2M1, cudaRoundNearest)
#define AW_READ(x) aw_of_fp4(x, __NV_E2M1)
AW_NARROW_TYPES(__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1, __nv_fp4_storage_t, __nv_fp4x2_storage_t, __nv_fp4x4_storage_t, 4,
                AW_MAKE, AW_READ, (__x & 7) != 0)
#undef AW_MAKE
#undef AW_READ
#endif

#endif
