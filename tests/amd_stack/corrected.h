// What instructions compute whose body in rocjitsu is not what AMD's manuals say (corrections.py puts this beside it).
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <experimental/simd>
#include <limits>
#include <type_traits>

namespace corrected {

// V_MAX and V_MIN: a sum of zeros is -0 only where both are.
template <typename A, typename B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
auto greater(A a, B b) { return a == 0 && b == 0 ? decltype(std::fmax(a, b))(a + b) : std::fmax(a, b); }

template <typename Lanes>
  requires(!std::is_arithmetic_v<Lanes>)
Lanes greater(const Lanes &a, const Lanes &b) {
  Lanes r = std::experimental::fmax(a, b);
  std::experimental::where(a == Lanes(0) && b == Lanes(0), r) = a + b;
  return r;
}

template <typename A, typename B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
auto lesser(A a, B b) {
  using Float = decltype(std::fmin(a, b)); // integers go through double
  return -greater(-Float(a), -Float(b));
}

template <typename Lanes>
  requires(!std::is_arithmetic_v<Lanes>)
Lanes lesser(const Lanes &a, const Lanes &b) { return -greater(Lanes(-a), Lanes(-b)); }

// CLAMP of numbers
template <typename Float>
Float clamp(Float v) { return v > 0 ? v < 1 ? v : Float(1) : Float(0); }

template <typename Float>
int exponent(Float x) { // with its bias; 0 for denormal numbers and zero
  if (x == 0) return 0;
  constexpr int bias = std::numeric_limits<Float>::max_exponent - 1;
  if (!std::isfinite(x)) return 2 * bias + 1;
  int e;
  std::frexp(x, &e);
  return e + bias - 1 > 0 ? e + bias - 1 : 0;
}

template <typename Float>
Float scaling(int sign) { return std::ldexp(Float(1), sign * (sizeof(Float) == 8 ? 128 : 64)); }

// V_DIV_SCALE (CDNA3 ISA, VOP3 opcodes). What is denormal is judged in the format of the operands; a denominator whose reciprocal is denormal is scaled down,
// for the text's way, up, would overflow.
template <typename Float>
Float div_scale(Float a, Float denominator, Float numerator, bool &flag) {
  flag = false;
  if (numerator == 0 || denominator == 0) return std::numeric_limits<Float>::quiet_NaN();
  const bool finite = std::isfinite(denominator) && std::isfinite(numerator);
  const int apart = exponent(numerator) - exponent(denominator);
  const bool small_reciprocal = finite && std::fpclassify(Float(1) / denominator) == FP_SUBNORMAL;
  const bool small_quotient = finite && apart < 0 && std::fabs(numerator / denominator) < std::numeric_limits<Float>::min();
  if (apart >= (sizeof(Float) == 8 ? 768 : 96)) {
    flag = true;
    return a == denominator ? a * scaling<Float>(1) : a;
  }
  if (std::fpclassify(denominator) == FP_SUBNORMAL) return a * scaling<Float>(1);
  if (small_reciprocal && small_quotient) {
    flag = true;
    return a == denominator ? a * scaling<Float>(-1) : a;
  }
  if (small_reciprocal) return a * scaling<Float>(-1);
  if (small_quotient) {
    flag = true;
    return a == numerator ? a * scaling<Float>(1) : a;
  }
  return exponent(numerator) <= (sizeof(Float) == 8 ? 53 : 23) ? a * scaling<Float>(1) : a;
}

// V_DIV_FMAS takes back what V_DIV_SCALE scaled (by 2^64 or 2^128, up or down as the addend's exponent says), and rounds once.
template <typename Float>
Float div_fmas(Float a, Float b, Float c, bool flag) {
  if (!flag) return std::fma(a, b, c);
  const bool up = exponent(c) >= std::numeric_limits<Float>::max_exponent;
  const __float128 scaled = (__float128(a) * b + c) * scaling<Float>(up ? 1 : -1);
  return scaled == 0 ? std::copysign(Float(0), c) : Float(scaled);
}

// V_TRIG_PREOP_F64: 53 of the first 1201 bits of 2/pi; what is denormal is rounded towards zero (CDNA3 ISA, VOP3 opcodes).
inline double trig_preop(uint64_t number, uint32_t segment) {
  static constexpr uint64_t digits[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e,
      0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
      0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000};
  auto word = [](uint32_t n) { return n < sizeof digits / sizeof *digits ? digits[n] : 0; };
  const int exponent = number >> 52 & 0x7ff;
  const uint32_t shift = (segment & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  uint64_t bits = word(shift / 64) << shift % 64;
  if (shift % 64) bits |= word(shift / 64 + 1) >> (64 - shift % 64);
  bits >>= 11;
  int scale = -53 - int(shift) + (exponent >= 1968 ? 128 : 0);
  if (scale < -1074) {
    bits = scale > -1138 ? bits >> (-1074 - scale) : 0;
    scale = -1074;
  }
  return std::ldexp(double(bits), scale);
}

} // namespace corrected
