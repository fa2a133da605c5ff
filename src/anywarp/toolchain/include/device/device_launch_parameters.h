// threadIdx, blockIdx, blockDim, gridDim and warpSize.
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#if defined(__CUDACC__) || defined(__CUDA__)
#include "anywarp/builtins.h"
#endif

#endif
