// Floating types of 8 and 16 bits in memory, and binary32 from and to them.
#pragma once

#include <bit>
#include <cstdint>

namespace aw::formats {

// As their bits; conversions without branches, so that loops become vectors.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};
struct E4M3 {
  uint8_t bits;
};
struct E5M2 {
  uint8_t bits;
};

inline float widen(Half value) {
  uint32_t sign = uint32_t{value.bits & 0x8000u} << 16, rest = uint32_t{value.bits & 0x7fffu} << 13;
  float scaled = std::bit_cast<float>(rest) * 0x1p112f;  // subnormals come out right, too
  uint32_t bits = rest >= 0x0f800000u ? rest | 0x7f800000u : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | sign);
}
inline float widen(Brain value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }
inline float widen(E5M2 value) { return widen(Half{static_cast<uint16_t>(value.bits << 8)}); }
inline float widen(E4M3 value) {
  uint32_t sign = uint32_t{value.bits & 0x80u} << 24, rest = uint32_t{value.bits & 0x7fu} << 20;
  float scaled = std::bit_cast<float>(rest) * 0x1p120f;
  uint32_t bits = (value.bits & 0x7f) == 0x7f ? 0x7fc00000u : std::bit_cast<uint32_t>(scaled);
  return std::bit_cast<float>(bits | sign);
}
template <class T>
inline T widen(T value) {
  return value;
}

// To nearest, ties to even: with `Drop` bits less of fraction. NaN is for the caller.
template <int Drop>
inline uint32_t rounded(uint32_t bits) {
  return (bits + ((1u << (Drop - 1)) - 1) + ((bits >> Drop) & 1)) >> Drop;
}

inline void narrow(float value, Half& to) {
  uint32_t all = std::bit_cast<uint32_t>(value), sign = (all >> 16) & 0x8000u,
           bits = all & 0x7fffffffu;
  uint32_t normal = rounded<13>(bits) - (112u << 10);
  // Below 2^-14 an addition rounds at the place of the last bit of a subnormal.
  uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000u;
  uint32_t out = bits < 0x38800000u ? small : normal;
  out = bits >= 0x477ff000u ? 0x7c00u : out;
  out = bits > 0x7f800000u ? 0x7fffu : out;  // CUDA's canonical NaN
  to.bits = static_cast<uint16_t>(out | (bits > 0x7f800000u ? 0 : sign));
}
inline void narrow(float value, Brain& to) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  to.bits = static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded<16>(bits));
}
// Both as the constructors of __nv_fp8_e5m2 and __nv_fp8_e4m3 convert (CUDA Math API,
// __NV_SATFINITE): what is too large is the largest number.
inline void narrow(float value, E5M2& to) {
  uint32_t all = std::bit_cast<uint32_t>(value), sign = (all >> 24) & 0x80u,
           bits = all & 0x7fffffffu;
  uint32_t normal = rounded<21>(bits) - (112u << 2);
  uint32_t small =
      std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0x1p7f) - 0x43000000u;  // units of 2^-16
  uint32_t out = bits < 0x38800000u ? small : normal;
  out = bits >= 0x47700000u ? 0x7bu : out;
  out = bits > 0x7f800000u ? 0x7fu : out;
  to.bits = static_cast<uint8_t>(out | sign);
}
inline void narrow(float value, E4M3& to) {
  uint32_t all = std::bit_cast<uint32_t>(value), sign = (all >> 24) & 0x80u,
           bits = all & 0x7fffffffu;
  uint32_t normal = rounded<20>(bits) - (120u << 3);
  uint32_t small =
      std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0x1p14f) - 0x46800000u;  // units of 2^-9
  uint32_t out = bits < 0x3c800000u ? small : normal;
  out = bits > 0x43e80000u ? 0x7eu : out;
  out = bits > 0x7f800000u ? 0x7fu : out;
  to.bits = static_cast<uint8_t>(out | sign);
}
template <class T>
inline void narrow(T value, T& to) {
  to = value;
}

}  // namespace aw::formats
