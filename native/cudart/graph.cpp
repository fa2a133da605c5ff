// Runtime API reference: graph management, structure and nodes whose parameters are the driver's.
#include "cudart/forward.h"

namespace aw {

static_assert(sizeof(cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS));
static_assert(sizeof(cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS));
static_assert(sizeof(cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
static_assert(sizeof(cudaExternalSemaphoreSignalParams) ==
              sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS));
static_assert(sizeof(cudaExternalSemaphoreWaitParams) ==
              sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS));
static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));

cudaError_t rt::cudaGraphAddChildGraphNode(cudaGraphNode_t* graph_node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies,
                                           size_t num_dependencies, cudaGraph_t child_graph) {
  return forward(cuGraphAddChildGraphNode, graph_node, graph, dependencies, num_dependencies,
                 child_graph);
}

cudaError_t rt::cudaGraphAddEmptyNode(cudaGraphNode_t* graph_node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies,
                                      size_t num_dependencies) {
  return forward(cuGraphAddEmptyNode, graph_node, graph, dependencies, num_dependencies);
}

cudaError_t rt::cudaGraphAddEventRecordNode(cudaGraphNode_t* graph_node, cudaGraph_t graph,
                                            const cudaGraphNode_t* dependencies,
                                            size_t num_dependencies, cudaEvent_t event) {
  return forward(cuGraphAddEventRecordNode, graph_node, graph, dependencies, num_dependencies,
                 event);
}

cudaError_t rt::cudaGraphAddEventWaitNode(cudaGraphNode_t* graph_node, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          size_t num_dependencies, cudaEvent_t event) {
  return forward(cuGraphAddEventWaitNode, graph_node, graph, dependencies, num_dependencies, event);
}

cudaError_t rt::cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return forward(cuGraphChildGraphNodeGetGraph, node, graph);
}

cudaError_t rt::cudaGraphClone(cudaGraph_t* graph_clone, cudaGraph_t original_graph) {
  return forward(cuGraphClone, graph_clone, original_graph);
}

cudaError_t rt::cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return forward(cuGraphCreate, graph, flags);
}

cudaError_t rt::cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  return forward(cuGraphDebugDotPrint, graph, path, flags);
}

cudaError_t rt::cudaGraphDestroy(cudaGraph_t graph) { return forward(cuGraphDestroy, graph); }

cudaError_t rt::cudaGraphDestroyNode(cudaGraphNode_t node) {
  return forward(cuGraphDestroyNode, node);
}

cudaError_t rt::cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
  return forward(cuGraphEventRecordNodeGetEvent, node, event_out);
}

cudaError_t rt::cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return forward(cuGraphEventRecordNodeSetEvent, node, event);
}

cudaError_t rt::cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
  return forward(cuGraphEventWaitNodeGetEvent, node, event_out);
}

cudaError_t rt::cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return forward(cuGraphEventWaitNodeSetEvent, node, event);
}

cudaError_t rt::cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* num_nodes) {
  return forward(cuGraphGetNodes, graph, nodes, num_nodes);
}

cudaError_t rt::cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* root_nodes,
                                      size_t* num_root_nodes) {
  return forward(cuGraphGetRootNodes, graph, root_nodes, num_root_nodes);
}

cudaError_t rt::cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original_node,
                                         cudaGraph_t cloned_graph) {
  return forward(cuGraphNodeFindInClone, node, original_node, cloned_graph);
}

cudaError_t rt::cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return forward(cuGraphNodeGetType, node, type);
}

cudaError_t rt::cudaGraphAddHostNode(cudaGraphNode_t* graph_node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t num_dependencies,
                                     const cudaHostNodeParams* node_params) {
  return forward(cuGraphAddHostNode, graph_node, graph, dependencies, num_dependencies,
                 node_params);
}

cudaError_t rt::cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* node_params) {
  return forward(cuGraphHostNodeGetParams, node, node_params);
}

cudaError_t rt::cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                           const cudaHostNodeParams* node_params) {
  return forward(cuGraphHostNodeSetParams, node, node_params);
}

cudaError_t rt::cudaGraphAddExternalSemaphoresSignalNode(
    cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
    size_t num_dependencies, const cudaExternalSemaphoreSignalNodeParams* node_params) {
  return forward(cuGraphAddExternalSemaphoresSignalNode, graph_node, graph, dependencies,
                 num_dependencies, node_params);
}

