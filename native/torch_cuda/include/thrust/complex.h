// thrust::complex, as much as the headers of torch use when nvcc compiles them; by definition,
// without care for overflow between the steps.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <complex>

namespace thrust {

template <class T>
struct complex {
  using value_type = T;

  __host__ __device__ constexpr complex(T real = T(), T imag = T()) : real_(real), imag_(imag) {}
  template <class U>
  __host__ __device__ constexpr complex(const complex<U>& other)
      : real_(T(other.real())), imag_(T(other.imag())) {}
  template <class U>
  __host__ constexpr complex(const std::complex<U>& other)
      : real_(T(other.real())), imag_(T(other.imag())) {}
  __host__ constexpr operator std::complex<T>() const { return {real_, imag_}; }

  __host__ __device__ constexpr T real() const { return real_; }
  __host__ __device__ constexpr T imag() const { return imag_; }
  __host__ __device__ void real(T value) { real_ = value; }
  __host__ __device__ void imag(T value) { imag_ = value; }

  __host__ __device__ complex& operator+=(const complex& other) { return *this = *this + other; }
  __host__ __device__ complex& operator-=(const complex& other) { return *this = *this - other; }
  __host__ __device__ complex& operator*=(const complex& other) { return *this = *this * other; }
  __host__ __device__ complex& operator/=(const complex& other) { return *this = *this / other; }

  friend __host__ __device__ complex operator+(const complex& a, const complex& b) {
    return {a.real_ + b.real_, a.imag_ + b.imag_};
  }
  friend __host__ __device__ complex operator-(const complex& a, const complex& b) {
    return {a.real_ - b.real_, a.imag_ - b.imag_};
  }
  friend __host__ __device__ complex operator-(const complex& a) { return {-a.real_, -a.imag_}; }
  friend __host__ __device__ complex operator*(const complex& a, const complex& b) {
    return {a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_};
  }
  // The divisor is scaled by its larger part, as Smith's method has it (Communications of the ACM
  // 5, 1962).
  friend __host__ __device__ complex operator/(const complex& a, const complex& b) {
    if (std::fabs(b.real_) >= std::fabs(b.imag_)) {
      const T ratio = b.imag_ / b.real_, scale = b.real_ + b.imag_ * ratio;
      return {(a.real_ + a.imag_ * ratio) / scale, (a.imag_ - a.real_ * ratio) / scale};
    }
    const T ratio = b.real_ / b.imag_, scale = b.real_ * ratio + b.imag_;
    return {(a.real_ * ratio + a.imag_) / scale, (a.imag_ * ratio - a.real_) / scale};
  }
  friend __host__ __device__ bool operator==(const complex& a, const complex& b) {
    return a.real_ == b.real_ && a.imag_ == b.imag_;
  }
  friend __host__ __device__ bool operator!=(const complex& a, const complex& b) {
    return !(a == b);
  }

 private:
  T real_, imag_;
};

template <class T>
__host__ __device__ T abs(const complex<T>& z) {
  return std::hypot(z.real(), z.imag());
}
template <class T>
__host__ __device__ T arg(const complex<T>& z) {
  return std::atan2(z.imag(), z.real());
}
template <class T>
__host__ __device__ T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
__host__ __device__ complex<T> conj(const complex<T>& z) {
  return {z.real(), -z.imag()};
}
template <class T>
__host__ __device__ complex<T> polar(const T& length, const T& angle = T()) {
  return {length * std::cos(angle), length * std::sin(angle)};
}
template <class T>
__host__ __device__ complex<T> exp(const complex<T>& z) {
  return polar<T>(std::exp(z.real()), z.imag());
}
template <class T>
__host__ __device__ complex<T> log(const complex<T>& z) {
  return {std::log(abs(z)), arg(z)};
}
template <class T>
__host__ __device__ complex<T> log10(const complex<T>& z) {
  return log(z) / complex<T>(T(2.302585092994045684));
}
template <class T>
__host__ __device__ complex<T> sqrt(const complex<T>& z) {
  const T length = abs(z);
  if (length == 0) return {T(0), z.imag()};
  const T larger = std::sqrt((length + std::fabs(z.real())) / 2),
          smaller = std::fabs(z.imag()) / (2 * larger);
  return z.real() >= 0 ? complex<T>(larger, std::copysign(smaller, z.imag()))
                       : complex<T>(smaller, std::copysign(larger, z.imag()));
}
template <class T>
__host__ __device__ complex<T> pow(const complex<T>& base, const complex<T>& power) {
  return exp(log(base) * power);
}
template <class T>
__host__ __device__ complex<T> pow(const complex<T>& base, const T& power) {
  return exp(log(base) * complex<T>(power));
}
template <class T>
__host__ __device__ complex<T> pow(const T& base, const complex<T>& power) {
  return exp(log(complex<T>(base)) * power);
}
template <class T>
__host__ __device__ complex<T> sinh(const complex<T>& z) {
  return {std::sinh(z.real()) * std::cos(z.imag()), std::cosh(z.real()) * std::sin(z.imag())};
}
template <class T>
__host__ __device__ complex<T> cosh(const complex<T>& z) {
  return {std::cosh(z.real()) * std::cos(z.imag()), std::sinh(z.real()) * std::sin(z.imag())};
}
template <class T>
__host__ __device__ complex<T> tanh(const complex<T>& z) {
  return sinh(z) / cosh(z);
}
template <class T>
__host__ __device__ complex<T> asinh(const complex<T>& z) {
  return log(z + sqrt(z * z + complex<T>(T(1))));
}
template <class T>
__host__ __device__ complex<T> acosh(const complex<T>& z) {
  return log(z + sqrt(z + complex<T>(T(1))) * sqrt(z - complex<T>(T(1))));
}
template <class T>
__host__ __device__ complex<T> atanh(const complex<T>& z) {
  return (log(complex<T>(T(1)) + z) - log(complex<T>(T(1)) - z)) / complex<T>(T(2));
}
// The circular functions are the hyperbolic ones, turned by a right angle.
template <class T>
__host__ __device__ complex<T> turned(const complex<T>& z) {
  return {-z.imag(), z.real()};
}
template <class T>
__host__ __device__ complex<T> turned_back(const complex<T>& z) {
  return {z.imag(), -z.real()};
}
template <class T>
__host__ __device__ complex<T> sin(const complex<T>& z) {
  return turned_back(sinh(turned(z)));
}
template <class T>
__host__ __device__ complex<T> cos(const complex<T>& z) {
  return cosh(turned(z));
}
template <class T>
__host__ __device__ complex<T> tan(const complex<T>& z) {
  return turned_back(tanh(turned(z)));
}
template <class T>
__host__ __device__ complex<T> asin(const complex<T>& z) {
  return turned_back(asinh(turned(z)));
}
template <class T>
__host__ __device__ complex<T> acos(const complex<T>& z) {
  return complex<T>(T(1.570796326794896619)) - asin(z);
}
template <class T>
__host__ __device__ complex<T> atan(const complex<T>& z) {
  return turned_back(atanh(turned(z)));
}

}  // namespace thrust
