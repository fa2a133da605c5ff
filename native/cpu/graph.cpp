// Driver API reference: graph management, structure: nodes, edges, clones.
#include "cpu/graph.h"

#include <algorithm>
#include <cstring>

#include "core/activity_resources.h"
#include "cpu/user_object.h"

namespace aw {

Graph::~Graph() {
  for (auto& node : nodes) {
    graph_nodes().remove(node->handle);
    if (node->child) graphs().remove(node->child->handle);
    for (auto& body : node->bodies) graphs().remove(body->handle);
  }
}

Handles<Graph>& graphs() {
  static auto& instance = *new Handles<Graph>;
  return instance;
}

Handles<GraphNode>& graph_nodes() {
  static auto& instance = *new Handles<GraphNode>;
  return instance;
}

std::shared_ptr<Graph> graph_of(CUgraph handle) {
  auto graph = graphs().find(handle);
  require(graph != nullptr);
  return graph;
}

std::shared_ptr<GraphNode> node_of(CUgraphNode handle) {
  auto node = graph_nodes().find(handle);
  require(node != nullptr);
  return node;
}

std::shared_ptr<Graph> new_graph() {
  auto graph = std::make_shared<Graph>();
  graph->id = next_graph_id();
  graph->root = graph->handle = graphs().add(graph);
  tell_of(AW_RESOURCE_GRAPH, graph->handle, false);
  return graph;
}

unsigned next_graph_id() {
  static std::atomic<unsigned> next{1};
  return next++;
}

void destroy_graph(Graph& graph) {
  tell_of(AW_RESOURCE_GRAPH, graph.handle, true);
  graphs().remove(graph.handle);
}

std::shared_ptr<GraphNode> Graph::add(CUgraphNodeType type, Work content,
                                      std::vector<GraphNode*> after) {
  auto node = std::make_shared<GraphNode>();
  node->type = type;
  node->work = std::make_shared<const Work>(std::move(content));
  node->after = std::move(after);
  node->graph = this;
  node->handle = graph_nodes().add(node);
  std::lock_guard lock(mutex);
  node->local_id = next_local_id++;
  nodes.push_back(node);
  tell_of(AW_RESOURCE_NODE, node->handle, false, handle, static_cast<uint32_t>(type));
  return node;
}

std::vector<GraphNode*> read_nodes(const CUgraphNode* handles, size_t count, const Graph& graph) {
  require(handles || count == 0);
  std::vector<GraphNode*> out;
  for (size_t i = 0; i < count; ++i) {
    auto node = node_of(handles[i]);
    require(node->graph == &graph);
    if (std::find(out.begin(), out.end(), node.get()) == out.end()) out.push_back(node.get());
  }
  return out;
}

std::vector<GraphNode*> in_order(const Graph& graph) {
  std::map<const GraphNode*, size_t> waiting;
  std::map<const GraphNode*, std::vector<GraphNode*>> followers;
  for (auto& node : graph.nodes) {
    waiting[node.get()] = node->after.size();
    for (GraphNode* before : node->after) followers[before].push_back(node.get());
  }
  std::vector<GraphNode*> out;
  for (auto& node : graph.nodes) {
    if (node->after.empty()) out.push_back(node.get());
  }
  for (size_t i = 0; i < out.size(); ++i) {
    for (GraphNode* next : followers[out[i]]) {
      if (--waiting[next] == 0) out.push_back(next);
    }
  }
  require(out.size() == graph.nodes.size());
  return out;
}

namespace {

// What a node has beside its work. Handles of conditions stay what kernels were given.
void copy_rest(const GraphNode& from, GraphNode& to,
               const std::map<const GraphNode*, GraphNode*>& counterpart) {
  to.cloned_from = from.handle;
  to.attributes = from.attributes;
  for (auto& [before, data] : from.edges) to.edges[counterpart.at(before)] = data;
  if (from.child) {
    to.child = clone_graph(*from.child);
    to.child->owned = true;
  }
  for (auto& body : from.bodies) {
    to.bodies.push_back(clone_graph(*body));
    to.bodies.back()->owned = true;
    to.body_handles.push_back(as_handle<CUgraph>(to.bodies.back()->handle));
  }
}

}  // namespace

std::shared_ptr<Graph> clone_graph(Graph& graph) {
  auto clone = new_graph();
  std::lock_guard lock(graph.mutex);
  std::map<const GraphNode*, GraphNode*> counterpart;
  for (GraphNode* node : in_order(graph)) {
    // As documented: memory that a graph allocates belongs to that graph.
    bool memory =
        node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    if (memory) {
      destroy_graph(*clone);
      throw Failure(CUDA_ERROR_NOT_SUPPORTED, "graphs with memory nodes cannot be cloned");
    }
    std::vector<GraphNode*> after;
    for (GraphNode* before : node->after) after.push_back(counterpart[before]);
    auto made = clone->add(node->type, *node->work, std::move(after));
    copy_rest(*node, *made, counterpart);
    counterpart[node] = made.get();
  }
  clone->held = graph.held;
  clone->conditionals = graph.conditionals;
  return clone;
}

}  // namespace aw

