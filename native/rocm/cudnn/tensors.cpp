// Tensors and filters: what they are, and what is done with whole ones.
#include <cmath>

#include "rocm/cudnn/objects.h"

using namespace aw::dnn;

uint64_t aw::dnn::next_stamp() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

size_t aw::dnn::element_bytes(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
    case CUDNN_DATA_INT64:
      return 8;
    case CUDNN_DATA_FLOAT:
    case CUDNN_DATA_INT32:
    case CUDNN_DATA_INT8x4:
    case CUDNN_DATA_UINT8x4:
      return 4;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2;
    case CUDNN_DATA_INT8:
    case CUDNN_DATA_UINT8:
    case CUDNN_DATA_BOOLEAN:
    case CUDNN_DATA_FP8_E4M3:
    case CUDNN_DATA_FP8_E5M2:
      return 1;
    case CUDNN_DATA_INT8x32:
      return 32;
    default:
      unsupported("tensors of data type " + std::to_string(type));
  }
}

void cudnnTensorDescriptor_s::set(cudnnDataType_t data_type, int count, const int* new_dims,
                                  const int* new_strides) {
  require(count > 0 && count <= kMostDims, "a tensor has one to eight dimensions");
  require_pointer(new_dims);
  require_pointer(new_strides);
  element_bytes(data_type);
  for (int i = 0; i < count; ++i) {
    require(new_dims[i] > 0, "a dimension is not positive");
    require(new_strides[i] >= 0, "a stride is negative");
  }
  type = data_type;
  dims.assign(new_dims, new_dims + count);
  strides.assign(new_strides, new_strides + count);
  current_ = false;
  stamp = next_stamp();
}

void cudnnTensorDescriptor_s::set_packed(cudnnDataType_t data_type, cudnnTensorFormat_t order,
                                         int count, const int* new_dims) {
  require(count > 0 && count <= kMostDims, "a tensor has one to eight dimensions");
  require_pointer(new_dims);
  require(
      order == CUDNN_TENSOR_NCHW || order == CUDNN_TENSOR_NHWC || order == CUDNN_TENSOR_NCHW_VECT_C,
      "no such format");
  if (order == CUDNN_TENSOR_NCHW_VECT_C)
    unsupported("CUDNN_TENSOR_NCHW_VECT_C: packed groups of channels are no layout of MIOpen's");
  std::vector<int> made(static_cast<size_t>(count));
  int64_t stride = 1;
  auto place = [&](int i) {
    require(new_dims[i] > 0, "a dimension is not positive");
    require(stride <= INT32_MAX, "a stride does not fit an int", CUDNN_STATUS_NOT_SUPPORTED);
    made[static_cast<size_t>(i)] = static_cast<int>(stride);
    stride *= new_dims[i];
  };
  const bool last = order == CUDNN_TENSOR_NHWC && count > 1;
  if (last) place(1);
  for (int i = count - 1; i >= 0; --i)
    if (!(last && i == 1)) place(i);
  set(data_type, count, new_dims, made.data());
  format = order;
}

miopenTensorDescriptor_t cudnnTensorDescriptor_s::make_counterpart() {
  require(!dims.empty(), "a tensor descriptor that was never set");
  auto object =
      counterpart_.get(miopen().miopenCreateTensorDescriptor,
                       miopen().miopenDestroyTensorDescriptor, "miopenCreateTensorDescriptor");
  if (!current_)
    MIOPEN(SetTensorDescriptor, object, to_rocm(type), static_cast<int>(dims.size()), dims.data(),
           strides.data());
  current_ = true;
  return object;
}

size_t cudnnTensorDescriptor_s::elements() const {
  size_t product = 1;
  for (int dim : dims) product *= static_cast<size_t>(dim);
  return dims.empty() ? 0 : product;
}
size_t cudnnTensorDescriptor_s::bytes() const {
  size_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    last += static_cast<size_t>(dims[i] - 1) * static_cast<size_t>(strides[i]);
  return dims.empty() ? 0 : (last + 1) * element_bytes(type);
}

float aw::dnn::scalar(const void* value, cudnnDataType_t type) {
  require_pointer(value);
  if (type != CUDNN_DATA_DOUBLE) return *static_cast<const float*>(value);
  const double exact = *static_cast<const double*>(value);
  const auto single = static_cast<float>(exact);
  if (static_cast<double>(single) != exact && !std::isnan(exact))
    unsupported("a factor of type double that no float equals: MIOpen takes factors as floats");
  return single;
}

void aw::dnn::add_tensors(cudnnHandle_s& handle, float alpha, cudnnTensorDescriptor_s& a,
                          const void* a_data, float beta, cudnnTensorDescriptor_s& b,
                          const void* b_data, cudnnTensorDescriptor_s& c, void* c_data) {
  MIOPEN(OpTensor, handle.miopen, miopenTensorOpAdd, &alpha, a.counterpart(), a_data, &beta,
         b.counterpart(), b_data, &kZero, c.counterpart(), c_data);
}

