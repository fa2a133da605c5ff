// Code of our own libraries run as kernels are: on the pool, with faults as errors.
#pragma once

#include <cstdint>

#include "devices/processor.h"

namespace aw::processor {

// Calls perform(data); a fault inside becomes the result, in words that begin with `name`.
RunResult run_native(const char* name, void (*perform)(void*), void* data);

// See anywarp_parallel.
bool parallel(uint64_t count, void (*body)(void*, uint64_t), void* data);

unsigned threads();

}  // namespace aw::processor
