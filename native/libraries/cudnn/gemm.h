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

// The same of factors of 16 bits by our own product, with sums in f32.
void gemm(product::Type type, int64_t rows, int64_t columns, int64_t depth, float alpha,
          const Matrix<uint16_t>& a, const Matrix<uint16_t>& b, float beta, float* c,
          int64_t c_step);

}  // namespace aw::dnn
