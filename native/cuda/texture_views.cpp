// From descriptions of textures and surfaces to what the texture unit reads.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cuda/arrays.h"
#include "cuda/mipmaps.h"
#include "cuda/textures.h"

namespace aw {
namespace {

struct Format {
  Channel channel;
  bool fractions;  // whatever the reader asks for
};

Format format_of(int format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      return {Channel::u8, false};
    case CU_AD_FORMAT_SIGNED_INT8:
      return {Channel::s8, false};
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return {Channel::u16, false};
    case CU_AD_FORMAT_SIGNED_INT16:
      return {Channel::s16, false};
    case CU_AD_FORMAT_UNSIGNED_INT32:
      return {Channel::u32, false};
    case CU_AD_FORMAT_SIGNED_INT32:
      return {Channel::s32, false};
    case CU_AD_FORMAT_HALF:
      return {Channel::f16, false};
    case CU_AD_FORMAT_FLOAT:
      return {Channel::f32, false};
    default:  // UNORM and SNORM of 8 and 16 bits, three channel counts each, from 0xc0
      break;
  }
  constexpr Channel kOf[] = {Channel::u8, Channel::u16, Channel::s8, Channel::s16};
  require(format >= 0xc0 && format <= 0xcb);
  return {kOf[(format - 0xc0) / 3], true};
}

void set_format(TextureView& v, int format, unsigned channels) {
  Format f = format_of(format);
  v.channel = f.channel, v.fractions = f.fractions, v.channels = static_cast<uint8_t>(channels);
}

TextureLevel level_of(const Array& a) {
  auto size = [](size_t extent) { return static_cast<uint32_t>(std::max<size_t>(extent, 1)); };
  bool layers = a.shape.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
  return {reinterpret_cast<uint8_t*>(a.base),
          a.pitch,
          a.layer,
          size(a.shape.Width),
          size(a.shape.Height),
          layers ? 1 : size(a.shape.Depth)};
}

void set_shape(TextureView& v, const CUDA_ARRAY3D_DESCRIPTOR& s) {
  set_format(v, s.Format, s.NumChannels);
  v.layered = s.Flags & CUDA_ARRAY3D_LAYERED, v.cube = s.Flags & CUDA_ARRAY3D_CUBEMAP;
  v.layers = v.layered || v.cube ? static_cast<uint32_t>(s.Depth) : 1;
  v.dimensions = s.Height == 0 ? 1 : s.Depth == 0 || v.layered || v.cube ? 2 : 3;
}

void set_memory(TextureView& v, uint64_t address, uint64_t width, uint64_t height, uint64_t pitch) {
  v.level[0] = {reinterpret_cast<uint8_t*>(address), pitch, 0, static_cast<uint32_t>(width),
                static_cast<uint32_t>(height),       1};
}

void set_resource(TextureView& v, const CUDA_RESOURCE_DESC& r) {
  v.levels = v.layers = 1;
  if (r.resType == CU_RESOURCE_TYPE_ARRAY) {
    auto array = arrays().find(r.res.array.hArray);
    require(array != nullptr);
    set_shape(v, array->shape);
    v.level[0] = level_of(*array);
  } else if (r.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
    auto mipmapped = mipmapped_arrays().find(r.res.mipmap.hMipmappedArray);
    require(mipmapped != nullptr && mipmapped->levels.size() <= kMostLevels);
    set_shape(v, mipmapped->shape);
    v.mipmapped = true, v.levels = static_cast<uint32_t>(mipmapped->levels.size());
    for (uint32_t i = 0; i < v.levels; ++i) v.level[i] = level_of(*mipmapped->levels[i]);
  } else if (r.resType == CU_RESOURCE_TYPE_LINEAR) {
    const auto& l = r.res.linear;
    set_format(v, l.format, l.numChannels);
    v.linear = true, v.dimensions = 1;
    set_memory(v, l.devPtr, l.sizeInBytes / texel_bytes(v), 1, l.sizeInBytes);
  } else {
    const auto& p = r.res.pitch2D;
    set_format(v, p.format, p.numChannels);
    v.dimensions = 2;
    set_memory(v, p.devPtr, p.width, p.height, p.pitchInBytes);
  }
}

// A view reads the same bytes in another format, and only some levels and layers of them.
void set_view(TextureView& v, const CUDA_RESOURCE_VIEW_DESC& view) {
  constexpr Channel kOf[] = {Channel::u8,  Channel::s8,  Channel::u16, Channel::s16,
                             Channel::u32, Channel::s32, Channel::f16, Channel::f32};
  if (view.format != CU_RES_VIEW_FORMAT_NONE) {
    unsigned index = view.format - CU_RES_VIEW_FORMAT_UINT_1X8;
    v.channel = kOf[index / 3], v.channels = static_cast<uint8_t>(1u << index % 3);
    v.fractions = false;
  }
  if (v.mipmapped) {
    v.levels = view.lastMipmapLevel - view.firstMipmapLevel + 1;
    std::copy_n(v.level + view.firstMipmapLevel, v.levels, v.level);
  }
  if (!v.layered) return;
  v.layers = view.lastLayer - view.firstLayer + 1;
  for (uint32_t i = 0; i < v.levels; ++i) v.level[i].base += view.firstLayer * v.level[i].slice;
}

// Floats are clamped to what the format can hold; integers are the colour's bits (CUDA Runtime API,
// cudaTextureDesc::borderColor), as many as a channel has.
uint32_t border_word(const TextureView& v, float colour) {
  uint32_t bits;
  if (reads_floats(v)) {
    bool is_signed = v.channel == Channel::s8 || v.channel == Channel::s16;
    if (v.fractions && v.channel < Channel::f16)
      colour = std::isnan(colour) ? 0 : std::clamp(colour, is_signed ? -1.0f : 0.0f, 1.0f);
    memcpy(&bits, &colour, sizeof bits);
    return bits;
  }
  memcpy(&bits, &colour, sizeof bits);
  unsigned unused = 32 - 8 * channel_bytes(v.channel);
  bool is_signed = v.channel == Channel::s8 || v.channel == Channel::s16;
  if (is_signed) return static_cast<uint32_t>(static_cast<int32_t>(bits << unused) >> unused);
  return bits << unused >> unused;
}

void set_sampling(TextureView& v, const CUDA_TEXTURE_DESC& s) {
  for (unsigned i = 0; i < 3; ++i)
    v.address[i] = v.linear ? AddressMode::border : static_cast<AddressMode>(s.addressMode[i]);
  v.normalized = (s.flags & CU_TRSF_NORMALIZED_COORDINATES) && !v.linear;
  if (!(s.flags & CU_TRSF_READ_AS_INTEGER) && v.channel <= Channel::s16) v.fractions = true;
  v.pointwise = v.linear || s.filterMode == 0 || !reads_floats(v);
  v.level_linear = s.mipmapFilterMode == 1;
  v.srgb = (s.flags & CU_TRSF_SRGB) && v.channel == Channel::u8 && v.fractions;
  v.seamless = (s.flags & CU_TRSF_SEAMLESS_CUBEMAP) && v.cube;
  v.bias = s.mipmapLevelBias, v.least = s.minMipmapLevelClamp, v.most = s.maxMipmapLevelClamp;
  for (unsigned i = 0; i < 4; ++i) v.border[i] = v.linear ? 0 : border_word(v, s.borderColor[i]);
}

}  // namespace

TextureView texture_view(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                         const CUDA_RESOURCE_VIEW_DESC* view) {
  TextureView v{};
  set_resource(v, resource);
  if (view) set_view(v, *view);
  set_sampling(v, sampling);
  return v;
}

TextureView surface_view(const CUDA_RESOURCE_DESC& resource) {
  TextureView v{};
  set_resource(v, resource);
  v.surface = true;
  return v;
}

TextureSlot::TextureSlot(const TextureView& view) : handle(add_texture_view(view)) {
  require(handle != 0, CUDA_ERROR_OUT_OF_MEMORY);
}
TextureSlot::~TextureSlot() { remove_texture_view(handle); }

}  // namespace aw
