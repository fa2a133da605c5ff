// Memory, by pointers of any type and by variables of the device.
#ifndef ANYWARP_RUNTIME_MEMORY_H
#define ANYWARP_RUNTIME_MEMORY_H

#include "cuda_runtime_api.h"

static inline cudaError_t cudaMallocHost(void** ptr, size_t size, unsigned int flags) {
  return cudaHostAlloc(ptr, size, flags);
}

template <class T>
static inline cudaError_t cudaMalloc(T** devPtr, size_t size) {
  return cudaMalloc((void**)(void*)devPtr, size);
}

template <class T>
static inline cudaError_t cudaMallocHost(T** ptr, size_t size, unsigned int flags = 0) {
  return cudaMallocHost((void**)(void*)ptr, size, flags);
}

template <class T>
static inline cudaError_t cudaHostAlloc(T** ptr, size_t size, unsigned int flags) {
  return cudaHostAlloc((void**)(void*)ptr, size, flags);
}

template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T** pDevice, void* pHost, unsigned int flags) {
  return cudaHostGetDevicePointer((void**)(void*)pDevice, pHost, flags);
}

template <class T>
static inline cudaError_t cudaMallocManaged(T** devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void**)(void*)devPtr, size, flags);
}

template <class T>
static inline cudaError_t cudaMallocPitch(T** devPtr, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch((void**)(void*)devPtr, pitch, width, height);
}

static inline cudaError_t cudaMallocAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}

template <class T>
static inline cudaError_t cudaMallocAsync(T** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)(void*)ptr, size, memPool, stream);
}

template <class T>
static inline cudaError_t cudaMallocAsync(T** ptr, size_t size, cudaStream_t stream) {
  return cudaMallocAsync((void**)(void*)ptr, size, stream);
}

template <class T>
static inline cudaError_t cudaMallocFromPoolAsync(T** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void**)(void*)ptr, size, memPool, stream);
}

template <class T>
static inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* devPtr, size_t length = 0,
                                                   unsigned int flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, (void*)devPtr, length, flags);
}

template <class T>
static inline cudaError_t cudaMemPrefetchBatchAsync(T** dptrs, size_t* sizes, size_t count,
                                                    struct cudaMemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                                    size_t numPrefetchLocs, unsigned long long flags,
                                                    cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync((void**)(void*)dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                                   flags, stream);
}

template <class T>
static inline cudaError_t cudaMemPrefetchBatchAsync(T** dptrs, size_t* sizes, size_t count,
                                                    struct cudaMemLocation prefetchLocs, unsigned long long flags,
                                                    cudaStream_t stream) {
  size_t first = 0;
  return cudaMemPrefetchBatchAsync((void**)(void*)dptrs, sizes, count, &prefetchLocs, &first, 1, flags, stream);
}

template <class T>
static inline cudaError_t cudaMemDiscardAndPrefetchBatchAsync(T** dptrs, size_t* sizes, size_t count,
                                                              struct cudaMemLocation* prefetchLocs,
                                                              size_t* prefetchLocIdxs, size_t numPrefetchLocs,
                                                              unsigned long long flags, cudaStream_t stream) {
  return cudaMemDiscardAndPrefetchBatchAsync((void**)(void*)dptrs, sizes, count, prefetchLocs, prefetchLocIdxs,
                                             numPrefetchLocs, flags, stream);
}

template <class T>
static inline cudaError_t cudaMemDiscardAndPrefetchBatchAsync(T** dptrs, size_t* sizes, size_t count,
                                                              struct cudaMemLocation prefetchLocs,
                                                              unsigned long long flags, cudaStream_t stream) {
  size_t first = 0;
  return cudaMemDiscardAndPrefetchBatchAsync((void**)(void*)dptrs, sizes, count, &prefetchLocs, &first, 1, flags,
                                             stream);
}

template <class T, class U>
static inline cudaError_t cudaMemcpyBatchAsync(T* const* dsts, U* const* srcs, const size_t* sizes, size_t count,
                                               struct cudaMemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                                               cudaStream_t hStream) {
  return cudaMemcpyBatchAsync((void* const*)(const void*)dsts, (const void* const*)(const void*)srcs, sizes, count, attrs, attrsIdxs, numAttrs,
                              hStream);
}

template <class T, class U>
static inline cudaError_t cudaMemcpyBatchAsync(T* const* dsts, U* const* srcs, const size_t* sizes, size_t count,
                                               struct cudaMemcpyAttributes attr, cudaStream_t hStream) {
  size_t first = 0;
  return cudaMemcpyBatchAsync((void* const*)(const void*)dsts, (const void* const*)(const void*)srcs, sizes, count, &attr, &first, 1, hStream);
}

#if defined(__CUDACC__)
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                             enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol((const void*)__builtin_addressof(symbol), src, count, offset, kind);
}

template <class T>
static inline cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* src, size_t count, size_t offset = 0,
                                                  enum cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                                  cudaStream_t stream = 0) {
  return cudaMemcpyToSymbolAsync((const void*)__builtin_addressof(symbol), src, count, offset, kind, stream);
}

template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                               enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(dst, (const void*)__builtin_addressof(symbol), count, offset, kind);
}

template <class T>
static inline cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t count, size_t offset = 0,
                                                    enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                                    cudaStream_t stream = 0) {
  return cudaMemcpyFromSymbolAsync(dst, (const void*)__builtin_addressof(symbol), count, offset, kind, stream);
}
#endif

template <class T>
static inline cudaError_t cudaGetSymbolAddress(void** devPtr, const T& symbol) {
  return cudaGetSymbolAddress(devPtr, (const void*)__builtin_addressof(symbol));
}

template <class T>
static inline cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return cudaGetSymbolSize(size, (const void*)__builtin_addressof(symbol));
}

template <class T>
static inline cudaError_t cudaLibraryGetGlobal(T** dptr, size_t* bytes, cudaLibrary_t library, const char* name) {
  return cudaLibraryGetGlobal((void**)(void*)dptr, bytes, library, name);
}

template <class T>
static inline cudaError_t cudaLibraryGetManaged(T** dptr, size_t* bytes, cudaLibrary_t library, const char* name) {
  return cudaLibraryGetManaged((void**)(void*)dptr, bytes, library, name);
}

#endif
