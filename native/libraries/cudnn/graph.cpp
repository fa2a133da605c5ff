#include "libraries/cudnn/graph.h"

#include <algorithm>

namespace aw::dnn {
namespace {

constexpr size_t kOperationsMost = 4096;

#define AW_A(name) CUDNN_ATTR_OPERATION_##name
Ends ends_of(int type) {
  switch (type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return {{AW_A(CONVOLUTION_FORWARD_X), AW_A(CONVOLUTION_FORWARD_W)},
              {AW_A(CONVOLUTION_FORWARD_Y)}};
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return {{AW_A(CONVOLUTION_BWD_DATA_DY), AW_A(CONVOLUTION_BWD_DATA_W)},
              {AW_A(CONVOLUTION_BWD_DATA_DX)}};
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return {{AW_A(CONVOLUTION_BWD_FILTER_DY), AW_A(CONVOLUTION_BWD_FILTER_X)},
              {AW_A(CONVOLUTION_BWD_FILTER_DW)}};
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return {{AW_A(POINTWISE_XDESC), AW_A(POINTWISE_BDESC), AW_A(POINTWISE_TDESC),
               AW_A(POINTWISE_DYDESC)},
              {AW_A(POINTWISE_YDESC), AW_A(POINTWISE_DXDESC)}};
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return {{AW_A(REDUCTION_XDESC)}, {AW_A(REDUCTION_YDESC)}};
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return {{AW_A(MATMUL_ADESC), AW_A(MATMUL_BDESC)}, {AW_A(MATMUL_CDESC)}};
    case CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR:
      return {{AW_A(RESAMPLE_FWD_XDESC)}, {AW_A(RESAMPLE_FWD_YDESC), AW_A(RESAMPLE_FWD_IDXDESC)}};
    case CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR:
      return {{AW_A(RESAMPLE_BWD_DYDESC), AW_A(RESAMPLE_BWD_XDESC), AW_A(RESAMPLE_BWD_YDESC),
               AW_A(RESAMPLE_BWD_IDXDESC)},
              {AW_A(RESAMPLE_BWD_DXDESC)}};
    case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
      return {{AW_A(GENSTATS_XDESC)}, {AW_A(GENSTATS_SUMDESC), AW_A(GENSTATS_SQSUMDESC)}};
    case CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR:
      return {
          {AW_A(BN_FINALIZE_Y_SUM_DESC), AW_A(BN_FINALIZE_Y_SQ_SUM_DESC),
           AW_A(BN_FINALIZE_SCALE_DESC), AW_A(BN_FINALIZE_BIAS_DESC),
           AW_A(BN_FINALIZE_PREV_RUNNING_MEAN_DESC), AW_A(BN_FINALIZE_PREV_RUNNING_VAR_DESC),
           AW_A(BN_FINALIZE_ACCUM_COUNT_DESC), AW_A(BN_FINALIZE_EPSILON_DESC),
           AW_A(BN_FINALIZE_EXP_AVERATE_FACTOR_DESC)},
          {AW_A(BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC), AW_A(BN_FINALIZE_UPDATED_RUNNING_VAR_DESC),
           AW_A(BN_FINALIZE_SAVED_MEAN_DESC), AW_A(BN_FINALIZE_SAVED_INV_STD_DESC),
           AW_A(BN_FINALIZE_EQ_SCALE_DESC), AW_A(BN_FINALIZE_EQ_BIAS_DESC)}};
    case CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR:
      return {{AW_A(BN_BWD_WEIGHTS_MEAN_DESC), AW_A(BN_BWD_WEIGHTS_INVSTD_DESC),
               AW_A(BN_BWD_WEIGHTS_BN_SCALE_DESC), AW_A(BN_BWD_WEIGHTS_X_DESC),
               AW_A(BN_BWD_WEIGHTS_DY_DESC)},
              {AW_A(BN_BWD_WEIGHTS_DBN_SCALE_DESC), AW_A(BN_BWD_WEIGHTS_DBN_BIAS_DESC),
               AW_A(BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC), AW_A(BN_BWD_WEIGHTS_EQ_X_SCALE_DESC),
               AW_A(BN_BWD_WEIGHTS_EQ_BIAS)}};
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
      return {{AW_A(NORM_FWD_XDESC), AW_A(NORM_FWD_SCALE_DESC), AW_A(NORM_FWD_BIAS_DESC),
               AW_A(NORM_FWD_EPSILON_DESC), AW_A(NORM_FWD_EXP_AVG_FACTOR_DESC),
               AW_A(NORM_FWD_INPUT_RUNNING_MEAN_DESC), AW_A(NORM_FWD_INPUT_RUNNING_VAR_DESC)},
              {AW_A(NORM_FWD_YDESC), AW_A(NORM_FWD_OUTPUT_RUNNING_MEAN_DESC),
               AW_A(NORM_FWD_OUTPUT_RUNNING_VAR_DESC)}};
    case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:
      return {{AW_A(NORM_BWD_XDESC), AW_A(NORM_BWD_DYDESC), AW_A(NORM_BWD_MEAN_DESC),
               AW_A(NORM_BWD_INV_VARIANCE_DESC), AW_A(NORM_BWD_SCALE_DESC),
               AW_A(NORM_BWD_EPSILON_DESC)},
              {AW_A(NORM_BWD_DXDESC), AW_A(NORM_BWD_DSCALE_DESC), AW_A(NORM_BWD_DBIAS_DESC)}};
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return {{AW_A(RESHAPE_XDESC)}, {AW_A(RESHAPE_YDESC)}};
    case CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR:
      return {{AW_A(CONCAT_INPUT_DESCS)}, {AW_A(CONCAT_OUTPUT_DESC)}};
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR:
      return {{AW_A(RNG_SEED), AW_A(RNG_OFFSET_DESC)}, {AW_A(RNG_YDESC)}};
#ifndef AW_CUDA_12
    case CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR:
      return {{AW_A(TRANSPOSE_XDESC)}, {AW_A(TRANSPOSE_YDESC)}};
    case CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR:
      return {{AW_A(SLICE_XDESC)}, {AW_A(SLICE_YDESC)}};
    case CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR:
      return {{AW_A(SOFTMAX_XDESC), AW_A(SOFTMAX_SINK_DESC)},
              {AW_A(SOFTMAX_YDESC), AW_A(SOFTMAX_STATS_DESC), AW_A(SOFTMAX_MAX_DESC),
               AW_A(SOFTMAX_SUM_EXP_DESC)}};
    case CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR:
      return {{AW_A(DIAGONAL_BAND_MASK_XDESC), AW_A(DIAGONAL_BAND_MASK_SEQ_LEN_KVDESC),
               AW_A(DIAGONAL_BAND_MASK_SEQ_LEN_QDESC), AW_A(DIAGONAL_BAND_MASK_LEFT_BOUND_DESC),
               AW_A(DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC), AW_A(DIAGONAL_BAND_MASK_BDESC)},
              {AW_A(DIAGONAL_BAND_MASK_YDESC)}};
    case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
      return {
          {AW_A(SDPA_FWD_QDESC), AW_A(SDPA_FWD_KDESC), AW_A(SDPA_FWD_VDESC),
           AW_A(SDPA_FWD_SCALEDESC), AW_A(SDPA_FWD_SEQ_LEN_QDESC), AW_A(SDPA_FWD_SEQ_LEN_KVDESC)},
          {AW_A(SDPA_FWD_ODESC), AW_A(SDPA_FWD_STATSDESC)}};
    case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
      return {{AW_A(SDPA_BWD_QDESC), AW_A(SDPA_BWD_KDESC), AW_A(SDPA_BWD_VDESC),
               AW_A(SDPA_BWD_ODESC), AW_A(SDPA_BWD_STATSDESC), AW_A(SDPA_BWD_SCALEDESC),
               AW_A(SDPA_BWD_SEQ_LEN_QDESC), AW_A(SDPA_BWD_SEQ_LEN_KVDESC), AW_A(SDPA_BWD_DODDESC)},
              {AW_A(SDPA_BWD_DQDESC), AW_A(SDPA_BWD_DKDESC), AW_A(SDPA_BWD_DVDESC)}};
#endif
    default:
      unsupported(std::string("a graph with ") + name_of_descriptor(type) + " (" +
                  std::to_string(type) + ")");
  }
}
#undef AW_A

// What the ends of an operation are in the graph. Statistics of a normalisation are results in
// training and given in inference.
struct Node {
  const Content* operation;
  std::vector<size_t> inputs, outputs;
  std::vector<Node> inner;  // the operations that attention hands its scores through
  std::vector<size_t> inside;

