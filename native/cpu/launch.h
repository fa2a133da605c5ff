// From the arguments of a launch to work: configuration checked, parameters copied, kernel
// compiled.
#pragma once

#include "cpu/work.h"
#include "cuda/launch_request.h"
#include "cuda/module.h"

namespace aw {

// Throws INVALID_VALUE, LAUNCH_OUT_OF_RESOURCES and COOPERATIVE_LAUNCH_TOO_LARGE as cuLaunchKernel
// documents, and what the compiler says. `multiprocessors`: how many it may use; 0: all.
KernelWork plan_launch(const std::shared_ptr<Function>& function, const LaunchRequest& request,
                       unsigned multiprocessors = 0);

// The dynamic shared memory that a launch may ask for, beside `fixed` bytes of static.
int most_dynamic_shared(Function& function, uint64_t fixed);

// How many blocks of a kernel one multiprocessor holds (CUDA occupancy rules, without registers).
int resident_blocks(uint64_t threads, uint64_t shared_bytes);

}  // namespace aw
