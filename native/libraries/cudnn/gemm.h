// Products of matrices by OpenBLAS, for views of them.
#pragma once

#include "libraries/cudnn/elementwise.h"
#include "libraries/engine.h"

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
// read where beta is 0.
template <class T>
void gemm(int64_t rows, int64_t columns, int64_t depth, T alpha, const Matrix<T>& a,
          const Matrix<T>& b, T beta, T* c, int64_t c_step);

}  // namespace aw::dnn
