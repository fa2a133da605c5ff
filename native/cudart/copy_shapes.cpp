// Runtime API reference: memory management: copies of two and three dimensions, and batches.
#include "cudart/copy_shapes.h"

#include <cstring>

#include "cudart/array_formats.h"
#include "cudart/locations.h"
#include "cudart/state.h"

namespace aw {
namespace {

constexpr bool kWaits = true;

struct Kinds {
  CUmemorytype from, to;
};

// Who says what memory is where; `cudaMemcpyDefault` leaves it to the addresses.
Kinds kinds_of(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST};
    case cudaMemcpyHostToDevice:
      return {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE};
    case cudaMemcpyDeviceToHost:
      return {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST};
    case cudaMemcpyDeviceToDevice:
      return {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE};
    case cudaMemcpyDefault:
      return {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED};
  }
  throw Failure(cudaErrorInvalidMemcpyDirection);
}

cudaError_t copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                    size_t height, cudaMemcpyKind kind, bool waits, cudaStream_t stream) {
  Kinds kinds = kinds_of(kind);
  if (width == 0 || height == 0) return cudaSuccess;
  require(to && from);
  require(width <= to_pitch && width <= from_pitch, cudaErrorInvalidPitchValue);
  CUDA_MEMCPY2D c = {};
  c.srcMemoryType = kinds.from, c.dstMemoryType = kinds.to;
  c.srcHost = from, c.srcDevice = address_of(from), c.srcPitch = from_pitch;
  c.dstHost = to, c.dstDevice = address_of(to), c.dstPitch = to_pitch;
  c.WidthInBytes = width, c.Height = height;
  if (!waits) return error_of(cuMemcpy2DAsync_v2(&c, stream_of(stream)));
  return error_of(thread_state().per_thread ? cuMemcpy2DUnaligned_v2_ptds(&c)
                                            : cuMemcpy2DUnaligned_v2(&c));
}

size_t element_size(cudaArray_t array) {
  CUDA_ARRAY3D_DESCRIPTOR d;
  check(cuArray3DGetDescriptor_v2(&d, reinterpret_cast<CUarray>(array)));
  return element_bytes(d.Format, d.NumChannels);
}

// Widths and positions are counted in elements where an array takes part, else in bytes.
CUDA_MEMCPY3D translated(const cudaMemcpy3DParms& p) {
  require((p.srcArray != nullptr) != (p.srcPtr.ptr != nullptr));
  require((p.dstArray != nullptr) != (p.dstPtr.ptr != nullptr));
  Kinds kinds = kinds_of(p.kind);
  size_t from_element = p.srcArray ? element_size(p.srcArray) : 1;
  size_t to_element = p.dstArray ? element_size(p.dstArray) : 1;
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = p.srcArray ? CU_MEMORYTYPE_ARRAY : kinds.from;
  c.srcArray = reinterpret_cast<CUarray>(p.srcArray);
  c.srcHost = p.srcPtr.ptr, c.srcDevice = address_of(p.srcPtr.ptr);
  c.srcPitch = p.srcPtr.pitch, c.srcHeight = p.srcPtr.ysize;
  c.srcXInBytes = p.srcPos.x * from_element, c.srcY = p.srcPos.y, c.srcZ = p.srcPos.z;
  c.dstMemoryType = p.dstArray ? CU_MEMORYTYPE_ARRAY : kinds.to;
  c.dstArray = reinterpret_cast<CUarray>(p.dstArray);
  c.dstHost = p.dstPtr.ptr, c.dstDevice = address_of(p.dstPtr.ptr);
  c.dstPitch = p.dstPtr.pitch, c.dstHeight = p.dstPtr.ysize;
  c.dstXInBytes = p.dstPos.x * to_element, c.dstY = p.dstPos.y, c.dstZ = p.dstPos.z;
  c.WidthInBytes = p.extent.width * (p.srcArray ? from_element : to_element);
  c.Height = p.extent.height, c.Depth = p.extent.depth;
  return c;
}

