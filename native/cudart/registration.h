// What compiled programs tell the runtime before main: their fatbins, kernels and variables.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "cudart/api.h"

namespace aw {

struct Binary;

// A kernel, known by the address of its stub in the program.
struct RegisteredFunction {
  Binary* binary;
  std::string name;
  std::atomic<CUkernel> kernel;
};

// A variable, known by the address of its shadow in the program.
struct RegisteredVariable {
  Binary* binary;
  std::string name;
  size_t size;
  void** managed;  // where its address is to be stored; null for others
};

// A fatbin of the program; its code is loaded when something in it is first used.
struct Binary {
  explicit Binary(const void* image) : wrapper(image) {}
  const void* wrapper;
  std::mutex mutex;
  std::atomic<CUlibrary> library{nullptr};
  CUresult failure = CUDA_SUCCESS;  // of the attempt to load it
  std::vector<const void*> functions, variables;
  std::vector<RegisteredVariable*> managed;
};

// The kernel behind a stub; a kernel or function handle comes back as it is. Throws
// INVALID_DEVICE_FUNCTION for what is none.
CUkernel kernel_of(const void* function);

// The stub of a program's kernel, found by the driver's function for it; null when it has none.
const void* stub_of(CUfunction function);

// The same as a CUfunction, which the driver accepts a kernel for.
inline CUfunction function_of(const void* function) {
  return reinterpret_cast<CUfunction>(kernel_of(function));
}

// Where a variable lies on the current device; throws INVALID_SYMBOL.
struct DeviceVariable {
  CUdeviceptr address;
  size_t size;
};
DeviceVariable variable_of(const void* symbol);

// Loads every binary when the user asked for it (CUDA_MODULE_LOADING=EAGER).
void load_eagerly();

}  // namespace aw
