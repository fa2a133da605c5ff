// Driver API reference: graph management, nodes of each kind.
#include <cstring>

#include "cpu/event.h"
#include "cpu/graph.h"
#include "cpu/graph_conditional.h"
#include "cpu/graph_memory.h"
#include "cpu/memory_operations.h"
#include "cpu/semaphores.h"
#include "cuda/context.h"
#include "cuda/copy_shapes.h"

namespace aw {

Work kernel_work(const CUDA_KERNEL_NODE_PARAMS& p, bool has_kernel) {
  LaunchRequest r;
  memcpy(r.grid, p.grid, sizeof r.grid);
  memcpy(r.block, p.block, sizeof r.block);
  r.dynamic_shared = p.sharedMemBytes, r.params = p.kernelParams, r.extra = p.extra;
  auto handle = p.func ? p.func : has_kernel ? reinterpret_cast<CUfunction>(p.kern) : nullptr;
  auto function = function_of(handle);
  if (auto context = function->context.lock()) context->check();
  return plan_launch(function, r);
}

Work copy_work(const CUDA_MEMCPY3D* params) { return plan_copy(params); }

Work set_work(const CUDA_MEMSET_NODE_PARAMS* p) {
  require(p && p->dst && (p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4));
  require(p->width > 0 && p->height > 0 && p->dst % p->elementSize == 0);
  require(p->height == 1 || p->pitch >= p->width * p->elementSize);
  return SetWork{
      reinterpret_cast<uint8_t*>(p->dst), p->pitch, p->width, p->height, p->value, p->elementSize};
}

Work host_work(const CUDA_HOST_NODE_PARAMS* p) {
  require(p && p->fn);
  return HostWork{p->fn, p->userData};
}

Work event_work(CUgraphNodeType type, CUevent event) {
  uintptr_t handle = event_of(event)->handle;
  if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) return RecordWork{nullptr, handle, nullptr};
  return WaitWork{{}, handle, true};
}

CUgraphNodeType type_of(const Work& work) {
  if (std::holds_alternative<KernelWork>(work)) return CU_GRAPH_NODE_TYPE_KERNEL;
  if (std::holds_alternative<CopyWork>(work)) return CU_GRAPH_NODE_TYPE_MEMCPY;
  if (std::holds_alternative<SetWork>(work)) return CU_GRAPH_NODE_TYPE_MEMSET;
  if (std::holds_alternative<HostWork>(work)) return CU_GRAPH_NODE_TYPE_HOST;
  if (std::holds_alternative<RecordWork>(work)) return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  if (std::holds_alternative<WaitWork>(work)) return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  if (std::holds_alternative<EmptyWork>(work)) return CU_GRAPH_NODE_TYPE_EMPTY;
  if (auto* special = std::get_if<SpecialWork>(&work)) return special->task->type();
  throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                "this operation cannot be part of a graph yet");
}

Work work_of(const CUgraphNodeParams* p) {
  require(p);
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return kernel_work(p->kernel, true);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return copy_work(&p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return set_work(&p->memset.params);
    case CU_GRAPH_NODE_TYPE_HOST:
      return host_work(&p->host);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return EmptyWork{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_work(p->type, p->event.event);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return free_work(p->free.dptr);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return batch_work(&p->memOp);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return signal_work(&p->extSemSignal);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return wait_work(&p->extSemWait);
    default:
      throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                    "graph nodes of type " + std::to_string(p->type) + " are not supported yet");
  }
}

std::shared_ptr<GraphNode> add_node(CUgraph graph, const CUgraphNode* after, size_t count,
                                    Work work) {
  auto owner = graph_of(graph);
  CUgraphNodeType type = type_of(work);
  auto before = read_nodes(after, count, *owner);
  return owner->add(type, std::move(work), std::move(before));
}

