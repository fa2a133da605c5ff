// Launching, for the chapters that do it in forms of their own.
#pragma once

#include "cudart/api.h"

namespace aw {

// The runtime's error for one of a launch: shapes that no device can do have a code of their own.
cudaError_t launch_error(CUresult result, const dim3& grid, const dim3& block);

cudaError_t launch(CUfunction kernel, const dim3& grid, const dim3& block, void** args,
                   size_t shared, CUstream stream);

}  // namespace aw
