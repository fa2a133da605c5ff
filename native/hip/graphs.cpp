// Driver API reference: graph management, whole graphs, and stream capture.
#include <cstring>

#include "hip/capture.h"
#include "hip/forward.h"
#include "hip/runtime.h"

using namespace aw;

namespace {

hipGraph_t graph_of(CUgraph handle) { return reinterpret_cast<hipGraph_t>(handle); }

CUresult instantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* error, char* log, size_t size) {
  require_context();
  require(out && graph);
  return to_cuda(AW_HIP(hipGraphInstantiate)(reinterpret_cast<hipGraphExec_t*>(out),
                                             graph_of(graph),
                                             reinterpret_cast<hipGraphNode_t*>(error), log, size));
}

CUresult update(CUgraphExec exec, CUgraph graph, hipGraphNode_t* node,
                CUgraphExecUpdateResult* result) {
  require(exec && graph && result);
  hipGraphExecUpdateResult found = hipGraphExecUpdateError;
  hipError_t error = AW_HIP(hipGraphExecUpdate)(reinterpret_cast<hipGraphExec_t>(exec),
                                                graph_of(graph), node, &found);
  *result = static_cast<CUgraphExecUpdateResult>(found);  // the numbers are CUDA's
  return to_cuda(error);
}

CUresult capture_info(CUstream stream, CaptureInfo* info) {
  require_context();
  return to_cuda(read_capture(handle_of(stream), info));
}

}  // namespace

AW_EXPORT CUresult cuGraphClone(CUgraph* out, CUgraph graph) {
  return api<"cuGraphClone">([&] {
    require(out && graph);
    return to_cuda(AW_HIP(hipGraphClone)(reinterpret_cast<hipGraph_t*>(out), graph_of(graph)));
  });
}

AW_EXPORT CUresult cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return api<"cuGraphNodeFindInClone">([&] {
    require(out && original && clone);
    return to_cuda(AW_HIP(hipGraphNodeFindInClone)(reinterpret_cast<hipGraphNode_t*>(out),
                                                   reinterpret_cast<hipGraphNode_t>(original),
                                                   graph_of(clone)));
  });
}

AW_EXPORT CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* error,
                                      char* log, size_t size) {
  return api<"cuGraphInstantiate">([&] { return instantiate(out, graph, error, log, size); });
}
AW_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* error,
                                         char* log, size_t size) {
  return api<"cuGraphInstantiate_v2">([&] { return instantiate(out, graph, error, log, size); });
}

AW_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                                CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return api<"cuGraphInstantiateWithParams">([&] {
    require_context();
    require(out && graph && params);
    hipGraphInstantiateParams p{};
    p.flags = params->flags, p.uploadStream = stream_for(params->hUploadStream);
    hipError_t error = AW_HIP(hipGraphInstantiateWithParams)(reinterpret_cast<hipGraphExec_t*>(out),
                                                             graph_of(graph), &p);
    params->hErrNode_out = reinterpret_cast<CUgraphNode>(p.errNode_out),
    params->result_out = static_cast<CUgraphInstantiateResult>(p.result_out);
    return to_cuda(error);
  });
}

AW_EXPORT CUresult cuGraphExecGetFlags(CUgraphExec exec, uint64_t* out) {
  return api<"cuGraphExecGetFlags">([&] {
    require(exec && out);
    unsigned long long flags = 0;
    check(AW_HIP(hipGraphExecGetFlags)(reinterpret_cast<hipGraphExec_t>(exec), &flags));
    *out = flags;
  });
}

AW_EXPORT CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* node,
                                     CUgraphExecUpdateResult* result) {
  return api<"cuGraphExecUpdate">(
      [&] { return update(exec, graph, reinterpret_cast<hipGraphNode_t*>(node), result); });
}

AW_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                        CUgraphExecUpdateResultInfo* info) {
  return api<"cuGraphExecUpdate_v2">([&] {
    require(info);
    *info = {};
    return update(exec, graph, reinterpret_cast<hipGraphNode_t*>(&info->errorNode), &info->result);
  });
}

// As CUDA before 10.1 had it: in the mode that is safest.
AW_EXPORT CUresult cuStreamBeginCapture(CUstream stream) {
  return api<"cuStreamBeginCapture">([&] {
    require_context();
    return to_cuda(AW_HIP(hipStreamBeginCapture)(stream_for(stream), hipStreamCaptureModeGlobal));
  });
}

AW_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return api<"cuStreamEndCapture">(
      [&] {
        require_context();
        require(graph);
        return end_capture(handle_of(stream), reinterpret_cast<hipGraph_t*>(graph));
      },
      stream, graph);
}

AW_EXPORT CUresult cuStreamIsCapturing(CUstream stream, int* status) {
  return api<"cuStreamIsCapturing">(
      [&] {
        require(status);
        CaptureInfo info;
        CUresult code = capture_info(stream, &info);
        if (code == CUDA_SUCCESS) *status = info.status;
        return code;
      },
      stream, status);
}

AW_EXPORT CUresult cuStreamGetCaptureInfo(CUstream stream, int* status, uint64_t* id) {
  return api<"cuStreamGetCaptureInfo">([&] {
    require(status);
    CaptureInfo info;
    CUresult code = capture_info(stream, &info);
    if (code) return code;
    *status = info.status;
    if (id && info.status == hipStreamCaptureStatusActive) *id = info.id;
    return CUDA_SUCCESS;
  });
}

namespace {

CUresult tell(CUstream stream, int* status, uint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
              size_t* count) {
  require(status);
  CaptureInfo info;
  CUresult code = capture_info(stream, &info);
  if (code) return code;
  *status = info.status;
  if (info.status != hipStreamCaptureStatusActive) return CUDA_SUCCESS;
  if (id) *id = info.id;
  if (graph) *graph = reinterpret_cast<CUgraph>(info.graph);
  if (nodes) *nodes = reinterpret_cast<const CUgraphNode*>(info.nodes);
  if (count) *count = info.count;
  return CUDA_SUCCESS;
}

}  // namespace

AW_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int* status, uint64_t* id,
                                             CUgraph* graph, const CUgraphNode** nodes,
                                             size_t* count) {
  return api<"cuStreamGetCaptureInfo_v2">(
      [&] { return tell(stream, status, id, graph, nodes, count); });
}

// HIP's edges have no data, which is what a null pointer says.
AW_EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int* status, uint64_t* id,
                                             CUgraph* graph, const CUgraphNode** nodes,
                                             const CUgraphEdgeData** edges, size_t* count) {
  return api<"cuStreamGetCaptureInfo_v3">([&] {
    if (edges) *edges = nullptr;
    return tell(stream, status, id, graph, nodes, count);
  });
}
