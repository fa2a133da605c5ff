#include "operator_watch.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "allocator.h"
#include "driver.h"
#include "streams.h"

namespace awt {
namespace {

// Name, nanoseconds, bytes copied, whether it was computed in a wider type.
const DriverFn<void(const char*, uint64_t, uint64_t, int)> report_operator{
    "anywarp_report_operator"};

thread_local Watch* innermost = nullptr;
thread_local std::vector<uint64_t> correlations;

struct Profile {
  std::mutex mutex;
  std::vector<OperatorRun> runs;
};

Profile& profile() {
  static auto& made = *new Profile;
  return made;
}

int64_t now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

uint32_t first_watchers() {
  const char* folder = std::getenv("ANYWARP_REPORT_DIR");
  return folder && *folder ? uint32_t{kReportWatches} : 0;
}

std::string place(const at::Tensor& tensor) {
  if (tensor.is_cuda()) return "Device";
  return tensor.has_storage() && is_pinned(tensor.storage().data()) ? "Pinned" : "Pageable";
}

// As CUPTI's records of copies are called.
std::string name_of_copy(const at::Tensor& to, const at::Tensor& from) {
  const std::string letters = {from.is_cuda() ? 'D' : 'H', 't', 'o', to.is_cuda() ? 'D' : 'H'};
  return "Memcpy " + letters + " (" + place(from) + " -> " + place(to) + ")";
}

thread_local std::string copy_name;

}  // namespace

std::atomic<uint32_t> operator_watchers{first_watchers()};

void Watch::begin(const char* name, c10::DeviceIndex device) noexcept {
  name_ = name, device_ = device;
  outer_ = innermost;
  innermost = this;
  begin_ = now();
}

void Watch::copies(const at::Tensor& to, const at::Tensor& from) {
  if (to.device().is_meta() || from.device().is_meta()) return;
  copy_name = name_of_copy(to, from);
  bytes_ = static_cast<int64_t>(to.nbytes());
}

void Watch::copies_to_host(const at::Tensor& scalar) {
  copy_name = "Memcpy DtoH (Device -> Pageable)";
  bytes_ = static_cast<int64_t>(scalar.element_size());
}

void Watch::widened() noexcept {
  if (innermost) innermost->widened_ = true;
}

void Watch::end() noexcept {
  const int64_t end = now();
  innermost = outer_;
  if (outer_) return;  // part of one that is told
  try {
    const uint32_t who = operator_watchers.load(std::memory_order_relaxed);
    const std::string name = bytes_ >= 0 ? copy_name : name_;
    if (who & kReportWatches)
      report_operator(name.c_str(), static_cast<uint64_t>(end - begin_),
                      static_cast<uint64_t>(std::max<int64_t>(bytes_, 0)), widened_);
    if (!(who & kProfilerWatches)) return;
    OperatorRun run{name,
                    device_,
                    current_stream(device_).id(),
                    begin_,
                    end,
                    syscall(SYS_gettid),
                    bytes_,
                    correlations.empty() ? 0 : correlations.back()};
    std::lock_guard lock(profile().mutex);
    profile().runs.push_back(std::move(run));
  } catch (const std::exception& error) {
    TORCH_WARN_ONCE("an operator is missing from the profile: ", error.what());
  }
}

void profile_operators() {
  std::lock_guard lock(profile().mutex);
  profile().runs.clear();
  operator_watchers |= kProfilerWatches;
}

std::vector<OperatorRun> profiled_operators() {
  operator_watchers &= ~uint32_t{kProfilerWatches};
  std::lock_guard lock(profile().mutex);
  return std::exchange(profile().runs, {});
}

void push_correlation(uint64_t id) { correlations.push_back(id); }
void pop_correlation() {
  if (!correlations.empty()) correlations.pop_back();
}

}  // namespace awt
