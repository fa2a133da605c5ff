// cuDNN: batch normalisation, with an addition and an activation behind it.
#include "libraries/cudnn/activation.h"
#include "libraries/cudnn/normalization.h"

using namespace aw::dnn;

namespace {

Layout parameters_of(const Layout& x, cudnnBatchNormMode_t mode) {
  require(mode >= CUDNN_BATCHNORM_PER_ACTIVATION && mode <= CUDNN_BATCHNORM_SPATIAL_PERSISTENT,
          "no such mode of batch normalisation");
  require(x.rank >= 2, "a tensor without channels");
  Layout shape = x;
  shape.dims[0] = 1;
  for (int i = 2; i < x.rank && mode != CUDNN_BATCHNORM_PER_ACTIVATION; ++i) shape.dims[i] = 1;
  return shape;
}

void check_parameters(const Layout& x, const Layout& parameters, cudnnBatchNormMode_t mode) {
  require(parameters.same_shape(parameters_of(x, mode)),
          "parameters of another shape than the mode's", kWrongShape);
}

void check_epsilon(double epsilon) {
  require(epsilon >= 0, "an epsilon below CUDNN_BN_MIN_EPSILON");
}

struct Behind {
  bool bends = false, adds = false, nan = false;
};
Behind behind(cudnnBatchNormOps_t ops, const cudnnActivationDescriptorStruct* activation) {
  require(ops >= CUDNN_BATCHNORM_OPS_BN && ops <= CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION,
          "no such operation");
  Behind out;
  if (ops == CUDNN_BATCHNORM_OPS_BN) return out;
  out.adds = ops == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION;
  const auto& curve = object(activation);
  if (curve.mode != CUDNN_ACTIVATION_RELU && curve.mode != CUDNN_ACTIVATION_IDENTITY)
    unsupported("batch normalisation with an activation that is not RELU");
  out.bends = curve.mode == CUDNN_ACTIVATION_RELU, out.nan = curve.nan == CUDNN_PROPAGATE_NAN;
  return out;
}

// RELU or nothing, as a choice of numbers, which a loop can be vectors of.
template <class T>
auto bend(const Behind& what) {
  const T least = what.bends ? T{0} : -std::numeric_limits<T>::infinity();
  const T other = !what.bends || what.nan ? std::numeric_limits<T>::quiet_NaN() : least;
  return [least, other](T v) { return v > least ? v : v == v ? least : other; };
}

void forward_training(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const Behind& what,
                      const void* alpha, const void* beta, const View& x, const View* z,
                      const View& y, cudnnTensorDescriptor_t parameters, const void* scale,
                      const void* bias, double factor, cudnnTensorDescriptor_t statistics,
                      void* running_mean, void* running_variance, double epsilon, void* saved_mean,
                      void* saved_inverse) {
  auto& h = object(handle);
  check_epsilon(epsilon);
  require(x.same_shape(y) && (!z || z->same_shape(x)), "tensors of different shapes", kWrongShape);
  check_parameters(x, layout(parameters), mode);
  check_parameters(x, layout(statistics), mode);
  require(!running_mean == !running_variance, "only one of the running statistics");
  const View s = view(parameters, scale), b = view(parameters, bias);
  const Layout shape = layout(statistics);
  const View more = z ? *z : View();
  const double al = scalar(alpha, x.type), be = scalar(beta, x.type);
  work(h, "cudnn_batch_normalization_training", wide(x.type), [=](auto zero) {
    using T = decltype(zero);
    const Statistics found = measure<T>(x, s, true, epsilon);
    normalize<T>(x, found.means(), found.inverses(), s, b, y, static_cast<T>(al),
                 static_cast<T>(be), more, bend<T>(what));
    const double count = static_cast<double>(x.elements()) / static_cast<double>(s.elements());
    auto keep = [&](void* to, const double* values, double by, double old) {
      if (!to) return;
      map<T, 1>(View(shape, to), static_cast<T>(by), static_cast<T>(old),
                {View(found.shape, values)}, Copy{});
    };
    keep(running_mean, found.mean.get(), factor, 1 - factor);
    // The running variance is the unbiased one.
    keep(running_variance, found.variance.get(), factor * (count > 1 ? count / (count - 1) : 1),
         1 - factor);
    keep(saved_mean, found.mean.get(), 1, 0);
    keep(saved_inverse, found.inverse.get(), 1, 0);
  });
}

void forward_inference(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const Behind& what,
                       const void* alpha, const void* beta, const View& x, const View* z,
                       const View& y, cudnnTensorDescriptor_t parameters, const void* scale,
                       const void* bias, cudnnTensorDescriptor_t statistics, const void* mean,
                       const void* variance, double epsilon) {
  auto& h = object(handle);
  check_epsilon(epsilon);
  require(x.same_shape(y) && (!z || z->same_shape(x)), "tensors of different shapes", kWrongShape);
  check_parameters(x, layout(parameters), mode);
  check_parameters(x, layout(statistics), mode);
  const View s = view(parameters, scale), b = view(parameters, bias), m = view(statistics, mean),
             v = view(statistics, variance);
  const View more = z ? *z : View();
  const double al = scalar(alpha, x.type), be = scalar(beta, x.type);
  work(h, "cudnn_batch_normalization_inference", wide(x.type), [=](auto zero) {
    using T = decltype(zero);
    Scratch<double> inverse(s.elements());
    const View made(packed(CUDNN_DATA_DOUBLE, s), inverse.get());
    map<double, 1>(made, 1, 0, {v},
                   each<1>([=](double each_v) { return 1 / std::sqrt(each_v + epsilon); }));
    normalize<T>(x, m, made, s, b, y, static_cast<T>(al), static_cast<T>(be), more, bend<T>(what));
  });
}

void backward(cudnnHandle_t handle, cudnnBatchNormMode_t mode, const Behind& what,
              const void* alpha_data, const void* beta_data, const void* alpha_parameters,
              const void* beta_parameters, const View& x, const View* y, const View& dy,
              const View* dz, const View& dx, cudnnTensorDescriptor_t parameters, const void* scale,
              void* dscale, void* dbias, double epsilon, cudnnTensorDescriptor_t statistics,
              const void* mean, const void* inverse) {
  auto& h = object(handle);
  check_epsilon(epsilon);
  require(x.same_shape(dy) && x.same_shape(dx), "tensors of different shapes", kWrongShape);
  check_parameters(x, layout(parameters), mode);
  check_parameters(x, layout(statistics), mode);
  const Layout shape = layout(statistics);
  require(!mean == !inverse, "only one of the saved statistics");
  const View s = view(parameters, scale), ds = view(parameters, dscale),
             db = view(parameters, dbias);
  NormGradients out;
  out.alpha_data = scalar(alpha_data, x.type), out.beta_data = scalar(beta_data, x.type);
  out.alpha_parameters = scalar(alpha_parameters, x.type),
  out.beta_parameters = scalar(beta_parameters, x.type);
  const View bent = y ? *y : dy, other = dz ? *dz : dx;
  const bool gives = dz != nullptr;
  work(h, "cudnn_batch_normalization_backward", wide(x.type), [=](auto zero) {
    using T = decltype(zero);
    Scratch<T> room(what.bends ? x.elements() : 0);
    View rise = dy;
    if (what.bends) {
      rise = View(packed(type_of<T>(), x), room.get());
      map<T, 2>(rise, 1, 0, {dy, bent}, each<2>([](T d, T v) { return v > 0 ? d : T{0}; }));
    }
    if (gives)
      map<T, 1>(other, static_cast<T>(out.alpha_data), static_cast<T>(out.beta_data), {rise},
                Copy{});
    NormGradients to = out;
    to.dx = &dx, to.dscale = &ds, to.dbias = &db;
    if (mean)
      return normalize_backward<T>(x, rise, s, View(shape, mean), View(shape, inverse), s, true,
                                   to);
    const Statistics found = measure<T>(x, s, true, epsilon);
    normalize_backward<T>(x, rise, s, View(found.shape, found.mean.get()),
                          View(found.shape, found.inverse.get()), s, true, to);
  });
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t derived,
                                                      const cudnnTensorDescriptor_t x,
                                                      cudnnBatchNormMode_t mode) {
  return api<"cudnnDeriveBNTensorDescriptor">([&] {
    const Layout& from = layout(x);
    const Layout shape = parameters_of(from, mode);
    object(derived).layout = packed(wide(from.type) ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, shape);
  });
}

AW_EXPORT cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t y_desc,
    void* y, const cudnnTensorDescriptor_t parameters, const void* scale, const void* bias,
    const void* mean, const void* variance, double epsilon) {
  return api<"cudnnBatchNormalizationForwardInference">([&] {
    forward_inference(handle, mode, {}, alpha, beta, view(x_desc, x), nullptr, view(y_desc, y),
                      parameters, scale, bias, parameters, mean, variance, epsilon);
  });
}

