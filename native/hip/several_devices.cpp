// Driver API reference: what concerns several devices, and what HIP has under another name or not
// at all.
#include "cuda/contexts.h"
#include "hip/devices.h"
#include "hip/forward.h"
#include "hip/launch.h"

using namespace aw;

namespace {

// CUatomicOperation and the capabilities of each, as AMD's instructions have them: the device's
// caches and the link decide whether they reach memory of others, which is what the attribute of
// native atomics says.
constexpr unsigned kSigned = 1, kUnsigned = 2, kReduction = 4, k32 = 8, k64 = 16;

unsigned capability(int operation) {
  switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
      return kSigned | kUnsigned | kReduction | k32 | k64;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
      return kUnsigned | kReduction | k32;
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR:
      return kUnsigned | kReduction | k32 | k64;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
      return kUnsigned | k32 | k64;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
      return kSigned | kReduction | k32 | k64;
    default:  // floating-point min and max
      return 0;
  }
}

void write_capabilities(unsigned* out, const int* operations, unsigned count, bool native) {
  require(out && operations && count > 0);
  for (unsigned i = 0; i < count; ++i) {
    require(operations[i] >= 0 && operations[i] < CU_ATOMIC_OPERATION_MAX);
    out[i] = native ? capability(operations[i]) : 0;
  }
}

struct AffinityParam {  // CUexecAffinityParam
  int type;
  unsigned multiprocessors;
};

extern "C" CUresult cuDeviceGetAttribute(int* value, int number, CUdevice dev);
extern "C" CUresult cuDeviceGetP2PAttribute(int* value, int number, CUdevice dev, CUdevice peer);

}  // namespace

AW_EXPORT CUresult cuDeviceGetHostAtomicCapabilities(unsigned* out, const int* operations,
                                                     unsigned count, CUdevice dev) {
  return api<"cuDeviceGetHostAtomicCapabilities">([&] {
    int native = 0;
    CUresult code =
        cuDeviceGetAttribute(&native, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, dev);
    if (!code) write_capabilities(out, operations, count, native);
    return code;
  });
}

AW_EXPORT CUresult cuDeviceGetP2PAtomicCapabilities(unsigned* out, const int* operations,
                                                    unsigned count, CUdevice from, CUdevice to) {
  return api<"cuDeviceGetP2PAtomicCapabilities">([&] {
    int native = 0;
    CUresult code =
        cuDeviceGetP2PAttribute(&native, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, from, to);
    if (!code) write_capabilities(out, operations, count, native);
    return code;
  });
}

AW_EXPORT CUresult cuCtxGetExecAffinity(AffinityParam* out, int type) {
  return api<"cuCtxGetExecAffinity">([&] {
    require(out && type == 0);
    Context& context = require_context();
    *out = {type, hip_device_of(context.device).info.multiprocessors};
  });
}

// HIP's functions that wait for the device make visible what others wrote into its memory: so does
// this one.
AW_EXPORT CUresult cuFlushGPUDirectRDMAWrites(int target, int scope) {
  return api<"cuFlushGPUDirectRDMAWrites">([&] {
    require(target == 0 && (scope == 100 || scope == 200));
    Context& context = require_context();
    context.wait_for_streams();
  });
}

// CUDA_LAUNCH_PARAMS
struct LaunchParams {
  CUfunction function;
  unsigned grid[3], block[3];
  unsigned shared;
  CUstream stream;
  void** params;
};

// Each grid on its own device, with a barrier of its own: the barrier over all devices that the
// flag of CUDA 9 asked for needs one in memory that all see, which our kernels do not use.
AW_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(LaunchParams* list, unsigned count,
                                                        unsigned flags) {
  return api<"cuLaunchCooperativeKernelMultiDevice">([&] {
    require(list && count > 0 && flags <= 3);
    require(count == 1, CUDA_ERROR_NOT_SUPPORTED);
    const LaunchParams& p = list[0];
    LaunchRequest r = {{p.grid[0], p.grid[1], p.grid[2]},
                       {p.block[0], p.block[1], p.block[2]},
                       p.shared,
                       p.params,
                       nullptr,
                       true};
    return launch(p.function, r, stream_for(p.stream));
  });
}
