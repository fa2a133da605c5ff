// Driver API reference: event management, where more than a call of HIP's counterpart is needed.
#include "cuda/visible.h"
#include "hip/forward.h"
#include "hip/services.h"

using namespace aw;

AW_EXPORT CUresult cuEventSynchronize(CUevent event) {
  return api<"cuEventSynchronize">(
      [&] {
        Context& context = require_context();
        hipError_t error = hip.hipEventSynchronize(reinterpret_cast<hipEvent_t>(event));
        drain_services(context);
        if (error == hipSuccess) context.check();
        return to_cuda(error);
      },
      event);
}

AW_EXPORT CUresult cuEventQuery(CUevent event) {
  return api<"cuEventQuery">(
      [&] {
        Context& context = require_context();
        hipError_t error = hip.hipEventQuery(reinterpret_cast<hipEvent_t>(event));
        if (error != hipSuccess) return cuda_code(error);
        drain_services(context);
        context.check();
        return CUDA_SUCCESS;
      },
      event);
}

namespace {

// Behind everything that HIP's device was given: an event of the null stream, which all blocking
// streams wait for.
CUresult record_behind_all(Context& context, CUevent event) {
  OnDevice here(context.device);
  check(hip.hipDeviceSynchronize());
  return to_cuda(AW_HIP(hipEventRecord)(reinterpret_cast<hipEvent_t>(event), nullptr));
}

}  // namespace

AW_EXPORT CUresult cuCtxRecordEvent(CUcontext handle, CUevent event) {
  return api<"cuCtxRecordEvent">([&] {
    auto context = context_of(handle);
    context->check();
    require(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return record_behind_all(*context, event);
  });
}

// HIP has no call that makes all streams of a device wait: the caller does, which comes to the same
// order.
AW_EXPORT CUresult cuCtxWaitEvent(CUcontext handle, CUevent event) {
  return api<"cuCtxWaitEvent">([&] {
    auto context = context_of(handle);
    context->check();
    return to_cuda(AW_HIP(hipEventSynchronize)(reinterpret_cast<hipEvent_t>(event)));
  });
}

// Peers: CUDA names contexts, HIP the devices below them.
namespace {

int peer_of(const Context& mine, const Context& other) {
  require(&other != &mine, CUDA_ERROR_INVALID_CONTEXT);
  require(other.device != mine.device, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  return machine_number(other.device);
}

}  // namespace

AW_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return api<"cuCtxEnablePeerAccess">([&] {
    require(flags == 0);
    auto other = context_of(peer);
    Context& mine = require_context();
    return to_cuda(AW_HIP(hipDeviceEnablePeerAccess)(peer_of(mine, *other), 0));
  });
}

AW_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return api<"cuCtxDisablePeerAccess">([&] {
    auto other = context_of(peer);
    Context& mine = require_context();
    return to_cuda(AW_HIP(hipDeviceDisablePeerAccess)(peer_of(mine, *other)));
  });
}
