// What CUDA's words for functions and variables mean to clang; headers of the host side may have said so before.
#ifndef ANYWARP_ATTRIBUTES_H
#define ANYWARP_ATTRIBUTES_H

#if defined(__CUDACC__) || defined(__CUDA__)
#ifndef __host__
#define __host__ __attribute__((host))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif
#ifndef __constant__
#define __constant__ __attribute__((constant))
#endif
#ifndef __managed__
#define __managed__ __attribute__((managed))
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
#ifndef __grid_constant__
#define __grid_constant__ __attribute__((grid_constant))
#endif
#ifndef __cluster_dims__
#define __cluster_dims__(...) __attribute__((cluster_dims(__VA_ARGS__)))
#endif
#ifndef __restrict__
#define __restrict__ __restrict
#endif

// A function of one or two instructions; a function that may be worth a call; the same for both sides.
#define AW_FN static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define AW_BIG static __inline__ __attribute__((device, unused))
#define AW_BOTH static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
#define AW_BOTH_BIG static __inline__ __attribute__((host, device, unused))
#define AW_UNROLL _Pragma("unroll")
#define AW_HD __attribute__((host, device))
#define AW_HD_INLINE __attribute__((host, device, always_inline, nodebug))
#else
// Plain C++ of any compiler: the few headers that serve it have one side only.
#define AW_BOTH static __inline__ __attribute__((unused))
#define AW_BOTH_BIG static __inline__ __attribute__((unused))
#define AW_UNROLL
#define AW_HD
#define AW_HD_INLINE
#endif

#endif
