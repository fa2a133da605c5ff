// Where a thread is, barriers, fences, clocks, the heap, assertions: what device code may name without an include.
#ifndef ANYWARP_BUILTINS_H
#define ANYWARP_BUILTINS_H

#include <vector_types.h>

#include "attributes.h"

#define AW_SREG_AXIS(name, axis, sreg)                                                     \
  __declspec(property(get = __aw_##axis)) unsigned int axis;                               \
  static __attribute__((device, always_inline, nodebug)) unsigned int __aw_##axis(void) { \
    return __nvvm_read_ptx_sreg_##sreg##_##axis();                                         \
  }
#define AW_SREG(name, sreg, Type)                                                                              \
  struct __aw_##name##_type {                                                                                  \
    AW_SREG_AXIS(name, x, sreg)                                                                                \
    AW_SREG_AXIS(name, y, sreg)                                                                                \
    AW_SREG_AXIS(name, z, sreg)                                                                                \
    __attribute__((device, always_inline, nodebug)) operator Type() const { return Type{x, y, z}; }            \
    __attribute__((device, always_inline, nodebug)) operator AW_OTHER_##Type() const { return {x, y, z}; }     \
  };                                                                                                           \
  extern const __attribute__((device, weak)) __aw_##name##_type name;
#define AW_OTHER_uint3 dim3
#define AW_OTHER_dim3 uint3
AW_SREG(threadIdx, tid, uint3)
AW_SREG(blockIdx, ctaid, uint3)
AW_SREG(blockDim, ntid, dim3)
AW_SREG(gridDim, nctaid, dim3)
#undef AW_OTHER_uint3
#undef AW_OTHER_dim3
#undef AW_SREG
#undef AW_SREG_AXIS

__attribute__((device)) const int warpSize = 32;

