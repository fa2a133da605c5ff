// How far a stream has come, so that others can wait for a point of it even after the stream is
// gone.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cpu/shared_counters.h"

namespace aw {

class Timeline {
 public:
  void advance(uint64_t to) {
    std::lock_guard lock(mutex_);
    if (to > done_) done_ = to;
    changed_.notify_all();
  }
  bool reached(uint64_t point) const {
    std::lock_guard lock(mutex_);
    return done_ >= point;
  }
  void wait(uint64_t point) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_ >= point; });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  uint64_t done_ = 0;
};

// Everything given to a stream up to some moment; or a recording of an event that processes share.
struct Point {
  std::shared_ptr<Timeline> timeline;
  uint64_t number = 0;
  std::shared_ptr<SharedCounters> shared;

  bool reached() const {
    if (shared) return shared->reached(static_cast<uint32_t>(number));
    return !timeline || timeline->reached(number);
  }
  void wait() const {
    if (shared) shared->wait(static_cast<uint32_t>(number));
    if (timeline) timeline->wait(number);
  }
};

}  // namespace aw
