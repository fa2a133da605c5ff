// What this header of CUDA declares is there without an include.
#ifndef __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__

#if defined(__CUDACC__) || defined(__CUDA__)
#include "anywarp/device.h"
#endif

#endif
