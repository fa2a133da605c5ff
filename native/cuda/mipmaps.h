// Mipmapped arrays: one array per level of detail, each half as large as the one before.
#pragma once

#include <vector>

#include "cuda/arrays.h"

namespace aw {

struct MipmappedArray {
  std::weak_ptr<Context> context;
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  std::vector<std::shared_ptr<Array>> levels;  // the finest first; all in one piece of memory
};

Handles<MipmappedArray>& mipmapped_arrays();

}  // namespace aw
