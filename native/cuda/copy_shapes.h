// From the structures of two- and three-dimensional copies to work.
#pragma once

#include "cuda/copying.h"

namespace aw {

// Both throw INVALID_VALUE for shapes that contradict themselves or leave an array, INVALID_HANDLE
// for what is no array.
CopyWork plan_copy(const CUDA_MEMCPY2D* shape);
CopyWork plan_copy(const CUDA_MEMCPY3D* shape);

// CUDA_MEMCPY3D_PEER has contexts where this has reserved words, so functions of peers take it too.
static_assert(sizeof(CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D_PEER) &&
              offsetof(CUDA_MEMCPY3D, reserved0) == offsetof(CUDA_MEMCPY3D_PEER, srcContext) &&
              offsetof(CUDA_MEMCPY3D, reserved1) == offsetof(CUDA_MEMCPY3D_PEER, dstContext));

}  // namespace aw