void aw::dnn::blend_slowly(cudnnHandle_s& handle, float alpha, float beta,
                           cudnnTensorDescriptor_s& desc, void* y,
                           const std::function<void(void*)>& compute) {
  if (beta != 0) {
    Scratch beside(handle.stream, desc.bytes());
    compute(beside.data());
    return add_tensors(handle, alpha, desc, beside.data(), beta, desc, y, desc, y);
  }
  compute(y);
  if (alpha != 1) MIOPEN(ScaleTensor, handle.miopen, desc.counterpart(), y, &alpha);
}

namespace {

constexpr int kFour = 4;

void get_shape(const cudnnTensorDescriptor_s& desc, int requested, int* count, int* dims,
               int* strides) {
  require(requested >= 0, "a negative count");
  const auto known = desc.dims.size();
  if (count) *count = static_cast<int>(known);
  for (size_t i = 0; i < std::min<size_t>(static_cast<size_t>(requested), known); ++i) {
    if (dims) dims[i] = desc.dims[i];
    if (strides) strides[i] = desc.strides[i];
  }
}

}  // namespace

AW_CUDNN(cudnnCreateTensorDescriptor, cudnnTensorDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyTensorDescriptor, cudnnTensorDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetTensor4dDescriptor, cudnnTensorDescriptor_t desc, cudnnTensorFormat_t format,
         cudnnDataType_t type, int n, int c, int h, int w) {
  const int dims[] = {n, c, h, w};
  object(desc).set_packed(type, format, kFour, dims);
}
AW_CUDNN(cudnnSetTensor4dDescriptorEx, cudnnTensorDescriptor_t desc, cudnnDataType_t type, int n,
         int c, int h, int w, int n_stride, int c_stride, int h_stride, int w_stride) {
  const int dims[] = {n, c, h, w}, strides[] = {n_stride, c_stride, h_stride, w_stride};
  object(desc).set(type, kFour, dims, strides);
}
AW_CUDNN(cudnnGetTensor4dDescriptor, const cudnnTensorDescriptor_t desc, cudnnDataType_t* type,
         int* n, int* c, int* h, int* w, int* n_stride, int* c_stride, int* h_stride,
         int* w_stride) {
  auto& tensor = object(desc);
  require(tensor.dims.size() == kFour, "a tensor that has not four dimensions");
  if (type) *type = tensor.type;
  int* dims[] = {n, c, h, w};
  int* strides[] = {n_stride, c_stride, h_stride, w_stride};
  for (size_t i = 0; i < kFour; ++i) {
    if (dims[i]) *dims[i] = tensor.dims[i];
    if (strides[i]) *strides[i] = tensor.strides[i];
  }
}
AW_CUDNN(cudnnSetTensorNdDescriptor, cudnnTensorDescriptor_t desc, cudnnDataType_t type, int count,
         const int dims[], const int strides[]) {
  object(desc).set(type, count, dims, strides);
}
AW_CUDNN(cudnnSetTensorNdDescriptorEx, cudnnTensorDescriptor_t desc, cudnnTensorFormat_t format,
         cudnnDataType_t type, int count, const int dims[]) {
  object(desc).set_packed(type, format, count, dims);
}
AW_CUDNN(cudnnGetTensorNdDescriptor, const cudnnTensorDescriptor_t desc, int requested,
         cudnnDataType_t* type, int* count, int dims[], int strides[]) {
  auto& tensor = object(desc);
  if (type) *type = tensor.type;
  get_shape(tensor, requested, count, dims, strides);
}
AW_CUDNN(cudnnGetTensorSizeInBytes, const cudnnTensorDescriptor_t desc, size_t* size) {
  require_pointer(size);
  *size = object(desc).bytes();
}

AW_CUDNN(cudnnCreateFilterDescriptor, cudnnFilterDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyFilterDescriptor, cudnnFilterDescriptor_t desc) {
  if (!desc) return;
  object(desc);
  delete desc;
}
AW_CUDNN(cudnnSetFilter4dDescriptor, cudnnFilterDescriptor_t desc, cudnnDataType_t type,
         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  const int dims[] = {k, c, h, w};
  object(desc).set_packed(type, format, kFour, dims);
}
AW_CUDNN(cudnnSetFilterNdDescriptor, cudnnFilterDescriptor_t desc, cudnnDataType_t type,
         cudnnTensorFormat_t format, int count, const int dims[]) {
  require(count >= 3, "a filter has three dimensions at least");
  object(desc).set_packed(type, format, count, dims);
}
AW_CUDNN(cudnnGetFilter4dDescriptor, const cudnnFilterDescriptor_t desc, cudnnDataType_t* type,
         cudnnTensorFormat_t* format, int* k, int* c, int* h, int* w) {
  auto& tensor = object(desc);
  require(tensor.dims.size() == kFour, "a filter that has not four dimensions");
  if (type) *type = tensor.type;
  if (format) *format = tensor.format;
  int* dims[] = {k, c, h, w};
  for (size_t i = 0; i < kFour; ++i)
    if (dims[i]) *dims[i] = tensor.dims[i];
}
AW_CUDNN(cudnnGetFilterNdDescriptor, const cudnnFilterDescriptor_t desc, int requested,
         cudnnDataType_t* type, cudnnTensorFormat_t* format, int* count, int dims[]) {
  auto& tensor = object(desc);
  if (type) *type = tensor.type;
  if (format) *format = tensor.format;
  get_shape(tensor, requested, count, dims, nullptr);
}
AW_CUDNN(cudnnGetFilterSizeInBytes, const cudnnFilterDescriptor_t desc, size_t* size) {
  require_pointer(size);
  *size = object(desc).bytes();
}

