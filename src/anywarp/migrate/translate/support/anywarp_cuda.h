// Functions of CUDA's device library that HIP does not have, by other means.
//
// Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted, as part of any
// program. It is provided "as is", without any warranty.

#ifndef ANYWARP_TRANSLATE_CUDA_H
#define ANYWARP_TRANSLATE_CUDA_H

#if defined(__HIP__)
#include <hip/hip_runtime.h>

#include "anywarp_ptx.h"
#include "anywarp_warp.h"

namespace anywarp {

// Wait for about `duration` nanoseconds; as in CUDA that is a hint.
__device__ inline void nanosleep(unsigned duration) {
  const unsigned step = 32;
  do {
    __builtin_amdgcn_s_sleep(1);
    duration = duration > step ? duration - step : 0;
  } while (duration != 0);
}

// Nanoseconds of a clock that all multiprocessors share: it ticks at 100 MHz on the GPUs of the CDNA and RDNA families.
__device__ inline unsigned long long globaltimer() { return static_cast<unsigned long long>(wall_clock64()) * 10u; }

// `cp.async` and `__pipeline_memcpy_async`: the copy is done when the call returns, which is one of the moments a program must bear.
// Bytes from `given` on become zero.
template <unsigned size>
__device__ inline void copy_async(void *to, const void *from, unsigned given = size) {
  static_assert(size == 4 || size == 8 || size == 16, "4, 8 or 16 bytes");
  unsigned words[size / 4] = {};
  if (given >= size) {
    __builtin_memcpy(words, __builtin_assume_aligned(from, size), size);
  } else {
    for (unsigned n = 0; n < given; ++n) {
      words[n / 4] |= static_cast<unsigned>(static_cast<const unsigned char *>(from)[n]) << n % 4 * 8;
    }
  }
  __builtin_memcpy(__builtin_assume_aligned(to, size), words, size);
}
__device__ inline void pipeline_memcpy_async(void *to, const void *from, size_t size, size_t zeros = 0) {
  if (zeros <= size && size == 16) return copy_async<16>(to, from, static_cast<unsigned>(size - zeros));
  if (zeros <= size && size == 8) return copy_async<8>(to, from, static_cast<unsigned>(size - zeros));
  if (zeros <= size && size == 4) return copy_async<4>(to, from, static_cast<unsigned>(size - zeros));
  for (size_t n = 0; n < size; ++n) {
    static_cast<unsigned char *>(to)[n] = n < size - zeros ? static_cast<const unsigned char *>(from)[n] : 0;
  }
}

template <class A, class B>
__device__ inline int dp4a(A a, B b, int c) {
  return static_cast<int>(dp4a(a, b, static_cast<unsigned>(c)));
}
template <class A, class B>
__device__ inline int dp2a_lo(A a, B b, int c) {
  return static_cast<int>(dp2a_lo(a, b, static_cast<unsigned>(c)));
}
template <class A, class B>
__device__ inline int dp2a_hi(A a, B b, int c) {
  return static_cast<int>(dp2a_hi(a, b, static_cast<unsigned>(c)));
}

__device__ inline unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
__device__ inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
__device__ inline long long llmin(long long a, long long b) { return a < b ? a : b; }
__device__ inline long long llmax(long long a, long long b) { return a < b ? b : a; }
__device__ inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
__device__ inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

// Loads and stores whose way through the caches CUDA lets a program choose.
template <class T>
__device__ inline T load_volatile(const T *pointer) {
  return *const_cast<const volatile T *>(pointer);
}
template <class T>
__device__ inline T load(const T *pointer) {
  return *pointer;
}
template <class T, class V>
__device__ inline void store(T *pointer, V value) {
  *pointer = value;
}

}  // namespace anywarp

// CUDA's minimum and maximum of a signed and an unsigned number, which are unsigned. HIP has none, and takes them as floating point.
#define ANYWARP_MIXED(SIGNED, UNSIGNED)                                                                              \
  __device__ inline UNSIGNED min(SIGNED a, UNSIGNED b) {                                                    \
    return static_cast<UNSIGNED>(a) < b ? static_cast<UNSIGNED>(a) : b;                                              \
  }                                                                                                                  \
  __device__ inline UNSIGNED min(UNSIGNED a, SIGNED b) { return min(b, a); }                                \
  __device__ inline UNSIGNED max(SIGNED a, UNSIGNED b) {                                                    \
    return static_cast<UNSIGNED>(a) < b ? b : static_cast<UNSIGNED>(a);                                              \
  }                                                                                                                  \
  __device__ inline UNSIGNED max(UNSIGNED a, SIGNED b) { return max(b, a); }
ANYWARP_MIXED(int, unsigned)
ANYWARP_MIXED(long, unsigned long)
ANYWARP_MIXED(long long, unsigned long long)
#undef ANYWARP_MIXED

#endif

#endif  // ANYWARP_TRANSLATE_CUDA_H