bool is_empty(const cudaExtent& e) { return e.width == 0 || e.height == 0 || e.depth == 0; }

CUDA_MEMCPY3D_PEER translated(const cudaMemcpy3DPeerParms& p) {
  cudaMemcpy3DParms inner = {p.srcArray, p.srcPos, p.srcPtr, p.dstArray,
                             p.dstPos,   p.dstPtr, p.extent, cudaMemcpyDeviceToDevice};
  CUDA_MEMCPY3D c = translated(inner);
  CUDA_MEMCPY3D_PEER out = {};
  out.srcXInBytes = c.srcXInBytes, out.srcY = c.srcY, out.srcZ = c.srcZ;
  out.srcMemoryType = c.srcMemoryType, out.srcHost = c.srcHost, out.srcDevice = c.srcDevice;
  out.srcArray = c.srcArray, out.srcPitch = c.srcPitch, out.srcHeight = c.srcHeight;
  out.srcContext = primary_context(p.srcDevice);
  out.dstXInBytes = c.dstXInBytes, out.dstY = c.dstY, out.dstZ = c.dstZ;
  out.dstMemoryType = c.dstMemoryType, out.dstHost = c.dstHost, out.dstDevice = c.dstDevice;
  out.dstArray = c.dstArray, out.dstPitch = c.dstPitch, out.dstHeight = c.dstHeight;
  out.dstContext = primary_context(p.dstDevice);
  out.WidthInBytes = c.WidthInBytes, out.Height = c.Height, out.Depth = c.Depth;
  return out;
}

}  // namespace

CUDA_MEMCPY3D driver_copy(const cudaMemcpy3DParms& p) { return translated(p); }

CUDA_MEMCPY3D driver_copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  Kinds kinds = kinds_of(kind);
  require(to && from && bytes > 0);
  CUDA_MEMCPY3D c = {};
  c.srcMemoryType = kinds.from, c.srcHost = from, c.srcDevice = address_of(from);
  c.dstMemoryType = kinds.to, c.dstHost = to, c.dstDevice = address_of(to);
  c.WidthInBytes = bytes, c.Height = c.Depth = 1;
  return c;
}

cudaMemcpy3DParms runtime_copy(const CUDA_MEMCPY3D& c) {
  auto pointer = [](CUmemorytype type, const void* host, CUdeviceptr device) {
    return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : reinterpret_cast<void*>(device);
  };
  cudaMemcpy3DParms p = {};
  p.srcPtr.ptr = pointer(c.srcMemoryType, c.srcHost, c.srcDevice);
  p.srcPtr.pitch = c.srcPitch, p.srcPtr.xsize = c.WidthInBytes, p.srcPtr.ysize = c.srcHeight;
  p.dstPtr.ptr = pointer(c.dstMemoryType, c.dstHost, c.dstDevice);
  p.dstPtr.pitch = c.dstPitch, p.dstPtr.xsize = c.WidthInBytes, p.dstPtr.ysize = c.dstHeight;
  p.extent = {c.WidthInBytes, c.Height, c.Depth};
  p.kind = cudaMemcpyDefault;
  return p;
}

cudaError_t rt::cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                             size_t width, size_t height, cudaMemcpyKind kind) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, kWaits, nullptr);
}

cudaError_t rt::cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                  size_t width, size_t height, cudaMemcpyKind kind,
                                  cudaStream_t stream) {
  return copy_2d(to, to_pitch, from, from_pitch, width, height, kind, !kWaits, stream);
}

cudaError_t rt::cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  require(p);
  if (is_empty(p->extent)) return cudaSuccess;
  CUDA_MEMCPY3D c = translated(*p);
  return error_of(thread_state().per_thread ? cuMemcpy3D_v2_ptds(&c) : cuMemcpy3D_v2(&c));
}

