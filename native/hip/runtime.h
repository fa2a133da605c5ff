// HIP's library, found when the program first asks for a device, and its functions. One that this
// version lacks is null.
#pragma once

#include <string>

#include "cuda/api.h"
#include "hip/hip_api.h"

namespace aw {

struct HipFunctions {
#define AW_FUNCTION(name, versions) decltype(&::name) name = nullptr;
  AW_HIP_FUNCTIONS(AW_FUNCTION)
#undef AW_FUNCTION
};

extern HipFunctions hip;

constexpr int kLeastHip = 60000000;  // HIP 6.0: what came before has other structures

// Opens the library: ANYWARP_HIP_LIBRARY, else libamdhip64.so.7, .so.6, .so. Throws NO_DEVICE with
// what to install.
void open_hip();
int hip_version();  // 10000000 * major + 100000 * minor + patch

// The CUDA code for HIP's; errors that CUDA keeps for the rest of the context stick to the current
// one.
CUresult cuda_code(hipError_t error);
inline CUresult to_cuda(hipError_t error) {
  return __builtin_expect(error == hipSuccess, 1) ? CUDA_SUCCESS : cuda_code(error);
}
// Throws Failure with CUDA's code unless HIP succeeded.
inline void check(hipError_t error) {
  if (__builtin_expect(error != hipSuccess, 0)) throw Failure(cuda_code(error));
}

// The answer of a function whose counterpart this version of HIP lacks; says so once.
CUresult lacks(const char* function, const char* counterpart);
template <class F>
F needed(F function, const char* cuda_name, const char* counterpart) {
  if (!function) throw Failure(lacks(cuda_name, counterpart));
  return function;
}

}  // namespace aw

// Within an exported function: HIP's function, or NOT_SUPPORTED where this version has none.
#define AW_HIP(name) (::aw::needed(::aw::hip.name, __func__, #name))
