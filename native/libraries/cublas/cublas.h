// What the functions of cuBLAS share: the handle, its checks, and scalars that lie on the host or
// the device.
#pragma once

#include <cublas_api.h>

#include <complex>
#include <memory>
#include <mutex>
#include <vector>

#include "libraries/api.h"
#include "libraries/work.h"

struct cublasContext {
  uint64_t magic;
  CUstream stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  unsigned math = CUBLAS_DEFAULT_MATH;
  int sm_count = 0;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
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

// A number that a program passes by address: read at the call where it lies on the host, when the
// work runs where it lies on the device (cublasSetPointerMode).
template <class T>
class Scalar {
 public:
  Scalar(const cublasContext& handle, const void* place)
      : at_(handle.pointer_mode == CUBLAS_POINTER_MODE_DEVICE ? static_cast<const T*>(place)
                                                              : nullptr) {
    require(place != nullptr);
    if (!at_) value_ = *static_cast<const T*>(place);
  }
  explicit Scalar(T value) : at_(nullptr), value_(value) {}
  T operator()() const { return at_ ? *at_ : value_; }

 private:
  const T* at_;
  T value_{};
};

}  // namespace aw::cublas
