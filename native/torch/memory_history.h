// The history of a device's memory: what torch.cuda.memory._record_memory_history writes down.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "memory_blocks.h"

namespace awt {

// In the order of torch's names for them: trace_action_name().
enum class TraceAction : uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  snapshot,
  oom
};
const char* trace_action_name(TraceAction action);

// Which entries carry a stack: each level those before it too.
enum class Stacks : int { never = 0, state = 1, alloc = 2, all = 3 };

struct TraceEntry {
  TraceAction action;
  uint64_t address;  // for oom: bytes that the device had free
  size_t size;
  CUstream_st* stream;
  PoolId pool;
  int64_t microseconds;  // since the epoch
  int64_t stack;         // 0: none
  std::string metadata;
};

// The last `most` entries.
class Trace {
 public:
  void add(TraceEntry entry, size_t most);
  void clear() { entries_.clear(), next_ = 0; }
  std::vector<TraceEntry> in_order() const;

 private:
  std::vector<TraceEntry> entries_;
  size_t next_ = 0;
};

// What is recorded; one for all devices.
struct HistorySettings {
  std::atomic<bool> recording{false};
  std::atomic<int> stacks{0};
  std::atomic<size_t> most_entries{0};
  std::atomic<uint32_t> skipped{0};  // a bit per TraceAction
};
inline HistorySettings history_in_force;
inline HistorySettings& history_settings() { return history_in_force; }

// The number of the stack that this thread stands on, when entries of `level` carry one; else 0.
// Calls Python when it records Python frames: with no lock held.
int64_t capture_stack(Stacks level);
inline int64_t stack_for(Stacks level) {
  const int wanted = history_settings().stacks.load(std::memory_order_relaxed);
  return __builtin_expect(wanted < static_cast<int>(level), 1) ? 0 : capture_stack(level);
}

// Words that entries carry from now on; "" for none.
void set_trace_metadata(const std::string& words);
std::string trace_metadata();

int64_t now_in_microseconds();

// Called with the numbers of an allocation that failed, before its error is raised.
using OutOfMemoryObserver = void (*)(int64_t device, int64_t allocated, int64_t total,
                                     int64_t free);
void observe_out_of_memory(OutOfMemoryObserver observer);
void tell_out_of_memory(int64_t device, int64_t allocated, int64_t total, int64_t free);

// Called for every stack, to note the frames of Python: answers a number from 1 to 2^31 - 1. With
// null only native frames are taken, when those are wanted.
using StackCallback = int32_t (*)();
void set_stack_callback(StackCallback callback, bool native_frames);

// A stack's number is made of two: what the callback answered, and which native frames it has.
inline int64_t python_part(int64_t stack) { return stack & 0x7fffffff; }
// The native frames as JSON: an array of [name, library], the innermost first.
std::string native_frames(int64_t stack);

}  // namespace awt
