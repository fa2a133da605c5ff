// Formats of 16 and 8 bits, as conversions without branches where loops over them are to be
// vectors.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace aw::dnn {

inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

struct Half {
  uint16_t bits;
  float number() const {
    // A factor puts the exponent right, of denormals too; infinities and NaN are told apart after
    // it.
    const uint32_t body = (bits & 0x7fffu) << 13;
    const float scaled = float_of(body) * 0x1p112f;
    const uint32_t rest = body >= 0x0f800000u ? body | 0x7f800000u : bits_of(scaled);
    return float_of(rest | (bits & 0x8000u) << 16);
  }
  static Half of(float value) {
    const uint32_t all = bits_of(value), sign = all >> 16 & 0x8000u, body = all & 0x7fffffffu;
    // Denormals: adding 1/2 shifts the digits that stay to the end, rounded to nearest even.
    const uint32_t small = bits_of(float_of(body) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (body - 0x38000000u + 0xfffu + (body >> 13 & 1)) >> 13;
    const uint32_t large = body > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const uint32_t found = body >= 0x477ff000u ? large : body < 0x38800000u ? small : normal;
    return {static_cast<uint16_t>(found | sign)};
  }
};

struct Bfloat {
  uint16_t bits;
  float number() const { return float_of(static_cast<uint32_t>(bits) << 16); }
  static Bfloat of(float value) {
    const uint32_t all = bits_of(value);
    const uint32_t rounded = (all + 0x7fffu + (all >> 16 & 1)) >> 16;
    return {static_cast<uint16_t>((all & 0x7fffffffu) > 0x7f800000u ? all >> 16 | 0x40u : rounded)};
  }
};

// Eight bits: `Mantissa` of them digits. What is too large becomes the largest number, as in
// NVIDIA's saturating conversions.
template <int Mantissa, int Bias, uint8_t Most, bool Infinities>
struct Small {
  uint8_t bits;
  float number() const {
    const int exponent = (bits & 0x7f) >> Mantissa, digits = bits & ((1 << Mantissa) - 1);
    const float sign = bits & 0x80 ? -1.0f : 1.0f;
    if ((bits & 0x7f) > Most) {
      if (Infinities && !digits) return sign * INFINITY;
      return std::copysign(NAN, sign);
    }
    const float value = exponent ? std::ldexp(static_cast<float>(digits + (1 << Mantissa)),
                                              exponent - Bias - Mantissa)
                                 : std::ldexp(static_cast<float>(digits), 1 - Bias - Mantissa);
    return sign * value;
  }
  static Small of(float value) {
    const uint8_t sign = std::signbit(value) ? 0x80 : 0;
    if (std::isnan(value)) return {static_cast<uint8_t>(sign | 0x7f)};
    const float size = std::fabs(value);
    if (size >= Small{Most}.number()) return {static_cast<uint8_t>(sign | Most)};
    int exponent = 0;
    std::frexp(size, &exponent);  // size < 2^exponent
    const int least = 1 - Bias;
    const int step = std::max(exponent - 1, least) - Mantissa;
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, -step)));
    // A carry out of the digits moves into the exponent by itself.
    const int base = size == 0 || exponent - 1 < least ? 0 : (exponent - 1 + Bias - 1) << Mantissa;
    return {static_cast<uint8_t>(sign | (base + units))};
  }
};
using E4M3 = Small<3, 7, 0x7e, false>;
using E5M2 = Small<2, 15, 0x7b, true>;

struct ByteBoolean {
  uint8_t bits;
  float number() const { return bits ? 1.0f : 0.0f; }
  static ByteBoolean of(float value) { return {static_cast<uint8_t>(value != 0)}; }
};

}  // namespace aw::dnn
