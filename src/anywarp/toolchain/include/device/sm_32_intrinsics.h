// What this header of CUDA declares is there without an include.
#ifndef __SM_32_INTRINSICS_H__
#define __SM_32_INTRINSICS_H__

#if defined(__CUDACC__) || defined(__CUDA__)
#include "anywarp/device.h"
#endif

#endif
