// Driver API reference: tensor map object management.
#include "cuda/tensor_map.h"

#include <cstring>

#include "cuda/api.h"

using namespace aw;

namespace {

// Bytes of a CUtensorMapDataType; 0 for types packed below a byte.
uint64_t type_bytes(int type) {
  constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0};
  require(type >= CU_TENSOR_MAP_DATA_TYPE_UINT8 && type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
  if (!kBytes[type])
    throw Failure(CUDA_ERROR_NOT_SUPPORTED, "tensor maps of 4 and 6-bit types are not supported");
  return kBytes[type];
}

bool is_floating(int type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

// What all maps say alike.
struct Tensor {
  int type;
  uint32_t rank;
  void* address;
  const uint64_t *dims, *strides;
  const uint32_t* element_strides;
  int interleave, swizzle, promotion, fill;
};

void check_modes(const Tensor& t) {
  require(t.interleave >= CU_TENSOR_MAP_INTERLEAVE_NONE &&
          t.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B);
  require(t.swizzle >= CU_TENSOR_MAP_SWIZZLE_NONE &&
          t.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
  require(t.promotion >= CU_TENSOR_MAP_L2_PROMOTION_NONE &&
          t.promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  require(t.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
          (t.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA && is_floating(t.type)));
  require(t.interleave != CU_TENSOR_MAP_INTERLEAVE_32B || t.swizzle == CU_TENSOR_MAP_SWIZZLE_32B);
}

TensorMap describe(const Tensor& t, TensorMapMode mode, uint32_t least_rank) {
  constexpr uint64_t kMostElements = 1ull << 32, kMostStride = 1ull << 40;
  type_bytes(t.type);
  require(t.rank >= least_rank && t.rank <= 5 && t.dims && t.element_strides);
  require(t.strides || t.rank == 1);
  check_modes(t);
  uint64_t align = t.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
  auto address = reinterpret_cast<uint64_t>(t.address);
  require(address && address % align == 0);
  TensorMap map = {};
  map.magic = kTensorMapMagic, map.mode = mode, map.rank = static_cast<uint8_t>(t.rank);
  map.type = static_cast<uint8_t>(t.type), map.interleave = static_cast<uint8_t>(t.interleave);
  map.swizzle = static_cast<uint8_t>(t.swizzle), map.fill = static_cast<uint8_t>(t.fill);
  map.promotion = static_cast<uint8_t>(t.promotion), map.address = address;
  for (uint32_t i = 0; i < t.rank; ++i) {
    require(t.dims[i] > 0 && t.dims[i] <= kMostElements);
    require(t.element_strides[i] > 0 && t.element_strides[i] <= 8);
    map.last[i] = static_cast<uint32_t>(t.dims[i] - 1);
    map.element_strides[i] = static_cast<uint8_t>(t.element_strides[i]);
    if (i + 1 == t.rank) break;
    require(t.strides[i] % align == 0 && t.strides[i] < kMostStride);
    map.strides[i] = t.strides[i];
  }
  return map;
}

// The innermost row of what is copied: a multiple of 16 bytes that a swizzled line holds.
void check_row(const Tensor& t, uint64_t elements) {
  uint64_t bytes = elements * type_bytes(t.type);
  if (t.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return;
  require(bytes % 16 == 0);
  if (t.swizzle == CU_TENSOR_MAP_SWIZZLE_32B) require(bytes <= 32);
  if (t.swizzle == CU_TENSOR_MAP_SWIZZLE_64B) require(bytes <= 64);
  if (t.swizzle >= CU_TENSOR_MAP_SWIZZLE_128B) require(bytes <= 128);
}

void write_map(const TensorMap& map, TensorMap* out) {
  require(out && reinterpret_cast<uintptr_t>(out) % 64 == 0);
  *out = map;
}

void set_columns(TensorMap& map, const Tensor& t, uint32_t channels, uint32_t pixels) {
  require(channels > 0 && channels <= 256 && pixels > 0 && pixels <= 1024);
  check_row(t, channels);
  map.channels = static_cast<uint16_t>(channels), map.pixels = static_cast<uint16_t>(pixels);
}

// Corners fit in 16 bits, 8 or 5, as there are one, two or three spatial dimensions.
void set_corner(int16_t& to, int corner, uint32_t spatial) {
  int most = spatial == 1 ? 1 << 15 : spatial == 2 ? 1 << 7 : 1 << 4;
  require(corner >= -most && corner < most);
  to = static_cast<int16_t>(corner);
}

}  // namespace

AW_EXPORT CUresult cuTensorMapEncodeTiled(TensorMap* out, int type, uint32_t rank, void* address,
                                          const uint64_t* dims, const uint64_t* strides,
                                          const uint32_t* box, const uint32_t* element_strides,
                                          int interleave, int swizzle, int promotion, int fill) {
  return api<"cuTensorMapEncodeTiled">([&] {
    Tensor t = {type,       rank,    address,   dims, strides, element_strides,
                interleave, swizzle, promotion, fill};
    TensorMap map =
        describe(t, TensorMapMode::tiled, interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1 : 3);
    require(box);
    for (uint32_t i = 0; i < rank; ++i) {
      require(box[i] > 0 && box[i] <= 256);
      map.box[i] = static_cast<uint16_t>(box[i]);
    }
    check_row(t, box[0]);
    write_map(map, out);
  });
}

AW_EXPORT CUresult cuTensorMapEncodeIm2col(TensorMap* out, int type, uint32_t rank, void* address,
                                           const uint64_t* dims, const uint64_t* strides,
                                           const int* lower, const int* upper, uint32_t channels,
                                           uint32_t pixels, const uint32_t* element_strides,
                                           int interleave, int swizzle, int promotion, int fill) {
  return api<"cuTensorMapEncodeIm2col">([&] {
    Tensor t = {type,       rank,    address,   dims, strides, element_strides,
                interleave, swizzle, promotion, fill};
    TensorMap map = describe(t, TensorMapMode::im2col, 3);
    require(lower && upper);
    for (uint32_t i = 0; i < rank - 2; ++i) {
      set_corner(map.lower[i], lower[i], rank - 2);
      set_corner(map.upper[i], upper[i], rank - 2);
    }
    set_columns(map, t, channels, pixels);
    write_map(map, out);
  });
}

AW_EXPORT CUresult cuTensorMapEncodeIm2colWide(TensorMap* out, int type, uint32_t rank,
                                               void* address, const uint64_t* dims,
                                               const uint64_t* strides, int lower, int upper,
                                               uint32_t channels, uint32_t pixels,
                                               const uint32_t* element_strides, int interleave,
                                               int wide_mode, int swizzle, int promotion,
                                               int fill) {
  return api<"cuTensorMapEncodeIm2colWide">([&] {
    Tensor t = {type,       rank,    address,   dims, strides, element_strides,
                interleave, swizzle, promotion, fill};
    TensorMap map = describe(t, TensorMapMode::im2col_wide, 3);
    require(wide_mode >= CU_TENSOR_MAP_IM2COL_WIDE_MODE_W &&
            wide_mode <= CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128);
    map.wide_mode = static_cast<uint8_t>(wide_mode);
    set_corner(map.lower[0], lower, 1), set_corner(map.upper[0], upper, 1);
    set_columns(map, t, channels, pixels);
    write_map(map, out);
  });
}

AW_EXPORT CUresult cuTensorMapReplaceAddress(TensorMap* map, void* address) {
  return api<"cuTensorMapReplaceAddress">([&] {
    require(map && reinterpret_cast<uintptr_t>(map) % 64 == 0 && map->magic == kTensorMapMagic);
    uint64_t align = map->interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
    auto place = reinterpret_cast<uint64_t>(address);
    require(place && place % align == 0);
    map->address = place;
  });
}
