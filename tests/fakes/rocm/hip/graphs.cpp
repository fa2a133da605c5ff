// Graphs: nodes and edges, what capture makes of work, instantiation, and a launch as work whose
// order is the edges' alone.
#include <algorithm>
#include <cstring>

#include "world.h"

namespace fake {

struct Node : Object {
  Graph* graph = nullptr;
  Captured what;
  std::vector<Node*> after;
  Graph* child = nullptr;
  hipMemAllocNodeParams allocation{};
  void* freed = nullptr;
  Node* original = nullptr;  // of a clone
};

struct Graph : Object {
  std::vector<Node*> nodes;
  bool is_child = false;
};

struct Exec : Object {
  Graph* graph = nullptr;  // a copy
  std::map<Node*, Node*> copy_of;
  std::set<Node*> disabled;
  WorkRef last;
  unsigned long long flags = 0;
};

static Graph* copy_graph(Graph* from, std::map<Node*, Node*>* places) {
  auto* made = create<Graph>("graph");
  std::map<Node*, Node*> map;
  for (Node* each : from->nodes) {
    auto* node = create<Node>("node");
    node->graph = made;
    node->what = each->what;
    node->allocation = each->allocation;
    node->freed = each->freed;
    node->original = each;
    if (each->child) node->child = copy_graph(each->child, places);
    map[each] = node;
    made->nodes.push_back(node);
  }
  for (Node* each : from->nodes)
    for (Node* before : each->after) map[each]->after.push_back(map[before]);
  if (places) places->insert(map.begin(), map.end());
  return made;
}

static Node* add(Graph* graph, const Captured& what, const std::vector<Node*>& after) {
  auto* made = create<Node>("node");
  made->graph = graph;
  made->what = what;
  made->after = after;
  graph->nodes.push_back(made);
  return made;
}

void capture(Stream* stream, const Captured& what) {
  Node* made = add(stream->graph, what, stream->ends);
  stream->ends = {made};
}

bool reaches(const std::vector<Node*>& from, const std::vector<Node*>& all) {
  std::set<Node*> seen;
  std::vector<Node*> open = from;
  while (!open.empty()) {
    Node* at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    open.insert(open.end(), at->after.begin(), at->after.end());
  }
  return std::all_of(all.begin(), all.end(), [&](Node* each) { return seen.count(each) != 0; });
}

static bool has_cycle(Graph* graph) {
  std::map<Node*, size_t> open;
  size_t left = graph->nodes.size();
  for (bool again = true; again;) {
    again = false;
    for (Node* each : graph->nodes) {
      if (open.count(each)) continue;
      if (!std::all_of(each->after.begin(), each->after.end(),
                       [&](Node* before) { return open.count(before) != 0; }))
        continue;
      open[each] = 1;
      --left;
      again = true;
    }
  }
  return left != 0;
}

// Gives a stream all nodes, each waiting only for what its edges say; returns what is last.
static std::vector<WorkRef> submit_nodes(Graph* graph, Stream* stream,
                                         const std::vector<WorkRef>& start,
                                         const std::set<Node*>& disabled) {
  std::map<Node*, std::vector<WorkRef>> ends;
  std::vector<WorkRef> all;
  std::vector<Node*> left = graph->nodes;
  while (!left.empty()) {
    for (size_t i = 0; i < left.size();) {
      Node* node = left[i];
      if (!std::all_of(node->after.begin(), node->after.end(),
                       [&](Node* before) { return ends.count(before) != 0; })) {
        ++i;
        continue;
      }
      std::vector<WorkRef> after = start;
      for (Node* before : node->after)
        after.insert(after.end(), ends[before].begin(), ends[before].end());
      if (node->child) {
        ends[node] = submit_nodes(node->child, stream, after, disabled);
        if (ends[node].empty()) ends[node] = after;
      } else {
        bool off = disabled.count(node) != 0;
        WorkRef before = stream->last;
        stream->last = nullptr;  // only the edges order it
        WorkRef work =
            submit(stream, "graph node", off ? std::function<void()>() : node->what.run, after);
        stream->last = before;
        if (node->what.event && node->what.type == hipGraphNodeTypeEventRecord)
          node->what.event->work = work;
        if (node->what.event && node->what.type == hipGraphNodeTypeWaitEvent &&
            node->what.event->work)
          work->after.push_back(node->what.event->work);
        if (node->what.type == hipGraphNodeTypeKernel && !off) {
          work->module = node->what.launch.function->module;
          note_launch(node->what.launch, stream, work->number, "launch");
        }
        ends[node] = {work};
        all.push_back(work);
      }
      all.insert(all.end(), ends[node].begin(), ends[node].end());
      left.erase(left.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return all;
}

}  // namespace fake

using namespace fake;

#define GRAPH(name, handle)                  \
  Lock lock = lock_world();                  \
  auto* name = find<Graph>(handle, "graph"); \
  if (!name) return done(hipErrorInvalidValue)
#define NODE(name, handle)                 \
  Lock lock = lock_world();                \
  auto* name = find<Node>(handle, "node"); \
  if (!name) return done(hipErrorInvalidValue)

static hipError_t add_node(hipGraphNode_t* out, hipGraph_t handle, const hipGraphNode_t* after,
                           size_t count, const Captured& what, Node** made = nullptr) {
  GRAPH(graph, handle);
  if (!out || (count && !after)) return done(hipErrorInvalidValue);
  std::vector<Node*> before;
  for (size_t i = 0; i < count; ++i) {
    auto* each = find<Node>(after[i], "node");
    if (!each || each->graph != graph) return done(hipErrorInvalidValue);
    if (std::count(before.begin(), before.end(), each)) return done(hipErrorInvalidValue);
    before.push_back(each);
  }
  Node* node = add(graph, what, before);
  if (made) *made = node;
  *out = reinterpret_cast<hipGraphNode_t>(node);
  return done(hipSuccess);
}

HIP(hipGraphCreate)(hipGraph_t* out, unsigned flags) {
  Lock lock = lock_world();
  if (!out || flags) return done(hipErrorInvalidValue);
  *out = reinterpret_cast<hipGraph_t>(create<Graph>("graph"));
  return done(hipSuccess);
}
HIP(hipGraphDestroy)(hipGraph_t handle) {
  GRAPH(graph, handle);
  graph->alive = false;
  for (Node* each : graph->nodes) each->alive = false;
  return done(hipSuccess);
}
HIP(hipGraphClone)(hipGraph_t* out, hipGraph_t handle) {
  GRAPH(graph, handle);
  if (!out) return done(hipErrorInvalidValue);
  *out = reinterpret_cast<hipGraph_t>(copy_graph(graph, nullptr));
  return done(hipSuccess);
}
HIP(hipGraphNodeFindInClone)(hipGraphNode_t* out, hipGraphNode_t original, hipGraph_t clone) {
  GRAPH(graph, clone);
  for (Node* each : graph->nodes)
    if (out && reinterpret_cast<hipGraphNode_t>(each->original) == original)
      return *out = reinterpret_cast<hipGraphNode_t>(each), done(hipSuccess);
  return done(hipErrorInvalidValue);
}
HIP(hipGraphDestroyNode)(hipGraphNode_t handle) {
  NODE(node, handle);
  auto& all = node->graph->nodes;
  all.erase(std::find(all.begin(), all.end(), node));
  for (Node* each : all)
    each->after.erase(std::remove(each->after.begin(), each->after.end(), node), each->after.end());
  node->alive = false;
  return done(hipSuccess);
}
HIP(hipGraphAddEmptyNode)(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after,
                          size_t count) {
  return add_node(out, graph, after, count, {});
}
HIP(hipGraphAddHostNode)(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after,
                         size_t count, const hipHostNodeParams* p) {
  if (!p || !p->fn) return done(hipErrorInvalidValue);
  Captured what;
  what.type = hipGraphNodeTypeHost;
  what.host = *p;
  what.run = [q = *p] { run_host_function([&] { q.fn(q.userData); }); };
  return add_node(out, graph, after, count, what);
}

static hipError_t launch_of(const hipKernelNodeParams* p, Captured* what) {
  if (!p) return hipErrorInvalidValue;
  auto* function = find<Function>(p->func, "function");
  if (!function) return hipErrorInvalidDeviceFunction;
  Launch launch;
  launch.function = function;
  const dim3 &g = p->gridDim, &b = p->blockDim;
  uint32_t grid[3] = {g.x, g.y, g.z}, block[3] = {b.x, b.y, b.z};
  std::copy_n(grid, 3, launch.grid);
  std::copy_n(block, 3, launch.block);
  launch.shared = p->sharedMemBytes;
  if (hipError_t bad =
          check_launch(launch, function->module->device->null_stream, p->kernelParams, p->extra))
    return bad;
  what->type = hipGraphNodeTypeKernel;
  what->launch = launch;
  what->run = [launch] { perform(launch); };
  return hipSuccess;
}
HIP(hipGraphAddKernelNode)(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after,
                           size_t count, const hipKernelNodeParams* p) {
  Captured what;
  Lock lock = lock_world();
  if (hipError_t bad = launch_of(p, &what)) return done(bad);
  return add_node(out, graph, after, count, what);
}

template <typename P>
static hipError_t copy_node(const P* p, Captured* what) {
  if (!p) return hipErrorInvalidValue;
  if (hipError_t bad = shape_of(*p, &what->shape)) return bad;
  if (hipError_t bad = check_shape(what->shape)) return bad;
  what->type = hipGraphNodeTypeMemcpy;
  what->run = [shape = what->shape] { perform(shape); };
  return hipSuccess;
}
static hipMemcpy3DParms flat(void* to, const void* from, size_t size, hipMemcpyKind kind) {
  hipMemcpy3DParms p{};
  p.dstPtr = {to, size, size, 1};
  p.srcPtr = {const_cast<void*>(from), size, size, 1};
  p.extent = {size, 1, 1};
  p.kind = kind;
  return p;
}
static hipError_t fill_node(const hipMemsetParams* p, Captured* what) {
  if (!p) return hipErrorInvalidValue;
  what->fill = {
      static_cast<char*>(p->dst), p->value, p->elementSize, p->width, p->height, p->pitch};
  if (hipError_t bad = check_fill(what->fill)) return bad;
  what->type = hipGraphNodeTypeMemset;
  what->run = [fill = what->fill] { perform(fill); };
  return hipSuccess;
}
template <typename Make>
static hipError_t add_made(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after,
                           size_t count, Make make) {
  Captured what;
  Lock lock = lock_world();
  if (hipError_t bad = make(&what)) return done(bad);
  return add_node(out, graph, after, count, what);
}
HIP(hipGraphAddMemcpyNode)(hipGraphNode_t* o, hipGraph_t g, const hipGraphNode_t* a, size_t n,
                           const hipMemcpy3DParms* p) {
  return add_made(o, g, a, n, [&](Captured* what) { return copy_node(p, what); });
}
HIP(hipDrvGraphAddMemcpyNode)(hipGraphNode_t* o, hipGraph_t g, const hipGraphNode_t* a, size_t n,
                              const HIP_MEMCPY3D* p, hipCtx_t) {
  return add_made(o, g, a, n, [&](Captured* what) { return copy_node(p, what); });
}
HIP(hipGraphAddMemcpyNode1D)(hipGraphNode_t* o, hipGraph_t g, const hipGraphNode_t* a, size_t n,
                             void* to, const void* from, size_t size, hipMemcpyKind kind) {
  hipMemcpy3DParms p = flat(to, from, size, kind);
  return impl_hipGraphAddMemcpyNode(o, g, a, n, &p);
}
HIP(hipGraphAddMemsetNode)(hipGraphNode_t* o, hipGraph_t g, const hipGraphNode_t* a, size_t n,
                           const hipMemsetParams* p) {
  return add_made(o, g, a, n, [&](Captured* what) { return fill_node(p, what); });
}
HIP(hipDrvGraphAddMemsetNode)(hipGraphNode_t* o, hipGraph_t g, const hipGraphNode_t* a, size_t n,
                              const hipMemsetParams* p, hipCtx_t) {
  return impl_hipGraphAddMemsetNode(o, g, a, n, p);
}
HIP(hipGraphAddChildGraphNode)(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after,
                               size_t count, hipGraph_t child) {
  Lock lock = lock_world();
  auto* inner = find<Graph>(child, "graph");
  if (!inner) return done(hipErrorInvalidValue);
  Captured what;
  what.type = hipGraphNodeTypeGraph;
  Node* made = nullptr;
  hipError_t status = add_node(out, graph, after, count, what, &made);
  if (made) made->child = copy_graph(inner, nullptr), made->child->is_child = true;
  return status;
}
HIP(hipGraphChildGraphNodeGetGraph)(hipGraphNode_t handle, hipGraph_t* out) {
  NODE(node, handle);
  if (!out || !node->child) return done(hipErrorInvalidValue);
  *out = reinterpret_cast<hipGraph_t>(node->child);
  return done(hipSuccess);
}
static hipError_t event_node(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after,
                             size_t count, hipEvent_t handle, hipGraphNodeType type) {
  Lock lock = lock_world();
  Captured what;
  what.type = type;
  what.event = find<Event>(handle, "event");
  if (!what.event) return done(hipErrorInvalidHandle);
  return add_node(out, graph, after, count, what);
}
HIP(hipGraphAddEventRecordNode)(hipGraphNode_t* o, hipGraph_t g, const hipGraphNode_t* a, size_t n,
                                hipEvent_t e) {
  return event_node(o, g, a, n, e, hipGraphNodeTypeEventRecord);
}
HIP(hipGraphAddEventWaitNode)(hipGraphNode_t* o, hipGraph_t g, const hipGraphNode_t* a, size_t n,
                              hipEvent_t e) {
  return event_node(o, g, a, n, e, hipGraphNodeTypeWaitEvent);
}
static hipError_t event_of(hipGraphNode_t handle, hipEvent_t* out, hipGraphNodeType type) {
  NODE(node, handle);
  if (!out || node->what.type != type) return done(hipErrorInvalidValue);
  *out = reinterpret_cast<hipEvent_t>(node->what.event);
  return done(hipSuccess);
}
static hipError_t set_event(hipGraphNode_t handle, hipEvent_t other, hipGraphNodeType type) {
  NODE(node, handle);
  auto* event = find<Event>(other, "event");
  if (!event || node->what.type != type) return done(hipErrorInvalidValue);
  node->what.event = event;
  return done(hipSuccess);
}
HIP(hipGraphEventRecordNodeGetEvent)(hipGraphNode_t n, hipEvent_t* e) {
  return event_of(n, e, hipGraphNodeTypeEventRecord);
}
HIP(hipGraphEventWaitNodeGetEvent)(hipGraphNode_t n, hipEvent_t* e) {
  return event_of(n, e, hipGraphNodeTypeWaitEvent);
}
HIP(hipGraphEventRecordNodeSetEvent)(hipGraphNode_t n, hipEvent_t e) {
  return set_event(n, e, hipGraphNodeTypeEventRecord);
}
HIP(hipGraphEventWaitNodeSetEvent)(hipGraphNode_t n, hipEvent_t e) {
  return set_event(n, e, hipGraphNodeTypeWaitEvent);
}
HIP(hipGraphAddMemAllocNode)(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after,
                             size_t count, hipMemAllocNodeParams* p) {
  Lock lock = lock_world();
  if (!p || !p->bytesize || p->poolProps.allocType != hipMemAllocationTypePinned)
    return done(hipErrorInvalidValue);
  Device* where = device(p->poolProps.location.id);
  if (!where) return done(hipErrorInvalidDevice);
  if (hipError_t bad = allocate(p->bytesize, Memory::device, where, 0, nullptr, &p->dptr))
    return done(bad);
  Captured what;
  what.type = hipGraphNodeTypeMemAlloc;
  Node* made = nullptr;
  hipError_t status = add_node(out, graph, after, count, what, &made);
  if (made) made->allocation = *p;
  return status;
}
HIP(hipGraphAddMemFreeNode)(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* after,
                            size_t count, void* address) {
  Lock lock = lock_world();
  if (hipError_t bad = check_range(address, 1, true, "a free node")) return done(bad);
  Captured what;
  what.type = hipGraphNodeTypeMemFree;
  Node* made = nullptr;
  hipError_t status = add_node(out, graph, after, count, what, &made);
  if (made) made->freed = address;
  return status;
}
HIP(hipGraphMemAllocNodeGetParams)(hipGraphNode_t handle, hipMemAllocNodeParams* out) {
  NODE(node, handle);
  if (!out || node->what.type != hipGraphNodeTypeMemAlloc) return done(hipErrorInvalidValue);
  *out = node->allocation;
  return done(hipSuccess);
}
HIP(hipGraphMemFreeNodeGetParams)(hipGraphNode_t handle, void* out) {
  NODE(node, handle);
  if (!out || node->what.type != hipGraphNodeTypeMemFree) return done(hipErrorInvalidValue);
  *static_cast<void**>(out) = node->freed;
  return done(hipSuccess);
}
HIP(hipDeviceGraphMemTrim)(int ordinal) {
  return done(device(ordinal) ? hipSuccess : hipErrorInvalidDevice);
}
HIP(hipDeviceGetGraphMemAttribute)(int ordinal, hipGraphMemAttributeType attribute, void* value) {
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  if (!value || attribute > hipGraphMemAttrReservedMemHigh) return done(hipErrorInvalidValue);
  *static_cast<uint64_t*>(value) = 0;
  return done(hipSuccess);
}
HIP(hipDeviceSetGraphMemAttribute)(int ordinal, hipGraphMemAttributeType attribute, void* value) {
  if (!device(ordinal)) return done(hipErrorInvalidDevice);
  bool high =
      attribute == hipGraphMemAttrUsedMemHigh || attribute == hipGraphMemAttrReservedMemHigh;
  return done(value && high && !*static_cast<uint64_t*>(value) ? hipSuccess : hipErrorInvalidValue);
}
HIP(hipGraphAddNode)(hipGraphNode_t* o, hipGraph_t g, const hipGraphNode_t* a, size_t n,
                     hipGraphNodeParams* p) {
  if (!p) return done(hipErrorInvalidValue);
  switch (p->type) {
    case hipGraphNodeTypeKernel:
      return impl_hipGraphAddKernelNode(o, g, a, n, &p->kernel);
    case hipGraphNodeTypeMemcpy:
      return impl_hipGraphAddMemcpyNode(o, g, a, n, &p->memcpy.copyParams);
    case hipGraphNodeTypeMemset:
      return impl_hipGraphAddMemsetNode(o, g, a, n, &p->memset);
    case hipGraphNodeTypeHost:
      return impl_hipGraphAddHostNode(o, g, a, n, &p->host);
    case hipGraphNodeTypeGraph:
      return impl_hipGraphAddChildGraphNode(o, g, a, n, p->graph.graph);
    case hipGraphNodeTypeEmpty:
      return impl_hipGraphAddEmptyNode(o, g, a, n);
    case hipGraphNodeTypeWaitEvent:
      return impl_hipGraphAddEventWaitNode(o, g, a, n, p->eventWait.event);
    case hipGraphNodeTypeEventRecord:
      return impl_hipGraphAddEventRecordNode(o, g, a, n, p->eventRecord.event);
    case hipGraphNodeTypeMemAlloc:
      return impl_hipGraphAddMemAllocNode(o, g, a, n, &p->alloc);
    case hipGraphNodeTypeMemFree:
      return impl_hipGraphAddMemFreeNode(o, g, a, n, p->free.dptr);
    default:
      return done(hipErrorNotSupported);
  }
}
HIP(hipGraphAddDependencies)(hipGraph_t handle, const hipGraphNode_t* from,
                             const hipGraphNode_t* to, size_t count) {
  GRAPH(graph, handle);
  if (count && (!from || !to)) return done(hipErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    auto *a = find<Node>(from[i], "node"), *b = find<Node>(to[i], "node");
    if (!a || !b || a == b || a->graph != graph || b->graph != graph)
      return done(hipErrorInvalidValue);
    if (std::count(b->after.begin(), b->after.end(), a)) return done(hipErrorInvalidValue);
    b->after.push_back(a);
  }
  return done(hipSuccess);
}
HIP(hipGraphRemoveDependencies)(hipGraph_t handle, const hipGraphNode_t* from,
                                const hipGraphNode_t* to, size_t count) {
  GRAPH(graph, handle);
  if (count && (!from || !to)) return done(hipErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    auto *a = find<Node>(from[i], "node"), *b = find<Node>(to[i], "node");
    if (!a || !b || a->graph != graph) return done(hipErrorInvalidValue);
    auto found = std::find(b->after.begin(), b->after.end(), a);
    if (found == b->after.end()) return done(hipErrorInvalidValue);
    b->after.erase(found);
  }
  return done(hipSuccess);
}
static hipError_t list(const std::vector<Node*>& all, hipGraphNode_t* out, size_t* count) {
  if (!count) return done(hipErrorInvalidValue);
  for (size_t i = 0; out && i < *count; ++i)
    out[i] = i < all.size() ? reinterpret_cast<hipGraphNode_t>(all[i]) : nullptr;
  *count = out ? std::min(*count, all.size()) : all.size();
  return done(hipSuccess);
}
HIP(hipGraphGetNodes)(hipGraph_t handle, hipGraphNode_t* out, size_t* count) {
  GRAPH(graph, handle);
  return list(graph->nodes, out, count);
}
HIP(hipGraphGetRootNodes)(hipGraph_t handle, hipGraphNode_t* out, size_t* count) {
  GRAPH(graph, handle);
  std::vector<Node*> roots;
  for (Node* each : graph->nodes)
    if (each->after.empty()) roots.push_back(each);
  return list(roots, out, count);
}
HIP(hipGraphNodeGetDependencies)(hipGraphNode_t handle, hipGraphNode_t* out, size_t* count) {
  NODE(node, handle);
  return list(node->after, out, count);
}
HIP(hipGraphNodeGetDependentNodes)(hipGraphNode_t handle, hipGraphNode_t* out, size_t* count) {
  NODE(node, handle);
  std::vector<Node*> found;
  for (Node* each : node->graph->nodes)
    if (std::count(each->after.begin(), each->after.end(), node)) found.push_back(each);
  return list(found, out, count);
}
HIP(hipGraphGetEdges)(hipGraph_t handle, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  GRAPH(graph, handle);
  if (!count || !from != !to) return done(hipErrorInvalidValue);
  size_t at = 0;
  for (Node* each : graph->nodes) {
    for (Node* before : each->after) {
      if (from && at < *count) {
        from[at] = reinterpret_cast<hipGraphNode_t>(before);
        to[at] = reinterpret_cast<hipGraphNode_t>(each);
      }
      ++at;
    }
  }
  *count = from ? std::min(*count, at) : at;
  return done(hipSuccess);
}
HIP(hipGraphNodeGetType)(hipGraphNode_t handle, hipGraphNodeType* out) {
  NODE(node, handle);
  if (!out) return done(hipErrorInvalidValue);
  *out = node->what.type;
  return done(hipSuccess);
}
HIP(hipGraphHostNodeGetParams)(hipGraphNode_t handle, hipHostNodeParams* out) {
  NODE(node, handle);
  if (!out || node->what.type != hipGraphNodeTypeHost) return done(hipErrorInvalidValue);
  *out = node->what.host;
  return done(hipSuccess);
}
// Of a kernel node's attributes only this one is kept; a launch of the graph says so.
HIP(hipGraphKernelNodeSetAttribute)(hipGraphNode_t handle, hipLaunchAttributeID id,
                                    const hipLaunchAttributeValue* value) {
  Lock lock = lock_world();
  auto* node = find<Node>(handle, "node");
  if (!node || !value || node->what.type != hipGraphNodeTypeKernel)
    return done(hipErrorInvalidValue);
  if (id != hipLaunchAttributeCooperative) return done(hipErrorNotSupported);
  node->what.launch.cooperative = value->cooperative != 0;
  return done(hipSuccess);
}
HIP(hipGraphKernelNodeGetAttribute)(hipGraphNode_t handle, hipLaunchAttributeID id,
                                    hipLaunchAttributeValue* value) {
  Lock lock = lock_world();
  auto* node = find<Node>(handle, "node");
  if (!node || !value || node->what.type != hipGraphNodeTypeKernel)
    return done(hipErrorInvalidValue);
  if (id != hipLaunchAttributeCooperative) return done(hipErrorNotSupported);
  value->cooperative = node->what.launch.cooperative;
  return done(hipSuccess);
}
HIP(hipGraphKernelNodeGetParams)(hipGraphNode_t handle, hipKernelNodeParams* out) {
  NODE(node, handle);
  if (!out || node->what.type != hipGraphNodeTypeKernel) return done(hipErrorInvalidValue);
  const Launch& l = node->what.launch;
  *out = {};
  out->func = l.function;
  out->gridDim.x = l.grid[0], out->gridDim.y = l.grid[1], out->gridDim.z = l.grid[2];
  out->blockDim.x = l.block[0], out->blockDim.y = l.block[1], out->blockDim.z = l.block[2];
  out->sharedMemBytes = l.shared;
  return done(hipSuccess);
}
HIP(hipGraphMemsetNodeGetParams)(hipGraphNode_t handle, hipMemsetParams* out) {
  NODE(node, handle);
  if (!out || node->what.type != hipGraphNodeTypeMemset) return done(hipErrorInvalidValue);
  const Fill& f = node->what.fill;
  *out = {f.to, f.element, f.height, f.pitch, f.value, f.width};
  return done(hipSuccess);
}

// Changes of a node and of its copy in something instantiated.
template <typename Make>
static hipError_t change(Node* node, hipGraphNodeType type, Make make) {
  if (!node || node->what.type != type) return done(hipErrorInvalidValue);
  Captured what;
  if (hipError_t bad = make(&what)) return done(bad);
  node->what = what;
  return done(hipSuccess);
}
static Node* node_of(hipGraphNode_t handle) { return find<Node>(handle, "node"); }
static Node* in_exec(hipGraphExec_t handle, hipGraphNode_t node) {
  auto* exec = find<Exec>(handle, "graph exec");
  auto* original = reinterpret_cast<Node*>(node);
  if (!exec) return nullptr;
  auto found = exec->copy_of.find(original);
  return found == exec->copy_of.end() ? nullptr : found->second;
}
static hipError_t host_change(const hipHostNodeParams* p, Captured* what) {
  if (!p || !p->fn) return hipErrorInvalidValue;
  what->type = hipGraphNodeTypeHost;
  what->host = *p;
  what->run = [q = *p] { run_host_function([&] { q.fn(q.userData); }); };
  return hipSuccess;
}
#define SETTER(plain, exec, type, P, make)                                                      \
  HIP(plain)(hipGraphNode_t node, P p) {                                                        \
    Lock lock = lock_world();                                                                   \
    return change(node_of(node), type, [&](Captured* what) { return make(p, what); });          \
  }                                                                                             \
  HIP(exec)(                                                                                    \
      hipGraphExec_t graph, hipGraphNode_t node,                                                \
      std::conditional_t<std::is_same_v<P, const hipMemcpy3DParms*>, hipMemcpy3DParms*, P> p) { \
    Lock lock = lock_world();                                                                   \
    return change(in_exec(graph, node), type, [&](Captured* what) { return make(p, what); });   \
  }
SETTER(hipGraphKernelNodeSetParams, hipGraphExecKernelNodeSetParams, hipGraphNodeTypeKernel,
       const hipKernelNodeParams*, launch_of)
SETTER(hipGraphMemcpyNodeSetParams, hipGraphExecMemcpyNodeSetParams, hipGraphNodeTypeMemcpy,
       const hipMemcpy3DParms*, copy_node)
SETTER(hipGraphMemsetNodeSetParams, hipGraphExecMemsetNodeSetParams, hipGraphNodeTypeMemset,
       const hipMemsetParams*, fill_node)
SETTER(hipGraphHostNodeSetParams, hipGraphExecHostNodeSetParams, hipGraphNodeTypeHost,
       const hipHostNodeParams*, host_change)
HIP(hipDrvGraphMemcpyNodeSetParams)(hipGraphNode_t node, const HIP_MEMCPY3D* p) {
  Lock lock = lock_world();
  return change(node_of(node), hipGraphNodeTypeMemcpy,
                [&](Captured* what) { return copy_node(p, what); });
}
HIP(hipDrvGraphExecMemcpyNodeSetParams)(hipGraphExec_t graph, hipGraphNode_t node,
                                        const HIP_MEMCPY3D* p, hipCtx_t) {
  Lock lock = lock_world();
  return change(in_exec(graph, node), hipGraphNodeTypeMemcpy,
                [&](Captured* what) { return copy_node(p, what); });
}
HIP(hipDrvGraphExecMemsetNodeSetParams)(hipGraphExec_t graph, hipGraphNode_t node,
                                        const hipMemsetParams* p, hipCtx_t) {
  return impl_hipGraphExecMemsetNodeSetParams(graph, node, p);
}
HIP(hipGraphExecEventRecordNodeSetEvent)(hipGraphExec_t graph, hipGraphNode_t node,
                                         hipEvent_t event) {
  Lock lock = lock_world();
  Node* it = in_exec(graph, node);
  return it ? set_event(reinterpret_cast<hipGraphNode_t>(it), event, hipGraphNodeTypeEventRecord)
            : done(hipErrorInvalidValue);
}
HIP(hipGraphExecEventWaitNodeSetEvent)(hipGraphExec_t graph, hipGraphNode_t node,
                                       hipEvent_t event) {
  Lock lock = lock_world();
  Node* it = in_exec(graph, node);
  return it ? set_event(reinterpret_cast<hipGraphNode_t>(it), event, hipGraphNodeTypeWaitEvent)
            : done(hipErrorInvalidValue);
}
HIP(hipGraphExecChildGraphNodeSetParams)(hipGraphExec_t graph, hipGraphNode_t node,
                                         hipGraph_t child) {
  Lock lock = lock_world();
  Node* it = in_exec(graph, node);
  auto* inner = find<Graph>(child, "graph");
  if (!it || !it->child || !inner || inner->nodes.size() != it->child->nodes.size())
    return done(hipErrorInvalidValue);
  it->child = copy_graph(inner, nullptr);
  return done(hipSuccess);
}

HIP(hipGraphInstantiateWithFlags)(hipGraphExec_t* out, hipGraph_t handle,
                                  unsigned long long flags) {
  GRAPH(graph, handle);
  if (!out || flags & ~15ull) return done(hipErrorInvalidValue);
  if (has_cycle(graph)) return done(hipErrorInvalidValue);
  auto* made = create<Exec>("graph exec");
  made->graph = copy_graph(graph, &made->copy_of);
  made->flags = flags;
  *out = reinterpret_cast<hipGraphExec_t>(made);
  return done(hipSuccess);
}
HIP(hipGraphInstantiate)(hipGraphExec_t* out, hipGraph_t graph, hipGraphNode_t* bad, char* log,
                         size_t size) {
  if (bad) *bad = nullptr;
  if (log && size) *log = 0;
  return impl_hipGraphInstantiateWithFlags(out, graph, 0);
}
HIP(hipGraphInstantiateWithParams)(hipGraphExec_t* out, hipGraph_t graph,
                                   hipGraphInstantiateParams* p) {
  if (!p) return done(hipErrorInvalidValue);
  hipError_t status = impl_hipGraphInstantiateWithFlags(
      out, graph, p->flags & ~uint64_t{hipGraphInstantiateFlagUpload});
  p->result_out = status == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
  p->errNode_out = nullptr;
  return status;
}
HIP(hipGraphExecDestroy)(hipGraphExec_t handle) {
  Lock lock = lock_world();
  auto* exec = find<Exec>(handle, "graph exec");
  if (!exec) return done(hipErrorInvalidValue);
  exec->alive = false;
  return done(hipSuccess);
}
HIP(hipGraphExecGetFlags)(hipGraphExec_t handle, unsigned long long* out) {
  Lock lock = lock_world();
  auto* exec = find<Exec>(handle, "graph exec");
  return exec && out ? (*out = exec->flags, done(hipSuccess)) : done(hipErrorInvalidValue);
}
HIP(hipGraphUpload)(hipGraphExec_t handle, hipStream_t where) {
  hipError_t status;
  Lock lock = lock_world();
  if (!find<Exec>(handle, "graph exec")) return done(hipErrorInvalidValue);
  return done(stream_of(where, &status) ? hipSuccess : status);
}
HIP(hipGraphLaunch)(hipGraphExec_t handle, hipStream_t where) {
  WorkRef last;
  {
    hipError_t status;
    Lock lock = lock_world();
    auto* exec = find<Exec>(handle, "graph exec");
    if (!exec) return done(hipErrorInvalidValue);
    Stream* stream = stream_of(where, &status);
    if (!stream) return done(status);
    std::vector<WorkRef> before;
    if (exec->last) before.push_back(exec->last);
    WorkRef begin = submit(stream, "graph begins", nullptr, before);
    std::vector<WorkRef> all = submit_nodes(exec->graph, stream, {begin}, exec->disabled);
    last = submit(stream, "graph ends", nullptr, all);
    exec->last = last;
  }
  follow(last);
  return done(hipSuccess);
}
HIP(hipGraphLaunch_spt)(hipGraphExec_t handle, hipStream_t where) {
  return impl_hipGraphLaunch(handle, where ? where : hipStreamPerThread);
}
HIP(hipGraphNodeSetEnabled)(hipGraphExec_t handle, hipGraphNode_t node, unsigned on) {
  Lock lock = lock_world();
  Node* it = in_exec(handle, node);
  if (!it) return done(hipErrorInvalidValue);
  auto& disabled = reinterpret_cast<Exec*>(handle)->disabled;
  if (on)
    disabled.erase(it);
  else
    disabled.insert(it);
  return done(hipSuccess);
}
HIP(hipGraphNodeGetEnabled)(hipGraphExec_t handle, hipGraphNode_t node, unsigned* out) {
  Lock lock = lock_world();
  Node* it = in_exec(handle, node);
  if (!it || !out) return done(hipErrorInvalidValue);
  *out = !reinterpret_cast<Exec*>(handle)->disabled.count(it);
  return done(hipSuccess);
}
HIP(hipGraphExecUpdate)(hipGraphExec_t handle, hipGraph_t other, hipGraphNode_t* bad,
                        hipGraphExecUpdateResult* result) {
  Lock lock = lock_world();
  auto* exec = find<Exec>(handle, "graph exec");
  auto* graph = find<Graph>(other, "graph");
  if (!exec || !graph || !result) return done(hipErrorInvalidValue);
  if (bad) *bad = nullptr;
  auto& mine = exec->graph->nodes;
  *result = hipGraphExecUpdateErrorTopologyChanged;
  if (mine.size() != graph->nodes.size()) return done(hipErrorGraphExecUpdateFailure);
  for (size_t i = 0; i < mine.size(); ++i) {
    if (mine[i]->after.size() != graph->nodes[i]->after.size())
      return done(hipErrorGraphExecUpdateFailure);
    if (mine[i]->what.type == graph->nodes[i]->what.type) continue;
    *result = hipGraphExecUpdateErrorNodeTypeChanged;
    if (bad) *bad = reinterpret_cast<hipGraphNode_t>(graph->nodes[i]);
    return done(hipErrorGraphExecUpdateFailure);
  }
  for (size_t i = 0; i < mine.size(); ++i) {
    mine[i]->what = graph->nodes[i]->what;
    exec->copy_of[graph->nodes[i]] = mine[i];
  }
  *result = hipGraphExecUpdateSuccess;
  return done(hipSuccess);
}
