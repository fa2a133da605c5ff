// cuda::std::complex: arithmetic and the functions of <complex>, for both sides.
#ifndef ANYWARP_CCCL_COMPLEX_H
#define ANYWARP_CCCL_COMPLEX_H

#ifndef __CUDACC_RTC__
#include <cmath>
#endif

#include "std.h"
#include "../attributes.h"

namespace cuda {
namespace std {

// Their plain siblings, which the functions of this namespace would hide.
using ::std::abs;
using ::std::cos;
using ::std::exp;
using ::std::log;
using ::std::pow;
using ::std::sin;
using ::std::sqrt;

template <class T>
struct __attribute__((aligned(2 * sizeof(T)))) complex {
  typedef T value_type;
  T aw_re, aw_im;
  AW_HD constexpr complex(T re = T(), T im = T()) : aw_re(re), aw_im(im) {}
  template <class U>
  AW_HD constexpr complex(const complex<U> &z) : aw_re((T)z.real()), aw_im((T)z.imag()) {}
  AW_HD constexpr T real() const { return aw_re; }
  AW_HD constexpr T imag() const { return aw_im; }
  AW_HD void real(T v) { aw_re = v; }
  AW_HD void imag(T v) { aw_im = v; }
  AW_HD complex &operator=(T v) { return aw_re = v, aw_im = T(), *this; }
  AW_HD complex &operator+=(const complex &z) { return aw_re += z.aw_re, aw_im += z.aw_im, *this; }
  AW_HD complex &operator-=(const complex &z) { return aw_re -= z.aw_re, aw_im -= z.aw_im, *this; }
  AW_HD complex &operator*=(const complex &z) { return *this = *this * z; }
  AW_HD complex &operator/=(const complex &z) { return *this = *this / z; }
  friend AW_HD complex operator+(const complex &a, const complex &b) { return {a.aw_re + b.aw_re, a.aw_im + b.aw_im}; }
  friend AW_HD complex operator-(const complex &a, const complex &b) { return {a.aw_re - b.aw_re, a.aw_im - b.aw_im}; }
  friend AW_HD complex operator*(const complex &a, const complex &b) {
    return {a.aw_re * b.aw_re - a.aw_im * b.aw_im, a.aw_re * b.aw_im + a.aw_im * b.aw_re};
  }
  // By the larger part of the divisor, so that nothing overflows that need not.
  friend AW_HD complex operator/(const complex &a, const complex &b) {
    T x = b.aw_re < 0 ? -b.aw_re : b.aw_re, y = b.aw_im < 0 ? -b.aw_im : b.aw_im;
    if (x >= y) {
      T r = b.aw_im / b.aw_re, d = b.aw_re + b.aw_im * r;
      return {(a.aw_re + a.aw_im * r) / d, (a.aw_im - a.aw_re * r) / d};
    }
    T r = b.aw_re / b.aw_im, d = b.aw_re * r + b.aw_im;
    return {(a.aw_re * r + a.aw_im) / d, (a.aw_im * r - a.aw_re) / d};
  }
  friend AW_HD complex operator-(const complex &a) { return {-a.aw_re, -a.aw_im}; }
  friend AW_HD complex operator+(const complex &a) { return a; }
  friend AW_HD bool operator==(const complex &a, const complex &b) { return a.aw_re == b.aw_re && a.aw_im == b.aw_im; }
  friend AW_HD bool operator!=(const complex &a, const complex &b) { return !(a == b); }
};
template <class T>
AW_HD T real(const complex<T> &z) {
  return z.real();
}
template <class T>
AW_HD T imag(const complex<T> &z) {
  return z.imag();
}
template <class T>
AW_HD complex<T> conj(const complex<T> &z) {
  return {z.real(), -z.imag()};
}
template <class T>
AW_HD T norm(const complex<T> &z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
AW_HD T abs(const complex<T> &z) {
  return ::std::hypot(z.real(), z.imag());
}
template <class T>
AW_HD T arg(const complex<T> &z) {
  return ::std::atan2(z.imag(), z.real());
}
template <class T>
AW_HD complex<T> polar(const T &r, const T &angle = T()) {
  return {r * ::std::cos(angle), r * ::std::sin(angle)};
}
template <class T>
AW_HD complex<T> exp(const complex<T> &z) {
  return polar(::std::exp(z.real()), z.imag());
}
template <class T>
AW_HD complex<T> log(const complex<T> &z) {
  return {::std::log(abs(z)), arg(z)};
}
template <class T>
AW_HD complex<T> sqrt(const complex<T> &z) {
  T r = abs(z), u = ::std::sqrt((r + ::std::fabs(z.real())) / 2);
  if (u == 0) return {T(), z.imag()};
  T v = ::std::fabs(z.imag()) / (2 * u);
  return z.real() >= 0 ? complex<T>(u, ::std::copysign(v, z.imag())) : complex<T>(v, ::std::copysign(u, z.imag()));
}
template <class T>
AW_HD complex<T> pow(const complex<T> &z, const complex<T> &w) {
  return z == complex<T>() ? complex<T>() : exp(w * log(z));
}
template <class T>
AW_HD complex<T> sin(const complex<T> &z) {
  return {::std::sin(z.real()) * ::std::cosh(z.imag()), ::std::cos(z.real()) * ::std::sinh(z.imag())};
}
template <class T>
AW_HD complex<T> cos(const complex<T> &z) {
  return {::std::cos(z.real()) * ::std::cosh(z.imag()), -::std::sin(z.real()) * ::std::sinh(z.imag())};
}

}  // namespace std
}  // namespace cuda

#endif
