// Graphs: work with its order as data, and what becomes of it when it is instantiated.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/handles.h"
#include "cuda/api.h"
#include "cuda/launch.h"
#include "cuda/work.h"

namespace aw {

struct Graph;
struct UserObject;

struct GraphNode {
  uintptr_t handle = 0;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::shared_ptr<const Work> work;
  std::shared_ptr<Graph> child;
  std::vector<GraphNode*> after;  // nodes it depends on
  Graph* graph = nullptr;
  uintptr_t cloned_from = 0;
  std::vector<void*> param_pointers;  // for those who ask for a kernel's parameters
};

struct Graph {
  uintptr_t handle = 0;
  bool owned = false;  // a child or a graph of a capture: its owner destroys it
  std::mutex mutex;
  std::vector<std::shared_ptr<GraphNode>> nodes;  // in order of creation
  std::vector<std::shared_ptr<UserObject>> held;  // one entry per reference

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
    std::vector<size_t> after;  // indices of steps of the graph, in order of creation of its nodes
    size_t created = 0;
    bool enabled = true;
  };
  uintptr_t handle = 0;
  uint64_t flags = 0;
  std::mutex mutex;
  std::vector<Step> steps;
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

// The nodes in an order that respects the edges; throws INVALID_VALUE when they run in a circle.
std::vector<GraphNode*> in_order(const Graph& graph);

// From the parameters of nodes to work, as the graph and the executable graph both need it.
Work kernel_work(const CUDA_KERNEL_NODE_PARAMS& params, bool has_kernel);
Work copy_work(const CUDA_MEMCPY3D* params);
Work set_work(const CUDA_MEMSET_NODE_PARAMS* params);
Work host_work(const CUDA_HOST_NODE_PARAMS* params);
Work event_work(CUgraphNodeType type, CUevent event);
Work work_of(const CUgraphNodeParams* params);  // of any kind but child graphs
CUgraphNodeType type_of(const Work& work);

}  // namespace aw
