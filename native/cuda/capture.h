// Stream capture: work given to a stream becomes nodes of a graph instead of being done.
#pragma once

#include <memory>
#include <vector>

#include "cuda/work.h"

namespace aw {

class Stream;
struct Graph;
struct GraphNode;

// One capture of a stream. Streams that join it through events hold the same object.
struct Capture {
  std::shared_ptr<Graph> graph;
  uint64_t id = 0;
  uintptr_t origin = 0;  // handle of the stream where it began
  int mode = 0;
  bool invalidated = false;

  void add(Stream& stream, Work work);
};

}  // namespace aw
