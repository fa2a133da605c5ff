// The caching allocator as c10 knows allocators, and the functions of allocator.h.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/core/impl/PyInterpreter.h>

#include <array>
#include <atomic>

#include "allocator.h"
#include "device_memory.h"
#include "devices.h"
#include "memory_map.h"
#include "memory_text.h"
#include "plugged_allocator.h"
#include "streams.h"
#include "versions.h"

#if AWT_TORCH >= 209
#include <c10/core/CachingDeviceAllocator.h>
#endif

namespace awt {
namespace {

constexpr size_t kMostMemories = 64;
std::array<std::atomic<DeviceMemory*>, kMostMemories> memories{};
std::mutex making;

void tell_watchers(void* memory, int64_t bytes, c10::DeviceIndex device) {
  if (C10_UNLIKELY(c10::impl::GPUTrace::get_trace() != nullptr)) {
    const auto* interpreter = c10::impl::GPUTrace::get_trace();
    const auto address = reinterpret_cast<uintptr_t>(memory);
    if (bytes > 0) {
      (*interpreter)->trace_gpu_memory_allocation(c10::DeviceType::CUDA, address);
    } else {
      (*interpreter)->trace_gpu_memory_deallocation(c10::DeviceType::CUDA, address);
    }
  }
  if (C10_UNLIKELY(c10::memoryProfilingEnabled())) {
    const MemoryStats stats = device_memory(device).stats();
    c10::reportMemoryUsageToProfiler(memory, bytes,
                                     static_cast<size_t>(stats.allocated_bytes.all.current),
                                     static_cast<size_t>(stats.reserved_bytes.all.current),
                                     c10::Device(c10::DeviceType::CUDA, device));
  }
}

#if AWT_TORCH >= 209
using Base = c10::DeviceAllocator;
using TheirStats = c10::CachingDeviceAllocator::DeviceStats;

void copy(const Counter& from, c10::CachingAllocator::Stat& to) {
  to.current = from.current, to.peak = from.peak;
  to.allocated = from.allocated, to.freed = from.freed;
}

void copy(const PoolCounters& from, c10::CachingAllocator::StatArray& to) {
  copy(from.all, to[0]), copy(from.small_pool, to[1]), copy(from.large_pool, to[2]);
}

// Counters that only newer versions of torch have.
template <class S>
void copy_newer(const MemoryStats& from, const std::map<PoolId, PoolCounters>& pools, S& to) {
  if constexpr (requires { to.num_oom_rejections; })
    to.num_oom_rejections = from.num_oom_rejections;
  if constexpr (requires { to.reserved_bytes_by_private_pools; })
    for (auto& [id, counters] : pools) copy(counters, to.reserved_bytes_by_private_pools[id]);
}
#else
using Base = c10::Allocator;
#endif

class CudaAllocator final : public Base {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    const c10::DeviceIndex device = current_device();
    void* memory = bytes ? allocate_raw(bytes, device) : nullptr;
    return {memory, memory, &free_raw, c10::Device(c10::DeviceType::CUDA, device)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_raw; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

#if AWT_TORCH >= 209
  bool initialized() override { return any_memory_made(); }
  void emptyCache(c10::MempoolId_t pool) override { empty_all_caches(pool); }
  void recordStream(const c10::DataPtr& data, c10::Stream stream) override {
    record_stream(data.get(), stream);
  }
  TheirStats getDeviceStats(c10::DeviceIndex device) override {
    if (plugged()) raise_unsupported_by_plugin("getDeviceStats");
    DeviceMemory& memory = device_memory(device);
    const MemoryStats from = memory.stats();
    TheirStats to;
    copy(from.allocation, to.allocation), copy(from.segment, to.segment);
    copy(from.active, to.active), copy(from.inactive_split, to.inactive_split);
    copy(from.allocated_bytes, to.allocated_bytes), copy(from.reserved_bytes, to.reserved_bytes);
    copy(from.active_bytes, to.active_bytes), copy(from.requested_bytes, to.requested_bytes);
    copy(from.inactive_split_bytes, to.inactive_split_bytes);
    copy(from.oversize_allocations, to.oversize_allocations);
    copy(from.oversize_segments, to.oversize_segments);
    to.num_alloc_retries = from.num_alloc_retries, to.num_ooms = from.num_ooms;
    to.num_sync_all_streams = from.num_sync_all_streams;
    to.num_device_alloc = from.num_device_alloc, to.num_device_free = from.num_device_free;
    to.max_split_size = static_cast<int64_t>(memory_settings().max_split_size);
    copy_newer(from, memory.stats_by_pool(), to);
    return to;
  }
  void resetAccumulatedStats(c10::DeviceIndex device) override {
    if (plugged()) raise_unsupported_by_plugin("resetAccumulatedStats");
    device_memory(device).reset_accumulated();
  }
  void resetPeakStats(c10::DeviceIndex device) override {
    if (plugged()) raise_unsupported_by_plugin("resetPeakStats");
    device_memory(device).reset_peak();
  }
#if AWT_TORCH >= 210
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    return free_and_total(device);
  }
#endif
#endif
};

}  // namespace

DeviceMemory& device_memory(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0 && device < device_count(), "Invalid device argument ",
              static_cast<int>(device), ": did you call init?");
  auto& place = memories[static_cast<size_t>(device)];
  if (auto* found = place.load(std::memory_order_acquire)) return *found;
  std::lock_guard lock(making);
  if (!place.load()) place.store(new DeviceMemory(device), std::memory_order_release);
  return *place.load();
}

