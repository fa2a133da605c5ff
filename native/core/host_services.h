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
}

namespace aw {

// Puts out what kernels have printed; called when a grid has ended.
void flush_prints();

// The text that the last aw_assertfail on this thread has left, for the diagnostic; empties it.
const char* take_assertion();

}  // namespace aw