  Node(Builder& builder, const Content& c) : operation(&c) {
    Ends ends = ends_of(c.type);
    if (c.type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR) {
      const bool trains = c.get<cudnnBackendNormFwdPhase_t>(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE) ==
                          CUDNN_NORM_FWD_TRAINING;
      auto& to = trains ? ends.outputs : ends.inputs;
      to.push_back(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC);
      to.push_back(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC);
    }
    auto all = [&](const std::vector<int>& names, std::vector<size_t>& to) {
      for (int name : names)
        if (c.has(name))
          for (const Shared& tensor : c.value(name).objects) to.push_back(builder.slot_of(*tensor));
    };
    all(ends.inputs, inputs), all(ends.outputs, outputs);
#ifndef AW_CUDA_12
    if (c.type != CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR ||
        !c.has(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH))
      return;
    const Content& graph = c.object(CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH);
    for (const Shared& each : graph.value(CUDNN_ATTR_OPERATIONGRAPH_OPS).objects) {
      require(each->type != c.type, "attention inside of attention", kWrongDescriptor);
      inner.emplace_back(builder, *each);
      for (size_t slot : inner.back().inputs)
        (builder.slots[slot].is_virtual ? inside : inputs).push_back(slot);
      for (size_t slot : inner.back().outputs) {
        require(builder.slots[slot].is_virtual, "a result of attention's own graph that is kept",
                CUDNN_STATUS_NOT_SUPPORTED);
        inside.push_back(slot);
      }
    }
#endif
  }
};

class Steps final : public Plan {
 public:
  explicit Steps(Builder&& builder) : built_(std::move(builder)) {}

