// The curves of neural networks and their slopes, for activations and for pointwise operations of
// graphs.
#pragma once

#include <cmath>

#include "libraries/cudnn/objects.h"
#include "libraries/cudnn/vector_math.h"

namespace aw::dnn {

// Bounds and factors of a curve, as the graph interface has them.
struct Curve {
  double lower = 0, upper = INFINITY, slope = 0;  // of RELU
  double alpha = 1, beta = 1;                     // of ELU; of SOFTPLUS and SWISH
  bool nan = true;                                // whether RELU hands NaN on
};

template <class T>
T sigmoid(T x) {
  return T{1} / (T{1} + quick_exp(-x));
}
template <class T>
T softplus(T x, T beta) {
  const T scaled = beta * x;
  return (std::max(scaled, T{0}) + std::log1p(std::exp(-std::fabs(scaled)))) / beta;
}
constexpr double kRootHalf = 0.70710678118654752440, kRoot2OverPi = 0.79788456080286535588,
                 kRoot1Over2Pi = 0.39894228040143267794, kGeluCubic = 0.044715;

template <class T>
T gelu(T x) {
  return T{0.5} * x * (T{1} + std::erf(x * static_cast<T>(kRootHalf)));
}
template <class T>
T gelu_slope(T x) {
  return T{0.5} * (T{1} + std::erf(x * static_cast<T>(kRootHalf))) +
         x * static_cast<T>(kRoot1Over2Pi) * quick_exp(T{-0.5} * x * x);
}
template <class T>
T gelu_tanh(T x) {
  return T{0.5} * x *
         (T{1} +
          quick_tanh(static_cast<T>(kRoot2OverPi) * (x + static_cast<T>(kGeluCubic) * x * x * x)));
}
template <class T>
T gelu_tanh_slope(T x) {
  const T inner =
      quick_tanh(static_cast<T>(kRoot2OverPi) * (x + static_cast<T>(kGeluCubic) * x * x * x));
  const T rise = static_cast<T>(kRoot2OverPi) * (T{1} + T{3} * static_cast<T>(kGeluCubic) * x * x);
  return T{0.5} * (T{1} + inner) + T{0.5} * x * (T{1} - inner * inner) * rise;
}

template <class T>
T relu(T x, T lower, T upper, T slope, bool nan) {
  const T low = slope == 0 ? lower : lower + slope * (x - lower);
  const T within = x > upper ? upper : x > lower ? x : low;
  return x == x ? within : nan ? x : lower;
}

// A curve of the classical interface, applied to a view.
template <class T>
void activate(const cudnnActivationDescriptorStruct& what, const View& out, T alpha, T beta,
              const View& in);
Curve curve_of(const cudnnActivationDescriptorStruct& what);

}  // namespace aw::dnn
