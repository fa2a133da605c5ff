// NVML reference, device queries: memory, the processes that use a device, and how busy it is.
//
// A device here is the processor, so it is as busy as the processes that use it keep the processor.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "core/presence.h"
#include "devices/identity.h"
#include "nvml/api.h"

using namespace aw;
using namespace aw::nvml;

namespace {

constexpr unsigned kNoInstance = 0xFFFFFFFF;  // NVML_VALUE_NOT_AVAILABLE

struct User {
  unsigned pid;
  uint64_t bytes;
};

// Processes without memory on any device count as users of the first.
std::vector<User> users_of(int number) {
  std::vector<User> out;
  for (const Presence& p : present_processes()) {
    bool nowhere = std::all_of(p.bytes, p.bytes + kPresenceDevices, [](uint64_t b) { return !b; });
    if (p.bytes[number] || (nowhere && number == 0))
      out.push_back({static_cast<unsigned>(p.pid), p.bytes[number]});
  }
  return out;
}

uint64_t used_bytes(int number) {
  uint64_t sum = 0;
  for (const User& user : users_of(number)) sum += user.bytes;
  return std::min(sum, device_memory());
}

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// Shares of the processor that processes had between two looks, at least kPeriod apart: the time
// of the first look is waited for, as processor time is counted in hundredths of a second.
class Load {
 public:
  // Percent of the processor, by process.
  std::map<unsigned, unsigned> sample() {
    std::lock_guard lock(mutex_);
    if (!time_ || now_ns() - time_ > kStale) look(), nap(kPeriod);
    if (now_ns() - time_ < kPeriod && !shares_.empty()) return shares_;
    if (now_ns() - time_ < kPeriod) nap(kPeriod);
    auto before = ticks_;
    uint64_t from = time_;
    look();
    shares_.clear();
    auto whole = static_cast<double>(time_ - from) * static_cast<double>(processors());
    for (auto& [pid, ticks] : ticks_) {
      auto was = before.find(pid);
      double spent = was == before.end() ? 0 : static_cast<double>(ticks - was->second);
      shares_[pid] = static_cast<unsigned>(std::clamp(100 * spent / whole + 0.5, 0.0, 100.0));
    }
    return shares_;
  }

 private:
  static constexpr uint64_t kPeriod = 100'000'000, kStale = 5'000'000'000;

  static void nap(uint64_t ns) {
    timespec t{0, static_cast<long>(ns)};
    nanosleep(&t, nullptr);
  }

  static long processors() { return std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L); }

  void look() {
    ticks_.clear();
    for (const Presence& p : present_processes())
      ticks_[static_cast<unsigned>(p.pid)] = processor_time(p.pid);
    time_ = now_ns();
  }

  std::mutex mutex_;
  uint64_t time_ = 0;
  std::map<unsigned, uint64_t> ticks_;
  std::map<unsigned, unsigned> shares_;
};

Load& load() {
  static Load& instance = *new Load;
  return instance;
}

unsigned busy_percent(int number) {
  auto shares = load().sample();
  unsigned sum = 0;
  for (const User& user : users_of(number)) {
    auto share = shares.find(user.pid);
    if (share != shares.end()) sum += share->second;
  }
  return std::min(sum, 100U);
}

nvmlReturn list_v1(nvmlDevice device, unsigned* count, nvmlProcessInfo_v1* out) {
  copy_list(users_of(number_of(device)), count, out,
            [](const User& u) { return nvmlProcessInfo_v1{u.pid, u.bytes}; });
  return NVML_SUCCESS;
}

nvmlReturn list_v2(nvmlDevice device, unsigned* count, nvmlProcessInfo_v2* out) {
  copy_list(users_of(number_of(device)), count, out, [](const User& u) {
    return nvmlProcessInfo_v2{u.pid, u.bytes, kNoInstance, kNoInstance};
  });
  return NVML_SUCCESS;
}

// Nothing is drawn here, and nobody stands between a program and its device.
nvmlReturn list_none(nvmlDevice device, unsigned* count) {
  number_of(device);
  require(count);
  *count = 0;
  return NVML_SUCCESS;
}

}  // namespace

