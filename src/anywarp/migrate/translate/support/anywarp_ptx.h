// Arithmetic of PTX that neither C++ nor HIP has, for inline assembly that `anywarp translate` turned into C++.
//
// Each function computes what the instruction computes, for every operand: shift amounts beyond the width, NaNs, zeros with a sign.
//
// Permission to use, copy, modify, and/or distribute this file for any purpose with or without fee is hereby granted, as part of any
// program. It is provided "as is", without any warranty.

#ifndef ANYWARP_TRANSLATE_PTX_H
#define ANYWARP_TRANSLATE_PTX_H

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#endif

#if defined(__HIP__) || defined(__CUDACC__)
#define ANYWARP_FUNCTION __host__ __device__ inline
#else
#include <cmath>
#define ANYWARP_FUNCTION inline
#endif
#if defined(__clang__)
#define ANYWARP_EXACT _Pragma("clang fp contract(off)")
#else
#define ANYWARP_EXACT
#endif

namespace anywarp {

template <class To, class From>
ANYWARP_FUNCTION To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "the same bits as another type of the same size");
  return __builtin_bit_cast(To, from);
}

// --- whole numbers

namespace detail {
template <class T>
struct Kind;
#define ANYWARP_KIND(SIGNED, UNSIGNED, WIDER, UWIDER)                                         \
  template <>                                                                                 \
  struct Kind<SIGNED> {                                                                       \
    using Unsigned = UNSIGNED;                                                                \
    using Wide = WIDER;                                                                       \
    static constexpr bool is_signed = true;                                                   \
  };                                                                                          \
  template <>                                                                                 \
  struct Kind<UNSIGNED> {                                                                     \
    using Unsigned = UNSIGNED;                                                                \
    using Wide = UWIDER;                                                                      \
    static constexpr bool is_signed = false;                                                  \
  };
ANYWARP_KIND(signed char, unsigned char, int, unsigned int)
ANYWARP_KIND(short, unsigned short, int, unsigned int)
ANYWARP_KIND(int, unsigned int, long long, unsigned long long)
ANYWARP_KIND(long long, unsigned long long, __int128, unsigned __int128)
ANYWARP_KIND(__int128, unsigned __int128, __int128, unsigned __int128)
#undef ANYWARP_KIND
template <class T>
using Unsigned = typename Kind<T>::Unsigned;
template <class T>
constexpr unsigned width = 8 * sizeof(T);
}  // namespace detail

template <class T>
ANYWARP_FUNCTION T shl(T a, unsigned long long amount) {
  return amount < detail::width<T> ? static_cast<T>(a << amount) : static_cast<T>(0);
}
template <class T>
ANYWARP_FUNCTION detail::Unsigned<T> shr(T a, unsigned long long amount) {
  if (amount >= detail::width<T>) {
    if (!detail::Kind<T>::is_signed) return 0;
    amount = detail::width<T> - 1;
  }
  return static_cast<detail::Unsigned<T>>(a >> amount);
}
template <class T>
ANYWARP_FUNCTION detail::Unsigned<T> mulhi(T a, T b) {
  using Wide = typename detail::Kind<T>::Wide;
  return static_cast<detail::Unsigned<T>>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> detail::width<T>);
}
template <class T>
ANYWARP_FUNCTION detail::Unsigned<T> div(T a, T b) {
  using U = detail::Unsigned<T>;
  if (b == 0) return static_cast<U>(~static_cast<U>(0));
  if (detail::Kind<T>::is_signed && b == static_cast<T>(-1)) return static_cast<U>(0 - static_cast<U>(a));
  return static_cast<U>(a / b);
}
template <class T>
ANYWARP_FUNCTION detail::Unsigned<T> rem(T a, T b) {
  using U = detail::Unsigned<T>;
  if (b == 0) return static_cast<U>(a);
  if (detail::Kind<T>::is_signed && b == static_cast<T>(-1)) return 0;
  return static_cast<U>(a % b);
}
template <class T>
ANYWARP_FUNCTION detail::Unsigned<T> min(T a, T b) {
  return static_cast<detail::Unsigned<T>>(b < a ? b : a);
}
template <class T>
ANYWARP_FUNCTION detail::Unsigned<T> max(T a, T b) {
  return static_cast<detail::Unsigned<T>>(a < b ? b : a);
}
ANYWARP_FUNCTION unsigned ctz(unsigned a) { return a == 0 ? 32u : static_cast<unsigned>(__builtin_ctz(a)); }
ANYWARP_FUNCTION unsigned long long ctz(unsigned long long a) {
  return a == 0 ? 64u : static_cast<unsigned>(__builtin_ctzll(a));
}

