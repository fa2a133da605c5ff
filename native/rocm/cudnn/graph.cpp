#include "rocm/cudnn/graph.h"

#include <algorithm>

namespace aw::dnn {
namespace {

constexpr size_t kAlignment = 256;
size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

class Steps final : public Plan {
 public:
  explicit Steps(Builder&& builder) : built_(std::move(builder)) {}

  size_t workspace() const override { return built_.virtual_bytes + aligned(built_.scratch_bytes); }

  void run(cudnnHandle_s& handle, const Content& pack) override {
    std::lock_guard lock(mutex_);
    const auto ids = pack.list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto data = pack.list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    std::map<int64_t, void*> pointers;
    for (size_t i = 0; i < ids.size(); ++i) pointers[ids[i]] = data[i];
    unsigned char* space = nullptr;
    if (pack.has(CUDNN_ATTR_VARIANT_PACK_WORKSPACE) &&
        pack.value(CUDNN_ATTR_VARIANT_PACK_WORKSPACE).count)
      space = pack.get<unsigned char*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    require(space || !workspace(), "a plan that needs a workspace",
            CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
    for (const auto& [id, slot] : built_.slots)
      require(slot->is_virtual || pointers.count(id), "a tensor of the graph has no pointer");
    const Run run{handle, pointers, space, built_.virtual_bytes, built_.scratch_bytes};
    for (const Step& step : built_.steps) step(run);
  }

 private:
  Builder built_;
  std::mutex mutex_;
};

struct Ends {
  std::vector<cudnnBackendAttributeName_t> inputs;
  cudnnBackendAttributeName_t output;
};

Ends ends_of(const Content& c) {
  switch (c.type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return {
          {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W},
          CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W},
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX};
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
               CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X},
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW};
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: {
      Ends ends{{CUDNN_ATTR_OPERATION_POINTWISE_XDESC}, CUDNN_ATTR_OPERATION_POINTWISE_YDESC};
      for (auto name : {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_ATTR_OPERATION_POINTWISE_TDESC,
                        CUDNN_ATTR_OPERATION_POINTWISE_DYDESC})
        if (c.has(name)) ends.inputs.push_back(name);
      if (c.has(CUDNN_ATTR_OPERATION_POINTWISE_DXDESC))
        ends.output = CUDNN_ATTR_OPERATION_POINTWISE_DXDESC;
      return ends;
    }
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC}, CUDNN_ATTR_OPERATION_REDUCTION_YDESC};
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_ATTR_OPERATION_MATMUL_BDESC},
              CUDNN_ATTR_OPERATION_MATMUL_CDESC};
    default:
      unsupported(std::string("a graph with ") + name_of(c.type) + " (" + std::to_string(c.type) +
                  ")");
  }
}

void add(Builder& builder, const Content& operation) {
  switch (operation.type) {
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return add_pointwise(builder, operation);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return add_reduction(builder, operation);
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return add_matmul(builder, operation);
    default:
      return add_convolution(builder, operation);
  }
}

bool ready(Builder& builder, const Content& operation) {
  for (auto name : ends_of(operation).inputs)
    if (!builder.slot(operation, name).known) return false;
  return true;
}

}  // namespace

void* Run::data(const Slot& slot) const {
  return slot.is_virtual ? workspace + slot.offset : pointers.at(slot.id);
}

double Run::value(const Slot& slot) const {
  const void* from = pointers.at(slot.id);
  require_pointer(from);
  switch (slot.declared) {
    case CUDNN_DATA_FLOAT:
      return static_cast<double>(*static_cast<const float*>(from));
    case CUDNN_DATA_DOUBLE:
      return *static_cast<const double*>(from);
    case CUDNN_DATA_INT32:
      return *static_cast<const int32_t*>(from);
    default:
      unsupported("a scalar of data type " + std::to_string(slot.declared) + " given by value");
  }
}

Slot& Builder::slot(const Content& operation, cudnnBackendAttributeName_t name) {
  const Content& tensor = operation.object(name);
  const auto id = tensor.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  auto& found = slots[id];
  if (found) return *found;
  found = std::make_unique<Slot>();
  found->id = id;
  found->is_virtual = tensor.get<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
  found->by_value = tensor.get<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE, false);
  found->declared = tensor.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  found->known = !found->is_virtual;
  if (tensor.get<int64_t>(CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1) != 1)
    unsupported("a tensor of vectors");
  if (tensor.has(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC)) unsupported("a tensor with ragged rows");
  std::vector<int> dims, strides;
  for (auto [from, to] : {std::pair{CUDNN_ATTR_TENSOR_DIMENSIONS, &dims},
                          std::pair{CUDNN_ATTR_TENSOR_STRIDES, &strides}})
    for (int64_t number : tensor.list<int64_t>(from)) {
      require(number >= 0 && number <= INT32_MAX, "a dimension or stride that MIOpen cannot have",
              CUDNN_STATUS_NOT_SUPPORTED);
      to->push_back(static_cast<int>(number));
    }
  found->desc.set(found->declared, static_cast<int>(dims.size()), dims.data(), strides.data());
  return *found;
}

Slot& Builder::output(const Content& operation, cudnnBackendAttributeName_t name,
                      const Slot& like) {
  Slot& found = slot(operation, name);
  if (found.is_virtual) {
    const auto dims = found.desc.dims, strides = found.desc.strides;
    found.desc.set(like.desc.type, static_cast<int>(dims.size()), dims.data(), strides.data());
    found.offset = virtual_bytes;
    virtual_bytes += aligned(found.desc.bytes());
  }
  found.known = true;
  return found;
}

std::shared_ptr<Plan> Plan::make(cudnnHandle_s& handle, const Content& graph) {
  Builder builder{handle, {}, {}, {}, 0, 0};
  std::vector<const Content*> waiting;
  for (const Shared& each : graph.objects(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    waiting.push_back(each.get());
  // What the graph itself writes is not known before it is written.
  for (const Content* each : waiting) builder.slot(*each, ends_of(*each).output).known = false;
  while (!waiting.empty()) {
    auto next = std::find_if(waiting.begin(), waiting.end(),
                             [&](const Content* each) { return ready(builder, *each); });
    require(next != waiting.end(), "operations that wait for each other");
    add(builder, **next);
    waiting.erase(next);
  }
  return std::make_shared<Steps>(std::move(builder));
}

}  // namespace aw::dnn
