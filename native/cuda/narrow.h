// Device addresses of 32 bits, as CUDA had them before version 3.2.
#pragma once

#include <string>

#include "cuda/api.h"

namespace aw {

// Throws INVALID_VALUE for what has no 32-bit form.
inline uint32_t narrow(uint64_t value) {
  if (value > UINT32_MAX) {
    throw Failure(CUDA_ERROR_INVALID_VALUE,
                  "this address has more than 32 bits: the program uses the interface of CUDA "
                  "before 3.2 for memory that it did not get from there");
  }
  return static_cast<uint32_t>(value);
}

}  // namespace aw
