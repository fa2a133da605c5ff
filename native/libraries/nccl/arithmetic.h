// Reductions of all types that NCCL has. Narrow floating types are added up in binary32 and rounded
// once.
#pragma once

#include <nccl.h>

#include <cstddef>

namespace aw::nccl {

// to[i] = parts[0][i] op parts[1][i] ... in this order.
using Fold = void (*)(void* to, const void* const* parts, int count, size_t elements);
Fold fold_of(ncclDataType_t type, ncclRedOp_t op);

// to[i] = from[i] * *factor
using Scale = void (*)(void* to, const void* from, const void* factor, size_t elements);
Scale scale_of(ncclDataType_t type);

}  // namespace aw::nccl
