// CUDA's instructions on two numbers of 16 bits, or four of 8, in a word; HIP has none of these names.
//
// Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted, as part of any
// program. It is provided "as is", without any warranty.

#ifndef ANYWARP_TRANSLATE_SIMD_H
#define ANYWARP_TRANSLATE_SIMD_H

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#endif
#if defined(__HIP__) || defined(__CUDACC__)
#define ANYWARP_SIMD __host__ __device__ inline
#else
#define ANYWARP_SIMD inline
#endif

namespace anywarp {

namespace detail {
template <class Part, class Operation>
ANYWARP_SIMD unsigned each(unsigned a, unsigned b, Operation operation) {
  constexpr unsigned width = 8 * sizeof(Part);
  constexpr unsigned ones = width == 8 ? 255u : 65535u;
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += width) {
    const int x = static_cast<Part>(a >> at), y = static_cast<Part>(b >> at);
    result |= (static_cast<unsigned>(operation(x, y)) & ones) << at;
  }
  return result;
}
template <class Part, class Operation>
ANYWARP_SIMD unsigned sum(unsigned a, unsigned b, Operation operation) {
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Part)) {
    const int x = static_cast<Part>(a >> at), y = static_cast<Part>(b >> at);
    result += static_cast<unsigned>(operation(x, y));
  }
  return result;
}
template <class Part>
ANYWARP_SIMD int clamped(int value) {
  constexpr bool is_signed = static_cast<Part>(-1) < static_cast<Part>(0);
  constexpr int high = is_signed ? (sizeof(Part) == 1 ? 127 : 32767) : (sizeof(Part) == 1 ? 255 : 65535);
  constexpr int low = is_signed ? -high - 1 : 0;
  return value < low ? low : value > high ? high : value;
}
ANYWARP_SIMD int apart(int x, int y) { return x < y ? y - x : x - y; }
}  // namespace detail

#define ANYWARP_TWO(NAME, PART, EXPRESSION)                                          \
  ANYWARP_SIMD unsigned NAME(unsigned a, unsigned b) {                               \
    return detail::each<PART>(a, b, [](int x, int y) -> int { return EXPRESSION; }); \
  }
#define ANYWARP_ONE(NAME, PART, EXPRESSION)                                        \
  ANYWARP_SIMD unsigned NAME(unsigned a) {                                         \
    return detail::each<PART>(a, a, [](int x, int) -> int { return EXPRESSION; }); \
  }
// All ones where the comparison holds (`vcmp`), or one (`vset`); PART says whether the numbers have a sign.
#define ANYWARP_COMPARE(NAME, SUFFIX, PART, OPERATOR)          \
  ANYWARP_TWO(vcmp##NAME##SUFFIX, PART, x OPERATOR y ? -1 : 0) \
  ANYWARP_TWO(vset##NAME##SUFFIX, PART, x OPERATOR y ? 1 : 0)
#define ANYWARP_SUM(NAME, PART) \
  ANYWARP_SIMD unsigned NAME(unsigned a, unsigned b) { return detail::sum<PART>(a, b, detail::apart); }

#define ANYWARP_ALL(SUFFIX, U, S)                                    \
  ANYWARP_TWO(vadd##SUFFIX, U, x + y)                                \
  ANYWARP_TWO(vsub##SUFFIX, U, x - y)                                \
  ANYWARP_TWO(vaddus##SUFFIX, U, detail::clamped<U>(x + y))          \
  ANYWARP_TWO(vaddss##SUFFIX, S, detail::clamped<S>(x + y))          \
  ANYWARP_TWO(vsubus##SUFFIX, U, detail::clamped<U>(x - y))          \
  ANYWARP_TWO(vsubss##SUFFIX, S, detail::clamped<S>(x - y))          \
  ANYWARP_TWO(vabsdiffu##SUFFIX, U, detail::apart(x, y))             \
  ANYWARP_TWO(vabsdiffs##SUFFIX, S, detail::apart(x, y))             \
  ANYWARP_TWO(vminu##SUFFIX, U, x < y ? x : y)                       \
  ANYWARP_TWO(vmins##SUFFIX, S, x < y ? x : y)                       \
  ANYWARP_TWO(vmaxu##SUFFIX, U, x < y ? y : x)                       \
  ANYWARP_TWO(vmaxs##SUFFIX, S, x < y ? y : x)                       \
  ANYWARP_TWO(vavgu##SUFFIX, U, (x + y + 1) >> 1)                    \
  ANYWARP_TWO(vavgs##SUFFIX, S, (x + y + (x + y >= 0 ? 1 : 0)) >> 1) \
  ANYWARP_TWO(vhaddu##SUFFIX, U, (x + y) >> 1)                       \
  ANYWARP_ONE(vabs##SUFFIX, S, x < 0 ? -x : x)                       \
  ANYWARP_ONE(vabsss##SUFFIX, S, detail::clamped<S>(x < 0 ? -x : x)) \
  ANYWARP_ONE(vneg##SUFFIX, S, -x)                                   \
  ANYWARP_ONE(vnegss##SUFFIX, S, detail::clamped<S>(-x))             \
  ANYWARP_COMPARE(eq, SUFFIX, U, ==)                                 \
  ANYWARP_COMPARE(ne, SUFFIX, U, !=)                                 \
  ANYWARP_COMPARE(geu, SUFFIX, U, >=)                                \
  ANYWARP_COMPARE(gtu, SUFFIX, U, >)                                 \
  ANYWARP_COMPARE(leu, SUFFIX, U, <=)                                \
  ANYWARP_COMPARE(ltu, SUFFIX, U, <)                                 \
  ANYWARP_COMPARE(ges, SUFFIX, S, >=)                                \
  ANYWARP_COMPARE(gts, SUFFIX, S, >)                                 \
  ANYWARP_COMPARE(les, SUFFIX, S, <=)                                \
  ANYWARP_COMPARE(lts, SUFFIX, S, <)                                 \
  ANYWARP_SUM(vsadu##SUFFIX, U)                                      \
  ANYWARP_SUM(vsads##SUFFIX, S)
ANYWARP_ALL(2, unsigned short, short)
ANYWARP_ALL(4, unsigned char, signed char)
#undef ANYWARP_ALL
#undef ANYWARP_SUM
#undef ANYWARP_COMPARE
#undef ANYWARP_ONE
#undef ANYWARP_TWO

// The larger or smaller of three numbers, or of a sum and a number.
#define ANYWARP_THREE(SUFFIX, T)                                                                      \
  ANYWARP_SIMD T vimax3_##SUFFIX(T a, T b, T c) { return a < b ? (b < c ? c : b) : (a < c ? c : a); } \
  ANYWARP_SIMD T vimin3_##SUFFIX(T a, T b, T c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); } \
  ANYWARP_SIMD T viaddmax_##SUFFIX(T a, T b, T c) {                                                   \
    const T s = static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));                  \
    return s < c ? c : s;                                                                             \
  }                                                                                                   \
  ANYWARP_SIMD T viaddmin_##SUFFIX(T a, T b, T c) {                                                   \
    const T s = static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));                  \
    return s < c ? s : c;                                                                             \
  }
ANYWARP_THREE(s32, int)
ANYWARP_THREE(u32, unsigned)
#undef ANYWARP_THREE

}  // namespace anywarp

#endif  // ANYWARP_TRANSLATE_SIMD_H