// --- fields of bits

template <class T>
ANYWARP_FUNCTION detail::Unsigned<T> bfe(T a, unsigned position, unsigned length) {
  position &= 255u;
  length &= 255u;
  if (!detail::Kind<T>::is_signed)
    return shr(a, position) & static_cast<detail::Unsigned<T>>(~shl(static_cast<detail::Unsigned<T>>(-1), length));
  const unsigned rest = detail::width<T> - (length < detail::width<T> ? length : detail::width<T>);
  return shr(static_cast<T>(shl(shr(a, position), rest)), rest);
}
template <class T>
ANYWARP_FUNCTION T bfi(T a, T b, unsigned position, unsigned length) {
  position &= 255u;
  length &= 255u;
  const T mask = shl(static_cast<T>(~shl(static_cast<T>(-1), length)), position);
  return (b & ~mask) | (shl(a, position) & mask);
}
ANYWARP_FUNCTION unsigned bfind(unsigned a) { return a == 0 ? ~0u : 31u - static_cast<unsigned>(__builtin_clz(a)); }
ANYWARP_FUNCTION unsigned bfind(unsigned long long a) {
  return a == 0 ? ~0u : 63u - static_cast<unsigned>(__builtin_clzll(a));
}
ANYWARP_FUNCTION unsigned bfind(int a) { return bfind(static_cast<unsigned>(a < 0 ? ~a : a)); }
ANYWARP_FUNCTION unsigned bfind(long long a) { return bfind(static_cast<unsigned long long>(a < 0 ? ~a : a)); }

ANYWARP_FUNCTION unsigned prmt(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const unsigned control = selector >> 4 * n & 15u;
    unsigned byte = static_cast<unsigned>(both >> 8 * (control & 7u)) & 255u;
    if (control & 8u) byte = byte & 128u ? 255u : 0u;
    result |= byte << 8 * n;
  }
  return result;
}

// Funnel shifts of `high:low`; `l` keeps the upper word of the result, `r` the lower.
ANYWARP_FUNCTION unsigned shf_l_clamp(unsigned low, unsigned high, unsigned amount) {
  const unsigned n = amount < 32u ? amount : 32u;
  return shl(high, n) | shr(low, 32u - n);
}
ANYWARP_FUNCTION unsigned shf_l_wrap(unsigned low, unsigned high, unsigned amount) {
  return shf_l_clamp(low, high, amount & 31u);
}
ANYWARP_FUNCTION unsigned shf_r_clamp(unsigned low, unsigned high, unsigned amount) {
  const unsigned n = amount < 32u ? amount : 32u;
  return shl(high, 32u - n) | shr(low, n);
}
ANYWARP_FUNCTION unsigned shf_r_wrap(unsigned low, unsigned high, unsigned amount) {
  return shf_r_clamp(low, high, amount & 31u);
}

namespace detail {
// The n-th field of a word: with its sign for a signed word.
ANYWARP_FUNCTION unsigned byte(unsigned a, unsigned n) { return a >> 8 * n & 255u; }
ANYWARP_FUNCTION unsigned byte(int a, unsigned n) {
  return static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(a) << (24 - 8 * n)) >> 24);
}
ANYWARP_FUNCTION unsigned half(unsigned a, unsigned n) { return a >> 16 * n & 65535u; }
ANYWARP_FUNCTION unsigned half(int a, unsigned n) {
  return static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(a) << (16 - 16 * n)) >> 16);
}
}  // namespace detail

