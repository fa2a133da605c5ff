// cuDNN: descriptors of activations, pooling, normalisation across channels, and of convolutions.
#include <algorithm>

#include "libraries/cudnn/pooling.h"

using namespace aw::dnn;

AW_EXPORT cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* desc) {
  return api<"cudnnCreateActivationDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t desc) {
  return api<"cudnnDestroyActivationDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t desc,
                                                     cudnnActivationMode_t mode,
                                                     cudnnNanPropagation_t nan,
                                                     double coefficient) {
  return api<"cudnnSetActivationDescriptor">([&] {
    auto& to = object(desc);
    require(mode >= CUDNN_ACTIVATION_SIGMOID && mode <= CUDNN_ACTIVATION_SWISH,
            "no such activation");
    to.mode = mode, to.nan = nan, to.coefficient = coefficient;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetActivationDescriptor(const cudnnActivationDescriptor_t desc,
                                                     cudnnActivationMode_t* mode,
                                                     cudnnNanPropagation_t* nan,
                                                     double* coefficient) {
  return api<"cudnnGetActivationDescriptor">([&] {
    auto& from = object(desc);
    give(mode, from.mode), give(nan, from.nan), give(coefficient, from.coefficient);
  });
}
AW_EXPORT cudnnStatus_t cudnnSetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t desc,
                                                              double beta) {
  return api<"cudnnSetActivationDescriptorSwishBeta">([&] { object(desc).swish_beta = beta; });
}
AW_EXPORT cudnnStatus_t cudnnGetActivationDescriptorSwishBeta(cudnnActivationDescriptor_t desc,
                                                              double* beta) {
  return api<"cudnnGetActivationDescriptorSwishBeta">([&] {
    require_pointer(beta);
    *beta = object(desc).swish_beta;
  });
}

AW_EXPORT cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* desc) {
  return api<"cudnnCreatePoolingDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t desc) {
  return api<"cudnnDestroyPoolingDescriptor">([&] { destroy(desc); });
}

namespace {

void set_pooling(cudnnPoolingDescriptor_t desc, cudnnPoolingMode_t mode, cudnnNanPropagation_t nan,
                 int rank, const int* window, const int* pads, const int* strides) {
  auto& to = object(desc);
  require(mode >= CUDNN_POOLING_MAX && mode <= CUDNN_POOLING_MAX_DETERMINISTIC,
          "no such mode of pooling");
  require(rank >= 1 && rank <= kSpace, "pooling has one to three dimensions");
  require_pointer(window), require_pointer(pads), require_pointer(strides);
  for (int i = 0; i < rank; ++i) {
    require(window[i] > 0 && strides[i] > 0, "a window or stride that is not positive");
    require(pads[i] >= 0 && pads[i] < window[i],
            "a pad that is negative or as large as the window");
  }
  to.mode = mode, to.nan = nan, to.rank = rank;
  std::copy_n(window, rank, to.window), std::copy_n(pads, rank, to.pads),
      std::copy_n(strides, rank, to.strides);
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnSetPoolingNdDescriptor(cudnnPoolingDescriptor_t desc,
                                                    const cudnnPoolingMode_t mode,
                                                    const cudnnNanPropagation_t nan, int rank,
                                                    const int window[], const int pads[],
                                                    const int strides[]) {
  return api<"cudnnSetPoolingNdDescriptor">(
      [&] { set_pooling(desc, mode, nan, rank, window, pads, strides); });
}
AW_EXPORT cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t desc,
                                                    cudnnPoolingMode_t mode,
                                                    cudnnNanPropagation_t nan, int height,
                                                    int width, int pad_h, int pad_w, int stride_h,
                                                    int stride_w) {
  return api<"cudnnSetPooling2dDescriptor">([&] {
    const int window[] = {height, width}, pads[] = {pad_h, pad_w}, strides[] = {stride_h, stride_w};
    set_pooling(desc, mode, nan, 2, window, pads, strides);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetPoolingNdDescriptor(const cudnnPoolingDescriptor_t desc,
                                                    int requested, cudnnPoolingMode_t* mode,
                                                    cudnnNanPropagation_t* nan, int* rank,
                                                    int window[], int pads[], int strides[]) {
  return api<"cudnnGetPoolingNdDescriptor">([&] {
    auto& from = object(desc);
    require(requested >= 0, "a negative count");
    give(mode, from.mode), give(nan, from.nan), give(rank, from.rank);
    for (int i = 0; i < std::min(requested, from.rank); ++i) {
      if (window) window[i] = from.window[i];
      if (pads) pads[i] = from.pads[i];
      if (strides) strides[i] = from.strides[i];
    }
  });
}
AW_EXPORT cudnnStatus_t cudnnGetPooling2dDescriptor(const cudnnPoolingDescriptor_t desc,
                                                    cudnnPoolingMode_t* mode,
                                                    cudnnNanPropagation_t* nan, int* height,
                                                    int* width, int* pad_h, int* pad_w,
                                                    int* stride_h, int* stride_w) {
  return api<"cudnnGetPooling2dDescriptor">([&] {
    auto& from = object(desc);
    require(from.rank == 2, "pooling that has not two dimensions");
    give(mode, from.mode), give(nan, from.nan);
    give(height, from.window[0]), give(width, from.window[1]), give(pad_h, from.pads[0]);
    give(pad_w, from.pads[1]), give(stride_h, from.strides[0]), give(stride_w, from.strides[1]);
  });
}

AW_EXPORT cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* desc) {
  return api<"cudnnCreateConvolutionDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t desc) {
  return api<"cudnnDestroyConvolutionDescriptor">([&] { destroy(desc); });
}

namespace {

void set_convolution(cudnnConvolutionDescriptor_t desc, int rank, const int* pads,
                     const int* strides, const int* dilations, cudnnConvolutionMode_t mode,
                     cudnnDataType_t compute) {
  auto& to = object(desc);
  require(rank >= 1 && rank <= kMostDims - 2, "a convolution without dimensions, or with too many");
  if (rank > kSpace) unsupported("convolutions of more than three dimensions");
  require_pointer(pads), require_pointer(strides), require_pointer(dilations);
  require(mode == CUDNN_CONVOLUTION || mode == CUDNN_CROSS_CORRELATION,
          "no such mode of convolution");
  for (int i = 0; i < rank; ++i)
    require(pads[i] >= 0 && strides[i] > 0 && dilations[i] > 0,
            "a pad, stride or dilation out of range");
  to.rank = rank, to.mode = mode, to.compute = compute;
  std::copy_n(pads, rank, to.pads), std::copy_n(strides, rank, to.strides);
  std::copy_n(dilations, rank, to.dilations);
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t desc, int rank,
                                                        const int pads[], const int strides[],
                                                        const int dilations[],
                                                        cudnnConvolutionMode_t mode,
                                                        cudnnDataType_t compute) {
  return api<"cudnnSetConvolutionNdDescriptor">(
      [&] { set_convolution(desc, rank, pads, strides, dilations, mode, compute); });
}
AW_EXPORT cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t desc,
                                                        int pad_h, int pad_w, int stride_h,
                                                        int stride_w, int dilation_h,
                                                        int dilation_w, cudnnConvolutionMode_t mode,
                                                        cudnnDataType_t compute) {
  return api<"cudnnSetConvolution2dDescriptor">([&] {
    const int pads[] = {pad_h, pad_w}, strides[] = {stride_h, stride_w},
              dilations[] = {dilation_h, dilation_w};
    set_convolution(desc, 2, pads, strides, dilations, mode, compute);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolutionNdDescriptor(const cudnnConvolutionDescriptor_t desc,
                                                        int requested, int* rank, int pads[],
                                                        int strides[], int dilations[],
                                                        cudnnConvolutionMode_t* mode,
                                                        cudnnDataType_t* compute) {
  return api<"cudnnGetConvolutionNdDescriptor">([&] {
    auto& from = object(desc);
    require(requested >= 0, "a negative count");
    give(rank, from.rank), give(mode, from.mode), give(compute, from.compute);
    for (int i = 0; i < std::min(requested, from.rank); ++i) {
      if (pads) pads[i] = from.pads[i];
      if (strides) strides[i] = from.strides[i];
      if (dilations) dilations[i] = from.dilations[i];
    }
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolution2dDescriptor(
    const cudnnConvolutionDescriptor_t desc, int* pad_h, int* pad_w, int* stride_h, int* stride_w,
    int* dilation_h, int* dilation_w, cudnnConvolutionMode_t* mode, cudnnDataType_t* compute) {
  return api<"cudnnGetConvolution2dDescriptor">([&] {
    auto& from = object(desc);
    require(from.rank == 2, "a convolution that has not two dimensions");
    give(pad_h, from.pads[0]), give(pad_w, from.pads[1]), give(stride_h, from.strides[0]);
    give(stride_w, from.strides[1]), give(dilation_h, from.dilations[0]),
        give(dilation_w, from.dilations[1]);
    give(mode, from.mode), give(compute, from.compute);
  });
}
AW_EXPORT cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t desc,
                                                      int groups) {
  return api<"cudnnSetConvolutionGroupCount">([&] {
    require(groups > 0, "a count of groups that is not positive");
    object(desc).groups = groups;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolutionGroupCount(cudnnConvolutionDescriptor_t desc,
                                                      int* groups) {
  return api<"cudnnGetConvolutionGroupCount">([&] {
    require_pointer(groups);
    *groups = object(desc).groups;
  });
}
AW_EXPORT cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t desc,
                                                    cudnnMathType_t math) {
  return api<"cudnnSetConvolutionMathType">([&] {
    require(math >= CUDNN_DEFAULT_MATH && math <= CUDNN_FMA_MATH, "no such type of arithmetic");
    object(desc).math = math;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolutionMathType(cudnnConvolutionDescriptor_t desc,
                                                    cudnnMathType_t* math) {
  return api<"cudnnGetConvolutionMathType">([&] {
    require_pointer(math);
    *math = object(desc).math;
  });
}
AW_EXPORT cudnnStatus_t cudnnSetConvolutionReorderType(cudnnConvolutionDescriptor_t desc,
                                                       cudnnReorderType_t order) {
  return api<"cudnnSetConvolutionReorderType">([&] { object(desc).reorder = order; });
}
AW_EXPORT cudnnStatus_t cudnnGetConvolutionReorderType(cudnnConvolutionDescriptor_t desc,
                                                       cudnnReorderType_t* order) {
  return api<"cudnnGetConvolutionReorderType">([&] {
    require_pointer(order);
    *order = object(desc).reorder;
  });
}

AW_EXPORT cudnnStatus_t cudnnCreateLRNDescriptor(cudnnLRNDescriptor_t* desc) {
  return api<"cudnnCreateLRNDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyLRNDescriptor(cudnnLRNDescriptor_t desc) {
  return api<"cudnnDestroyLRNDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetLRNDescriptor(cudnnLRNDescriptor_t desc, unsigned n, double alpha,
                                              double beta, double k) {
  return api<"cudnnSetLRNDescriptor">([&] {
    auto& to = object(desc);
    require(n >= 1 && n <= 16 && beta >= 0.01 && k >= 1e-5,
            "a parameter out of the documented range");
    to.n = n, to.alpha = alpha, to.beta = beta, to.k = k;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetLRNDescriptor(cudnnLRNDescriptor_t desc, unsigned* n, double* alpha,
                                              double* beta, double* k) {
  return api<"cudnnGetLRNDescriptor">([&] {
    auto& from = object(desc);
    give(n, from.n), give(alpha, from.alpha), give(beta, from.beta), give(k, from.k);
  });
}
