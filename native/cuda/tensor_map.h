// Tensor maps: what a copy of a box out of a tensor in global memory needs to know, in the 128
// bytes that programs keep for it. The layout is ours; programs must not look inside.
#pragma once

#include <cstdint>

namespace aw {

enum class TensorMapMode : uint8_t { tiled = 1, im2col = 2, im2col_wide = 3 };

struct alignas(64) TensorMap {
  uint32_t magic;  // kTensorMapMagic
  TensorMapMode mode;
  uint8_t rank, type, interleave, swizzle, promotion, fill, wide_mode;
  uint8_t element_strides[5];  // steps through the tensor, one per dimension
  uint64_t address;
  uint64_t strides[4];         // bytes from element to element, from the second dimension on
  uint32_t last[5];            // index of the last element of each dimension
  uint16_t box[5];             // tiled: elements of the box
  int16_t lower[3], upper[3];  // im2col: corners of the box of pixels
  uint16_t channels, pixels;   // im2col: of one column
};
static_assert(sizeof(TensorMap) == 128);

constexpr uint32_t kTensorMapMagic = 0x4d545741;  // "AWTM"

}  // namespace aw
