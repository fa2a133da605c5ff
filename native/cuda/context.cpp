// Driver API reference: context management.
#include "cuda/context.h"

#include <cstring>

#include "cuda/contexts.h"
#include "cuda/limits.h"
#include "cuda/thread.h"
#include "cuda/visible.h"

using namespace aw;

namespace {

CUresult create_context(CUcontext* out, unsigned flags, CUdevice dev) {
  require(out);
  require((flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0);
  check_device(dev);
  auto context = make_context(dev, flags, kDriverVersion);
  push_context(context);
  *out = as_handle<CUcontext>(context->handle);
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuCtxCreate_v2(CUcontext* out, unsigned flags, CUdevice dev) {
  return api<"cuCtxCreate_v2">([&] { return create_context(out, flags, dev); });
}

AW_EXPORT CUresult cuCtxCreate(CUcontext* out, unsigned flags, CUdevice dev) {
  return api<"cuCtxCreate">([&] { return create_context(out, flags, dev); });
}

AW_EXPORT CUresult cuCtxCreate_v3(CUcontext* out, void*, int affinities, unsigned flags,
                                  CUdevice dev) {
  return api<"cuCtxCreate_v3">([&] {
    // A share of the multiprocessors is a service for several processes on one GPU.
    require(affinities == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    return create_context(out, flags, dev);
  });
}

AW_EXPORT CUresult cuCtxCreate_v4(CUcontext* out, const CUctxCreateParams* params, unsigned flags,
                                  CUdevice dev) {
  return api<"cuCtxCreate_v4">([&] {
    if (params) {
      require(params->numExecAffinityParams == 0, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
      require(params->cigParams == nullptr, CUDA_ERROR_NOT_SUPPORTED);
    }
    return create_context(out, flags, dev);
  });
}

AW_EXPORT CUresult cuCtxDestroy_v2(CUcontext handle) {
  return api<"cuCtxDestroy_v2">([&] {
    auto context = context_of(handle);
    require(!context->primary, CUDA_ERROR_INVALID_CONTEXT);
    destroy_context(context);
    drop_if_current(*context);
  });
}

AW_EXPORT CUresult cuCtxDestroy(CUcontext handle) {
  return api<"cuCtxDestroy">([&] { return cuCtxDestroy_v2(handle); });
}

AW_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return api<"cuCtxPushCurrent_v2">([&] { push_context(context_of(handle)); });
}

AW_EXPORT CUresult cuCtxPushCurrent(CUcontext handle) {
  return api<"cuCtxPushCurrent">([&] { push_context(context_of(handle)); });
}

AW_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  return api<"cuCtxPopCurrent_v2">([&] {
    auto context = pop_context();
    require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    if (out) *out = as_handle<CUcontext>(context->handle);
  });
}

AW_EXPORT CUresult cuCtxPopCurrent(CUcontext* out) {
  return api<"cuCtxPopCurrent">([&] { return cuCtxPopCurrent_v2(out); });
}

AW_EXPORT CUresult cuCtxSetCurrent(CUcontext handle) {
  return api<"cuCtxSetCurrent">([&] {
    auto context = handle ? context_of(handle) : nullptr;
    pop_context();
    if (context) push_context(context);
  });
}

AW_EXPORT CUresult cuCtxGetCurrent(CUcontext* out) {
  return api<"cuCtxGetCurrent">([&] {
    require(out);
    const Context* context = thread_state.context;
    *out = context ? as_handle<CUcontext>(context->handle) : nullptr;
  });
}

AW_EXPORT CUresult cuCtxGetDevice(CUdevice* out) {
  return api<"cuCtxGetDevice">([&] {
    const Context* context = thread_state.context;
    require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    require(out);
    *out = context->device;
  });
}

AW_EXPORT CUresult cuCtxGetDevice_v2(CUdevice* out, CUcontext handle) {
  return api<"cuCtxGetDevice_v2">([&] {
    require(out);
    auto context = handle ? context_of(handle) : peek_context();
    require(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    *out = context->device;
  });
}

AW_EXPORT CUresult cuCtxGetFlags(unsigned* flags) {
  return api<"cuCtxGetFlags">([&] {
    require(flags);
    *flags = current_context()->flags;
  });
}

AW_EXPORT CUresult cuCtxSetFlags(unsigned flags) {
  return api<"cuCtxSetFlags">([&] {
    require((flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0);
    current_context()->flags = flags;
  });
}

AW_EXPORT CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return api<"cuCtxGetId">([&] {
    require(id);
    *id = (handle ? context_of(handle) : current_context())->id;
  });
}

AW_EXPORT CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return api<"cuCtxGetApiVersion">([&] {
    require(version);
    *version = (handle ? context_of(handle) : current_context())->version;
  });
}

AW_EXPORT CUresult cuCtxSynchronize() {
  return api<"cuCtxSynchronize">([&] {
    auto context = current_context();
    refuse_inside_callback();
    refuse_captures(*context);
    context->wait_for_streams();
    note_synchronized();
    context->check();
  });
}

AW_EXPORT CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return api<"cuCtxSynchronize_v2">([&] {
    auto context = handle ? context_of(handle) : current_context();
    refuse_inside_callback();
    context->check();
    refuse_captures(*context);
    context->wait_for_streams();
    note_synchronized();
    context->check();
  });
}

AW_EXPORT CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return api<"cuCtxGetLimit">([&] {
    require(value);
    auto context = current_context();
    std::lock_guard lock(context->mutex);
    *value = read_limit(*context, limit);
  });
}

AW_EXPORT CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return api<"cuCtxSetLimit">([&] {
    auto context = current_context();
    std::lock_guard lock(context->mutex);
    write_limit(*context, limit, value);
  });
}

AW_EXPORT CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return api<"cuCtxGetStreamPriorityRange">([&] {
    current_context();
    if (least) *least = 0;
    if (greatest) *greatest = kGreatestPriority;
  });
}

AW_EXPORT CUresult cuCtxGetCacheConfig(int* config) {
  return api<"cuCtxGetCacheConfig">([&] {
    require(config);
    *config = current_context()->cache_config;
  });
}

AW_EXPORT CUresult cuCtxSetCacheConfig(int config) {
  return api<"cuCtxSetCacheConfig">([&] {
    require(config >= 0 && config <= 3);
    current_context()->cache_config =
        config;  // a preference, which a processor's caches have no use for
  });
}

AW_EXPORT CUresult cuCtxGetSharedMemConfig(int* config) {
  return api<"cuCtxGetSharedMemConfig">([&] {
    require(config);
    current_context();
    *config = 1;  // banks of four bytes, as on every device since Maxwell
  });
}

AW_EXPORT CUresult cuCtxSetSharedMemConfig(int config) {
  return api<"cuCtxSetSharedMemConfig">([&] {
    require(config >= 0 && config <= 2);
    current_context();
  });
}

AW_EXPORT CUresult cuCtxResetPersistingL2Cache() {
  return api<"cuCtxResetPersistingL2Cache">([&] { current_context(); });
}
