// CUDA's runtime interface for C++: the C functions, and templates that spare the caller casts and addresses.
// Names and parameters are those of CUDA's public interface.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "anywarp/managed.h"
#include "host_defines.h"
#include "builtin_types.h"
#include "library_types.h"
#include "vector_functions.h"

#if defined(__CUDACC__)
#include "anywarp/device.h"  // before the host's headers: their constexpr functions must find the device's overloads
#endif

#include "anywarp/prelude.h"

#if !defined(__CUDACC_RTC__)
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#if defined(__CUDACC__)
#include "anywarp/launch_syntax.h"
#include "anywarp/device_launch.h"
#endif
#elif defined(__CUDACC_RDC__)
#include "driver_types.h"
#include "anywarp/device_launch.h"
#endif

#if defined(__cplusplus) && !defined(__CUDACC_RTC__)
#include "anywarp/runtime_launch.h"
#include "anywarp/runtime_memory.h"
#include "anywarp/runtime_graphs.h"
#include "anywarp/runtime_functions.h"
#include "channel_descriptor.h"
#endif

#endif
