// What a CPU build of torch has otherwise than a CUDA build (cuda_build/seam.h): build.py chooses.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace awt {

// Captures are begun by graph.cpp, which counts them among the reasons to defer.
inline bool captured_elsewhere() noexcept { return false; }

// What has a kernel has one of ours (hot.cpp, factories.cpp).
inline bool takes_the_place(const c10::OperatorHandle&) { return false; }
// Sparse, nested and quantised tensors: what has a kernel of the device's has one of ours.
constexpr bool kLayoutsHaveKernels = false;

inline void end_of_overriding() {}

}  // namespace awt
