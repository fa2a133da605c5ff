// A kernel's code for one block shape: a code object, loaded on the device of the module's context.
#pragma once

#include "hip/kernel.h"

namespace aw {

using Versions = HipKernel;

}  // namespace aw
