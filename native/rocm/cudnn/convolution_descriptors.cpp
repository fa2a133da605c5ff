// Convolution descriptors, and the shapes that follow from them.
#include "rocm/cudnn/objects.h"

using namespace aw::dnn;

miopenConvolutionDescriptor_t cudnnConvolutionDescriptor_s::make_counterpart(bool deterministic) {
  require(!pads.empty(), "a convolution descriptor that was never set");
  auto object = counterpart_.get(miopen().miopenCreateConvolutionDescriptor,
                                 miopen().miopenDestroyConvolutionDescriptor,
                                 "miopenCreateConvolutionDescriptor");
  if (!current_) {
    MIOPEN(InitConvolutionNdDescriptor, object, static_cast<int>(pads.size()), pads.data(),
           strides.data(), dilations.data(), to_rocm(mode));
    MIOPEN(SetConvolutionGroupCount, object, groups);
    // A search over all of MIOpen's kernels takes minutes where cuDNN's takes milliseconds.
    MIOPEN(SetConvolutionFindMode, object, miopenConvolutionFindModeFast);
    current_ = true, deterministic_ = false;
  }
  if (deterministic != deterministic_)
    MIOPEN(SetConvolutionAttribute, object, MIOPEN_CONVOLUTION_ATTRIB_DETERMINISTIC,
           deterministic ? 1 : 0);
  deterministic_ = deterministic;
  return object;
}

namespace {

void set_convolution(cudnnConvolutionDescriptor_t desc, int count, const int* pads,
                     const int* strides, const int* dilations, cudnnConvolutionMode_t mode,
                     cudnnDataType_t compute) {
  auto& to = object(desc);
  require(count >= 1 && count <= kMostDims - 2, "a convolution has one to six dimensions of space");
  require_pointer(pads);
  require_pointer(strides);
  require_pointer(dilations);
  for (int i = 0; i < count; ++i)
    require(pads[i] >= 0 && strides[i] > 0 && dilations[i] > 0,
            "a pad, stride or dilation out of range");
  require(mode == CUDNN_CONVOLUTION || mode == CUDNN_CROSS_CORRELATION, "no such convolution mode");
  element_bytes(compute);
  to.pads.assign(pads, pads + count);
  to.strides.assign(strides, strides + count);
  to.dilations.assign(dilations, dilations + count);
  to.mode = mode, to.compute = compute;
  to.changed();
}

// One dimension of the output of a convolution (cuDNN reference,
// cudnnGetConvolutionNdForwardOutputDim).
int output_size(int input, int filter, int pad, int stride, int dilation) {
  return 1 + (input + 2 * pad - ((filter - 1) * dilation + 1)) / stride;
}

std::vector<int> output_dims(const cudnnConvolutionDescriptor_s& conv,
                             const cudnnTensorDescriptor_s& x, const cudnnTensorDescriptor_s& w) {
  require(x.dims.size() == conv.pads.size() + 2 && w.dims.size() == x.dims.size(),
          "ranks that do not go together");
  require(w.dims[1] * conv.groups == x.dims[1], "channels that do not go together");
  std::vector<int> dims{x.dims[0], w.dims[0]};
  for (size_t i = 0; i < conv.pads.size(); ++i) {
    const int size =
        output_size(x.dims[i + 2], w.dims[i + 2], conv.pads[i], conv.strides[i], conv.dilations[i]);
    require(size > 0, "a filter larger than what it is applied to");
    dims.push_back(size);
  }
  return dims;
}

}  // namespace

