// Limits of a context (cuCtxGetLimit, cuCtxSetLimit).
#pragma once

#include <cstddef>

#include "cuda/context.h"

namespace aw {

// Both throw UNSUPPORTED_LIMIT for what the device has no such limit of, INVALID_VALUE for an
// unknown one.
size_t read_limit(const Context& context, CUlimit limit);
void write_limit(Context& context, CUlimit limit, size_t value);

}  // namespace aw
