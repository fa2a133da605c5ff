// Normalisation over the dimensions where statistics have 1: of batches, layers, instances, and by the root of mean squares.
#pragma once

#include "libraries/cudnn/elementwise.h"

namespace aw::dnn {

// Mean (0 where `centred` is not wanted) and 1 / sqrt(variance + epsilon) of each group, row-major.
struct Statistics {
  Layout shape;
  Scratch<double> mean, inverse, variance;
  Statistics(const Layout& of, bool doubles);
  View means(const Layout& x) const { return spread(View(shape, mean.get()), x); }
  View inverses(const Layout& x) const { return spread(View(shape, inverse.get()), x); }
};

template <class T>
Statistics measure(const View& x, const Layout& kept, bool centred, double epsilon);

// (x - mean) * inverse * scale + bias; without bias where it has no memory.
template <class T, class Finish>
void normalize(const View& x, const View& mean, const View& inverse, const View& scale, const View& bias,
               const View& y, T alpha, T beta, const View& z, const Finish& finish) {
  map<T, 6>(y, alpha, beta, {x, mean, inverse, scale, bias, z},
            each<6>([=](T v, T m, T i, T s, T b, T more) { return finish((v - m) * i * s + b + more); }));
}

struct NormGradients {
  const View *dx = nullptr, *dscale = nullptr, *dbias = nullptr;  // those that are wanted
  double alpha_data = 1, beta_data = 0, alpha_parameters = 1, beta_parameters = 0;
};
// `mean` and `inverse` have the shape of statistics, `scale` that of parameters. Without `centred` the mean is no function of x.
template <class T>
void normalize_backward(const View& x, const View& dy, const Layout& kept, const View& mean, const View& inverse,
                        const View& scale, bool centred, const NormGradients& out);

// A tensor of one number everywhere.
View constant(double value, const Layout& shape);

}  // namespace aw::dnn
