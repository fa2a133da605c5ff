// cuBLAS: copies of vectors and matrices between the host and a device, any of which may have
// steps.
#pragma once

#include "libraries/cublas/cublas.h"

namespace aw::cublas {

// Copies `columns` pieces of `rows` elements, which begin `lda` and `ldb` elements after each
// other; waits where no stream is named.
inline void transfer(int64_t rows, int64_t columns, int64_t bytes, const void* from, int64_t lda,
                     void* to, int64_t ldb, const cudaStream_t* stream) {
  lib::ensure_context();
  require(rows >= 0 && columns >= 0 && bytes > 0 && lda > 0 && ldb > 0);
  if (!rows || !columns) return;
  CUDA_MEMCPY2D copy{};
  int64_t width, source, target;
  require(!__builtin_mul_overflow(rows, bytes, &width) &&
          !__builtin_mul_overflow(lda, bytes, &source) &&
          !__builtin_mul_overflow(ldb, bytes, &target));
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(from);
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(to);
  copy.WidthInBytes = static_cast<size_t>(width);
  copy.Height = static_cast<size_t>(columns);
  copy.srcPitch = static_cast<size_t>(source);
  copy.dstPitch = static_cast<size_t>(target);
  auto done = stream ? cuMemcpy2DAsync(&copy, *stream) : cuMemcpy2DUnaligned(&copy);
  require(done == CUDA_SUCCESS, CUBLAS_STATUS_MAPPING_ERROR);
}

inline void SetMatrix(int64_t rows, int64_t columns, int64_t bytes, const void* A, int64_t lda,
                      void* B, int64_t ldb) {
  transfer(rows, columns, bytes, A, lda, B, ldb, nullptr);
}
inline void SetMatrixAsync(int64_t rows, int64_t columns, int64_t bytes, const void* A, int64_t lda,
                           void* B, int64_t ldb, cudaStream_t stream) {
  transfer(rows, columns, bytes, A, lda, B, ldb, &stream);
}

// A vector is a matrix of one row, or a piece where nothing lies between its elements.
inline void vector(int64_t n, int64_t bytes, const void* x, int64_t incx, void* y, int64_t incy,
                   const cudaStream_t* stream) {
  bool close = incx == 1 && incy == 1;
  int64_t rows = close ? n : 1, step = std::max<int64_t>(1, n);
  transfer(rows, close ? 1 : n, bytes, x, close ? step : incx, y, close ? step : incy, stream);
}
inline void SetVector(int64_t n, int64_t bytes, const void* x, int64_t incx, void* y,
                      int64_t incy) {
  vector(n, bytes, x, incx, y, incy, nullptr);
}
inline void SetVectorAsync(int64_t n, int64_t bytes, const void* x, int64_t incx, void* y,
                           int64_t incy, cudaStream_t stream) {
  vector(n, bytes, x, incx, y, incy, &stream);
}

// One address space: both directions are one copy.
template <class... Args>
void GetMatrix(Args... args) {
  SetMatrix(args...);
}
template <class... Args>
void GetMatrixAsync(Args... args) {
  SetMatrixAsync(args...);
}
template <class... Args>
void GetVector(Args... args) {
  SetVector(args...);
}
template <class... Args>
void GetVectorAsync(Args... args) {
  SetVectorAsync(args...);
}

}  // namespace aw::cublas
