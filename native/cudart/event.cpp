// Runtime API reference: event management.
#include "cudart/api.h"

namespace aw {

cudaError_t rt::cudaEventCreate(cudaEvent_t* event) {
  require(event);
  return error_of(cuEventCreate(event, CU_EVENT_DEFAULT));
}

cudaError_t rt::cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  require(event);
  return error_of(cuEventCreate(event, flags));
}

cudaError_t rt::cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return error_of(cuEventRecord(event, stream_of(stream)));
}

cudaError_t rt::cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return error_of(cuEventRecordWithFlags(event, stream_of(stream), flags));
}

cudaError_t rt::cudaEventQuery(cudaEvent_t event) { return error_of(cuEventQuery(event)); }

cudaError_t rt::cudaEventSynchronize(cudaEvent_t event) {
  return error_of(cuEventSynchronize(event));
}

cudaError_t rt::cudaEventDestroy(cudaEvent_t event) {
  require(event, cudaErrorInvalidResourceHandle);
  return error_of(cuEventDestroy_v2(event));
}

cudaError_t rt::cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  require(ms);
  return error_of(cuEventElapsedTime_v2(ms, start, end));
}

#if CUDART_VERSION < 13000
cudaError_t rt::cudaEventElapsedTime_v2(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return rt::cudaEventElapsedTime(ms, start, end);
}
#endif

}  // namespace aw
