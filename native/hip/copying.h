// Copies that were planned, as HIP takes them.
#pragma once

#include "cuda/copying.h"
#include "hip/hip_api.h"

namespace aw {

// For hipMemcpy3D and for nodes of graphs.
hipMemcpy3DParms copy_parameters(const CopyWork& work);

}  // namespace aw