AW_CUDNN(cudnnCreateConvolutionDescriptor, cudnnConvolutionDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyConvolutionDescriptor, cudnnConvolutionDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetConvolution2dDescriptor, cudnnConvolutionDescriptor_t desc, int pad_h, int pad_w,
         int u, int v, int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
         cudnnDataType_t compute) {
  const int pads[] = {pad_h, pad_w}, strides[] = {u, v}, dilations[] = {dilation_h, dilation_w};
  set_convolution(desc, 2, pads, strides, dilations, mode, compute);
}
AW_CUDNN(cudnnSetConvolutionNdDescriptor, cudnnConvolutionDescriptor_t desc, int count,
         const int pads[], const int strides[], const int dilations[], cudnnConvolutionMode_t mode,
         cudnnDataType_t compute) {
  set_convolution(desc, count, pads, strides, dilations, mode, compute);
}
AW_CUDNN(cudnnGetConvolution2dDescriptor, const cudnnConvolutionDescriptor_t desc, int* pad_h,
         int* pad_w, int* u, int* v, int* dilation_h, int* dilation_w, cudnnConvolutionMode_t* mode,
         cudnnDataType_t* compute) {
  auto& from = object(desc);
  require(from.pads.size() == 2, "a convolution that has not two dimensions");
  int* to[] = {pad_h, pad_w, u, v, dilation_h, dilation_w};
  const int values[] = {from.pads[0],    from.pads[1],      from.strides[0],
                        from.strides[1], from.dilations[0], from.dilations[1]};
  for (size_t i = 0; i < std::size(values); ++i)
    if (to[i]) *to[i] = values[i];
  if (mode) *mode = from.mode;
  if (compute) *compute = from.compute;
}
AW_CUDNN(cudnnGetConvolutionNdDescriptor, const cudnnConvolutionDescriptor_t desc, int requested,
         int* count, int pads[], int strides[], int dilations[], cudnnConvolutionMode_t* mode,
         cudnnDataType_t* compute) {
  auto& from = object(desc);
  require(requested >= 0, "a negative count");
  if (count) *count = static_cast<int>(from.pads.size());
  for (size_t i = 0; i < std::min<size_t>(static_cast<size_t>(requested), from.pads.size()); ++i) {
    if (pads) pads[i] = from.pads[i];
    if (strides) strides[i] = from.strides[i];
    if (dilations) dilations[i] = from.dilations[i];
  }
  if (mode) *mode = from.mode;
  if (compute) *compute = from.compute;
}
// MIOpen has no switch for the precision of products: what is set is kept and told.
AW_CUDNN(cudnnSetConvolutionMathType, cudnnConvolutionDescriptor_t desc, cudnnMathType_t math) {
  require(math >= CUDNN_DEFAULT_MATH && math <= CUDNN_FMA_MATH, "no such math type");
  object(desc).math = math;
}
AW_CUDNN(cudnnGetConvolutionMathType, cudnnConvolutionDescriptor_t desc, cudnnMathType_t* math) {
  require_pointer(math);
  *math = object(desc).math;
}
AW_CUDNN(cudnnSetConvolutionGroupCount, cudnnConvolutionDescriptor_t desc, int groups) {
  require(groups > 0, "a count of groups that is not positive");
  object(desc).groups = groups;
  desc->changed();
}
AW_CUDNN(cudnnGetConvolutionGroupCount, cudnnConvolutionDescriptor_t desc, int* groups) {
  require_pointer(groups);
  *groups = object(desc).groups;
}
AW_CUDNN(cudnnSetConvolutionReorderType, cudnnConvolutionDescriptor_t desc,
         cudnnReorderType_t reorder) {
  require(reorder == CUDNN_DEFAULT_REORDER || reorder == CUDNN_NO_REORDER, "no such order");
  object(desc).reorder = reorder;
}
AW_CUDNN(cudnnGetConvolutionReorderType, cudnnConvolutionDescriptor_t desc,
         cudnnReorderType_t* reorder) {
  require_pointer(reorder);
  *reorder = object(desc).reorder;
}
AW_CUDNN(cudnnGetConvolution2dForwardOutputDim, const cudnnConvolutionDescriptor_t desc,
         const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w, int* n, int* c, int* h,
         int* w_out) {
  const auto dims = output_dims(object(desc), object(x), object(w));
  require(dims.size() == 4, "a convolution that has not two dimensions");
  int* to[] = {n, c, h, w_out};
  for (size_t i = 0; i < 4; ++i)
    if (to[i]) *to[i] = dims[i];
}
AW_CUDNN(cudnnGetConvolutionNdForwardOutputDim, const cudnnConvolutionDescriptor_t desc,
         const cudnnTensorDescriptor_t x, const cudnnFilterDescriptor_t w, int count, int out[]) {
  require_pointer(out);
  const auto dims = output_dims(object(desc), object(x), object(w));
  require(count == static_cast<int>(dims.size()), "a count that is not the rank");
  std::copy(dims.begin(), dims.end(), out);
}
