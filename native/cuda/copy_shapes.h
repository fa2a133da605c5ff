// From the structures of two- and three-dimensional copies to work.
#pragma once

#include "cuda/copying.h"

namespace aw {

// Both throw INVALID_VALUE for shapes that contradict themselves or leave an array, INVALID_HANDLE
// for what is no array.
CopyWork plan_copy(const CUDA_MEMCPY2D* shape);
CopyWork plan_copy(const CUDA_MEMCPY3D* shape);

}  // namespace aw
