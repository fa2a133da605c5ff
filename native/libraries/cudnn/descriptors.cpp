// cuDNN: descriptors of tensors and filters.
#include <algorithm>

#include "libraries/cudnn/objects.h"

using namespace aw::dnn;

namespace {

void require_known(cudnnDataType_t type) {
  if (type == CUDNN_DATA_INT8x4 || type == CUDNN_DATA_INT8x32 || type == CUDNN_DATA_UINT8x4)
    unsupported("vectorised tensors (data type " + std::to_string(type) + ")");
  if (!known(type)) unsupported("tensors of data type " + std::to_string(type));
}

void set(Layout& to, cudnnDataType_t type, int count, const int* dims, const int* strides) {
  require(count > 0 && count <= kMostDims, "a tensor has one to eight dimensions");
  require_pointer(dims), require_pointer(strides);
  require_known(type);
  Layout made;
  made.type = type, made.rank = count;
  for (int i = 0; i < count; ++i) {
    require(dims[i] > 0, "a dimension is not positive");
    require(strides[i] >= 0, "a stride is negative");
    made.dims[i] = dims[i], made.strides[i] = strides[i];
  }
  to = made;
}

void set_packed(Layout& to, cudnnDataType_t type, cudnnTensorFormat_t format, int count,
                const int* dims) {
  require(count > 0 && count <= kMostDims, "a tensor has one to eight dimensions");
  require_pointer(dims);
  require(format == CUDNN_TENSOR_NCHW || format == CUDNN_TENSOR_NHWC ||
              format == CUDNN_TENSOR_NCHW_VECT_C,
          "no such format");
  if (format == CUDNN_TENSOR_NCHW_VECT_C) unsupported("CUDNN_TENSOR_NCHW_VECT_C");
  int strides[kMostDims];
  int64_t step = 1;
  auto place = [&](int i) {
    require(dims[i] > 0, "a dimension is not positive");
    require(step <= INT32_MAX, "a stride does not fit an int", CUDNN_STATUS_NOT_SUPPORTED);
    strides[i] = static_cast<int>(step);
    step *= dims[i];
  };
  const bool channels_last = format == CUDNN_TENSOR_NHWC && count > 1;
  if (channels_last) place(1);
  for (int i = count - 1; i >= 0; --i)
    if (!(channels_last && i == 1)) place(i);
  set(to, type, count, dims, strides);
}

void get_shape(const Layout& from, int requested, int* count, int* dims, int* strides) {
  require(requested >= 0, "a negative count");
  give(count, from.rank);
  for (int i = 0; i < std::min(requested, from.rank); ++i) {
    if (dims) dims[i] = static_cast<int>(from.dims[i]);
    if (strides) strides[i] = static_cast<int>(from.strides[i]);
  }
}

const Layout& of_four(const Layout& from) {
  require(from.rank == 4, "a descriptor that has not four dimensions");
  return from;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* desc) {
  return api<"cudnnCreateTensorDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t desc) {
  return api<"cudnnDestroyTensorDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t desc,
                                                   cudnnTensorFormat_t format, cudnnDataType_t type,
                                                   int n, int c, int h, int w) {
  return api<"cudnnSetTensor4dDescriptor">([&] {
    const int dims[] = {n, c, h, w};
    set_packed(object(desc).layout, type, format, 4, dims);
  });
}
AW_EXPORT cudnnStatus_t cudnnSetTensor4dDescriptorEx(cudnnTensorDescriptor_t desc,
                                                     cudnnDataType_t type, int n, int c, int h,
                                                     int w, int n_stride, int c_stride,
                                                     int h_stride, int w_stride) {
  return api<"cudnnSetTensor4dDescriptorEx">([&] {
    const int dims[] = {n, c, h, w}, strides[] = {n_stride, c_stride, h_stride, w_stride};
    set(object(desc).layout, type, 4, dims, strides);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetTensor4dDescriptor(const cudnnTensorDescriptor_t desc,
                                                   cudnnDataType_t* type, int* n, int* c, int* h,
                                                   int* w, int* n_stride, int* c_stride,
                                                   int* h_stride, int* w_stride) {
  return api<"cudnnGetTensor4dDescriptor">([&] {
    const Layout& from = of_four(layout(desc));
    give(type, from.type);
    int* dims[] = {n, c, h, w};
    int* strides[] = {n_stride, c_stride, h_stride, w_stride};
    for (int i = 0; i < 4; ++i) give(dims[i], from.dims[i]), give(strides[i], from.strides[i]);
  });
}
AW_EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t desc,
                                                   cudnnDataType_t type, int count,
                                                   const int dims[], const int strides[]) {
  return api<"cudnnSetTensorNdDescriptor">(
      [&] { set(object(desc).layout, type, count, dims, strides); });
}
AW_EXPORT cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t desc,
                                                     cudnnTensorFormat_t format,
                                                     cudnnDataType_t type, int count,
                                                     const int dims[]) {
  return api<"cudnnSetTensorNdDescriptorEx">(
      [&] { set_packed(object(desc).layout, type, format, count, dims); });
}
AW_EXPORT cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t desc,
                                                   int requested, cudnnDataType_t* type, int* count,
                                                   int dims[], int strides[]) {
  return api<"cudnnGetTensorNdDescriptor">([&] {
    const Layout& from = layout(desc);
    give(type, from.type);
    get_shape(from, requested, count, dims, strides);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetTensorSizeInBytes(const cudnnTensorDescriptor_t desc,
                                                  size_t* size) {
  return api<"cudnnGetTensorSizeInBytes">([&] {
    require_pointer(size);
    *size = layout(desc).bytes();
  });
}

AW_EXPORT cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* desc) {
  return api<"cudnnCreateFilterDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t desc) {
  return api<"cudnnDestroyFilterDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t desc,
                                                   cudnnDataType_t type, cudnnTensorFormat_t format,
                                                   int k, int c, int h, int w) {
  return api<"cudnnSetFilter4dDescriptor">([&] {
    const int dims[] = {k, c, h, w};
    set_packed(object(desc).layout, type, format, 4, dims);
    desc->format = format;
  });
}
AW_EXPORT cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t desc,
                                                   cudnnDataType_t type, cudnnTensorFormat_t format,
                                                   int count, const int dims[]) {
  return api<"cudnnSetFilterNdDescriptor">([&] {
    require(count >= 3, "a filter has three dimensions at least");
    set_packed(object(desc).layout, type, format, count, dims);
    desc->format = format;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetFilter4dDescriptor(const cudnnFilterDescriptor_t desc,
                                                   cudnnDataType_t* type,
                                                   cudnnTensorFormat_t* format, int* k, int* c,
                                                   int* h, int* w) {
  return api<"cudnnGetFilter4dDescriptor">([&] {
    const Layout& from = of_four(layout(desc));
    give(type, from.type), give(format, desc->format);
    int* dims[] = {k, c, h, w};
    for (int i = 0; i < 4; ++i) give(dims[i], from.dims[i]);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t desc,
                                                   int requested, cudnnDataType_t* type,
                                                   cudnnTensorFormat_t* format, int* count,
                                                   int dims[]) {
  return api<"cudnnGetFilterNdDescriptor">([&] {
    const Layout& from = layout(desc);
    give(type, from.type), give(format, desc->format);
    get_shape(from, requested, count, dims, nullptr);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetFilterSizeInBytes(const cudnnFilterDescriptor_t desc,
                                                  size_t* size) {
  return api<"cudnnGetFilterSizeInBytes">([&] {
    require_pointer(size);
    *size = layout(desc).bytes();
  });
}
