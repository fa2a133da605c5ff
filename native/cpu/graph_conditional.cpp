// Driver API reference: graph management, conditional nodes.
#include "cpu/graph_conditional.h"

#include "core/watched_memory.h"
#include "cuda/context.h"

namespace aw {
namespace {

constexpr unsigned kAssignDefault = 1;  // CU_GRAPH_COND_ASSIGN_DEFAULT

uint32_t value_of(const Conditional& condition) {
  return __atomic_load_n(&condition.value, __ATOMIC_ACQUIRE);
}

std::shared_ptr<Conditional> find_conditional(const std::vector<std::shared_ptr<Conditional>>& all,
                                              uint64_t handle) {
  for (auto& each : all) {
    if (each->handle() == handle) return each;
  }
  return nullptr;
}

std::shared_ptr<Graph> root_of(const Graph& graph) {
  auto root = graphs().find(reinterpret_cast<void*>(graph.root));
  require(root != nullptr);
  return root;
}

}  // namespace

Conditional::Conditional() { watch(handle(), sizeof value, "the condition of a graph", false); }
Conditional::~Conditional() { unwatch(handle()); }

void AssignTask::perform(Context&) const {
  for (auto& each : conditions) __atomic_store_n(&each->value, each->initial, __ATOMIC_RELEASE);
}

void ConditionalTask::perform(Context& context) const {
  if (kind == CU_GRAPH_COND_TYPE_WHILE) {
    while (value_of(*condition) && !context.error) aw::perform(*bodies[0], context);
    return;
  }
  uint32_t value = value_of(*condition);
  // An if's second body, where there is one, is what else is done.
  uint32_t chosen = kind == CU_GRAPH_COND_TYPE_SWITCH ? value : value ? 0 : 1;
  if (chosen < bodies.size()) aw::perform(*bodies[chosen], context);
}

const ConditionalTask* conditional_in(const Work& work) {
  auto* special = std::get_if<SpecialWork>(&work);
  return special ? dynamic_cast<const ConditionalTask*>(special->task.get()) : nullptr;
}

std::shared_ptr<GraphNode> add_conditional(CUgraph handle, const CUgraphNode* after, size_t count,
                                           CUDA_CONDITIONAL_NODE_PARAMS& p) {
  constexpr unsigned kMostBodies = 1 << 16;
  require(p.type >= CU_GRAPH_COND_TYPE_IF && p.type <= CU_GRAPH_COND_TYPE_SWITCH && p.size >= 1 &&
          p.size <= kMostBodies);
  require(p.type == CU_GRAPH_COND_TYPE_SWITCH || p.size == 1 ||
          (p.type == CU_GRAPH_COND_TYPE_IF && p.size == 2));
  auto graph = graph_of(handle);
  auto task = std::make_shared<ConditionalTask>();
  task->condition = find_conditional(root_of(*graph)->conditionals, p.handle);
  require(task->condition != nullptr);
  task->kind = p.type, task->size = p.size, task->context = p.ctx;
  auto node = add_node(handle, after, count, SpecialWork{task});
  for (unsigned i = 0; i < p.size; ++i) {
    auto body = new_graph();
    body->owned = true;
    body->root = graph->root;
    node->bodies.push_back(body);
    node->body_handles.push_back(as_handle<CUgraph>(body->handle));
  }
  p.phGraph_out = node->body_handles.data();
  return node;
}

CUDA_CONDITIONAL_NODE_PARAMS params_of(const ConditionalTask& task, std::vector<CUgraph>& bodies) {
  return {task.condition->handle(), task.kind, task.size, bodies.data(), task.context};
}

}  // namespace aw

using namespace aw;

AW_EXPORT CUresult cuGraphConditionalHandleCreate(uint64_t* out, CUgraph handle, CUcontext context,
                                                  unsigned initial, unsigned flags) {
  return api<"cuGraphConditionalHandleCreate">([&] {
    require(out && flags <= kAssignDefault);
    if (context) context_of(context);
    auto graph = root_of(*graph_of(handle));
    auto made = std::make_shared<Conditional>();
    made->value = made->initial = initial;
    made->assigned = flags & kAssignDefault;
    made->root = graph->handle;
    std::lock_guard lock(graph->mutex);
    graph->conditionals.push_back(made);
    *out = made->handle();
  });
}
