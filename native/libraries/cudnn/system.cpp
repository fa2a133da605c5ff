// cuDNN's handle, versions and words for errors.
#include <cstdio>
#include <mutex>

#include "libraries/cudnn/objects.h"

using namespace aw::dnn;

namespace {

constexpr int kParts[] = {CUDNN_MAJOR, CUDNN_MINOR, CUDNN_PATCHLEVEL};
constexpr size_t kVersion = CUDNN_VERSION;

const char* status_name(cudnnStatus_t status) {
  switch (status) {
#define AW_CASE(name)       \
  case CUDNN_STATUS_##name: \
    return "CUDNN_STATUS_" #name
    AW_CASE(SUCCESS);
    AW_CASE(NOT_INITIALIZED);
    AW_CASE(LICENSE_ERROR);
    AW_CASE(RUNTIME_IN_PROGRESS);
    AW_CASE(RUNTIME_FP_OVERFLOW);
    AW_CASE(BAD_PARAM);
    AW_CASE(NOT_SUPPORTED);
    AW_CASE(INTERNAL_ERROR);
    AW_CASE(EXECUTION_FAILED);
#ifdef AW_CUDA_12
    AW_CASE(ALLOC_FAILED);
    AW_CASE(INVALID_VALUE);
    AW_CASE(ARCH_MISMATCH);
    AW_CASE(MAPPING_ERROR);
    AW_CASE(RUNTIME_PREREQUISITE_MISSING);
    AW_CASE(VERSION_MISMATCH);
#else
    AW_CASE(SUBLIBRARY_VERSION_MISMATCH);
    AW_CASE(SERIALIZATION_VERSION_MISMATCH);
    AW_CASE(DEPRECATED);
    AW_CASE(SUBLIBRARY_LOADING_FAILED);
    AW_CASE(INVALID_VALUE);
    AW_CASE(BAD_PARAM_NULL_POINTER);
    AW_CASE(BAD_PARAM_MISALIGNED_POINTER);
    AW_CASE(BAD_PARAM_NOT_FINALIZED);
    AW_CASE(BAD_PARAM_OUT_OF_BOUND);
    AW_CASE(BAD_PARAM_SIZE_INSUFFICIENT);
    AW_CASE(BAD_PARAM_STREAM_MISMATCH);
    AW_CASE(BAD_PARAM_SHAPE_MISMATCH);
    AW_CASE(BAD_PARAM_DUPLICATED_ENTRIES);
    AW_CASE(BAD_PARAM_ATTRIBUTE_TYPE);
    AW_CASE(BAD_PARAM_CUDA_GRAPH_MISMATCH);
    AW_CASE(BAD_PARAM_DESCRIPTOR_TYPE);
    AW_CASE(NOT_SUPPORTED_GRAPH_PATTERN);
    AW_CASE(NOT_SUPPORTED_SHAPE);
    AW_CASE(NOT_SUPPORTED_DATA_TYPE);
    AW_CASE(NOT_SUPPORTED_LAYOUT);
    AW_CASE(INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
    AW_CASE(INTERNAL_ERROR_UNEXPECTED_VALUE);
    AW_CASE(EXECUTION_FAILED_CUDA_DRIVER);
    AW_CASE(EXECUTION_FAILED_CUBLAS);
#endif
#undef AW_CASE
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}

}  // namespace

std::string& aw::dnn::last_error() {
  static thread_local std::string words;
  return words;
}
void aw::dnn::fail(cudnnStatus_t status, const std::string& words) {
  last_error() = words;
  throw Failure(status);
}
void aw::dnn::unsupported(const std::string& words) {
  last_error() = words;
  throw Failure(CUDNN_STATUS_NOT_SUPPORTED, words);
}

AW_EXPORT size_t cudnnGetVersion() { return kVersion; }
AW_EXPORT size_t cudnnGetMaxDeviceVersion() { return kVersion; }
AW_EXPORT size_t cudnnGetCudartVersion() { return aw::lib::cudart_version(); }
AW_EXPORT const char* cudnnGetErrorString(cudnnStatus_t status) { return status_name(status); }
#ifndef AW_CUDA_12
AW_EXPORT void cudnnGetLastErrorString(char* message, size_t most) {
  if (message && most) snprintf(message, most, "%s", last_error().c_str());
  last_error().clear();
}
#endif

AW_EXPORT cudnnStatus_t cudnnGetProperty(libraryPropertyType type, int* value) {
  return api<"cudnnGetProperty">([&] {
    require_pointer(value);
    require(type >= MAJOR_VERSION && type <= PATCH_LEVEL, "no such property");
    *value = kParts[type];
  });
}

AW_EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return api<"cudnnCreate">([&] {
    require_pointer(handle);
    aw::lib::ensure_context();
    create(handle);
  });
}
AW_EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  return api<"cudnnDestroy">([&] { destroy(handle); });
}
AW_EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  return api<"cudnnSetStream">([&] { object(handle).stream = stream; });
}
AW_EXPORT cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  return api<"cudnnGetStream">([&] {
    require_pointer(stream);
    *stream = object(handle).stream;
  });
}

// Errors of work reach the program through the driver; a handle keeps none.
AW_EXPORT cudnnStatus_t cudnnQueryRuntimeError(cudnnHandle_t handle, cudnnStatus_t* status,
                                               cudnnErrQueryMode_t, cudnnRuntimeTag_t*) {
  return api<"cudnnQueryRuntimeError">([&] {
    object(handle);
    require_pointer(status);
    *status = CUDNN_STATUS_SUCCESS;
  });
}

// Nothing is logged through callbacks; what was set is told back.
namespace {
struct LogCallback {
  unsigned mask = 0;
  void* data = nullptr;
  cudnnCallback_t function = nullptr;
};
std::mutex log_mutex;
LogCallback log_callback;
}  // namespace
AW_EXPORT cudnnStatus_t cudnnSetCallback(unsigned mask, void* data, cudnnCallback_t function) {
  return api<"cudnnSetCallback">([&] {
    std::lock_guard lock(log_mutex);
    log_callback = {mask, data, function};
  });
}
AW_EXPORT cudnnStatus_t cudnnGetCallback(unsigned* mask, void** data, cudnnCallback_t* function) {
  return api<"cudnnGetCallback">([&] {
    std::lock_guard lock(log_mutex);
    give(mask, log_callback.mask), give(data, log_callback.data),
        give(function, log_callback.function);
  });
}

// The parts of this library are one, so that their versions agree.
#define AW_VERSION_CHECK(name) \
  AW_EXPORT cudnnStatus_t name() { return CUDNN_STATUS_SUCCESS; }
#ifdef AW_CUDA_12
AW_VERSION_CHECK(cudnnOpsInferVersionCheck)
AW_VERSION_CHECK(cudnnOpsTrainVersionCheck)
AW_VERSION_CHECK(cudnnAdvInferVersionCheck)
AW_VERSION_CHECK(cudnnAdvTrainVersionCheck)
AW_VERSION_CHECK(cudnnCnnInferVersionCheck)
AW_VERSION_CHECK(cudnnCnnTrainVersionCheck)
#else
AW_VERSION_CHECK(cudnnGraphVersionCheck)
AW_VERSION_CHECK(cudnnOpsVersionCheck)
AW_VERSION_CHECK(cudnnAdvVersionCheck)
AW_VERSION_CHECK(cudnnCnnVersionCheck)
#endif
#undef AW_VERSION_CHECK
