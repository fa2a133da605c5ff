// What a cudaDataType takes in memory.
#pragma once

#include <library_types.h>

#include <cstdint>

namespace aw::lib {

// Bytes of a real number of 16 bits or more, or of a complex one of such of 32 or more; 0 of what
// is none of these.
constexpr int64_t float_bytes(int32_t type) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_32F:
      return 4;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_C_64F:
      return 16;
    default:
      return 0;
  }
}

}  // namespace aw::lib
