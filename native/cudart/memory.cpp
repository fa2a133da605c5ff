// Runtime API reference: memory management: allocation, host memory, managed memory.
#include "cudart/locations.h"
#include "cudart/state.h"

namespace aw {
namespace {

// Sums that programs get wrong must not wrap.
size_t product(size_t a, size_t b) {
  size_t out;
  require(!__builtin_mul_overflow(a, b, &out), cudaErrorMemoryAllocation);
  return out;
}

cudaError_t allocate_pitched(void** pointer, size_t* pitch, size_t width, size_t rows) {
  *pointer = nullptr;
  if (width == 0 || rows == 0) {
    *pitch = 0;
    return cudaSuccess;
  }
  product(width, rows);
  CUdeviceptr address = 0;
  check(cuMemAllocPitch_v2(&address, pitch, width, rows, 4));
  *pointer = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

}  // namespace

cudaError_t rt::cudaMalloc(void** pointer, size_t size) {
  require(pointer);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  return error_of(cuMemAlloc_v2(pointer_to_address(pointer), size));
}

// Frees what any of the runtime's functions allocated on a device.
cudaError_t rt::cudaFree(void* pointer) {
  if (!pointer) return cudaSuccess;
  return error_of(cuMemFree_v2(address_of(pointer)));
}

cudaError_t rt::cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  require(pointer && pitch);
  return allocate_pitched(pointer, pitch, width, height);
}

cudaError_t rt::cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  require(out);
  *out = {nullptr, 0, extent.width, extent.height};
  return allocate_pitched(&out->ptr, &out->pitch, extent.width,
                          product(extent.height, extent.depth));
}

cudaError_t rt::cudaMallocHost(void** pointer, size_t size) {
  return rt::cudaHostAlloc(pointer, size, cudaHostAllocDefault);
}

cudaError_t rt::cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  require(pointer && flags <= 7);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  return error_of(cuMemHostAlloc(pointer, size, flags));
}

cudaError_t rt::cudaFreeHost(void* pointer) {
  if (!pointer) return cudaSuccess;
  return error_of(cuMemFreeHost(pointer));
}

cudaError_t rt::cudaHostRegister(void* pointer, size_t size, unsigned flags) {
  require(pointer && size > 0 && flags <= 15);
  return error_of(cuMemHostRegister_v2(pointer, size, flags));
}

cudaError_t rt::cudaHostUnregister(void* pointer) {
  require(pointer);
  return error_of(cuMemHostUnregister(pointer));
}

cudaError_t rt::cudaHostGetDevicePointer(void** out, void* host, unsigned flags) {
  require(out && host && flags == 0);
  return error_of(cuMemHostGetDevicePointer_v2(pointer_to_address(out), host, flags));
}

cudaError_t rt::cudaHostGetFlags(unsigned* flags, void* host) {
  require(flags && host);
  return error_of(cuMemHostGetFlags(flags, host));
}

cudaError_t rt::cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  require(pointer && size > 0);
  require(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost);
  return error_of(cuMemAllocManaged(pointer_to_address(pointer), size, flags));
}

cudaError_t rt::cudaMemGetInfo(size_t* available, size_t* total) {
  require(available && total);
  return error_of(cuMemGetInfo_v2(available, total));
}

cudaError_t rt::cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  require(pointer);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  return error_of(cuMemAllocAsync(pointer_to_address(pointer), size, stream_of(stream)));
}

cudaError_t rt::cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (!pointer) return cudaSuccess;
  return error_of(cuMemFreeAsync(address_of(pointer), stream_of(stream)));
}

cudaError_t rt::cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t length,
                                         unsigned flags) {
  return error_of(cuStreamAttachMemAsync(stream_of(stream), address_of(pointer), length, flags));
}

// Advice and prefetches name a device by its number, or the host by -1.
#if CUDART_VERSION < 13000
cudaError_t rt::cudaMemPrefetchAsync(const void* pointer, size_t count, int device,
                                     cudaStream_t stream) {
  return error_of(
      cuMemPrefetchAsync_v2(address_of(pointer), count, location_of(device), 0, stream_of(stream)));
}

cudaError_t rt::cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice,
                              int device) {
  return error_of(cuMemAdvise_v2(address_of(pointer), count, static_cast<CUmem_advise>(advice),
                                 location_of(device)));
}
#endif

cudaError_t rt::AW_V2(cudaMemPrefetchAsync)(const void* pointer, size_t count,
                                            cudaMemLocation location, unsigned flags,
                                            cudaStream_t stream) {
  return error_of(cuMemPrefetchAsync_v2(address_of(pointer), count, location_of(location), flags,
                                        stream_of(stream)));
}

cudaError_t rt::AW_V2(cudaMemAdvise)(const void* pointer, size_t count, cudaMemoryAdvise advice,
                                     cudaMemLocation location) {
  return error_of(cuMemAdvise_v2(address_of(pointer), count, static_cast<CUmem_advise>(advice),
                                 location_of(location)));
}

cudaError_t rt::cudaMemRangeGetAttribute(void* data, size_t size, cudaMemRangeAttribute attribute,
                                         const void* pointer, size_t count) {
  return error_of(cuMemRangeGetAttribute(data, size, static_cast<CUmem_range_attribute>(attribute),
                                         address_of(pointer), count));
}

cudaError_t rt::cudaMemRangeGetAttributes(void** data, size_t* sizes,
                                          cudaMemRangeAttribute* attributes, size_t attribute_count,
                                          const void* pointer, size_t count) {
  static_assert(sizeof(cudaMemRangeAttribute) == sizeof(CUmem_range_attribute));
  return error_of(cuMemRangeGetAttributes(data, sizes,
                                          reinterpret_cast<CUmem_range_attribute*>(attributes),
                                          attribute_count, address_of(pointer), count));
}

#if CUDART_VERSION >= 13000
cudaError_t rt::cudaMemPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                          cudaMemLocation* locations, size_t* indices,
                                          size_t location_count, unsigned long long flags,
                                          cudaStream_t stream) {
  return error_of(cuMemPrefetchBatchAsync(reinterpret_cast<CUdeviceptr*>(pointers), sizes, count,
                                          reinterpret_cast<CUmemLocation*>(locations), indices,
                                          location_count, flags, stream_of(stream)));
}

cudaError_t rt::cudaMemDiscardBatchAsync(void** pointers, size_t* sizes, size_t count,
                                         unsigned long long flags, cudaStream_t stream) {
  return error_of(cuMemDiscardBatchAsync(reinterpret_cast<CUdeviceptr*>(pointers), sizes, count,
                                         flags, stream_of(stream)));
}

cudaError_t rt::cudaMemDiscardAndPrefetchBatchAsync(void** pointers, size_t* sizes, size_t count,
                                                    cudaMemLocation* locations, size_t* indices,
                                                    size_t location_count, unsigned long long flags,
                                                    cudaStream_t stream) {
  return error_of(
      cuMemDiscardAndPrefetchBatchAsync(reinterpret_cast<CUdeviceptr*>(pointers), sizes, count,
                                        reinterpret_cast<CUmemLocation*>(locations), indices,
                                        location_count, flags, stream_of(stream)));
}
#endif

}  // namespace aw