AW_EXPORT cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t y_desc,
    void* y, const cudnnTensorDescriptor_t parameters, const void* scale, const void* bias,
    double factor, void* running_mean, void* running_variance, double epsilon, void* saved_mean,
    void* saved_inverse) {
  return api<"cudnnBatchNormalizationForwardTraining">([&] {
    forward_training(handle, mode, {}, alpha, beta, view(x_desc, x), nullptr, view(y_desc, y),
                     parameters, scale, bias, factor, parameters, running_mean, running_variance,
                     epsilon, saved_mean, saved_inverse);
  });
}

AW_EXPORT cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops, const void* alpha,
    const void* beta, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnTensorDescriptor_t z_desc, const void* z, const cudnnTensorDescriptor_t y_desc,
    void* y, const cudnnTensorDescriptor_t parameters, const void* scale, const void* bias,
    double factor, void* running_mean, void* running_variance, double epsilon, void* saved_mean,
    void* saved_inverse, cudnnActivationDescriptor_t activation, void*, size_t, void*, size_t) {
  return api<"cudnnBatchNormalizationForwardTrainingEx">([&] {
    const Behind what = behind(ops, activation);
    View more;
    if (what.adds) more = view(z_desc, z);
    forward_training(handle, mode, what, alpha, beta, view(x_desc, x), what.adds ? &more : nullptr,
                     view(y_desc, y), parameters, scale, bias, factor, parameters, running_mean,
                     running_variance, epsilon, saved_mean, saved_inverse);
  });
}

