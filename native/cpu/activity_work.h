// Telling of what streams do (core/activity.h): when it began and ended, for whom, and how much.
#pragma once

#include <optional>

#include "core/activity_hub.h"
#include "cpu/work.h"

namespace aw {

class Stream;
struct Allocation;

// What a stream keeps of the call that gave it work; zeros when nobody listens.
struct Origin {
  uint32_t correlation = 0;
  uint64_t queued = 0;

  static Origin here() {
    if (!listening(AW_LISTEN_WORK | AW_LISTEN_NODES | AW_LISTEN_GRAPHS)) [[likely]]
      return {};
    return {current_correlation(), anywarp_activity_now()};
  }
};

// While one exists, what this thread does is the work of that stream.
class WorkingFor {
 public:
  WorkingFor(const Stream& stream, Origin origin);
  ~WorkingFor();
  WorkingFor(const WorkingFor&) = delete;
  WorkingFor& operator=(const WorkingFor&) = delete;
};

// One piece of work, told of when this goes.
class Observed {
 public:
  explicit Observed(const Work& work) {
    if (listening(AW_LISTEN_WORK | AW_LISTEN_NODES | AW_LISTEN_GRAPHS)) [[unlikely]]
      begin(work);
  }
  ~Observed() {
    if (work_) [[unlikely]]
      end();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  void begin(const Work& work);
  void end();
  const Work* work_ = nullptr;
  uint64_t begin_ = 0, node_ = 0, graph_ = 0;  // of which node; and the graph around the work
};

void tell_memory(const Allocation& allocation, bool is_free);

// Which node of a graph comes next on this thread.
void set_current_node(uint64_t node);

// An event that was recorded in an idle stream.
void tell_recorded(const Stream& stream, uint64_t event);

// Memory that a program was given, or gave back.
inline void tell_allocation(const Allocation& allocation, bool is_free) {
  if (listening(AW_LISTEN_MEMORY)) [[unlikely]]
    tell_memory(allocation, is_free);
}

}  // namespace aw
