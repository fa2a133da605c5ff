// What all copies have in common: which memory they touch, and when they may go on without the
// caller.
#pragma once

#include "cuda/memory.h"
#include "cuda/stream.h"
#include "cuda/work.h"

namespace aw {

enum class Direction { host_to_device, device_to_host, device_to_device, any };

// Throws INVALID_VALUE unless the device's side of a copy lies in memory that programs may use as
// such.
void check_copy(uint64_t to, uint64_t from, uint64_t bytes, Direction direction);

CopyWork linear_copy(uint64_t to, uint64_t from, uint64_t bytes);

void copy_now(CopyWork work);
// Follows the rules for asynchronous copies (CUDA Driver API, API synchronization behavior): memory
// that is not pinned may be changed by its owner as soon as this returns.
void copy_async(CopyWork work, Stream& stream);

}  // namespace aw
