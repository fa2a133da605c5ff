// Copies that were planned, given to HIP.
#pragma once

#include "cuda/memory.h"
#include "cuda/stream.h"
#include "cuda/work.h"

namespace aw {

enum class Direction { host_to_device, device_to_host, device_to_device, any };

void check_copy(uint64_t to, uint64_t from, uint64_t bytes, Direction direction);
CopyWork linear_copy(uint64_t to, uint64_t from, uint64_t bytes);

// The same for hipMemcpy3D and for nodes of graphs.
hipMemcpy3DParms copy_parameters(const CopyWork& work);

void copy_now(CopyWork work);
// HIP follows the rules for memory that is not pinned (CUDA Driver API, API synchronization
// behavior) as its own.
void copy_async(CopyWork work, hipStream_t stream);

}  // namespace aw