cudaError_t rt::cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  require(p);
  if (is_empty(p->extent)) return cudaSuccess;
  CUDA_MEMCPY3D c = translated(*p);
  return error_of(cuMemcpy3DAsync_v2(&c, stream_of(stream)));
}

cudaError_t rt::cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) {
  require(p);
  if (is_empty(p->extent)) return cudaSuccess;
  CUDA_MEMCPY3D_PEER c = translated(*p);
  return error_of(thread_state().per_thread ? cuMemcpy3DPeer_ptds(&c) : cuMemcpy3DPeer(&c));
}

cudaError_t rt::cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  require(p);
  if (is_empty(p->extent)) return cudaSuccess;
  CUDA_MEMCPY3D_PEER c = translated(*p);
  return error_of(cuMemcpy3DPeerAsync(&c, stream_of(stream)));
}

static_assert(sizeof(cudaMemcpyAttributes) == sizeof(CUmemcpyAttributes));
static_assert(sizeof(cudaMemcpy3DBatchOp) == sizeof(CUDA_MEMCPY3D_BATCH_OP));

#if CUDART_VERSION < 13000
cudaError_t rt::cudaMemcpyBatchAsync(void** to, void** from, size_t* sizes, size_t count,
                                     cudaMemcpyAttributes* attributes, size_t* indices,
                                     size_t attribute_count, size_t* failed, cudaStream_t stream) {
  return error_of(cuMemcpyBatchAsync(reinterpret_cast<CUdeviceptr*>(to),
                                     reinterpret_cast<CUdeviceptr*>(from), sizes, count,
                                     reinterpret_cast<CUmemcpyAttributes*>(attributes), indices,
                                     attribute_count, failed, stream_of(stream)));
}

cudaError_t rt::cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* list, size_t* failed,
                                       unsigned long long flags, cudaStream_t stream) {
  return error_of(cuMemcpy3DBatchAsync(count, reinterpret_cast<CUDA_MEMCPY3D_BATCH_OP*>(list),
                                       failed, flags, stream_of(stream)));
}
#else
cudaError_t rt::cudaMemcpyBatchAsync(void* const* to, const void* const* from, const size_t* sizes,
                                     size_t count, cudaMemcpyAttributes* attributes,
                                     size_t* indices, size_t attribute_count, cudaStream_t stream) {
  auto* dst = reinterpret_cast<CUdeviceptr*>(const_cast<void**>(to));
  auto* src = reinterpret_cast<CUdeviceptr*>(const_cast<void**>(from));
  return error_of(cuMemcpyBatchAsync_v2(dst, src, const_cast<size_t*>(sizes), count,
                                        reinterpret_cast<CUmemcpyAttributes*>(attributes), indices,
                                        attribute_count, stream_of(stream)));
}

cudaError_t rt::cudaMemcpy3DBatchAsync(size_t count, cudaMemcpy3DBatchOp* list,
                                       unsigned long long flags, cudaStream_t stream) {
  return error_of(cuMemcpy3DBatchAsync_v2(count, reinterpret_cast<CUDA_MEMCPY3D_BATCH_OP*>(list),
                                          flags, stream_of(stream)));
}

cudaError_t rt::cudaMemcpyWithAttributesAsync(void* to, const void* from, size_t size,
                                              cudaMemcpyAttributes* attributes,
                                              cudaStream_t stream) {
  return error_of(cuMemcpyWithAttributesAsync(address_of(to), address_of(from), size,
                                              reinterpret_cast<CUmemcpyAttributes*>(attributes),
                                              stream_of(stream)));
}

cudaError_t rt::cudaMemcpy3DWithAttributesAsync(cudaMemcpy3DBatchOp* operation,
                                                unsigned long long flags, cudaStream_t stream) {
  return error_of(cuMemcpy3DWithAttributesAsync(
      reinterpret_cast<CUDA_MEMCPY3D_BATCH_OP*>(operation), flags, stream_of(stream)));
}
#endif

}  // namespace aw
