// The counters of page-locked host memory, as torch.cuda.host_memory_stats shows them.
#pragma once

#include "memory_stats.h"

namespace awt {

struct Duration {
  int64_t total = 0, max = 0, min = 0, count = 0;  // microseconds

  void add(int64_t microseconds) {
    total += microseconds;
    ++count;
    max = std::max(max, microseconds);
    min = min == 0 ? microseconds : std::min(min, microseconds);
  }
};

struct PinnedStats {
  Counter allocations, allocated_bytes;   // held, in use or not
  Counter active_requests, active_bytes;  // in use
  Duration alloc_time, free_time;         // in the driver
};

PinnedStats pinned_stats();
void reset_pinned_stats(bool peaks);
void empty_pinned_cache();

}  // namespace awt