AW_FN int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
AW_FN int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
AW_FN int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
AW_FN void __syncwarp(unsigned int mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
AW_FN void __barrier_sync(unsigned int id) { __nvvm_barrier_sync(id); }
AW_FN void __barrier_sync_count(unsigned int id, unsigned int threads) { __nvvm_barrier_sync_cnt(id, threads); }

AW_FN void __threadfence_block(void) { __nvvm_membar_cta(); }
AW_FN void __threadfence(void) { __nvvm_membar_gl(); }
AW_FN void __threadfence_cluster(void) { __nvvm_membar_gl(); }
AW_FN void __threadfence_system(void) { __nvvm_membar_sys(); }

AW_FN long clock(void) { return (long)__nvvm_read_ptx_sreg_clock64(); }
AW_FN long long clock64(void) { return (long long)__nvvm_read_ptx_sreg_clock64(); }
// A device without clusters runs each block as a cluster of its own.
AW_FN dim3 __clusterDim(void) { return dim3(1, 1, 1); }
AW_FN dim3 __clusterRelativeBlockIdx(void) { return dim3(0, 0, 0); }
AW_FN dim3 __clusterIdx(void) { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
AW_FN dim3 __clusterGridDimInClusters(void) { return dim3(gridDim.x, gridDim.y, gridDim.z); }
AW_FN unsigned int __clusterDimIsSpecified(void) { return 0; }
AW_FN unsigned int __clusterRelativeBlockRank(void) { return 0; }
AW_FN unsigned int __clusterSizeInBlocks(void) { return 1; }
AW_FN void __cluster_barrier_arrive(void) { __nvvm_membar_cta(); }
AW_FN void __cluster_barrier_arrive_relaxed(void) {}
AW_FN void __cluster_barrier_wait(void) { __syncthreads(); }
AW_FN void *__cluster_map_shared_rank(const void *p, unsigned int) { return (void *)p; }
AW_FN unsigned int __cluster_query_shared_rank(const void *) { return 0; }

AW_FN int __clock(void) { return (int)__nvvm_read_ptx_sreg_clock(); }
AW_FN long long __clock64(void) { return (long long)__nvvm_read_ptx_sreg_clock64(); }
AW_FN unsigned long long __globaltimer(void) { return __nvvm_read_ptx_sreg_globaltimer(); }
AW_FN void __nanosleep(unsigned int ns) { __nvvm_nanosleep(ns); }
AW_FN void __trap(void) { __asm__ volatile("trap;"); }
AW_FN void __brkpt(void) { __asm__ volatile("brkpt;"); }
AW_FN void __brkpt(int) { __asm__ volatile("brkpt;"); }
AW_FN void __prof_trigger(int) {}

#if !defined(__CUDACC_RTC__) || defined(__CUDA_ARCH__)
AW_FN unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
AW_FN unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
AW_FN unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
AW_FN unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
#endif
AW_FN unsigned int __isGridConstant(const void *p) {
  unsigned int r;
  __asm__("{ .reg .pred p; isspacep.param::entry p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "l"(p));
  return r;
}
#define AW_TO_SPACE(name, space)                                      \
  AW_FN __SIZE_TYPE__ __cvta_generic_to_##name(const void *p) {       \
    __SIZE_TYPE__ r;                                                  \
    __asm__("cvta.to." space ".u64 %0, %1;" : "=l"(r) : "l"(p));      \
    return r;                                                         \
  }                                                                   \
  AW_FN void *__cvta_##name##_to_generic(__SIZE_TYPE__ p) {           \
    void *r;                                                          \
    __asm__("cvta." space ".u64 %0, %1;" : "=l"(r) : "l"(p));         \
    return r;                                                         \
  }
AW_TO_SPACE(global, "global")
AW_TO_SPACE(shared, "shared")
AW_TO_SPACE(constant, "const")
AW_TO_SPACE(local, "local")
#undef AW_TO_SPACE

#ifdef __cplusplus
extern "C" {
#endif
__device__ int vprintf(const char *format, __builtin_va_list arguments);
__device__ int printf(const char *format, ...);
__device__ void *malloc(__SIZE_TYPE__ size) __attribute__((malloc));
__device__ void free(void *p);
__device__ void __assertfail(const char *message, const char *file, unsigned int line, const char *function,
                             __SIZE_TYPE__ size) __attribute__((noreturn));
#ifdef __cplusplus
}
#endif

// glibc's, musl's and the BSDs' <assert.h> end here. Other headers declare it again, for the host (PyTorch's) or for both sides (CCCL's,
// with NDEBUG), and clang takes `__host__ __device__` beside `__device__` only for what it calls another signature: in the device's pass
// ours is preferred to theirs, in the host's it serves where theirs cannot be called.
#ifdef __CUDA_ARCH__
#define AW_APART __attribute__((enable_if(true, "")))
#else
#define AW_APART template <class = void>
#endif
AW_APART __device__ inline __attribute__((noreturn, nodebug)) void __assert_fail(
    const char *message, const char *file, unsigned int line, const char *function) throw() {
  __assertfail(message, file, line, function, sizeof(char));
}
#undef AW_APART
#ifndef __GLIBC__
AW_FN void __aw_assert(const char *message, const char *file, unsigned int line, const char *function) {
  __assertfail(message, file, line, function, sizeof(char));
}
#endif

AW_FN void *memcpy(void *to, const void *from, __SIZE_TYPE__ n) { return __builtin_memcpy(to, from, n); }
AW_FN void *memmove(void *to, const void *from, __SIZE_TYPE__ n) { return __builtin_memmove(to, from, n); }
AW_FN void *memset(void *to, int value, __SIZE_TYPE__ n) { return __builtin_memset(to, value, n); }
AW_BIG int memcmp(const void *a, const void *b, __SIZE_TYPE__ n) {
  for (__SIZE_TYPE__ i = 0; i < n; ++i) {
    int d = ((const unsigned char *)a)[i] - ((const unsigned char *)b)[i];
    if (d) return d;
  }
  return 0;
}
AW_BIG int strcmp(const char *a, const char *b) {
  while (*a && *a == *b) ++a, ++b;
  return *(const unsigned char *)a - *(const unsigned char *)b;
}
AW_BIG char *strcpy(char *to, const char *from) {
  char *p = to;
  while ((*p++ = *from++)) {
  }
  return to;
}
#ifndef alloca
AW_FN void *alloca(__SIZE_TYPE__ n) { return __builtin_alloca(n); }
#endif

// `new` and `delete` on the device's heap. A replacement may not be inline in C++; as an overload for the other side it may.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Winline-new-delete"
#define AW_NEW __attribute__((device)) inline
AW_NEW void *operator new(__SIZE_TYPE__ size) { return ::malloc(size ? size : 1); }
AW_NEW void *operator new[](__SIZE_TYPE__ size) { return ::malloc(size ? size : 1); }
AW_NEW void operator delete(void *p) noexcept { ::free(p); }
AW_NEW void operator delete[](void *p) noexcept { ::free(p); }
AW_NEW void operator delete(void *p, __SIZE_TYPE__) noexcept { ::free(p); }
AW_NEW void operator delete[](void *p, __SIZE_TYPE__) noexcept { ::free(p); }
AW_NEW void *operator new(__SIZE_TYPE__, void *p) noexcept { return p; }
AW_NEW void *operator new[](__SIZE_TYPE__, void *p) noexcept { return p; }
AW_NEW void operator delete(void *, void *) noexcept {}
AW_NEW void operator delete[](void *, void *) noexcept {}
#undef AW_NEW
#pragma clang diagnostic pop

#endif
