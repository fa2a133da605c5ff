// cublasXt: products of matrices that lie on the host, on several devices. All of our devices are
// the processor, which computes each call as one problem before it returns.
#pragma once

#include "libraries/cublas/level3.h"

struct cublasXtContext {
  uint64_t magic;
  cublasContext* own;
  int block = 2048;
  cublasXtPinnedMemMode_t pinning = CUBLASXT_PINNING_DISABLED;
};

namespace aw::cublas {

constexpr uint64_t kXtMagic = 0x74587375626c6275ull;

inline cublasXtContext& use(cublasXtHandle_t handle) {
  require(handle && handle->magic == kXtMagic, CUBLAS_STATUS_NOT_INITIALIZED);
  return *handle;
}

template <class Body>
void on_host(cublasXtHandle_t handle, Body body) {
  auto& it = use(handle);
  body(it.own);
  finish(*it.own);
}

// C = alpha A B + beta C with A symmetric and packed, which as documented lies on the host.
template <class T>
void spmm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int64_t m, int64_t n,
          const T* alpha, const T* AP, const T* B, int64_t ldb, const T* beta, T* C, int64_t ldc) {
  int64_t order = size(letter(side) == 'L' ? m : n);
  int64_t rows = std::max<int64_t>(1, order);
  std::vector<T> full(static_cast<size_t>(rows * rows));
  tpttr(handle, uplo, order, AP, full.data(), rows);
  symm(handle, side, uplo, m, n, alpha, static_cast<const T*>(full.data()), rows, B, ldb, beta, C,
       ldc);
  finish(use(handle));  // before the matrix goes
}

}  // namespace aw::cublas
