// Driver API reference: graph management, executable graphs.
#include <algorithm>
#include <cstring>

#include "core/activity_resources.h"
#include "cpu/capture.h"
#include "cpu/event.h"
#include "cpu/graph.h"
#include "cpu/graph_conditional.h"
#include "cpu/graph_memory.h"
#include "cpu/stream.h"
#include "cpu/user_object.h"
#include "cuda/context.h"
#include "cuda/node_params.h"

namespace aw {

Handles<GraphExec>& graph_execs() {
  static auto& instance = *new Handles<GraphExec>;
  return instance;
}

std::shared_ptr<GraphExec> exec_of(CUgraphExec handle) {
  auto exec = graph_execs().find(handle);
  require(exec != nullptr);
  return exec;
}

namespace {

GraphExec::Step* find_step(std::vector<GraphExec::Step>& steps, uintptr_t node) {
  for (auto& step : steps) {
    if (step.node == node) return &step;
    if (auto* inner = find_step(step.child, node)) return inner;
    for (auto& body : step.bodies) {
      if (auto* inner = find_step(body, node)) return inner;
    }
  }
  return nullptr;
}

GraphExec::Step& step_of(GraphExec& exec, CUgraphNode node) {
  auto* step = find_step(exec.steps, reinterpret_cast<uintptr_t>(node));
  require(step);
  return *step;
}

}  // namespace

void replace_work(CUgraphExec handle, CUgraphNode node, CUgraphNodeType type, Work work) {
  auto exec = exec_of(handle);
  std::lock_guard lock(exec->mutex);
  auto& step = step_of(*exec, node);
  require(step.type == type);
  step.work = std::make_shared<const Work>(std::move(work));
  exec->plan = nullptr;
}

}  // namespace aw

using namespace aw;

namespace {

using Step = GraphExec::Step;

constexpr uint64_t kFlagsMask = 0xf, kAutoFree = 1, kDeviceLaunch = 4;

std::vector<Step> make_steps(Graph& graph) {
  std::lock_guard lock(graph.mutex);
  std::map<const GraphNode*, size_t> created;
  for (auto& node : graph.nodes) created.emplace(node.get(), created.size());
  std::vector<Step> steps;
  for (GraphNode* node : in_order(graph)) {
    Step step;
    step.node = node->handle, step.type = node->type, step.work = node->work,
    step.created = created[node];
    if (node->child) step.child = make_steps(*node->child);
    for (auto& body : node->bodies) step.bodies.push_back(make_steps(*body));
    for (GraphNode* before : node->after) step.after.push_back(created[before]);
    std::sort(step.after.begin(), step.after.end());
    steps.push_back(std::move(step));
  }
  return steps;
}

CUresult instantiate(CUgraphExec* out, CUgraph handle, uint64_t flags) {
  require(out);
  require((flags & ~kFlagsMask) == 0);
  if (flags & kDeviceLaunch)
    throw Failure(CUDA_ERROR_NOT_SUPPORTED, "graphs that the device launches are not supported");
  auto graph = graph_of(handle);
  require(!graph->moved);
  auto exec = std::make_shared<GraphExec>();
  exec->flags = flags;
  exec->steps = make_steps(*graph);
  exec->held = std::make_shared<const std::vector<std::shared_ptr<UserObject>>>(graph->held);
  exec->conditionals = graph->conditionals;
  exec->left_behind = left_behind(exec->steps);
  exec->id = next_graph_id();
  exec->handle = graph_execs().add(exec);
  tell_of(AW_RESOURCE_GRAPH_EXEC, exec->handle, false, graph->handle);
  *out = as_handle<CUgraphExec>(exec->handle);
  return CUDA_SUCCESS;
}

void replace_in_exec(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type, Work work) {
  replace_work(exec, node, type, std::move(work));
}

// One launch: work that stands for events gets the events' present state.
struct Launch {
  ExecutionPlan plan;
  std::vector<std::pair<std::shared_ptr<Event>, std::shared_ptr<Recording>>> recorded;
  bool has_events = false;

