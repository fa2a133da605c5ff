// Writing jumps over the entries of a runtime in memory: all of them or none.
#pragma once

#include "rebind/runtime_copy.h"

namespace aw::rebind {

// Makes each entry of the copy, loaded `base` above where it was linked, jump to `target(entry)`.
// Null, or what is in the way: then memory is as it was.
const char* redirect(const ElfFile& file, const RuntimeCopy& copy, uint64_t base,
                     const uint64_t* targets);

}  // namespace aw::rebind
