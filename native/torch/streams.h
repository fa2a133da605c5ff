// Streams and events: c10::Stream on one side, CUstream of our driver on the other.
#pragma once

#include <c10/core/Stream.h>

struct CUstream_st;

namespace awt {

c10::Stream default_stream(c10::DeviceIndex device);
c10::Stream current_stream(c10::DeviceIndex device);
c10::Stream exchange_stream(c10::Stream stream);                 // returns the one before
c10::Stream pool_stream(c10::DeviceIndex device, int priority);  // 32 per priority, in turns
c10::Stream external_stream(void* handle, c10::DeviceIndex device);
CUstream_st* native_stream(c10::Stream stream);

constexpr int kStreamPriorities = 4;  // 0 to -3, as torch
int stream_priority(c10::Stream stream);

bool stream_done(c10::Stream stream);
bool stream_capturing(c10::Stream stream);
void wait_for_stream(c10::Stream stream);
void wait_for_device(c10::DeviceIndex device);

// Waits until what the driver was given before (kernels of Triton, of extensions) and what an
// operator on the current stream must see is done. Nearly free when nothing is under way.
void wait_for_driver(c10::DeviceIndex device);

// True on a thread of the driver that runs an operator given to a stream: it must not wait for
// anything.
bool& must_not_wait() noexcept;

// Work of `cycles` of the clock that the device reports, on a stream (torch.cuda._sleep).
void sleep_on(c10::Stream stream, int64_t cycles);

// While one lives, another device and its context are current on this thread.
class InContext {
 public:
  explicit InContext(c10::DeviceIndex device);
  ~InContext();
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  c10::DeviceIndex before_;
};

// Events are CUevent handles, made when they are first recorded; flags as of cuEventCreate.
constexpr unsigned kBlockingEvent = 1, kUntimedEvent = 2, kSharedEvent = 4;
void* make_event(c10::DeviceIndex device, unsigned flags);
unsigned& next_event_flags() noexcept;  // more flags for the next event that record_event makes on
                                        // this thread
void record_event(void** event, c10::Stream stream, bool timing);
void stream_waits(c10::Stream stream, void* event, bool external = false);
bool event_done(void* event);
void wait_for_event(void* event);
void destroy_event(void* event) noexcept;
double elapsed_milliseconds(void* first, void* second);

}  // namespace awt
