// Graphs: work with its order as data, and what becomes of it when it is instantiated.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/handles.h"
#include "cpu/launch.h"
#include "cpu/work.h"
#include "cuda/api.h"

namespace aw {

struct Conditional;
struct Graph;
struct GraphMemory;
struct UserObject;

struct GraphNode {
  uintptr_t handle = 0;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::shared_ptr<const Work> work;
  std::shared_ptr<Graph> child;
  std::vector<GraphNode*> after;  // nodes it depends on
  Graph* graph = nullptr;
  uintptr_t cloned_from = 0;
  unsigned local_id = 0;                              // within its graph, never reused
  std::map<const GraphNode*, CUgraphEdgeData> edges;  // of `after`, where it is not all zero
  std::map<int, CUlaunchAttributeValue> attributes;   // of a kernel, as programs set them
  std::vector<std::shared_ptr<Graph>> bodies;         // of a conditional node
  std::vector<CUgraph> body_handles;                  // for those who ask for its parameters
  std::vector<void*> param_pointers;                  // for those who ask for a kernel's parameters
};

struct Graph {
  uintptr_t handle = 0;
  bool owned = false;  // a child or a graph of a capture: its owner destroys it
  bool moved = false;  // a child that a program made and gave to its node (.._OWNERSHIP_MOVE)
  std::mutex mutex;
  std::vector<std::shared_ptr<GraphNode>> nodes;  // in order of creation
  std::vector<std::shared_ptr<UserObject>> held;  // one entry per reference
  std::vector<std::shared_ptr<Conditional>> conditionals;
  unsigned id = 0, next_local_id = 0;
  uintptr_t root = 0;  // the graph whose conditional node this is a body of, or itself

  Graph() = default;
  ~Graph();
  std::shared_ptr<GraphNode> add(CUgraphNodeType type, Work work, std::vector<GraphNode*> after);
};

// What a launch of a graph does: one thing after the other, in an order that respects the edges.
struct ExecutionPlan {
  std::vector<std::shared_ptr<const Work>> steps;
  std::vector<uintptr_t> nodes;  // whose work each step is
  uintptr_t exec = 0;            // the handle of the executable graph
  // Alive until the launch is done, even if the graph goes before.
  std::shared_ptr<const std::vector<std::shared_ptr<UserObject>>> held;
};

// An instantiated graph.
struct GraphExec {
  struct Step {
    uintptr_t node = 0;
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    std::shared_ptr<const Work> work;
    std::vector<Step> child;
    std::vector<std::vector<Step>> bodies;
    std::vector<size_t> after;  // indices of steps of the graph, in order of creation of its nodes
    size_t created = 0;
    bool enabled = true;
  };
  uintptr_t handle = 0;
  uint64_t flags = 0;
  unsigned id = 0;
  std::mutex mutex;
  std::vector<Step> steps;
  std::vector<std::shared_ptr<Conditional>> conditionals;
  std::vector<std::shared_ptr<GraphMemory>> left_behind;  // allocated and not freed by the graph
  // Of the latest launch, if the next one can do the same again; null after changes.
  std::shared_ptr<const ExecutionPlan> plan;
  std::shared_ptr<const std::vector<std::shared_ptr<UserObject>>> held;
};

Handles<Graph>& graphs();
Handles<GraphNode>& graph_nodes();
Handles<GraphExec>& graph_execs();

std::shared_ptr<Graph> graph_of(CUgraph handle);  // all throw INVALID_VALUE
std::shared_ptr<GraphNode> node_of(CUgraphNode handle);
std::shared_ptr<GraphExec> exec_of(CUgraphExec handle);

std::shared_ptr<Graph> new_graph();
std::shared_ptr<Graph> clone_graph(Graph& graph);
void destroy_graph(Graph& graph);

// Reads an array of node handles of one graph.
std::vector<GraphNode*> read_nodes(const CUgraphNode* nodes, size_t count, const Graph& graph);

// Adds a node behind others; `type_of(work)` is its type.
std::shared_ptr<GraphNode> add_node(CUgraph graph, const CUgraphNode* after, size_t count,
                                    Work work);
// Exchanges the work of a node, in the graph or in an executable graph, for work of the same type.
void replace_work(CUgraphNode node, CUgraphNodeType type, Work work);
void replace_work(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, Work work);

// Throws INVALID_VALUE for data that no edge can have.
void check_edge_data(const CUgraphEdgeData* data, size_t count);
void set_edge_data(GraphNode& node, const GraphNode* before, const CUgraphEdgeData& data);

// A number that no other graph or executable graph has.
unsigned next_graph_id();

// The nodes in an order that respects the edges; throws INVALID_VALUE when they run in a circle.
std::vector<GraphNode*> in_order(const Graph& graph);

// From the parameters of nodes to work, as the graph and the executable graph both need it.
Work kernel_work(const CUDA_KERNEL_NODE_PARAMS& params);
Work copy_work(const CUDA_MEMCPY3D* params);
Work set_work(const CUDA_MEMSET_NODE_PARAMS* params);
Work host_work(const CUDA_HOST_NODE_PARAMS* params);
Work event_work(CUgraphNodeType type, CUevent event);
Work work_of(const CUgraphNodeParams* params);  // of any kind but child graphs
CUgraphNodeType type_of(const Work& work);

}  // namespace aw