cudaError_t rt::cudaGraphAddExternalSemaphoresWaitNode(
    cudaGraphNode_t* graph_node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
    size_t num_dependencies, const cudaExternalSemaphoreWaitNodeParams* node_params) {
  return forward(cuGraphAddExternalSemaphoresWaitNode, graph_node, graph, dependencies,
                 num_dependencies, node_params);
}

cudaError_t rt::cudaGraphExternalSemaphoresSignalNodeGetParams(
    cudaGraphNode_t node, cudaExternalSemaphoreSignalNodeParams* params_out) {
  return forward(cuGraphExternalSemaphoresSignalNodeGetParams, node, params_out);
}

cudaError_t rt::cudaGraphExternalSemaphoresSignalNodeSetParams(
    cudaGraphNode_t node, const cudaExternalSemaphoreSignalNodeParams* node_params) {
  return forward(cuGraphExternalSemaphoresSignalNodeSetParams, node, node_params);
}

cudaError_t rt::cudaGraphExternalSemaphoresWaitNodeGetParams(
    cudaGraphNode_t node, cudaExternalSemaphoreWaitNodeParams* params_out) {
  return forward(cuGraphExternalSemaphoresWaitNodeGetParams, node, params_out);
}

cudaError_t rt::cudaGraphExternalSemaphoresWaitNodeSetParams(
    cudaGraphNode_t node, const cudaExternalSemaphoreWaitNodeParams* node_params) {
  return forward(cuGraphExternalSemaphoresWaitNodeSetParams, node, node_params);
}

cudaError_t rt::cudaGraphAddMemAllocNode(cudaGraphNode_t* graph_node, cudaGraph_t graph,
                                         const cudaGraphNode_t* dependencies,
                                         size_t num_dependencies,
                                         cudaMemAllocNodeParams* node_params) {
  return forward(cuGraphAddMemAllocNode, graph_node, graph, dependencies, num_dependencies,
                 node_params);
}

cudaError_t rt::cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                               cudaMemAllocNodeParams* params_out) {
  return forward(cuGraphMemAllocNodeGetParams, node, params_out);
}

cudaError_t rt::cudaGraphAddMemFreeNode(cudaGraphNode_t* graph_node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies,
                                        size_t num_dependencies, void* dptr) {
  return forward(cuGraphAddMemFreeNode, graph_node, graph, dependencies, num_dependencies, dptr);
}

cudaError_t rt::cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out) {
  return forward(cuGraphMemFreeNodeGetParams, node, dptr_out);
}

cudaError_t rt::cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                          unsigned count, unsigned flags) {
  return forward(cuGraphRetainUserObject, graph, object, count, flags);
}

cudaError_t rt::cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                           unsigned count) {
  return forward(cuGraphReleaseUserObject, graph, object, count);
}

cudaError_t rt::cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr, cudaHostFn_t destroy,
                                     unsigned initial_refcount, unsigned flags) {
  return forward(cuUserObjectCreate, object_out, ptr, destroy, initial_refcount, flags);
}

cudaError_t rt::cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return forward(cuUserObjectRetain, object, count);
}

cudaError_t rt::cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return forward(cuUserObjectRelease, object, count);
}

cudaError_t rt::cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attr,
                                               void* value) {
  return forward(cuDeviceGetGraphMemAttribute, device, attr, value);
}

cudaError_t rt::cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attr,
                                               void* value) {
  return forward(cuDeviceSetGraphMemAttribute, device, attr, value);
}

cudaError_t rt::cudaDeviceGraphMemTrim(int device) { return forward(cuDeviceGraphMemTrim, device); }

cudaError_t rt::cudaGraphAddMemsetNode(cudaGraphNode_t* graph_node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t num_dependencies,
                                       const cudaMemsetParams* memset_params) {
  return forward(cuGraphAddMemsetNode, graph_node, graph, dependencies, num_dependencies,
                 memset_params, nullptr);
}

cudaError_t rt::cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* node_params) {
  return forward(cuGraphMemsetNodeGetParams, node, node_params);
}

cudaError_t rt::cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                             const cudaMemsetParams* node_params) {
  return forward(cuGraphMemsetNodeSetParams, node, node_params);
}

cudaError_t rt::cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attr,
                                                cudaLaunchAttributeValue* value_out) {
  return forward(cuGraphKernelNodeGetAttribute, node, attr, value_out);
}

cudaError_t rt::cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attr,
                                                const cudaLaunchAttributeValue* value) {
  return forward(cuGraphKernelNodeSetAttribute, node, attr, value);
}