using namespace aw;

namespace {

// Writes as many handles as there is room for, or counts them when there is no array (as all
// cuGraph...Get... do).
void write_nodes(const std::vector<GraphNode*>& nodes, CUgraphNode* out, size_t* count) {
  require(count);
  if (!out) {
    *count = nodes.size();
    return;
  }
  for (size_t i = 0; i < *count; ++i)
    out[i] = i < nodes.size() ? as_handle<CUgraphNode>(nodes[i]->handle) : nullptr;
  *count = std::min(*count, nodes.size());
}

std::vector<GraphNode*> followers_of(const GraphNode& node) {
  std::vector<GraphNode*> out;
  for (auto& other : node.graph->nodes) {
    if (std::count(other->after.begin(), other->after.end(), &node)) out.push_back(other.get());
  }
  return out;
}

CUgraphEdgeData data_of(const GraphNode& node, const GraphNode* before) {
  auto it = node.edges.find(before);
  return it == node.edges.end() ? CUgraphEdgeData{} : it->second;
}

// As documented: an edge whose data would get lost is not told to those who do not ask for it.
void write_data(const CUgraphEdgeData& from, CUgraphEdgeData* to) {
  constexpr CUgraphEdgeData kPlain = {};
  require(to || memcmp(&from, &kPlain, sizeof from) == 0, CUDA_ERROR_LOSSY_QUERY);
  if (to) *to = from;
}

void write_edges(Graph& graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                 size_t* count) {
  require(count && !from == !to && (from || !data));
  std::lock_guard lock(graph.mutex);
  size_t found = 0;
  for (auto& node : graph.nodes) {
    for (GraphNode* before : node->after) {
      if (from && found < *count) {
        from[found] = as_handle<CUgraphNode>(before->handle);
        to[found] = as_handle<CUgraphNode>(node->handle);
        write_data(data_of(*node, before), data ? data + found : nullptr);
      }
      ++found;
    }
  }
  *count = from ? std::min(*count, found) : found;
}

// The edges between a node and others, in the order of write_nodes.
void write_edge_data(const GraphNode& node, const std::vector<GraphNode*>& others, bool before,
                     CUgraphEdgeData* data, const CUgraphNode* out, size_t count) {
  for (size_t i = 0; out && i < std::min(count, others.size()); ++i) {
    write_data(before ? data_of(node, others[i]) : data_of(*others[i], &node),
               data ? data + i : nullptr);
  }
}

bool reaches(const GraphNode* from, const GraphNode* wanted) {
  if (from == wanted) return true;
  return std::any_of(from->after.begin(), from->after.end(),
                     [&](GraphNode* n) { return reaches(n, wanted); });
}

void add_edges(Graph& graph, const CUgraphNode* from, const CUgraphNode* to,
               const CUgraphEdgeData* data, size_t count) {
  require((from && to) || count == 0);
  check_edge_data(data, count);
  for (size_t i = 0; i < count; ++i) {
    auto a = node_of(from[i]), b = node_of(to[i]);
    require(a != b && a->graph == &graph && b->graph == &graph);
    std::lock_guard lock(graph.mutex);
    require(!std::count(b->after.begin(), b->after.end(), a.get()));
    require(!reaches(a.get(), b.get()));
    b->after.push_back(a.get());
    if (data) set_edge_data(*b, a.get(), data[i]);
  }
}

void remove_edges(Graph& graph, const CUgraphNode* from, const CUgraphNode* to,
                  const CUgraphEdgeData* data, size_t count) {
  require((from && to) || count == 0);
  for (size_t i = 0; i < count; ++i) {
    auto a = node_of(from[i]), b = node_of(to[i]);
    require(a->graph == &graph && b->graph == &graph);
    std::lock_guard lock(graph.mutex);
    CUgraphEdgeData is = data_of(*b, a.get());
    if (data) require(memcmp(&is, data + i, sizeof is) == 0);
    require(std::erase(b->after, a.get()) == 1);
    b->edges.erase(a.get());
  }
}

}  // namespace

