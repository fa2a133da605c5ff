// Graphs: work with its order as data, and what becomes of it when it is instantiated.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/handles.h"
#include "cuda/api.h"
#include "cuda/work.h"

namespace aw {

struct Graph;

struct GraphNode {
  uintptr_t handle = 0;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  Work work;
  std::shared_ptr<Graph> child;
  std::vector<GraphNode*> after;  // nodes it depends on
  Graph* graph = nullptr;
  uintptr_t cloned_from = 0;
  CUDA_MEMCPY3D copy{};  // as given, for those who ask for it again
  CUDA_MEMSET_NODE_PARAMS set{};
};

struct Graph {
  uintptr_t handle = 0;
  std::mutex mutex;
  std::vector<std::unique_ptr<GraphNode>> nodes;  // in order of creation
  std::map<uintptr_t, std::pair<std::shared_ptr<struct UserObject>, unsigned>> held;
  ~Graph();

  GraphNode& add(CUgraphNodeType type, Work work, const std::vector<GraphNode*>& after);
};

// What a launch of a graph does: one thing after the other, in an order that respects the edges.
struct ExecutionPlan {
  std::vector<std::shared_ptr<const Work>> steps;
};

}  // namespace aw
