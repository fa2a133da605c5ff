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

// Numbers of the device attributes that bound an array's extents; 0: no bound of its own.
struct Bounds {
  int width, height, depth;
};

// The tables of cuArray3DCreate and cuMipmappedArrayCreate, one row per type of array.
struct Type {
  Bounds texture, surface, mipmapped;
};
constexpr Type k1D = {{21, 0, 0}, {55, 0, 0}, {77, 0, 0}};
constexpr Type k2D = {{22, 23, 0}, {56, 57, 0}, {73, 74, 0}};
constexpr Type k3D = {{24, 25, 26}, {58, 59, 60}, {24, 25, 26}};
constexpr Type k1DLayered = {{42, 0, 43}, {61, 0, 62}, {42, 0, 43}};
constexpr Type k2DLayered = {{27, 28, 29}, {63, 64, 65}, {27, 28, 29}};
constexpr Type kCube = {{52, 52, 0}, {66, 66, 0}, {52, 52, 0}};
constexpr Type kCubeLayered = {{53, 53, 54}, {67, 67, 68}, {53, 53, 54}};
constexpr Bounds k3DAlternate = {47, 48, 49}, kGather = {45, 46, 0};

bool within(size_t extent, int attribute) {
  int most = 0;
  return attribute == 0 || (device_attribute(attribute, &most) && extent <= size_t(most));
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
  constexpr int kFirst = 0xc0, kLast = 0xcb;
  if (format >= kFirst && format <= kLast) {
    unsigned index = format - kFirst;
    require(channels == 1u << index % 3);
    return channels * (1 + index / 3 % 2);
  }
  bool known = format == 0x50 || (format >= 0x91 && format <= 0xb5 && format != 0xa0);
  require(known);
  throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                "CUDA arrays in packed, planar and block-compressed formats are not supported yet");
}

void check_shape(const CUDA_ARRAY3D_DESCRIPTOR& s, bool mipmapped) {
  require((s.Flags & ~CUDA_ARRAY3D_FLAGS_MASK) == 0);
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
