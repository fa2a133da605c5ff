// One map of all allocations of the process, so that every address can be checked and accounted
// for.
#pragma once

#include "cuda/memory.h"

namespace aw {

uint64_t bytes_in_use(int device);

// Of whatever kind: lets go of what was taken out of the map.
void give_back(const Allocation& allocation);

// Enters an allocation into the map; gives it its id.
void enter(Allocation allocation);

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
