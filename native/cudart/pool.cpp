// Runtime API reference: stream ordered memory allocator, memory pools.
#include "cudart/forward.h"

namespace aw {

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(sizeof(cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData));

cudaError_t rt::cudaDeviceGetDefaultMemPool(cudaMemPool_t* mem_pool, int device) {
  return forward(cuDeviceGetDefaultMemPool, mem_pool, device);
}

cudaError_t rt::cudaDeviceGetMemPool(cudaMemPool_t* mem_pool, int device) {
  return forward(cuDeviceGetMemPool, mem_pool, device);
}

cudaError_t rt::cudaDeviceSetMemPool(int device, cudaMemPool_t mem_pool) {
  return forward(cuDeviceSetMemPool, device, mem_pool);
}

cudaError_t rt::cudaMemPoolCreate(cudaMemPool_t* mem_pool, const cudaMemPoolProps* pool_props) {
  return forward(cuMemPoolCreate, mem_pool, pool_props);
}

cudaError_t rt::cudaMemPoolDestroy(cudaMemPool_t mem_pool) {
  return forward(cuMemPoolDestroy, mem_pool);
}

cudaError_t rt::cudaMemPoolExportPointer(cudaMemPoolPtrExportData* export_data, void* ptr) {
  return forward(cuMemPoolExportPointer, export_data, ptr);
}

cudaError_t rt::cudaMemPoolExportToShareableHandle(void* shareable_handle, cudaMemPool_t mem_pool,
                                                   cudaMemAllocationHandleType handle_type,
                                                   unsigned flags) {
  return forward(cuMemPoolExportToShareableHandle, shareable_handle, mem_pool, handle_type, flags);
}

cudaError_t rt::cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t mem_pool,
                                     cudaMemLocation* location) {
  return forward(cuMemPoolGetAccess, flags, mem_pool, location);
}

cudaError_t rt::cudaMemPoolGetAttribute(cudaMemPool_t mem_pool, cudaMemPoolAttr attr, void* value) {
  return forward(cuMemPoolGetAttribute, mem_pool, attr, value);
}

cudaError_t rt::cudaMemPoolImportFromShareableHandle(cudaMemPool_t* mem_pool,
                                                     void* shareable_handle,
                                                     cudaMemAllocationHandleType handle_type,
                                                     unsigned flags) {
  return forward(cuMemPoolImportFromShareableHandle, mem_pool, shareable_handle, handle_type,
                 flags);
}

cudaError_t rt::cudaMemPoolImportPointer(void** ptr, cudaMemPool_t mem_pool,
                                         cudaMemPoolPtrExportData* export_data) {
  return forward(cuMemPoolImportPointer, ptr, mem_pool, export_data);
}

cudaError_t rt::cudaMemPoolSetAccess(cudaMemPool_t mem_pool, const cudaMemAccessDesc* desc_list,
                                     size_t count) {
  return forward(cuMemPoolSetAccess, mem_pool, desc_list, count);
}

cudaError_t rt::cudaMemPoolSetAttribute(cudaMemPool_t mem_pool, cudaMemPoolAttr attr, void* value) {
  return forward(cuMemPoolSetAttribute, mem_pool, attr, value);
}

cudaError_t rt::cudaMemPoolTrimTo(cudaMemPool_t mem_pool, size_t min_bytes_to_keep) {
  return forward(cuMemPoolTrimTo, mem_pool, min_bytes_to_keep);
}

cudaError_t rt::cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t mem_pool,
                                        cudaStream_t stream) {
  return forward(cuMemAllocFromPoolAsync, ptr, size, mem_pool, stream_of(stream));
}

#if CUDART_VERSION >= 13000
cudaError_t rt::cudaMemGetDefaultMemPool(cudaMemPool_t* mem_pool, cudaMemLocation* location,
                                         cudaMemAllocationType type) {
  return forward(cuMemGetDefaultMemPool, mem_pool, location, type);
}

cudaError_t rt::cudaMemGetMemPool(cudaMemPool_t* mem_pool, cudaMemLocation* location,
                                  cudaMemAllocationType type) {
  return forward(cuMemGetMemPool, mem_pool, location, type);
}

cudaError_t rt::cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                                  cudaMemPool_t mem_pool) {
  return forward(cuMemSetMemPool, location, type, mem_pool);
}

cudaError_t rt::cudaMemGetLocationInfo(void* dev_ptr, size_t size, size_t summary_granularity,
                                       size_t sampling_granularity, cudaMemLocation* location_out) {
  return forward(cuMemGetLocationInfo, dev_ptr, size, summary_granularity, sampling_granularity,
                 location_out);
}
#endif

}  // namespace aw
