// A second try for dtypes that CUDA's kernels serve and the CPU's refuse.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "fallback.h"

namespace awt {

// Tells whether an argument has a type that some kernels of the CPU refuse: float16, bfloat16 or
// complex32.
bool has_narrow(const OpInfo& info, const torch::jit::Stack& stack);

// Runs `op` with the CPU arguments on `stack`. Where the CPU's kernel says that it is not
// implemented for a narrow type and CUDA's is, the next wider type computes and the results are
// rounded once, which is no less exact than CUDA's own kernel.
void run_or_widen(const c10::OperatorHandle& op, const OpInfo& info, torch::jit::Stack* stack);

// Computes in the next wider type at once.
void run_widened(const c10::OperatorHandle& op, const OpInfo& info, torch::jit::Stack* stack);

}  // namespace awt
