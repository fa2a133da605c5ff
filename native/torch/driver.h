// Our libcuda, opened by dlopen: the functions the stand-in uses, and errors in CUDA's words.
#pragma once

#include "cuda/cuda_api.h"
#include "driver_entry.h"

namespace awt {

// Raises torch's error for a failed call, in the words and with the class that torch uses on a GPU
// ("CUDA error: ..."; AcceleratorError where this torch has it).
void check(CUresult result);

// A driver function, found at its first call: `const DriverFn<CUresult(CUdeviceptr*, size_t)>
// mem_alloc{"cuMemAlloc_v2"};`
template <class Signature>
class DriverFn;
template <class Result, class... Arguments>
class DriverFn<Result(Arguments...)> {
 public:
  constexpr explicit DriverFn(const char* name) : name_(name) {}
  Result operator()(Arguments... arguments) const {
    auto* found = __atomic_load_n(&found_, __ATOMIC_RELAXED);
    if (!found) {
      found = reinterpret_cast<Result (*)(Arguments...)>(driver_entry(name_));
      __atomic_store_n(&found_, found, __ATOMIC_RELAXED);
    }
    return found(arguments...);
  }

 private:
  const char* name_;
  mutable Result (*found_)(Arguments...) = nullptr;
};

}  // namespace awt
