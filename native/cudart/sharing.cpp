// Runtime API reference: memory and events that processes share; external memory and semaphores.
#include <cstring>
#include <vector>

#include "cudart/forward.h"

namespace aw {
namespace {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle) &&
              sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle));
// The structures of version 12 end sooner than the driver's.
CUDA_EXTERNAL_MEMORY_HANDLE_DESC driver_memory(const cudaExternalMemoryHandleDesc* p) {
  require(p);
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {};
  d.type = static_cast<CUexternalMemoryHandleType>(p->type);
  static_assert(sizeof d.handle == sizeof p->handle);
  memcpy(&d.handle, &p->handle, sizeof d.handle);
  d.size = p->size, d.flags = p->flags;
  return d;
}

CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC driver_semaphore(const cudaExternalSemaphoreHandleDesc* p) {
  require(p);
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = {};
  d.type = static_cast<CUexternalSemaphoreHandleType>(p->type);
  static_assert(sizeof d.handle == sizeof p->handle);
  memcpy(&d.handle, &p->handle, sizeof d.handle);
  d.flags = p->flags;
  return d;
}

}  // namespace

cudaError_t rt::cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* dev_ptr) {
  return forward(cuIpcGetMemHandle, handle, dev_ptr);
}

cudaError_t rt::cudaIpcOpenMemHandle(void** dev_ptr, cudaIpcMemHandle_t handle, unsigned flags) {
  CUipcMemHandle same;
  memcpy(&same, &handle, sizeof same);
  return forward(cuIpcOpenMemHandle_v2, dev_ptr, same, flags);
}

cudaError_t rt::cudaIpcCloseMemHandle(void* dev_ptr) {
  return forward(cuIpcCloseMemHandle, dev_ptr);
}

cudaError_t rt::cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return forward(cuIpcGetEventHandle, handle, event);
}

cudaError_t rt::cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  CUipcEventHandle same;
  memcpy(&same, &handle, sizeof same);
  return forward(cuIpcOpenEventHandle, event, same);
}

cudaError_t rt::cudaImportExternalMemory(cudaExternalMemory_t* memory,
                                         const cudaExternalMemoryHandleDesc* description) {
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = driver_memory(description);
  return forward(cuImportExternalMemory, memory, &d);
}

cudaError_t rt::cudaDestroyExternalMemory(cudaExternalMemory_t ext_mem) {
  return forward(cuDestroyExternalMemory, ext_mem);
}

cudaError_t rt::cudaExternalMemoryGetMappedBuffer(void** address, cudaExternalMemory_t memory,
                                                  const cudaExternalMemoryBufferDesc* p) {
  require(p);
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {};
  d.offset = p->offset, d.size = p->size, d.flags = p->flags;
  return forward(cuExternalMemoryGetMappedBuffer, address, memory, &d);
}

cudaError_t rt::cudaImportExternalSemaphore(cudaExternalSemaphore_t* semaphore,
                                            const cudaExternalSemaphoreHandleDesc* description) {
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = driver_semaphore(description);
  return forward(cuImportExternalSemaphore, semaphore, &d);
}

cudaError_t rt::cudaDestroyExternalSemaphore(cudaExternalSemaphore_t ext_sem) {
  return forward(cuDestroyExternalSemaphore, ext_sem);
}

cudaError_t rt::AW_V2(cudaSignalExternalSemaphoresAsync)(
    const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams* params,
    unsigned count, cudaStream_t stream) {
  return forward(cuSignalExternalSemaphoresAsync, semaphores, params, count, stream_of(stream));
}

cudaError_t rt::AW_V2(cudaWaitExternalSemaphoresAsync)(
    const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreWaitParams* params,
    unsigned count, cudaStream_t stream) {
  return forward(cuWaitExternalSemaphoresAsync, semaphores, params, count, stream_of(stream));
}

#if CUDART_VERSION < 13000
// The parameters of the first version are shorter.
cudaError_t rt::cudaSignalExternalSemaphoresAsync(
    const cudaExternalSemaphore_t* semaphores, const cudaExternalSemaphoreSignalParams_v1* params,
    unsigned count, cudaStream_t stream) {
  require(params || count == 0);
  std::vector<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> longer(count);
  for (unsigned i = 0; i < count; ++i) {
    longer[i].params.fence.value = params[i].params.fence.value;
    longer[i].flags = params[i].flags;
  }
  return forward(cuSignalExternalSemaphoresAsync, semaphores, longer.data(), count,
                 stream_of(stream));
}

// The parameters of the first version are shorter.
cudaError_t rt::cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t* semaphores,
                                                const cudaExternalSemaphoreWaitParams_v1* params,
                                                unsigned count, cudaStream_t stream) {
  require(params || count == 0);
  std::vector<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> longer(count);
  for (unsigned i = 0; i < count; ++i) {
    longer[i].params.fence.value = params[i].params.fence.value;
    longer[i].flags = params[i].flags;
  }
  return forward(cuWaitExternalSemaphoresAsync, semaphores, longer.data(), count,
                 stream_of(stream));
}
#endif

}  // namespace aw