  void run(const std::shared_ptr<const Plan>& self, cudnnContext& handle,
           const Content& pack) const override {
    const auto ids = pack.list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    const auto data = pack.list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    std::map<int64_t, void*> pointers;
    for (size_t i = 0; i < ids.size(); ++i) pointers[ids[i]] = data[i];
    std::vector<void*> places(built_.slots.size(), nullptr);
    std::vector<std::vector<unsigned char>> values(built_.slots.size());
    for (size_t i = 0; i < places.size(); ++i) {
      const Slot& slot = built_.slots[i];
      values[i] = slot.constant;
      if (slot.is_virtual || !slot.used || !slot.constant.empty()) continue;
      auto found = pointers.find(slot.id);
      if (found == pointers.end())
        fail(CUDNN_STATUS_BAD_PARAM,
             "tensor " + std::to_string(slot.id) + " of the graph has no pointer");
      require_pointer(found->second);
      places[i] = found->second;
      if (!slot.by_value) continue;
      // Given on the host, and read now.
      auto* from = static_cast<const unsigned char*>(found->second);
      values[i].assign(from, from + slot.layout.bytes());
    }
    work(handle, "cudnn_graph", built_.doubles,
         [keep = self, this, places = std::move(places), values = std::move(values)](auto zero) {
           perform(places, values, zero);
         });
  }

