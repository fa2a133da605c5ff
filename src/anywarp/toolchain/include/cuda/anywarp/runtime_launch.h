// Launches of kernels given by their name in the program.
#ifndef ANYWARP_RUNTIME_LAUNCH_H
#define ANYWARP_RUNTIME_LAUNCH_H

#include "cuda_runtime_api.h"

template <class T>
static inline cudaError_t cudaLaunchKernel(T* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem = 0,
                                           cudaStream_t stream = 0) {
  return cudaLaunchKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}

template <class T>
static inline cudaError_t cudaLaunchCooperativeKernel(T* func, dim3 gridDim, dim3 blockDim, void** args,
                                                      size_t sharedMem = 0, cudaStream_t stream = 0) {
  return cudaLaunchCooperativeKernel((const void*)func, gridDim, blockDim, args, sharedMem, stream);
}

#if __cplusplus >= 201103L
// The arguments become the parameters' types first: the kernel reads them as those.
template <typename... ExpTypes, typename... ActTypes>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(ExpTypes...),
                                             ActTypes&&... args) {
  return [&](ExpTypes... converted) {
    void* addresses[sizeof...(ExpTypes) + 1] = {(void*)&converted...};
    return cudaLaunchKernelExC(config, (const void*)kernel, addresses);
  }(std::forward<ActTypes>(args)...);
}

template <typename... ActTypes>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, const cudaKernel_t kernel,
                                             ActTypes&&... args) {
  void* addresses[sizeof...(ActTypes) + 1] = {(void*)&args...};
  return cudaLaunchKernelExC(config, (const void*)kernel, addresses);
}
#endif

#endif
