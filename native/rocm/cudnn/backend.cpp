// The graph interface of cuDNN: create, set, finalise, ask and execute.
#include "rocm/cudnn/backend.h"

#include <algorithm>

using namespace aw::dnn;

namespace {

struct Rule {
  cudnnBackendAttributeName_t name;
  cudnnBackendDescriptorType_t owner;
  cudnnBackendAttributeType_t type;
  int64_t least, most;
  bool required;
};

constexpr int64_t kMany = 1 << 16;
#define AW_RULE(owner, name, type, least, most, required) \
  {CUDNN_ATTR_##name, CUDNN_BACKEND_##owner##_DESCRIPTOR, CUDNN_TYPE_##type, least, most, required}
// Attributes that mean something here, by the tables of cuDNN's reference.
constexpr Rule kRules[] = {
    AW_RULE(TENSOR, TENSOR_BYTE_ALIGNMENT, INT64, 1, 1, true),
    AW_RULE(TENSOR, TENSOR_DATA_TYPE, DATA_TYPE, 1, 1, true),
    AW_RULE(TENSOR, TENSOR_DIMENSIONS, INT64, 1, kMostDims, true),
    AW_RULE(TENSOR, TENSOR_STRIDES, INT64, 1, kMostDims, true),
    AW_RULE(TENSOR, TENSOR_UNIQUE_ID, INT64, 1, 1, true),
    AW_RULE(TENSOR, TENSOR_IS_VIRTUAL, BOOLEAN, 1, 1, false),
    AW_RULE(TENSOR, TENSOR_IS_BY_VALUE, BOOLEAN, 1, 1, false),
    AW_RULE(TENSOR, TENSOR_VECTOR_COUNT, INT64, 1, 1, false),
    AW_RULE(TENSOR, TENSOR_VECTORIZED_DIMENSION, INT64, 1, 1, false),
    AW_RULE(TENSOR, TENSOR_REORDERING_MODE, TENSOR_REORDERING_MODE, 1, 1, false),
    AW_RULE(TENSOR, TENSOR_RAGGED_OFFSET_DESC, BACKEND_DESCRIPTOR, 1, 1, false),
    AW_RULE(CONVOLUTION, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, 1, true),
    AW_RULE(CONVOLUTION, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, 1, true),
    AW_RULE(CONVOLUTION, CONVOLUTION_DILATIONS, INT64, 1, kMostDims, true),
    AW_RULE(CONVOLUTION, CONVOLUTION_FILTER_STRIDES, INT64, 1, kMostDims, true),
    AW_RULE(CONVOLUTION, CONVOLUTION_POST_PADDINGS, INT64, 1, kMostDims, true),
    AW_RULE(CONVOLUTION, CONVOLUTION_PRE_PADDINGS, INT64, 1, kMostDims, true),
    AW_RULE(CONVOLUTION, CONVOLUTION_SPATIAL_DIMS, INT64, 1, 1, true),
#define AW_CONVOLUTION_RULES(owner, name, a, b, c)                      \
  AW_RULE(owner, name##_ALPHA, FLOAT, 1, 1, false),                     \
      AW_RULE(owner, name##_BETA, FLOAT, 1, 1, false),                  \
      AW_RULE(owner, name##_CONV_DESC, BACKEND_DESCRIPTOR, 1, 1, true), \
      AW_RULE(owner, name##_##a, BACKEND_DESCRIPTOR, 1, 1, true),       \
      AW_RULE(owner, name##_##b, BACKEND_DESCRIPTOR, 1, 1, true),       \
      AW_RULE(owner, name##_##c, BACKEND_DESCRIPTOR, 1, 1, true)
    AW_CONVOLUTION_RULES(OPERATION_CONVOLUTION_FORWARD, OPERATION_CONVOLUTION_FORWARD, W, X, Y),
    AW_CONVOLUTION_RULES(OPERATION_CONVOLUTION_BACKWARD_DATA, OPERATION_CONVOLUTION_BWD_DATA, W, DX,
                         DY),
    AW_CONVOLUTION_RULES(OPERATION_CONVOLUTION_BACKWARD_FILTER, OPERATION_CONVOLUTION_BWD_FILTER,
                         DW, X, DY),
    AW_RULE(POINTWISE, POINTWISE_MODE, POINTWISE_MODE, 1, 1, true),
    AW_RULE(POINTWISE, POINTWISE_MATH_PREC, DATA_TYPE, 1, 1, true),
    AW_RULE(POINTWISE, POINTWISE_NAN_PROPAGATION, NAN_PROPOGATION, 1, 1, false),
    AW_RULE(POINTWISE, POINTWISE_RELU_LOWER_CLIP, DOUBLE, 1, 1, false),
    AW_RULE(POINTWISE, POINTWISE_RELU_UPPER_CLIP, DOUBLE, 1, 1, false),
    AW_RULE(POINTWISE, POINTWISE_RELU_LOWER_CLIP_SLOPE, DOUBLE, 1, 1, false),
    AW_RULE(POINTWISE, POINTWISE_ELU_ALPHA, DOUBLE, 1, 1, false),
    AW_RULE(POINTWISE, POINTWISE_SOFTPLUS_BETA, DOUBLE, 1, 1, false),
    AW_RULE(POINTWISE, POINTWISE_SWISH_BETA, DOUBLE, 1, 1, false),
    AW_RULE(POINTWISE, POINTWISE_AXIS, INT64, 1, 1, false),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_PW_DESCRIPTOR, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_XDESC, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_BDESC, BACKEND_DESCRIPTOR, 1, 1, false),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_TDESC, BACKEND_DESCRIPTOR, 1, 1, false),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_YDESC, BACKEND_DESCRIPTOR, 1, 1, false),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_DXDESC, BACKEND_DESCRIPTOR, 1, 1, false),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_DYDESC, BACKEND_DESCRIPTOR, 1, 1, false),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_ALPHA1, FLOAT, 1, 1, false),
    AW_RULE(OPERATION_POINTWISE, OPERATION_POINTWISE_ALPHA2, FLOAT, 1, 1, false),
    AW_RULE(REDUCTION, REDUCTION_OPERATOR, REDUCTION_OPERATOR_TYPE, 1, 1, true),
    AW_RULE(REDUCTION, REDUCTION_COMP_TYPE, DATA_TYPE, 1, 1, true),
    AW_RULE(OPERATION_REDUCTION, OPERATION_REDUCTION_DESC, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(OPERATION_REDUCTION, OPERATION_REDUCTION_XDESC, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(OPERATION_REDUCTION, OPERATION_REDUCTION_YDESC, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(MATMUL, MATMUL_COMP_TYPE, DATA_TYPE, 1, 1, true),
    AW_RULE(OPERATION_MATMUL, OPERATION_MATMUL_DESC, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(OPERATION_MATMUL, OPERATION_MATMUL_ADESC, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(OPERATION_MATMUL, OPERATION_MATMUL_BDESC, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(OPERATION_MATMUL, OPERATION_MATMUL_CDESC, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(OPERATIONGRAPH, OPERATIONGRAPH_HANDLE, HANDLE, 1, 1, true),
    AW_RULE(OPERATIONGRAPH, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, 1, kMany, true),
    AW_RULE(ENGINEHEUR, ENGINEHEUR_MODE, HEUR_MODE, 1, 1, true),
    AW_RULE(ENGINEHEUR, ENGINEHEUR_OPERATION_GRAPH, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(ENGINE, ENGINE_OPERATION_GRAPH, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(ENGINE, ENGINE_GLOBAL_INDEX, INT64, 1, 1, true),
    AW_RULE(ENGINECFG, ENGINECFG_ENGINE, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(ENGINECFG, ENGINECFG_KNOB_CHOICES, BACKEND_DESCRIPTOR, 0, kMany, false),
    AW_RULE(EXECUTION_PLAN, EXECUTION_PLAN_HANDLE, HANDLE, 1, 1, false),
    AW_RULE(EXECUTION_PLAN, EXECUTION_PLAN_ENGINE_CONFIG, BACKEND_DESCRIPTOR, 1, 1, true),
    AW_RULE(VARIANT_PACK, VARIANT_PACK_UNIQUE_IDS, INT64, 0, kMany, true),
    AW_RULE(VARIANT_PACK, VARIANT_PACK_DATA_POINTERS, VOID_PTR, 0, kMany, true),
    AW_RULE(VARIANT_PACK, VARIANT_PACK_WORKSPACE, VOID_PTR, 0, 1, false),
};

// Bytes of one element of a type.
size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    case CUDNN_TYPE_FRACTION:
      return 16;
    default:
      return 4;  // float, int32 and all enums
  }
}

const Rule* rule_of(int name) {
  auto found = std::find_if(std::begin(kRules), std::end(kRules),
                            [&](const Rule& rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

// A factor may be given as float or double.
bool fits(cudnnBackendAttributeType_t given, cudnnBackendAttributeType_t wanted) {
  auto real = [](auto type) { return type == CUDNN_TYPE_FLOAT || type == CUDNN_TYPE_DOUBLE; };
  return given == wanted || (real(given) && real(wanted));
}

cudnnBackendDescriptor_s& descriptor(cudnnBackendDescriptor_t handle) {
  require_pointer(handle);
  auto& found = *static_cast<cudnnBackendDescriptor_s*>(handle);
  require(found.valid(), "not a backend descriptor, or a destroyed one");
  return found;
}

void check_tensor(const Content& c) {
  const auto dims = c.list<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
             strides = c.list<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  require(dims.size() == strides.size(), "dimensions and strides of different counts",
          CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
  for (int64_t dim : dims) require(dim > 0, "a dimension is not positive");
  const auto alignment = c.get<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  require(alignment > 0 && !(alignment & (alignment - 1)), "an alignment that is no power of two");
}

void check_convolution(const Content& c) {
  const auto count = static_cast<size_t>(c.get<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  for (auto name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                    CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
    require(c.list<int64_t>(name).size() == count,
            "a list that has not one number for each dimension of space");
}

// The graph behind an engine, or behind the configuration of one.
const Content& graph_of(const Content& c) {
  if (c.type == CUDNN_BACKEND_ENGINE_DESCRIPTOR) return c.object(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  return graph_of(c.object(c.type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR
                               ? CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG
                               : CUDNN_ATTR_ENGINECFG_ENGINE));
}
cudnnHandle_s& handle_of(const Content& graph) {
  return object(graph.get<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE));
}

void finalize(Content& c) {
  for (const Rule& rule : kRules)
    if (rule.owner == c.type && rule.required)
      require(c.has(rule.name), "an attribute that must be set is missing", CUDNN_STATUS_BAD_PARAM);
  switch (c.type) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
      return check_tensor(c);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
      return check_convolution(c);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      handle_of(c);
      return;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: {
      require(c.get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX) == 0, "there is one engine, number 0",
              CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
      const Content& graph = graph_of(c);
      Plan::make(handle_of(graph), graph);
      return;
    }
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: {
      const Content& graph = graph_of(c);
      auto* own = c.get<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, nullptr);
      c.plan = Plan::make(own ? object(own) : handle_of(graph), graph);
      return;
    }
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
    Plan::make(handle_of(graph), graph);
    return true;
  } catch (const aw::Failure& failure) {
    if (failure.code / 1000 == CUDNN_STATUS_NOT_SUPPORTED / 1000) return false;
    throw;
  }
}

Shared make_content(cudnnBackendDescriptorType_t type) {
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

Value heuristic_results(const Content& c) {
  const Shared& graph = c.objects(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)[0];
  Value none{CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, {}, {}};
  if (!runnable(*graph)) return none;
  auto engine = make_content(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
       config = make_content(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  engine->values[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = one_object(graph);
  engine->values[CUDNN_ATTR_ENGINE_GLOBAL_INDEX] = one(CUDNN_TYPE_INT64, int64_t{0});
  config->values[CUDNN_ATTR_ENGINECFG_ENGINE] = one_object(engine);
  engine->final = config->final = true;
  return one_object(config);
}

// What is not set but follows.
Value derived(const Content& c, cudnnBackendAttributeName_t name) {
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return heuristic_results(c);
    case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
      return one(CUDNN_TYPE_INT64, int64_t{1});
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      require(c.plan != nullptr, "not an execution plan");
      return one(CUDNN_TYPE_INT64, static_cast<int64_t>(c.plan->workspace()));
    case CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE: {
      const Content& graph = graph_of(c);
      return one(CUDNN_TYPE_INT64,
                 static_cast<int64_t>(Plan::make(handle_of(graph), graph)->workspace()));
    }
    case CUDNN_ATTR_ENGINE_KNOB_INFO:
    case CUDNN_ATTR_ENGINE_LAYOUT_INFO:
    case CUDNN_ATTR_ENGINECFG_INTERMEDIATE_INFO:
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
      return {CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, {}, {}};
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return {CUDNN_TYPE_NUMERICAL_NOTE, 0, {}, {}};
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
      return {CUDNN_TYPE_BEHAVIOR_NOTE, 0, {}, {}};
    default:
      fail(CUDNN_STATUS_NOT_SUPPORTED,
           "an attribute that was not set and that nothing is known of: " + std::to_string(name));
  }
}

void answer(const Value& value, cudnnBackendAttributeType_t type, int64_t requested, int64_t* count,
            void* array) {
  require(type == value.type, "an attribute of another type",
          CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  require(requested >= 0, "a negative count");
  if (count) *count = value.count;
  const auto take = static_cast<size_t>(std::min(requested, value.count));
  if (!take || !array) return;
  if (type != CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    memcpy(array, value.bytes.data(), take * size_of(type));
    return;
  }
  // Descriptors of the program's own become what is asked for.
  auto* to = static_cast<cudnnBackendDescriptor_t*>(array);
  for (size_t i = 0; i < take; ++i) {
    auto& target = descriptor(to[i]);
    require(target.content->type == value.objects[i]->type, "a descriptor of another type",
            CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
    target.content = value.objects[i];
  }
}

}  // namespace

const char* aw::dnn::name_of(cudnnBackendDescriptorType_t type) {
  switch (type) {
#define AW_NAMED(name)                    \
  case CUDNN_BACKEND_##name##_DESCRIPTOR: \
    return #name;
    AW_NAMED(OPERATION_GEN_STATS)
    AW_NAMED(OPERATION_BN_FINALIZE_STATISTICS)
    AW_NAMED(OPERATION_BN_BWD_WEIGHTS)
    AW_NAMED(OPERATION_RESAMPLE_FWD)
    AW_NAMED(OPERATION_RESAMPLE_BWD)
    AW_NAMED(OPERATION_CONCAT)
    AW_NAMED(OPERATION_SIGNAL)
    AW_NAMED(OPERATION_NORM_FORWARD)
    AW_NAMED(OPERATION_NORM_BACKWARD)
    AW_NAMED(OPERATION_RESHAPE)
    AW_NAMED(OPERATION_RNG)
    AW_NAMED(OPERATION_SDPA_FWD)
    AW_NAMED(OPERATION_SDPA_BWD)
    AW_NAMED(OPERATION_SOFTMAX)
    AW_NAMED(OPERATION_SLICE)
    AW_NAMED(OPERATION_TRANSPOSE)
    AW_NAMED(OPERATION_PAGED_CACHE_LOAD)
    AW_NAMED(OPERATION_BLOCK_SCALE_QUANTIZE)
    AW_NAMED(OPERATION_BLOCK_SCALE_DEQUANTIZE)
    AW_NAMED(OPERATION_MOE_GROUPED_MATMUL)
#undef AW_NAMED
    default:
      return "an operation";
  }
}

const Value& aw::dnn::Content::value(cudnnBackendAttributeName_t name) const {
  auto found = values.find(name);
  if (found == values.end())
    fail(CUDNN_STATUS_BAD_PARAM, "attribute " + std::to_string(name) + " was not set");
  return found->second;
}
const Content& aw::dnn::Content::object(cudnnBackendAttributeName_t name) const {
  const auto& list = objects(name);
  require(list.size() == 1, "one descriptor is wanted");
  return *list[0];
}
double aw::dnn::Content::real(cudnnBackendAttributeName_t name, double otherwise) const {
  if (!has(name)) return otherwise;
  return value(name).type == CUDNN_TYPE_DOUBLE ? get<double>(name)
                                               : static_cast<double>(get<float>(name));
}

AW_CUDNN(cudnnBackendCreateDescriptor, cudnnBackendDescriptorType_t type,
         cudnnBackendDescriptor_t* handle) {
  require_pointer(handle);
  require(type >= CUDNN_BACKEND_POINTWISE_DESCRIPTOR &&
              type <= CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR,
          "no such descriptor");
  auto made = std::make_unique<cudnnBackendDescriptor_s>();
  made->content = make_content(type);
  *handle = made.release();
}
AW_CUDNN(cudnnBackendDestroyDescriptor, cudnnBackendDescriptor_t handle) {
  if (handle) delete &descriptor(handle);
}
AW_CUDNN(cudnnBackendInitialize, cudnnBackendDescriptor_t handle) {
  auto& found = descriptor(handle);
  found.content = make_content(found.content->type);
}

AW_CUDNN(cudnnBackendSetAttribute, cudnnBackendDescriptor_t handle,
         cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
         const void* array) {
  auto& found = descriptor(handle);
  require(!found.content->final, "a descriptor that is final");
  require(count >= 0 && count <= kMany, "a count out of range",
          CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
  require(count == 0 || array, "a null pointer", CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
  if (const Rule* rule = rule_of(name)) {
    require(rule->owner == found.content->type, "an attribute of another descriptor",
            CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
    require(fits(type, rule->type), "a value of another type",
            CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
    require(count >= rule->least && count <= rule->most,
            "a count that the attribute does not take");
  }
  Value value{type, count, {}, {}};
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    auto* from = static_cast<const cudnnBackendDescriptor_t*>(array);
    for (int64_t i = 0; i < count; ++i) {
      const auto& content = descriptor(from[i]).content;
      require(content->final, "a descriptor that is not final",
              CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
      value.objects.push_back(content);
    }
  } else if (count) {
    auto* from = static_cast<const unsigned char*>(array);
    value.bytes.assign(from, from + static_cast<size_t>(count) * size_of(type));
  }
  found.content->values[name] = std::move(value);
}
AW_CUDNN(cudnnBackendFinalize, cudnnBackendDescriptor_t handle) {
  auto& content = *descriptor(handle).content;
  if (content.final) return;
  finalize(content);
  content.final = true;
}
AW_CUDNN(cudnnBackendGetAttribute, const cudnnBackendDescriptor_t handle,
         cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t requested,
         int64_t* count, void* array) {
  const auto& content = *descriptor(handle).content;
  require(content.final, "a descriptor that is not final", CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  auto set = content.values.find(name);
  answer(set != content.values.end() ? set->second : derived(content, name), type, requested, count,
         array);
}

namespace {

const Content& finished(cudnnBackendDescriptor_t handle, cudnnBackendDescriptorType_t type) {
  const auto& content = *descriptor(handle).content;
  require(content.type == type, "a descriptor of another type",
          CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE);
  require(content.final, "a descriptor that is not final", CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  return content;
}

}  // namespace

AW_CUDNN(cudnnBackendExecute, cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
         cudnnBackendDescriptor_t pack) {
  const auto& made = finished(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  made.plan->run(object(handle), finished(pack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR));
}
AW_CUDNN(cudnnGetExecutionPlanWorkspaceSize, cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
         cudnnBackendDescriptor_t, size_t* bytes) {
  object(handle), require_pointer(bytes);
  *bytes = finished(plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR).plan->workspace();
}