 private:
  template <class T>
  void perform(const std::vector<void*>& places,
               const std::vector<std::vector<unsigned char>>& values, T zero) const {
    Run run;
    std::vector<Scratch<T>> rooms(built_.slots.size());
    for (size_t i = 0; i < built_.slots.size(); ++i) {
      Layout layout = built_.slots[i].layout;
      if (built_.slots[i].is_virtual) layout.type = type_of<T>();
      run.views.emplace_back(layout, values[i].empty() ? places[i] : values[i].data());
    }
    for (size_t at = 0; at < built_.steps.size(); ++at) {
      const Step& step = built_.steps[at];
      auto room_for = [&](const Step& made_by) {
        for (size_t made : made_by.makes) {
          rooms[made].reset(built_.slots[made].layout.span());
          run.views[made].data = reinterpret_cast<unsigned char*>(rooms[made].get());
        }
      };
      if constexpr (sizeof(T) == sizeof(float)) {
        if (step.together) room_for(built_.steps[at + step.covers]);
        if (step.together && step.together(run))
          at += step.covers;
        else
          room_for(step), step.single(run, zero);
      } else {
        room_for(step), step.twice(run, zero);
      }
      for (size_t i = 0; i < rooms.size(); ++i)
        if (rooms[i] && built_.slots[i].last_use <= at) rooms[i].reset(0);
    }
  }

  Builder built_;
};

// Sums of products of bytes are exact as doubles.
bool wants_doubles(const Content& operation) {
  for (auto [holder, attribute] :
       {std::pair{int{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC},
                  int{CUDNN_ATTR_CONVOLUTION_COMP_TYPE}},
        std::pair{int{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC},
                  int{CUDNN_ATTR_CONVOLUTION_COMP_TYPE}},
        std::pair{int{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC},
                  int{CUDNN_ATTR_CONVOLUTION_COMP_TYPE}},
        std::pair{int{CUDNN_ATTR_OPERATION_MATMUL_DESC}, int{CUDNN_ATTR_MATMUL_COMP_TYPE}}})
    if (operation.has(holder) && wide(operation.object(holder).get<cudnnDataType_t>(attribute)))
      return true;
  return false;
}

}  // namespace

size_t Builder::slot(const Content& operation, int attribute) {
  return use(operation.object(attribute));
}

size_t Builder::use(const Content& tensor) {
  const size_t found = slot_of(tensor);
  slots[found].used = true;
  return found;
}

size_t Builder::slot_of(const Content& tensor) {
  require(tensor.type == CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a descriptor that is no tensor",
          kWrongDescriptor);
  const auto id = tensor.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  auto [found, fresh] = by_id_.emplace(id, slots.size());
  if (!fresh) return found->second;
  Slot made;
  made.id = id;
  made.is_virtual = tensor.get<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL, false);
  made.by_value = tensor.get<bool>(CUDNN_ATTR_TENSOR_IS_BY_VALUE, false);
  const auto type = tensor.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  if (!known(type)) unsupported("a graph with tensors of data type " + std::to_string(type));
  if (tensor.get<int64_t>(CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1) != 1)
    unsupported("a graph with tensors of vectors");
  if (tensor.has(CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC)) unsupported("a graph with ragged tensors");
  if (tensor.get<int32_t>(CUDNN_ATTR_TENSOR_REORDERING_MODE, 0) != CUDNN_TENSOR_REORDERING_NONE)
    unsupported("a graph with reordered tensors");
  const auto dims = tensor.numbers(CUDNN_ATTR_TENSOR_DIMENSIONS),
             strides = tensor.numbers(CUDNN_ATTR_TENSOR_STRIDES);
  made.layout = make_layout(type, static_cast<int>(dims.size()), dims.data(), strides.data());
  if (made.is_virtual && !made.layout.distinct()) made.layout = packed(type, made.layout);
  made.known = !made.is_virtual;
  if (made.by_value) require(made.layout.elements() == 1, "a value that is not one element");
#ifndef AW_CUDA_12
  if (tensor.has(CUDNN_ATTR_TENSOR_CONSTANT_VALUE)) {
    made.constant = tensor.value(CUDNN_ATTR_TENSOR_CONSTANT_VALUE).bytes;
    require(made.constant.size() >= element_bytes(type) && made.layout.elements() == 1,
            "a constant of another size");
  }
#endif
  if (type == CUDNN_DATA_DOUBLE && !made.by_value && made.constant.empty()) doubles = true;
  slots.push_back(std::move(made));
  return slots.size() - 1;
}

