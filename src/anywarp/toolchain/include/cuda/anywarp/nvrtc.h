// What a source that NVRTC compiles finds without including it (NVRTC manual, section Language).
#ifndef ANYWARP_NVRTC_H
#define ANYWARP_NVRTC_H

#include <stddef.h>

#include "cuda_runtime.h"

typedef long clock_t;

#endif
