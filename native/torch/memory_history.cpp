#include "memory_history.h"

#include <chrono>
#include <utility>

namespace awt {
namespace {

std::atomic<StackCallback> stack_callback{nullptr};
std::atomic<OutOfMemoryObserver> observer{nullptr};

}  // namespace

const char* trace_action_name(TraceAction action) {
  static constexpr const char* kNames[] = {
      "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "snapshot",
      "oom"};
  return kNames[static_cast<size_t>(action)];
}

void Trace::add(TraceEntry entry, size_t most) {
  if (most == 0) return;
  if (entries_.size() > most) clear();
  if (entries_.size() < most) {
    entries_.push_back(std::move(entry));
    return;
  }
  entries_[next_] = std::move(entry);
  next_ = (next_ + 1) % most;
}

std::vector<TraceEntry> Trace::in_order() const {
  std::vector<TraceEntry> found(entries_.begin() + static_cast<std::ptrdiff_t>(next_),
                                entries_.end());
  found.insert(found.end(), entries_.begin(),
               entries_.begin() + static_cast<std::ptrdiff_t>(next_));
  return found;
}

HistorySettings& history_settings() {
  static auto& instance = *new HistorySettings;
  return instance;
}

std::string& compile_context() {
  thread_local std::string words;
  return words;
}

std::string& trace_metadata() {
  thread_local std::string words;
  return words;
}

int64_t now_in_microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void observe_out_of_memory(OutOfMemoryObserver callback) { observer = callback; }

void tell_out_of_memory(int64_t device, int64_t allocated, int64_t total, int64_t free) {
  if (auto callback = observer.load()) callback(device, allocated, total, free);
}

void set_stack_callback(StackCallback callback, bool) { stack_callback = callback; }

int64_t capture_stack(Stacks) {
  auto callback = stack_callback.load();
  return callback ? callback() : 0;
}

}  // namespace awt