double number_of(const View& view) {
  double room;
  return *load_row<double>(view, 0, 0, 1, &room);
}
int64_t whole_number_of(const View& view) {
  if (view.type == CUDNN_DATA_INT64) return *reinterpret_cast<const int64_t*>(view.data);
  return static_cast<int64_t>(number_of(view));
}

size_t Builder::find(int64_t id) const {
  const auto found = by_id_.find(id);
  require(found != by_id_.end(), "a number that no tensor of the graph has");
  return found->second;
}
size_t Builder::hidden(const Layout& layout) {
  Slot made;
  made.layout = layout, made.is_virtual = made.used = true;
  slots.push_back(std::move(made));
  return slots.size() - 1;
}

namespace {

// Steps for all of them, each behind what it reads.
void lay(Builder& builder, std::vector<Node> waiting) {
  auto ready = [&](const Node& node) {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](size_t slot) { return builder.slots[slot].known; });
  };
  while (!waiting.empty()) {
    auto next = std::find_if(waiting.begin(), waiting.end(), ready);
    require(next != waiting.end(), "operations that wait for each other");
    const Content& c = *next->operation;
    const size_t before = builder.steps.size();
    if (!add_pointwise(builder, c) && !add_products(builder, c) && !add_norms(builder, c) &&
        !add_attention(builder, c, [&] { lay(builder, next->inner); }))
      add_moves(builder, c);
    require(builder.steps.size() > before, "an operation without a step",
            CUDNN_STATUS_INTERNAL_ERROR);
    const size_t last = builder.steps.size() - 1;
    for (size_t slot : next->outputs) {
      builder.slots[slot].known = true, builder.slots[slot].last_use = last;
      builder.makes(slot);
    }
    for (size_t slot : next->inputs) builder.slots[slot].last_use = last;
    for (size_t slot : next->inside) builder.slots[slot].last_use = last;
    waiting.erase(next);
  }
}

}  // namespace

std::shared_ptr<const Plan> Plan::make(const Content& graph) {
  Builder builder;
  std::vector<Node> waiting;
  const auto& operations = graph.value(CUDNN_ATTR_OPERATIONGRAPH_OPS).objects;
  require(operations.size() <= kOperationsMost, "a graph of too many operations",
          CUDNN_STATUS_NOT_SUPPORTED);
  for (const Shared& each : operations) {
    waiting.emplace_back(builder, *each);
    if (wants_doubles(*each)) builder.doubles = true;
  }
  // What the graph writes is not known before it is written, nor is it in two places.
  std::vector<bool> written(builder.slots.size(), false);
  for (const Node& node : waiting)
    for (size_t slot : node.outputs) {
      require(!written[slot], "a tensor that two operations write");
      written[slot] = true;
      const bool in_place =
          std::find(node.inputs.begin(), node.inputs.end(), slot) != node.inputs.end();
      if (!in_place) builder.slots[slot].known = false;
      require(builder.slots[slot].is_virtual || builder.slots[slot].layout.distinct(),
              "a result whose elements share places");
    }
  for (const Node& node : waiting)
    for (size_t slot : node.inside) written[slot] = true;
  for (size_t i = 0; i < written.size(); ++i)
    require(builder.slots[i].known || written[i], "a virtual tensor that no operation makes");
  std::vector<int> readers(builder.slots.size(), 0);
  for (const Node& node : waiting)
    for (size_t slot : node.inputs) ++readers[slot];
  lay(builder, std::move(waiting));
  join_convolutions(builder, readers);
  return std::make_shared<Steps>(std::move(builder));
}

}  // namespace aw::dnn