void replace_work(CUgraphNode handle, CUgraphNodeType type, Work work) {
  auto node = node_of(handle);
  require(node->type == type);
  std::lock_guard lock(node->graph->mutex);
  node->work = std::make_shared<const Work>(std::move(work));
}

CUDA_KERNEL_NODE_PARAMS first_version(const CUDA_KERNEL_NODE_PARAMS* params) {
  require(params);
  CUDA_KERNEL_NODE_PARAMS copy = {};
  memcpy(static_cast<void*>(&copy), params, offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
  return copy;
}

}  // namespace aw

using namespace aw;

namespace {

void add(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count, Work work) {
  require(out);
  *out = as_handle<CUgraphNode>(add_node(graph, after, count, std::move(work))->handle);
}

void replace(CUgraphNode handle, CUgraphNodeType type, Work work) {
  replace_work(handle, type, std::move(work));
}

const CUDA_KERNEL_NODE_PARAMS& second_version(const CUDA_KERNEL_NODE_PARAMS* params) {
  require(params);
  return *params;
}

template <class T>
const T& content(const GraphNode& node) {
  auto* work = std::get_if<T>(node.work.get());
  require(work);
  return *work;
}

CUDA_KERNEL_NODE_PARAMS kernel_params(GraphNode& node) {
  const auto& work = content<KernelWork>(node);
  CUDA_KERNEL_NODE_PARAMS p = {};
  p.func = as_handle<CUfunction>(work.function->handle);
  memcpy(p.grid, work.grid, sizeof p.grid);
  memcpy(p.block, work.block, sizeof p.block);
  p.sharedMemBytes = work.dynamic_shared;
  node.param_pointers.clear();
  auto* bytes = const_cast<uint8_t*>(work.params.data());
  for (auto& parameter : work.function->entry->params)
    node.param_pointers.push_back(bytes + parameter.offset);
  p.kernelParams = node.param_pointers.empty() ? nullptr : node.param_pointers.data();
  return p;
}

CUDA_MEMCPY3D copy_params(const GraphNode& node) {
  const auto& work = content<CopyWork>(node);
  CUDA_MEMCPY3D p = {};
  p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  p.srcDevice = reinterpret_cast<uint64_t>(work.from),
  p.dstDevice = reinterpret_cast<uint64_t>(work.to);
  p.srcPitch = work.from_pitch, p.dstPitch = work.to_pitch;
  p.srcHeight = work.from_pitch ? work.from_layer / work.from_pitch : 0;
  p.dstHeight = work.to_pitch ? work.to_layer / work.to_pitch : 0;
  p.WidthInBytes = work.width, p.Height = work.height, p.Depth = work.depth;
  return p;
}

CUDA_MEMSET_NODE_PARAMS set_params(const GraphNode& node) {
  const auto& w = content<SetWork>(node);
  return {reinterpret_cast<uint64_t>(w.to), w.pitch, w.value, w.element, w.width, w.height};
}

template <class Task>
const Task& task_in(const GraphNode& node) {
  return dynamic_cast<const Task&>(*content<SpecialWork>(node).task);
}

void read_special(GraphNode& node, CUgraphNodeParams& p) {
  switch (node.type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      p.alloc = task_in<AllocTask>(node).params;
      return;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      p.free.dptr = task_in<GraphFreeTask>(node).address;
      return;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      p.memOp = task_in<BatchTask>(node).params();
      return;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      p.extSemSignal = task_in<SignalTask>(node).params();
      return;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      p.extSemWait = task_in<SemaphoreWaitTask>(node).params();
      return;
    default:
      p.conditional = params_of(task_in<ConditionalTask>(node), node.body_handles);
  }
}

void read_params(GraphNode& node, CUgraphNodeParams& p) {
  switch (p.type = node.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      p.kernel = kernel_params(node);
      return;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      p.memcpy.copyParams = copy_params(node);
      return;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      p.memset.params = set_params(node);
      return;
    case CU_GRAPH_NODE_TYPE_HOST:
      p.host = {content<HostWork>(node).function, content<HostWork>(node).data};
      return;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      // The child stays the node's: as documented, what is read cannot be given to a new node.
      p.graph.graph = as_handle<CUgraph>(node.child->handle), p.graph.ownership = -1;
      return;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      p.event.event = as_handle<CUevent>(content<RecordWork>(node).event);
      return;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      p.event.event = as_handle<CUevent>(content<WaitWork>(node).event);
      return;
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return;
    default:
      read_special(node, p);
  }
}

void add_child(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
               CUgraph child) {
  require(out);
  auto owner = graph_of(graph), inner = graph_of(child);
  require(owner != inner);
  auto before = read_nodes(after, count, *owner);
  auto node = owner->add(CU_GRAPH_NODE_TYPE_GRAPH, EmptyWork{}, std::move(before));
  node->child = clone_graph(*inner);
  node->child->owned = true;
  *out = as_handle<CUgraphNode>(node->handle);
}

void add_any(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
             const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* p) {
  require(p && out);
  check_edge_data(edges, count);
  if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) {
    add_child(out, graph, after, count, p->graph.graph);
  } else if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    *out = as_handle<CUgraphNode>(add_conditional(graph, after, count, p->conditional)->handle);
  } else if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    add(out, graph, after, count, alloc_work(&p->alloc));
  } else {
    add(out, graph, after, count, work_of(p));
  }
  auto node = node_of(*out);
  for (size_t i = 0; edges && i < count; ++i)
    set_edge_data(*node, node_of(after[i]).get(), edges[i]);
}

}  // namespace

