// Products of 16-bit factors where the CPU's kernels have no instructions for them.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include "fallback.h"

namespace awt {

// Whether oneDNN, by which PyTorch multiplies on the processor, refuses factors of this type here:
// plain loops compute then, at a fiftieth of the rate of float.
bool multiplies_slowly(at::ScalarType type);

// Whether a product (OpInfo::factors) with the CPU arguments on `stack` is done sooner in float,
// the widening of its factors and of the result included.
bool better_widened(const OpInfo& info, const torch::jit::Stack& stack);

}  // namespace awt