AW_EXPORT nvmlReturn nvmlDeviceGetMemoryInfo(nvmlDevice device, nvmlMemory* memory) {
  return api<"nvmlDeviceGetMemoryInfo">([&] {
    require(memory);
    uint64_t used = used_bytes(number_of(device)), all = device_memory();
    *memory = {all, all - used, used};
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetMemoryInfo_v2(nvmlDevice device, nvmlMemory_v2* memory) {
  return api<"nvmlDeviceGetMemoryInfo_v2">([&] {
    constexpr unsigned kVersion = sizeof(nvmlMemory_v2) | 2 << 24;
    require(memory);
    require(memory->version == kVersion, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    uint64_t used = used_bytes(number_of(device)), all = device_memory();
    *memory = {kVersion, all, 0, all - used, used};
  });
}

// All of the memory can be reached by the host.
AW_EXPORT nvmlReturn nvmlDeviceGetBAR1MemoryInfo(nvmlDevice device, nvmlBAR1Memory* memory) {
  return api<"nvmlDeviceGetBAR1MemoryInfo">([&] {
    require(memory);
    uint64_t used = used_bytes(number_of(device)), all = device_memory();
    *memory = {all, all - used, used};
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetConfComputeMemSizeInfo(nvmlDevice device,
                                                         nvmlConfComputeMemSize* sizes) {
  return api<"nvmlDeviceGetConfComputeMemSizeInfo">([&] {
    require(sizes);
    number_of(device);
    *sizes = {0, device_memory() >> 10};
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetComputeRunningProcesses(nvmlDevice device, unsigned* count,
                                                          nvmlProcessInfo_v1* out) {
  return api<"nvmlDeviceGetComputeRunningProcesses">([&] { return list_v1(device, count, out); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice device, unsigned* count,
                                                             nvmlProcessInfo_v2* out) {
  return api<"nvmlDeviceGetComputeRunningProcesses_v2">(
      [&] { return list_v2(device, count, out); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice device, unsigned* count,
                                                             nvmlProcessInfo_v2* out) {
  return api<"nvmlDeviceGetComputeRunningProcesses_v3">(
      [&] { return list_v2(device, count, out); });
}

AW_EXPORT nvmlReturn nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice device, unsigned* count,
                                                           nvmlProcessInfo_v1*) {
  return api<"nvmlDeviceGetGraphicsRunningProcesses">([&] { return list_none(device, count); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice device, unsigned* count,
                                                              nvmlProcessInfo_v2*) {
  return api<"nvmlDeviceGetGraphicsRunningProcesses_v2">([&] { return list_none(device, count); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice device, unsigned* count,
                                                              nvmlProcessInfo_v2*) {
  return api<"nvmlDeviceGetGraphicsRunningProcesses_v3">([&] { return list_none(device, count); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice device, unsigned* count,
                                                             nvmlProcessInfo_v1*) {
  return api<"nvmlDeviceGetMPSComputeRunningProcesses">([&] { return list_none(device, count); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice device, unsigned* count,
                                                                nvmlProcessInfo_v2*) {
  return api<"nvmlDeviceGetMPSComputeRunningProcesses_v2">(
      [&] { return list_none(device, count); });
}
AW_EXPORT nvmlReturn nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice device, unsigned* count,
                                                                nvmlProcessInfo_v2*) {
  return api<"nvmlDeviceGetMPSComputeRunningProcesses_v3">(
      [&] { return list_none(device, count); });
}

AW_EXPORT nvmlReturn nvmlDeviceGetRunningProcessDetailList(nvmlDevice device,
                                                           nvmlProcessDetailList* list) {
  return api<"nvmlDeviceGetRunningProcessDetailList">([&] {
    constexpr unsigned kCompute = 0, kAll = 3, kMost = 4;
    require(list && list->mode < kMost);
    bool compute = list->mode == kCompute || list->mode == kAll;
    auto found = users_of(number_of(device));
    if (!compute) found.clear();
    copy_list(found, &list->count, list->processes, [](const User& u) {
      return nvmlProcessDetail{u.pid, u.bytes, kNoInstance, kNoInstance, 0};
    });
  });
}

// Code that computes on a processor reads or writes memory all the time, so both shares are one.
AW_EXPORT nvmlReturn nvmlDeviceGetUtilizationRates(nvmlDevice device, nvmlUtilization* rates) {
  return api<"nvmlDeviceGetUtilizationRates">([&] {
    require(rates);
    unsigned busy = busy_percent(number_of(device));
    *rates = {busy, busy};
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetProcessUtilization(nvmlDevice device,
                                                     nvmlProcessUtilizationSample* out,
                                                     unsigned* count, unsigned long long since) {
  return api<"nvmlDeviceGetProcessUtilization">([&] {
    auto found = users_of(number_of(device));
    require(count);
    require(!found.empty() && since < epoch_us(), NVML_ERROR_NOT_FOUND);
    auto shares = out ? load().sample() : std::map<unsigned, unsigned>{};
    uint64_t time = epoch_us();
    copy_list(found, count, out, [&](const User& u) {
      unsigned share = shares.count(u.pid) ? shares.at(u.pid) : 0;
      return nvmlProcessUtilizationSample{u.pid, time, share, share, 0, 0};
    });
  });
}

AW_EXPORT nvmlReturn nvmlDeviceGetSamples(nvmlDevice device, unsigned kind,
                                          unsigned long long since, unsigned* type, unsigned* count,
                                          nvmlSample* out) {
  return api<"nvmlDeviceGetSamples">([&] {
    constexpr unsigned kGpu = 1, kMemory = 2, kUnsigned = 1;
    require(type && count);
    int number = number_of(device);
    require(kind == kGpu || kind == kMemory, NVML_ERROR_NOT_SUPPORTED);
    require(since < epoch_us(), NVML_ERROR_NOT_FOUND);
    *type = kUnsigned;
    if (!out) return void(*count = 1);  // the first of two calls asks how many
    require(*count >= 1, NVML_ERROR_INSUFFICIENT_SIZE);
    out->value = {};
    out->value.whole = busy_percent(number);
    out->time = epoch_us();
    *count = 1;
  });
}
