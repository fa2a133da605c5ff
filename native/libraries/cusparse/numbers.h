// Numbers as cuSPARSE computes with them, and the types in memory that become such.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuComplex.h"
#include "libraries/float_formats.h"
#include "library_types.h"

namespace aw::cusparse {

// std::complex multiplies with care for infinities, which costs a call; CUDA's numbers do not.
template <class R>
struct Complex {
  R re = 0, im = 0;
  Complex() = default;
  Complex(R real, R imaginary = 0) : re(real), im(imaginary) {}
  friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  // Smith's method: no overflow on the way.
  friend Complex operator/(Complex a, Complex b) {
    if (std::abs(b.re) >= std::abs(b.im)) {
      R ratio = b.im / b.re, below = b.re + b.im * ratio;
      return {(a.re + a.im * ratio) / below, (a.im - a.re * ratio) / below};
    }
    R ratio = b.re / b.im, below = b.re * ratio + b.im;
    return {(a.re * ratio + a.im) / below, (a.im * ratio - a.re) / below};
  }
  Complex& operator+=(Complex other) { return *this = *this + other; }
  Complex& operator-=(Complex other) { return *this = *this - other; }
  Complex& operator*=(Complex other) { return *this = *this * other; }
  bool operator==(const Complex&) const = default;
};

template <class T>
constexpr bool is_complex = false;
template <class R>
constexpr bool is_complex<Complex<R>> = true;

template <class T>
T conjugate(T value) {
  if constexpr (is_complex<T>) value.im = -value.im;
  return value;
}
template <class T>
auto real(T value) {
  if constexpr (is_complex<T>)
    return value.re;
  else
    return value;
}
template <class T>
auto magnitude(T value) {
  if constexpr (is_complex<T>)
    return std::hypot(value.re, value.im);
  else
    return std::abs(value);
}

// cuComplex and its like in memory are our Complex.
template <class T>
struct NumberOf {
  using type = T;
};
template <>
struct NumberOf<cuComplex> {
  using type = Complex<float>;
};
template <>
struct NumberOf<cuDoubleComplex> {
  using type = Complex<double>;
};
template <class T>
using Number = typename NumberOf<T>::type;

template <class K, class S>
K load(const S& stored) {
  if constexpr (std::is_same_v<K, S>)
    return stored;
  else if constexpr (std::is_same_v<S, formats::Half> || std::is_same_v<S, formats::Brain>)
    return K(formats::widen(stored));
  else
    return K(stored);
}
template <class S, class K>
void store(S& to, K value) {
  if constexpr (std::is_same_v<S, formats::Half> || std::is_same_v<S, formats::Brain>)
    formats::narrow(static_cast<float>(value), to);
  else
    to = static_cast<S>(value);
}

}  // namespace aw::cusparse
