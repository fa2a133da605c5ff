// Blocks that other streams than their own work on: free again when those streams got there.
#include <c10/util/Exception.h>

#include "device_memory.h"
#include "streams.h"

namespace awt {
namespace {

// Events are kept, because making one is the slow part; each belongs to the context of its device.
std::mutex spare_mutex;
std::vector<void*>& spare_events(c10::DeviceIndex device) {
  static auto& instance = *new std::map<c10::DeviceIndex, std::vector<void*>>;
  return instance[device];
}

void* take_event(c10::DeviceIndex device) {
  std::lock_guard lock(spare_mutex);
  auto& spare = spare_events(device);
  if (spare.empty()) return nullptr;
  void* event = spare.back();
  spare.pop_back();
  return event;
}

void keep_event(void* event, c10::DeviceIndex device) {
  std::lock_guard lock(spare_mutex);
  spare_events(device).push_back(event);
}

}  // namespace

void DeviceMemory::record_stream(void* memory, c10::Stream stream) {
  Lock lock(mutex_);
  Block* block = blocks_.find(memory);
  // Memory that is not ours (a view of another library's) needs no care of ours.
  if (!block || block->segment->arena->stream == stream) return;
  if (!block->uses) block->uses = std::make_unique<std::vector<c10::Stream>>();
  for (const auto& known : *block->uses)
    if (known == stream) return;
  block->uses->push_back(stream);
}

// A block whose event cannot be recorded (a broken context) is never used again: it may still be
// written.
void DeviceMemory::insert_events(Block* block) {
  const Unheard ours;
  const auto uses = std::move(block->uses);
  block->pending = static_cast<int>(uses->size());
  for (const auto& stream : *uses) {
    const auto device = stream.device_index();
    void* event = take_event(device);
    try {
      record_event(&event, stream, false);
    } catch (const c10::Error&) {
      continue;
    }
    ++waiting_count_;
    waiting_[{device, stream.id()}].push_back({event, block, device});
  }
  process_events();
}

void DeviceMemory::process_events() {
  // The driver cannot be asked, or its answer would spoil the capture.
  if (on_driver_thread() || captures_ > 0) return;
  if (!deferred_.empty()) {
    for (Block* block : std::exchange(deferred_, {})) insert_events(block);
  }
  for (auto& item : waiting_) {
    auto& line = item.second;
    while (!line.empty() && event_done(line.front().event)) {
      const Waiting first = line.front();
      line.pop_front();
      --waiting_count_;
      keep_event(first.event, first.device);
      if (--first.block->pending == 0) put_back(first.block, 0);
    }
  }
}

// Lets go of the lock meanwhile: what is waited for may allocate.
void DeviceMemory::wait_for_events(Lock& lock) {
  ++stats_.num_sync_all_streams;
  process_events();
  std::vector<void*> events;
  for (auto& item : waiting_)
    for (const Waiting& each : item.second) events.push_back(each.event);
  if (events.empty()) return;
  const Unheard ours;
  lock.unlock();
  for (void* event : events) wait_for_event(event);
  lock.lock();
  process_events();
}

}  // namespace awt
