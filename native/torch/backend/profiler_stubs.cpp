// What the profiler asks of a CUDA build without CUPTI: events around operators, whose distance is
// the time on the device.
#include <torch/csrc/profiler/stubs/base.h>

#include <chrono>

#include "devices.h"
#include "driver.h"
#include "streams.h"

namespace awt {
namespace {

using torch::profiler::impl::ProfilerStubs;
using torch::profiler::impl::ProfilerVoidEventStub;

// Domain (none: the program's own), text, colour (docs/contracts.md, section 9).
const DriverFn<void(const char*, const char*, uint32_t)> activity_mark{"anywarp_activity_mark"};
const DriverFn<int(const char*, const char*, uint32_t)> activity_push{
    "anywarp_activity_range_push"};
const DriverFn<int(const char*)> activity_pop{"anywarp_activity_range_pop"};

struct Stubs final : ProfilerStubs {
  void record(c10::DeviceIndex* device, ProfilerVoidEventStub* event,
              int64_t* cpu_ns) const override {
    const c10::DeviceIndex current = current_device();
    if (device) *device = current;
    void* made = nullptr;
    record_event(&made, current_stream(current), /*timing=*/true);
    *event = ProfilerVoidEventStub(made, destroy_event);
    if (!cpu_ns) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    *cpu_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }

  // Microseconds.
  float elapsed(const ProfilerVoidEventStub* first,
                const ProfilerVoidEventStub* second) const override {
    wait_for_event(first->get());
    wait_for_event(second->get());
    return static_cast<float>(elapsed_milliseconds(first->get(), second->get()) * 1000);
  }

  // emit_nvtx: ranges in the trace of a run, where there is one.
  void mark(const char* name) const override { activity_mark(nullptr, name, 0); }
  void rangePush(const char* name) const override { activity_push(nullptr, name, 0); }
  void rangePop() const override { activity_pop(nullptr); }

  bool enabled() const override { return true; }

  void onEachDevice(std::function<void(int)> op) const override {
    const c10::DeviceIndex before = current_device();
    for (c10::DeviceIndex device = 0; device < device_count(); ++device) {
      set_device(device);
      op(device);
    }
    set_device(before);
  }

  void synchronize() const override { wait_for_device(current_device()); }
};

[[maybe_unused]] const bool stubs_registered = [] {
  static Stubs stubs;
  torch::profiler::impl::registerCUDAMethods(&stubs);
  return true;
}();

}  // namespace
}  // namespace awt