// Version 12 names the source first, version 13 the target.
cudaError_t rt::cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t first, cudaGraphNode_t second) {
#if CUDART_VERSION >= 13000
  return forward(cuGraphKernelNodeCopyAttributes, first, second);
#else
  return forward(cuGraphKernelNodeCopyAttributes, second, first);
#endif
}

cudaError_t rt::cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle_out,
                                                 cudaGraph_t graph, unsigned default_launch_value,
                                                 unsigned flags) {
  return forward(cuGraphConditionalHandleCreate, handle_out, graph, nullptr, default_launch_value,
                 flags);
}

cudaError_t rt::AW_V2(cudaGraphAddDependencies)(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                const cudaGraphNode_t* to,
                                                const cudaGraphEdgeData* edge_data,
                                                size_t num_dependencies) {
  return forward(cuGraphAddDependencies_v2, graph, from, to, edge_data, num_dependencies);
}

cudaError_t rt::AW_V2(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t* from,
                                         cudaGraphNode_t* to, cudaGraphEdgeData* edge_data,
                                         size_t* num_edges) {
  return forward(cuGraphGetEdges_v2, graph, from, to, edge_data, num_edges);
}

cudaError_t rt::AW_V2(cudaGraphNodeGetDependencies)(cudaGraphNode_t node,
                                                    cudaGraphNode_t* dependencies,
                                                    cudaGraphEdgeData* edge_data,
                                                    size_t* num_dependencies) {
  return forward(cuGraphNodeGetDependencies_v2, node, dependencies, edge_data, num_dependencies);
}

cudaError_t rt::AW_V2(cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node,
                                                      cudaGraphNode_t* dependent_nodes,
                                                      cudaGraphEdgeData* edge_data,
                                                      size_t* num_dependent_nodes) {
  return forward(cuGraphNodeGetDependentNodes_v2, node, dependent_nodes, edge_data,
                 num_dependent_nodes);
}

cudaError_t rt::AW_V2(cudaGraphRemoveDependencies)(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to,
                                                   const cudaGraphEdgeData* edge_data,
                                                   size_t num_dependencies) {
  return forward(cuGraphRemoveDependencies_v2, graph, from, to, edge_data, num_dependencies);
}

#if CUDART_VERSION < 13000
cudaError_t rt::cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                         const cudaGraphNode_t* to, size_t num_dependencies) {
  return forward(cuGraphAddDependencies, graph, from, to, num_dependencies);
}

cudaError_t rt::cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                  size_t* num_edges) {
  return forward(cuGraphGetEdges, graph, from, to, num_edges);
}

cudaError_t rt::cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                             size_t* num_dependencies) {
  return forward(cuGraphNodeGetDependencies, node, dependencies, num_dependencies);
}

cudaError_t rt::cudaGraphNodeGetDependentNodes(cudaGraphNode_t node,
                                               cudaGraphNode_t* dependent_nodes,
                                               size_t* num_dependent_nodes) {
  return forward(cuGraphNodeGetDependentNodes, node, dependent_nodes, num_dependent_nodes);
}

cudaError_t rt::cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to, size_t num_dependencies) {
  return forward(cuGraphRemoveDependencies, graph, from, to, num_dependencies);
}
#else
cudaError_t rt::cudaGraphGetId(cudaGraph_t graph, unsigned* graph_id) {
  return forward(cuGraphGetId, graph, graph_id);
}

cudaError_t rt::cudaGraphNodeGetContainingGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return forward(cuGraphNodeGetContainingGraph, node, graph);
}

cudaError_t rt::cudaGraphNodeGetLocalId(cudaGraphNode_t node, unsigned* node_id) {
  return forward(cuGraphNodeGetLocalId, node, node_id);
}

cudaError_t rt::cudaGraphNodeGetToolsId(cudaGraphNode_t node, unsigned long long* tools_node_id) {
  return forward(cuGraphNodeGetToolsId, node, tools_node_id);
}

cudaError_t rt::cudaGraphConditionalHandleCreate_v2(cudaGraphConditionalHandle* handle_out,
                                                    cudaGraph_t graph, cudaExecutionContext_t ctx,
                                                    unsigned default_launch_value, unsigned flags) {
  return forward(cuGraphConditionalHandleCreate, handle_out, graph, ctx, default_launch_value,
                 flags);
}
#endif

}  // namespace aw
