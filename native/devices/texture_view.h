// What the texture unit knows of a texture or surface object: where its texels lie and how they are
// read. Filled by whoever creates the object; read by generated code's service (texture_unit.h).
#pragma once

#include <cstdint>

namespace aw {

// What a channel holds; the order of the first eight is of no meaning elsewhere.
enum class Channel : uint8_t { u8, s8, u16, s16, u32, s32, f16, f32 };

enum class AddressMode : uint8_t { wrap, clamp, mirror, border };  // numbers of CUaddress_mode

struct TextureLevel {
  uint8_t* base;
  uint64_t pitch, slice;          // bytes from row to row; from layer, face or z to the next
  uint32_t width, height, depth;  // 1 where there is no such extent
};

constexpr unsigned kMostLevels = 18;  // of a width of 131072

struct TextureView {
  bool surface;
  bool linear;         // plain memory by index: no address modes, outside it is zero
  bool layered, cube;  // a layered cubemap is both
  bool mipmapped;
  bool pointwise;     // nearest texel; else linear filtering
  bool level_linear;  // between levels
  bool normalized;    // coordinates run from 0 to 1
  bool fractions;     // integers are read as fractions of their largest value
  bool srgb, seamless;
  Channel channel;
  uint8_t channels;    // 1, 2 or 4
  uint8_t dimensions;  // 1, 2 or 3, for queries
  AddressMode address[3];
  uint32_t levels, layers;  // at least 1; faces count as layers
  float bias, least, most;  // of the level of detail
  uint32_t border[4];       // what is read outside: channel values as the texture returns them
  TextureLevel level[kMostLevels];
};

inline unsigned channel_bytes(Channel c) {
  constexpr unsigned kBytes[] = {1, 1, 2, 2, 4, 4, 2, 4};
  return kBytes[static_cast<unsigned>(c)];
}

inline unsigned texel_bytes(const TextureView& v) { return channel_bytes(v.channel) * v.channels; }

// Whether texels are numbers that can be blended; else they are integers.
inline bool reads_floats(const TextureView& v) {
  return v.channel >= Channel::f16 || (v.fractions && channel_bytes(v.channel) < 4);
}

}  // namespace aw
