// Layers that work element by element or window by window: activation, softmax, pooling, local
// response, dropout, reduction.
#include <cfloat>

#include "rocm/cudnn/objects.h"

using namespace aw::dnn;

miopenActivationDescriptor_t cudnnActivationDescriptor_s::make_counterpart() {
  auto object =
      kept.get(miopen().miopenCreateActivationDescriptor,
               miopen().miopenDestroyActivationDescriptor, "miopenCreateActivationDescriptor");
  // cuDNN's coefficient is the upper bound of RELU, too, where it says anything.
  const bool bounded = mode == CUDNN_ACTIVATION_RELU && coefficient > 0 && coefficient < FLT_MAX;
  const auto target = bounded ? miopenActivationCLIPPEDRELU : to_rocm(mode);
  // MIOpen: tanh is beta * tanh(alpha * x); the bound and the factor of ELU are alpha.
  const bool wants =
      bounded || mode == CUDNN_ACTIVATION_CLIPPED_RELU || mode == CUDNN_ACTIVATION_ELU;
  MIOPEN(SetActivationDescriptor, object, target, wants ? coefficient : 1.0, 1.0, 1.0);
  current = true;
  return object;
}

AW_CUDNN(cudnnCreateActivationDescriptor, cudnnActivationDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyActivationDescriptor, cudnnActivationDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetActivationDescriptor, cudnnActivationDescriptor_t desc, cudnnActivationMode_t mode,
         cudnnNanPropagation_t nan, double coefficient) {
  auto& to = object(desc);
  require(mode >= CUDNN_ACTIVATION_SIGMOID && mode <= CUDNN_ACTIVATION_SWISH, "no such activation");
  to_rocm(nan);
  to.mode = mode, to.nan = nan, to.coefficient = coefficient, to.current = false;
}
AW_CUDNN(cudnnGetActivationDescriptor, const cudnnActivationDescriptor_t desc,
         cudnnActivationMode_t* mode, cudnnNanPropagation_t* nan, double* coefficient) {
  auto& from = object(desc);
  if (mode) *mode = from.mode;
  if (nan) *nan = from.nan;
  if (coefficient) *coefficient = from.coefficient;
}
AW_CUDNN(cudnnSetActivationDescriptorSwishBeta, cudnnActivationDescriptor_t desc, double beta) {
  object(desc).swish_beta = beta;
}
AW_CUDNN(cudnnGetActivationDescriptorSwishBeta, cudnnActivationDescriptor_t desc, double* beta) {
  require_pointer(beta);
  *beta = object(desc).swish_beta;
}
AW_CUDNN(cudnnActivationForward, cudnnHandle_t handle, cudnnActivationDescriptor_t activation,
         const void* alpha, const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
         const cudnnTensorDescriptor_t y_desc, void* y) {
  auto &from = object(x_desc), &to = object(y_desc);
  auto mode = object(activation).counterpart();
  blend(object(handle), scalar(alpha, from.type), scalar(beta, to.type), to, y, [&](void* out) {
    MIOPEN(ActivationForward, handle->miopen, mode, &kOne, from.counterpart(), x, &kZero,
           to.counterpart(), out);
  });
}
AW_CUDNN(cudnnActivationBackward, cudnnHandle_t handle, cudnnActivationDescriptor_t activation,
         const void* alpha, const cudnnTensorDescriptor_t y_desc, const void* y,
         const cudnnTensorDescriptor_t dy_desc, const void* dy,
         const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
         const cudnnTensorDescriptor_t dx_desc, void* dx) {
  auto &from = object(y_desc), &to = object(dx_desc);
  auto mode = object(activation).counterpart();
  blend(object(handle), scalar(alpha, from.type), scalar(beta, to.type), to, dx, [&](void* out) {
    MIOPEN(ActivationBackward, handle->miopen, mode, &kOne, from.counterpart(), y,
           object(dy_desc).counterpart(), dy, object(x_desc).counterpart(), x, &kZero,
           to.counterpart(), out);
  });
}

