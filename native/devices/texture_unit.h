// The texture unit of the processor: texture fetches, surface accesses and queries for many lanes
// in one call of generated code (aw_texture, core/host_services.h).
#pragma once

#include <bit>
#include <cstdint>

#include "devices/texture_view.h"

namespace aw {

// The parts of a form; mirrored in ptx/isa/texture_form.py.
struct TextureForm {
  enum Kind : unsigned {
    fetch,
    gather,
    surface_load,
    surface_store,
    formatted_store,
    surface_reduce,
    formatted_reduce,
    query,
    is_type
  };
  enum Geometry : unsigned { g1d, g2d, g3d, a1d, a2d, cube, acube, g2dms, a2dms };
  unsigned kind, geometry;
  unsigned mode;    // fetch: 0 base, 1 level, 2 gradients; surfaces: 0 trap, 1 clamp, 2 zero
  unsigned detail;  // gather: channel; reduce: operation; query: which; is_type: Reference
  bool integers, offsets, sampler;
  unsigned element_bytes, count;  // of a surface access
  unsigned type;                  // of a reduction: 0 u32, 1 s32, 2 u64, 3 s64, 4 b32, 5 b64

  explicit TextureForm(uint32_t f)
      : kind(f & 15),
        geometry(f >> 4 & 15),
        mode(f >> 8 & 3),
        detail(f >> 10 & 15),
        integers(f >> 14 & 1),
        offsets(f >> 15 & 1),
        sampler(f >> 17 & 1),
        element_bytes(1u << (f >> 18 & 7)),
        count(f >> 21 & 7),
        type(f >> 24 & 7) {}
};

// A sampler of independent mode in 8 bytes: bit 0 linear filtering, 1 unnormalised coordinates
// forced, 4.. three address modes of 4 bits (PTX numbers: wrap, mirror, clamp_ogl, clamp_to_edge,
// clamp_to_border), bit 63 set.
void apply_sampler(TextureView& view, uint64_t bits);

// One lane's fetch, after its object is known. `out` has 4 words.
void sample(const TextureView& view, const TextureForm& form, const uint32_t* words,
            uint64_t stride, uint32_t* out);
void gather(const TextureView& view, const TextureForm& form, const uint32_t* words,
            uint64_t stride, uint32_t* out);

// One lane's access to a surface; returns null, or what is wrong with it.
const char* access_surface(const TextureView& view, const TextureForm& form, const uint32_t* words,
                           uint64_t stride, uint32_t* out, uint64_t out_stride);

// The channels of a texel as 32-bit words, absent ones 0: floats as bits, integers extended.
void read_texel(const TextureView& view, const uint8_t* texel, uint32_t* out);

inline float half_to_float(uint16_t half) {
  uint32_t exponent = half >> 10 & 31, fraction = half & 1023;
  uint32_t sign = uint32_t{half} >> 15 << 31, bits = (exponent + 112) << 23 | fraction << 13;
  if (exponent == 31) bits = 0x7f800000 | fraction << 13;
  if (exponent == 0) bits = std::bit_cast<uint32_t>(static_cast<float>(fraction) * 0x1p-24f);
  return std::bit_cast<float>(bits | sign);
}

}  // namespace aw
