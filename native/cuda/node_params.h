// Parameters of graph nodes, which CUDA has in several versions.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cuda/api.h"

namespace aw {

// Versions of a structure begin alike: what a later one has more is zero when it is made of an
// earlier one, and left out the other way.
template <class To, class From>
To as_version(const From& from) {
  static_assert(std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
  To to{};
  memcpy(&to, &from, std::min(sizeof to, sizeof from));
  return to;
}

// Of a kernel node, in whichever version a function takes them; the first has no `kern`. Throws
// INVALID_VALUE for none.
template <class Version>
CUDA_KERNEL_NODE_PARAMS any_version(const Version* params) {
  require(params);
  return as_version<CUDA_KERNEL_NODE_PARAMS>(*params);
}

static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v1) == offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kern));
static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v2) == sizeof(CUDA_KERNEL_NODE_PARAMS_v3));
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS_v1) == offsetof(CUDA_MEMSET_NODE_PARAMS_v2, ctx));
static_assert(sizeof(CUDA_HOST_NODE_PARAMS_v1) == offsetof(CUDA_HOST_NODE_PARAMS_v2, syncMode));
static_assert(sizeof(CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1) ==
              offsetof(CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2, ctx));
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v1) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2));
static_assert(sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS_v1) == sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS_v2));

}  // namespace aw
