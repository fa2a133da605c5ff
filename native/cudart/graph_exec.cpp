// Runtime API reference: graph management, executable graphs.
#include "cudart/forward.h"

namespace aw {

static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo));

cudaError_t rt::cudaGraphInstantiate(cudaGraphExec_t* graph_exec, cudaGraph_t graph,
                                     unsigned long long flags) {
  return forward(cuGraphInstantiateWithFlags, graph_exec, graph, flags);
}

cudaError_t rt::cudaGraphInstantiateWithFlags(cudaGraphExec_t* graph_exec, cudaGraph_t graph,
                                              unsigned long long flags) {
  return forward(cuGraphInstantiateWithFlags, graph_exec, graph, flags);
}

cudaError_t rt::cudaGraphInstantiateWithParams(cudaGraphExec_t* graph_exec, cudaGraph_t graph,
                                               cudaGraphInstantiateParams* instantiate_params) {
  return forward(cuGraphInstantiateWithParams, graph_exec, graph, instantiate_params);
}

cudaError_t rt::cudaGraphExecDestroy(cudaGraphExec_t graph_exec) {
  return forward(cuGraphExecDestroy, graph_exec);
}

cudaError_t rt::cudaGraphExecGetFlags(cudaGraphExec_t graph_exec, unsigned long long* flags) {
  return forward(cuGraphExecGetFlags, graph_exec, flags);
}

cudaError_t rt::cudaGraphLaunch(cudaGraphExec_t graph_exec, cudaStream_t stream) {
  return forward(cuGraphLaunch, graph_exec, stream_of(stream));
}

cudaError_t rt::cudaGraphUpload(cudaGraphExec_t graph_exec, cudaStream_t stream) {
  return forward(cuGraphUpload, graph_exec, stream_of(stream));
}

cudaError_t rt::cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t graph_exec,
                                                     cudaGraphNode_t node,
                                                     cudaGraph_t child_graph) {
  return forward(cuGraphExecChildGraphNodeSetParams, graph_exec, node, child_graph);
}

cudaError_t rt::cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t graph_exec,
                                                     cudaGraphNode_t node, cudaEvent_t event) {
  return forward(cuGraphExecEventRecordNodeSetEvent, graph_exec, node, event);
}

cudaError_t rt::cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t graph_exec, cudaGraphNode_t node,
                                                   cudaEvent_t event) {
  return forward(cuGraphExecEventWaitNodeSetEvent, graph_exec, node, event);
}

cudaError_t rt::cudaGraphExecExternalSemaphoresSignalNodeSetParams(
    cudaGraphExec_t graph_exec, cudaGraphNode_t node,
    const cudaExternalSemaphoreSignalNodeParams* node_params) {
  return forward(cuGraphExecExternalSemaphoresSignalNodeSetParams, graph_exec, node, node_params);
}

cudaError_t rt::cudaGraphExecExternalSemaphoresWaitNodeSetParams(
    cudaGraphExec_t graph_exec, cudaGraphNode_t node,
    const cudaExternalSemaphoreWaitNodeParams* node_params) {
  return forward(cuGraphExecExternalSemaphoresWaitNodeSetParams, graph_exec, node, node_params);
}

cudaError_t rt::cudaGraphExecHostNodeSetParams(cudaGraphExec_t graph_exec, cudaGraphNode_t node,
                                               const cudaHostNodeParams* node_params) {
  return forward(cuGraphExecHostNodeSetParams, graph_exec, node, node_params);
}

cudaError_t rt::cudaGraphNodeGetEnabled(cudaGraphExec_t graph_exec, cudaGraphNode_t node,
                                        unsigned* is_enabled) {
  return forward(cuGraphNodeGetEnabled, graph_exec, node, is_enabled);
}

cudaError_t rt::cudaGraphNodeSetEnabled(cudaGraphExec_t graph_exec, cudaGraphNode_t node,
                                        unsigned is_enabled) {
  return forward(cuGraphNodeSetEnabled, graph_exec, node, is_enabled);
}

cudaError_t rt::cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t graph_exec, cudaGraphNode_t node,
                                                 const cudaMemsetParams* node_params) {
  return forward(cuGraphExecMemsetNodeSetParams, graph_exec, node, node_params, nullptr);
}

cudaError_t rt::cudaGraphExecUpdate(cudaGraphExec_t graph_exec, cudaGraph_t graph,
                                    cudaGraphExecUpdateResultInfo* result_info) {
  return forward(cuGraphExecUpdate_v2, graph_exec, graph, result_info);
}

#if CUDART_VERSION >= 13000
cudaError_t rt::cudaGraphExecGetId(cudaGraphExec_t graph_exec, unsigned* graph_id) {
  return forward(cuGraphExecGetId, graph_exec, graph_id);
}
#endif

}  // namespace aw
