// The device's functions under the names of <cmath>, said before that header is read, and with whole numbers as arguments.
#ifndef ANYWARP_MATH_STD_H
#define ANYWARP_MATH_STD_H

// A constexpr function of the standard library yields to a __device__ one of its name only where that is in a system header,
// which this is not to those who name the toolkit's include folder by -I.
#pragma GCC system_header

template <class T>
struct aw_whole {};
#define AW_WHOLE(T)                \
  template <>                      \
  struct aw_whole<T> {             \
    typedef double as_double;      \
  };
AW_WHOLE(bool)
AW_WHOLE(char)
AW_WHOLE(signed char)
AW_WHOLE(unsigned char)
AW_WHOLE(short)
AW_WHOLE(unsigned short)
AW_WHOLE(int)
AW_WHOLE(unsigned int)
AW_WHOLE(long)
AW_WHOLE(unsigned long)
AW_WHOLE(long long)
AW_WHOLE(unsigned long long)
#undef AW_WHOLE

template <class T>
struct aw_number : aw_whole<T> {};
template <>
struct aw_number<float> {
  typedef double as_double;
};
template <>
struct aw_number<double> {
  typedef double as_double;
};

#define AW_EVERY_1(DO)                                                                                                   \
  DO(sin) DO(cos) DO(tan) DO(asin) DO(acos) DO(atan) DO(sinh) DO(cosh) DO(tanh) DO(asinh) DO(acosh) DO(atanh) DO(exp)    \
  DO(exp2) DO(expm1) DO(log) DO(log2) DO(log10) DO(log1p) DO(sqrt) DO(cbrt) DO(erf) DO(erfc) DO(lgamma) DO(tgamma)       \
  DO(floor) DO(trunc) DO(round) DO(rint) DO(nearbyint) DO(fabs) DO(logb)
#define AW_OF_WHOLE(name)                                                                                      \
  template <class T>                                                                                           \
  __attribute__((device, always_inline, nodebug)) static inline typename aw_whole<T>::as_double name(T x) {    \
    return name((double)x);                                                                                    \
  }
AW_EVERY_1(AW_OF_WHOLE)
#undef AW_OF_WHOLE
template <class T>
AW_CONSTANT typename aw_whole<T>::as_double ceil(T x) AW_PREFERRED {
  return (double)x;
}

// Of two types, any but two floats, of which there are overloads: in double (C++ [cmath.syn]).
#define AW_EVERY_2(DO) \
  DO(atan2) DO(copysign) DO(fdim) DO(fmax) DO(fmin) DO(fmod) DO(hypot) DO(nextafter) DO(pow) DO(remainder)
#define AW_OF_TWO(name)                                                                                                \
  template <class T, class U>                                                                                          \
  __attribute__((device, always_inline, nodebug)) static inline typename aw_number<T>::as_double name(                 \
      T x, U y, typename aw_number<U>::as_double* = 0) {                                                               \
    return name((double)x, (double)y);                                                                                 \
  }
AW_EVERY_2(AW_OF_TWO)
#undef AW_OF_TWO

namespace std {
#define AW_USING(name) using ::name;
#define AW_USING_F(name) using ::name##f;
AW_EVERY_1(AW_USING)
AW_EVERY_2(AW_USING)
using ::abs;
using ::ceil;
using ::fma;
using ::frexp;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::isnormal;
using ::ldexp;
using ::llrint;
using ::llround;
using ::lrint;
using ::lround;
using ::modf;
using ::remquo;
using ::scalbln;
using ::scalbn;
using ::signbit;
#undef AW_USING
#undef AW_USING_F
}  // namespace std
#undef AW_EVERY_1
#undef AW_EVERY_2

#endif
