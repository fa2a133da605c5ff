// Conditional nodes of graphs: bodies that are run, or not, or again, as kernels decide. What a
// program calls a handle is the address of the value, so that a kernel sets it by storing there.
#pragma once

#include "cpu/graph.h"

namespace aw {

struct Conditional {
  alignas(8) uint32_t value = 0;
  uint32_t initial = 0;
  bool assigned = false;  // gets the initial value at each launch
  uintptr_t root = 0;     // the graph that it was made for
  Conditional();
  ~Conditional();
  Conditional(const Conditional&) = delete;
  Conditional& operator=(const Conditional&) = delete;
  uint64_t handle() const { return reinterpret_cast<uint64_t>(&value); }
};

// As a node of a graph; a launch makes one that knows what its bodies do.
struct ConditionalTask : SpecialTask {
  std::shared_ptr<Conditional> condition;
  CUgraphConditionalNodeType kind = CU_GRAPH_COND_TYPE_IF;
  unsigned size = 1;
  CUcontext context = nullptr;
  std::vector<std::shared_ptr<const ExecutionPlan>> bodies;
  void perform(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_CONDITIONAL; }
};

// Gives conditions their initial values at the beginning of a launch.
struct AssignTask : SpecialTask {
  std::vector<std::shared_ptr<Conditional>> conditions;
  void perform(Context& context) const override;
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_EMPTY; }
};

// Adds a node; `params.phGraph_out` becomes the array of its bodies, which live as long as it.
std::shared_ptr<GraphNode> add_conditional(CUgraph graph, const CUgraphNode* after, size_t count,
                                           CUDA_CONDITIONAL_NODE_PARAMS& params);
CUDA_CONDITIONAL_NODE_PARAMS params_of(const ConditionalTask& task, std::vector<CUgraph>& bodies);

const ConditionalTask* conditional_in(const Work& work);  // null when it is none

}  // namespace aw
