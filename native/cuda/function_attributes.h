// Attributes of functions and kernels.
#pragma once

#include "cuda/module.h"

namespace aw {

int read_attribute(Function& function, int attribute);
void write_attribute(Function& function, int attribute, int value);

// Writes where a parameter lies; INVALID_VALUE when there is none of that index.
void write_parameter(const Entry& entry, size_t index, size_t* offset, size_t* size);

}  // namespace aw
