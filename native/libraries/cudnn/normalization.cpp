#include "libraries/cudnn/normalization.h"

namespace aw::dnn {

Statistics::Statistics(const Layout& of, bool)
    : shape(packed(CUDNN_DATA_DOUBLE, of)),
      mean(of.elements()),
      inverse(of.elements()),
      variance(of.elements()) {}

View constant(double value, const Layout& shape) {
  static const double zero = 0, one = 1;
  Layout single = packed(CUDNN_DATA_DOUBLE, shape);
  for (auto& stride : single.strides) stride = 0;
  return {single, value == 0 ? &zero : &one};
}

template <class T>
Statistics measure(const View& x, const Layout& kept, bool centred, double epsilon) {
  Statistics out(kept, sizeof(T) == 8);
  const int64_t groups = kept.elements();
  const double count = static_cast<double>(x.elements()) / static_cast<double>(groups);
  if (centred)
    reduce<Sum, T, 1>(x, kept, {x}, Copy{}, out.mean.get());
  else
    std::fill_n(out.mean.get(), groups, 0.0);
  for (int64_t i = 0; i < groups; ++i) out.mean[i] /= count;
  reduce<Sum, T, 2>(x, kept, {x, spread(out.means(), x)},
                    each<2>([](T v, T m) { return (v - m) * (v - m); }), out.variance.get());
  for (int64_t i = 0; i < groups; ++i) {
    out.variance[i] /= count;
    out.inverse[i] = 1 / std::sqrt(out.variance[i] + epsilon);
  }
  return out;
}

template <class T>
void normalize_backward(const View& x, const View& dy, const Layout& kept, const View& mean,
                        const View& inverse, const View& scale, bool centred,
                        const NormGradients& out) {
  const View m = spread(mean, x), i = spread(inverse, x), s = spread(scale, x);
  const auto normal = [](T d, T v, T mean_of, T inverse_of) {
    return d * (v - mean_of) * inverse_of;
  };
  const auto alpha = static_cast<T>(out.alpha_parameters),
             beta = static_cast<T>(out.beta_parameters);
  auto sums = [&](const Layout& shape, Scratch<double>& plain, Scratch<double>& weighted) {
    plain.reset(shape.elements()), weighted.reset(shape.elements());
    reduce<Sum, T, 1>(x, shape, {dy}, Copy{}, plain.get());
    reduce<Sum, T, 4>(x, shape, {dy, x, m, i}, each<4>(normal), weighted.get());
  };
  Scratch<double> plain, weighted;
  sums(scale, plain, weighted);
  const Layout rows = packed(CUDNN_DATA_DOUBLE, scale);
  if (out.dscale) map<T, 1>(*out.dscale, alpha, beta, {View(rows, weighted.get())}, Copy{});
  if (out.dbias) map<T, 1>(*out.dbias, alpha, beta, {View(rows, plain.get())}, Copy{});
  if (!out.dx) return;
  // dx = inverse * (g - mean of g - normal * mean of g * normal), where g = dy * scale
  Scratch<double> first(kept.elements()), second(kept.elements());
  const double count = static_cast<double>(x.elements()) / static_cast<double>(kept.elements());
  reduce<Sum, T, 2>(x, kept, {dy, s}, each<2>([](T d, T f) { return d * f; }), first.get());
  reduce<Sum, T, 5>(x, kept, {dy, x, m, i, s},
                    each<5>([=](T d, T v, T a, T b, T f) { return normal(d * f, v, a, b); }),
                    second.get());
  for (int64_t k = 0; k < kept.elements(); ++k) {
    first[k] = centred ? first[k] / count : 0;
    second[k] /= count;
  }
  const Layout groups = packed(CUDNN_DATA_DOUBLE, kept);
  map<T, 7>(
      *out.dx, static_cast<T>(out.alpha_data), static_cast<T>(out.beta_data),
      {dy, x, m, i, s, spread(View(groups, first.get()), x), spread(View(groups, second.get()), x)},
      each<7>(
          [](T d, T v, T a, T b, T f, T g, T gn) { return b * (d * f - g - (v - a) * b * gn); }));
}

#define AW_NORMS(T)                                                                         \
  template Statistics measure<T>(const View&, const Layout&, bool, double);                 \
  template void normalize_backward<T>(const View&, const View&, const Layout&, const View&, \
                                      const View&, const View&, bool, const NormGradients&)
AW_NORMS(float);
AW_NORMS(double);
#undef AW_NORMS

}  // namespace aw::dnn
