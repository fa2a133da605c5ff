// Driver API reference: what concerns several devices, and what HIP has under another name or not
// at all.
#include <algorithm>

#include "cuda/atomic_capabilities.h"
#include "cuda/contexts.h"
#include "hip/devices.h"
#include "hip/forward.h"
#include "hip/launch.h"

using namespace aw;

namespace {

constexpr unsigned kExchanges = CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;

// The device's caches and the link decide whether instructions reach memory of others, which is
// what the attribute of native atomics says.
void write_capabilities(unsigned* out, const CUatomicOperation* operations, unsigned count,
                        bool native) {
  write_atomic_capabilities(out, operations, count, kExchanges);
  if (!native) std::fill_n(out, count, 0);
}

extern "C" CUresult cuDeviceGetAttribute(int* value, int number, CUdevice dev);
extern "C" CUresult cuDeviceGetP2PAttribute(int* value, int number, CUdevice dev, CUdevice peer);

}  // namespace

AW_EXPORT CUresult cuDeviceGetHostAtomicCapabilities(unsigned* out,
                                                     const CUatomicOperation* operations,
                                                     unsigned count, CUdevice dev) {
  return api<"cuDeviceGetHostAtomicCapabilities">([&] {
    int native = 0;
    CUresult code =
        cuDeviceGetAttribute(&native, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, dev);
    if (!code) write_capabilities(out, operations, count, native);
    return code;
  });
}

AW_EXPORT CUresult cuDeviceGetP2PAtomicCapabilities(unsigned* out,
                                                    const CUatomicOperation* operations,
                                                    unsigned count, CUdevice from, CUdevice to) {
  return api<"cuDeviceGetP2PAtomicCapabilities">([&] {
    int native = 0;
    CUresult code =
        cuDeviceGetP2PAttribute(&native, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, from, to);
    if (!code) write_capabilities(out, operations, count, native);
    return code;
  });
}

AW_EXPORT CUresult cuCtxGetExecAffinity(CUexecAffinityParam* out, CUexecAffinityType type) {
  return api<"cuCtxGetExecAffinity">([&] {
    require(out && type == CU_EXEC_AFFINITY_TYPE_SM_COUNT);
    Context& context = require_context();
    out->type = type;
    out->param.smCount.val = hip_device_of(context.device).info.multiprocessors;
  });
}

// HIP's functions that wait for the device make visible what others wrote into its memory: so does
// this one.
AW_EXPORT CUresult cuFlushGPUDirectRDMAWrites(CUflushGPUDirectRDMAWritesTarget target,
                                              CUflushGPUDirectRDMAWritesScope scope) {
  return api<"cuFlushGPUDirectRDMAWrites">([&] {
    require(target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX &&
            (scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER ||
             scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES));
    Context& context = require_context();
    context.wait_for_streams();
  });
}

// Each grid on its own device, with a barrier of its own: the barrier over all devices that the
// flag of CUDA 9 asked for needs one in memory that all see, which our kernels do not use.
AW_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* list, unsigned count,
                                                        unsigned flags) {
  return api<"cuLaunchCooperativeKernelMultiDevice">([&] {
    require(list && count > 0 &&
            flags <= (CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC |
                      CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC));
    require(count == 1, CUDA_ERROR_NOT_SUPPORTED);
    const CUDA_LAUNCH_PARAMS& p = list[0];
    return launch(p.function, request_of(p), stream_for(p.hStream));
  });
}