AW_CUDNN(cudnnSoftmaxForward, cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
         cudnnSoftmaxMode_t mode, const void* alpha, const cudnnTensorDescriptor_t x_desc,
         const void* x, const void* beta, const cudnnTensorDescriptor_t y_desc, void* y) {
  const float a = scalar(alpha, object(x_desc).type), b = scalar(beta, object(y_desc).type);
  MIOPEN(SoftmaxForward_V2, object(handle).miopen, &a, x_desc->counterpart(), x, &b,
         y_desc->counterpart(), y, to_rocm(algo), to_rocm(mode));
}
AW_CUDNN(cudnnSoftmaxBackward, cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
         cudnnSoftmaxMode_t mode, const void* alpha, const cudnnTensorDescriptor_t y_desc,
         const void* y, const cudnnTensorDescriptor_t dy_desc, const void* dy, const void* beta,
         const cudnnTensorDescriptor_t dx_desc, void* dx) {
  const float a = scalar(alpha, object(y_desc).type), b = scalar(beta, object(dx_desc).type);
  MIOPEN(SoftmaxBackward_V2, object(handle).miopen, &a, y_desc->counterpart(), y,
         object(dy_desc).counterpart(), dy, &b, dx_desc->counterpart(), dx, to_rocm(algo),
         to_rocm(mode));
}

struct cudnnPoolingDescriptor_s : Object<6> {
  cudnnPoolingMode_t mode = CUDNN_POOLING_MAX;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  std::vector<int> window, pads, strides;
  Counterpart<miopenPoolingDescriptor_t> kept;

  miopenPoolingDescriptor_t counterpart() {
    require(!window.empty(), "a pooling descriptor that was never set");
    auto object =
        kept.get(miopen().miopenCreatePoolingDescriptor, miopen().miopenDestroyPoolingDescriptor,
                 "miopenCreatePoolingDescriptor");
    MIOPEN(SetNdPoolingDescriptor, object, to_rocm(mode), static_cast<int>(window.size()),
           window.data(), pads.data(), strides.data());
    // Windows of any size: the default of 8 bits holds 256 places.
    MIOPEN(SetPoolingIndexType, object, miopenIndexUint32);
    MIOPEN(SetPoolingWorkSpaceIndexMode, object,
           window.size() == 2 ? miopenPoolingWorkspaceIndexMask : miopenPoolingWorkspaceIndexImage);
    return object;
  }
};

namespace {

void set_pooling(cudnnPoolingDescriptor_t desc, cudnnPoolingMode_t mode, cudnnNanPropagation_t nan,
                 int count, const int* window, const int* pads, const int* strides) {
  auto& to = object(desc);
  require(count >= 1 && count <= kMostDims - 2, "pooling has one to six dimensions of space");
  require_pointer(window);
  require_pointer(pads);
  require_pointer(strides);
  for (int i = 0; i < count; ++i)
    require(window[i] > 0 && pads[i] >= 0 && strides[i] > 0,
            "a window, pad or stride out of range");
  to_rocm(mode);
  to_rocm(nan);
  to.mode = mode, to.nan = nan;
  to.window.assign(window, window + count);
  to.pads.assign(pads, pads + count);
  to.strides.assign(strides, strides + count);
}

std::vector<int> pooled_dims(const cudnnPoolingDescriptor_s& pool,
                             const cudnnTensorDescriptor_s& x) {
  require(x.dims.size() == pool.window.size() + 2, "ranks that do not go together");
  std::vector<int> dims{x.dims[0], x.dims[1]};
  for (size_t i = 0; i < pool.window.size(); ++i)
    dims.push_back(1 + (x.dims[i + 2] + 2 * pool.pads[i] - pool.window[i]) / pool.strides[i]);
  return dims;
}

}  // namespace

