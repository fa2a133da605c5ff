#include "devices/texture_batch.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

// Compiled for several processors, because the loops below are worth it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define AW_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define AW_CLONES
#endif

namespace aw {
namespace {

constexpr uint32_t kBatch = 32;
constexpr double kFar = 1 << 30;  // beyond it lanes are done one by one

// Per lane and axis: two neighbours, and the second one's weight in 1/256ths.
struct Places {
  int32_t first[3][kBatch], second[3][kBatch];
  double weight[3][kBatch];
  uint64_t slice[kBatch];
  uint8_t alone[kBatch];  // far away or over the border
};

struct Line {
  double size;   // of the axis in texels
  double scale;  // from coordinates to texels
  AddressMode mode;
  bool two;
};

inline int32_t floor_of(double x) {
  auto i = static_cast<int32_t>(x);
  return i - (x < i);
}

// The same steps as `locate` in texture_sampling.cpp, without branches.
template <AddressMode mode>
inline void locate_lane(const Line& l, double x, unsigned lane, int32_t* first, int32_t* second,
                        double* weight, uint8_t* alone) {
  auto size = static_cast<int32_t>(l.size);
  double u = (x == x ? x : 0) * l.scale;
  bool far = u > kFar || u < -kFar;
  if (mode == AddressMode::wrap || mode == AddressMode::mirror) {
    u = far ? 0 : u;
    double period = mode == AddressMode::mirror ? 2 * l.size : l.size;
    u -= period * floor_of(u / period);
    u = u < 0 ? u + period : u;  // may round up to the period; floor_of of that is wrapped below
    if (mode == AddressMode::mirror) u = u >= l.size ? period - u : u;
    alone[lane] |= far;
  } else {
    u = u > kFar ? kFar : u < -kFar ? -kFar : u;
  }
  double at = l.two ? u - 0.5 : u;
  int32_t i = floor_of(at);
  int32_t part = floor_of((at - i) * 256 + 0.5);
  int32_t up = l.two && part == 256;
  i += up;
  weight[lane] = l.two && !up ? part : 0;
  int32_t j = i + 1;
  if (mode == AddressMode::wrap) {
    i = i < 0 ? i + size : i >= size ? i - size : i;
    j = j < 0 ? j + size : j >= size ? j - size : j;
  }
  int32_t a = i < 0 ? 0 : i >= size ? size - 1 : i, b = j < 0 ? 0 : j >= size ? size - 1 : j;
  if (mode == AddressMode::border) alone[lane] |= (a != i) | (l.two & (b != j));
  first[lane] = a, second[lane] = b;
}

template <AddressMode mode>
inline void locate_line(const Line& l, const uint32_t* words, uint32_t count, int32_t* first,
                        int32_t* second, double* weight, uint8_t* alone) {
  for (unsigned lane = 0; lane < count; ++lane) {
    float x;
    memcpy(&x, words + lane, sizeof x);
    locate_lane<mode>(l, x, lane, first, second, weight, alone);
  }
}

AW_CLONES void locate_axis(const Line& l, const uint32_t* words, uint32_t count, int32_t* first,
                           int32_t* second, double* weight, uint8_t* alone) {
  switch (l.mode) {
    case AddressMode::wrap:
      return locate_line<AddressMode::wrap>(l, words, count, first, second, weight, alone);
    case AddressMode::mirror:
      return locate_line<AddressMode::mirror>(l, words, count, first, second, weight, alone);
    case AddressMode::clamp:
      return locate_line<AddressMode::clamp>(l, words, count, first, second, weight, alone);
    case AddressMode::border:
      return locate_line<AddressMode::border>(l, words, count, first, second, weight, alone);
  }
}

// --- blending -----------------------------------------------------------------------------------

struct Half {
  uint16_t bits;
};

template <class T>
inline double number(const uint8_t* texel, unsigned c) {
  T value;
  memcpy(&value, texel + c * sizeof(T), sizeof value);
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    value = std::max<T>(value, -std::numeric_limits<T>::max());
  if constexpr (std::is_same_v<T, Half>)
    return half_to_float(value.bits);
  else
    return static_cast<double>(value);
}

// `T` as above; the sum of `corners` texels times weights whose sum is 1 / scale, but for
// `divisor`.
template <class T, unsigned corners>
inline void blend_lane(const uint8_t* const* texel, const double* weight, unsigned channels,
                       double scale, uint32_t* out, uint64_t stride) {
  for (unsigned c = 0; c < 4; ++c) {
    double sum = 0;
    for (unsigned k = 0; c < channels && k < corners; ++k) {
      double value = number<T>(texel[k], c);
      sum += weight[k] == 0 ? 0 : weight[k] * value;  // infinities without weight do not count
    }
    auto value = static_cast<float>(sum / scale);
    memcpy(out + c * stride, &value, sizeof value);
  }
}

template <class T, unsigned axes>
inline void blend_all(const TextureView& v, const Places& p, uint32_t count, double divisor,
                      uint32_t* out, uint64_t stride) {
  const TextureLevel& l = v.level[0];
  constexpr unsigned kCorners = 1u << axes;
  const uint64_t size = texel_bytes(v);
  const double scale = divisor * (axes == 1 ? 256.0 : axes == 2 ? 65536.0 : 16777216.0);
  for (unsigned lane = 0; lane < count; ++lane) {
    const uint8_t* texel[kCorners];
    double weight[kCorners];
    for (unsigned k = 0; k < kCorners; ++k) {
      const uint8_t* at = l.base + p.slice[lane] * l.slice;
      double w = 1;
      for (unsigned a = 0; a < axes; ++a) {
        bool second = k >> a & 1;
        auto index = static_cast<uint64_t>(second ? p.second[a][lane] : p.first[a][lane]);
        at += index * (a == 0 ? size : a == 1 ? l.pitch : l.slice);
        w *= second ? p.weight[a][lane] : 256 - p.weight[a][lane];
      }
      texel[k] = at, weight[k] = w;
    }
    blend_lane<T, kCorners>(texel, weight, v.channels, scale, out + lane, stride);
  }
}

template <class T>
AW_CLONES void blend(const TextureView& v, unsigned axes, const Places& p, uint32_t count,
                     double divisor, uint32_t* out, uint64_t stride) {
  if (axes == 1) return blend_all<T, 1>(v, p, count, divisor, out, stride);
  if (axes == 2) return blend_all<T, 2>(v, p, count, divisor, out, stride);
  blend_all<T, 3>(v, p, count, divisor, out, stride);
}

bool blend_channels(const TextureView& v, unsigned axes, const Places& p, uint32_t count,
                    uint32_t* out, uint64_t stride) {
  switch (v.channel) {
    case Channel::f32:
      blend<float>(v, axes, p, count, 1, out, stride);
      return true;
    case Channel::u8:
      blend<uint8_t>(v, axes, p, count, 255, out, stride);
      return true;
    case Channel::s8:
      blend<int8_t>(v, axes, p, count, 127, out, stride);
      return true;
    case Channel::u16:
      blend<uint16_t>(v, axes, p, count, 65535, out, stride);
      return true;
    case Channel::s16:
      blend<int16_t>(v, axes, p, count, 32767, out, stride);
      return true;
    case Channel::f16:
      blend<Half>(v, axes, p, count, 1, out, stride);
      return true;
    default:
      return false;
  }
}

void read_all(const TextureView& v, unsigned axes, const Places& p, uint32_t count, uint32_t* out,
              uint64_t stride) {
  const TextureLevel& l = v.level[0];
  const uint64_t size = texel_bytes(v);
  for (unsigned lane = 0; lane < count; ++lane) {
    const uint8_t* at =
        l.base + p.slice[lane] * l.slice + static_cast<uint64_t>(p.first[0][lane]) * size;
    if (axes > 1) at += static_cast<uint64_t>(p.first[1][lane]) * l.pitch;
    if (axes > 2) at += static_cast<uint64_t>(p.first[2][lane]) * l.slice;
    uint32_t texel[4] = {};
    if (v.channel == Channel::f32 || v.channel == Channel::u32 || v.channel == Channel::s32)
      memcpy(texel, at, size);
    else
      read_texel(v, at, texel);
    for (unsigned c = 0; c < 4; ++c) out[lane + c * stride] = texel[c];
  }
}

// Integer coordinates name a texel; outside there are zeros.
void read_texels(const TextureView& v, const TextureForm& f, uint32_t lanes, const uint8_t* mask,
                 const uint32_t* words, uint32_t* results) {
  const TextureLevel& l = v.level[0];
  bool layered = f.geometry == TextureForm::a1d || f.geometry == TextureForm::a2d;
  bool rows = f.geometry == TextureForm::g2d || f.geometry == TextureForm::a2d;
  const uint64_t size = texel_bytes(v);
  bool plain = size == 4 && v.channels == 1;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    if (!(mask[lane >> 3] >> (lane & 7) & 1)) continue;
    const uint32_t* word = words + lane;
    uint64_t slice = layered ? std::min(*word, std::max(v.layers, 1u) - 1) : 0;
    if (layered) word += lanes;
    uint32_t x = word[0], y = rows ? word[lanes] : 0, texel[4] = {};
    if (x < l.width && y < l.height) {  // negative ones are large
      const uint8_t* at = l.base + slice * l.slice + y * l.pitch + x * size;
      if (plain)
        memcpy(texel, at, 4);
      else
        read_texel(v, at, texel);
    }
    for (unsigned c = 0; c < 4; ++c) results[lane + uint64_t{c} * lanes] = texel[c];
  }
}

}  // namespace

