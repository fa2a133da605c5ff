// Exponentials of floats that loops over them can be vectors of: range reduction and polynomials of
// Cephes (Moshier, 1989), within two units of the last place. Doubles are left to the C library.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace aw::dnn {

inline double quick_exp(double x) { return std::exp(x); }
inline float quick_exp(float x) {
  constexpr float kRound = 12582912.0f;  // what is added to it has no fraction left
  const float within = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
  const float n = (within * 1.44269504088896341f + kRound) - kRound;
  const float r = (within - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  const float y = p * (r * r) + r + 1.0f;
  // 2^n in two factors, for results below the normal ones and above all.
  const auto whole = static_cast<int32_t>(x == x ? n : 0.0f);
  const int32_t half = whole >> 1;
  const float first = std::bit_cast<float>(static_cast<uint32_t>(half + 127) << 23),
              second = std::bit_cast<float>(static_cast<uint32_t>(whole - half + 127) << 23);
  return y * first * second;
}

inline double quick_tanh(double x) { return std::tanh(x); }
inline float quick_tanh(float x) {
  const float size = std::fabs(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float near = p * z * x + x;
  const float far = 1.0f - 2.0f / (quick_exp(2.0f * size) + 1.0f);
  return size < 0.625f ? near : std::copysign(far, x);
}

}  // namespace aw::dnn
