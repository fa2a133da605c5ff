// Streams of a CUDA build of torch (c10/cuda/CUDAStream.h), as the operators need them.
#include "streams.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "devices.h"
#include "driver_entry.h"
#include "seam.h"

namespace awt {

using c10::cuda::CUDAStream;

c10::Stream current_stream(c10::DeviceIndex device) {
  return c10::cuda::getCurrentCUDAStream(device);
}

CUstream_st* native_stream(c10::Stream stream) { return CUDAStream(stream).stream(); }

bool stream_done(c10::Stream stream) { return CUDAStream(stream).query(); }
void wait_for_stream(c10::Stream stream) { CUDAStream(stream).synchronize(); }

bool stream_capturing(c10::Stream stream) {
  if (!context_made(stream.device_index())) return false;
  const InContext on(stream.device_index());
  cudaStreamCaptureStatus status{};
  C10_CUDA_CHECK(cudaStreamIsCapturing(native_stream(stream), &status));
  return status != cudaStreamCaptureStatusNone;
}

void note_synchronization(c10::Stream) { c10::cuda::warn_or_error_on_sync(); }

// Sanitisers of programs hear what libtorch_cuda tells them.
Unheard::Unheard() noexcept : before_(false) {}
Unheard::~Unheard() = default;

bool captured_elsewhere() noexcept {
  static const uint64_t* const captures = driver_counter("anywarp_capture_counter");
  return __atomic_load_n(captures, __ATOMIC_RELAXED) != 0;
}

InContext::InContext(c10::DeviceIndex device) : before_(current_device()) { set_device(device); }
InContext::~InContext() { set_device_unchecked(before_); }

void record_event(void** event, c10::Stream stream, bool timing) {
  const InContext on(stream.device_index());
  auto made = static_cast<cudaEvent_t>(*event);
  if (!made) C10_CUDA_CHECK(cudaEventCreateWithFlags(&made, timing ? 0 : kUntimedEvent));
  *event = made;
  C10_CUDA_CHECK(cudaEventRecord(made, native_stream(stream)));
}

void stream_waits(c10::Stream stream, void* event, bool external) {
  if (!event) return;
  const InContext on(stream.device_index());
  C10_CUDA_CHECK(cudaStreamWaitEvent(native_stream(stream), static_cast<cudaEvent_t>(event),
                                     external ? cudaEventWaitExternal : cudaEventWaitDefault));
}

void destroy_event(void* event) noexcept {
  if (event) static_cast<void>(cudaEventDestroy(static_cast<cudaEvent_t>(event)));
}

}  // namespace awt
