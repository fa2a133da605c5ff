// Contexts over HIP's devices: ours are objects of their own, and while one is current on a thread,
// HIP works on its device there.
#include "cuda/contexts.h"

#include "hip/devices.h"
#include "hip/ownership.h"
#include "hip/services.h"

namespace aw {

Context::~Context() = default;

void Context::fail(int code, const std::string& text) {
  int none = 0;
  if (!error.compare_exchange_strong(none, code)) return;
  if (!text.empty()) diagnose(LogLevel::error, text);
}

// All work of the device: HIP has no smaller set that a context could own.
void Context::wait_for_streams() {
  OnDevice here(device);
  hipError_t error = hip.hipDeviceSynchronize();
  drain_services(*this);
  if (error != hipSuccess) throw Failure(cuda_code(error));
}

void note_synchronized() {}  // HIP's pools are HIP's to trim

void work_on_device(int device) { check(hip.hipSetDevice(hip_device(device))); }

void begin_streams(const std::shared_ptr<Context>&) {}  // HIP's devices have their own

void end_streams_and_memory(const std::shared_ptr<Context>& context) {
  OnDevice here(context->device);
  destroy_streams_of(context->handle);
  free_memory_of_context(context->id);
}

// HIP itself refuses to wait for a stream that is being captured, and says so with the code that
// CUDA has.
void refuse_captures(Context&) {}

OnDevice::OnDevice(CUdevice dev)
    : before_(thread_state.context ? hip_device(thread_state.context->device) : -1) {
  int wanted = hip_device(dev);
  if (before_ == wanted)
    before_ = -1;
  else
    check(hip.hipSetDevice(wanted));
}

OnDevice::~OnDevice() {
  if (before_ >= 0) (void)hip.hipSetDevice(before_);
}

OutsideCapture::OutsideCapture() {
  if (hip.hipThreadExchangeStreamCaptureMode) (void)hip.hipThreadExchangeStreamCaptureMode(&mode_);
}

OutsideCapture::~OutsideCapture() {
  if (hip.hipThreadExchangeStreamCaptureMode) (void)hip.hipThreadExchangeStreamCaptureMode(&mode_);
}

}  // namespace aw