  void add(const std::vector<Step>& steps) {
    for (auto& step : steps) {
      if (!step.child.empty()) add(step.child);
      if (step.enabled && step.child.empty()) add(step);
      plan.nodes.resize(plan.steps.size(), step.node);
    }
  }

  void add(const Step& step) {
    if (step.type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
      add_record(std::get<RecordWork>(*step.work).event);
    } else if (step.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
      add_wait(std::get<WaitWork>(*step.work).event);
    } else if (step.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      add_conditional(step);
    } else if (step.type != CU_GRAPH_NODE_TYPE_EMPTY) {
      plan.steps.push_back(step.work);
    }
  }

  void add_record(uintptr_t handle) {
    has_events = true;
    auto event = event_of(as_handle<CUevent>(handle));
    auto recording = std::make_shared<Recording>();
    recorded.emplace_back(event, recording);
    plan.steps.push_back(
        std::make_shared<const Work>(RecordWork{recording, handle, begin_shared(*event)}));
  }

  void add_wait(uintptr_t handle) {
    has_events = true;
    // An event that this launch records itself has come about by the time a later step waits for
    // it.
    for (auto& [event, recording] : recorded) {
      if (event->handle == handle) return;
    }
    plan.steps.push_back(std::make_shared<const Work>(
        WaitWork{event_of(as_handle<CUevent>(handle))->point(), handle}));
  }

  void add_conditional(const Step& step) {
    auto task = std::make_shared<ConditionalTask>(*conditional_in(*step.work));
    for (auto& body : step.bodies) {
      Launch inner;
      inner.add(body);
      require(!inner.has_events, CUDA_ERROR_NOT_SUPPORTED);  // as documented: no events in bodies
      task->bodies.push_back(std::make_shared<const ExecutionPlan>(std::move(inner.plan)));
    }
    plan.steps.push_back(std::make_shared<const Work>(SpecialWork{std::move(task)}));
  }

  void assign(const std::vector<std::shared_ptr<Conditional>>& conditions) {
    auto task = std::make_shared<AssignTask>();
    for (auto& each : conditions) {
      if (each->assigned) task->conditions.push_back(each);
    }
    if (task->conditions.empty()) return;
    plan.steps.push_back(std::make_shared<const Work>(SpecialWork{std::move(task)}));
    plan.nodes.push_back(0);
  }
};

void report_launches(const ExecutionPlan& plan) {
  for (auto& step : plan.steps) {
    if (auto* kernel = std::get_if<KernelWork>(step.get()))
      report_launch(kernel->function->entry->name);
    else if (auto* native = std::get_if<NativeWork>(step.get()))
      report_launch(native->task->work.name);
  }
}

void add_steps(Capture& capture, Stream& stream, const std::vector<Step>& steps) {
  for (auto& step : steps) {
    bool own =
        step.type == CU_GRAPH_NODE_TYPE_CONDITIONAL || step.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    if (own) {
      throw Failure(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    "a graph with conditional or memory nodes cannot be launched in a stream under "
                    "capture");
    }
    if (!step.child.empty()) add_steps(capture, stream, step.child);
    if (step.enabled && step.child.empty()) capture.add(stream, *step.work);
  }
}

// A graph launched in a stream under capture becomes part of the graph: what a launch would do, in
// its order.
CUresult add_to_capture(Capture& capture, Stream& stream, GraphExec& exec) {
  std::lock_guard lock(exec.mutex);
  add_steps(capture, stream, exec.steps);
  std::lock_guard inner(capture.graph->mutex);
  auto& held = capture.graph->held;
  held.insert(held.end(), exec.held->begin(), exec.held->end());
  return CUDA_SUCCESS;
}

CUresult launch_exec(CUgraphExec handle, CUstream stream) {
  current_context();
  auto target = stream_of(stream);
  auto exec = exec_of(handle);
  if (auto capture = target->capture()) return add_to_capture(*capture, *target, *exec);
  std::lock_guard lock(exec->mutex);
  promise(exec->left_behind, exec->flags & kAutoFree);
  if (exec->plan) {
    report_launches(*exec->plan);
    target->submit(GraphWork{exec->plan});
    return CUDA_SUCCESS;
  }
  Launch launch;
  launch.plan.held = exec->held;
  launch.plan.exec = exec->handle;
  launch.assign(exec->conditionals);
  launch.add(exec->steps);
  auto plan = std::make_shared<const ExecutionPlan>(std::move(launch.plan));
  report_launches(*plan);
  if (!launch.has_events) exec->plan = plan;
  target->submit(GraphWork{std::move(plan)});
  for (auto& [event, recording] : launch.recorded) {
    std::lock_guard inner(event->mutex);
    recording->point = target->last();
    event->recording = recording;
    event->capture = nullptr;
  }
  return CUDA_SUCCESS;
}

using Outcome = CUgraphExecUpdateResult;
constexpr Outcome kSame = CU_GRAPH_EXEC_UPDATE_SUCCESS,
                  kTopologyChanged = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
                  kTypeChanged = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;

// Compares an executable graph with a graph of the same form and takes over its work.
Outcome update(std::vector<Step>& steps, const std::vector<Step>& from, uintptr_t* culprit) {
  if (steps.size() != from.size()) return kTopologyChanged;
  for (size_t i = 0; i < steps.size(); ++i) {
    *culprit = from[i].node;
    if (steps[i].type != from[i].type) return kTypeChanged;
    if (steps[i].created != from[i].created || steps[i].after != from[i].after)
      return kTopologyChanged;
    std::vector<Step> trial = steps[i].child;
    if (Outcome result = update(trial, from[i].child, culprit)) return result;
    if (steps[i].bodies.size() != from[i].bodies.size()) return kTopologyChanged;
    for (size_t k = 0; k < steps[i].bodies.size(); ++k) {
      trial = steps[i].bodies[k];
      if (Outcome result = update(trial, from[i].bodies[k], culprit)) return result;
    }
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].work = from[i].work;
    update(steps[i].child, from[i].child, culprit);
    for (size_t k = 0; k < steps[i].bodies.size(); ++k)
      update(steps[i].bodies[k], from[i].bodies[k], culprit);
  }
  *culprit = 0;
  return kSame;
}