AW_CUDNN(cudnnCreatePoolingDescriptor, cudnnPoolingDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyPoolingDescriptor, cudnnPoolingDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetPooling2dDescriptor, cudnnPoolingDescriptor_t desc, cudnnPoolingMode_t mode,
         cudnnNanPropagation_t nan, int height, int width, int pad_v, int pad_h, int stride_v,
         int stride_h) {
  const int window[] = {height, width}, pads[] = {pad_v, pad_h}, strides[] = {stride_v, stride_h};
  set_pooling(desc, mode, nan, 2, window, pads, strides);
}
AW_CUDNN(cudnnSetPoolingNdDescriptor, cudnnPoolingDescriptor_t desc, const cudnnPoolingMode_t mode,
         const cudnnNanPropagation_t nan, int count, const int window[], const int pads[],
         const int strides[]) {
  set_pooling(desc, mode, nan, count, window, pads, strides);
}
AW_CUDNN(cudnnGetPooling2dDescriptor, const cudnnPoolingDescriptor_t desc, cudnnPoolingMode_t* mode,
         cudnnNanPropagation_t* nan, int* height, int* width, int* pad_v, int* pad_h, int* stride_v,
         int* stride_h) {
  auto& from = object(desc);
  require(from.window.size() == 2, "pooling that has not two dimensions");
  int* to[] = {height, width, pad_v, pad_h, stride_v, stride_h};
  const int values[] = {from.window[0], from.window[1],  from.pads[0],
                        from.pads[1],   from.strides[0], from.strides[1]};
  for (size_t i = 0; i < std::size(values); ++i)
    if (to[i]) *to[i] = values[i];
  if (mode) *mode = from.mode;
  if (nan) *nan = from.nan;
}
AW_CUDNN(cudnnGetPoolingNdDescriptor, const cudnnPoolingDescriptor_t desc, int requested,
         cudnnPoolingMode_t* mode, cudnnNanPropagation_t* nan, int* count, int window[], int pads[],
         int strides[]) {
  auto& from = object(desc);
  require(requested >= 0, "a negative count");
  if (mode) *mode = from.mode;
  if (nan) *nan = from.nan;
  if (count) *count = static_cast<int>(from.window.size());
  for (size_t i = 0; i < std::min<size_t>(static_cast<size_t>(requested), from.window.size());
       ++i) {
    if (window) window[i] = from.window[i];
    if (pads) pads[i] = from.pads[i];
    if (strides) strides[i] = from.strides[i];
  }
}
AW_CUDNN(cudnnGetPooling2dForwardOutputDim, const cudnnPoolingDescriptor_t desc,
         const cudnnTensorDescriptor_t x, int* n, int* c, int* h, int* w) {
  const auto dims = pooled_dims(object(desc), object(x));
  require(dims.size() == 4, "pooling that has not two dimensions");
  int* to[] = {n, c, h, w};
  for (size_t i = 0; i < 4; ++i)
    if (to[i]) *to[i] = dims[i];
}
AW_CUDNN(cudnnGetPoolingNdForwardOutputDim, const cudnnPoolingDescriptor_t desc,
         const cudnnTensorDescriptor_t x, int count, int out[]) {
  require_pointer(out);
  const auto dims = pooled_dims(object(desc), object(x));
  require(count == static_cast<int>(dims.size()), "a count that is not the rank");
  std::copy(dims.begin(), dims.end(), out);
}
AW_CUDNN(cudnnPoolingForward, cudnnHandle_t handle, const cudnnPoolingDescriptor_t desc,
         const void* alpha, const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
         const cudnnTensorDescriptor_t y_desc, void* y) {
  auto &from = object(x_desc), &to = object(y_desc);
  auto pool = object(desc).counterpart();
  blend(object(handle), scalar(alpha, from.type), scalar(beta, to.type), to, y, [&](void* out) {
    MIOPEN(PoolingForward, handle->miopen, pool, &kOne, from.counterpart(), x, &kZero,
           to.counterpart(), out, false, nullptr, size_t{0});
  });
}
// MIOpen goes back by the places of the maxima, which its forward pass leaves in a workspace; cuDNN
// keeps none, so that the forward pass is done again.
AW_CUDNN(cudnnPoolingBackward, cudnnHandle_t handle, const cudnnPoolingDescriptor_t desc,
         const void* alpha, const cudnnTensorDescriptor_t y_desc, const void* y,
         const cudnnTensorDescriptor_t dy_desc, const void* dy,
         const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
         const cudnnTensorDescriptor_t dx_desc, void* dx) {
  auto &out = object(y_desc), &to = object(dx_desc), &from = object(x_desc);
  auto pool = object(desc).counterpart();
  size_t bytes = 0;
  const bool maximum = to_rocm(desc->mode) == miopenPoolingMax;
  if (maximum) MIOPEN(PoolingGetWorkSpaceSizeV2, pool, out.counterpart(), &bytes);
  Scratch places(object(handle).stream, bytes), again(handle->stream, maximum ? out.bytes() : 0);
  if (maximum)
    MIOPEN(PoolingForward, handle->miopen, pool, &kOne, from.counterpart(), x, &kZero,
           out.counterpart(), again.data(), true, places.data(), bytes);
  blend(*handle, scalar(alpha, out.type), scalar(beta, to.type), to, dx, [&](void* result) {
    MIOPEN(PoolingBackward, handle->miopen, pool, &kOne, out.counterpart(), y,
           object(dy_desc).counterpart(), dy, from.counterpart(), x, &kZero, to.counterpart(),
           result, places.data());
  });
}

