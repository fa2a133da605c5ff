#include "devices.h"

#include <c10/core/AutogradState.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <mutex>

#include "allocator.h"
#include "driver.h"
#include "streams.h"
#include "versions.h"

namespace awt {
namespace {

constexpr int kMostDevices = 64;

const DriverFn<CUresult(unsigned)> init{"cuInit"};
const DriverFn<CUresult(int*)> get_count{"cuDeviceGetCount"};
const DriverFn<CUresult(CUcontext*, CUdevice)> retain{"cuDevicePrimaryCtxRetain"};
const DriverFn<CUresult(CUcontext)> set_current{"cuCtxSetCurrent"};
const DriverFn<CUresult(CUdevice, unsigned*, int*)> primary_state{"cuDevicePrimaryCtxGetState"};

std::array<std::atomic<CUcontext>, kMostDevices> contexts{};

struct Thread {
  c10::DeviceIndex device = 0;
  c10::DeviceIndex entered = -1;
};
thread_local Thread thread;

CUcontext context(c10::DeviceIndex device) {
  auto& place = contexts[size_t(device)];
  if (CUcontext made = place.load(std::memory_order_acquire)) return made;
  static std::mutex making;
  std::lock_guard lock(making);
  if (CUcontext made = place.load(std::memory_order_acquire)) return made;
  CUcontext made = nullptr;
  check(retain(&made, device));
  place.store(made, std::memory_order_release);
  return made;
}

// What the driver holds does not survive a fork, here as on a GPU. The child's only thread is the
// one that forked.
std::atomic<bool> forked{false};
void in_forked_child() {
  forked = true;
  thread.entered = -1;
}

void enter_slowly(c10::DeviceIndex device) {
  require_devices();
  static const int watching = pthread_atfork(nullptr, nullptr, in_forked_child);
  TORCH_CHECK(watching == 0, "pthread_atfork failed");
  check(set_current(context(device)));
  if (thread.entered < 0) {
    // A thread of the engine per device is for devices that run beside the host. Here it only costs
    // a change of threads per backward pass; torch.autograd.set_multithreading_enabled(True) still
    // asks for it.
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  }
  thread.entered = device;
}

void require_index(c10::DeviceIndex device) {
  if (device < 0 || device >= device_count()) check(CUDA_ERROR_INVALID_DEVICE);
}

}  // namespace

c10::DeviceIndex device_count() noexcept {
  static const int count = [] {
    try {
      int found = 0;
      if (init(0) != CUDA_SUCCESS || get_count(&found) != CUDA_SUCCESS) return 0;
      return std::min(found, kMostDevices);
    } catch (...) {
      return 0;
    }
  }();
  return c10::DeviceIndex(count);
}

c10::DeviceIndex current_device() noexcept { return thread.device; }

void set_device_unchecked(c10::DeviceIndex device) noexcept { thread.device = device; }

void set_device(c10::DeviceIndex device) {
  if (device == thread.device && device == 0) return;
  require_index(device);
  thread.device = device;
}

void require_devices() {
  TORCH_CHECK(
      !forked.load(std::memory_order_relaxed),
      "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you "
      "must use the 'spawn' start method");
  TORCH_CHECK(device_count() > 0, "No CUDA GPUs are available");
}

void enter_thread() {
  if (__builtin_expect(thread.entered != thread.device, 0)) enter_slowly(thread.device);
}

void enter_thread_for(c10::DeviceIndex device) {
  if (__builtin_expect(thread.entered == thread.device, 1)) return;
  const c10::DeviceIndex wanted = context_made(thread.device) ? thread.device : device;
  if (thread.entered != wanted) enter_slowly(wanted);
}

void enter_thread_anywhere() {
  if (thread.entered >= 0) return;
  for (c10::DeviceIndex device = 0; device < device_count(); ++device)
    if (context_made(device)) return enter_thread_for(device);
  enter_thread();
}

bool any_context_made() noexcept {
  for (c10::DeviceIndex device = 0; device < device_count(); ++device)
    if (context_made(device)) return true;
  return false;
}

bool has_primary_context(c10::DeviceIndex device) {
  require_index(device);
  unsigned flags = 0;
  int active = 0;
  check(primary_state(device, &flags, &active));
  return active != 0;
}

bool context_made(c10::DeviceIndex device) noexcept {
  return device >= 0 && device < kMostDevices &&
         contexts[size_t(device)].load(std::memory_order_relaxed) != nullptr;
}

namespace {

using Interface = c10::impl::DeviceGuardImplInterface;

// Whether these two are noexcept differs between versions of torch, and an override must follow.
constexpr bool kStreamsNoexcept =
    noexcept(std::declval<const Interface&>().getStream(std::declval<c10::Device>()));

// What torch does with devices, streams and events from C++: see DeviceGuardImplInterface.h.
struct Guard final : Interface {
  c10::DeviceType type() const override { return c10::DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    if (device.index() != before.index()) set_device(device.index());
    return before;
  }
  c10::Device getDevice() const override { return {type(), current_device()}; }
  void setDevice(c10::Device device) const override { set_device(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    thread.device = device.index();
  }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }

  c10::Stream getStream(c10::Device device) const noexcept(kStreamsNoexcept) override {
    return current_stream(device.has_index() ? device.index() : current_device());
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return default_stream(device.has_index() ? device.index() : current_device());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool high) const override {
    return pool_stream(device.has_index() ? device.index() : current_device(), high ? -1 : 0);
  }
  c10::Stream getNewStream(c10::Device device, int priority) const override {
    return pool_stream(device.has_index() ? device.index() : current_device(), priority);
  }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept(kStreamsNoexcept) override {
    return exchange_stream(stream);
  }
  bool queryStream(const c10::Stream& stream) const override { return stream_done(stream); }
  void synchronizeStream(const c10::Stream& stream) const override {
    note_synchronization(stream);
    wait_for_stream(stream);
  }
  void synchronizeDevice(const c10::DeviceIndex device) const
#if AWT_TORCH >= 206
      override
#endif
  {
    wait_for_device(device);
  }
#if AWT_TORCH >= 211
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return native_stream(stream);
  }
#endif
#if AWT_TORCH >= 212
  bool isStreamCapturing(const c10::Stream& stream) const override {
    return stream_capturing(stream);
  }
#endif

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag flag) const override {
    record_event(event, stream, flag == c10::EventFlag::BACKEND_DEFAULT);
  }
  void block(void* event, const c10::Stream& stream) const override { stream_waits(stream, event); }
  bool queryEvent(void* event) const override { return event_done(event); }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    destroy_event(event);
  }
  void synchronizeEvent(void* event) const override { wait_for_event(event); }
  double elapsedTime(void* first, void* second, const c10::DeviceIndex) const override {
    return elapsed_milliseconds(first, second);
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& stream) const override {
    record_stream(data, stream);
  }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard)

}  // namespace
}  // namespace awt
