#include "streams.h"

#include <c10/util/Exception.h>

#include <array>
#include <mutex>

#include "devices.h"
#include "driver.h"

namespace awt {
namespace {

const DriverFn<CUresult(CUstream*, unsigned, int)> stream_create{"cuStreamCreateWithPriority"};
const DriverFn<CUresult(CUstream)> stream_synchronize{"cuStreamSynchronize"};
const DriverFn<CUresult(CUstream)> stream_query{"cuStreamQuery"};
const DriverFn<CUresult(CUstream, CUevent, unsigned)> stream_wait{"cuStreamWaitEvent"};
const DriverFn<CUresult(CUstream, int*)> is_capturing{"cuStreamIsCapturing"};
const DriverFn<CUresult()> context_synchronize{"cuCtxSynchronize"};
const DriverFn<CUresult(CUevent*, unsigned)> event_create{"cuEventCreate"};
const DriverFn<CUresult(CUevent, CUstream)> event_record{"cuEventRecord"};
const DriverFn<CUresult(CUevent)> event_query{"cuEventQuery"};
const DriverFn<CUresult(CUevent)> event_synchronize{"cuEventSynchronize"};
const DriverFn<CUresult(CUevent)> event_destroy{"cuEventDestroy_v2"};
const DriverFn<CUresult(float*, CUevent, CUevent)> event_elapsed{"cuEventElapsedTime_v2"};

constexpr int kMostDevices = 64, kPool = 32, kPriorities = 4;
constexpr unsigned kNonBlocking = 1, kNoTiming = 2;

thread_local std::array<c10::StreamId, kMostDevices> current{};

// Stream ids: 0 the default stream; odd numbers a stream of the pool (place, priority); all others
// are the handle itself.
struct Pool {
  std::mutex mutex;
  unsigned next[kPriorities] = {};
  CUstream made[kPriorities][kPool] = {};
};
Pool pools[kMostDevices];

c10::Stream make(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::CUDA, device), id);
}

// Does something in the context of another device.
class On {
 public:
  explicit On(c10::DeviceIndex device) : before_(current_device()) {
    set_device(device);
    enter_thread();
  }
  ~On() {
    if (current_device() == before_) return;
    set_device(before_);
    enter_thread();
  }

 private:
  c10::DeviceIndex before_;
};

}  // namespace

c10::Stream default_stream(c10::DeviceIndex device) { return make(device, 0); }

c10::Stream current_stream(c10::DeviceIndex device) {
  return make(device, current[size_t(device)]);
}

c10::Stream exchange_stream(c10::Stream stream) {
  auto& place = current[size_t(stream.device_index())];
  const c10::StreamId before = place;
  place = stream.id();
  return make(stream.device_index(), before);
}

c10::Stream pool_stream(c10::DeviceIndex device, int priority) {
  const int level = std::min(std::max(-priority, 0), kPriorities - 1);
  Pool& pool = pools[device];
  std::lock_guard lock(pool.mutex);
  const unsigned place = pool.next[level]++ % kPool;
  if (!pool.made[level][place]) {
    On on(device);
    check(stream_create(&pool.made[level][place], kNonBlocking, -level));
  }
  return make(device, c10::StreamId(place) << 3 | level << 1 | 1);
}

c10::Stream external_stream(void* handle, c10::DeviceIndex device) {
  return make(device, reinterpret_cast<c10::StreamId>(handle));
}

CUstream_st* native_stream(c10::Stream stream) {
  const c10::StreamId id = stream.id();
  if (!(id & 1)) return reinterpret_cast<CUstream>(id);
  Pool& pool = pools[stream.device_index()];
  std::lock_guard lock(pool.mutex);
  return pool.made[id >> 1 & 3][id >> 3];
}

bool stream_done(c10::Stream stream) {
  On on(stream.device_index());
  const CUresult result = stream_query(native_stream(stream));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result);
  return true;
}

bool stream_capturing(c10::Stream stream) {
  On on(stream.device_index());
  int status = 0;
  check(is_capturing(native_stream(stream), &status));
  return status != 0;
}

void wait_for_stream(c10::Stream stream) {
  On on(stream.device_index());
  check(stream_synchronize(native_stream(stream)));
}

void wait_for_device(c10::DeviceIndex device) {
  On on(device);
  check(context_synchronize());
}

void wait_for_driver(c10::DeviceIndex) {}

void record_event(void** event, c10::Stream stream, bool timing) {
  On on(stream.device_index());
  if (!*event) {
    CUevent made = nullptr;
    check(event_create(&made, timing ? 0 : kNoTiming));
    *event = made;
  }
  check(event_record(static_cast<CUevent>(*event), native_stream(stream)));
}

void stream_waits(c10::Stream stream, void* event) {
  if (!event) return;
  On on(stream.device_index());
  check(stream_wait(native_stream(stream), static_cast<CUevent>(event), 0));
}

bool event_done(void* event) {
  if (!event) return true;
  const CUresult result = event_query(static_cast<CUevent>(event));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result);
  return true;
}

void wait_for_event(void* event) {
  if (event) check(event_synchronize(static_cast<CUevent>(event)));
}

void destroy_event(void* event) noexcept {
  if (event) event_destroy(static_cast<CUevent>(event));
}

double elapsed_milliseconds(void* first, void* second) {
  TORCH_CHECK(first && second, "Both events must be recorded before calculating elapsed time.");
  float found = 0;
  check(event_elapsed(&found, static_cast<CUevent>(first), static_cast<CUevent>(second)));
  return found;
}

}  // namespace awt
