// Functions of ours that NVIDIA's driver does not have (docs/contracts.md, section 8).
#include "cuda/context.h"
#include "hip/devices.h"
#include "hip/forward.h"

using namespace aw;

// Whether HIP's streams have work left is known to HIP alone, so that waiting is never for nothing.
AW_EXPORT const uint64_t* anywarp_work_counter() {
  static const uint64_t always = 1;
  return &always;
}

// The same of captures.
AW_EXPORT const uint64_t* anywarp_capture_counter() { return anywarp_work_counter(); }

AW_EXPORT CUresult anywarp_fail(int code, const char* text) {
  return api<"anywarp_fail">([&] {
    require(code > 0 && text);
    Context* context = thread_state.context;
    require(context != nullptr, CUDA_ERROR_NOT_PERMITTED);
    context->fail(code, text);
  });
}

// Kernels run on the device alone.
AW_EXPORT void* anywarp_service(const char*) { return nullptr; }

// The libraries of ROCm count devices as HIP does, without CUDA_VISIBLE_DEVICES.
AW_EXPORT int anywarp_hip_device(int device) {
  try {
    choose_visible_devices();
    return device >= 0 && device < visible_devices() ? hip_device(device) : -1;
  } catch (const Failure&) {
    return -1;
  }
}

AW_EXPORT int anywarp_cuda_device(int hip_number) {
  try {
    choose_visible_devices();
    return cuda_device(hip_number);
  } catch (const Failure&) {
    return -1;
  }
}

// HIP tells only what all processes hold: 0, as where nobody knows.
AW_EXPORT uint64_t anywarp_memory_in_use(int) { return 0; }
