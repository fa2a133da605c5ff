// The functions of C's library that nvcc takes in constant expressions, for both sides: ceil, abs
// of int, strlen. It refuses the others (nvcc 13.0).
#ifndef ANYWARP_CONSTANT_FUNCTIONS_H
#define ANYWARP_CONSTANT_FUNCTIONS_H

// A constexpr function of the standard library yields to one of its name here only where that is in
// a system header, which this is not to those who name the toolkit's include folder by -I.
#pragma GCC system_header

#include "attributes.h"

// A condition makes a function of clang's another one than that of the C library, preferred to it,
// in <cmath> and <cstdlib> too.
#define AW_CONSTANT AW_HD_INLINE static inline constexpr
#define AW_PREFERRED __attribute__((enable_if(true, "")))

AW_CONSTANT int abs(int x) AW_PREFERRED { return x < 0 ? -x : x; }

template <class T>
AW_CONSTANT T aw_up(T x, T whole) {
  return whole < x ? whole + 1 : whole == 0 && __builtin_signbit(x) ? -T(0) : whole;
}
// Beyond 2^63 there are no fractions in any of the three formats.
#define AW_CEIL(T, suffix)                                                         \
  AW_CONSTANT T ceil(T x) AW_PREFERRED {                                           \
    return !__builtin_is_constant_evaluated()          ? __builtin_ceil##suffix(x) \
           : x > -0x1p63##suffix && x < 0x1p63##suffix ? aw_up(x, (T)(long long)x) \
                                                       : x;                        \
  }
AW_CEIL(float, f)
AW_CEIL(double, )
AW_CEIL(long double, l)
#undef AW_CEIL

#if defined(__CUDA_ARCH__)
AW_BIG __SIZE_TYPE__ aw_length(const char* s) {
  __SIZE_TYPE__ n = 0;
  while (s[n]) ++n;
  return n;
}
AW_CONSTANT __SIZE_TYPE__ strlen(const char* s) AW_PREFERRED {
  return __builtin_is_constant_evaluated() ? __builtin_strlen(s) : aw_length(s);
}
#else
AW_CONSTANT __SIZE_TYPE__ strlen(const char* s) AW_PREFERRED { return __builtin_strlen(s); }
#endif

#endif
