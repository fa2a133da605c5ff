// Functions that generated kernels call in the runtime (docs/contracts.md, section 6).
#pragma once

#include <cstdint>

#include "core/kernel_abi.h"

extern "C" {
uint64_t aw_globaltimer(void);
void aw_nanosleep(uint32_t nanoseconds);
int32_t aw_vprintf(AwWorker* worker, uint64_t format, uint64_t arguments);
uint64_t aw_malloc(AwWorker* worker, uint64_t size);
void aw_free(AwWorker* worker, uint64_t address);
void aw_assertfail(AwWorker* worker, uint64_t message, uint64_t file, uint32_t line,
                   uint64_t function);

// Texture fetches, surface accesses and their queries (devices/texture_unit.cpp). Does what `form`
// says for each lane in `mask` (bit l of byte l/8). objects[l]: what the lane has in brackets, a
// handle or the address of a variable; with a sampler of its own objects[lanes + l] is that one's.
// words[k*lanes + l]: operands of 32 bits in the order of ptx/isa/texture.py; results[k*lanes + l]
// likewise, written for the lanes of the mask only. Does not return when a lane names no object or
// leaves a surface that traps: the kernel ends there.
void aw_texture(AwWorker* worker, uint32_t form, uint32_t lanes, const uint8_t* mask,
                const uint64_t* objects, const uint32_t* words, uint32_t* results);

// The text of the last such fault on this thread outside a kernel run by the driver; empties it.
const char* aw_texture_fault(void);
}

namespace aw {

// Puts out what kernels have printed; called when a grid has ended.
void flush_prints();

// The text that the last aw_assertfail on this thread has left, for the diagnostic; empties it.
const char* take_assertion();

}  // namespace aw
