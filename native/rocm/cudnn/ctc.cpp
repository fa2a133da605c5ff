// Connectionist temporal classification, with labels on the host as both libraries take them.
#include "rocm/cudnn/objects.h"

using namespace aw::dnn;

struct cudnnCTCLossDescriptor_s : Object<12> {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnLossNormalizationMode_t normalization = CUDNN_LOSS_NORMALIZATION_NONE;
  cudnnNanPropagation_t nan = CUDNN_NOT_PROPAGATE_NAN;
  cudnnCTCGradMode_t gradients = CUDNN_CTC_ZERO_OOB_GRADIENTS;
  int longest_label = 0;
  Counterpart<miopenCTCLossDescriptor_t> kept;

  miopenCTCLossDescriptor_t counterpart() {
    auto object =
        kept.get(miopen().miopenCreateCTCLossDescriptor, miopen().miopenDestroyCTCLossDescriptor,
                 "miopenCreateCTCLossDescriptor");
    constexpr int kBlank = 0;  // cuDNN's
    MIOPEN(SetCTCLossDescriptor, object, to_rocm(type), kBlank,
           normalization == CUDNN_LOSS_NORMALIZATION_SOFTMAX);
    return object;
  }
};

namespace {

cudnnCTCLossDescriptor_s& set_loss(cudnnCTCLossDescriptor_t desc, cudnnDataType_t type,
                                   cudnnLossNormalizationMode_t normalization) {
  auto& to = object(desc);
  to_rocm(type);
  require(normalization == CUDNN_LOSS_NORMALIZATION_NONE ||
              normalization == CUDNN_LOSS_NORMALIZATION_SOFTMAX,
          "no such normalization");
  to.type = type, to.normalization = normalization;
  return to;
}

}  // namespace

AW_CUDNN(cudnnCreateCTCLossDescriptor, cudnnCTCLossDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyCTCLossDescriptor, cudnnCTCLossDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetCTCLossDescriptor, cudnnCTCLossDescriptor_t desc, cudnnDataType_t type) {
  set_loss(desc, type, CUDNN_LOSS_NORMALIZATION_NONE);
}
AW_CUDNN(cudnnSetCTCLossDescriptorEx, cudnnCTCLossDescriptor_t desc, cudnnDataType_t type,
         cudnnLossNormalizationMode_t normalization, cudnnNanPropagation_t nan) {
  set_loss(desc, type, normalization).nan = nan;
}
AW_CUDNN(cudnnSetCTCLossDescriptor_v8, cudnnCTCLossDescriptor_t desc, cudnnDataType_t type,
         cudnnLossNormalizationMode_t normalization, cudnnNanPropagation_t nan, int longest_label) {
  auto& to = set_loss(desc, type, normalization);
  to.nan = nan, to.longest_label = longest_label;
}
AW_CUDNN(cudnnSetCTCLossDescriptor_v9, cudnnCTCLossDescriptor_t desc, cudnnDataType_t type,
         cudnnLossNormalizationMode_t normalization, cudnnCTCGradMode_t gradients,
         int longest_label) {
  auto& to = set_loss(desc, type, normalization);
  to.gradients = gradients, to.longest_label = longest_label;
}
AW_CUDNN(cudnnGetCTCLossDescriptor, cudnnCTCLossDescriptor_t desc, cudnnDataType_t* type) {
  require_pointer(type);
  *type = object(desc).type;
}
AW_CUDNN(cudnnGetCTCLossDescriptorEx, cudnnCTCLossDescriptor_t desc, cudnnDataType_t* type,
         cudnnLossNormalizationMode_t* normalization, cudnnNanPropagation_t* nan) {
  auto& from = object(desc);
  if (type) *type = from.type;
  if (normalization) *normalization = from.normalization;
  if (nan) *nan = from.nan;
}
AW_CUDNN(cudnnGetCTCLossDescriptor_v8, cudnnCTCLossDescriptor_t desc, cudnnDataType_t* type,
         cudnnLossNormalizationMode_t* normalization, cudnnNanPropagation_t* nan,
         int* longest_label) {
  serve_cudnnGetCTCLossDescriptorEx(desc, type, normalization, nan);
  if (longest_label) *longest_label = desc->longest_label;
}
AW_CUDNN(cudnnGetCTCLossDescriptor_v9, cudnnCTCLossDescriptor_t desc, cudnnDataType_t* type,
         cudnnLossNormalizationMode_t* normalization, cudnnCTCGradMode_t* gradients,
         int* longest_label) {
  serve_cudnnGetCTCLossDescriptorEx(desc, type, normalization, nullptr);
  if (gradients) *gradients = desc->gradients;
  if (longest_label) *longest_label = desc->longest_label;
}

AW_CUDNN(cudnnGetCTCLossWorkspaceSize, cudnnHandle_t handle,
         const cudnnTensorDescriptor_t probabilities, const cudnnTensorDescriptor_t gradients,
         const int* labels, const int* label_lengths, const int* input_lengths,
         cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t desc, size_t* bytes) {
  require_pointer(bytes);
  MIOPEN(GetCTCLossWorkspaceSize, object(handle).miopen, object(probabilities).counterpart(),
         object(gradients).counterpart(), labels, label_lengths, input_lengths, to_rocm(algo),
         object(desc).counterpart(), bytes);
}
AW_CUDNN(cudnnCTCLoss, cudnnHandle_t handle, const cudnnTensorDescriptor_t probabilities_desc,
         const void* probabilities, const int labels[], const int label_lengths[],
         const int input_lengths[], void* costs, const cudnnTensorDescriptor_t gradients_desc,
         void* gradients, cudnnCTCLossAlgo_t algo, cudnnCTCLossDescriptor_t desc, void* workspace,
         size_t bytes) {
  MIOPEN(CTCLoss, object(handle).miopen, object(probabilities_desc).counterpart(), probabilities,
         labels, label_lengths, input_lengths, costs, object(gradients_desc).counterpart(),
         gradients, to_rocm(algo), object(desc).counterpart(), workspace, bytes);
}
