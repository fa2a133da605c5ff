// cuDNN: descriptors of recurrent networks and of sequences, by the interface of version 8.
#include <algorithm>

#include "libraries/cudnn/recurrent.h"

using namespace aw::dnn;

AW_EXPORT cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* desc) {
  return api<"cudnnCreateRNNDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t desc) {
  return api<"cudnnDestroyRNNDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetRNNDescriptor_v8(
    cudnnRNNDescriptor_t desc, cudnnRNNAlgo_t algo, cudnnRNNMode_t cell, cudnnRNNBiasMode_t bias,
    cudnnDirectionMode_t direction, cudnnRNNInputMode_t input, cudnnDataType_t type,
    cudnnDataType_t precision, cudnnMathType_t math, int32_t input_size, int32_t hidden,
    int32_t projection, int32_t layers, cudnnDropoutDescriptor_t dropout, uint32_t flags) {
  return api<"cudnnSetRNNDescriptor_v8">([&] {
    auto& to = object(desc);
    require(cell >= CUDNN_RNN_RELU && cell <= CUDNN_GRU, "no such cell");
    require(bias >= CUDNN_RNN_NO_BIAS && bias <= CUDNN_RNN_SINGLE_REC_BIAS,
            "no such mode of biases");
    require(direction == CUDNN_UNIDIRECTIONAL || direction == CUDNN_BIDIRECTIONAL,
            "no such direction");
    require(input_size > 0 && hidden > 0 && layers > 0 && projection >= 0 && projection <= hidden,
            "a size out of range");
    require(projection == 0 || projection == hidden || cell == CUDNN_LSTM,
            "a projection of a cell that is no LSTM");
    require(input == CUDNN_LINEAR_INPUT || (input == CUDNN_SKIP_INPUT && input_size == hidden),
            "an input that is taken as it is, of another size than the state");
    if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE && type != CUDNN_DATA_HALF &&
        type != CUDNN_DATA_BFLOAT16)
      unsupported("recurrent networks of data type " + std::to_string(type));
    to.algo = algo, to.cell = cell, to.bias = bias, to.direction = direction, to.input = input,
    to.type = type;
    to.precision = precision, to.math = math, to.input_size = input_size, to.hidden = hidden;
    to.projection = projection, to.layers = layers, to.dropout = dropout, to.flags = flags;
  });
}
AW_EXPORT cudnnStatus_t cudnnGetRNNDescriptor_v8(
    cudnnRNNDescriptor_t desc, cudnnRNNAlgo_t* algo, cudnnRNNMode_t* cell, cudnnRNNBiasMode_t* bias,
    cudnnDirectionMode_t* direction, cudnnRNNInputMode_t* input, cudnnDataType_t* type,
    cudnnDataType_t* precision, cudnnMathType_t* math, int32_t* input_size, int32_t* hidden,
    int32_t* projection, int32_t* layers, cudnnDropoutDescriptor_t* dropout, uint32_t* flags) {
  return api<"cudnnGetRNNDescriptor_v8">([&] {
    auto& from = object(desc);
    give(algo, from.algo), give(cell, from.cell), give(bias, from.bias),
        give(direction, from.direction);
    give(input, from.input), give(type, from.type), give(precision, from.precision),
        give(math, from.math);
    give(input_size, from.input_size), give(hidden, from.hidden), give(projection, from.projection);
    give(layers, from.layers), give(dropout, from.dropout), give(flags, from.flags);
  });
}

