// Operations of graphs that normalise.
#include "libraries/cudnn/graph.h"
#include "libraries/cudnn/normalization.h"
#include "libraries/cudnn/softmax.h"
#include "libraries/cudnn/vector_math.h"

namespace aw::dnn {
namespace {

constexpr size_t kNone = SIZE_MAX;
#ifdef AW_CUDA_12
constexpr int kAdaptive = 5;
#else
constexpr int kAdaptive = CUDNN_ADA_LAYER_NORM;
#endif
size_t optional(Builder& builder, const Content& c, int attribute) {
  return c.has(attribute) ? builder.slot(c, attribute) : kNone;
}

// What statistics have: of batches and instances by their meaning, of layers where parameters
// have 1.
Layout statistics_shape(int mode, const Layout& x, const Layout& scale) {
  Layout kept = x;
  for (int i = 0; i < x.rank; ++i) {
    const bool stays = mode == CUDNN_BATCH_NORM      ? i == 1
                       : mode == CUDNN_INSTANCE_NORM ? i < 2
                                                     : scale.dims[i] == 1;
    if (!stays) kept.dims[i] = 1;
  }
  // Parameters for each image (CUDNN_ADA_LAYER_NORM) do not join images.
  if (mode == kAdaptive) kept.dims[0] = x.dims[0];
  return kept;
}

int mode_of(const Content& c, int attribute) {
  const int mode = c.get<int32_t>(attribute);
  if (mode < CUDNN_LAYER_NORM || mode > kAdaptive || mode == CUDNN_GROUP_NORM)
    unsupported("a normalisation of mode " + std::to_string(mode));
  return mode;
}

template <class T>
void keep(const Run& run, size_t slot, const Layout& shape, const double* values, double alpha = 1,
          const View* old = nullptr, double old_factor = 0) {
  if (slot == kNone) return;
  const View from(shape, values);
  if (!old) return map<T, 1>(run[slot], static_cast<T>(alpha), 0, {from}, Copy{});
  map<T, 2>(run[slot], 1, 0, {from, *old},
            each<2>([a = static_cast<T>(alpha), b = static_cast<T>(old_factor)](T v, T o) {
              return a * v + b * o;
            }));
}

void add_norm_forward(Builder& builder, const Content& c) {
  const int mode = mode_of(c, CUDNN_ATTR_OPERATION_NORM_FWD_MODE);
  if (c.has(CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS))
    unsupported("a normalisation over several GPUs");
  const bool trains = c.get<cudnnBackendNormFwdPhase_t>(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE) ==
                      CUDNN_NORM_FWD_TRAINING;
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC),
               y = builder.slot(c, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC),
               scale = builder.slot(c, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC);
  const size_t bias = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC),
               epsilon = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC),
               factor = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC),
               mean = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC),
               inverse = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC),
               old_mean =
                   optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC),
               old_variance =
                   optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC),
               new_mean =
                   optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC),
               new_variance =
                   optional(builder, c, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC);
  const Layout shape = builder.layout(x);
  const Layout kept = statistics_shape(mode, shape, builder.layout(scale));
  require(builder.layout(y).same_shape(shape) && spreads(builder.layout(scale), shape),
          "tensors that do not go together", kWrongShape);
  require(bias == kNone || builder.layout(bias).same_shape(builder.layout(scale)),
          "a bias that does not go with the tensor", kWrongShape);
  for (size_t slot : {mean, inverse, old_mean, old_variance, new_mean, new_variance})
    require(slot == kNone || builder.layout(slot).same_shape(kept), "statistics of another shape",
            kWrongShape);
  require((new_mean == kNone && new_variance == kNone) ||
              (old_mean != kNone && old_variance != kNone && factor != kNone && new_mean != kNone &&
               new_variance != kNone),
          "running statistics that are not complete");
  const bool given = !trains && mean != kNone && inverse != kNone;
  require(given || epsilon != kNone, "a normalisation without epsilon");
  const bool centred = mode != CUDNN_RMS_NORM;
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const View &in = run[x], &s = run[scale];
    const View b = bias == kNone ? View() : run[bias];
    auto same = [](T v) { return v; };
    if (given) return normalize<T>(in, run[mean], run[inverse], s, b, run[y], 1, 0, View(), same);
    const Statistics found = measure<T>(in, kept, centred, number_of(run[epsilon]));
    normalize<T>(in, found.means(), found.inverses(), s, b, run[y], 1, 0, View(), same);
    if (trains)
      keep<T>(run, mean, found.shape, found.mean.get()),
          keep<T>(run, inverse, found.shape, found.inverse.get());
    if (new_mean == kNone) return;
    const double by = number_of(run[factor]);
    const double count = static_cast<double>(in.elements()) / static_cast<double>(kept.elements());
    keep<T>(run, new_mean, found.shape, found.mean.get(), by, &run[old_mean], 1 - by);
    keep<T>(run, new_variance, found.shape, found.variance.get(),
            by * (count > 1 ? count / (count - 1) : 1), &run[old_variance], 1 - by);
  });
}