AW_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                        size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphAddKernelNode">(
      [&] { add(out, graph, after, count, kernel_work(first_version(params), false)); });
}

AW_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph,
                                           const CUgraphNode* after, size_t count,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphAddKernelNode_v2">(
      [&] { add(out, graph, after, count, kernel_work(second_version(params), true)); });
}

AW_EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphKernelNodeGetParams">([&] {
    require(params);
    CUDA_KERNEL_NODE_PARAMS p = kernel_params(*node_of(node));
    memcpy(static_cast<void*>(params), &p, offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
  });
}

AW_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node,
                                                 CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphKernelNodeGetParams_v2">([&] {
    require(params);
    *params = kernel_params(*node_of(node));
  });
}

AW_EXPORT CUresult cuGraphKernelNodeSetParams(CUgraphNode node,
                                              const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphKernelNodeSetParams">(
      [&] { replace(node, CU_GRAPH_NODE_TYPE_KERNEL, kernel_work(first_version(params), false)); });
}

AW_EXPORT CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                                 const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphKernelNodeSetParams_v2">(
      [&] { replace(node, CU_GRAPH_NODE_TYPE_KERNEL, kernel_work(second_version(params), true)); });
}

AW_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                        size_t count, const CUDA_MEMCPY3D* params,
                                        CUcontext context) {
  return api<"cuGraphAddMemcpyNode">([&] {
    if (context) context_of(context);
    add(out, graph, after, count, copy_work(params));
  });
}

AW_EXPORT CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  return api<"cuGraphMemcpyNodeGetParams">([&] {
    require(params);
    *params = copy_params(*node_of(node));
  });
}

AW_EXPORT CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return api<"cuGraphMemcpyNodeSetParams">(
      [&] { replace(node, CU_GRAPH_NODE_TYPE_MEMCPY, copy_work(params)); });
}

AW_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                        size_t count, const CUDA_MEMSET_NODE_PARAMS* params,
                                        CUcontext context) {
  return api<"cuGraphAddMemsetNode">([&] {
    if (context) context_of(context);
    add(out, graph, after, count, set_work(params));
  });
}

AW_EXPORT CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  return api<"cuGraphMemsetNodeGetParams">([&] {
    require(params);
    *params = set_params(*node_of(node));
  });
}

