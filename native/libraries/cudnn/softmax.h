// Softmax over the dimensions where `kept` has 1.
#pragma once

#include "libraries/cudnn/view.h"

namespace aw::dnn {

struct Greater {
  static constexpr double identity = -__builtin_inf();
  static double combine(double a, double b) { return a > b || a != a ? a : b; }
};

template <class T>
void softmax_forward(bool logarithm, const Layout& kept, const View& x, const View& y, T alpha,
                     T beta);
template <class T>
void softmax_backward(bool logarithm, const Layout& kept, const View& y, const View& dy,
                      const View& dx, T alpha, T beta);

// Of one row, which may be its own result.
template <class T>
void softmax_row(const T* x, size_t count, T* y);
template <class T>
void softmax_row_backward(const T* y, const T* dy, size_t count, T* dx);

}  // namespace aw::dnn
