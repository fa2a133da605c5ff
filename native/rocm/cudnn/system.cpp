// cuDNN's handle, versions and words for errors.
#include <dlfcn.h>

#include <cstdio>

#include "rocm/cudnn/objects.h"

namespace aw::dnn {
extern const StatusRow kStatuses[];

namespace {

// The versions whose headers the tables were made from.
size_t version() { return kMajor == 8 ? 8907 : 92800; }

const char* words_of(int status) {
  for (const StatusRow* row = kStatuses; row->name; ++row)
    if ((kMajor == 8 ? row->before : row->now) == status) return row->name;
  return "CUDNN_UNKNOWN_STATUS";
}

}  // namespace
}  // namespace aw::dnn

AW_CUDNN_VALUE(size_t, cudnnGetVersion, void) { return version(); }
AW_CUDNN_VALUE(size_t, cudnnGetMaxDeviceVersion, void) { return version(); }
// The runtime library that a cuDNN for CUDA 12 was made with.
AW_CUDNN_VALUE(size_t, cudnnGetCudartVersion, void) { return 12090; }
AW_CUDNN_VALUE(const char*, cudnnGetErrorString, cudnnStatus_t status) { return words_of(status); }

AW_CUDNN_VALUE(void, cudnnGetLastErrorString, char* message, size_t max_size) {
  if (message && max_size) snprintf(message, max_size, "%s", last_error().c_str());
}

AW_CUDNN(cudnnGetProperty, libraryPropertyType type, int* value) {
  require_pointer(value);
  const int major = kMajor == 8 ? 8 : 9, minor = kMajor == 8 ? 9 : 28, patch = kMajor == 8 ? 7 : 0;
  require(type >= MAJOR_VERSION && type <= PATCH_LEVEL, "no such property");
  *value = type == MAJOR_VERSION ? major : type == MINOR_VERSION ? minor : patch;
}

AW_CUDNN(cudnnCreate, cudnnHandle_t* handle) {
  require_pointer(handle);
  auto made = std::make_unique<cudnnHandle_s>();
  MIOPEN(Create, &made->miopen);
  *handle = made.release();
}
AW_CUDNN(cudnnDestroy, cudnnHandle_t handle) {
  if (!handle) return;
  MIOPEN(Destroy, object(handle).miopen);
  if (handle->blas) handle->destroy_blas(handle->blas);
  delete handle;
}
// MIOpen takes no handle of our streams that HIP does not know: the driver's streams are HIP's.
AW_CUDNN(cudnnSetStream, cudnnHandle_t handle, cudaStream_t stream) {
  MIOPEN(SetStream, object(handle).miopen, stream);
  handle->stream = stream;
}
AW_CUDNN(cudnnGetStream, cudnnHandle_t handle, cudaStream_t* stream) {
  require_pointer(stream);
  *stream = object(handle).stream;
}

// Errors of kernels reach the program through the driver; a handle of ours keeps none.
AW_CUDNN(cudnnQueryRuntimeError, cudnnHandle_t handle, cudnnStatus_t* status, cudnnErrQueryMode_t,
         cudnnRuntimeTag_t*) {
  object(handle);
  require_pointer(status);
  *status = CUDNN_STATUS_SUCCESS;
}

// Nothing is logged through callbacks; what was set is told back.
namespace {
struct Callback {
  unsigned mask = 0;
  void* data = nullptr;
  cudnnCallback_t function = nullptr;
};
std::mutex callback_mutex;
Callback callback;
}  // namespace
AW_CUDNN(cudnnSetCallback, unsigned mask, void* data, cudnnCallback_t function) {
  std::lock_guard lock(callback_mutex);
  callback = {mask, data, function};
}
AW_CUDNN(cudnnGetCallback, unsigned* mask, void** data, cudnnCallback_t* function) {
  std::lock_guard lock(callback_mutex);
  if (mask) *mask = callback.mask;
  if (data) *data = callback.data;
  if (function) *function = callback.function;
}

// The parts of this library are one, so that their versions agree.
AW_CUDNN(cudnnGraphVersionCheck, void) {}
AW_CUDNN(cudnnOpsVersionCheck, void) {}
AW_CUDNN(cudnnAdvVersionCheck, void) {}
AW_CUDNN(cudnnCnnVersionCheck, void) {}
AW_CUDNN(cudnnOpsInferVersionCheck, void) {}
AW_CUDNN(cudnnOpsTrainVersionCheck, void) {}
AW_CUDNN(cudnnAdvInferVersionCheck, void) {}
AW_CUDNN(cudnnAdvTrainVersionCheck, void) {}
AW_CUDNN(cudnnCnnInferVersionCheck, void) {}
AW_CUDNN(cudnnCnnTrainVersionCheck, void) {}
