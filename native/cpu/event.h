// Events: moments in streams.
#pragma once

#include <memory>
#include <mutex>

#include "core/handles.h"
#include "cpu/work.h"
#include "cuda/context.h"

namespace aw {

struct File;
struct GraphNode;
struct Capture;

struct Event {
  uintptr_t handle = 0;
  unsigned flags = 0;
  std::weak_ptr<Context> context;
  std::shared_ptr<SharedCounters> shared;  // if other processes may use it
  std::shared_ptr<File> file;              // by which they find it, if it is of this process
  mutable std::mutex mutex;
  std::shared_ptr<Recording> recording;  // the latest; null before the first
  // When it was last recorded in a stream under capture: that capture and the nodes behind which it
  // stands.
  std::shared_ptr<Capture> capture;
  std::vector<GraphNode*> captured_nodes;

  Point point() const {
    if (shared) return {nullptr, shared->latest(), shared};
    std::lock_guard lock(mutex);
    return recording ? recording->point : Point{};
  }
};

Handles<Event>& events();
std::shared_ptr<Event> event_of(CUevent handle);  // throws INVALID_HANDLE
// The beginning of a recording that other processes see; null if they do not share the event.
std::shared_ptr<SharedRecording> begin_shared(const Event& event);
// External: in a stream under capture, a node that records or awaits the event at each launch.
void record_event(Event& event, Stream& stream, bool external = false);
void make_shareable(Event& event);
void wait_for_event(Event& event, Stream& stream, bool external = false);

// The same in streams under capture. capture_wait is called with the event's mutex held.
void capture_record(Event& event, Stream& stream, const std::shared_ptr<Capture>& capture);
void capture_wait(Event& event, Stream& stream);

}  // namespace aw
