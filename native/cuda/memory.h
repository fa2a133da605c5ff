// Memory of devices, as shared code asks a driver for it, and what is known of an allocation.
#pragma once

#include <cstdint>
#include <memory>

#include "cuda/context.h"

namespace aw {

struct Advice;
struct GraphMemory;
struct Pool;

// `variables`: those of a module, which live and end with it.
enum class MemoryKind { device, managed, host, registered, mapped, imported, variables };

struct Allocation {
  uint64_t base = 0, bytes = 0;
  MemoryKind kind = MemoryKind::device;
  unsigned flags = 0;
  std::weak_ptr<Context> context;
  uint64_t context_id = 0;
  int device = 0;
  uint64_t id = 0;  // never reused (CU_POINTER_ATTRIBUTE_BUFFER_ID)
  std::shared_ptr<Pool> pool;
  uint64_t block = 0;    // of the pool, which may be larger than it would make for `bytes`
  bool freeing = false;  // cuMemFreeAsync was called and has not come about yet
  bool sync_memops = false;
  std::shared_ptr<Advice> advice;             // of managed memory
  std::shared_ptr<GraphMemory> graph_memory;  // if a graph allocated it
};

// Memory from a device, within its limit; `narrow`: at an address of 32 bits. Throws OUT_OF_MEMORY.
void* allocate_bytes(uint64_t bytes, int device, bool narrow = false);
void release_bytes(void* memory, uint64_t bytes, int device);

// The allocation that holds an address, as it is now; an empty one (base 0) when there is none, or
// when somebody else keeps the allocations.
Allocation allocation_at(uint64_t address);

uint64_t allocate_in(const std::shared_ptr<Context>& context, uint64_t bytes, MemoryKind kind,
                     unsigned flags, std::shared_ptr<Pool> pool = nullptr, bool narrow = false);

}  // namespace aw
