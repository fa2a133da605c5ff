// Copies of the runtime in the driver's terms.
#pragma once

#include "cudart/api.h"

namespace aw {

// Throws INVALID_VALUE for parameters that name no side or two, INVALID_MEMCPY_DIRECTION.
CUDA_MEMCPY3D driver_copy(const cudaMemcpy3DParms& params);
CUDA_MEMCPY3D driver_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);

// What a driver's copy of memory is in the runtime's words.
cudaMemcpy3DParms runtime_copy(const CUDA_MEMCPY3D& params);

}  // namespace aw
