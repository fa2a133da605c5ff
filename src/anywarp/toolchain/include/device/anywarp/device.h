// What CUDA C++ gives every file without an include, for both sides of a compilation.
#ifndef ANYWARP_DEVICE_H
#define ANYWARP_DEVICE_H

#include "attributes.h"
#include "builtins.h"
#include "casts.h"
#include "constant_functions.h"
#include "device_runtime.h"
#include "integer.h"
#include "math_names.h"
#include "math_builtins.h"
#include "arithmetic.h"
#include "atomics.h"
#include "memory.h"
#include "textures.h"
#include "video.h"
#include "warp.h"

#endif
