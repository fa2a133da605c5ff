// Who looks on while operators run on a device: the report of the run (docs/contracts.md,
// section 5) and torch's profiler.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace awt {

enum Watchers : uint32_t { kReportWatches = 1, kProfilerWatches = 2 };

// The union of those who look on; without one, an operator costs one read more.
extern std::atomic<uint32_t> operator_watchers;

// One operator that ran. Times are nanoseconds since 1970.
struct OperatorRun {
  std::string name;
  c10::DeviceIndex device;
  int64_t stream;
  int64_t begin, end;
  int64_t thread;
  int64_t bytes;  // copied between host and device, or on the device; -1: no copy
  uint64_t correlation;
};

// Lives while an operator runs.
class Watch {
 public:
  Watch(const char* name, c10::DeviceIndex device) {
    if (__builtin_expect(operator_watchers.load(std::memory_order_relaxed) != 0, 0))
      begin(name, device);
  }
  ~Watch() {
    if (__builtin_expect(name_ != nullptr, 0)) end();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  explicit operator bool() const { return name_ != nullptr; }
  void copies(const at::Tensor& to, const at::Tensor& from);
  void copies_to_host(const at::Tensor& scalar);
  // The operator on this thread was computed in float32, because the CPU has no kernel for the
  // type.
  static void widened() noexcept;

 private:
  void begin(const char* name, c10::DeviceIndex device) noexcept;
  void end() noexcept;

  const char* name_ = nullptr;
  c10::DeviceIndex device_ = 0;
  bool widened_ = false;
  int64_t begin_ = 0, bytes_ = -1;
  Watch* outer_ = nullptr;
};

// torch's profiler: what ran from one call to the other, in order of their ends; correlations are
// those of torch's operators on the host, pushed on their thread.
void profile_operators();
std::vector<OperatorRun> profiled_operators();
void push_correlation(uint64_t id);
void pop_correlation();

}  // namespace awt
