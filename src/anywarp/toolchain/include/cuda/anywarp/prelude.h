// What a CUDA C++ file finds without including it: nvcc's headers include these, and programs rely on it.
#ifndef ANYWARP_PRELUDE_H
#define ANYWARP_PRELUDE_H

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
