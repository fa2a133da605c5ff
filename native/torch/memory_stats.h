// The counters of a device's memory, as torch.cuda.memory_stats shows them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace awt {

struct Counter {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;

  void add(int64_t amount) {
    current += amount;
    peak = std::max(peak, current);
    allocated += amount;
  }
  void subtract(int64_t amount) {
    current -= amount;
    freed += amount;
  }
  void reset_peak() { peak = current; }
  void reset_accumulated() { allocated = freed = 0; }
};

// A counter over everything, and over each kind of segment.
struct PoolCounters {
  Counter all, small_pool, large_pool;

  void add(bool small, int64_t amount) {
    all.add(amount);
    (small ? small_pool : large_pool).add(amount);
  }
  void subtract(bool small, int64_t amount) {
    all.subtract(amount);
    (small ? small_pool : large_pool).subtract(amount);
  }
};

struct MemoryStats {
  PoolCounters allocation, segment, active, inactive_split;
  PoolCounters allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
  Counter oversize_allocations, oversize_segments;
  int64_t num_alloc_retries = 0, num_ooms = 0, num_sync_all_streams = 0;
  int64_t num_device_alloc = 0, num_device_free = 0, num_oom_rejections = 0;

  template <class F>
  void each_pool_counter(F&& f) {
    f("allocation", allocation), f("segment", segment), f("active", active);
    f("inactive_split", inactive_split), f("allocated_bytes", allocated_bytes);
    f("reserved_bytes", reserved_bytes), f("active_bytes", active_bytes);
    f("inactive_split_bytes", inactive_split_bytes), f("requested_bytes", requested_bytes);
  }
};

}  // namespace awt
