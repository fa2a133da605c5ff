// What a CUDA build of torch has otherwise than a CPU build (backend/seam.h): build.py chooses.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace awt {

// Whether a stream of the process may be captured: torch begins captures itself, and the driver
// knows of them.
bool captured_elsewhere() noexcept;

// Whether an operator gets a kernel of ours in the place of libtorch_cuda's.
bool takes_the_place(const c10::OperatorHandle& op);
// Sparse, nested and quantised tensors: kernels of libtorch_cuda, of which ours take the place.
constexpr bool kLayoutsHaveKernels = true;

void end_of_overriding();

}  // namespace awt
