// Device memory as the shared code asks for it. HIP knows the allocations and checks what copies
// touch.
#pragma once

#include <cstdint>

#include "cuda/context.h"

namespace aw {

enum class MemoryKind { device, host };

struct Allocation {
  bool freeing = false;
  uint64_t base = 0, bytes = 0;
};

// Memory on a device; throws OUT_OF_MEMORY.
void* allocate_bytes(uint64_t bytes, int device);
void release_bytes(void* memory, uint64_t bytes, int device);

// HIP is not asked about every address: it answers for wrong ones when it copies.
inline Allocation allocation_at(uint64_t) { return {}; }

// Device memory has no addresses of 32 bits here: throws OUT_OF_MEMORY.
uint64_t allocate_in(const std::shared_ptr<Context>& context, uint64_t bytes, MemoryKind kind,
                     unsigned flags, void* pool, bool narrow);

}  // namespace aw