void update(CUgraphExec handle, CUgraph graph, CUgraphNode* culprit, Outcome* result) {
  auto exec = exec_of(handle);
  auto source = graph_of(graph);
  require(!source->moved);
  std::vector<Step> from = make_steps(*source);
  std::lock_guard lock(exec->mutex);
  uintptr_t node = 0;
  *result = update(exec->steps, from, &node);
  exec->plan = nullptr;
  if (*result == kSame) {
    exec->left_behind = left_behind(exec->steps);
    for (auto& each : source->conditionals) {
      if (!std::count(exec->conditionals.begin(), exec->conditionals.end(), each))
        exec->conditionals.push_back(each);
    }
  }
  if (culprit) *culprit = as_handle<CUgraphNode>(node);
  require(*result == kSame, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}

}  // namespace

AW_EXPORT CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* culprit, char*,
                                      size_t) {
  return api<"cuGraphInstantiate">([&] {
    if (culprit) *culprit = nullptr;
    return instantiate(out, graph, 0);
  });
}

AW_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec* out, CUgraph graph, CUgraphNode* culprit,
                                         char*, size_t) {
  return api<"cuGraphInstantiate_v2">([&] {
    if (culprit) *culprit = nullptr;
    return instantiate(out, graph, 0);
  });
}

AW_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph,
                                               unsigned long long flags) {
  return api<"cuGraphInstantiateWithFlags">([&] { return instantiate(out, graph, flags); });
}

AW_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph,
                                                CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return api<"cuGraphInstantiateWithParams">([&] {
    require(params);
    params->hErrNode_out = nullptr;
    params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;  // until there is none
    instantiate(out, graph, params->flags);
    params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  });
}

AW_EXPORT CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return api<"cuGraphExecDestroy">([&] {
    tell_of(AW_RESOURCE_GRAPH_EXEC, exec_of(handle)->handle, true);
    require(graph_execs().remove(handle) != nullptr);
  });
}