namespace {

struct Shape {
  unsigned axes;
  bool layered, blends;
};

// Finds the texels of 32 lanes.
void locate_all(const TextureView& v, const Shape& shape, const uint32_t* word, uint64_t stride,
                Places& p) {
  memset(p.alone, 0, sizeof p.alone);
  for (unsigned lane = 0; lane < kBatch; ++lane)
    p.slice[lane] = shape.layered ? std::min(word[lane], std::max(v.layers, 1u) - 1) : 0;
  if (shape.layered) word += stride;
  const TextureLevel& l = v.level[0];
  const double extents[] = {double(l.width), double(l.height), double(l.depth)};
  for (unsigned a = 0; a < shape.axes; ++a, word += stride) {
    AddressMode mode = v.address[a];
    bool around = mode == AddressMode::wrap || mode == AddressMode::mirror;
    Line line{extents[a], v.normalized ? extents[a] : 1.0,
              around && !v.normalized ? AddressMode::clamp : mode, shape.blends};
    locate_axis(line, word, kBatch, p.first[a], p.second[a], p.weight[a], p.alone);
  }
}

// The lanes that the others' way does not serve.
void sample_alone(const TextureView& v, const TextureForm& f, uint32_t lanes, const uint8_t* mask,
                  uint32_t start, const Places& p, const uint32_t* words, uint32_t* results) {
  for (uint32_t one = start; one < start + kBatch; ++one) {
    if (!p.alone[one - start] || !(mask[one >> 3] >> (one & 7) & 1)) continue;
    uint32_t texel[4];
    sample(v, f, words + one, lanes, texel);
    for (unsigned c = 0; c < 4; ++c) results[one + uint64_t{c} * lanes] = texel[c];
  }
}

}  // namespace

bool sample_batch(const TextureView& v, const TextureForm& f, uint32_t lanes, const uint8_t* mask,
                  const uint32_t* words, uint32_t* results) {
  unsigned g = f.geometry;
  if (g > TextureForm::a2d || f.mode || f.offsets || lanes % kBatch || v.surface) return false;
  if (f.integers && g == TextureForm::g3d) return false;
  if (f.integers) return read_texels(v, f, lanes, mask, words, results), true;
  bool line = g == TextureForm::g1d || g == TextureForm::a1d;
  Shape shape{line                    ? 1u
              : g == TextureForm::g3d ? 3u
                                      : 2u,
              g == TextureForm::a1d || g == TextureForm::a2d, !v.pointwise && reads_floats(v)};
  if (shape.blends && v.srgb) return false;
  for (uint32_t start = 0; start < lanes; start += kBatch) {
    Places p;
    locate_all(v, shape, words + start, lanes, p);
    bool done = shape.blends && blend_channels(v, shape.axes, p, kBatch, results + start, lanes);
    if (!done) read_all(v, shape.axes, p, kBatch, results + start, lanes);
    sample_alone(v, f, lanes, mask, start, p, words, results);
  }
  return true;
}

}  // namespace aw
