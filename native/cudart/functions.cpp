// Runtime API reference: execution control: what kernels are like; occupancy.
#include <cstring>

#include "cudart/registration.h"
#include "cudart/state.h"

namespace aw {
namespace {

int function_attribute(const void* function, CUfunction_attribute attribute) {
  int value = 0;
  CUresult result = cuFuncGetAttribute(&value, attribute, function_of(function));
  require(result != CUDA_ERROR_INVALID_HANDLE, cudaErrorInvalidDeviceFunction);
  check(result);
  return value;
}

cudaError_t of_function(CUresult result) {
  return result == CUDA_ERROR_INVALID_HANDLE ? cudaErrorInvalidDeviceFunction : error_of(result);
}

CUlaunchConfig driver_config(const cudaLaunchConfig_t& config) {
  CUlaunchConfig out = {};
  const dim3 &grid = config.gridDim, &block = config.blockDim;
  out.gridDimX = grid.x, out.gridDimY = grid.y, out.gridDimZ = grid.z;
  out.blockDimX = block.x, out.blockDimY = block.y, out.blockDimZ = block.z;
  out.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
  out.hStream = stream_of(config.stream);
  out.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
  out.numAttrs = config.numAttrs;
  return out;
}

}  // namespace

cudaError_t rt::cudaFuncGetAttributes(cudaFuncAttributes* out, const void* function) {
  require(out);
  memset(out, 0, sizeof *out);
  auto bytes = [&](CUfunction_attribute a) {
    return static_cast<size_t>(function_attribute(function, a));
  };
  out->sharedSizeBytes = bytes(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  out->constSizeBytes = bytes(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  out->localSizeBytes = bytes(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  out->maxThreadsPerBlock = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  out->numRegs = function_attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
  out->ptxVersion = function_attribute(function, CU_FUNC_ATTRIBUTE_PTX_VERSION);
  out->binaryVersion = function_attribute(function, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  out->cacheModeCA = function_attribute(function, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  out->maxDynamicSharedSizeBytes =
      function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  out->preferredShmemCarveout =
      function_attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  out->clusterDimMustBeSet =
      function_attribute(function, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  out->requiredClusterWidth =
      function_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  out->requiredClusterHeight =
      function_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  out->requiredClusterDepth =
      function_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  out->clusterSchedulingPolicyPreference =
      function_attribute(function, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  out->nonPortableClusterSizeAllowed =
      function_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  return cudaSuccess;
}

cudaError_t rt::cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return of_function(cuFuncSetAttribute(function_of(function),
                                        static_cast<CUfunction_attribute>(attribute), value));
}

cudaError_t rt::cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return of_function(
      cuFuncSetCacheConfig(function_of(function), static_cast<CUfunc_cache>(config)));
}

cudaError_t rt::cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig config) {
  return of_function(
      cuFuncSetSharedMemConfig(function_of(function), static_cast<CUsharedconfig>(config)));
}

cudaError_t rt::cudaFuncGetName(const char** name, const void* function) {
  require(name);
  return of_function(cuFuncGetName(name, function_of(function)));
}

cudaError_t rt::cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                     size_t* size) {
  return of_function(cuFuncGetParamInfo(function_of(function), index, offset, size));
}

#if CUDART_VERSION >= 13000
cudaError_t rt::cudaFuncGetParamCount(const void* function, size_t* count) {
  return of_function(cuFuncGetParamCount(function_of(function), count));
}
#endif

// What a driver function can be called with, of the current device.
cudaError_t rt::cudaGetFuncBySymbol(cudaFunction_t* out, const void* symbol) {
  require(out);
  return of_function(cuKernelGetFunction(out, kernel_of(symbol)));
}

cudaError_t rt::cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                              int threads, size_t shared) {
  return of_function(
      cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function_of(function), threads, shared));
}

cudaError_t rt::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                       const void* function,
                                                                       int threads, size_t shared,
                                                                       unsigned flags) {
  return of_function(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, function_of(function), threads, shared, flags));
}

cudaError_t rt::cudaOccupancyAvailableDynamicSMemPerBlock(size_t* size, const void* function,
                                                          int blocks, int threads) {
  return of_function(
      cuOccupancyAvailableDynamicSMemPerBlock(size, function_of(function), blocks, threads));
}

cudaError_t rt::cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                     const cudaLaunchConfig_t* config) {
  require(config);
  CUlaunchConfig wanted = driver_config(*config);
  return of_function(cuOccupancyMaxPotentialClusterSize(size, function_of(function), &wanted));
}

cudaError_t rt::cudaOccupancyMaxActiveClusters(int* count, const void* function,
                                               const cudaLaunchConfig_t* config) {
  require(config);
  CUlaunchConfig wanted = driver_config(*config);
  return of_function(cuOccupancyMaxActiveClusters(count, function_of(function), &wanted));
}

}  // namespace aw
