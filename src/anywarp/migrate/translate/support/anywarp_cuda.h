// Functions of CUDA's device library that HIP does not have, by other means.
//
// Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted, as part of any
// program. It is provided "as is", without any warranty.

#ifndef ANYWARP_CUDA_H
#define ANYWARP_CUDA_H

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
  for (size_t n = 0; n < size; ++n) {
    static_cast<unsigned char *>(to)[n] = n < size - zeros ? static_cast<const unsigned char *>(from)[n] : 0;
  }
}

// Four numbers of eight bits, or two of sixteen, in a word.
namespace detail {
template <class Part, class Operation>
__device__ inline unsigned each(unsigned a, unsigned b, Operation operation) {
  constexpr unsigned width = 8 * sizeof(Part);
  constexpr unsigned ones = width == 8 ? 255u : 65535u;
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += width) {
    const int value = operation(static_cast<int>(static_cast<Part>(a >> at)), static_cast<int>(static_cast<Part>(b >> at)));
    result |= (static_cast<unsigned>(value) & ones) << at;
  }
  return result;
}
template <class Part>
__device__ inline int clamped(int value) {
  constexpr bool is_signed = static_cast<Part>(-1) < 0;
  constexpr int high = is_signed ? (sizeof(Part) == 1 ? 127 : 32767) : (sizeof(Part) == 1 ? 255 : 65535);
  constexpr int low = is_signed ? -high - 1 : 0;
  return value < low ? low : value > high ? high : value;
}
}  // namespace detail

#define ANYWARP_EACH(SUFFIX, PART, SIGNED_PART)                                                                              \
  __device__ inline unsigned vadd##SUFFIX(unsigned a, unsigned b) {                                                          \
    return detail::each<PART>(a, b, [](int x, int y) { return x + y; });                                                     \
  }                                                                                                                          \
  __device__ inline unsigned vsub##SUFFIX(unsigned a, unsigned b) {                                                          \
    return detail::each<PART>(a, b, [](int x, int y) { return x - y; });                                                     \
  }                                                                                                                          \
  __device__ inline unsigned vaddus##SUFFIX(unsigned a, unsigned b) {                                                        \
    return detail::each<PART>(a, b, [](int x, int y) { return detail::clamped<PART>(x + y); });                              \
  }                                                                                                                          \
  __device__ inline unsigned vaddss##SUFFIX(unsigned a, unsigned b) {                                                        \
    return detail::each<SIGNED_PART>(a, b, [](int x, int y) { return detail::clamped<SIGNED_PART>(x + y); });                \
  }                                                                                                                          \
  __device__ inline unsigned vsubus##SUFFIX(unsigned a, unsigned b) {                                                        \
    return detail::each<PART>(a, b, [](int x, int y) { return detail::clamped<PART>(x - y); });                              \
  }                                                                                                                          \
  __device__ inline unsigned vsubss##SUFFIX(unsigned a, unsigned b) {                                                        \
    return detail::each<SIGNED_PART>(a, b, [](int x, int y) { return detail::clamped<SIGNED_PART>(x - y); });                \
  }                                                                                                                          \
  __device__ inline unsigned vabsdiffu##SUFFIX(unsigned a, unsigned b) {                                                     \
    return detail::each<PART>(a, b, [](int x, int y) { return x < y ? y - x : x - y; });                                     \
  }                                                                                                                          \
  __device__ inline unsigned vabsdiffs##SUFFIX(unsigned a, unsigned b) {                                                     \
    return detail::each<SIGNED_PART>(a, b, [](int x, int y) { return x < y ? y - x : x - y; });                              \
  }                                                                                                                          \
  __device__ inline unsigned vminu##SUFFIX(unsigned a, unsigned b) {                                                         \
    return detail::each<PART>(a, b, [](int x, int y) { return x < y ? x : y; });                                             \
  }                                                                                                                          \
  __device__ inline unsigned vmins##SUFFIX(unsigned a, unsigned b) {                                                         \
    return detail::each<SIGNED_PART>(a, b, [](int x, int y) { return x < y ? x : y; });                                      \
  }                                                                                                                          \
  __device__ inline unsigned vmaxu##SUFFIX(unsigned a, unsigned b) {                                                         \
    return detail::each<PART>(a, b, [](int x, int y) { return x < y ? y : x; });                                             \
  }                                                                                                                          \
  __device__ inline unsigned vmaxs##SUFFIX(unsigned a, unsigned b) {                                                         \
    return detail::each<SIGNED_PART>(a, b, [](int x, int y) { return x < y ? y : x; });                                      \
  }                                                                                                                          \
  __device__ inline unsigned vcmpeq##SUFFIX(unsigned a, unsigned b) {                                                        \
    return detail::each<PART>(a, b, [](int x, int y) { return x == y ? -1 : 0; });                                           \
  }                                                                                                                          \
  __device__ inline unsigned vcmpne##SUFFIX(unsigned a, unsigned b) {                                                        \
    return detail::each<PART>(a, b, [](int x, int y) { return x != y ? -1 : 0; });                                           \
  }                                                                                                                          \
  __device__ inline unsigned vavgu##SUFFIX(unsigned a, unsigned b) {                                                         \
    return detail::each<PART>(a, b, [](int x, int y) { return (x + y + 1) >> 1; });                                          \
  }
ANYWARP_EACH(2, unsigned short, short)
ANYWARP_EACH(4, unsigned char, signed char)
#undef ANYWARP_EACH

}  // namespace anywarp

// The names that CUDA gives them; HIP's headers leave these free.
#define ANYWARP_DOT(RESULT, A, B)                                                                            \
  __device__ inline RESULT __dp4a(A a, B b, RESULT c) { return static_cast<RESULT>(anywarp::dp4a(a, b, static_cast<unsigned>(c))); } \
  __device__ inline RESULT __dp2a_lo(A a, B b, RESULT c) {                                                   \
    return static_cast<RESULT>(anywarp::dp2a_lo(a, b, static_cast<unsigned>(c)));                            \
  }                                                                                                          \
  __device__ inline RESULT __dp2a_hi(A a, B b, RESULT c) {                                                   \
    return static_cast<RESULT>(anywarp::dp2a_hi(a, b, static_cast<unsigned>(c)));                            \
  }
ANYWARP_DOT(int, int, int)
ANYWARP_DOT(unsigned, unsigned, unsigned)
#undef ANYWARP_DOT

#endif

#endif  // ANYWARP_CUDA_H