void add_norm_backward(Builder& builder, const Content& c) {
  const int mode = mode_of(c, CUDNN_ATTR_OPERATION_NORM_BWD_MODE);
  if (c.has(CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS))
    unsupported("a normalisation over several GPUs");
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC),
               dy = builder.slot(c, CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC),
               dx = builder.slot(c, CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC),
               scale = builder.slot(c, CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC);
  const size_t mean = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC),
               inverse = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC),
               epsilon = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC),
               dscale = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC),
               dbias = optional(builder, c, CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC);
  const Layout shape = builder.layout(x), parameters = builder.layout(scale);
  const Layout kept = statistics_shape(mode, shape, parameters);
  require(builder.layout(dy).same_shape(shape) && builder.layout(dx).same_shape(shape) &&
              spreads(parameters, shape),
          "tensors that do not go together", kWrongShape);
  for (size_t slot : {mean, inverse})
    require(slot == kNone || builder.layout(slot).same_shape(kept), "statistics of another shape",
            kWrongShape);
  for (size_t slot : {dscale, dbias})
    require(slot == kNone || builder.layout(slot).same_shape(parameters),
            "gradients of another shape than parameters", kWrongShape);
  const bool centred = mode != CUDNN_RMS_NORM;
  const bool given = inverse != kNone && (mean != kNone || !centred);
  require(given || epsilon != kNone, "a normalisation with neither statistics nor epsilon");
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    NormGradients out;
    out.dx = &run[dx];
    if (dscale != kNone) out.dscale = &run[dscale];
    if (dbias != kNone) out.dbias = &run[dbias];
    if (given) {
      const View means = centred ? run[mean] : constant(0, kept);
      return normalize_backward<T>(run[x], run[dy], kept, means, run[inverse], run[scale], centred,
                                   out);
    }
    const Statistics found = measure<T>(run[x], kept, centred, number_of(run[epsilon]));
    normalize_backward<T>(run[x], run[dy], kept, View(found.shape, found.mean.get()),
                          View(found.shape, found.inverse.get()), run[scale], centred, out);
  });
}

void add_statistics(Builder& builder, const Content& c) {
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_GENSTATS_XDESC),
               sum = builder.slot(c, CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC),
               squares = builder.slot(c, CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC);
  const Layout shape = builder.layout(sum);
  require(spreads(shape, builder.layout(x)) && builder.layout(squares).same_shape(shape),
          "sums of another shape", kWrongShape);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    Scratch<double> found(shape.elements());
    const Layout rows = packed(CUDNN_DATA_DOUBLE, shape);
    reduce<Sum, T, 1>(run[x], shape, {run[x]}, Copy{}, found.get());
    keep<T>(run, sum, rows, found.get());
    reduce<Sum, T, 1>(run[x], shape, {run[x]}, each<1>([](T v) { return v * v; }), found.get());
    keep<T>(run, squares, rows, found.get());
  });
}

