// Half precision: __half, __half2, their conversions, operators and functions, for both sides.
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

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
#define AW_T __half
#define AW_T2 __half2
#define AW_OTHER __nv_bfloat16
#define AW_RAW __half_raw
#define AW_RAW2 __half2_raw
#define AW_NATIVE _Float16
#define AW_N(a, b) AW_JOIN(a, half, b)
#define AW_N2(a, b) AW_JOIN(a, half2, b)
#define AW_2_NAME 2half2
#define AW_JOIN_1(a, b, c) a##b##c
#define AW_JOIN(a, b, c) AW_JOIN_1(a, b, c)
#define AW_EXPONENT 5
#define AW_MANTISSA 10
#define AW_PTX "f16"
#define AW_ADD_RN "add.rn.f16 %0, %1, %2;"
#define AW_SUB_RN "sub.rn.f16 %0, %1, %2;"
#define AW_MUL_RN "mul.rn.f16 %0, %1, %2;"
#ifdef __CUDA_NO_HALF_CONVERSIONS__
#define AW_CONVERSIONS 0
#else
#define AW_CONVERSIONS 1
#endif
#ifdef __CUDA_NO_HALF_OPERATORS__
#define AW_OPERATORS 0
#else
#define AW_OPERATORS 1
#endif
#ifdef __CUDA_NO_HALF2_OPERATORS__
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

typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fffu)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bffu)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000u)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00u)
#endif

#endif
