#include "streams.h"

#include <c10/core/impl/GPUTrace.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "deferred.h"
#include "devices.h"
#include "driver.h"
#include "sync_debug.h"

namespace awt {
namespace {

const DriverFn<CUresult(CUstream*, unsigned, int)> stream_create{"cuStreamCreateWithPriority"};
const DriverFn<CUresult(CUstream)> stream_synchronize{"cuStreamSynchronize"};
const DriverFn<CUresult(CUstream)> stream_query{"cuStreamQuery"};
const DriverFn<CUresult(CUstream, int*)> stream_get_priority{"cuStreamGetPriority"};
const DriverFn<CUresult(CUstream, CUevent, unsigned)> stream_wait{"cuStreamWaitEvent"};
const DriverFn<CUresult(CUstream, int*)> is_capturing{"cuStreamIsCapturing"};
const DriverFn<CUresult(CUstream, CUhostFn, void*)> launch_host{"cuLaunchHostFunc"};
const DriverFn<CUresult(int*, int, CUdevice)> device_attribute{"cuDeviceGetAttribute"};
const DriverFn<CUresult()> context_synchronize{"cuCtxSynchronize"};
const DriverFn<CUresult(CUevent*, unsigned)> event_create{"cuEventCreate"};
const DriverFn<CUresult(CUevent, CUstream)> event_record{"cuEventRecord"};
const DriverFn<CUresult(CUevent)> event_query{"cuEventQuery"};
const DriverFn<CUresult(CUevent)> event_synchronize{"cuEventSynchronize"};
const DriverFn<CUresult(CUevent)> event_destroy{"cuEventDestroy_v2"};
const DriverFn<CUresult(float*, CUevent, CUevent)> event_elapsed{"cuEventElapsedTime_v2"};

constexpr int kMostStreamDevices = 64, kPool = 32;
constexpr unsigned kNonBlocking = 1, kWaitExternal = 1;
constexpr int kClockRate = 13;  // CU_DEVICE_ATTRIBUTE_CLOCK_RATE, in kHz

thread_local std::array<c10::StreamId, kMostStreamDevices> current{};

// Stream ids: 0 the default stream; odd numbers a stream of the pool (place, priority); all others
// are the handle itself.
struct Pool {
  std::mutex mutex;
  unsigned next[kStreamPriorities] = {};
  std::atomic<CUstream> made[kStreamPriorities][kPool] = {};
};
Pool pools[kMostStreamDevices];

c10::Stream make(c10::DeviceIndex device, c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, c10::Device(c10::DeviceType::CUDA, device), id);
}

int level_of(c10::StreamId id) { return int(id >> 1 & 3); }

thread_local bool unheard = false;

// Sanitisers of programs listen to these (torch.cuda._gpu_trace).
template <class Tell>
void trace(Tell tell) {
  const c10::impl::PyInterpreter* listener = c10::impl::GPUTrace::get_trace();
  if (C10_UNLIKELY(listener != nullptr) && !unheard) tell(*listener);
}

constexpr auto kCuda = c10::DeviceType::CUDA;

uintptr_t number(const void* handle) { return reinterpret_cast<uintptr_t>(handle); }

}  // namespace

InContext::InContext(c10::DeviceIndex device) : before_(current_device()) {
  set_device(device);
  enter_thread();
}

InContext::~InContext() {
  const c10::DeviceIndex device = current_device();
  if (device == before_) return;
  set_device_unchecked(before_);
  enter_thread_for(device);
}

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
  const int level = std::clamp(-priority, 0, kStreamPriorities - 1);
  TORCH_CHECK(device >= 0 && device < device_count(), "device index ", int(device),
              " is not available");
  Pool& pool = pools[device];
  std::lock_guard lock(pool.mutex);
  const unsigned place = pool.next[level]++ % kPool;
  if (!pool.made[level][place].load(std::memory_order_relaxed)) {
    InContext on(device);
    CUstream made = nullptr;
    check(stream_create(&made, kNonBlocking, -level));
    pool.made[level][place].store(made, std::memory_order_release);
    trace([&](auto& to) { to->trace_gpu_stream_creation(kCuda, number(made)); });
  }
  return make(device, c10::StreamId(place) << 3 | level << 1 | 1);
}

c10::Stream external_stream(void* handle, c10::DeviceIndex device) {
  return make(device, reinterpret_cast<c10::StreamId>(handle));
}

