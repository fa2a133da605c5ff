// Attributes and occupancy of kernels given by their name in the program.
#ifndef ANYWARP_RUNTIME_FUNCTIONS_H
#define ANYWARP_RUNTIME_FUNCTIONS_H

#include "cuda_runtime_api.h"

template <class T>
static inline cudaError_t cudaFuncSetCacheConfig(T* func, enum cudaFuncCache cacheConfig) {
  return cudaFuncSetCacheConfig((const void*)func, cacheConfig);
}

template <class T>
static inline cudaError_t cudaFuncSetSharedMemConfig(T* func, enum cudaSharedMemConfig config) {
  return cudaFuncSetSharedMemConfig((const void*)func, config);
}

#if defined(__CUDACC__)
template <class T>
static inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attr, T* entry) {
  return cudaFuncGetAttributes(attr, (const void*)entry);
}

template <class T>
static inline cudaError_t cudaFuncSetAttribute(T* func, enum cudaFuncAttribute attr, int value) {
  return cudaFuncSetAttribute((const void*)func, attr, value);
}

template <class T>
static inline cudaError_t cudaFuncGetName(const char** name, T* func) {
  return cudaFuncGetName(name, (const void*)func);
}

template <class T>
static inline cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, T* func) {
  return cudaGetKernel(kernelPtr, (const void*)func);
}
#endif

template <class T>
static inline cudaError_t cudaLibraryGetUnifiedFunction(T** fptr, cudaLibrary_t library, const char* symbol) {
  return cudaLibraryGetUnifiedFunction((void**)(void*)fptr, library, symbol);
}

template <class T>
static inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, T* symbol) {
  return cudaGetFuncBySymbol(functionPtr, (const void*)symbol);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, T func, int blockSize,
                                                                        size_t dynamicSMemSize) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void*)func, blockSize,
                                                                dynamicSMemSize, cudaOccupancyDefault);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, T func, int blockSize,
                                                                                 size_t dynamicSMemSize,
                                                                                 unsigned int flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void*)func, blockSize,
                                                                dynamicSMemSize, flags);
}

template <class T>
static inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, T* func, int numBlocks,
                                                                    int blockSize) {
  return cudaOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, (const void*)func, numBlocks, blockSize);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* clusterSize, T* func,
                                                               const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxPotentialClusterSize(clusterSize, (const void*)func, config);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, T* func, const cudaLaunchConfig_t* config) {
  return cudaOccupancyMaxActiveClusters(numClusters, (const void*)func, config);
}

// The block size that keeps most threads of a multiprocessor busy; of equals the largest. Sizes are tried in steps of a
// warp, from the largest that the kernel, the device and the caller allow. The grid is what fills the device then.
template <typename UnaryFunction, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* minGridSize, int* blockSize, T func, UnaryFunction blockSizeToDynamicSMemSize, int blockSizeLimit = 0,
    unsigned int flags = 0) {
  if (!minGridSize || !blockSize || !func) return cudaErrorInvalidValue;
  int device = 0, multiprocessors = 0, threads = 0, warp = 0;
  struct cudaFuncAttributes attributes;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device);
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, (const void*)func);
  if (status != cudaSuccess) return status;
  int largest = attributes.maxThreadsPerBlock;
  if (blockSizeLimit > 0 && blockSizeLimit < largest) largest = blockSizeLimit;
  int best = 0, best_blocks = 0, best_threads = 0;
  for (int rounded = (largest + warp - 1) / warp * warp; rounded > 0; rounded -= warp) {
    int size = rounded < largest ? rounded : largest;
    int blocks = 0;
    status = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, (const void*)func, size, (size_t)blockSizeToDynamicSMemSize(size), flags);
    if (status != cudaSuccess) return status;
    if (size * blocks > best_threads) best = size, best_blocks = blocks, best_threads = size * blocks;
    if (best_threads == threads) break;
  }
  *minGridSize = best_blocks * multiprocessors;
  *blockSize = best;
  return status;
}

template <typename UnaryFunction, class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* minGridSize, int* blockSize, T func,
                                                                         UnaryFunction blockSizeToDynamicSMemSize,
                                                                         int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func,
                                                                 blockSizeToDynamicSMemSize, blockSizeLimit,
                                                                 cudaOccupancyDefault);
}

struct __anywarp_constant_shared {
  size_t bytes;
  size_t operator()(int) const { return bytes; }
};

template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, T func,
                                                                      size_t dynamicSMemSize = 0,
                                                                      int blockSizeLimit = 0, unsigned int flags = 0) {
  __anywarp_constant_shared shared = {dynamicSMemSize};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(minGridSize, blockSize, func, shared, blockSizeLimit,
                                                                 flags);
}

template <class T>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, T func,
                                                             size_t dynamicSMemSize = 0, int blockSizeLimit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit,
                                                     cudaOccupancyDefault);
}

#endif
