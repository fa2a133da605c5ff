// make_int4 and its family: the vector types from their parts.
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#if defined(__CUDACC__) || defined(__CUDA__)
#define AW_MAKE static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
#else
#define AW_MAKE static __inline__ __attribute__((unused))
#endif
#ifdef __cplusplus
#define AW_VECTOR(Type, ...) return Type{__VA_ARGS__}
#else
#define AW_VECTOR(Type, ...) \
  Type t = {__VA_ARGS__};    \
  return t
#endif
#define AW_MAKE_VECTORS(stem, T)                                                          \
  AW_MAKE stem##1 make_##stem##1(T x) { AW_VECTOR(stem##1, x); }                          \
  AW_MAKE stem##2 make_##stem##2(T x, T y) { AW_VECTOR(stem##2, x, y); }                  \
  AW_MAKE stem##3 make_##stem##3(T x, T y, T z) { AW_VECTOR(stem##3, x, y, z); }          \
  AW_MAKE stem##4 make_##stem##4(T x, T y, T z, T w) { AW_VECTOR(stem##4, x, y, z, w); }
AW_MAKE_VECTORS(char, signed char)
AW_MAKE_VECTORS(uchar, unsigned char)
AW_MAKE_VECTORS(short, short)
AW_MAKE_VECTORS(ushort, unsigned short)
AW_MAKE_VECTORS(int, int)
AW_MAKE_VECTORS(uint, unsigned int)
AW_MAKE_VECTORS(long, long int)
AW_MAKE_VECTORS(ulong, unsigned long int)
AW_MAKE_VECTORS(longlong, long long int)
AW_MAKE_VECTORS(ulonglong, unsigned long long int)
AW_MAKE_VECTORS(float, float)
AW_MAKE_VECTORS(double, double)
// The kinds of CUDA 13 that say their alignment.
#if defined(__CUDART_VERSION_MAJOR_ALIGNED_VECTORS) || defined(AW_VECTORS_WITH_ALIGNMENT)
#define AW_MAKE_4_ALIGNED(stem, T, bytes) \
  AW_MAKE stem##4_##bytes##a make_##stem##4_##bytes##a(T x, T y, T z, T w) { AW_VECTOR(stem##4_##bytes##a, x, y, z, w); }
#define AW_MAKE_ALIGNED(stem, T) AW_MAKE_4_ALIGNED(stem, T, 16) AW_MAKE_4_ALIGNED(stem, T, 32)
AW_MAKE_ALIGNED(long, long int)
AW_MAKE_ALIGNED(ulong, unsigned long int)
AW_MAKE_ALIGNED(longlong, long long int)
AW_MAKE_ALIGNED(ulonglong, unsigned long long int)
AW_MAKE_ALIGNED(double, double)
#undef AW_MAKE_ALIGNED
#undef AW_MAKE_4_ALIGNED
#endif
#undef AW_MAKE_VECTORS
#undef AW_VECTOR
#undef AW_MAKE

#endif
