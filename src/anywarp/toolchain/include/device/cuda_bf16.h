// bfloat16: __nv_bfloat16, __nv_bfloat162, their conversions, operators and functions, for both sides.
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "cuda_fp16.h"

#if defined(__cplusplus)
#if defined(__CUDACC__) || defined(__CUDA__)
#include "anywarp/device.h"
#define AW_DEVICE_SIDE 1
#else
#include "vector_types.h"
#define AW_DEVICE_SIDE 0
#endif
#include "anywarp/small_float.h"

#define AW_MEMBER AW_HD_INLINE
#define AW_T __nv_bfloat16
#define AW_T2 __nv_bfloat162
#define AW_OTHER __half
#define AW_RAW __nv_bfloat16_raw
#define AW_RAW2 __nv_bfloat162_raw
#define AW_NATIVE __bf16
#define AW_N(a, b) AW_JOIN(a, bfloat16, b)
#define AW_N2(a, b) AW_JOIN(a, bfloat162, b)
#define AW_2_NAME 2bfloat162
#define AW_JOIN_1(a, b, c) a##b##c
#define AW_JOIN(a, b, c) AW_JOIN_1(a, b, c)
#define AW_EXPONENT 8
#define AW_MANTISSA 7
#define AW_PTX "bf16"
#define AW_ADD_RN "{ .reg .b16 one; mov.b16 one, 0x3f80; fma.rn.bf16 %0, %1, one, %2; }"
#define AW_SUB_RN "{ .reg .b16 minus; mov.b16 minus, 0xbf80; fma.rn.bf16 %0, %2, minus, %1; }"
#define AW_MUL_RN "{ .reg .b16 none; mov.b16 none, 0x8000; fma.rn.bf16 %0, %1, %2, none; }"
#ifdef __CUDA_NO_BFLOAT16_CONVERSIONS__
#define AW_CONVERSIONS 0
#else
#define AW_CONVERSIONS 1
#endif
#ifdef __CUDA_NO_BFLOAT16_OPERATORS__
#define AW_OPERATORS 0
#else
#define AW_OPERATORS 1
#endif
#ifdef __CUDA_NO_BFLOAT162_OPERATORS__
#define AW_OPERATORS_2 0
#else
#define AW_OPERATORS_2 1
#endif
#include "anywarp/half_like.inc"
#undef AW_T
#undef AW_T2
#undef AW_OTHER
#undef AW_RAW
#undef AW_RAW2
#undef AW_NATIVE
#undef AW_N
#undef AW_N2
#undef AW_2_NAME
#undef AW_EXPONENT
#undef AW_MANTISSA
#undef AW_PTX
#undef AW_ADD_RN
#undef AW_SUB_RN
#undef AW_MUL_RN
#undef AW_DEVICE_SIDE
#undef AW_CONVERSIONS
#undef AW_OPERATORS
#undef AW_OPERATORS_2
#undef AW_MEMBER

#ifndef __CUDA_NO_HALF_CONVERSIONS__
inline AW_HD_INLINE __half::__half(__nv_bfloat16 x) { *this = __float2half_rn(__bfloat162float(x)); }
#endif
#ifndef __CUDA_NO_BFLOAT16_CONVERSIONS__
inline AW_HD_INLINE __nv_bfloat16::__nv_bfloat16(__half x) { *this = __float2bfloat16_rn(__half2float(x)); }
#endif

#ifndef CUDA_NO_BFLOAT16
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#endif
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000u)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)
#endif

#endif
