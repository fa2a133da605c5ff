// How threads share numbers 0 to total: each claims the next few in order until none is left.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace aw {

// Pieces: `largest` at first, then a quarter of a fair share of what is left, not below `smallest`,
// so that the threads end together however unlike the numbers' costs are (guided self-scheduling;
// Polychronopoulos and Kuck, 1987). In order, since a block may wait for one of a lower number.
class Claims {
 public:
  // For `sharers` threads; one takes pieces of `largest`.
  Claims(uint64_t total, uint64_t largest, uint64_t smallest = 1, unsigned sharers = 1)
      : total_(total),
        largest_(largest),
        smallest_(std::min(smallest, largest)),
        pieces_(sharers > 1 ? uint64_t{sharers} * 4 : 1) {}

  // Claims the next numbers: the first, and how many; 0 when all are taken.
  uint64_t claim(uint64_t* first) {
    uint64_t next = next_.load(std::memory_order_relaxed);
    for (;;) {
      if (next >= total_) return 0;
      uint64_t rest = total_ - next;
      uint64_t count = std::min(std::clamp(rest / pieces_, smallest_, largest_), rest);
      if (next_.compare_exchange_weak(next, next + count, std::memory_order_relaxed)) {
        *first = next;
        return count;
      }
    }
  }

  void cancel() {
    cancelled_.store(true);
    next_.store(total_);
  }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

  uint64_t left() const {
    uint64_t next = next_.load(std::memory_order_relaxed);
    return next >= total_ ? 0 : total_ - next;
  }

 private:
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> cancelled_{false};
  const uint64_t total_, largest_, smallest_, pieces_;
};

}  // namespace aw