namespace aw {

// Edges with ports belong to programmatic dependent launch, which changes when work may begin and
// not what it does; here a node begins when those before it have ended.
void check_edge_data(const CUgraphEdgeData* data, size_t count) {
  for (size_t i = 0; data && i < count; ++i)
    require(data[i].type <= CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
            data[i].from_port <= CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER && data[i].to_port == 0);
}

void set_edge_data(GraphNode& node, const GraphNode* before, const CUgraphEdgeData& data) {
  constexpr CUgraphEdgeData kPlain = {};
  if (memcmp(&data, &kPlain, sizeof data) != 0) node.edges[before] = data;
}

}  // namespace aw

AW_EXPORT CUresult cuGraphCreate(CUgraph* out, unsigned flags) {
  return api<"cuGraphCreate">([&] {
    require(out && flags == 0);
    *out = as_handle<CUgraph>(new_graph()->handle);
  });
}

AW_EXPORT CUresult cuGraphDestroy(CUgraph handle) {
  return api<"cuGraphDestroy">([&] {
    auto graph = graph_of(handle);
    require(!graph->owned);
    destroy_graph(*graph);
  });
}

AW_EXPORT CUresult cuGraphClone(CUgraph* out, CUgraph original) {
  return api<"cuGraphClone">([&] {
    require(out);
    *out = as_handle<CUgraph>(clone_graph(*graph_of(original))->handle);
  });
}

AW_EXPORT CUresult cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return api<"cuGraphNodeFindInClone">([&] {
    require(out);
    auto cloned = graph_of(clone);
    for (auto& node : cloned->nodes) {
      if (node->cloned_from != reinterpret_cast<uintptr_t>(original)) continue;
      *out = as_handle<CUgraphNode>(node->handle);
      return;
    }
    throw Failure(CUDA_ERROR_INVALID_VALUE);
  });
}

AW_EXPORT CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  return api<"cuGraphNodeGetType">([&] {
    require(type);
    *type = node_of(handle)->type;
  });
}

AW_EXPORT CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* out, size_t* count) {
  return api<"cuGraphGetNodes">([&] {
    auto graph = graph_of(handle);
    std::lock_guard lock(graph->mutex);
    std::vector<GraphNode*> all;
    for (auto& node : graph->nodes) all.push_back(node.get());
    write_nodes(all, out, count);
  });
}

AW_EXPORT CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* out, size_t* count) {
  return api<"cuGraphGetRootNodes">([&] {
    auto graph = graph_of(handle);
    std::lock_guard lock(graph->mutex);
    std::vector<GraphNode*> roots;
    for (auto& node : graph->nodes) {
      if (node->after.empty()) roots.push_back(node.get());
    }
    write_nodes(roots, out, count);
  });
}

AW_EXPORT CUresult cuGraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                                   size_t* count) {
  return api<"cuGraphGetEdges">([&] { write_edges(*graph_of(handle), from, to, nullptr, count); });
}