AW_EXPORT CUresult cuGraphMemsetNodeSetParams(CUgraphNode node,
                                              const CUDA_MEMSET_NODE_PARAMS* params) {
  return api<"cuGraphMemsetNodeSetParams">(
      [&] { replace(node, CU_GRAPH_NODE_TYPE_MEMSET, set_work(params)); });
}

AW_EXPORT CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  return api<"cuGraphAddHostNode">([&] { add(out, graph, after, count, host_work(params)); });
}

AW_EXPORT CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  return api<"cuGraphHostNodeGetParams">([&] {
    require(params);
    auto found = node_of(node);
    const auto& work = content<HostWork>(*found);
    *params = {work.function, work.data};
  });
}

AW_EXPORT CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return api<"cuGraphHostNodeSetParams">(
      [&] { replace(node, CU_GRAPH_NODE_TYPE_HOST, host_work(params)); });
}

AW_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                       size_t count) {
  return api<"cuGraphAddEmptyNode">([&] { add(out, graph, after, count, EmptyWork{}); });
}

AW_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph,
                                            const CUgraphNode* after, size_t count, CUgraph child) {
  return api<"cuGraphAddChildGraphNode">([&] { add_child(out, graph, after, count, child); });
}

AW_EXPORT CUresult cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph,
                                             const CUgraphNode* after, size_t count,
                                             CUevent event) {
  return api<"cuGraphAddEventRecordNode">(
      [&] { add(out, graph, after, count, event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event)); });
}

AW_EXPORT CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return api<"cuGraphEventRecordNodeGetEvent">([&] {
    require(event);
    *event = as_handle<CUevent>(content<RecordWork>(*node_of(node)).event);
  });
}

AW_EXPORT CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return api<"cuGraphEventRecordNodeSetEvent">([&] {
    replace(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
            event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
  });
}

AW_EXPORT CUresult cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph,
                                           const CUgraphNode* after, size_t count, CUevent event) {
  return api<"cuGraphAddEventWaitNode">(
      [&] { add(out, graph, after, count, event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event)); });
}

AW_EXPORT CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return api<"cuGraphEventWaitNodeGetEvent">([&] {
    require(event);
    *event = as_handle<CUevent>(content<WaitWork>(*node_of(node)).event);
  });
}

AW_EXPORT CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return api<"cuGraphEventWaitNodeSetEvent">([&] {
    replace(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
  });
}

AW_EXPORT CUresult cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                  size_t count, CUgraphNodeParams* params) {
  return api<"cuGraphAddNode">([&] { add_any(out, graph, after, nullptr, count, params); });
}

AW_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* edges, size_t count,
                                     CUgraphNodeParams* params) {
  return api<"cuGraphAddNode_v2">([&] { add_any(out, graph, after, edges, count, params); });
}

// The parameters of version 3 say more about kinds of work that exist elsewhere; those that exist
// here are the same.
AW_EXPORT CUresult cuGraphAddNode_v3(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     const CUgraphEdgeData* edges, size_t count,
                                     CUgraphNodeParams* params) {
  return api<"cuGraphAddNode_v3">([&] { add_any(out, graph, after, edges, count, params); });
}

AW_EXPORT CUresult cuGraphNodeGetParams(CUgraphNode handle, CUgraphNodeParams* params) {
  return api<"cuGraphNodeGetParams">([&] {
    require(params);
    auto node = node_of(handle);
    CUgraphNodeParams p = {};
    read_params(*node, p);
    *params = p;
  });
}

AW_EXPORT CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return api<"cuGraphNodeSetParams">(
      [&] { replace(node, params ? params->type : CU_GRAPH_NODE_TYPE_EMPTY, work_of(params)); });
}

AW_EXPORT CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams* params) {
  return api<"cuGraphNodeSetParams_v2">([&] { return cuGraphNodeSetParams(node, params); });
}
