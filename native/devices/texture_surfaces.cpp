// Surface accesses (PTX manual: suld, sust, sured). A surface's x counts bytes in the `.b` forms
// and texels in the `.p` forms.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "devices/texture_unit.h"

namespace aw {
namespace {

struct Spot {
  uint8_t* address = nullptr;  // null with `error` null: nothing is accessed
  const char* error = nullptr;
};

int64_t nearest(int64_t value, int64_t most) { return std::clamp<int64_t>(value, 0, most); }

// Where an access of `bytes` lies. `.clamp` moves each coordinate to the nearest place where the
// whole access fits; `.zero` leaves out accesses of which any byte is outside.
Spot spot_of(const TextureView& v, const TextureForm& f, const uint32_t*& word, uint64_t stride,
             uint64_t bytes, bool texels) {
  auto next = [&] {
    uint32_t value = *word;
    word += stride;
    return value;
  };
  const TextureLevel& l = v.level[0];
  unsigned g = f.geometry;
  bool array = g == TextureForm::a1d || g == TextureForm::a2d;
  int64_t row = int64_t{l.width} * texel_bytes(v), at[3] = {};
  int64_t most[3] = {row - static_cast<int64_t>(bytes), l.height - 1, l.depth - 1};
  if (array) at[2] = next(), most[2] = std::max(v.layers, 1u) - 1;
  unsigned axes = g == TextureForm::g3d                            ? 3
                  : g == TextureForm::g2d || g == TextureForm::a2d ? 2
                                                                   : 1;
  for (unsigned i = 0; i < axes; ++i) at[i] = static_cast<int32_t>(next());
  if (texels) at[0] *= texel_bytes(v);
  if (at[0] % static_cast<int64_t>(bytes) != 0) return {nullptr, "misaligned surface access"};
  bool outside = most[0] < 0;
  for (unsigned i = 0; i < 3; ++i) outside |= at[i] < 0 || at[i] > most[i];
  if (outside && f.mode == 0) return {nullptr, "access outside a surface"};
  if (outside && (f.mode == 2 || most[0] < 0)) return {};
  if (at[0] > most[0]) at[0] = most[0] / static_cast<int64_t>(bytes) * static_cast<int64_t>(bytes);
  for (unsigned i = 0; i < 3; ++i) at[i] = nearest(at[i], most[i]);
  return {l.base + at[2] * static_cast<int64_t>(l.slice) + at[1] * static_cast<int64_t>(l.pitch) +
          at[0]};
}

void load(const TextureForm& f, const uint8_t* from, uint32_t* out, uint64_t stride) {
  unsigned words = f.element_bytes == 8 ? 2 : 1, size = f.element_bytes / words;
  for (unsigned i = 0; i < f.count * words; ++i) {
    uint32_t value = 0;
    if (from) memcpy(&value, from + i * size, size);
    out[i * stride] = value;
  }
}

void store(const TextureForm& f, uint8_t* to, const uint32_t* word, uint64_t stride) {
  unsigned words = f.element_bytes == 8 ? 2 : 1, size = f.element_bytes / words;
  for (unsigned i = 0; i < f.count * words; ++i) memcpy(to + i * size, word + i * stride, size);
}

// --- formatted stores ---------------------------------------------------------------------------

// A float to half, cut off toward zero; what is too large becomes the largest.
uint16_t float_to_half(uint32_t bits) {
  auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  uint32_t size = bits & 0x7fffffff;
  if (size > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00 | (size >> 13 & 0x1ff));
  if (size == 0x7f800000) return sign | 0x7c00;
  if (size >= 0x47800000) return sign | 0x7bff;
  if (size >= 0x38800000) return static_cast<uint16_t>(sign | ((size - 0x38000000) >> 13));
  unsigned exponent = size >> 23;
  if (exponent < 103) return sign;
  return static_cast<uint16_t>(sign | ((size & 0x7fffff) | 0x800000) >> (126 - exponent));
}

float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// A fraction of the channel's largest value, rounded to nearest.
int64_t fraction(uint32_t bits, int64_t least, int64_t most) {
  float value = as_float(bits);
  if (std::isnan(value)) return 0;
  double scaled = std::clamp<double>(value, least < 0 ? -1 : 0, 1) * static_cast<double>(most);
  return static_cast<int64_t>(std::nearbyint(scaled));
}

uint32_t convert(const TextureView& v, uint32_t bits) {
  int64_t width = 8 * channel_bytes(v.channel);
  bool is_signed =
      v.channel == Channel::s8 || v.channel == Channel::s16 || v.channel == Channel::s32;
  if (v.channel == Channel::f16) return float_to_half(bits);
  if (v.channel == Channel::f32 || width == 32) return bits;
  int64_t most = (int64_t{1} << (width - (is_signed ? 1 : 0))) - 1,
          least = is_signed ? -most - 1 : 0;
  if (v.fractions) return static_cast<uint32_t>(fraction(bits, least, most));
  int64_t value = is_signed ? int64_t{static_cast<int32_t>(bits)} : int64_t{bits};
  return static_cast<uint32_t>(std::clamp(value, least, most));
}

// Channels without a source element are written 0 (the manual: with any value).
void store_formatted(const TextureView& v, const TextureForm& f, uint8_t* to, const uint32_t* word,
                     uint64_t stride) {
  unsigned size = channel_bytes(v.channel);
  for (unsigned c = 0; c < v.channels; ++c) {
    uint32_t value = c < f.count ? convert(v, word[c * stride]) : 0;
    memcpy(to + c * size, &value, size);
  }
}

// --- reductions ---------------------------------------------------------------------------------

enum Operation : unsigned { kAdd, kMin, kMax, kAnd, kOr };

template <class T>
T combine(unsigned operation, T a, T b) {
  switch (operation) {
    case kAdd:
      return static_cast<T>(a + b);
    case kMin:
      return std::min(a, b);
    case kMax:
      return std::max(a, b);
    case kAnd:
      return a & b;
    default:
      return a | b;
  }
}

template <class Unsigned, class T>
void reduce(unsigned operation, uint8_t* at, uint64_t bits) {
  auto* memory = reinterpret_cast<Unsigned*>(at);
  Unsigned old = __atomic_load_n(memory, __ATOMIC_RELAXED), made;
  auto operand = static_cast<Unsigned>(bits);
  do {
    if (operation == kAdd || operation == kAnd || operation == kOr)
      made = combine<Unsigned>(operation, old, operand);
    else
      made = static_cast<Unsigned>(
          combine<T>(operation, static_cast<T>(old), static_cast<T>(operand)));
  } while (
      !__atomic_compare_exchange_n(memory, &old, made, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

// The formatted forms take signedness from the surface's format.
void reduce_as(const TextureView& v, const TextureForm& f, uint8_t* at, uint64_t bits) {
  bool wide = f.element_bytes == 8, formatted = f.kind == TextureForm::formatted_reduce;
  bool is_signed =
      formatted ? v.channel == Channel::s8 || v.channel == Channel::s16 || v.channel == Channel::s32
                : f.type == 1 || f.type == 3;
  if (wide && is_signed) return reduce<uint64_t, int64_t>(f.detail, at, bits);
  if (wide) return reduce<uint64_t, uint64_t>(f.detail, at, bits);
  if (is_signed) return reduce<uint32_t, int32_t>(f.detail, at, bits);
  reduce<uint32_t, uint32_t>(f.detail, at, bits);
}

}  // namespace

const char* access_surface(const TextureView& v, const TextureForm& f, const uint32_t* word,
                           uint64_t stride, uint32_t* out, uint64_t out_stride) {
  bool formatted = f.kind == TextureForm::formatted_store;
  bool texels = formatted || f.kind == TextureForm::formatted_reduce;
  uint64_t bytes = formatted ? texel_bytes(v) : uint64_t{f.element_bytes} * f.count;
  Spot spot = spot_of(v, f, word, stride, bytes, texels);
  if (spot.error) return spot.error;
  if (f.kind == TextureForm::surface_load) {
    load(f, spot.address, out, out_stride);
  } else if (!spot.address) {
    return nullptr;
  } else if (f.kind == TextureForm::surface_store) {
    store(f, spot.address, word, stride);
  } else if (formatted) {
    store_formatted(v, f, spot.address, word, stride);
  } else {
    uint64_t bits = word[0] | (f.element_bytes == 8 ? uint64_t{word[stride]} << 32 : 0);
    reduce_as(v, f, spot.address, bits);
  }
  return nullptr;
}

}  // namespace aw
