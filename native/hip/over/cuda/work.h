// Copies as data, between the structures of CUDA's interface and HIP's calls.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/cuda_api.h"

namespace aw {

struct Array;

// A box of bytes: rows of `width`, `height` rows, `depth` layers.
struct CopyWork {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t to_pitch = 0, to_layer = 0, from_pitch = 0, from_layer = 0;
  std::shared_ptr<const Array> to_array, from_array;  // whose memory it is, if a CUDA array's
};

// Nanoseconds of a clock that never goes back.
uint64_t event_clock();

}  // namespace aw
