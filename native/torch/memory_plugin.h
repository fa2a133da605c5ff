// An allocator of the user's: torch.cuda.memory.CUDAPluggableAllocator.
#pragma once

#include <sys/types.h>

#include <cstddef>

struct CUstream_st;

namespace awt {

// The functions as torch documents them; called with no lock of ours that they could meet again.
struct Plugin {
  void* (*allocate)(size_t bytes, int device, CUstream_st* stream);
  void (*free)(void* memory, size_t bytes, int device, CUstream_st* stream);
};

}  // namespace awt
