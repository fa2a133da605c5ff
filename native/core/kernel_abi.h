// The binary interface between generated kernels and the runtime. Generated code reads the
// structures by offset: compiler/abi.py describes them for both sides. Change them together with
// ANYWARP_ABI.
#pragma once

#include "kernel_structures.h"  // beside this: kernels of tests have no path to it

#define ANYWARP_ABI 2

extern "C" {

// Runs blocks first .. first+count-1 (linear index, x fastest) one after the other on this thread.
typedef int32_t (*AwKernel)(const AwLaunch* launch, AwWorker* worker, uint64_t first,
                            uint64_t count);

}  // extern "C"
