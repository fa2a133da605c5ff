// What the functions of cuBLAS share: the handle, its checks, and scalars that lie on the host or
// the device.
#pragma once

#include <cublas_api.h>

#include <complex>
#include <memory>
#include <mutex>
#include <vector>

#include "libraries/api.h"
#include "libraries/scalar.h"
#include "libraries/waiting.h"
#include "libraries/work.h"

namespace aw::cublas {

// Settings for products that are made of narrower ones, two of them as numbers: the headers of
// CUDA 12 do not have their types.
struct Emulation {
  cublasEmulationStrategy_t strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT;
  int special = 0xFFFF;  // CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT
  int control = 0;       // CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC
  int most_bits = 0, bit_offset = 0;
  int* bit_count = nullptr;
};

}  // namespace aw::cublas

struct cublasContext {
  uint64_t magic;
  CUstream stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  unsigned math = CUBLAS_DEFAULT_MATH;
  int sm_count = 0;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  aw::cublas::Emulation emulation{};
};

namespace aw::cublas {

using lib::require;
using lib::unsupported;

constexpr uint64_t kMagic = 0x7375626c6275ull;

template <Name Function, class Body, class... Args>
cublasStatus_t api(Body&& body, const Args&... args) noexcept {
  return lib::call<cublasStatus_t, Function>(body, args...);
}

// Throws NOT_INITIALIZED for what is no handle.
inline cublasContext& use(cublasHandle_t handle) {
  require(handle && handle->magic == kMagic, CUBLAS_STATUS_NOT_INITIALIZED);
  return *handle;
}

cublasContext* create();
// As documented it waits for what the handle was used for.
void destroy(cublasContext* handle);

// Waits for what was given to the handle's stream, such as what a call leaves on the host.
inline void finish(const cublasContext& handle) {
  lib::wait(handle.stream, CUBLAS_STATUS_EXECUTION_FAILED);
}

// A number that lies where the pointer mode says (cublasSetPointerMode).
template <class T>
struct Scalar : lib::Scalar<T> {
  Scalar(const cublasContext& handle, const void* place)
      : lib::Scalar<T>(handle.pointer_mode == CUBLAS_POINTER_MODE_DEVICE, place) {}
};

}  // namespace aw::cublas
