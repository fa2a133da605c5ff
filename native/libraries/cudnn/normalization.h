// Normalisation over the dimensions where statistics have 1: of batches, layers, instances, and by
// the root of mean squares.
#pragma once

#include "libraries/cudnn/elementwise.h"

namespace aw::dnn {

// Mean (0 where `centred` is not wanted) and 1 / sqrt(variance + epsilon) of each group, row-major.
struct Statistics {
  Layout shape;
  Scratch<double> mean, inverse, variance;
  Statistics(const Layout& of, bool doubles);
  View means() const { return {shape, mean.get()}; }
  View inverses() const { return {shape, inverse.get()}; }
};

template <class T>
Statistics measure(const View& x, const Layout& kept, bool centred, double epsilon);

// A tensor of one number everywhere.
View constant(double value, const Layout& shape);

// finish((x - mean) * inverse * scale + bias + z); without bias or z where they have no memory.
// `bias` has the shape of `scale`.
template <class T, class Finish>
void normalize(const View& x, const View& mean, const View& inverse, const View& scale,
               const View& bias, const View& y, T alpha, T beta, const View& z,
               const Finish& finish) {
  if (mean.same_shape(scale)) {  // one factor and one term for each group
    const int64_t groups = scale.elements();
    const Dense<double> m(mean), i(inverse), s(scale);
    Scratch<double> factor(groups), term(groups);
    for (int64_t k = 0; k < groups; ++k) factor[k] = i[k] * s[k], term[k] = -m[k] * factor[k];
    if (bias.data) {
      const Dense<double> b(bias);
      for (int64_t k = 0; k < groups; ++k) term[k] += b[k];
    }
    const Layout rows = packed(CUDNN_DATA_DOUBLE, scale);
    const View f = spread(View(rows, factor.get()), x), t = spread(View(rows, term.get()), x);
    if (z.data)
      return map<T, 4>(y, alpha, beta, {x, f, t, z},
                       each<4>([=](T v, T a, T b, T more) { return finish(v * a + b + more); }));
    return map<T, 3>(y, alpha, beta, {x, f, t},
                     each<3>([=](T v, T a, T b) { return finish(v * a + b); }));
  }
  const View b = bias.data ? bias : constant(0, scale), more = z.data ? z : constant(0, x);
  map<T, 6>(y, alpha, beta,
            {x, spread(mean, x), spread(inverse, x), spread(scale, x), spread(b, x), more},
            each<6>([=](T v, T m, T i, T s, T o, T another) {
              return finish((v - m) * i * s + o + another);
            }));
}

struct NormGradients {
  const View *dx = nullptr, *dscale = nullptr, *dbias = nullptr;  // those that are wanted
  double alpha_data = 1, beta_data = 0, alpha_parameters = 1, beta_parameters = 0;
};
// `mean` and `inverse` have the shape of statistics, `scale` that of parameters. Without `centred`
// the mean is no function of x.
template <class T>
void normalize_backward(const View& x, const View& dy, const Layout& kept, const View& mean,
                        const View& inverse, const View& scale, bool centred,
                        const NormGradients& out);

}  // namespace aw::dnn
