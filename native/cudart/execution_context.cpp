// Runtime API reference: execution contexts (CUDA 13): green contexts, and the contexts of devices.
#include "cudart/forward.h"
#include "cudart/state.h"

#if CUDART_VERSION >= 13000
namespace aw {
namespace {

static_assert(sizeof(cudaDevResource) == sizeof(CUdevResource));
static_assert(sizeof(cudaDevSmResourceGroupParams) == sizeof(CU_DEV_SM_RESOURCE_GROUP_PARAMS));

// A handle stands for a green context, or for the primary context of a device: then it is a number
// that no handle of the driver is.
constexpr uintptr_t kOfDevice = uintptr_t{0xec} << 48;

bool is_device(cudaExecutionContext_t context) {
  return (reinterpret_cast<uintptr_t>(context) & ~uintptr_t{0xff}) == kOfDevice;
}

int device_of(cudaExecutionContext_t context) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(context) & 0xff);
}

CUgreenCtx green(cudaExecutionContext_t context) {
  require(context != nullptr, cudaErrorInvalidResourceHandle);
  return reinterpret_cast<CUgreenCtx>(context);
}

// The context of the driver behind a handle of either sort.
CUcontext context_of(cudaExecutionContext_t context) {
  if (is_device(context)) return primary_context(device_of(context));
  CUcontext found = nullptr;
  check(cuCtxFromGreenCtx(&found, green(context)));
  return found;
}

}  // namespace

cudaError_t rt::cudaDeviceGetExecutionCtx(cudaExecutionContext_t* ctx, int device) {
  require(ctx);
  check_device(device);
  primary_context(device);
  *ctx = reinterpret_cast<cudaExecutionContext_t>(kOfDevice + static_cast<uintptr_t>(device));
  return cudaSuccess;
}

cudaError_t rt::cudaDevResourceGenerateDesc(cudaDevResourceDesc_t* desc, cudaDevResource* resources,
                                            unsigned nb_resources) {
  return forward(cuDevResourceGenerateDesc, desc, resources, nb_resources);
}

cudaError_t rt::cudaDevSmResourceSplit(cudaDevResource* result, unsigned nb_groups,
                                       const cudaDevResource* input, cudaDevResource* remainder,
                                       unsigned flags, cudaDevSmResourceGroupParams* group_params) {
  return forward(cuDevSmResourceSplit, result, nb_groups, input, remainder, flags, group_params);
}

cudaError_t rt::cudaDevSmResourceSplitByCount(cudaDevResource* result, unsigned* nb_groups,
                                              const cudaDevResource* input,
                                              cudaDevResource* remaining, unsigned flags,
                                              unsigned min_count) {
  return forward(cuDevSmResourceSplitByCount, result, nb_groups, input, remaining, flags,
                 min_count);
}

cudaError_t rt::cudaDeviceGetDevResource(int device, cudaDevResource* resource,
                                         cudaDevResourceType type) {
  return forward(cuDeviceGetDevResource, device, resource, type);
}

cudaError_t rt::cudaStreamGetDevResource(cudaStream_t stream, cudaDevResource* resource,
                                         cudaDevResourceType type) {
  return forward(cuStreamGetDevResource, stream_of(stream), resource, type);
}

cudaError_t rt::cudaGreenCtxCreate(cudaExecutionContext_t* ctx, cudaDevResourceDesc_t description,
                                   int device, unsigned flags) {
  require(ctx && flags == 0);
  check_device(device);
  primary_context(device);
  CUgreenCtx made = nullptr;
  check(cuGreenCtxCreate(&made, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
  *ctx = reinterpret_cast<cudaExecutionContext_t>(made);
  return cudaSuccess;
}

cudaError_t rt::cudaExecutionCtxDestroy(cudaExecutionContext_t ctx) {
  require(!is_device(ctx));  // as documented: that of a device is not the program's to destroy
  return forward(cuGreenCtxDestroy, green(ctx));
}

cudaError_t rt::cudaExecutionCtxGetDevResource(cudaExecutionContext_t ctx,
                                               cudaDevResource* resource,
                                               cudaDevResourceType type) {
  if (is_device(ctx)) return forward(cuCtxGetDevResource, context_of(ctx), resource, type);
  return forward(cuGreenCtxGetDevResource, green(ctx), resource, type);
}

cudaError_t rt::cudaExecutionCtxGetDevice(int* device, cudaExecutionContext_t ctx) {
  require(device);
  return forward(cuCtxGetDevice_v2, device, context_of(ctx));
}

cudaError_t rt::cudaExecutionCtxGetId(cudaExecutionContext_t ctx, unsigned long long* id) {
  return forward(cuCtxGetId, context_of(ctx), id);
}

cudaError_t rt::cudaExecutionCtxStreamCreate(cudaStream_t* stream, cudaExecutionContext_t ctx,
                                             unsigned flags, int priority) {
  require(stream);
  if (!is_device(ctx)) {
    // Streams of green contexts must not wait for the default stream (cuGreenCtxStreamCreate).
    return forward(cuGreenCtxStreamCreate, stream, green(ctx), flags | CU_STREAM_NON_BLOCKING,
                   priority);
  }
  check(cuCtxPushCurrent_v2(context_of(ctx)));
  CUresult result = cuStreamCreateWithPriority(stream, flags, priority);
  CUcontext popped;
  check(cuCtxPopCurrent_v2(&popped));
  return error_of(result);
}

cudaError_t rt::cudaExecutionCtxSynchronize(cudaExecutionContext_t ctx) {
  return forward(cuCtxSynchronize_v2, context_of(ctx));
}

cudaError_t rt::cudaExecutionCtxRecordEvent(cudaExecutionContext_t ctx, cudaEvent_t event) {
  if (is_device(ctx)) return forward(cuCtxRecordEvent, context_of(ctx), event);
  return forward(cuGreenCtxRecordEvent, green(ctx), event);
}

cudaError_t rt::cudaExecutionCtxWaitEvent(cudaExecutionContext_t ctx, cudaEvent_t event) {
  if (is_device(ctx)) return forward(cuCtxWaitEvent, context_of(ctx), event);
  return forward(cuGreenCtxWaitEvent, green(ctx), event);
}

}  // namespace aw
#endif
