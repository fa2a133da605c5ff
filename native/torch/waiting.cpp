// Waiting for what the driver was given, by operators that run on the calling thread (streams.h).
#include <utility>

#include "deferred.h"
#include "devices.h"
#include "driver_entry.h"
#include "streams.h"

namespace awt {
namespace {

thread_local bool driver_thread = false, without_waiting = false;

// What was given to the current stream of the device comes before them.
void wait_for_current_stream(c10::DeviceIndex device) {
  if (must_not_wait()) return;
  settle_draws();
  if (context_made(device)) wait_for_stream(current_stream(device));
}

}  // namespace

bool& on_driver_thread() noexcept { return driver_thread; }
bool must_not_wait() noexcept { return driver_thread || without_waiting; }

WithoutWaiting::WithoutWaiting() noexcept : before_(std::exchange(without_waiting, true)) {}
WithoutWaiting::~WithoutWaiting() { without_waiting = before_; }

bool driver_busy() noexcept {
  static const uint64_t* const work = driver_counter("anywarp_work_counter");
  return __builtin_expect(__atomic_load_n(work, __ATOMIC_ACQUIRE) != 0, 0);
}

void wait_for_driver(c10::DeviceIndex device) {
  if (__builtin_expect(driver_busy() || deferring(), 0)) wait_for_current_stream(device);
}

void wait_for_driver_beside(c10::DeviceIndex device) {
  if (__builtin_expect(!driver_busy() && !deferring(), 1) || must_not_wait()) return;
  if (!stream_capturing(current_stream(device))) wait_for_current_stream(device);
}

}  // namespace awt
