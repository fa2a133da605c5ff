// Memory that programs asked for: one map of all allocations, so that every address can be checked
// and accounted for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>

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
  bool freeing = false;  // cuMemFreeAsync was called and has not come about yet
  bool sync_memops = false;
  std::shared_ptr<Advice> advice;             // of managed memory
  std::shared_ptr<GraphMemory> graph_memory;  // if a graph allocated it
};

// Memory from a device, within its limit; `narrow`: at an address of 32 bits. Throws OUT_OF_MEMORY.
void* allocate_bytes(uint64_t bytes, int device, bool narrow = false);
void release_bytes(void* memory, uint64_t bytes, int device);
uint64_t bytes_in_use(int device);

// Of whatever kind: lets go of what was taken out of the map.
void give_back(const Allocation& allocation);

// The allocation that holds an address, as it is now; an empty one (base 0) when there is none.
Allocation allocation_at(uint64_t address);

// Enters an allocation into the map; gives it its id.
void enter(Allocation allocation);

uint64_t allocate_in(const std::shared_ptr<Context>& context, uint64_t bytes, MemoryKind kind,
                     unsigned flags, std::shared_ptr<Pool> pool = nullptr, bool narrow = false);

// Takes an allocation that begins at `address` out of the map; false when there is none of that
// kind.
bool take(uint64_t address, MemoryKind kind, Allocation* taken);

// Frees everything that belongs to a context.
void free_memory_of(uint64_t context_id);

// Marks an allocation as given to cuMemFreeAsync; throws INVALID_VALUE when it is none or already
// so.
void begin_free(uint64_t address);
void finish_free(uint64_t address);  // of device memory, if begin_free still holds; used by streams
bool revive(uint64_t address);       // takes begin_free back; false when nothing is allocated there

void set_sync_memops(uint64_t address, bool on);

}  // namespace aw
