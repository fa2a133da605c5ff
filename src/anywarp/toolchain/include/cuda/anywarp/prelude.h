// What a CUDA C++ file finds without including it: nvcc's headers include these, and programs rely on it.
#ifndef ANYWARP_PRELUDE_H
#define ANYWARP_PRELUDE_H

#if defined(__CUDACC__)
// A managed variable is one of the device for the device; for the host it is marked, and each use of it becomes one of
// the device's memory (anywarp/toolchain/managed.py).
#undef __managed__
#if defined(__CUDA_ARCH__)
#define __managed__ __attribute__((device))
#else
#define __managed__ __attribute__((device, section("anywarp_managed")))
#endif
#endif

#if defined(__CUDACC__) && !defined(__CUDACC_RTC__) && defined(__cplusplus)
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>
#elif defined(__cplusplus) && !defined(__CUDACC_RTC__)
#include <utility>
#endif

#endif
