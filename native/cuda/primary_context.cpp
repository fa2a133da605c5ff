// Driver API reference: primary context management.
#include <array>

#include "cuda/context.h"
#include "cuda/contexts.h"
#include "cuda/visible.h"

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

// Of a device that the program sees; throws INVALID_DEVICE for others.
Primary& primary(CUdevice dev) {
  static auto& instances = *new std::array<Primary, kMostDevices>;
  check_device(dev);
  return instances[static_cast<size_t>(dev)];
}

CUresult release(CUdevice dev) {
  std::shared_ptr<Context> ended;
  {
    std::lock_guard lock(primary(dev).mutex);
    require(primary(dev).retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    if (--primary(dev).retained == 0) ended = std::exchange(primary(dev).context, nullptr);
  }
  if (ended) destroy_context(ended);
  return CUDA_SUCCESS;
}

CUresult reset(CUdevice dev) {
  std::shared_ptr<Context> ended;
  {
    std::lock_guard lock(primary(dev).mutex);
    ended = std::exchange(primary(dev).context, nullptr);
  }
  if (ended) destroy_context(ended);
  return CUDA_SUCCESS;
}

CUresult set_flags(CUdevice dev, unsigned flags) {
  require((flags & ~unsigned{CU_CTX_FLAGS_MASK}) == 0);
  std::lock_guard lock(primary(dev).mutex);
  primary(dev).flags = flags;
  if (primary(dev).context) primary(dev).context->flags = flags;
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice dev) {
  return api<"cuDevicePrimaryCtxRetain">([&] {
    require(out);
    std::lock_guard lock(primary(dev).mutex);
    if (!primary(dev).context) {
      primary(dev).context = make_context(dev, primary(dev).flags, kDriverVersion);
      primary(dev).context->primary = true;
    }
    ++primary(dev).retained;
    *out = as_handle<CUcontext>(primary(dev).context->handle);
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
    Primary& mine = primary(dev);
    require(flags && active);
    std::lock_guard lock(mine.mutex);
    *flags = primary(dev).flags;
    *active = primary(dev).context != nullptr;
  });
}
