// NVIDIA's own CUDA runtime as our client, which it does not want to be.
#pragma once

#include "cuda/cuda_api.h"

namespace aw {

// Says, once for each file, that NVIDIA's runtime in the file that holds `caller` works with
// NVIDIA's driver only, and what its user can do; if the table asked for is one of that runtime's.
void tell_foreign_runtime(const CUuuid& table, const void* caller);

}  // namespace aw
