// Runtime API reference: peer device memory access.
#include "cudart/state.h"

namespace aw {

cudaError_t rt::cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  require(can);
  check_device(device);
  check_device(peer);
  return error_of(cuDeviceCanAccessPeer(can, device, peer));
}

cudaError_t rt::cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  check_device(peer);
  require(peer != current_device(), cudaErrorInvalidDevice);
  return error_of(cuCtxEnablePeerAccess(primary_context(peer), flags));
}

cudaError_t rt::cudaDeviceDisablePeerAccess(int peer) {
  check_device(peer);
  return error_of(cuCtxDisablePeerAccess(primary_context(peer)));
}

cudaError_t rt::cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source,
                                          int destination) {
  require(value);
  check_device(source);
  check_device(destination);
  return error_of(cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute),
                                          source, destination));
}

#if CUDART_VERSION >= 13000
cudaError_t rt::cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                                    const cudaAtomicOperation* operations,
                                                    unsigned count, int device) {
  check_device(device);
  return error_of(cuDeviceGetHostAtomicCapabilities(
      capabilities, reinterpret_cast<const CUatomicOperation*>(operations), count, device));
}

cudaError_t rt::cudaDeviceGetP2PAtomicCapabilities(unsigned* capabilities,
                                                   const cudaAtomicOperation* operations,
                                                   unsigned count, int source, int destination) {
  check_device(source);
  check_device(destination);
  return error_of(cuDeviceGetP2PAtomicCapabilities(
      capabilities, reinterpret_cast<const CUatomicOperation*>(operations), count, source,
      destination));
}
#endif

}  // namespace aw