#define AW_B(name) CUDNN_ATTR_OPERATION_BN_FINALIZE_##name
void add_finalize(Builder& builder, const Content& c) {
  const bool trains = c.get<int32_t>(AW_B(STATS_MODE), CUDNN_BN_FINALIZE_STATISTICS_TRAINING) ==
                      CUDNN_BN_FINALIZE_STATISTICS_TRAINING;
  auto slot = [&](int name) { return optional(builder, c, name); };
  const size_t sum = slot(AW_B(Y_SUM_DESC)), squares = slot(AW_B(Y_SQ_SUM_DESC)),
               scale = slot(AW_B(SCALE_DESC)), bias = slot(AW_B(BIAS_DESC)),
               old_mean = slot(AW_B(PREV_RUNNING_MEAN_DESC)),
               old_variance = slot(AW_B(PREV_RUNNING_VAR_DESC)),
               new_mean = slot(AW_B(UPDATED_RUNNING_MEAN_DESC)),
               new_variance = slot(AW_B(UPDATED_RUNNING_VAR_DESC)),
               saved_mean = slot(AW_B(SAVED_MEAN_DESC)),
               saved_inverse = slot(AW_B(SAVED_INV_STD_DESC)), eq_scale = slot(AW_B(EQ_SCALE_DESC)),
               eq_bias = slot(AW_B(EQ_BIAS_DESC)), count = slot(AW_B(ACCUM_COUNT_DESC)),
               epsilon = slot(AW_B(EPSILON_DESC)), factor = slot(AW_B(EXP_AVERATE_FACTOR_DESC));
  require(scale != kNone && bias != kNone && epsilon != kNone, "an operand is missing");
  require(trains ? sum != kNone && squares != kNone && count != kNone
                 : old_mean != kNone && old_variance != kNone,
          "an operand is missing");
  require((new_mean == kNone && new_variance == kNone) ||
              (new_mean != kNone && new_variance != kNone && old_mean != kNone &&
               old_variance != kNone && factor != kNone),
          "running statistics that are not complete");
  const Layout shape = builder.layout(scale);
  for (size_t each_slot : {sum, squares, bias, old_mean, old_variance, new_mean, new_variance,
                           saved_mean, saved_inverse, eq_scale, eq_bias})
    require(each_slot == kNone || builder.layout(each_slot).same_shape(shape),
            "tensors of different shapes", kWrongShape);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const int64_t channels = shape.elements();
    const Dense<double> s(run[scale]), b(run[bias]), first(run[trains ? sum : old_mean]),
        second(run[trains ? squares : old_variance]);
    const double n = trains ? number_of(run[count]) : 1,
                 by = factor == kNone ? 0 : number_of(run[factor]), least = number_of(run[epsilon]);
    Scratch<double> mean(channels), variance(channels), inverse(channels), es(channels),
        eb(channels);
    for (int64_t i = 0; i < channels; ++i) {
      mean[i] = first[i] / n;
      variance[i] = trains ? std::max(0.0, second[i] / n - mean[i] * mean[i]) : second[i];
      inverse[i] = 1 / std::sqrt(variance[i] + least);
      es[i] = s[i] * inverse[i], eb[i] = b[i] - mean[i] * es[i];
    }
    const Layout rows = packed(CUDNN_DATA_DOUBLE, shape);
    keep<T>(run, saved_mean, rows, mean.get()), keep<T>(run, saved_inverse, rows, inverse.get());
    keep<T>(run, eq_scale, rows, es.get()), keep<T>(run, eq_bias, rows, eb.get());
    if (!trains || new_mean == kNone) return;
    keep<T>(run, new_mean, rows, mean.get(), by, &run[old_mean], 1 - by);
    keep<T>(run, new_variance, rows, variance.get(), by * (n > 1 ? n / (n - 1) : 1),
            &run[old_variance], 1 - by);
  });
}
#undef AW_B

