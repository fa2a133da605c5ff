// CUDA arrays: memory that is spoken of in elements. On the CPU it is plain memory in row order,
// without gaps, so that whoever samples it later needs no other layout.
#pragma once

#include <memory>

#include "cuda/context.h"

namespace aw {

// Device memory that goes when its last owner goes.
struct ArrayMemory {
  int device = 0;  // of the current context
  uint64_t base = 0, bytes = 0;
  explicit ArrayMemory(uint64_t size);  // throws OUT_OF_MEMORY
  ~ArrayMemory();
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;
};

struct Array {
  uintptr_t handle = 0;
  std::weak_ptr<Context> context;
  CUDA_ARRAY3D_DESCRIPTOR shape{};          // as the program gave it, with its zeros
  uint64_t element = 0;                     // bytes of one
  uint64_t base = 0, pitch = 0, layer = 0;  // address; bytes from row to row, from layer to layer
  uint64_t rows = 1, layers = 1;
  bool is_level = false;  // of a mipmapped array, which destroys it
  std::shared_ptr<ArrayMemory> memory;
};

Handles<Array>& arrays();
std::shared_ptr<Array> array_of(CUarray handle);  // throws INVALID_HANDLE

// Bytes of an element; throws INVALID_VALUE for formats and channel counts that do not exist,
// NOT_SUPPORTED for planar and block-compressed formats.
uint64_t element_bytes(CUarray_format format, unsigned channels);

// Throws INVALID_VALUE unless a program may create this (cuArray3DCreate, cuMipmappedArrayCreate),
// NOT_SUPPORTED for flags that need what the device does not have.
void check_shape(const CUDA_ARRAY3D_DESCRIPTOR& shape, bool mipmapped);

// Bytes of an array of this shape.
uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR& shape);

// An array over `memory`, `offset` bytes into it; without a handle.
std::shared_ptr<Array> array_over(const CUDA_ARRAY3D_DESCRIPTOR& shape,
                                  std::shared_ptr<ArrayMemory> memory, uint64_t offset);

}  // namespace aw
