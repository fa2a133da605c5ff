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

// What CUDA calls a synchronisation of a stream, by the program or by an operator: told to
// sanitisers and, when asked (sync_debug.h), warned of or refused. Waits for nothing.
void note_synchronization(c10::Stream stream);

// While one lives, sanitisers do not hear what this thread does: it is not the program's.
class Unheard {
 public:
  Unheard() noexcept;
  ~Unheard();
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;

 private:
  bool before_;
};

// Whether the driver has work that is not done; nearly free.
bool driver_busy() noexcept;

// Waits until what the driver was given before (kernels of Triton, of extensions) and what an
// operator on the current stream of `device` must see is done. Nearly free when nothing is under
// way. The driver refuses to wait for a stream under capture, which tells the program that its
// operator cannot be captured.
void wait_for_driver(c10::DeviceIndex device);

// The same for another device whose tensors the operator takes too: a capture there is none of it.
void wait_for_driver_beside(c10::DeviceIndex device);

// True on a thread of the driver that runs an operator given to a stream: it must not call the
// driver.
bool& on_driver_thread() noexcept;

// While one lives, what this thread of the program runs at once waits for nothing: shapes and
// strides only. It may allocate, and must not touch the memory of tensors.
class WithoutWaiting {
 public:
  WithoutWaiting() noexcept;
  ~WithoutWaiting();
  WithoutWaiting(const WithoutWaiting&) = delete;
  WithoutWaiting& operator=(const WithoutWaiting&) = delete;

 private:
  bool before_;
};

// True in either of the two.
bool must_not_wait() noexcept;

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
