// Runtime API reference: stream management, without what captures graphs.
#include "cudart/state.h"

namespace aw {
namespace {

// What a callback of the runtime gets, by way of one of the driver.
struct Callback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void* data;
};

void call_back(CUstream, CUresult status, void* data) {
  Callback callback = *static_cast<Callback*>(data);
  delete static_cast<Callback*>(data);
  callback.function(callback.stream, error_of(status), callback.data);
}

}  // namespace

cudaError_t rt::cudaStreamCreate(cudaStream_t* stream) {
  require(stream);
  return error_of(cuStreamCreate(stream, CU_STREAM_DEFAULT));
}

cudaError_t rt::cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  require(stream);
  return error_of(cuStreamCreate(stream, flags));
}

cudaError_t rt::cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  require(stream);
  return error_of(cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t rt::cudaStreamDestroy(cudaStream_t stream) {
  require(stream, cudaErrorInvalidResourceHandle);
  return error_of(cuStreamDestroy_v2(stream));
}

cudaError_t rt::cudaStreamSynchronize(cudaStream_t stream) {
  return error_of(cuStreamSynchronize(stream_of(stream)));
}

cudaError_t rt::cudaStreamQuery(cudaStream_t stream) {
  return error_of(cuStreamQuery(stream_of(stream)));
}

cudaError_t rt::cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return error_of(cuStreamWaitEvent(stream_of(stream), event, flags));
}

cudaError_t rt::cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                      void* data, unsigned flags) {
  require(function && flags == 0);
  auto* callback = new Callback{function, stream, data};
  CUresult result = cuStreamAddCallback(stream_of(stream), call_back, callback, 0);
  if (result != CUDA_SUCCESS) delete callback;
  return error_of(result);
}

cudaError_t rt::cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return error_of(cuStreamGetPriority(stream_of(stream), priority));
}

cudaError_t rt::cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return error_of(cuStreamGetFlags(stream_of(stream), flags));
}

cudaError_t rt::cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return error_of(cuStreamGetId(stream_of(stream), id));
}

cudaError_t rt::cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return error_of(cuStreamGetDevice(stream_of(stream), device));
}

cudaError_t rt::cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return error_of(cuStreamCopyAttributes(stream_of(to), stream_of(from)));
}

cudaError_t rt::cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                       cudaLaunchAttributeValue* value) {
  return error_of(cuStreamGetAttribute(stream_of(stream),
                                       static_cast<CUlaunchAttributeID>(attribute),
                                       reinterpret_cast<CUlaunchAttributeValue*>(value)));
}

cudaError_t rt::cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                       const cudaLaunchAttributeValue* value) {
  return error_of(cuStreamSetAttribute(stream_of(stream),
                                       static_cast<CUlaunchAttributeID>(attribute),
                                       reinterpret_cast<const CUlaunchAttributeValue*>(value)));
}

cudaError_t rt::cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return error_of(cuCtxGetStreamPriorityRange(least, greatest));
}

}  // namespace aw
