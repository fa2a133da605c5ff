// Runtime API reference: memory management: memset.
#include "cudart/locations.h"

namespace aw {
namespace {

constexpr bool kSetWaits = true;

// A synchronous fill is ordered like work of the default stream; the driver decides whether the
// host waits for it.
cudaError_t fill(void* pointer, size_t pitch, int value, size_t width, size_t height, bool waits,
                 cudaStream_t stream) {
  if (width == 0 || height == 0) return cudaSuccess;
  auto byte = static_cast<unsigned char>(value);
  bool own = thread_state().per_thread;
  CUdeviceptr to = address_of(pointer);
  if (height == 1) {
    if (!waits) return error_of(cuMemsetD8Async(to, byte, width, stream_of(stream)));
    return error_of(own ? cuMemsetD8_v2_ptds(to, byte, width) : cuMemsetD8_v2(to, byte, width));
  }
  require(pitch >= width, cudaErrorInvalidPitchValue);
  if (!waits) {
    return error_of(cuMemsetD2D8Async(to, pitch, byte, width, height, stream_of(stream)));
  }
  return error_of(own ? cuMemsetD2D8_v2_ptds(to, pitch, byte, width, height)
                      : cuMemsetD2D8_v2(to, pitch, byte, width, height));
}

// A box is as many rows as its slices have together, where they lie without gaps; else it goes
// slice by slice.
cudaError_t fill_box(const cudaPitchedPtr& to, int value, const cudaExtent& extent, bool waits,
                     cudaStream_t stream) {
  require(to.ptr);
  if (extent.width == 0 || extent.height == 0) return cudaSuccess;
  require(extent.width <= to.pitch, cudaErrorInvalidPitchValue);
  if (extent.height == to.ysize || extent.depth <= 1) {
    return fill(to.ptr, to.pitch, value, extent.width, extent.height * extent.depth, waits, stream);
  }
  for (size_t z = 0; z < extent.depth; ++z) {
    char* slice = static_cast<char*>(to.ptr) + z * to.pitch * to.ysize;
    cudaError_t error = fill(slice, to.pitch, value, extent.width, extent.height, waits, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t rt::cudaMemset(void* pointer, int value, size_t count) {
  return fill(pointer, count, value, count, 1, kSetWaits, nullptr);
}

cudaError_t rt::cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  return fill(pointer, count, value, count, 1, !kSetWaits, stream);
}

cudaError_t rt::cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return fill(pointer, pitch, value, width, height, kSetWaits, nullptr);
}

cudaError_t rt::cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width,
                                  size_t height, cudaStream_t stream) {
  return fill(pointer, pitch, value, width, height, !kSetWaits, stream);
}

cudaError_t rt::cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  return fill_box(to, value, extent, kSetWaits, nullptr);
}

cudaError_t rt::cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent,
                                  cudaStream_t stream) {
  return fill_box(to, value, extent, !kSetWaits, stream);
}

}  // namespace aw
