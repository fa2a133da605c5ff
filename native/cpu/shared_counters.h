// The state of an event that processes share: two counters in memory that all of them have mapped.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace aw {

class SharedCounters {
 public:
  explicit SharedCounters(int file);  // maps it; the caller keeps the file
  ~SharedCounters();
  SharedCounters(const SharedCounters&) = delete;
  SharedCounters& operator=(const SharedCounters&) = delete;

  uint32_t begin() { return words_->recorded.fetch_add(1) + 1; }
  uint32_t latest() const { return words_->recorded.load(); }
  void complete(uint32_t number);
  bool reached(uint32_t number) const { return !before(words_->completed.load(), number); }
  // Sleeps until it is reached: for ever, if the process that recorded it ends before.
  void wait(uint32_t number) const;

  static constexpr uint64_t kBytes = 8;

 private:
  struct Words {
    std::atomic<uint32_t> recorded, completed;
  };
  static_assert(sizeof(Words) == kBytes && std::atomic<uint32_t>::is_always_lock_free);
  static bool before(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

  Words* words_;
};

// A recording under way. It comes about at the latest when it is let go of, so that work which is
// dropped (after the error of a kernel) leaves nobody waiting.
struct SharedRecording {
  std::shared_ptr<SharedCounters> counters;
  uint32_t number;
  explicit SharedRecording(std::shared_ptr<SharedCounters> of)
      : counters(std::move(of)), number(counters->begin()) {}
  SharedRecording(const SharedRecording&) = delete;
  SharedRecording& operator=(const SharedRecording&) = delete;
  ~SharedRecording() { complete(); }
  void complete() const { counters->complete(number); }
};

}  // namespace aw
