// What shapes arrays may have, and how they lie in memory.
#include "cuda/arrays.h"

#include <algorithm>

#include "cuda/device_attributes.h"
#include "cuda/memory.h"
#include "cuda/visible.h"

namespace aw {
namespace {

constexpr unsigned kFlagsHere = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                                CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;

constexpr unsigned kFlags = kFlagsHere | CUDA_ARRAY3D_DEPTH_TEXTURE |
                            CUDA_ARRAY3D_COLOR_ATTACHMENT | CUDA_ARRAY3D_SPARSE |
                            CUDA_ARRAY3D_DEFERRED_MAPPING | CUDA_ARRAY3D_VIDEO_ENCODE_DECODE;

// The device attributes that bound an array's extents; kNone: no bound of its own.
struct Bounds {
  CUdevice_attribute width, height, depth;
};
constexpr CUdevice_attribute kNone{};

// The tables of cuArray3DCreate and cuMipmappedArrayCreate, one row per type of array.
struct Type {
  Bounds texture, surface, mipmapped;
};
#define AW_MOST(name) CU_DEVICE_ATTRIBUTE_MAXIMUM_##name
constexpr Type k1D = {{AW_MOST(TEXTURE1D_WIDTH), kNone, kNone},
                      {AW_MOST(SURFACE1D_WIDTH), kNone, kNone},
                      {AW_MOST(TEXTURE1D_MIPMAPPED_WIDTH), kNone, kNone}};
constexpr Type k2D = {
    {AW_MOST(TEXTURE2D_WIDTH), AW_MOST(TEXTURE2D_HEIGHT), kNone},
    {AW_MOST(SURFACE2D_WIDTH), AW_MOST(SURFACE2D_HEIGHT), kNone},
    {AW_MOST(TEXTURE2D_MIPMAPPED_WIDTH), AW_MOST(TEXTURE2D_MIPMAPPED_HEIGHT), kNone}};
constexpr Type k3D = {
    {AW_MOST(TEXTURE3D_WIDTH), AW_MOST(TEXTURE3D_HEIGHT), AW_MOST(TEXTURE3D_DEPTH)},
    {AW_MOST(SURFACE3D_WIDTH), AW_MOST(SURFACE3D_HEIGHT), AW_MOST(SURFACE3D_DEPTH)},
    {AW_MOST(TEXTURE3D_WIDTH), AW_MOST(TEXTURE3D_HEIGHT), AW_MOST(TEXTURE3D_DEPTH)}};
constexpr Type k1DLayered = {
    {AW_MOST(TEXTURE1D_LAYERED_WIDTH), kNone, AW_MOST(TEXTURE1D_LAYERED_LAYERS)},
    {AW_MOST(SURFACE1D_LAYERED_WIDTH), kNone, AW_MOST(SURFACE1D_LAYERED_LAYERS)},
    {AW_MOST(TEXTURE1D_LAYERED_WIDTH), kNone, AW_MOST(TEXTURE1D_LAYERED_LAYERS)}};
constexpr Type k2DLayered = {{AW_MOST(TEXTURE2D_LAYERED_WIDTH), AW_MOST(TEXTURE2D_LAYERED_HEIGHT),
                              AW_MOST(TEXTURE2D_LAYERED_LAYERS)},
                             {AW_MOST(SURFACE2D_LAYERED_WIDTH), AW_MOST(SURFACE2D_LAYERED_HEIGHT),
                              AW_MOST(SURFACE2D_LAYERED_LAYERS)},
                             {AW_MOST(TEXTURE2D_LAYERED_WIDTH), AW_MOST(TEXTURE2D_LAYERED_HEIGHT),
                              AW_MOST(TEXTURE2D_LAYERED_LAYERS)}};
constexpr Type kCube = {{AW_MOST(TEXTURECUBEMAP_WIDTH), AW_MOST(TEXTURECUBEMAP_WIDTH), kNone},
                        {AW_MOST(SURFACECUBEMAP_WIDTH), AW_MOST(SURFACECUBEMAP_WIDTH), kNone},
                        {AW_MOST(TEXTURECUBEMAP_WIDTH), AW_MOST(TEXTURECUBEMAP_WIDTH), kNone}};
constexpr Type kCubeLayered = {
    {AW_MOST(TEXTURECUBEMAP_LAYERED_WIDTH), AW_MOST(TEXTURECUBEMAP_LAYERED_WIDTH),
     AW_MOST(TEXTURECUBEMAP_LAYERED_LAYERS)},
    {AW_MOST(SURFACECUBEMAP_LAYERED_WIDTH), AW_MOST(SURFACECUBEMAP_LAYERED_WIDTH),
     AW_MOST(SURFACECUBEMAP_LAYERED_LAYERS)},
    {AW_MOST(TEXTURECUBEMAP_LAYERED_WIDTH), AW_MOST(TEXTURECUBEMAP_LAYERED_WIDTH),
     AW_MOST(TEXTURECUBEMAP_LAYERED_LAYERS)}};
constexpr Bounds k3DAlternate = {AW_MOST(TEXTURE3D_WIDTH_ALTERNATE),
                                 AW_MOST(TEXTURE3D_HEIGHT_ALTERNATE),
                                 AW_MOST(TEXTURE3D_DEPTH_ALTERNATE)},
                 kGather = {AW_MOST(TEXTURE2D_GATHER_WIDTH), AW_MOST(TEXTURE2D_GATHER_HEIGHT),
                            kNone};
#undef AW_MOST

bool within(size_t extent, CUdevice_attribute attribute) {
  int most = 0;
  return attribute == kNone || (device_attribute(attribute, &most) && extent <= size_t(most));
}

bool fits(const CUDA_ARRAY3D_DESCRIPTOR& s, const Bounds& b) {
  return within(s.Width, b.width) && within(s.Height, b.height) && within(s.Depth, b.depth);
}

// Throws INVALID_VALUE for combinations of extents and flags that name no type.
const Type& type_of(const CUDA_ARRAY3D_DESCRIPTOR& s) {
  bool layered = s.Flags & CUDA_ARRAY3D_LAYERED;
  require(s.Width > 0);
  if (s.Flags & CUDA_ARRAY3D_CUBEMAP) {
    require(s.Width == s.Height && s.Depth > 0);
    require(layered ? s.Depth % 6 == 0 : s.Depth == 6);
    return layered ? kCubeLayered : kCube;
  }
  if (layered) {
    require(s.Depth > 0);
    return s.Height ? k2DLayered : k1DLayered;
  }
  if (s.Depth) {
    require(s.Height > 0);
    return k3D;
  }
  return s.Height ? k2D : k1D;
}

uint64_t rows_of(const CUDA_ARRAY3D_DESCRIPTOR& s) { return std::max<uint64_t>(s.Height, 1); }
uint64_t layers_of(const CUDA_ARRAY3D_DESCRIPTOR& s) { return std::max<uint64_t>(s.Depth, 1); }

uint64_t channel_bytes(int format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      return 0;
  }
}

}  // namespace

