// Driver API reference: stream management, capture.
#include "cpu/capture.h"

#include <algorithm>

#include "cpu/event.h"
#include "cpu/graph.h"
#include "cpu/stream.h"
#include "cuda/context.h"

namespace aw {

std::vector<GraphNode*>& Capture::front(Stream& stream) {
  for (auto& [member, nodes] : fronts) {
    if (member.get() == &stream) return nodes;
  }
  return fronts.emplace_back(stream.shared_from_this(), std::vector<GraphNode*>{}).second;
}

void Capture::add(Stream& stream, Work work) {
  std::lock_guard lock(mutex);
  require(!invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Waiting for work outside of the capture cannot become part of a graph.
  auto* wait = std::get_if<WaitWork>(&work);
  if (wait && !wait->external) {
    invalidated = true;
    throw Failure(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  }
  try {
    CUgraphNodeType type = type_of(work);
    auto& nodes = front(stream);
    nodes = {graph->add(type, std::move(work), nodes).get()};
  } catch (const Failure&) {
    invalidated = true;
    throw;
  }
}

void refuse_capture(Stream& stream) {
  auto capture = stream.capture();
  if (!capture) return;
  std::lock_guard lock(capture->mutex);
  capture->invalidated = true;
  throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void refuse_captures(Context& context) {
  bool captured = false;
  for (auto& stream : live_streams(context)) {
    if (auto capture = stream->capture()) captured = capture->invalidated = true;
  }
  require(!captured, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void capture_record(Event& event, Stream& stream, const std::shared_ptr<Capture>& capture) {
  std::lock_guard lock(event.mutex);
  std::lock_guard inner(capture->mutex);
  event.capture = capture;
  event.captured_nodes = capture->front(stream);
}

void capture_wait(Event& event, Stream& stream) {
  auto mine = stream.capture();
  require(!mine || mine == event.capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  std::lock_guard lock(event.capture->mutex);
  require(!event.capture->ended, CUDA_ERROR_CAPTURED_EVENT);
  auto& nodes = event.capture->front(stream);
  for (GraphNode* node : event.captured_nodes) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  if (!mine) stream.set_capture(event.capture);
}

}  // namespace aw

using namespace aw;

std::atomic<uint64_t>& aw::captures() {
  static std::atomic<uint64_t> count{0};
  return count;
}

namespace {

std::shared_ptr<Capture> begin(CUstream handle, CUstreamCaptureMode mode,
                               std::shared_ptr<Graph> graph) {
  static std::atomic<uint64_t> next_id{1};
  require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  auto stream = stream_of(handle);
  require(!stream->is_legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  require(!stream->capture(), CUDA_ERROR_ILLEGAL_STATE);
  auto capture = std::make_shared<Capture>();
  capture->given = graph != nullptr;
  capture->was_owned = graph && graph->owned;
  capture->graph = graph ? std::move(graph) : new_graph();
  capture->graph->owned = true;
  capture->id = next_id++;
  capture->origin = stream->id;
  capture->front(*stream);
  stream->set_capture(capture);
  return capture;
}

void mark_reached(GraphNode* node, std::vector<GraphNode*>& reached) {
  if (std::find(reached.begin(), reached.end(), node) != reached.end()) return;
  reached.push_back(node);
  for (GraphNode* before : node->after) mark_reached(before, reached);
}

// Whether all work of all streams comes before the end of the stream where the capture began.
bool joined(Capture& capture, Stream& origin) {
  std::vector<GraphNode*> reached;
  for (GraphNode* node : capture.front(origin)) mark_reached(node, reached);
  for (auto& [stream, nodes] : capture.fronts) {
    for (GraphNode* node : nodes) {
      if (std::find(reached.begin(), reached.end(), node) == reached.end()) return false;
    }
  }
  return true;
}

CUgraph end(Stream& stream) {
  auto capture = stream.capture();
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  require(capture->origin == stream.id, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  std::lock_guard lock(capture->mutex);
  bool complete = joined(*capture, stream);
  for (auto& [member, nodes] : capture->fronts) member->set_capture(nullptr);
  capture->fronts.clear();
  capture->ended = true;
  capture->graph->owned = capture->was_owned;
  bool good = complete && !capture->invalidated;
  if (!good && !capture->given) destroy_graph(*capture->graph);
  require(!capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  require(complete, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  return as_handle<CUgraph>(capture->graph->handle);
}

// What the versions of cuStreamGetCaptureInfo ask for; null for what they do not.
struct Info {
  CUstreamCaptureStatus* status;
  uint64_t* id;
  CUgraph* graph;
  const CUgraphNode** nodes;
  const CUgraphEdgeData** edges;
  size_t* count;
};

CUresult inform(CUstream handle, const Info& out) {
  // Arrays that are handed out stay valid until the next call on this thread.
  thread_local std::vector<CUgraphNode> nodes;
  thread_local std::vector<CUgraphEdgeData> edges;
  require(out.status);
  auto stream = stream_of(handle);
  auto capture = stream->capture();
  *out.status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!capture) return CUDA_SUCCESS;
  std::lock_guard lock(capture->mutex);
  *out.status =
      capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  nodes.clear();
  for (GraphNode* node : capture->front(*stream))
    nodes.push_back(as_handle<CUgraphNode>(node->handle));
  edges.assign(nodes.size(), {});
  if (out.id) *out.id = capture->id;
  if (out.graph) *out.graph = as_handle<CUgraph>(capture->graph->handle);
  if (out.nodes) *out.nodes = nodes.data();
  if (out.edges) *out.edges = edges.data();
  if (out.count) *out.count = nodes.size();
  return CUDA_SUCCESS;
}

void change_front(CUstream handle, const CUgraphNode* nodes, size_t count, unsigned flags) {
  require(flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  auto stream = stream_of(handle);
  auto capture = stream->capture();
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  auto given = read_nodes(nodes, count, *capture->graph);
  std::lock_guard lock(capture->mutex);
  auto& front = capture->front(*stream);
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) front.clear();
  for (GraphNode* node : given) {
    if (std::find(front.begin(), front.end(), node) == front.end()) front.push_back(node);
  }
}

}  // namespace

AW_EXPORT CUresult cuStreamBeginCapture(CUstream stream) {
  return api<"cuStreamBeginCapture">(
      [&] { begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr); });
}

AW_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return api<"cuStreamBeginCapture_v2">([&] { begin(stream, mode, nullptr); });
}

AW_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph,
                                               const CUgraphNode* after, const CUgraphEdgeData*,
                                               size_t count, CUstreamCaptureMode mode) {
  return api<"cuStreamBeginCaptureToGraph">([&] {
    auto target = graph_of(graph);
    auto nodes = read_nodes(after, count, *target);
    auto capture = begin(handle, mode, target);
    std::lock_guard lock(capture->mutex);
    capture->front(*stream_of(handle)) = nodes;
  });
}

AW_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph* out) {
  return api<"cuStreamEndCapture">([&] {
    require(out);
    *out = nullptr;
    *out = end(*stream_of(handle));
  });
}

AW_EXPORT CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return api<"cuStreamIsCapturing">(
      [&] { return inform(handle, {status, nullptr, nullptr, nullptr, nullptr, nullptr}); });
}

AW_EXPORT CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status,
                                          uint64_t* id) {
  return api<"cuStreamGetCaptureInfo">(
      [&] { return inform(handle, {status, id, nullptr, nullptr, nullptr, nullptr}); });
}

AW_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status,
                                             uint64_t* id, CUgraph* graph,
                                             const CUgraphNode** nodes, size_t* count) {
  return api<"cuStreamGetCaptureInfo_v2">(
      [&] { return inform(handle, {status, id, graph, nodes, nullptr, count}); });
}

AW_EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status,
                                             uint64_t* id, CUgraph* graph,
                                             const CUgraphNode** nodes,
                                             const CUgraphEdgeData** edges, size_t* count) {
  return api<"cuStreamGetCaptureInfo_v3">(
      [&] { return inform(handle, {status, id, graph, nodes, edges, count}); });
}

AW_EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes,
                                                     size_t count, unsigned flags) {
  return api<"cuStreamUpdateCaptureDependencies">(
      [&] { change_front(handle, nodes, count, flags); });
}

AW_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* nodes,
                                                        const CUgraphEdgeData*, size_t count,
                                                        unsigned flags) {
  return api<"cuStreamUpdateCaptureDependencies_v2">(
      [&] { change_front(handle, nodes, count, flags); });
}

AW_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return api<"cuThreadExchangeStreamCaptureMode">([&] {
    // Modes forbid calls that would be unsafe while another thread captures; ours are safe in every
    // mode.
    thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    require(mode && *mode >= CU_STREAM_CAPTURE_MODE_GLOBAL &&
            *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    std::swap(current, *mode);
  });
}