template <class A, class B>
ANYWARP_FUNCTION unsigned dp4a(A a, B b, unsigned c) {
  for (unsigned n = 0; n < 4; ++n) c += detail::byte(a, n) * detail::byte(b, n);
  return c;
}
template <class A, class B>
ANYWARP_FUNCTION unsigned dp2a_lo(A a, B b, unsigned c) {
  return c + detail::half(a, 0) * detail::byte(b, 0) + detail::half(a, 1) * detail::byte(b, 1);
}
template <class A, class B>
ANYWARP_FUNCTION unsigned dp2a_hi(A a, B b, unsigned c) {
  return c + detail::half(a, 0) * detail::byte(b, 2) + detail::half(a, 1) * detail::byte(b, 3);
}

// --- floating point

// A bfloat16: the upper half of a float.
struct bf16 {
  unsigned short bits;
  ANYWARP_FUNCTION operator float() const { return bits_as<float>(static_cast<unsigned>(bits) << 16); }
};

// Round to nearest even. A NaN becomes 0x7fff, as PTX has it.
ANYWARP_FUNCTION bf16 to_bf16(float a) {
  if (a != a) return bf16{0x7fff};
  const unsigned u = bits_as<unsigned>(a);
  return bf16{static_cast<unsigned short>((u + 0x7fffu + (u >> 16 & 1u)) >> 16)};
}
// A double that is not a float is moved to the one of its two neighbours with an odd last bit: rounding again is then right.
ANYWARP_FUNCTION float to_odd(double a) {
  const float f = static_cast<float>(a);
  if (static_cast<double>(f) == a || a != a) return f;
  const unsigned u = bits_as<unsigned>(f);
  if (u & 1u) return f;
  const bool outward = (static_cast<double>(f) < a) == (a > 0);
  return bits_as<float>(outward ? u + 1u : u - 1u);
}
ANYWARP_FUNCTION bf16 to_bf16(double a) { return to_bf16(to_odd(a)); }
ANYWARP_FUNCTION bf16 to_bf16(_Float16 a) { return to_bf16(static_cast<float>(a)); }

// Operations that are never fused with another one, as PTX's with an explicit .rn.
#define ANYWARP_OPERATION(NAME, OPERATOR)                                                   \
  ANYWARP_FUNCTION float NAME(float a, float b) { ANYWARP_EXACT return a OPERATOR b; }      \
  ANYWARP_FUNCTION double NAME(double a, double b) { ANYWARP_EXACT return a OPERATOR b; }   \
  ANYWARP_FUNCTION _Float16 NAME(_Float16 a, _Float16 b) {                                  \
    ANYWARP_EXACT return static_cast<_Float16>(a OPERATOR b);                               \
  }                                                                                         \
  ANYWARP_FUNCTION bf16 NAME(bf16 a, bf16 b) {                                              \
    ANYWARP_EXACT return to_bf16(static_cast<float>(a) OPERATOR static_cast<float>(b));     \
  }
ANYWARP_OPERATION(fadd, +)
ANYWARP_OPERATION(fsub, -)
ANYWARP_OPERATION(fmul, *)
#undef ANYWARP_OPERATION

namespace detail {
// p + q as a double; what the sum loses is kept as an odd last bit, which says on which side of a tie it lies.
ANYWARP_FUNCTION double sum_to_odd(double p, double q) {
  ANYWARP_EXACT
  const double sum = p + q;
  const double back = sum - p;
  const double rest = (p - (sum - back)) + (q - back);
  const unsigned long long u = bits_as<unsigned long long>(sum);
  if (rest == 0 || rest != rest || u & 1u) return sum;
  return bits_as<double>((rest > 0) == (sum > 0) ? u + 1u : u - 1u);
}
}  // namespace detail

// One rounding: products of two halves are exact in double.
ANYWARP_FUNCTION _Float16 fma(_Float16 a, _Float16 b, _Float16 c) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_fmaf16(a, b, c);
#else
  ANYWARP_EXACT
  const double product = static_cast<double>(a) * static_cast<double>(b);
  return static_cast<_Float16>(to_odd(detail::sum_to_odd(product, static_cast<double>(c))));
