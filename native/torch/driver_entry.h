// Functions of our libcuda by name, without the driver's types.
#pragma once

#include <cstdint>

namespace awt {

// The address of a driver function; raises when libcuda.so.1 or the function is missing.
void* driver_entry(const char* name);

// What a function of libcuda's returns that tells where a counter lies (docs/contracts.md).
inline const uint64_t* driver_counter(const char* name) {
  return reinterpret_cast<const uint64_t* (*)()>(driver_entry(name))();
}

}  // namespace awt
