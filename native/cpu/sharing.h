// Memory that processes share (cuIpc*): what the allocator must know of it.
#pragma once

#include <cstdint>

namespace aw {

// Before memory of this process is released: others can open it no more. What they have open stays
// theirs. Does nothing for memory that was never shared.
void stop_sharing(uint64_t base);

// Lets go of memory of another process, however often it was opened.
void unmap_imported(uint64_t base, uint64_t bytes);

}  // namespace aw
