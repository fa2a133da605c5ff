// Runtime API reference: device management: which device, and its state.
#include <cstring>

#include "cudart/registration.h"
#include "cudart/state.h"

namespace aw {

cudaError_t rt::cudaGetDeviceCount(int* count) {
  require(count);
  *count = 0;
  *count = device_count();
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t rt::cudaGetDevice(int* device) {
  require(device);
  if (anywarp_current_context(device)) [[likely]]
    return cudaSuccess;
  ensure_driver();
  *device = thread_state().device;
  return cudaSuccess;
}

// Since CUDA 12 this makes the device's context.
cudaError_t rt::cudaSetDevice(int device) {
  check_device(device);
  int before;
  uint64_t current = anywarp_current_context(&before);
  CUcontext primary = primary_context(device);
  if (current == reinterpret_cast<uint64_t>(primary)) {
    thread_state().device = device;
    return cudaSuccess;
  }
  use_device(device);
  load_eagerly();
  return cudaSuccess;
}

cudaError_t rt::cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  check_device(device);
  require(flags <= cudaInitDeviceFlagsAreValid);
  if (flags & cudaInitDeviceFlagsAreValid)
    check(cuDevicePrimaryCtxSetFlags_v2(device, device_flags));
  primary_context(device);
  return cudaSuccess;
}

cudaError_t rt::cudaDeviceReset() {
  ensure_driver();
  int device = current_device();
  check_device(device);
  check(cuDevicePrimaryCtxReset_v2(device));
  thread_state().last = cudaSuccess;
  return cudaSuccess;
}

cudaError_t rt::cudaDeviceSynchronize() { return error_of(cuCtxSynchronize()); }

cudaError_t rt::cudaSetDeviceFlags(unsigned flags) {
  require((flags & ~unsigned{cudaDeviceMask}) == 0);
  ensure_driver();
  return error_of(cuDevicePrimaryCtxSetFlags_v2(current_device(), flags));
}

cudaError_t rt::cudaGetDeviceFlags(unsigned* flags) {
  require(flags);
  ensure_driver();
  int device, active;
  if (anywarp_current_context(&device)) return error_of(cuCtxGetFlags(flags));
  return error_of(cuDevicePrimaryCtxGetState(thread_state().device, flags, &active));
}

cudaError_t rt::cudaSetValidDevices(int* devices, int count) {
  require(count >= 0 && (devices || count == 0));
  for (int i = 0; i < count; ++i) check_device(devices[i]);
  if (count > 0) thread_state().device = devices[0];
  return cudaSuccess;
}

cudaError_t rt::cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  require(value);
  return error_of(cuCtxGetLimit(value, static_cast<CUlimit>(limit)));
}

cudaError_t rt::cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return error_of(cuCtxSetLimit(static_cast<CUlimit>(limit), value));
}

cudaError_t rt::cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  require(config);
  return error_of(cuCtxGetCacheConfig(reinterpret_cast<CUfunc_cache*>(config)));
}

cudaError_t rt::cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return error_of(cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)));
}

cudaError_t rt::cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  require(config);
  return error_of(cuCtxGetSharedMemConfig(reinterpret_cast<CUsharedconfig*>(config)));
}

cudaError_t rt::cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return error_of(cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(config)));
}

cudaError_t rt::cudaCtxResetPersistingL2Cache() { return error_of(cuCtxResetPersistingL2Cache()); }

cudaError_t rt::cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget target,
                                                   cudaFlushGPUDirectRDMAWritesScope scope) {
  return error_of(cuFlushGPUDirectRDMAWrites(static_cast<CUflushGPUDirectRDMAWritesTarget>(target),
                                             static_cast<CUflushGPUDirectRDMAWritesScope>(scope)));
}

cudaError_t rt::cudaDeviceGetByPCIBusId(int* device, const char* id) {
  require(device && id);
  ensure_driver();
  return error_of(cuDeviceGetByPCIBusId(device, id));
}

cudaError_t rt::cudaDeviceGetPCIBusId(char* id, int length, int device) {
  require(id && length > 0);
  check_device(device);
  return error_of(cuDeviceGetPCIBusId(id, length, device));
}

cudaError_t rt::cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback function,
                                                    void* data, cudaAsyncCallbackHandle_t* out) {
  require(function && out);
  check_device(device);
  return error_of(
      cuDeviceRegisterAsyncNotification(device, reinterpret_cast<CUasyncCallback>(function), data,
                                        reinterpret_cast<CUasyncCallbackHandle*>(out)));
}

cudaError_t rt::cudaDeviceUnregisterAsyncNotification(int device,
                                                      cudaAsyncCallbackHandle_t callback) {
  check_device(device);
  return error_of(cuDeviceUnregisterAsyncNotification(
      device, reinterpret_cast<CUasyncCallbackHandle>(callback)));
}

// Names of before CUDA 4, which version 13 has no more.
#if CUDART_VERSION < 13000
cudaError_t rt::cudaThreadExit() { return rt::cudaDeviceReset(); }
cudaError_t rt::cudaThreadSynchronize() { return rt::cudaDeviceSynchronize(); }
cudaError_t rt::cudaThreadGetLimit(size_t* v, cudaLimit limit) {
  return rt::cudaDeviceGetLimit(v, limit);
}
cudaError_t rt::cudaThreadSetLimit(cudaLimit limit, size_t v) {
  return rt::cudaDeviceSetLimit(limit, v);
}
cudaError_t rt::cudaThreadGetCacheConfig(cudaFuncCache* c) {
  return rt::cudaDeviceGetCacheConfig(c);
}
cudaError_t rt::cudaThreadSetCacheConfig(cudaFuncCache c) {
  return rt::cudaDeviceSetCacheConfig(c);
}
#endif

}  // namespace aw
