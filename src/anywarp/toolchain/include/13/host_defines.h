// Facts of CUDA's public interface, written by anywarp.catalogue.headers; change that instead.
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#ifdef __cplusplus
#define __aw_inline inline
#endif
#define __no_return__ __attribute__((noreturn))
#undef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __inline_hint__
#define __thread__ __thread
#define __import__
#define __export__
#define __cdecl
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __specialization_static
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#if defined(__CUDACC__) || defined(__CUDA__)
#define __annotate__(a) __attribute__((a))
#ifndef __launch_bounds__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
#else
#define __annotate__(a)
#endif
#define __location__(a) __annotate__(a)
#ifndef __host__
#define __host__ __location__(host)
#endif
#ifndef __device__
#define __device__ __location__(device)
#endif
#ifndef __global__
#define __global__ __location__(global)
#endif
#ifndef __shared__
#define __shared__ __location__(shared)
#endif
#ifndef __constant__
#define __constant__ __location__(constant)
#endif
#ifndef __managed__
#define __managed__ __location__(managed)
#endif
#ifndef __grid_constant__
#define __grid_constant__ __location__(grid_constant)
#endif
#ifndef __cluster_dims__
#define __cluster_dims__(...) __location__(cluster_dims(__VA_ARGS__))
#endif
#ifndef __nv_pure__
#define __nv_pure__
#endif

#endif
