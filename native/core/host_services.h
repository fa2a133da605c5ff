// Functions that generated kernels call in the runtime (docs/contracts.md, section 6).
#pragma once

#include "host_functions.h"  // their declarations, which code for kernels is made from too

// aw_texture: texture fetches, surface accesses and their queries (devices/texture_unit.cpp). Does
// what `form` says for each lane in `mask` (bit l of byte l/8). objects[l]: what the lane has in
// brackets, a handle or the address of a variable; with a sampler of its own objects[lanes + l] is
// that one's. words[k*lanes + l]: operands of 32 bits in the order of ptx/isa/texture.py;
// results[k*lanes + l] likewise, written for the lanes of the mask only. Does not return when a
// lane names no object or leaves a surface that traps: the kernel ends there.

extern "C" {
// The text of the last such fault on this thread outside a kernel run by the driver; empties it.
const char* aw_texture_fault(void);
}

namespace aw {

// Puts out what kernels have printed; called when a grid has ended.
void flush_prints();

// The text that the last aw_assertfail on this thread has left, for the diagnostic; empties it.
const char* take_assertion();

}  // namespace aw
