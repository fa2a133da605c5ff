// Runtime API reference: stream management: what captures graphs.
#include "cudart/state.h"

namespace aw {
namespace {

auto* status_of(cudaStreamCaptureStatus* status) {
  return reinterpret_cast<CUstreamCaptureStatus*>(status);
}

auto* ids_of(unsigned long long* id) { return reinterpret_cast<cuuint64_t*>(id); }

auto* edges_of(const cudaGraphEdgeData* edges) {
  static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
  return reinterpret_cast<const CUgraphEdgeData*>(edges);
}

cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status,
                         unsigned long long* id, cudaGraph_t* graph,
                         const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                         size_t* count) {
  return error_of(cuStreamGetCaptureInfo_v3(
      stream_of(stream), status_of(status), ids_of(id), graph, dependencies,
      reinterpret_cast<const CUgraphEdgeData**>(edges), count));
}

}  // namespace

cudaError_t rt::cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return error_of(
      cuStreamBeginCapture_v2(stream_of(stream), static_cast<CUstreamCaptureMode>(mode)));
}

cudaError_t rt::cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                              const cudaGraphNode_t* dependencies,
                                              const cudaGraphEdgeData* edges, size_t count,
                                              cudaStreamCaptureMode mode) {
  return error_of(cuStreamBeginCaptureToGraph(stream_of(stream), graph, dependencies,
                                              edges_of(edges), count,
                                              static_cast<CUstreamCaptureMode>(mode)));
}

cudaError_t rt::cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return error_of(cuStreamEndCapture(stream_of(stream), graph));
}

cudaError_t rt::cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return error_of(cuStreamIsCapturing(stream_of(stream), status_of(status)));
}

cudaError_t rt::cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  require(mode);
  ensure_driver();
  return error_of(cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

#if CUDART_VERSION < 13000
cudaError_t rt::cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                         unsigned long long* id) {
  return capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t rt::cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                            unsigned long long* id, cudaGraph_t* graph,
                                            const cudaGraphNode_t** dependencies, size_t* count) {
  return capture_info(stream, status, id, graph, dependencies, nullptr, count);
}

cudaError_t rt::cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                                    cudaGraphNode_t* dependencies, size_t count,
                                                    unsigned flags) {
  return error_of(
      cuStreamUpdateCaptureDependencies_v2(stream_of(stream), dependencies, nullptr, count, flags));
}
#endif

cudaError_t rt::AW_V3(cudaStreamGetCaptureInfo)(cudaStream_t stream,
                                                cudaStreamCaptureStatus* status,
                                                unsigned long long* id, cudaGraph_t* graph,
                                                const cudaGraphNode_t** dependencies,
                                                const cudaGraphEdgeData** edges, size_t* count) {
  return capture_info(stream, status, id, graph, dependencies, edges, count);
}

cudaError_t rt::AW_V2(cudaStreamUpdateCaptureDependencies)(cudaStream_t stream,
                                                           cudaGraphNode_t* dependencies,
                                                           const cudaGraphEdgeData* edges,
                                                           size_t count, unsigned flags) {
  return error_of(cuStreamUpdateCaptureDependencies_v2(stream_of(stream), dependencies,
                                                       edges_of(edges), count, flags));
}

}  // namespace aw
