// Loads and stores with a cache's operator, prefetching, and copies that need a hint.
#ifndef ANYWARP_MEMORY_H
#define ANYWARP_MEMORY_H

#include <vector_types.h>

#include "attributes.h"

// The caches of a device that is a CPU take no orders: what is left of an operator is the access, and `volatile` for those that
// must see what others write (cv, wt).
#define AW_LOAD_STORE(T)                                                              \
  AW_FN T __ldg(const T *p) { return *p; }                                            \
  AW_FN T __ldcg(const T *p) { return *p; }                                           \
  AW_FN T __ldca(const T *p) { return *p; }                                           \
  AW_FN T __ldcs(const T *p) { return *p; }                                           \
  AW_FN T __ldlu(const T *p) { return *p; }                                           \
  AW_FN T __ldcv(const T *p) {                                                        \
    __asm__ volatile("" : : "l"(p) : "memory");                                       \
    return *p;                                                                        \
  }                                                                                   \
  AW_FN void __stwb(T *p, T v) { *p = v; }                                            \
  AW_FN void __stcg(T *p, T v) { *p = v; }                                            \
  AW_FN void __stcs(T *p, T v) { *p = v; }                                            \
  AW_FN void __stwt(T *p, T v) {                                                      \
    *p = v;                                                                           \
    __asm__ volatile("" : : "l"(p) : "memory");                                       \
  }
#define AW_LOAD_STORE_VECTORS(stem) AW_LOAD_STORE(stem##2) AW_LOAD_STORE(stem##4)
AW_LOAD_STORE(char)
AW_LOAD_STORE(signed char)
AW_LOAD_STORE(unsigned char)
AW_LOAD_STORE(short)
AW_LOAD_STORE(unsigned short)
AW_LOAD_STORE(int)
AW_LOAD_STORE(unsigned int)
AW_LOAD_STORE(long)
AW_LOAD_STORE(unsigned long)
AW_LOAD_STORE(long long)
AW_LOAD_STORE(unsigned long long)
AW_LOAD_STORE(float)
AW_LOAD_STORE(double)
AW_LOAD_STORE_VECTORS(char)
AW_LOAD_STORE_VECTORS(uchar)
AW_LOAD_STORE_VECTORS(short)
AW_LOAD_STORE_VECTORS(ushort)
AW_LOAD_STORE_VECTORS(int)
AW_LOAD_STORE_VECTORS(uint)
AW_LOAD_STORE(longlong2)
AW_LOAD_STORE(ulonglong2)
AW_LOAD_STORE_VECTORS(float)
AW_LOAD_STORE(double2)
#undef AW_LOAD_STORE_VECTORS

AW_FN void __prefetch_global_l1(const void *p) { __asm__ volatile("prefetch.global.L1 [%0];" : : "l"(p)); }
AW_FN void __prefetch_global_l2(const void *p) { __asm__ volatile("prefetch.global.L2 [%0];" : : "l"(p)); }

#endif
