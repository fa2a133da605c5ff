// Attributes of functions and kernels.
#pragma once

#include "cuda/module.h"

namespace aw {

// Defined by each driver, which knows what compiled code needs and what its device has room for.
// Throws INVALID_VALUE for what is no attribute, or no value of it.
int read_attribute(Function& function, int attribute);
void write_attribute(Function& function, int attribute, int value);

// Those that follow from what the module or the program states.
int read_stated_attribute(Function& function, int attribute);
void write_stated_attribute(Function& function, int attribute, int value);

// Of a block, as the kernel's entry bounds them.
int max_threads(const Entry& entry);

// Writes where a parameter lies; INVALID_VALUE when there is none of that index.
void write_parameter(const Entry& entry, size_t index, size_t* offset, size_t* size);

}  // namespace aw
