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

// Lets the system take the pages (processor::rest): the bytes no longer count as in use. False if
// the memory has to be released instead.
bool rest_bytes(void* memory, uint64_t bytes, int device);
// They count again; false when there is no room, and the memory has to be released (by
// processor::release, which counts nothing).
bool wake_bytes(uint64_t bytes, int device);

// Frees everything that belongs to a context.
void free_memory_of(uint64_t context_id);

// Marks an allocation as given to cuMemFreeAsync; throws INVALID_VALUE when it is none or already
// so.
void begin_free(uint64_t address);
void finish_free(uint64_t address);  // of device memory, if begin_free still holds; used by streams
bool revive(uint64_t address);       // takes begin_free back; false when nothing is allocated there

void set_sync_memops(uint64_t address, bool on);

}  // namespace aw