CUstream_st* native_stream(c10::Stream stream) {
  const c10::StreamId id = stream.id();
  if (!(id & 1)) return reinterpret_cast<CUstream>(id);
  const auto place = size_t(id >> 3);
  TORCH_CHECK(place < kPool && level_of(id) < kStreamPriorities, "invalid stream id ", id);
  CUstream found =
      pools[stream.device_index()].made[level_of(id)][place].load(std::memory_order_acquire);
  TORCH_CHECK(found, "invalid stream id ", id);
  return found;
}

int stream_priority(c10::Stream stream) {
  const c10::StreamId id = stream.id();
  if (id & 1) return -level_of(id);
  InContext on(stream.device_index());
  int found = 0;
  check(stream_get_priority(native_stream(stream), &found));
  return found;
}

bool stream_done(c10::Stream stream) {
  InContext on(stream.device_index());
  const CUresult result = stream_query(native_stream(stream));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result);
  return true;
}

bool stream_capturing(c10::Stream stream) {
  if (!context_made(stream.device_index())) return false;
  InContext on(stream.device_index());
  int status = 0;
  check(is_capturing(native_stream(stream), &status));
  return status != 0;
}

void note_synchronization(c10::Stream stream) {
  if (sync_debug_mode() != 0) warn_or_refuse_to_wait();
  trace([&](auto& to) {
    to->trace_gpu_stream_synchronization(kCuda, number(native_stream(stream)));
  });
}

Unheard::Unheard() noexcept : before_(std::exchange(unheard, true)) {}
Unheard::~Unheard() { unheard = before_; }

void wait_for_stream(c10::Stream stream) {
  InContext on(stream.device_index());
  check(stream_synchronize(native_stream(stream)));
}

void wait_for_device(c10::DeviceIndex device) {
  InContext on(device);
  trace([&](auto& to) { to->trace_gpu_device_synchronization(kCuda); });
  check(context_synchronize());
}

void sleep_on(c10::Stream stream, int64_t cycles) {
  InContext on(stream.device_index());
  int khz = 0;
  check(device_attribute(&khz, kClockRate, stream.device_index()));
  const int64_t nanoseconds =
      int64_t(double(std::max<int64_t>(cycles, 0)) * 1e6 / std::max(khz, 1));
  auto nap = [](void* length) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(reinterpret_cast<int64_t>(length)));
  };
  check(launch_host(native_stream(stream), nap, reinterpret_cast<void*>(nanoseconds)));
}

unsigned& next_event_flags() noexcept {
  thread_local unsigned flags = 0;
  return flags;
}

void* make_event(c10::DeviceIndex device, unsigned flags) {
  InContext on(device);
  CUevent made = nullptr;
  check(event_create(&made, flags));
  trace([&](auto& to) { to->trace_gpu_event_creation(kCuda, number(made)); });
  return made;
}

void record_event(void** event, c10::Stream stream, bool timing) {
  if (!*event)
    *event = make_event(stream.device_index(),
                        (timing ? 0 : kUntimedEvent) | std::exchange(next_event_flags(), 0u));
  InContext on(stream.device_index());
  CUstream native = native_stream(stream);
  check(event_record(static_cast<CUevent>(*event), native));
  trace([&](auto& to) { to->trace_gpu_event_record(kCuda, number(*event), number(native)); });
}

void stream_waits(c10::Stream stream, void* event, bool external) {
  if (!event) return;
  InContext on(stream.device_index());
  CUstream native = native_stream(stream);
  check(stream_wait(native, static_cast<CUevent>(event), external ? kWaitExternal : 0));
  trace([&](auto& to) { to->trace_gpu_event_wait(kCuda, number(event), number(native)); });
}

bool event_done(void* event) {
  if (!event) return true;
  const CUresult result = event_query(static_cast<CUevent>(event));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result);
  return true;
}

void wait_for_event(void* event) {
  if (!event) return;
  trace([&](auto& to) { to->trace_gpu_event_synchronization(kCuda, number(event)); });
  check(event_synchronize(static_cast<CUevent>(event)));
}

void destroy_event(void* event) noexcept {
  if (!event) return;
  trace([&](auto& to) { to->trace_gpu_event_deletion(kCuda, number(event)); });
  event_destroy(static_cast<CUevent>(event));
}

double elapsed_milliseconds(void* first, void* second) {
  TORCH_CHECK_VALUE(first && second,
                    "Both events must be recorded before calculating elapsed time.");
  float found = 0;
  const CUresult result =
      event_elapsed(&found, static_cast<CUevent>(first), static_cast<CUevent>(second));
  TORCH_CHECK(result != CUDA_ERROR_NOT_READY,
              "Both events must be completed before calculating elapsed time.");
  check(result);
  return found;
}

}  // namespace awt
