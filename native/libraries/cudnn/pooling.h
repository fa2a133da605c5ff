// Pooling of one to three dimensions of space, and what LRN's descriptor holds.
#pragma once

#include "libraries/cudnn/objects.h"

namespace aw::dnn {

constexpr int kSpace = 3;

enum class Pool { max, include, exclude };

// How one tensor of N, C and space is pooled into another; pads may differ before and behind, for
// the output's size says the rest.
struct Pooling {
  Pool mode = Pool::max;
  bool nan = true;  // NaN wins over every number
  int rank = 2;
  int64_t window[kSpace] = {1, 1, 1}, pads[kSpace] = {0, 0, 0}, strides[kSpace] = {1, 1, 1};
};

template <class T>
void pool_forward(const Pooling& how, const View& x, const View& y, T alpha, T beta,
                  const View* index);
// The gradient goes to the first place that has the maximum, or, with `index`, to the one that it
// names.
template <class T>
void pool_backward(const Pooling& how, const View& x, const View& dy, const View& dx, T alpha,
                   T beta, const View* index);

}  // namespace aw::dnn

struct cudnnPoolingDescriptorStruct : aw::dnn::Object<7> {
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  int rank = 0;
  int window[aw::dnn::kSpace] = {}, pads[aw::dnn::kSpace] = {}, strides[aw::dnn::kSpace] = {};
};
struct cudnnLRNDescriptorStruct : aw::dnn::Object<8> {
  unsigned n = 5;
  double alpha = 1e-4, beta = 0.75, k = 2.0;
};
