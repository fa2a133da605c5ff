// What CUDA C++ gives every file without an include, for both sides of a compilation.
#ifndef ANYWARP_DEVICE_H
#define ANYWARP_DEVICE_H

#include "attributes.h"
#include "builtins.h"
#include "casts.h"
#include "integer.h"
#include "arithmetic.h"

#endif
