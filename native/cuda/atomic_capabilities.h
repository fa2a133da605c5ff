// What cuDeviceGetHostAtomicCapabilities and cuDeviceGetP2PAtomicCapabilities answer.
#pragma once

#include "cuda/cuda_api.h"

namespace aw {

// Writes what is possible of each operation, where `exchanges` are the widths of exchange and
// compare-and-swap. Throws INVALID_VALUE, before anything is written, for what is no operation.
void write_atomic_capabilities(unsigned* out, const CUatomicOperation* operations, unsigned count,
                               unsigned exchanges);

}  // namespace aw
