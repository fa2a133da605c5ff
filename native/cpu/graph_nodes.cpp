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
#include "cuda/node_params.h"

namespace aw {

Work kernel_work(const CUDA_KERNEL_NODE_PARAMS& p) {
  auto function = function_of(p.func ? p.func : reinterpret_cast<CUfunction>(p.kern));
  if (auto context = function->context.lock()) context->check();
  return plan_launch(function, request_of(p));
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
  if (std::holds_alternative<KernelWork>(work) || std::holds_alternative<NativeWork>(work))
    return CU_GRAPH_NODE_TYPE_KERNEL;
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

namespace {

// The work of a node whose parameters `make` takes in an earlier version than CUgraphNodeParams
// has.
template <class Version, class Later>
Work read_as(const Later& params, Work (*make)(const Version*)) {
  auto version = as_version<Version>(params);
  return make(&version);
}

}  // namespace

Work work_of(const CUgraphNodeParams* p) {
  require(p);
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return kernel_work(as_version<CUDA_KERNEL_NODE_PARAMS>(p->kernel));
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return copy_work(&p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return read_as<CUDA_MEMSET_NODE_PARAMS>(p->memset, set_work);
    case CU_GRAPH_NODE_TYPE_HOST:
      return read_as<CUDA_HOST_NODE_PARAMS>(p->host, host_work);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return EmptyWork{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return event_work(p->type, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return event_work(p->type, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return free_work(p->free.dptr);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return read_as<CUDA_BATCH_MEM_OP_NODE_PARAMS>(p->memOp, batch_work);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      return read_as<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>(p->extSemSignal, signal_work);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      return read_as<CUDA_EXT_SEM_WAIT_NODE_PARAMS>(p->extSemWait, wait_work);
    default:
      throw Failure(CUDA_ERROR_NOT_SUPPORTED,
                    "graph nodes of type " + std::to_string(p->type) + " are not supported yet");
  }
}

std::shared_ptr<GraphNode> add_node(CUgraph graph, const CUgraphNode* after, size_t count,
                                    Work work) {
  auto owner = graph_of(graph);
  CUgraphNodeType type = type_of(work);
  require(!owner->moved ||
          (type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && type != CU_GRAPH_NODE_TYPE_MEM_FREE));
  auto before = read_nodes(after, count, *owner);
  return owner->add(type, std::move(work), std::move(before));
}

void replace_work(CUgraphNode handle, CUgraphNodeType type, Work work) {
  auto node = node_of(handle);
  require(node->type == type);
  std::lock_guard lock(node->graph->mutex);
  node->work = std::make_shared<const Work>(std::move(work));
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
  write_shape(work.grid, work.block, p);
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
      p.alloc = as_version<CUDA_MEM_ALLOC_NODE_PARAMS_v2>(task_in<AllocTask>(node).params);
      return;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      p.free.dptr = task_in<GraphFreeTask>(node).address;
      return;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      p.memOp = as_version<CUDA_BATCH_MEM_OP_NODE_PARAMS_v2>(task_in<BatchTask>(node).params());
      return;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
      p.extSemSignal =
          as_version<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2>(task_in<SignalTask>(node).params());
      return;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      p.extSemWait =
          as_version<CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2>(task_in<SemaphoreWaitTask>(node).params());
      return;
    default:
      p.conditional = params_of(task_in<ConditionalTask>(node), node.body_handles);
  }
}

void read_params(GraphNode& node, CUgraphNodeParams& p) {
  switch (p.type = node.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      p.kernel = as_version<CUDA_KERNEL_NODE_PARAMS_v3>(kernel_params(node));
      return;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      p.memcpy.copyParams = copy_params(node);
      return;
    case CU_GRAPH_NODE_TYPE_MEMSET:
      p.memset = as_version<CUDA_MEMSET_NODE_PARAMS_v2>(set_params(node));
      return;
    case CU_GRAPH_NODE_TYPE_HOST:
      p.host.fn = content<HostWork>(node).function, p.host.userData = content<HostWork>(node).data;
      return;
    case CU_GRAPH_NODE_TYPE_GRAPH:
      // The child stays the node's: as documented, what is read cannot be given to a new node.
      p.graph.graph = as_handle<CUgraph>(node.child->handle);
      p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID;
      return;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      p.eventRecord.event = as_handle<CUevent>(content<RecordWork>(node).event);
      return;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      p.eventWait.event = as_handle<CUevent>(content<WaitWork>(node).event);
      return;
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return;
    default:
      read_special(node, p);
  }
}

bool contains(const Graph& graph, const Graph& sought) {
  auto is_in = [&](const std::shared_ptr<Graph>& inner) {
    return inner && (inner.get() == &sought || contains(*inner, sought));
  };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](auto& node) {
    return is_in(node->child) || std::any_of(node->bodies.begin(), node->bodies.end(), is_in);
  });
}

void set_root(Graph& graph, uintptr_t root) {
  graph.root = root;
  for (auto& node : graph.nodes) {
    if (node->child && node->child->moved) set_root(*node->child, root);
    for (auto& body : node->bodies) set_root(*body, root);
  }
}

// The graph with its handles becomes the owner's; so do its conditions, which each launch resets.
void move_into(Graph& owner, const std::shared_ptr<Graph>& inner) {
  inner->owned = inner->moved = true;
  auto root = graph_of(reinterpret_cast<CUgraph>(owner.root));
  set_root(*inner, owner.root);
  std::lock_guard lock(root->mutex);
  root->conditionals.insert(root->conditionals.end(), inner->conditionals.begin(),
                            inner->conditionals.end());
}

void add_child(CUgraphNode* out, CUgraph graph, const CUgraphNode* after, size_t count,
               CUgraph child,
               CUgraphChildGraphNodeOwnership ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) {
  require(out);
  bool moves = ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
  require(moves || ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE);
  auto owner = graph_of(graph), inner = graph_of(child);
  require(owner != inner && !inner->moved);
  if (moves) require(!inner->owned && !contains(*inner, *owner));
  auto before = read_nodes(after, count, *owner);
  auto node = owner->add(CU_GRAPH_NODE_TYPE_GRAPH, EmptyWork{}, std::move(before));
  if (moves) {
    move_into(*owner, inner);
    node->child = inner;
  } else {
    node->child = clone_graph(*inner);
    node->child->owned = true;
  }
  *out = as_handle<CUgraphNode>(node->handle);
}

void add_any(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
             const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* p) {
  require(p && out);
  check_edge_data(edges, count);
  if (p->type == CU_GRAPH_NODE_TYPE_GRAPH) {
    add_child(out, graph, after, count, p->graph.graph, p->graph.ownership);
  } else if (p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
    *out = as_handle<CUgraphNode>(add_conditional(graph, after, count, p->conditional)->handle);
  } else if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    auto params = as_version<CUDA_MEM_ALLOC_NODE_PARAMS>(p->alloc);
    add(out, graph, after, count, alloc_work(&params));
    p->alloc = as_version<CUDA_MEM_ALLOC_NODE_PARAMS_v2>(params);
  } else {
    add(out, graph, after, count, work_of(p));
  }
  auto node = node_of(*out);
  for (size_t i = 0; edges && i < count; ++i)
    set_edge_data(*node, node_of(after[i]).get(), edges[i]);
}

}  // namespace

AW_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                        size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return api<"cuGraphAddKernelNode">(
      [&] { add(out, graph, after, count, kernel_work(any_version(params))); });
}

AW_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph,
                                           const CUgraphNode* after, size_t count,
                                           const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphAddKernelNode_v2">(
      [&] { add(out, graph, after, count, kernel_work(any_version(params))); });
}

AW_EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode node,
                                              CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return api<"cuGraphKernelNodeGetParams">([&] {
    require(params);
    *params = as_version<CUDA_KERNEL_NODE_PARAMS_v1>(kernel_params(*node_of(node)));
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
                                              const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return api<"cuGraphKernelNodeSetParams">(
      [&] { replace(node, CU_GRAPH_NODE_TYPE_KERNEL, kernel_work(any_version(params))); });
}

AW_EXPORT CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                                 const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphKernelNodeSetParams_v2">(
      [&] { replace(node, CU_GRAPH_NODE_TYPE_KERNEL, kernel_work(any_version(params))); });
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
