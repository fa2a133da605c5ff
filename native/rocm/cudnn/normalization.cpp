// Batch normalization, alone and with an addition and an activation behind it.
#include "rocm/cudnn/objects.h"

using namespace aw::dnn;

namespace {

// MIOpen does not write what its parameter lists say it might.
template <class T>
T* writable(const T* pointer) {
  return const_cast<T*>(pointer);
}

void infer(cudnnHandle_t handle, miopenBatchNormMode_t mode, const void* alpha, const void* beta,
           cudnnTensorDescriptor_s& from, const void* x, cudnnTensorDescriptor_s& to, void* y,
           cudnnTensorDescriptor_s& parameters, const void* scale, const void* bias,
           const void* mean, const void* variance, double epsilon) {
  float one = 1, zero = 0;
  blend(object(handle), scalar(alpha, from.type), scalar(beta, to.type), to, y, [&](void* out) {
    MIOPEN(BatchNormalizationForwardInference, handle->miopen, mode, &one, &zero,
           from.counterpart(), x, to.counterpart(), out, parameters.counterpart(), writable(scale),
           writable(bias), writable(mean), writable(variance), epsilon);
  });
}

struct Training {
  cudnnTensorDescriptor_t parameters;
  const void *scale, *bias;
  double factor;
  void *running_mean, *running_variance;
  double epsilon;
  void *save_mean, *save_inverse;
};

void train(cudnnHandle_t handle, miopenBatchNormMode_t mode, const void* alpha, const void* beta,
           cudnnTensorDescriptor_s& from, const void* x, cudnnTensorDescriptor_s& to, void* y,
           const Training& t) {
  float one = 1, zero = 0;
  blend(object(handle), scalar(alpha, from.type), scalar(beta, to.type), to, y, [&](void* out) {
    MIOPEN(BatchNormalizationForwardTraining, handle->miopen, mode, &one, &zero, from.counterpart(),
           x, to.counterpart(), out, object(t.parameters).counterpart(), writable(t.scale),
           writable(t.bias), t.factor, t.running_mean, t.running_variance, t.epsilon, t.save_mean,
           t.save_inverse);
  });
}

// Gradients of the parameters are written, or added to by way of scratch memory.
struct Gradients {
  cudnnTensorDescriptor_t parameters;
  const void* scale;
  void *d_scale, *d_bias;
  double epsilon;
  const void *mean, *inverse;
};

void back(cudnnHandle_t handle, miopenBatchNormMode_t mode, const void* alpha, const void* beta,
          const void* alpha_parameters, const void* beta_parameters, cudnnTensorDescriptor_s& from,
          const void* x, cudnnTensorDescriptor_s& dy_desc, const void* dy,
          cudnnTensorDescriptor_s& to, void* dx, const Gradients& g) {
  auto& parameters = object(g.parameters);
  const float factor = scalar(alpha_parameters, parameters.type),
              kept = scalar(beta_parameters, parameters.type);
  Scratch scales(object(handle).stream, kept != 0 ? parameters.bytes() : 0),
      biases(handle->stream, kept != 0 ? parameters.bytes() : 0);
  void* d_scale = kept != 0 ? scales.data() : g.d_scale;
  void* d_bias = kept != 0 ? biases.data() : g.d_bias;
  blend(*handle, scalar(alpha, from.type), scalar(beta, to.type), to, dx, [&](void* out) {
    MIOPEN(BatchNormalizationBackward, handle->miopen, mode, &kOne, &kZero, &kOne, &kZero,
           from.counterpart(), x, dy_desc.counterpart(), dy, to.counterpart(), out,
           parameters.counterpart(), g.scale, d_scale, d_bias, g.epsilon, g.mean, g.inverse);
  });
  for (auto [fresh, result] : {std::pair{d_scale, g.d_scale}, std::pair{d_bias, g.d_bias}}) {
    if (kept != 0)
      add_tensors(*handle, factor, parameters, fresh, kept, parameters, result, parameters, result);
    else if (factor != 1)
      MIOPEN(ScaleTensor, handle->miopen, parameters.counterpart(), result, &factor);
  }
}

void require_known(cudnnBatchNormOps_t ops) {
  require(ops >= CUDNN_BATCHNORM_OPS_BN && ops <= CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION,
          "no such operation");
}

}  // namespace

