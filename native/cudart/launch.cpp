// Runtime API reference: execution control; and what nvcc's stubs call to launch.
#include "cudart/launch.h"

#include <cstring>

#include "cudart/registration.h"
#include "cudart/state.h"

namespace aw {
namespace {

constexpr unsigned kMostBlocks[] = {2147483647, 65535, 65535}, kMostThreads[] = {1024, 1024, 64};

bool is_possible(const dim3& grid, const dim3& block) {
  const unsigned g[] = {grid.x, grid.y, grid.z}, b[] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i) {
    if (g[i] < 1 || g[i] > kMostBlocks[i] || b[i] < 1 || b[i] > kMostThreads[i]) return false;
  }
  return uint64_t{block.x} * block.y * block.z <= 1024;
}

}  // namespace

cudaError_t launch_error(CUresult result, const dim3& grid, const dim3& block) {
  if (result == CUDA_SUCCESS) [[likely]]
    return cudaSuccess;
  if (result == CUDA_ERROR_INVALID_VALUE && !is_possible(grid, block))
    return cudaErrorInvalidConfiguration;
  return error_of(result);
}

// A stub that nothing registered is taken for a handle, and then the driver does not know it.
static cudaError_t function_error(cudaError_t error, const void* function) {
  if (error != cudaErrorInvalidResourceHandle) return error;
  const char* name = nullptr;
  auto* kernel = static_cast<CUkernel>(const_cast<void*>(function));
  auto* other = static_cast<CUfunction>(const_cast<void*>(function));
  bool known =
      cuKernelGetName(&name, kernel) == CUDA_SUCCESS || cuFuncGetName(&name, other) == CUDA_SUCCESS;
  bool registered = reinterpret_cast<const void*>(kernel_of(function)) != function;
  return known || registered ? error : cudaErrorInvalidDeviceFunction;
}

cudaError_t launch(CUfunction kernel, const dim3& grid, const dim3& block, void** args,
                   size_t shared, CUstream stream) {
  require(shared <= UINT32_MAX);
  return launch_error(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                     static_cast<unsigned>(shared), stream, args, nullptr),
                      grid, block);
}

unsigned rt::__cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                         struct CUstream_st* stream) {
  ThreadState& state = thread_state();
  if (state.configurations == kMostConfigurations) return 1;
  state.configuration[state.configurations++] = {
      {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
  return 0;
}

cudaError_t rt::__cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  ThreadState& state = thread_state();
  require(state.configurations > 0, cudaErrorMissingConfiguration);
  CallConfiguration& c = state.configuration[--state.configurations];
  *grid = dim3(c.grid[0], c.grid[1], c.grid[2]);
  *block = dim3(c.block[0], c.block[1], c.block[2]);
  *shared = c.shared_bytes;
  memcpy(stream, &c.stream, sizeof c.stream);
  return cudaSuccess;
}

cudaError_t rt::cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                                 size_t shared, cudaStream_t stream) {
  cudaError_t error = launch(function_of(function), grid, block, args, shared, stream_of(stream));
  return error == cudaSuccess ? error : function_error(error, function);
}

cudaError_t rt::__cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  return rt::cudaGetKernel(kernel, stub);
}

// Why this thread has got no kernel. Compiled stubs launch what they were given without looking
// whether it was something, and the launch shall say why it was not.
static thread_local cudaError_t no_kernel = cudaSuccess;

cudaError_t rt::cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  require(kernel);
  *kernel = nullptr;
  no_kernel = cudaErrorInvalidDeviceFunction;
  ensure_context();
  CUkernel found = nullptr;
  try {
    found = kernel_of(stub);
  } catch (const Failure& failure) {
    no_kernel = static_cast<cudaError_t>(failure.code);
    throw;
  }
  const char* name = nullptr;
  if (cuKernelGetName(&name, found) != CUDA_SUCCESS) return no_kernel;
  *kernel = found;
  return cudaSuccess;
}

cudaError_t rt::__cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                   size_t shared, cudaStream_t stream) {
  ensure_context();
  if (!kernel) return no_kernel == cudaSuccess ? cudaErrorInvalidResourceHandle : no_kernel;
  return launch(reinterpret_cast<CUfunction>(kernel), grid, block, args, shared, stream_of(stream));
}

cudaError_t rt::cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                            void** args, size_t shared, cudaStream_t stream) {
  require(shared <= UINT32_MAX);
  CUresult result =
      cuLaunchCooperativeKernel(function_of(function), grid.x, grid.y, grid.z, block.x, block.y,
                                block.z, static_cast<unsigned>(shared), stream_of(stream), args);
  return function_error(launch_error(result, grid, block), function);
}

// Attributes have the same numbers and the same layout in both interfaces.
cudaError_t rt::cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                    void** args) {
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
  static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue));
  require(config && config->dynamicSmemBytes <= UINT32_MAX);
  const dim3 &grid = config->gridDim, &block = config->blockDim;
  CUlaunchConfig wanted = {};
  wanted.gridDimX = grid.x, wanted.gridDimY = grid.y, wanted.gridDimZ = grid.z;
  wanted.blockDimX = block.x, wanted.blockDimY = block.y, wanted.blockDimZ = block.z;
  wanted.sharedMemBytes = static_cast<unsigned>(config->dynamicSmemBytes);
  wanted.hStream = stream_of(config->stream);
  wanted.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
  wanted.numAttrs = config->numAttrs;
  CUresult result = cuLaunchKernelEx(&wanted, function_of(function), args, nullptr);
  return function_error(launch_error(result, grid, block), function);
}

cudaError_t rt::cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return error_of(cuLaunchHostFunc(stream_of(stream), function, data));
}

#if CUDART_VERSION >= 13000
cudaError_t rt::cudaLaunchHostFunc_v2(cudaStream_t stream, cudaHostFn_t function, void* data,
                                      unsigned mode) {
  require(mode <= 1);  // how to wait is a hint
  return error_of(cuLaunchHostFunc(stream_of(stream), function, data));
}
#else
cudaError_t rt::cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams* list, unsigned count,
                                                       unsigned) {
  require(list && count > 0);
  // One grid over several devices needs a barrier between them; over one it is a cooperative
  // launch.
  require(count == 1, cudaErrorNotSupported);
  return rt::cudaLaunchCooperativeKernel(list->func, list->gridDim, list->blockDim, list->args,
                                         list->sharedMem, list->stream);
}

// These convert in place where a device has no double precision (compute capability 1.2 and less).
cudaError_t rt::cudaSetDoubleForDevice(double* d) {
  require(d);
  return cudaSuccess;
}

cudaError_t rt::cudaSetDoubleForHost(double* d) {
  require(d);
  return cudaSuccess;
}
#endif

}  // namespace aw