AW_EXPORT CUresult cuGraphExecGetFlags(CUgraphExec handle, uint64_t* flags) {
  return api<"cuGraphExecGetFlags">([&] {
    require(flags);
    *flags = exec_of(handle)->flags;
  });
}

AW_EXPORT CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
  return api<"cuGraphUpload">([&] {
    stream_of(stream);
    exec_of(handle);  // its kernels were compiled when their nodes were made
  });
}

AW_EXPORT CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  return api<"cuGraphLaunch">([&] { return launch_exec(handle, stream); }, handle, stream);
}

AW_EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return api<"cuGraphExecKernelNodeSetParams">([&] {
    replace_in_exec(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, kernel_work(any_version(params)));
  });
}

AW_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                     const CUDA_KERNEL_NODE_PARAMS* params) {
  return api<"cuGraphExecKernelNodeSetParams_v2">([&] {
    replace_in_exec(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, kernel_work(any_version(params)));
  });
}

AW_EXPORT CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_MEMCPY3D* params, CUcontext) {
  return api<"cuGraphExecMemcpyNodeSetParams">(
      [&] { replace_in_exec(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, copy_work(params)); });
}

AW_EXPORT CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_MEMSET_NODE_PARAMS* params,
                                                  CUcontext) {
  return api<"cuGraphExecMemsetNodeSetParams">(
      [&] { replace_in_exec(exec, node, CU_GRAPH_NODE_TYPE_MEMSET, set_work(params)); });
}

AW_EXPORT CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_HOST_NODE_PARAMS* params) {
  return api<"cuGraphExecHostNodeSetParams">(
      [&] { replace_in_exec(exec, node, CU_GRAPH_NODE_TYPE_HOST, host_work(params)); });
}

AW_EXPORT CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                      CUevent event) {
  return api<"cuGraphExecEventRecordNodeSetEvent">([&] {
    replace_in_exec(exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                    event_work(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
  });
}

AW_EXPORT CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                                    CUevent event) {
  return api<"cuGraphExecEventWaitNodeSetEvent">([&] {
    replace_in_exec(exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                    event_work(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
  });
}

AW_EXPORT CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            CUgraphNodeParams* params) {
  return api<"cuGraphExecNodeSetParams">([&] {
    Work work = work_of(params);
    replace_in_exec(exec, node, params->type, std::move(work));
  });
}

AW_EXPORT CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                                      CUgraph child) {
  return api<"cuGraphExecChildGraphNodeSetParams">([&] {
    auto exec = exec_of(handle);
    std::vector<Step> from = make_steps(*graph_of(child));
    std::lock_guard lock(exec->mutex);
    Step& step = step_of(*exec, node);
    require(step.type == CU_GRAPH_NODE_TYPE_GRAPH);
    uintptr_t culprit = 0;
    require(update(step.child, from, &culprit) == kSame);
    exec->plan = nullptr;
  });
}

AW_EXPORT CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned enabled) {
  return api<"cuGraphNodeSetEnabled">([&] {
    auto exec = exec_of(handle);
    std::lock_guard lock(exec->mutex);
    Step& step = step_of(*exec, node);
    require(step.type <= CU_GRAPH_NODE_TYPE_MEMSET);  // kernels and copies only, as documented
    step.enabled = enabled != 0;
    exec->plan = nullptr;
  });
}

AW_EXPORT CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned* enabled) {
  return api<"cuGraphNodeGetEnabled">([&] {
    require(enabled);
    auto exec = exec_of(handle);
    std::lock_guard lock(exec->mutex);
    Step& step = step_of(*exec, node);
    require(step.type <= CU_GRAPH_NODE_TYPE_MEMSET);
    *enabled = step.enabled;
  });
}

AW_EXPORT CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* culprit,
                                     CUgraphExecUpdateResult* result) {
  return api<"cuGraphExecUpdate">([&] {
    require(result);
    update(exec, graph, culprit, result);
  });
}

AW_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph,
                                        CUgraphExecUpdateResultInfo* info) {
  return api<"cuGraphExecUpdate_v2">([&] {
    require(info);
    *info = {};
    update(exec, graph, &info->errorNode, &info->result);
  });
}