AW_CUDNN(cudnnDeriveBNTensorDescriptor, cudnnTensorDescriptor_t derived,
         const cudnnTensorDescriptor_t x, cudnnBatchNormMode_t mode) {
  auto& from = object(x);
  auto dims = from.dims;
  require(dims.size() == 4 || dims.size() == 5,
          "a tensor that has neither four nor five dimensions");
  const bool each = to_rocm(mode) == miopenBNPerActivation;
  dims[0] = 1;
  for (size_t i = 2; i < dims.size() && !each; ++i) dims[i] = 1;
  const auto type = from.type == CUDNN_DATA_HALF || from.type == CUDNN_DATA_BFLOAT16
                        ? CUDNN_DATA_FLOAT
                        : from.type;
  object(derived).set_packed(type, CUDNN_TENSOR_NCHW, static_cast<int>(dims.size()), dims.data());
}

AW_CUDNN(cudnnBatchNormalizationForwardInference, cudnnHandle_t handle, cudnnBatchNormMode_t mode,
         const void* alpha, const void* beta, const cudnnTensorDescriptor_t x_desc, const void* x,
         const cudnnTensorDescriptor_t y_desc, void* y, const cudnnTensorDescriptor_t parameters,
         const void* scale, const void* bias, const void* mean, const void* variance,
         double epsilon) {
  infer(handle, to_rocm(mode), alpha, beta, object(x_desc), x, object(y_desc), y,
        object(parameters), scale, bias, mean, variance, epsilon);
}
AW_CUDNN(cudnnBatchNormalizationForwardTraining, cudnnHandle_t handle, cudnnBatchNormMode_t mode,
         const void* alpha, const void* beta, const cudnnTensorDescriptor_t x_desc, const void* x,
         const cudnnTensorDescriptor_t y_desc, void* y, const cudnnTensorDescriptor_t parameters,
         const void* scale, const void* bias, double factor, void* running_mean,
         void* running_variance, double epsilon, void* save_mean, void* save_inverse) {
  train(handle, to_rocm(mode), alpha, beta, object(x_desc), x, object(y_desc), y,
        {parameters, scale, bias, factor, running_mean, running_variance, epsilon, save_mean,
         save_inverse});
}
AW_CUDNN(cudnnBatchNormalizationForwardTrainingEx, cudnnHandle_t handle, cudnnBatchNormMode_t mode,
         cudnnBatchNormOps_t ops, const void* alpha, const void* beta,
         const cudnnTensorDescriptor_t x_desc, const void* x, const cudnnTensorDescriptor_t z_desc,
         const void* z, const cudnnTensorDescriptor_t y_desc, void* y,
         const cudnnTensorDescriptor_t parameters, const void* scale, const void* bias,
         double factor, void* running_mean, void* running_variance, double epsilon, void* save_mean,
         void* save_inverse, cudnnActivationDescriptor_t activation, void*, size_t, void*, size_t) {
  require_known(ops);
  auto& to = object(y_desc);
  train(handle, to_rocm(mode), alpha, beta, object(x_desc), x, to, y,
        {parameters, scale, bias, factor, running_mean, running_variance, epsilon, save_mean,
         save_inverse});
  if (ops == CUDNN_BATCHNORM_OPS_BN) return;
  if (ops == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION)
    add_tensors(*handle, 1, to, y, 1, object(z_desc), z, to, y);
  MIOPEN(ActivationForward, handle->miopen, object(activation).counterpart(), &kOne,
         to.counterpart(), y, &kZero, to.counterpart(), y);
}
AW_CUDNN(cudnnBatchNormalizationBackward, cudnnHandle_t handle, cudnnBatchNormMode_t mode,
         const void* alpha, const void* beta, const void* alpha_parameters,
         const void* beta_parameters, const cudnnTensorDescriptor_t x_desc, const void* x,
         const cudnnTensorDescriptor_t dy_desc, const void* dy,
         const cudnnTensorDescriptor_t dx_desc, void* dx, const cudnnTensorDescriptor_t parameters,
         const void* scale, void* d_scale, void* d_bias, double epsilon, const void* mean,
         const void* inverse) {
  back(handle, to_rocm(mode), alpha, beta, alpha_parameters, beta_parameters, object(x_desc), x,
       object(dy_desc), dy, object(dx_desc), dx,
       {parameters, scale, d_scale, d_bias, epsilon, mean, inverse});
}
// The gradient passes RELU first, by the sign of its result y; the addend's gradient is what comes
// out of that.
AW_CUDNN(cudnnBatchNormalizationBackwardEx, cudnnHandle_t handle, cudnnBatchNormMode_t mode,
         cudnnBatchNormOps_t ops, const void* alpha, const void* beta, const void* alpha_parameters,
         const void* beta_parameters, const cudnnTensorDescriptor_t x_desc, const void* x,
         const cudnnTensorDescriptor_t y_desc, const void* y, const cudnnTensorDescriptor_t dy_desc,
         const void* dy, const cudnnTensorDescriptor_t dz_desc, void* dz,
         const cudnnTensorDescriptor_t dx_desc, void* dx, const cudnnTensorDescriptor_t parameters,
         const void* scale, const void*, void* d_scale, void* d_bias, double epsilon,
         const void* mean, const void* inverse, cudnnActivationDescriptor_t activation, void*,
         size_t, void*, size_t) {
  require_known(ops);
  const Gradients gradients{parameters, scale, d_scale, d_bias, epsilon, mean, inverse};
  auto &incoming = object(dy_desc), &from = object(x_desc), &to = object(dx_desc);
  auto finish = [&](const void* gradient) {
    back(handle, to_rocm(mode), alpha, beta, alpha_parameters, beta_parameters, from, x, incoming,
         gradient, to, dx, gradients);
  };
  if (ops == CUDNN_BATCHNORM_OPS_BN) return finish(dy);
  require(object(activation).mode == CUDNN_ACTIVATION_RELU, "an activation that is not RELU",
          CUDNN_STATUS_NOT_SUPPORTED);
  const bool added = ops == CUDNN_BATCHNORM_OPS_BN_ADD_ACTIVATION;
  Scratch own(object(handle).stream, added ? 0 : incoming.bytes());
  void* passed = added ? dz : own.data();
  auto& passed_desc = added ? object(dz_desc) : incoming;
  auto& result = object(y_desc);
  MIOPEN(ActivationBackward, handle->miopen, activation->counterpart(), &kOne, result.counterpart(),
         y, incoming.counterpart(), dy, result.counterpart(), y, &kZero, passed_desc.counterpart(),
         passed);
  finish(passed);
}

// Nothing is kept between the passes, and scratch memory is ours.
AW_CUDNN(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, cudnnHandle_t handle,
         cudnnBatchNormMode_t, cudnnBatchNormOps_t ops, const cudnnTensorDescriptor_t,
         const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
         const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t, size_t* bytes) {
  object(handle), require_known(ops), require_pointer(bytes);
  *bytes = 0;
}
AW_CUDNN(cudnnGetBatchNormalizationBackwardExWorkspaceSize, cudnnHandle_t handle,
         cudnnBatchNormMode_t, cudnnBatchNormOps_t ops, const cudnnTensorDescriptor_t,
         const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
         const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
         const cudnnTensorDescriptor_t, const cudnnActivationDescriptor_t, size_t* bytes) {
  object(handle), require_known(ops), require_pointer(bytes);
  *bytes = 0;
}
AW_CUDNN(cudnnGetBatchNormalizationTrainingExReserveSpaceSize, cudnnHandle_t handle,
         cudnnBatchNormMode_t, cudnnBatchNormOps_t ops, const cudnnActivationDescriptor_t,
         const cudnnTensorDescriptor_t, size_t* bytes) {
  object(handle), require_known(ops), require_pointer(bytes);
  *bytes = 0;
}
