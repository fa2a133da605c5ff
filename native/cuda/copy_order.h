// When copies with attributes read their source (CUmemcpySrcAccessOrder).
#pragma once

#include "cuda/api.h"
#include "cuda/copying.h"

namespace aw {

enum CopyOrder { kInStreamOrder = 1, kDuringCall = 2, kAnyOrder = 3 };

// Throws INVALID_VALUE for orders and flags that do not exist. The only flag, to prefer overlap
// with kernels, is a hint.
inline void check_order(int order, unsigned flags) {
  require(order >= kInStreamOrder && order <= kAnyOrder && flags <= 1);
}

// The stream's order satisfies all three; but a source that is gone when the call returns has to be
// read before.
void copy_in_order(CopyWork work, int order, CUstream stream);

}  // namespace aw