#endif
}
ANYWARP_FUNCTION bf16 fma(bf16 a, bf16 b, bf16 c) {
  ANYWARP_EXACT
  const double product = static_cast<double>(static_cast<float>(a)) * static_cast<double>(static_cast<float>(b));
  return to_bf16(detail::sum_to_odd(product, static_cast<double>(static_cast<float>(c))));
}

ANYWARP_FUNCTION _Float16 fneg(_Float16 a) {
  return bits_as<_Float16>(static_cast<unsigned short>(bits_as<unsigned short>(a) ^ 0x8000u));
}
ANYWARP_FUNCTION bf16 fneg(bf16 a) { return bf16{static_cast<unsigned short>(a.bits ^ 0x8000u)}; }
ANYWARP_FUNCTION _Float16 fabs(_Float16 a) {
  return bits_as<_Float16>(static_cast<unsigned short>(bits_as<unsigned short>(a) & 0x7fffu));
}
ANYWARP_FUNCTION bf16 fabs(bf16 a) { return bf16{static_cast<unsigned short>(a.bits & 0x7fffu)}; }
ANYWARP_FUNCTION bool unordered(_Float16 a, _Float16 b) { return a != a || b != b; }

namespace detail {
ANYWARP_FUNCTION bool negative(float a) { return bits_as<unsigned>(a) >> 31; }
ANYWARP_FUNCTION bool negative(double a) { return bits_as<unsigned long long>(a) >> 63; }
ANYWARP_FUNCTION bool negative(_Float16 a) { return bits_as<unsigned short>(a) >> 15; }
ANYWARP_FUNCTION bool negative(bf16 a) { return a.bits >> 15; }
ANYWARP_FUNCTION float nan(float) { return bits_as<float>(0x7fffffffu); }
ANYWARP_FUNCTION double nan(double) { return bits_as<double>(0x7ff8000000000000ull); }
ANYWARP_FUNCTION _Float16 nan(_Float16) { return bits_as<_Float16>(static_cast<unsigned short>(0x7fff)); }
ANYWARP_FUNCTION bf16 nan(bf16) { return bf16{0x7fff}; }
}  // namespace detail

// A NaN loses, and -0 is less than +0.
template <class T>
ANYWARP_FUNCTION T fmin(T a, T b) {
  if (a != a) return b != b ? detail::nan(a) : b;
  if (b != b) return a;
  return a < b || (a == b && detail::negative(a)) ? a : b;
}
template <class T>
ANYWARP_FUNCTION T fmax(T a, T b) {
  if (a != a) return b != b ? detail::nan(a) : b;
  if (b != b) return a;
  return a < b || (a == b && detail::negative(a)) ? b : a;
}

// Subnormal numbers as a zero of their sign.
ANYWARP_FUNCTION float flush(float a) {
  return bits_as<unsigned>(a) << 1 < 0x01000000u ? bits_as<float>(bits_as<unsigned>(a) & 0x80000000u) : a;
}
ANYWARP_FUNCTION double flush(double a) {
  const unsigned long long u = bits_as<unsigned long long>(a);
  return u << 1 < 0x0020000000000000ull ? bits_as<double>(u & 0x8000000000000000ull) : a;
}
ANYWARP_FUNCTION _Float16 flush(_Float16 a) {
  const unsigned short u = bits_as<unsigned short>(a);
  return (u & 0x7fffu) < 0x0400u ? bits_as<_Float16>(static_cast<unsigned short>(u & 0x8000u)) : a;
}
ANYWARP_FUNCTION bf16 flush(bf16 a) {
  return (a.bits & 0x7fffu) < 0x0080u ? bf16{static_cast<unsigned short>(a.bits & 0x8000u)} : a;
}

