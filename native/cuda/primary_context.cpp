// Driver API reference: primary context management.
#include "cuda/context.h"
#include "cuda/contexts.h"

using namespace aw;

namespace {

// The primary context is there while somebody retains it; reset ends it and keeps the count, as
// documented.
struct Primary {
  std::mutex mutex;
  std::shared_ptr<Context> context;
  unsigned flags = 0;
  uint64_t retained = 0;
};

Primary& primary() {
  static Primary& instance = *new Primary;
  return instance;
}

void check_device(CUdevice dev) { require(dev == 0, CUDA_ERROR_INVALID_DEVICE); }

CUresult release(CUdevice dev) {
  check_device(dev);
  std::shared_ptr<Context> ended;
  {
    std::lock_guard lock(primary().mutex);
    require(primary().retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--primary().retained == 0) ended = std::exchange(primary().context, nullptr);
  }
  if (ended) destroy_context(ended);
  return CUDA_SUCCESS;
}

CUresult reset(CUdevice dev) {
  check_device(dev);
  std::shared_ptr<Context> ended;
  {
    std::lock_guard lock(primary().mutex);
    ended = std::exchange(primary().context, nullptr);
  }
  if (ended) destroy_context(ended);
  return CUDA_SUCCESS;
}

CUresult set_flags(CUdevice dev, unsigned flags) {
  check_device(dev);
  require((flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0);
  std::lock_guard lock(primary().mutex);
  primary().flags = flags;
  if (primary().context) primary().context->flags = flags;
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice dev) {
  return api<"cuDevicePrimaryCtxRetain">([&] {
    require(out);
    check_device(dev);
    std::lock_guard lock(primary().mutex);
    if (!primary().context) {
      primary().context = make_context(primary().flags, kDriverVersion);
      primary().context->primary = true;
    }
    ++primary().retained;
    *out = as_handle<CUcontext>(primary().context->handle);
  });
}

AW_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
  return api<"cuDevicePrimaryCtxRelease">([&] { return release(dev); });
}

AW_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  return api<"cuDevicePrimaryCtxRelease_v2">([&] { return release(dev); });
}

AW_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
  return api<"cuDevicePrimaryCtxReset">([&] { return reset(dev); });
}

AW_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  return api<"cuDevicePrimaryCtxReset_v2">([&] { return reset(dev); });
}

AW_EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags) {
  return api<"cuDevicePrimaryCtxSetFlags">([&] { return set_flags(dev, flags); });
}

AW_EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned flags) {
  return api<"cuDevicePrimaryCtxSetFlags_v2">([&] { return set_flags(dev, flags); });
}

AW_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned* flags, int* active) {
  return api<"cuDevicePrimaryCtxGetState">([&] {
    check_device(dev);
    require(flags && active);
    std::lock_guard lock(primary().mutex);
    *flags = primary().flags;
    *active = primary().context != nullptr;
  });
}
