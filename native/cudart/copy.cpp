// Runtime API reference: memory management: copies of bytes in a row.
#include "cudart/locations.h"
#include "cudart/registration.h"
#include "cudart/state.h"

namespace aw {
namespace {

void check_kind(cudaMemcpyKind kind) {
  require(kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
}

CUresult copy_by_kind(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  bool own = thread_state().per_thread;
  CUdeviceptr dst = address_of(to), src = address_of(from);
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return own ? cuMemcpyHtoD_v2_ptds(dst, from, count) : cuMemcpyHtoD_v2(dst, from, count);
    case cudaMemcpyDeviceToHost:
      return own ? cuMemcpyDtoH_v2_ptds(to, src, count) : cuMemcpyDtoH_v2(to, src, count);
    case cudaMemcpyDeviceToDevice:
      return own ? cuMemcpyDtoD_v2_ptds(dst, src, count) : cuMemcpyDtoD_v2(dst, src, count);
    default:
      return own ? cuMemcpy_ptds(dst, src, count) : cuMemcpy(dst, src, count);
  }
}

CUresult copy_async(void* to, const void* from, size_t count, cudaMemcpyKind kind,
                    CUstream stream) {
  CUdeviceptr dst = address_of(to), src = address_of(from);
  switch (kind) {
    case cudaMemcpyHostToDevice:
      return cuMemcpyHtoDAsync_v2(dst, from, count, stream);
    case cudaMemcpyDeviceToHost:
      return cuMemcpyDtoHAsync_v2(to, src, count, stream);
    case cudaMemcpyDeviceToDevice:
      return cuMemcpyDtoDAsync_v2(dst, src, count, stream);
    default:
      return cuMemcpyAsync(dst, src, count, stream);
  }
}

// The part of a variable that a copy is about.
char* part_of(const void* symbol, size_t count, size_t offset) {
  DeviceVariable variable = variable_of(symbol);
  require(offset <= variable.size && count <= variable.size - offset);
  return reinterpret_cast<char*>(variable.address) + offset;
}

}  // namespace

cudaError_t rt::cudaMemcpy(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  check_kind(kind);
  if (count == 0) return cudaSuccess;
  require(to && from);
  return error_of(copy_by_kind(to, from, count, kind));
}

cudaError_t rt::cudaMemcpyAsync(void* to, const void* from, size_t count, cudaMemcpyKind kind,
                                cudaStream_t stream) {
  check_kind(kind);
  if (count == 0) return cudaSuccess;
  require(to && from);
  return error_of(copy_async(to, from, count, kind, stream_of(stream)));
}

cudaError_t rt::cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                               size_t count) {
  CUcontext dst = primary_context(to_device), src = primary_context(from_device);
  if (count == 0) return cudaSuccess;
  return error_of(thread_state().per_thread
                      ? cuMemcpyPeer_ptds(address_of(to), dst, address_of(from), src, count)
                      : cuMemcpyPeer(address_of(to), dst, address_of(from), src, count));
}

cudaError_t rt::cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                    size_t count, cudaStream_t stream) {
  CUcontext dst = primary_context(to_device), src = primary_context(from_device);
  if (count == 0) return cudaSuccess;
  return error_of(
      cuMemcpyPeerAsync(address_of(to), dst, address_of(from), src, count, stream_of(stream)));
}

cudaError_t rt::cudaMemcpyToSymbol(const void* symbol, const void* from, size_t count,
                                   size_t offset, cudaMemcpyKind kind) {
  require(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
              kind == cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  return rt::cudaMemcpy(part_of(symbol, count, offset), from, count, kind);
}

cudaError_t rt::cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t count,
                                        size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  require(kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
              kind == cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  return rt::cudaMemcpyAsync(part_of(symbol, count, offset), from, count, kind, stream);
}

cudaError_t rt::cudaMemcpyFromSymbol(void* to, const void* symbol, size_t count, size_t offset,
                                     cudaMemcpyKind kind) {
  require(kind >= cudaMemcpyDeviceToHost && kind <= cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  return rt::cudaMemcpy(to, part_of(symbol, count, offset), count, kind);
}

cudaError_t rt::cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t count, size_t offset,
                                          cudaMemcpyKind kind, cudaStream_t stream) {
  require(kind >= cudaMemcpyDeviceToHost && kind <= cudaMemcpyDefault,
          cudaErrorInvalidMemcpyDirection);
  return rt::cudaMemcpyAsync(to, part_of(symbol, count, offset), count, kind, stream);
}

cudaError_t rt::cudaGetSymbolAddress(void** out, const void* symbol) {
  require(out);
  *out = reinterpret_cast<void*>(variable_of(symbol).address);
  return cudaSuccess;
}

cudaError_t rt::cudaGetSymbolSize(size_t* size, const void* symbol) {
  require(size);
  *size = variable_of(symbol).size;
  return cudaSuccess;
}

}  // namespace aw
