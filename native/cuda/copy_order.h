// When copies with attributes read their source.
#pragma once

#include "cuda/api.h"
#include "cuda/copying.h"

namespace aw {

// Throws INVALID_VALUE for orders and flags that do not exist. The only flag, to prefer overlap
// with kernels, is a hint.
inline void check_order(CUmemcpySrcAccessOrder order, unsigned flags) {
  require(order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY);
  require(flags <= CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE);
}

// The stream's order satisfies all three; but a source that is gone when the call returns has to be
// read before.
void copy_in_order(CopyWork work, CUmemcpySrcAccessOrder order, CUstream stream);

}  // namespace aw