AW_EXPORT cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha_data, const void* beta_data,
    const void* alpha_parameters, const void* beta_parameters, const cudnnTensorDescriptor_t x_desc,
    const void* x, const cudnnTensorDescriptor_t dy_desc, const void* dy,
    const cudnnTensorDescriptor_t dx_desc, void* dx, const cudnnTensorDescriptor_t parameters,
    const void* scale, void* dscale, void* dbias, double epsilon, const void* mean,
    const void* inverse) {
  return api<"cudnnBatchNormalizationBackward">([&] {
    backward(handle, mode, {}, alpha_data, beta_data, alpha_parameters, beta_parameters,
             view(x_desc, x), nullptr, view(dy_desc, dy), nullptr, view(dx_desc, dx), parameters,
             scale, dscale, dbias, epsilon, parameters, mean, inverse);
  });
}

AW_EXPORT cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, cudnnBatchNormOps_t ops,
    const void* alpha_data, const void* beta_data, const void* alpha_parameters,
    const void* beta_parameters, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnTensorDescriptor_t y_desc, const void* y, const cudnnTensorDescriptor_t dy_desc,
    const void* dy, const cudnnTensorDescriptor_t dz_desc, void* dz,
    const cudnnTensorDescriptor_t dx_desc, void* dx, const cudnnTensorDescriptor_t parameters,
    const void* scale, const void*, void* dscale, void* dbias, double epsilon, const void* mean,
    const void* inverse, cudnnActivationDescriptor_t activation, void*, size_t, void*, size_t) {
  return api<"cudnnBatchNormalizationBackwardEx">([&] {
    const Behind what = behind(ops, activation);
    View result, other;
    if (what.bends) result = view(y_desc, y);
    if (what.adds) other = view(dz_desc, dz);
    backward(handle, mode, what, alpha_data, beta_data, alpha_parameters, beta_parameters,
             view(x_desc, x), what.bends ? &result : nullptr, view(dy_desc, dy),
             what.adds ? &other : nullptr, view(dx_desc, dx), parameters, scale, dscale, dbias,
             epsilon, parameters, mean, inverse);
  });
}

