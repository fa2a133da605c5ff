// How much of a compute unit kernels take, in CUDA's terms: threads, registers per thread, shared
// memory.
#pragma once

#include <cstdint>

#include "hip/devices.h"
#include "hip/kernel.h"

namespace aw {

// Registers per thread of 32-lane warps. A kernel that leaves half of each wave idle takes twice as
// many for each thread that runs.
int registers_per_thread(const AmdLine& amd);

// Blocks of a kernel that one compute unit holds at once.
int resident_blocks(const HipDevice& device, const HipKernel& kernel, uint32_t threads,
                    uint64_t dynamic_shared);

}  // namespace aw