bool device_memory_made(c10::DeviceIndex device) noexcept {
  return device >= 0 && static_cast<size_t>(device) < kMostMemories &&
         memories[static_cast<size_t>(device)].load(std::memory_order_acquire);
}

bool any_memory_made() noexcept {
  for (auto& each : memories)
    if (each.load(std::memory_order_relaxed)) return true;
  return false;
}

void empty_all_caches(PoolId pool) {
  for (c10::DeviceIndex device = 0; device < static_cast<c10::DeviceIndex>(kMostMemories); ++device)
    if (device_memory_made(device)) device_memory(device).empty_cache(pool);
}

c10::Allocator* device_allocator() {
  static auto& instance = *new CudaAllocator;
  return &instance;
}

void* allocate_raw(size_t bytes, c10::DeviceIndex device) {
  enter_thread_for(device);
  return allocate_raw_on(bytes, current_stream(device));
}

void* allocate_raw_on(size_t bytes, c10::Stream stream) {
  const c10::DeviceIndex device = stream.device_index();
  auto* made = memories[static_cast<size_t>(device)].load(std::memory_order_acquire);
  DeviceMemory& memory = C10_LIKELY(made != nullptr) ? *made : device_memory(device);
  void* address =
      C10_UNLIKELY(plugged()) ? allocate_plugged(bytes, stream) : memory.allocate(bytes, stream);
  tell_watchers(address, static_cast<int64_t>(bytes), device);
  return address;
}

void free_raw(void* memory) noexcept {
  if (!memory || C10_UNLIKELY(free_plugged(memory))) return;
  const c10::DeviceIndex device = device_of(memory);
  if (device < 0) return;
  // Freeing cannot fail usefully: what raises here is a broken context, and its work raises as
  // well.
  try {
    const int64_t bytes = device_memory(device).free(memory);
    if (bytes >= 0) tell_watchers(memory, -bytes, device);
  } catch (const std::exception& error) {
    TORCH_WARN("device memory was not freed: ", error.what());
  }
}

void record_stream(const void* memory, c10::Stream stream) {
  const c10::DeviceIndex device = device_of(memory);
  if (device >= 0) device_memory(device).record_stream(const_cast<void*>(memory), stream);
}

void record_stream(const c10::DataPtr& data, c10::Stream stream) {
  record_stream(data.get(), stream);
}

namespace {

// A child process must not find a lock held by a thread that it does not have.
void before_fork() {
  making.lock();
  for (auto& each : memories)
    if (auto* memory = each.load()) memory->mutex().lock();
}

void after_fork() {
  for (auto& each : memories)
    if (auto* memory = each.load()) memory->mutex().unlock();
  making.unlock();
}

}  // namespace

void install_allocators() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(&before_fork, &after_fork, &after_fork);
    c10::SetCPUAllocator(cpu_allocator(), 1);
    c10::SetAllocator(c10::DeviceType::CUDA, device_allocator(), 1);
  });
}

}  // namespace awt
