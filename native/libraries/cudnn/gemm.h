// Products of matrices, for views of them.
#pragma once

#include "libraries/cudnn/elementwise.h"
#include "libraries/engine.h"
#include "libraries/product/product.h"

namespace aw::dnn {

// Opens OpenBLAS, which work must not: it throws where there is none.
void need_gemm();

// A matrix in memory, row-major with `step` elements from row to row, or, turned, its transpose.
template <class T>
struct Matrix {
  const T* data;
  int64_t step;
  bool turned = false;
};

// c[rows x columns] = alpha * a[rows x depth] * b[depth x columns] + beta * c, c row-major. Not
// read where beta is 0. By OpenBLAS.
template <class T>
void gemm(int64_t rows, int64_t columns, int64_t depth, T alpha, const Matrix<T>& a,
          const Matrix<T>& b, T beta, T* c, int64_t c_step);

// Products of all rows, in blocks for threads.
template <class T>
void multiply(int64_t rows, int64_t columns, int64_t depth, const Matrix<T>& a, const Matrix<T>& b,
              T beta, T* c, int64_t step) {
  constexpr int64_t kBlock = 128;
  lib::parallel(static_cast<uint64_t>((rows + kBlock - 1) / kBlock), [&](uint64_t number) {
    const int64_t first = static_cast<int64_t>(number) * kBlock,
                  count = std::min(kBlock, rows - first);
    const Matrix<T> part{a.data + (a.turned ? first : first * a.step), a.step, a.turned};
    gemm<T>(count, columns, depth, 1, part, b, beta, c + first * step, step);
  });
}

// The same of factors of 16 bits by our own product, with sums in f32.
void gemm(product::Type type, int64_t rows, int64_t columns, int64_t depth, float alpha,
          const Matrix<uint16_t>& a, const Matrix<uint16_t>& b, float beta, float* c,
          int64_t c_step);

}  // namespace aw::dnn