// Neither a workspace nor a reserve is needed: signs of activations are read from their results.
AW_EXPORT cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnActivationDescriptor_t, size_t* bytes) {
  return api<"cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize">([&] {
    object(handle), require_pointer(bytes);
    *bytes = 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t,
    size_t* bytes) {
  return api<"cudnnGetBatchNormalizationBackwardExWorkspaceSize">([&] {
    object(handle), require_pointer(bytes);
    *bytes = 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    cudnnHandle_t handle, cudnnBatchNormMode_t, cudnnBatchNormOps_t,
    const cudnnActivationDescriptor_t, const cudnnTensorDescriptor_t, size_t* bytes) {
  return api<"cudnnGetBatchNormalizationTrainingExReserveSpaceSize">([&] {
    object(handle), require_pointer(bytes);
    *bytes = 0;
  });
}

// The same by other names, with statistics described apart.
namespace {

cudnnBatchNormMode_t mode_of(cudnnNormMode_t mode, cudnnNormAlgo_t algo, int groups) {
  require(mode == CUDNN_NORM_PER_ACTIVATION || mode == CUDNN_NORM_PER_CHANNEL,
          "no such mode of normalisation");
  require(algo == CUDNN_NORM_ALGO_STANDARD || algo == CUDNN_NORM_ALGO_PERSIST,
          "no such algorithm of normalisation");
  if (groups != 1) unsupported("normalisation in groups");  // as documented
  return mode == CUDNN_NORM_PER_CHANNEL ? CUDNN_BATCHNORM_SPATIAL : CUDNN_BATCHNORM_PER_ACTIVATION;
}
Behind behind(cudnnNormOps_t ops, const cudnnActivationDescriptorStruct* activation) {
  static_assert(static_cast<int>(CUDNN_NORM_OPS_NORM_ADD_ACTIVATION) ==
                static_cast<int>(CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION));
  return behind(static_cast<cudnnBatchNormOps_t>(ops), activation);
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnDeriveNormTensorDescriptor(cudnnTensorDescriptor_t parameters,
                                                        cudnnTensorDescriptor_t statistics,
                                                        const cudnnTensorDescriptor_t x,
                                                        cudnnNormMode_t mode, int groups) {
  return api<"cudnnDeriveNormTensorDescriptor">([&] {
    const Layout& from = layout(x);
    const Layout shape = parameters_of(from, mode_of(mode, CUDNN_NORM_ALGO_STANDARD, groups));
    const Layout made = packed(wide(from.type) ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT, shape);
    object(parameters).layout = object(statistics).layout = made;
  });
}

AW_EXPORT cudnnStatus_t cudnnNormalizationForwardInference(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t ops, cudnnNormAlgo_t algo,
    const void* alpha, const void* beta, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnTensorDescriptor_t parameters, const void* scale, const void* bias,
    const cudnnTensorDescriptor_t statistics, const void* mean, const void* variance,
    const cudnnTensorDescriptor_t z_desc, const void* z, cudnnActivationDescriptor_t activation,
    const cudnnTensorDescriptor_t y_desc, void* y, double epsilon, int groups) {
  return api<"cudnnNormalizationForwardInference">([&] {
    const Behind what = behind(ops, activation);
    View more;
    if (what.adds) more = view(z_desc, z);
    forward_inference(handle, mode_of(mode, algo, groups), what, alpha, beta, view(x_desc, x),
                      what.adds ? &more : nullptr, view(y_desc, y), parameters, scale, bias,
                      statistics, mean, variance, epsilon);
  });
}
AW_EXPORT cudnnStatus_t cudnnNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t ops, cudnnNormAlgo_t algo,
    const void* alpha, const void* beta, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnTensorDescriptor_t parameters, const void* scale, const void* bias, double factor,
    const cudnnTensorDescriptor_t statistics, void* running_mean, void* running_variance,
    double epsilon, void* saved_mean, void* saved_inverse, cudnnActivationDescriptor_t activation,
    const cudnnTensorDescriptor_t z_desc, const void* z, const cudnnTensorDescriptor_t y_desc,
    void* y, void*, size_t, void*, size_t, int groups) {
  return api<"cudnnNormalizationForwardTraining">([&] {
    const Behind what = behind(ops, activation);
    View more;
    if (what.adds) more = view(z_desc, z);
    forward_training(handle, mode_of(mode, algo, groups), what, alpha, beta, view(x_desc, x),
                     what.adds ? &more : nullptr, view(y_desc, y), parameters, scale, bias, factor,
                     statistics, running_mean, running_variance, epsilon, saved_mean,
                     saved_inverse);
  });
}
AW_EXPORT cudnnStatus_t cudnnNormalizationBackward(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t ops, cudnnNormAlgo_t algo,
    const void* alpha_data, const void* beta_data, const void* alpha_parameters,
    const void* beta_parameters, const cudnnTensorDescriptor_t x_desc, const void* x,
    const cudnnTensorDescriptor_t y_desc, const void* y, const cudnnTensorDescriptor_t dy_desc,
    const void* dy, const cudnnTensorDescriptor_t dz_desc, void* dz,
    const cudnnTensorDescriptor_t dx_desc, void* dx, const cudnnTensorDescriptor_t parameters,
    const void* scale, const void*, void* dscale, void* dbias, double epsilon,
    const cudnnTensorDescriptor_t statistics, const void* mean, const void* inverse,
    cudnnActivationDescriptor_t activation, void*, size_t, void*, size_t, int groups) {
  return api<"cudnnNormalizationBackward">([&] {
    const Behind what = behind(ops, activation);
    View result, other;
    if (what.bends) result = view(y_desc, y);
    if (what.adds) other = view(dz_desc, dz);
    backward(handle, mode_of(mode, algo, groups), what, alpha_data, beta_data, alpha_parameters,
             beta_parameters, view(x_desc, x), what.bends ? &result : nullptr, view(dy_desc, dy),
             what.adds ? &other : nullptr, view(dx_desc, dx), parameters, scale, dscale, dbias,
             epsilon, statistics, mean, inverse);
  });
}

AW_EXPORT cudnnStatus_t cudnnGetNormalizationForwardTrainingWorkspaceSize(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t, cudnnNormAlgo_t algo,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t, const cudnnTensorDescriptor_t,
    size_t* bytes, int groups) {
  return api<"cudnnGetNormalizationForwardTrainingWorkspaceSize">([&] {
    object(handle), mode_of(mode, algo, groups), require_pointer(bytes);
    *bytes = 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetNormalizationBackwardWorkspaceSize(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t, cudnnNormAlgo_t algo,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
    const cudnnActivationDescriptor_t, const cudnnTensorDescriptor_t, size_t* bytes, int groups) {
  return api<"cudnnGetNormalizationBackwardWorkspaceSize">([&] {
    object(handle), mode_of(mode, algo, groups), require_pointer(bytes);
    *bytes = 0;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetNormalizationTrainingReserveSpaceSize(
    cudnnHandle_t handle, cudnnNormMode_t mode, cudnnNormOps_t, cudnnNormAlgo_t algo,
    const cudnnActivationDescriptor_t, const cudnnTensorDescriptor_t, size_t* bytes, int groups) {
  return api<"cudnnGetNormalizationTrainingReserveSpaceSize">([&] {
    object(handle), mode_of(mode, algo, groups), require_pointer(bytes);
    *bytes = 0;
  });
}