struct cudnnLRNDescriptor_s : Object<7> {
  unsigned n = 5;  // cuDNN's defaults, as its reference gives them
  double alpha = 1e-4, beta = 0.75, k = 2;
  Counterpart<miopenLRNDescriptor_t> kept;
  miopenLRNDescriptor_t counterpart(cudnnLRNMode_t mode) {
    auto object = kept.get(miopen().miopenCreateLRNDescriptor, miopen().miopenDestroyLRNDescriptor,
                           "miopenCreateLRNDescriptor");
    MIOPEN(SetLRNDescriptor, object, to_rocm(mode), n, alpha, beta, k);
    return object;
  }
};
AW_CUDNN(cudnnCreateLRNDescriptor, cudnnLRNDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyLRNDescriptor, cudnnLRNDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetLRNDescriptor, cudnnLRNDescriptor_t desc, unsigned n, double alpha, double beta,
         double k) {
  require(n >= 1 && n <= 16 && k >= 1e-5 && beta >= 0.01,
          "a parameter out of cuDNN's range");  // CUDNN_LRN_MIN_*, _MAX_N
  auto& to = object(desc);
  to.n = n, to.alpha = alpha, to.beta = beta, to.k = k;
}
AW_CUDNN(cudnnGetLRNDescriptor, cudnnLRNDescriptor_t desc, unsigned* n, double* alpha, double* beta,
         double* k) {
  auto& from = object(desc);
  if (n) *n = from.n;
  if (alpha) *alpha = from.alpha;
  if (beta) *beta = from.beta;
  if (k) *k = from.k;
}
AW_CUDNN(cudnnLRNCrossChannelForward, cudnnHandle_t handle, cudnnLRNDescriptor_t desc,
         cudnnLRNMode_t mode, const void* alpha, const cudnnTensorDescriptor_t x_desc,
         const void* x, const void* beta, const cudnnTensorDescriptor_t y_desc, void* y) {
  auto &from = object(x_desc), &to = object(y_desc);
  auto norm = object(desc).counterpart(mode);
  blend(object(handle), scalar(alpha, from.type), scalar(beta, to.type), to, y, [&](void* out) {
    MIOPEN(LRNForward, handle->miopen, norm, &kOne, from.counterpart(), x, &kZero, to.counterpart(),
           out, false, nullptr);
  });
}
// As with pooling: what MIOpen's way back needs is made by its forward pass.
AW_CUDNN(cudnnLRNCrossChannelBackward, cudnnHandle_t handle, cudnnLRNDescriptor_t desc,
         cudnnLRNMode_t mode, const void* alpha, const cudnnTensorDescriptor_t y_desc,
         const void* y, const cudnnTensorDescriptor_t dy_desc, const void* dy,
         const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
         const cudnnTensorDescriptor_t dx_desc, void* dx) {
  auto &out = object(y_desc), &to = object(dx_desc), &from = object(x_desc);
  auto norm = object(desc).counterpart(mode);
  size_t bytes = 0;
  MIOPEN(LRNGetWorkSpaceSize, out.counterpart(), &bytes);
  Scratch scales(object(handle).stream, bytes), again(handle->stream, out.bytes());
  MIOPEN(LRNForward, handle->miopen, norm, &kOne, from.counterpart(), x, &kZero, out.counterpart(),
         again.data(), true, scales.data());
  blend(*handle, scalar(alpha, out.type), scalar(beta, to.type), to, dx, [&](void* result) {
    MIOPEN(LRNBackward, handle->miopen, norm, &kOne, out.counterpart(), y,
           object(dy_desc).counterpart(), dy, from.counterpart(), x, &kZero, to.counterpart(),
           result, scales.data());
  });
}