namespace {

void set_clip(cudnnRNNDescriptor_t desc, cudnnRNNClipMode_t mode, cudnnNanPropagation_t nan,
              double least, double most) {
  auto& to = object(desc);
  require(mode == CUDNN_RNN_CLIP_NONE || least <= most, "bounds the wrong way round");
  to.clip = mode, to.clip_nan = nan, to.least = least, to.most = most;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnRNNSetClip_v8(cudnnRNNDescriptor_t desc, cudnnRNNClipMode_t mode,
                                           cudnnNanPropagation_t nan, double least, double most) {
  return api<"cudnnRNNSetClip_v8">([&] { set_clip(desc, mode, nan, least, most); });
}
AW_EXPORT cudnnStatus_t cudnnRNNGetClip_v8(cudnnRNNDescriptor_t desc, cudnnRNNClipMode_t* mode,
                                           cudnnNanPropagation_t* nan, double* least,
                                           double* most) {
  return api<"cudnnRNNGetClip_v8">([&] {
    auto& from = object(desc);
    give(mode, from.clip), give(nan, from.clip_nan), give(least, from.least), give(most, from.most);
  });
}
#ifndef AW_CUDA_12
AW_EXPORT cudnnStatus_t cudnnRNNSetClip_v9(cudnnRNNDescriptor_t desc, cudnnRNNClipMode_t mode,
                                           double least, double most) {
  return api<"cudnnRNNSetClip_v9">(
      [&] { set_clip(desc, mode, CUDNN_NOT_PROPAGATE_NAN, least, most); });
}
AW_EXPORT cudnnStatus_t cudnnRNNGetClip_v9(cudnnRNNDescriptor_t desc, cudnnRNNClipMode_t* mode,
                                           double* least, double* most) {
  return api<"cudnnRNNGetClip_v9">([&] {
    auto& from = object(desc);
    give(mode, from.clip), give(least, from.least), give(most, from.most);
  });
}
#endif

AW_EXPORT cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* desc) {
  return api<"cudnnCreateRNNDataDescriptor">([&] { create(desc); });
}
AW_EXPORT cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t desc) {
  return api<"cudnnDestroyRNNDataDescriptor">([&] { destroy(desc); });
}
AW_EXPORT cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t desc,
                                                  cudnnDataType_t type, cudnnRNNDataLayout_t order,
                                                  int longest, int batch, int vector,
                                                  const int lengths[], void* fill) {
  return api<"cudnnSetRNNDataDescriptor">([&] {
    auto& to = object(desc);
    require(longest > 0 && batch > 0 && vector > 0, "a size that is not positive");
    require(order >= CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED &&
                order <= CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED,
            "no such layout");
    require_pointer(lengths);
    for (int i = 0; i < batch; ++i) {
      require(lengths[i] >= 0 && lengths[i] <= longest, "a length out of range");
      require(
          order != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED || i == 0 || lengths[i] <= lengths[i - 1],
          "packed sequences that are not sorted by length");
    }
    if (type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_DOUBLE && type != CUDNN_DATA_HALF &&
        type != CUDNN_DATA_BFLOAT16)
      unsupported("sequences of data type " + std::to_string(type));
    to.type = type, to.layout = order, to.longest = longest, to.batch = batch, to.vector = vector;
    to.lengths.assign(lengths, lengths + batch);
    to.fills = fill != nullptr;
    if (fill) to.fill = *load_row<double>(View(packed(type, {1}), fill), 0, 0, 1, &to.fill);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetRNNDataDescriptor(cudnnRNNDataDescriptor_t desc,
                                                  cudnnDataType_t* type,
                                                  cudnnRNNDataLayout_t* order, int* longest,
                                                  int* batch, int* vector, int requested,
                                                  int lengths[], void* fill) {
  return api<"cudnnGetRNNDataDescriptor">([&] {
    auto& from = object(desc);
    require(requested >= 0, "a negative count");
    give(type, from.type), give(order, from.layout), give(longest, from.longest),
        give(batch, from.batch);
    give(vector, from.vector);
    for (int i = 0; lengths && i < std::min(requested, from.batch); ++i)
      lengths[i] = from.lengths[static_cast<size_t>(i)];
    if (fill && from.fills)
      store_row<double>(View(packed(from.type, {1}), fill), 0, 1, 1, &from.fill, 1, 0);
  });
}

namespace {

const cudnnRNNDescriptorStruct& ready(cudnnRNNDescriptor_t desc) {
  auto& found = object(desc);
  require(found.layers > 0, "a recurrent descriptor that was never set");
  return found;
}

}  // namespace

AW_EXPORT cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t desc,
                                                   size_t* bytes) {
  return api<"cudnnGetRNNWeightSpaceSize">([&] {
    object(handle), require_pointer(bytes);
    const Network net(ready(desc));
    *bytes = static_cast<size_t>(net.weights()) * element_bytes(net.type);
  });
}
AW_EXPORT cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t desc,
                                                  cudnnForwardMode_t mode,
                                                  cudnnRNNDataDescriptor_t x, size_t* work,
                                                  size_t* reserve) {
  return api<"cudnnGetRNNTempSpaceSizes">([&] {
    object(handle);
    const Network net(ready(desc));
    auto& data = object(x);
    require(data.batch > 0, "a sequence descriptor that was never set");
    const auto kept = static_cast<size_t>(net.reserve(int64_t{data.longest} * data.batch));
    give(work, 0);
    give(reserve, mode == CUDNN_FWD_MODE_TRAINING
                      ? kept * (wide(net.type) ? sizeof(double) : sizeof(float))
                      : 0);
  });
}

// Gates are numbered input, forget, new, output (LSTM) and reset, update, new (GRU): matrices of
// the input, then of the state, then the projection.
AW_EXPORT cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t desc,
                                                int32_t pseudo, size_t bytes, const void* weights,
                                                int32_t number, cudnnTensorDescriptor_t matrix,
                                                void** matrix_at, cudnnTensorDescriptor_t bias,
                                                void** bias_at) {
  return api<"cudnnGetRNNWeightParams">([&] {
    object(handle);
    const Network net(ready(desc));
    require(pseudo >= 0 && pseudo < net.layers * net.directions, "no such layer");
    require(number >= 0 && number < 2 * net.gates + (net.projects ? 1 : 0),
            "no such matrix of weights");
    const size_t element = element_bytes(net.type);
    require(!weights || bytes >= static_cast<size_t>(net.weights()) * element,
            "too little room for weights", kTooSmall);
    const int64_t layer = pseudo / net.directions, direction = pseudo % net.directions,
                  h = net.hidden;
    const bool of_input = number < net.gates, projection = number == 2 * net.gates;
    const int64_t gate = number % net.gates, all = net.gates * h;
    const int64_t columns = projection ? h : of_input ? net.inputs(layer) : net.out;
    auto tell = [&](cudnnTensorDescriptor_t to, void** at, int64_t offset, int64_t rows,
                    int64_t width) {
      if (to) object(to).layout = packed(net.type, {1, rows, width});
      if (at)
        *at = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(weights) +
                                      static_cast<size_t>(offset) * element);
    };
    if (of_input && !net.has_input_weights(layer)) {
      if (matrix_at) *matrix_at = nullptr;
    } else {
      int64_t at = net.matrix_offset(layer, direction);
      if (!of_input && net.has_input_weights(layer)) at += all * net.inputs(layer);
      if (projection)
        at += all * net.out;
      else
        at += gate * h * columns;
      tell(matrix, matrix_at, at, projection ? net.out : h, columns);
    }
    const bool has = !projection && (of_input ? net.input_bias() : net.hidden_bias());
    if (!has) {
      if (bias_at) *bias_at = nullptr;
      return;
    }
    const int64_t before = !of_input && net.input_bias() ? all : 0;
    tell(bias, bias_at, net.bias_offset(layer, direction) + before + gate * h, h, 1);
  });
}

// Persistent kernels are a choice of algorithm, which needs no plan here.
AW_EXPORT cudnnStatus_t cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t desc,
                                             int batch) {
  return api<"cudnnBuildRNNDynamic">([&] {
    object(handle), ready(desc);
    require(batch > 0, "a batch that is not positive");
  });
}