#define AW_B(name) CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_##name
// dx = eq_dy_scale * dy + eq_x_scale * x + eq_bias is left to the program.
void add_backward_weights(Builder& builder, const Content& c) {
  auto slot = [&](int name) {
    require(c.has(name), "an operand is missing");
    return builder.slot(c, name);
  };
  const size_t mean = slot(AW_B(MEAN_DESC)), inverse = slot(AW_B(INVSTD_DESC)),
               scale = slot(AW_B(BN_SCALE_DESC)), x = slot(AW_B(X_DESC)), dy = slot(AW_B(DY_DESC)),
               dscale = slot(AW_B(DBN_SCALE_DESC)), dbias = slot(AW_B(DBN_BIAS_DESC)),
               eq_dy = slot(AW_B(EQ_DY_SCALE_DESC)), eq_x = slot(AW_B(EQ_X_SCALE_DESC)),
               eq_bias = slot(AW_B(EQ_BIAS));
  const Layout shape = builder.layout(scale);
  require(spreads(shape, builder.layout(x)) && builder.layout(dy).same_shape(builder.layout(x)),
          "tensors that do not go together", kWrongShape);
  for (size_t each_slot : {mean, inverse, dscale, dbias, eq_dy, eq_x, eq_bias})
    require(builder.layout(each_slot).same_shape(shape), "tensors of different shapes",
            kWrongShape);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const int64_t channels = shape.elements();
    const View& in = run[x];
    Scratch<double> ds(channels), db(channels), a(channels), b(channels), k(channels);
    const Layout rows = packed(CUDNN_DATA_DOUBLE, shape);
    reduce<Sum, T, 1>(in, shape, {run[dy]}, Copy{}, db.get());
    reduce<Sum, T, 4>(in, shape, {run[dy], in, spread(run[mean], in), spread(run[inverse], in)},
                      each<4>([](T d, T v, T m, T i) { return d * (v - m) * i; }), ds.get());
    const Dense<double> m(run[mean]), i(run[inverse]), s(run[scale]);
    const double n = static_cast<double>(in.elements()) / static_cast<double>(channels);
    for (int64_t at = 0; at < channels; ++at) {
      a[at] = s[at] * i[at];
      b[at] = -a[at] * i[at] * ds[at] / n;
      k[at] = -a[at] * db[at] / n - b[at] * m[at];
    }
    keep<T>(run, dscale, rows, ds.get()), keep<T>(run, dbias, rows, db.get());
    keep<T>(run, eq_dy, rows, a.get()), keep<T>(run, eq_x, rows, b.get()),
        keep<T>(run, eq_bias, rows, k.get());
  });
}
#undef AW_B

#ifndef AW_CUDA_12
// Statistics are the logarithm of the sum of exponentials.
void add_softmax(Builder& builder, const Content& c) {
  if (c.has(CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC)) unsupported("SOFTMAX with a sink");
  if (c.get<bool>(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2, false))
    unsupported("SOFTMAX with statistics to the base 2");
  const size_t x = builder.slot(c, CUDNN_ATTR_OPERATION_SOFTMAX_XDESC),
               y = builder.slot(c, CUDNN_ATTR_OPERATION_SOFTMAX_YDESC);
  const size_t stats = optional(builder, c, CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC),
               most = optional(builder, c, CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC),
               sums = optional(builder, c, CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC);
  Layout kept = builder.layout(x);
  kept.dims[kept.rank - 1] = 1;
  require(builder.layout(y).same_shape(builder.layout(x)), "tensors of different shapes",
          kWrongShape);
  for (size_t slot : {stats, most, sums})
    require(slot == kNone || builder.layout(slot).same_shape(kept), "statistics of another shape",
            kWrongShape);
  builder.add([=](const Run& run, auto zero) {
    using T = decltype(zero);
    const View& in = run[x];
    const Layout rows = packed(CUDNN_DATA_DOUBLE, kept);
    Scratch<double> peak(kept.elements()), sum(kept.elements());
    reduce<Greater, T, 1>(in, kept, {in}, Copy{}, peak.get());
    reduce<Sum, T, 2>(in, kept, {in, spread(View(rows, peak.get()), in)},
                      each<2>([](T v, T m) { return quick_exp(v - m); }), sum.get());
    keep<T>(run, most, rows, peak.get()), keep<T>(run, sums, rows, sum.get());
    map<T, 3>(run[y], 1, 0,
              {in, spread(View(rows, peak.get()), in), spread(View(rows, sum.get()), in)},
              each<3>([](T v, T m, T s) { return quick_exp(v - m) / s; }));
    for (int64_t i = 0; i < kept.elements(); ++i) sum[i] = peak[i] + std::log(sum[i]);
    keep<T>(run, stats, rows, sum.get());
  });
}
#endif

}  // namespace

bool add_norms(Builder& builder, const Content& c) {
  switch (c.type) {
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
      return add_norm_forward(builder, c), true;
    case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:
      return add_norm_backward(builder, c), true;
    case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
      return add_statistics(builder, c), true;
    case CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR:
      return add_finalize(builder, c), true;
    case CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR:
      return add_backward_weights(builder, c), true;
#ifndef AW_CUDA_12
    case CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR:
      return add_softmax(builder, c), true;
#endif
    default:
      return false;
  }
}

}  // namespace aw::dnn
