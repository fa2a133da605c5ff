// What goes with the context that it was made in (cuCtxDestroy).
#pragma once

#include <cstdint>

#include "cuda/context.h"

namespace aw {

enum class Owned { device, host };

void own(const Context& context, void* memory, Owned kind);
void disown(void* memory);

// Frees the memory, and ends the streams, that are still of a context; HIP works on its device.
void free_memory_of_context(uint64_t context_id);
void destroy_streams_of(uintptr_t context);

}  // namespace aw