#define ANYWARP_ROUND(NAME, FUNCTION)                                                                       \
  ANYWARP_FUNCTION _Float16 NAME(_Float16 a) { return static_cast<_Float16>(FUNCTION(static_cast<float>(a))); } \
  ANYWARP_FUNCTION bf16 NAME(bf16 a) { return to_bf16(FUNCTION(static_cast<float>(a))); }
ANYWARP_ROUND(rint, rintf)
ANYWARP_ROUND(trunc, truncf)
ANYWARP_ROUND(floor, floorf)
ANYWARP_ROUND(ceil, ceilf)
#undef ANYWARP_ROUND

// A number without fraction to a whole one, clamped to the range of `T`; NaN is 0.
template <class T, class F>
ANYWARP_FUNCTION T to_int(F a) {
  if (a != a) return 0;
  constexpr unsigned bits = detail::width<T> - (detail::Kind<T>::is_signed ? 1 : 0);
  const F limit = static_cast<F>(1ull << (bits - 1)) * static_cast<F>(2);
  constexpr detail::Unsigned<T> ones = static_cast<detail::Unsigned<T>>(-1);
  const T largest = static_cast<T>(ones >> (detail::Kind<T>::is_signed ? 1 : 0));
  if (a >= limit) return largest;
  if (detail::Kind<T>::is_signed ? a < -limit : a <= 0) return detail::Kind<T>::is_signed ? static_cast<T>(-largest - 1) : 0;
  return static_cast<T>(a);
}
template <class T>
ANYWARP_FUNCTION _Float16 int_to_f16(T a) {
  return static_cast<_Float16>(to_odd(static_cast<double>(a)));
}
template <class T>
ANYWARP_FUNCTION bf16 int_to_bf16(T a) {
  if (a == static_cast<T>(static_cast<int>(a))) return to_bf16(static_cast<double>(a));
  // 64 bits are more than a double has: what does not fit is kept as an odd last bit.
  const T odd = static_cast<T>((a >> 11) | static_cast<T>((a & 2047) != 0));
  return to_bf16(sizeof(T) < 8 ? static_cast<double>(a) : static_cast<double>(odd) * 2048.0);
}

// --- approximations: within the bounds that PTX gives. `_ftz` takes and gives no subnormal numbers, as AMD's instructions.

#if defined(__HIP_DEVICE_COMPILE__)
#define ANYWARP_FAST(BUILTIN, FUNCTION) BUILTIN
#else
#define ANYWARP_FAST(BUILTIN, FUNCTION) FUNCTION
#endif
#define ANYWARP_APPROXIMATION(NAME, BUILTIN, EXPRESSION)                                            \
  ANYWARP_FUNCTION float NAME##_approx(float a) { return EXPRESSION; }                              \
  ANYWARP_FUNCTION float NAME##_approx_ftz(float a) {                                               \
    return flush(ANYWARP_FAST(BUILTIN(flush(a)), NAME##_approx(flush(a))));                         \
  }
ANYWARP_APPROXIMATION(ex2, __builtin_amdgcn_exp2f, exp2f(a))
ANYWARP_APPROXIMATION(lg2, __builtin_amdgcn_logf, log2f(a))
ANYWARP_APPROXIMATION(rcp, __builtin_amdgcn_rcpf, 1.0f / a)
ANYWARP_APPROXIMATION(sqrt, __builtin_amdgcn_sqrtf, sqrtf(a))
ANYWARP_APPROXIMATION(rsqrt, __builtin_amdgcn_rsqf, 1.0f / sqrtf(a))
ANYWARP_APPROXIMATION(sin, sinf, sinf(a))
ANYWARP_APPROXIMATION(cos, cosf, cosf(a))
ANYWARP_APPROXIMATION(tanh, tanhf, tanhf(a))
#undef ANYWARP_APPROXIMATION
#undef ANYWARP_FAST
ANYWARP_FUNCTION double rcp_approx(double a) { return 1.0 / a; }
ANYWARP_FUNCTION double rsqrt_approx(double a) { return 1.0 / ::sqrt(a); }

}  // namespace anywarp

#endif  // ANYWARP_TRANSLATE_PTX_H