struct cudnnReduceTensorDescriptor_s : Object<8> {
  cudnnReduceTensorOp_t op = CUDNN_REDUCE_TENSOR_ADD;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  cudnnReduceTensorIndices_t indices = CUDNN_REDUCE_TENSOR_NO_INDICES;
  cudnnIndicesType_t index_type = CUDNN_32BIT_INDICES;
  Counterpart<miopenReduceTensorDescriptor_t> kept;
  miopenReduceTensorDescriptor_t counterpart() {
    auto object = kept.get(miopen().miopenCreateReduceTensorDescriptor,
                           miopen().miopenDestroyReduceTensorDescriptor,
                           "miopenCreateReduceTensorDescriptor");
    MIOPEN(SetReduceTensorDescriptor, object, to_rocm(op), to_rocm(type), to_rocm(nan),
           to_rocm(indices), to_rocm(index_type));
    return object;
  }
};
AW_CUDNN(cudnnCreateReduceTensorDescriptor, cudnnReduceTensorDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyReduceTensorDescriptor, cudnnReduceTensorDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetReduceTensorDescriptor, cudnnReduceTensorDescriptor_t desc,
         cudnnReduceTensorOp_t op, cudnnDataType_t type, cudnnNanPropagation_t nan,
         cudnnReduceTensorIndices_t indices, cudnnIndicesType_t index_type) {
  auto& to = object(desc);
  to_rocm(op), to_rocm(type), to_rocm(nan), to_rocm(indices), to_rocm(index_type);
  to.op = op, to.type = type, to.nan = nan, to.indices = indices, to.index_type = index_type;
}
AW_CUDNN(cudnnGetReduceTensorDescriptor, const cudnnReduceTensorDescriptor_t desc,
         cudnnReduceTensorOp_t* op, cudnnDataType_t* type, cudnnNanPropagation_t* nan,
         cudnnReduceTensorIndices_t* indices, cudnnIndicesType_t* index_type) {
  auto& from = object(desc);
  if (op) *op = from.op;
  if (type) *type = from.type;
  if (nan) *nan = from.nan;
  if (indices) *indices = from.indices;
  if (index_type) *index_type = from.index_type;
}
AW_CUDNN(cudnnGetReductionIndicesSize, cudnnHandle_t handle,
         const cudnnReduceTensorDescriptor_t desc, const cudnnTensorDescriptor_t a,
         const cudnnTensorDescriptor_t c, size_t* bytes) {
  require_pointer(bytes);
  MIOPEN(GetReductionIndicesSize, object(handle).miopen, object(desc).counterpart(),
         object(a).counterpart(), object(c).counterpart(), bytes);
}
AW_CUDNN(cudnnGetReductionWorkspaceSize, cudnnHandle_t handle,
         const cudnnReduceTensorDescriptor_t desc, const cudnnTensorDescriptor_t a,
         const cudnnTensorDescriptor_t c, size_t* bytes) {
  require_pointer(bytes);
  MIOPEN(GetReductionWorkspaceSize, object(handle).miopen, object(desc).counterpart(),
         object(a).counterpart(), object(c).counterpart(), bytes);
}
// Here MIOpen reads factors as cuDNN does: doubles for double tensors.
AW_CUDNN(cudnnReduceTensor, cudnnHandle_t handle, const cudnnReduceTensorDescriptor_t desc,
         void* indices, size_t indices_bytes, void* workspace, size_t bytes, const void* alpha,
         const cudnnTensorDescriptor_t a_desc, const void* a, const void* beta,
         const cudnnTensorDescriptor_t c_desc, void* c) {
  scalar(alpha, object(a_desc).type), scalar(beta, object(a_desc).type);
  MIOPEN(ReduceTensor, object(handle).miopen, object(desc).counterpart(), indices, indices_bytes,
         workspace, bytes, alpha, a_desc->counterpart(), a, beta, object(c_desc).counterpart(), c);
}
