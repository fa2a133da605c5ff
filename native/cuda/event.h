// Events: moments in streams.
#pragma once

#include <memory>
#include <mutex>

#include "core/handles.h"
#include "cuda/context.h"
#include "cuda/work.h"

namespace aw {

struct GraphNode;
struct Capture;

struct Event {
  uintptr_t handle = 0;
  unsigned flags = 0;
  std::weak_ptr<Context> context;
  mutable std::mutex mutex;
  std::shared_ptr<Recording> recording;  // the latest; null before the first
  // When it was last recorded in a stream under capture: that capture and the nodes behind which it
  // stands.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> captured_nodes;

  Point point() const {
    std::lock_guard lock(mutex);
    return recording ? recording->point : Point{};
  }
};

Handles<Event>& events();
std::shared_ptr<Event> event_of(CUevent handle);  // throws INVALID_HANDLE
void record_event(Event& event, Stream& stream);
void wait_for_event(Event& event, Stream& stream);

// The same in streams under capture. capture_wait is called with the event's mutex held.
void capture_record(Event& event, Stream& stream, const std::shared_ptr<Capture>& capture);
void capture_wait(Event& event, Stream& stream);

}  // namespace aw