AW_CUDNN(cudnnSetTensor, cudnnHandle_t handle, const cudnnTensorDescriptor_t desc, void* y,
         const void* value) {
  const float single = scalar(value, object(desc).type);
  MIOPEN(SetTensor, object(handle).miopen, desc->counterpart(), y, &single);
}
AW_CUDNN(cudnnScaleTensor, cudnnHandle_t handle, const cudnnTensorDescriptor_t desc, void* y,
         const void* alpha) {
  const float single = scalar(alpha, object(desc).type);
  MIOPEN(ScaleTensor, object(handle).miopen, desc->counterpart(), y, &single);
}
AW_CUDNN(cudnnTransformTensor, cudnnHandle_t handle, const void* alpha,
         const cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
         const cudnnTensorDescriptor_t y_desc, void* y) {
  auto &from = object(x_desc), &to = object(y_desc);
  require(from.same_shape(to), "tensors of different shapes");
  const float a = scalar(alpha, from.type), b = scalar(beta, to.type);
  MIOPEN(TransformTensor, object(handle).miopen, &a, from.counterpart(), x, &b, to.counterpart(),
         y);
}

// C = alpha * A + beta * C, A repeated where it has ones. What beta 0 forbids to read is written
// first.
AW_CUDNN(cudnnAddTensor, cudnnHandle_t handle, const void* alpha,
         const cudnnTensorDescriptor_t a_desc, const void* a, const void* beta,
         const cudnnTensorDescriptor_t c_desc, void* c) {
  auto &small = object(a_desc), &large = object(c_desc);
  require(small.dims.size() == large.dims.size(), "tensors of different ranks");
  for (size_t i = 0; i < small.dims.size(); ++i)
    require(small.dims[i] == large.dims[i] || small.dims[i] == 1, "shapes that do not go together");
  const float factor = scalar(alpha, small.type), kept = scalar(beta, large.type);
  if (kept == 0) MIOPEN(SetTensor, object(handle).miopen, large.counterpart(), c, &kZero);
  add_tensors(object(handle), kept == 0 ? 1 : kept, large, c, factor, small, a, large, c);
}

struct cudnnOpTensorDescriptor_s : Object<5> {
  cudnnOpTensorOp_t op = CUDNN_OP_TENSOR_ADD;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
};
AW_CUDNN(cudnnCreateOpTensorDescriptor, cudnnOpTensorDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyOpTensorDescriptor, cudnnOpTensorDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetOpTensorDescriptor, cudnnOpTensorDescriptor_t desc, cudnnOpTensorOp_t op,
         cudnnDataType_t type, cudnnNanPropagation_t nan) {
  auto& to = object(desc);
  to_rocm(op);
  to.op = op, to.type = type, to.nan = nan;
}
AW_CUDNN(cudnnGetOpTensorDescriptor, const cudnnOpTensorDescriptor_t desc, cudnnOpTensorOp_t* op,
         cudnnDataType_t* type, cudnnNanPropagation_t* nan) {
  auto& from = object(desc);
  if (op) *op = from.op;
  if (type) *type = from.type;
  if (nan) *nan = from.nan;
}
AW_CUDNN(cudnnOpTensor, cudnnHandle_t handle, const cudnnOpTensorDescriptor_t desc,
         const void* alpha1, const cudnnTensorDescriptor_t a_desc, const void* a,
         const void* alpha2, const cudnnTensorDescriptor_t b_desc, const void* b, const void* beta,
         const cudnnTensorDescriptor_t c_desc, void* c) {
  const auto type = object(desc).type;
  const float first = scalar(alpha1, type), second = scalar(alpha2, type),
              kept = scalar(beta, type);
  MIOPEN(OpTensor, object(handle).miopen, to_rocm(desc->op), &first, object(a_desc).counterpart(),
         a, &second, object(b_desc).counterpart(), b, &kept, object(c_desc).counterpart(), c);
}
