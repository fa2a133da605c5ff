// The graph interface of cuDNN: create, set, finalise, ask and execute.
#include "libraries/cudnn/backend.h"

#include <algorithm>

#include "libraries/cudnn/backend_json.h"

using namespace aw::dnn;

namespace {

#ifdef AW_CUDA_12
constexpr int kLastDescriptor = CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR;
#else
constexpr int kLastDescriptor = CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR;
#endif
constexpr int64_t kMany = 1 << 24;

// The handle of a program's: contents outlive it in other descriptors.
struct BackendDescriptor : Object<20> {
  Shared content;
};

BackendDescriptor& backend_object(cudnnBackendDescriptor_t handle) {
  return object(static_cast<BackendDescriptor*>(handle));
}
Shared make_content(int type) {
  auto made = std::make_shared<Content>();
  made->type = type;
  return made;
}
Value one_object(const Shared& content) {
  return {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {content}};
}
template <class T>
Value one(cudnnBackendAttributeType_t type, T plain) {
  Value value{type, 1, std::vector<unsigned char>(sizeof plain), {}};
  memcpy(value.bytes.data(), &plain, sizeof plain);
  return value;
}

// The graph behind an engine, a configuration or a plan.
const Content& graph_of(const Content& c) {
  if (c.type == CUDNN_BACKEND_ENGINE_DESCRIPTOR) return c.object(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  return graph_of(c.object(c.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
                               ? CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG
                               : CUDNN_ATTR_ENGINECFG_ENGINE));
}

Shared configuration(const Shared& graph) {
  auto engine = make_content(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
       config = make_content(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  engine->values[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = one_object(graph);
  engine->values[CUDNN_ATTR_ENGINE_GLOBAL_INDEX] = one(CUDNN_TYPE_INT64, int64_t{0});
  config->values[CUDNN_ATTR_ENGINECFG_ENGINE] = one_object(engine);
  engine->final = config->final = true;
  return config;
}

void finalize_plan(Content& c) {
  if (!c.has(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)) {
    require(c.has(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION),
            "a plan without a configuration of an engine");
    const auto text = c.list<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    c.values[CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG] =
        one_object(configuration(from_json(std::string(text.begin(), text.end()))));
  }
  c.plan = Plan::make(graph_of(c));
}

void finalize(Content& c) {
  check_content(c);
  switch (c.type) {
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      require(!c.value(CUDNN_ATTR_OPERATIONGRAPH_OPS).objects.empty(),
              "a graph without operations");
      return;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      require(c.get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX) == 0, "there is one engine, number 0",
              kOutOfBound);
      Plan::make(graph_of(c));
      return;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      return finalize_plan(c);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
      require(c.value(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).count ==
                  c.value(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).count,
              "as many numbers as pointers are wanted");
      return;
    default:
      return;
  }
}

// One engine for every graph that can be run; none else, which is no error of a heuristic.
bool runnable(const Content& graph) {
  try {
    Plan::make(graph);
    return true;
  } catch (const aw::Failure& failure) {
    if (failure.code != CUDNN_STATUS_NOT_SUPPORTED) throw;
    aw::lib::failed("cudnnBackendGetAttribute", failure);
    return false;
  }
}

// What is not set but follows.
Value derived(const Content& c, int name) {
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS: {
      const Shared& graph = c.value(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).objects.at(0);
      return runnable(*graph) ? one_object(configuration(graph))
                              : Value{CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, {}, {}};
    }
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      return one(CUDNN_TYPE_INT64, int64_t{runnable(c)});
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
#ifndef AW_CUDA_12
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE:
#endif
      return one(CUDNN_TYPE_INT64, int64_t{0});
#ifndef AW_CUDA_12
    case CUDNN_ATTR_ENGINECFG_SHARED_MEMORY_USED:
      return one(CUDNN_TYPE_INT32, int32_t{0});
    case CUDNN_ATTR_KERNEL_CACHE_IS_ENGINECFG_KERNEL_CACHED:
    case CUDNN_ATTR_OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED:
      return one(CUDNN_TYPE_BOOLEAN, false);
#endif
    case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION: {
      const std::string text = to_json(graph_of(c));
      return {CUDNN_TYPE_CHAR, static_cast<int64_t>(text.size()), {text.begin(), text.end()}, {}};
    }
    case CUDNN_ATTR_ENGINE_KNOB_INFO:
    case CUDNN_ATTR_ENGINE_LAYOUT_INFO:
    case CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO:
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
      return {CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, {}, {}};
    case CUDNN_ATTR_EXECUTION_PLAN_COMPUTED_INTERMEDIATE_UIDS:
    case CUDNN_ATTR_EXECUTION_PLAN_RUN_ONLY_INTERMEDIATE_UIDS:
      return {CUDNN_TYPE_INT64, 0, {}, {}};
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return {CUDNN_TYPE_NUMERICAL_NOTE, 0, {}, {}};
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
      return {CUDNN_TYPE_BEHAVIOR_NOTE, 0, {}, {}};
    default:
      fail(CUDNN_STATUS_NOT_SUPPORTED,
           "attribute " + std::to_string(name) + " was not set and follows from nothing");
  }
}

void answer(const Value& value, cudnnBackendAttributeType_t type, int64_t requested, int64_t* count,
            void* array) {
  require(type == value.type, "an attribute of another type", kWrongType);
  require(requested >= 0, "a negative count");
  give(count, value.count);
  const auto take = static_cast<size_t>(std::min(requested, value.count));
  if (!take || !array) return;
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    memcpy(array, value.bytes.data(), take * bytes_of(type));
    return;
  }
  // Descriptors of the program's own become what is asked for.
  auto* to = static_cast<cudnnBackendDescriptor_t*>(array);
  for (size_t i = 0; i < take; ++i) {
    auto& target = backend_object(to[i]);
    require(target.content->type == value.objects[i]->type, "a descriptor of another type",
            kWrongDescriptor);
    target.content = value.objects[i];
  }
}

const Content& finished(cudnnBackendDescriptor_t handle, int type) {
  const auto& content = *backend_object(handle).content;
  require(content.type == type, "a descriptor of another type", kWrongDescriptor);
  require(content.final, "a descriptor that is not final", kNotFinal);
  return content;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                                     cudnnBackendDescriptor_t* handle) {
  return api<"cudnnBackendCreateDescriptor">([&] {
    require_pointer(handle);
    require(type >= 0 && type <= kLastDescriptor, "no such descriptor");
    auto made = std::make_unique<BackendDescriptor>();
    made->content = make_content(type);
    *handle = made.release();
  });
}
AW_EXPORT cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle) {
  return api<"cudnnBackendDestroyDescriptor">(
      [&] { destroy(static_cast<BackendDescriptor*>(handle)); });
}
AW_EXPORT cudnnStatus_t cudnnBackendInitialize(cudnnBackendDescriptor_t handle) {
  return api<"cudnnBackendInitialize">([&] {
    auto& found = backend_object(handle);
    found.content = make_content(found.content->type);
  });
}

AW_EXPORT cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle,
                                                 cudnnBackendAttributeName_t name,
                                                 cudnnBackendAttributeType_t type, int64_t count,
                                                 const void* array) {
  return api<"cudnnBackendSetAttribute">([&] {
    auto& found = backend_object(handle);
    require(!found.content->final, "a descriptor that is final");
    require(count >= 0 && count <= kMany, "a count out of range", kOutOfBound);
    require(count == 0 || array, "a null pointer", kNullPointer);
    require(owner_of(name) == found.content->type, "an attribute of another descriptor",
            kWrongDescriptor);
    Value value{type, count, {}, {}};
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
      auto* from = static_cast<const cudnnBackendDescriptor_t*>(array);
      for (int64_t i = 0; i < count; ++i) {
        const auto& content = backend_object(from[i]).content;
        require(content->final, "a descriptor that is not final", kNotFinal);
        value.objects.push_back(content);
      }
    } else if (count) {
      auto* from = static_cast<const unsigned char*>(array);
      value.bytes.assign(from, from + static_cast<size_t>(count) * bytes_of(type));
    }
    found.content->values[name] = std::move(value);
  });
}
AW_EXPORT cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  return api<"cudnnBackendFinalize">([&] {
    auto& content = *backend_object(handle).content;
    if (content.final) return;
    finalize(content);
    content.final = true;
  });
}
AW_EXPORT cudnnStatus_t cudnnBackendGetAttribute(const cudnnBackendDescriptor_t handle,
                                                 cudnnBackendAttributeName_t name,
                                                 cudnnBackendAttributeType_t type,
                                                 int64_t requested, int64_t* count, void* array) {
  return api<"cudnnBackendGetAttribute">([&] {
    const auto& content = *backend_object(handle).content;
    require(content.final, "a descriptor that is not final", kNotFinal);
    require(owner_of(name) == content.type, "an attribute of another descriptor", kWrongDescriptor);
    auto set = content.values.find(name);
    answer(set != content.values.end() ? set->second : derived(content, name), type, requested,
           count, array);
  });
}
AW_EXPORT cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                            cudnnBackendDescriptor_t pack) {
  return api<"cudnnBackendExecute">([&] {
    const auto& made = finished(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    made.plan->run(made.plan, object(handle),
                   finished(pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
  });
}
#ifndef AW_CUDA_12
namespace {

void need(CUresult result) {
  const char* words = "";
  if (result == CUDA_SUCCESS) return;
  cuGetErrorString(result, &words);
  fail(CUDNN_STATUS_EXECUTION_FAILED, std::string("the driver refuses the graph: ") + words);
}

// Records what a plan does as nodes of a graph: it runs in a stream that is being captured.
void record(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack,
            CUgraph graph) {
  object(handle), require_pointer(graph);
  const auto& made = finished(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  const auto& values = finished(pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  aw::lib::ensure_context();
  cudnnContext beside;
  need(cuStreamCreate(&beside.stream, CU_STREAM_NON_BLOCKING));
  struct Ended {
    CUstream stream;
    ~Ended() { cuStreamDestroy(stream); }
  } ended{beside.stream};
  need(cuStreamBeginCaptureToGraph(beside.stream, graph, nullptr, nullptr, 0,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
  CUgraph out = nullptr;
  try {
    made.plan->run(made.plan, beside, values);
  } catch (...) {
    cuStreamEndCapture(beside.stream, &out);
    throw;
  }
  need(cuStreamEndCapture(beside.stream, &out));
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnBackendPopulateCudaGraph(cudnnHandle_t handle,
                                                      cudnnBackendDescriptor_t plan,
                                                      cudnnBackendDescriptor_t pack,
                                                      cudaGraph_t graph) {
  return api<"cudnnBackendPopulateCudaGraph">([&] {
    size_t nodes = 0;
    require_pointer(graph);
    need(cuGraphGetNodes(graph, nullptr, &nodes));
    require(nodes == 0, "a graph that is not empty");
    record(handle, plan, pack, graph);
  });
}
// The graph has the nodes of the same plan, so that an executable graph can be updated by it.
AW_EXPORT cudnnStatus_t cudnnBackendUpdateCudaGraph(cudnnHandle_t handle,
                                                    cudnnBackendDescriptor_t plan,
                                                    cudnnBackendDescriptor_t pack,
                                                    cudaGraph_t graph) {
  return api<"cudnnBackendUpdateCudaGraph">([&] {
    size_t count = 0, again = 0;
    require_pointer(graph);
    need(cuGraphGetNodes(graph, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    need(cuGraphGetNodes(graph, nodes.data(), &count));
    CUgraph fresh = nullptr;
    need(cuGraphCreate(&fresh, 0));
    struct Ended {
      CUgraph graph;
      ~Ended() { cuGraphDestroy(graph); }
    } ended{fresh};
    record(handle, plan, pack, fresh);  // what cannot be run leaves the graph as it is
    need(cuGraphGetNodes(fresh, nullptr, &again));
    require(again == count, "a graph that another plan was recorded in");
    for (CUgraphNode each : nodes) need(cuGraphDestroyNode(each));
    record(handle, plan, pack, graph);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetExecutionPlanWorkspaceSize(cudnnHandle_t handle,
                                                           cudnnBackendDescriptor_t plan,
                                                           cudnnBackendDescriptor_t,
                                                           size_t* bytes) {
  return api<"cudnnGetExecutionPlanWorkspaceSize">([&] {
    object(handle), require_pointer(bytes);
    finished(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    *bytes = 0;
  });
}
#endif
