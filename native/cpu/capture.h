// Stream capture: work given to a stream becomes nodes of a graph instead of being done.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "cpu/work.h"

namespace aw {

class Stream;
struct Context;
struct Graph;
struct GraphNode;

// How many there are, and some that have ended but are still known to an event.
std::atomic<uint64_t>& captures();

// One capture. Streams that join it through events hold the same object.
struct Capture {
  Capture() { ++captures(); }
  ~Capture() { --captures(); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  std::shared_ptr<Graph> graph;
  uint64_t id = 0;
  uintptr_t origin = 0;    // handle of the stream where it began
  bool given = false;      // the graph is the program's own (cuStreamBeginCaptureToGraph)
  bool was_owned = false;  // and was that of a node before

  std::mutex mutex;
  bool invalidated = false, ended = false;
  // Each stream that takes part, and the nodes behind which its next work comes.
  std::vector<std::pair<std::shared_ptr<Stream>, std::vector<GraphNode*>>> fronts;

  void add(Stream& stream, Work work);
  std::vector<GraphNode*>& front(Stream& stream);  // with the mutex held
};

// What cannot become part of a graph invalidates the capture of a stream, and throws
// STREAM_CAPTURE_UNSUPPORTED.
void refuse_capture(Stream& stream);

}  // namespace aw