AW_EXPORT CUresult cuGraphGetEdges_v2(CUgraph handle, CUgraphNode* from, CUgraphNode* to,
                                      CUgraphEdgeData* data, size_t* count) {
  return api<"cuGraphGetEdges_v2">([&] { write_edges(*graph_of(handle), from, to, data, count); });
}

AW_EXPORT CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* out, size_t* count) {
  return api<"cuGraphNodeGetDependencies">([&] {
    auto node = node_of(handle);
    require(count);
    write_edge_data(*node, node->after, true, nullptr, out, *count);
    write_nodes(node->after, out, count);
  });
}

AW_EXPORT CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* out,
                                                 CUgraphEdgeData* data, size_t* count) {
  return api<"cuGraphNodeGetDependencies_v2">([&] {
    auto node = node_of(handle);
    require(count);
    write_edge_data(*node, node->after, true, data, out, *count);
    write_nodes(node->after, out, count);
  });
}

AW_EXPORT CUresult cuGraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* out,
                                                size_t* count) {
  return api<"cuGraphNodeGetDependentNodes">([&] {
    auto node = node_of(handle);
    auto followers = followers_of(*node);
    require(count);
    write_edge_data(*node, followers, false, nullptr, out, *count);
    write_nodes(followers, out, count);
  });
}

AW_EXPORT CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode handle, CUgraphNode* out,
                                                   CUgraphEdgeData* data, size_t* count) {
  return api<"cuGraphNodeGetDependentNodes_v2">([&] {
    auto node = node_of(handle);
    auto followers = followers_of(*node);
    require(count);
    write_edge_data(*node, followers, false, data, out, *count);
    write_nodes(followers, out, count);
  });
}

AW_EXPORT CUresult cuGraphAddDependencies(CUgraph handle, const CUgraphNode* from,
                                          const CUgraphNode* to, size_t count) {
  return api<"cuGraphAddDependencies">(
      [&] { add_edges(*graph_of(handle), from, to, nullptr, count); });
}

AW_EXPORT CUresult cuGraphAddDependencies_v2(CUgraph handle, const CUgraphNode* from,
                                             const CUgraphNode* to, const CUgraphEdgeData* data,
                                             size_t count) {
  return api<"cuGraphAddDependencies_v2">(
      [&] { add_edges(*graph_of(handle), from, to, data, count); });
}

AW_EXPORT CUresult cuGraphRemoveDependencies(CUgraph handle, const CUgraphNode* from,
                                             const CUgraphNode* to, size_t count) {
  return api<"cuGraphRemoveDependencies">(
      [&] { remove_edges(*graph_of(handle), from, to, nullptr, count); });
}

AW_EXPORT CUresult cuGraphRemoveDependencies_v2(CUgraph handle, const CUgraphNode* from,
                                                const CUgraphNode* to, const CUgraphEdgeData* data,
                                                size_t count) {
  return api<"cuGraphRemoveDependencies_v2">(
      [&] { remove_edges(*graph_of(handle), from, to, data, count); });
}

AW_EXPORT CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return api<"cuGraphDestroyNode">([&] {
    auto node = node_of(handle);
    Graph& graph = *node->graph;
    std::lock_guard lock(graph.mutex);
    // As documented: what belongs to memory that a graph allocates stays.
    require(node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && node->type != CU_GRAPH_NODE_TYPE_MEM_FREE,
            CUDA_ERROR_NOT_SUPPORTED);
    for (auto& other : graph.nodes) {
      std::erase(other->after, node.get());
      other->edges.erase(node.get());
    }
    std::erase_if(graph.nodes, [&](auto& other) { return other == node; });
    graph_nodes().remove(handle);
  });
}

AW_EXPORT CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* out) {
  return api<"cuGraphChildGraphNodeGetGraph">([&] {
    require(out);
    auto node = node_of(handle);
    require(node->child != nullptr);
    *out = as_handle<CUgraph>(node->child->handle);
  });
}
