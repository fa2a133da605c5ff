// What a texture or a surface may be made of, after cuTexObjectCreate and cuSurfObjectCreate.
#include <optional>

#include "cuda/arrays.h"
#include "cuda/device_attributes.h"
#include "cuda/memory.h"
#include "cuda/mipmaps.h"
#include "cuda/textures.h"

namespace aw {
namespace {

constexpr unsigned kTextureFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                   CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                                   CU_TRSF_SEAMLESS_CUBEMAP;

uint64_t texture_limit(CUdevice_attribute number) {
  int value = 0;
  device_attribute(number, &value);
  return static_cast<uint64_t>(value);
}

// What views and flags are checked against; the number of levels is 0 for what has no mipmaps.
struct Picture {
  CUDA_ARRAY3D_DESCRIPTOR shape;
  unsigned levels;
};

std::shared_ptr<Array> array_in(const CUDA_RESOURCE_DESC& resource) {
  auto array = arrays().find(resource.res.array.hArray);
  require(array != nullptr);
  return array;
}

void check_memory(uint64_t address, uint64_t bytes) {
  require(address % texture_limit(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) == 0);
  Allocation a = allocation_at(address);
  require(a.base && !a.freeing && bytes <= a.base + a.bytes - address);
}

void check_linear(const CUDA_RESOURCE_DESC& resource) {
  const auto& l = resource.res.linear;
  uint64_t element = element_bytes(l.format, l.numChannels);
  require(l.sizeInBytes >= element &&
          l.sizeInBytes / element <=
              texture_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
  check_memory(l.devPtr, l.sizeInBytes);
}

void check_pitched(const CUDA_RESOURCE_DESC& resource) {
  const auto& p = resource.res.pitch2D;
  uint64_t element = element_bytes(p.format, p.numChannels);
  require(p.width > 0 &&
          p.width <= texture_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH));
  require(p.height > 0 &&
          p.height <= texture_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT));
  require(p.pitchInBytes % texture_limit(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 0 &&
          p.pitchInBytes <= texture_limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH));
  require(p.pitchInBytes >= p.width * element);
  check_memory(p.devPtr, (p.height - 1) * p.pitchInBytes + p.width * element);
}

// Checks a resource; empty for memory that is no array.
std::optional<Picture> check_resource(const CUDA_RESOURCE_DESC& resource) {
  require(resource.flags == 0);
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return Picture{array_in(resource)->shape, 0};
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      auto mipmapped = mipmapped_arrays().find(resource.res.mipmap.hMipmappedArray);
      require(mipmapped != nullptr);
      return Picture{mipmapped->shape, static_cast<unsigned>(mipmapped->levels.size())};
    }
    case CU_RESOURCE_TYPE_LINEAR:
      check_linear(resource);
      return std::nullopt;
    case CU_RESOURCE_TYPE_PITCH2D:
      check_pitched(resource);
      return std::nullopt;
    default:
      throw Failure(CUDA_ERROR_INVALID_VALUE);
  }
}

// An address mode other than clamp without normalised coordinates is let through, though the manual
// says that only clamp is supported: descriptors full of zeros mean "wrap", and programs pass them.
void check_sampling(const CUDA_TEXTURE_DESC& s, bool linear) {
  require((s.flags & ~kTextureFlags) == 0);
  require(is_filter_mode(s.mipmapFilterMode));
  if (linear) return;  // the rest is ignored
  for (auto mode : s.addressMode) require(is_address_mode(mode));
  require(is_filter_mode(s.filterMode));
}

uint64_t view_bytes(CUresourceViewFormat format) {
  constexpr uint64_t kOfType[] = {1, 1, 2, 2, 4, 4, 2, 4};  // uint, sint of 8, 16, 32 bits; floats
  unsigned index = format - CU_RES_VIEW_FORMAT_UINT_1X8;
  return kOfType[index / 3] << index % 3;
}

// Returns how much larger the view's width and height are: 4 for blocks, which are elements of the
// array.
uint64_t check_view_format(CUresourceViewFormat format, const CUDA_ARRAY3D_DESCRIPTOR& shape) {
  require(format >= CU_RES_VIEW_FORMAT_NONE && format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7);
  if (format == CU_RES_VIEW_FORMAT_NONE) return 1;
  if (format < CU_RES_VIEW_FORMAT_UNSIGNED_BC1) {
    require(view_bytes(format) == element_bytes(shape.Format, shape.NumChannels));
    return 1;
  }
  bool small = format == CU_RES_VIEW_FORMAT_UNSIGNED_BC1 ||
               format == CU_RES_VIEW_FORMAT_UNSIGNED_BC4 || format == CU_RES_VIEW_FORMAT_SIGNED_BC4;
  require(shape.Format == CU_AD_FORMAT_UNSIGNED_INT32 && shape.NumChannels == (small ? 2u : 4u));
  return 4;
}

void check_range(unsigned first, unsigned last, uint64_t count) {
  if (count == 0) return require(first == 0 && last == 0);
  require(first <= last && last < count);
}

void check_view(const CUDA_RESOURCE_VIEW_DESC& view, const Picture& picture) {
  const auto& s = picture.shape;
  uint64_t scale = check_view_format(view.format, s);
  require(view.width == s.Width * scale && view.height == s.Height * scale);
  require(view.depth == s.Depth);
  check_range(view.firstMipmapLevel, view.lastMipmapLevel, picture.levels);
  check_range(view.firstLayer, view.lastLayer, s.Flags & CUDA_ARRAY3D_LAYERED ? s.Depth : 0);
  if (scale > 1) {
    throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                  "textures over block-compressed data (BC1 to BC7) are not supported yet");
  }
}

}  // namespace

void check_texture(const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& sampling,
                   const CUDA_RESOURCE_VIEW_DESC* view) {
  auto picture = check_resource(resource);
  check_sampling(sampling, resource.resType == CU_RESOURCE_TYPE_LINEAR);
  if (picture && picture->levels) require(sampling.flags & CU_TRSF_NORMALIZED_COORDINATES);
  if (sampling.flags & CU_TRSF_SEAMLESS_CUBEMAP)
    require(picture && (picture->shape.Flags & CUDA_ARRAY3D_CUBEMAP));
  if (!view) return;
  require(picture.has_value());
  check_view(*view, *picture);
}

void check_surface(const CUDA_RESOURCE_DESC& resource) {
  require(resource.flags == 0 && resource.resType == CU_RESOURCE_TYPE_ARRAY);
  require(array_in(resource)->shape.Flags & CUDA_ARRAY3D_SURFACE_LDST);
}

}  // namespace aw
