// cuBLAS of before CUDA 4: one handle for the process, letters in place of enums, and errors that
// are asked for afterwards.
#pragma once

#include "libraries/cublas/level1.h"
#include "libraries/cublas/level2.h"
#include "libraries/cublas/level3.h"

namespace aw::cublas {

// The handle of cublasInit; throws NOT_INITIALIZED before that.
cublasContext& legacy_handle();

// Keeps the error of a function that computes for cublasGetError.
void keep_legacy_error(cublasStatus_t status);

template <Name Function, class Body, class... Args>
void legacy(Body&& body, const Args&... args) {
  auto status = api<Function>([&] { body(&legacy_handle()); }, args...);
  if (status != CUBLAS_STATUS_SUCCESS) keep_legacy_error(status);
}

// Either of two letters, in either case; throws INVALID_VALUE for others.
inline bool second(char given, char first, char other) {
  char small = static_cast<char>(given | 0x20);
  require(small == first || small == other);
  return small == other;
}
inline cublasOperation_t trans_of(char letter) {
  if ((letter | 0x20) == 'c') return CUBLAS_OP_C;
  return second(letter, 'n', 't') ? CUBLAS_OP_T : CUBLAS_OP_N;
}
inline cublasFillMode_t uplo_of(char letter) {
  return second(letter, 'l', 'u') ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
inline cublasDiagType_t diag_of(char letter) {
  return second(letter, 'n', 'u') ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}
inline cublasSideMode_t side_of(char letter) {
  return second(letter, 'l', 'r') ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT;
}

}  // namespace aw::cublas
