// Page-locked host memory: blocks of cuMemHostAlloc, kept by size.
#include <c10/util/Exception.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <map>
#include <mutex>
#include <vector>

#include "allocator.h"
#include "deferred_call.h"
#include "devices.h"
#include "driver.h"
#include "memory_settings.h"
#include "pinned_stats.h"
#include "streams.h"

namespace awt {
namespace {

const DriverFn<CUresult(void**, size_t, unsigned)> host_alloc{"cuMemHostAlloc"};
const DriverFn<CUresult(void*)> host_free{"cuMemFreeHost"};
const DriverFn<CUresult(void*, int, CUdeviceptr)> host_pointer_attribute{"cuPointerGetAttribute"};
constexpr unsigned kPortable = 1;
constexpr int kMemoryType = 2,
              kHostMemory = 1;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_MEMORYTYPE_HOST

struct PinnedBlock {
  size_t size;
  bool in_use;
};

struct PinnedState {
  std::mutex mutex;
  std::map<uintptr_t, PinnedBlock> blocks;          // all, by address
  std::map<size_t, std::vector<uintptr_t>> cached;  // those not in use, by size
  PinnedStats stats;
};

PinnedState& pinned() {
  static PinnedState& instance = []() -> PinnedState& {
    static auto& made = *new PinnedState;
    // A child process must not find the lock held by a thread that it does not have.
    pthread_atfork([] { made.mutex.lock(); }, [] { made.mutex.unlock(); },
                   [] { made.mutex.unlock(); });
    return made;
  }();
  return instance;
}

int64_t microseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               begin)
      .count();
}

// Powers of two, so that a block serves requests of about its size.
size_t rounded(size_t bytes) {
  constexpr size_t kMost = size_t{1} << 62;
  return bytes <= std::min(memory_settings().pinned_max_round, kMost) ? std::bit_ceil(bytes)
                                                                      : bytes;
}

void* from_driver(PinnedState& s, size_t size) {
  const auto begin = std::chrono::steady_clock::now();
  void* memory = nullptr;
  check(host_alloc(&memory, size, kPortable));
  s.stats.alloc_time.add(microseconds_since(begin));
  s.stats.allocations.add(1);
  s.stats.allocated_bytes.add(static_cast<int64_t>(size));
  s.blocks[reinterpret_cast<uintptr_t>(memory)] = {size, true};
  return memory;
}

// With the lock held: nobody knows these blocks any more.
void forget(PinnedState& s, uintptr_t address, size_t size) {
  s.stats.allocations.subtract(1);
  s.stats.allocated_bytes.subtract(static_cast<int64_t>(size));
  s.blocks.erase(address);
}

// Without the lock: the driver waits for its streams, whose work may free such memory too.
void to_driver(PinnedState& s, uintptr_t address) {
  const auto begin = std::chrono::steady_clock::now();
  check(host_free(reinterpret_cast<void*>(address)));
  const int64_t time = microseconds_since(begin);
  std::lock_guard lock(s.mutex);
  s.stats.free_time.add(time);
}

void* allocate_pinned(size_t bytes) {
  enter_thread_anywhere();
  clear_done_calls();
  const size_t size = rounded(bytes);
  PinnedState& s = pinned();
  std::unique_lock lock(s.mutex);
  void* memory = nullptr;
  if (auto found = s.cached.find(size); found != s.cached.end() && !found->second.empty()) {
    memory = reinterpret_cast<void*>(found->second.back());
    found->second.pop_back();
    s.blocks.at(reinterpret_cast<uintptr_t>(memory)).in_use = true;
  } else {
    memory = from_driver(s, size);
  }
  s.stats.active_requests.add(1);
  s.stats.active_bytes.add(static_cast<int64_t>(size));
  return memory;
}

void free_pinned(void* memory) {
  PinnedState& s = pinned();
  std::unique_lock lock(s.mutex);
  auto found = s.blocks.find(reinterpret_cast<uintptr_t>(memory));
  if (found == s.blocks.end() || !found->second.in_use) return;
  const size_t size = found->second.size;
  found->second.in_use = false;
  s.stats.active_requests.subtract(1);
  s.stats.active_bytes.subtract(static_cast<int64_t>(size));
  if (size <= memory_settings().pinned_max_cached || on_driver_thread()) {
    s.cached[size].push_back(found->first);
    return;
  }
  forget(s, reinterpret_cast<uintptr_t>(memory), size);
  lock.unlock();
  try {
    enter_thread_anywhere();
    to_driver(s, reinterpret_cast<uintptr_t>(memory));
  } catch (const std::exception& error) {
    TORCH_WARN("page-locked memory was not freed: ", error.what());
  }
}

class PinnedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* memory = bytes ? allocate_pinned(bytes) : nullptr;
    return {memory, memory, &free_pinned, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_pinned; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

c10::Allocator* pinned_allocator() {
  static auto& instance = *new PinnedAllocator;
  return &instance;
}

bool is_pinned(const void* address) noexcept {
  if (!address) return false;
  {
    PinnedState& s = pinned();
    std::lock_guard lock(s.mutex);
    const auto at = reinterpret_cast<uintptr_t>(address);
    auto next = s.blocks.upper_bound(at);
    if (next != s.blocks.begin() && at - std::prev(next)->first < std::prev(next)->second.size)
      return true;
  }
  // What a program registered itself (cudaHostRegister), or allocated by the driver.
  unsigned kind = 0;
  return host_pointer_attribute(&kind, kMemoryType, reinterpret_cast<CUdeviceptr>(address)) ==
             CUDA_SUCCESS &&
         kind == kHostMemory;
}

void empty_pinned_cache() {
  PinnedState& s = pinned();
  std::unique_lock lock(s.mutex);
  if (s.blocks.empty()) return;
  const auto idle = std::exchange(s.cached, {});
  for (auto& [size, addresses] : idle)
    for (uintptr_t address : addresses) forget(s, address, size);
  lock.unlock();
  enter_thread_anywhere();
  for (auto& item : idle)
    for (uintptr_t address : item.second) to_driver(s, address);
}

PinnedStats pinned_stats() {
  std::lock_guard lock(pinned().mutex);
  return pinned().stats;
}

void reset_pinned_stats(bool peaks) {
  PinnedState& s = pinned();
  std::unique_lock lock(s.mutex);
  for (Counter* each : {&s.stats.allocations, &s.stats.allocated_bytes, &s.stats.active_requests,
                        &s.stats.active_bytes}) {
    if (peaks) {
      each->reset_peak();
    } else {
      each->reset_accumulated();
    }
  }
  for (Duration* each : {&s.stats.alloc_time, &s.stats.free_time}) {
    if (peaks) {
      each->min = each->max = 0;
    } else {
      each->total = each->count = 0;
    }
  }
}

}  // namespace awt
