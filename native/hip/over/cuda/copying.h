// Copies that were planned, given to HIP.
#pragma once

#include "cuda/memory.h"
#include "cuda/stream.h"
#include "cuda/work.h"

namespace aw {

void copy_now(CopyWork work);
// HIP follows the rules for memory that is not pinned (CUDA Driver API, API synchronization
// behavior) as its own.
void copy_async(CopyWork work, hipStream_t stream);

}  // namespace aw
