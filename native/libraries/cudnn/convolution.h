// Convolutions of one to three dimensions of space: what both interfaces ask of whatever computes
// them.
#pragma once

#include <limits>
#include <vector>

#include "libraries/cudnn/objects.h"

namespace aw::dnn {

// Tensors are N, C and space, filters K, C of a group and space. The output's size says what pads
// are behind.
struct Convolution {
  int rank = 2;
  int64_t pads[3] = {}, strides[3] = {1, 1, 1}, dilations[3] = {1, 1, 1};
  bool flipped = false;  // CUDNN_CONVOLUTION, else CUDNN_CROSS_CORRELATION
};

// Throws where shapes do not go together; opens OpenBLAS.
void check_convolution(const Convolution& how, const Layout& x, const Layout& w, const Layout& y);

// y = alpha * (x convolved with w) + beta * y, and its gradients. Inside of work.
template <class T>
void convolve(const Convolution& how, const View& x, const View& w, const View& y, T alpha, T beta);
// What becomes of sums before they are stored: each filter's number is added, and what is not above
// `least` becomes that. NaN becomes `nan`.
struct Finish {
  std::vector<float> bias;
  float least = -std::numeric_limits<float>::infinity(),
        nan = std::numeric_limits<float>::quiet_NaN();
};
std::vector<float> numbers_of_channels(const View& bias);
// y = what becomes of (x convolved with w), where that is done on the way out. Else nothing is
// done, and false.
bool convolve_finished(const Convolution& how, const View& x, const View& w, const View& y,
                       const Finish& finish);
template <class T>
void convolve_data(const Convolution& how, const View& w, const View& dy, const View& dx, T alpha,
                   T beta);
template <class T>
void convolve_filter(const Convolution& how, const View& x, const View& dy, const View& dw, T alpha,
                     T beta);

}  // namespace aw::dnn