ArrayMemory::ArrayMemory(uint64_t size)
    : device(current_device()),
      base(reinterpret_cast<uint64_t>(allocate_bytes(size, device))),
      bytes(size) {}
ArrayMemory::~ArrayMemory() { release_bytes(reinterpret_cast<void*>(base), bytes, device); }

Handles<Array>& arrays() {
  static auto& instance = *new Handles<Array>;
  return instance;
}

std::shared_ptr<Array> array_of(CUarray handle) {
  auto array = arrays().find(handle);
  require(array != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return array;
}

uint64_t element_bytes(CUarray_format format, unsigned channels) {
  require(channels == 1 || channels == 2 || channels == 4);
  if (uint64_t bytes = channel_bytes(format)) return bytes * channels;
  // Normalised integers: unsigned and signed, 8 and 16 bits, and each says its channels itself.
  if (format >= CU_AD_FORMAT_UNORM_INT8X1 && format <= CU_AD_FORMAT_SNORM_INT16X4) {
    unsigned index = format - CU_AD_FORMAT_UNORM_INT8X1;
    require(channels == 1u << index % 3);
    return channels * (1 + index / 3 % 2);
  }
  bool known = format == 0x50 || (format >= 0x91 && format <= 0xb5 && format != 0xa0);
  require(known);
  throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                "CUDA arrays in packed, planar and block-compressed formats are not supported yet");
}

void check_shape(const CUDA_ARRAY3D_DESCRIPTOR& s, bool mipmapped) {
  require((s.Flags & ~kFlags) == 0);
  if (s.Flags & ~kFlagsHere) {
    throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                  "CUDA arrays that are sparse, mapped later or shared with graphics are not "
                  "supported");
  }
  element_bytes(s.Format, s.NumChannels);
  const Type& type = type_of(s);
  require(fits(s, mipmapped ? type.mipmapped : type.texture) ||
          (&type == &k3D && fits(s, k3DAlternate)));
  if (s.Flags & CUDA_ARRAY3D_SURFACE_LDST) require(fits(s, type.surface));
  if (s.Flags & CUDA_ARRAY3D_TEXTURE_GATHER) require(&type == &k2D && fits(s, kGather));
}

uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR& s) {
  // Cannot overflow: the largest extents that check_shape lets through make less than 2^50.
  return element_bytes(s.Format, s.NumChannels) * s.Width * rows_of(s) * layers_of(s);
}

std::shared_ptr<Array> array_over(const CUDA_ARRAY3D_DESCRIPTOR& shape,
                                  std::shared_ptr<ArrayMemory> memory, uint64_t offset) {
  auto array = std::make_shared<Array>();
  array->context = current_context();
  array->shape = shape;
  array->element = element_bytes(shape.Format, shape.NumChannels);
  array->rows = rows_of(shape), array->layers = layers_of(shape);
  array->pitch = array->element * shape.Width;
  array->layer = array->pitch * array->rows;
  array->base = memory->base + offset;
  array->memory = std::move(memory);
  return array;
}

}  // namespace aw
