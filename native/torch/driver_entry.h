// Functions of our libcuda by name, without the driver's types.
#pragma once

namespace awt {

// The address of a driver function; raises when libcuda.so.1 or the function is missing.
void* driver_entry(const char* name);

}  // namespace awt
