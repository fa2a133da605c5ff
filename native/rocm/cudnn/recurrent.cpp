// Recurrent networks, by the interface of version 8: weights lie in MIOpen's order, which programs
// ask for piece by piece.
#include "rocm/cudnn/dropout.h"
#include "rocm/cudnn/objects.h"

using namespace aw::dnn;

struct cudnnRNNDescriptor_s : Object<10> {
  cudnnRNNAlgo_t algo = CUDNN_RNN_ALGO_STANDARD;
  cudnnRNNMode_t cell = CUDNN_LSTM;
  cudnnRNNBiasMode_t bias = CUDNN_RNN_DOUBLE_BIAS;
  cudnnDirectionMode_t direction = CUDNN_UNIDIRECTIONAL;
  cudnnRNNInputMode_t input = CUDNN_LINEAR_INPUT;
  cudnnDataType_t type = CUDNN_DATA_FLOAT, precision = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  int32_t input_size = 0, hidden = 0, projection = 0, layers = 0;
  cudnnDropoutDescriptor_t dropout = nullptr;
  uint32_t flags = 0;
  Counterpart<miopenRNNDescriptor_t> kept;
  cudnnTensorDescriptor_s one_input;  // MIOpen sizes weights by a tensor of inputs: one row here

  miopenRNNDescriptor_t counterpart() {
    require(layers > 0, "a recurrent descriptor that was never set");
    return kept.object;
  }
  miopenTensorDescriptor_t row() {
    const int dims[] = {1, input_size}, strides[] = {input_size, 1};
    if (one_input.dims.empty()) one_input.set(type, 2, dims, strides);
    return one_input.counterpart();
  }
  int gates() const { return cell == CUDNN_LSTM ? 4 : cell == CUDNN_GRU ? 3 : 1; }
};

struct cudnnRNNDataDescriptor_s : Object<11> {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnRNNDataLayout_t layout{};
  int longest = 0, batch = 0, vector = 0;
  std::vector<int> lengths;
  std::vector<unsigned char> fill;
  Counterpart<miopenSeqTensorDescriptor_t> kept;

  miopenSeqTensorDescriptor_t counterpart() {
    require(batch > 0, "a sequence descriptor that was never set");
    auto object =
        kept.get(miopen().miopenCreateSeqTensorDescriptor,
                 miopen().miopenDestroySeqTensorDescriptor, "miopenCreateSeqTensorDescriptor");
    MIOPEN(SetRNNDataSeqTensorDescriptor, object, to_rocm(type), to_rocm(layout), longest, batch,
           vector, lengths.data(), fill.empty() ? nullptr : fill.data());
    return object;
  }
};

namespace {

// cuDNN numbers the gates of LSTM input, forget, new, output and of GRU reset, update, new
// (cudnnGetRNNWeightParams); MIOpen input, forget, output, new and update, reset, new
// (miopenGetRNNLayerParam). Matrices of the inputs come first, then the recurrent ones.
int gate_of(const cudnnRNNDescriptor_s& rnn, int number) {
  const int gates = rnn.gates();
  require(number >= 0 && number < 2 * gates, "no such matrix of weights");
  constexpr int kLstm[] = {0, 1, 3, 2}, kGru[] = {1, 0, 2};
  const int within = number % gates, group = number / gates * gates;
  return group + (rnn.cell == CUDNN_LSTM  ? kLstm[within]
                  : rnn.cell == CUDNN_GRU ? kGru[within]
                                          : within);
}

size_t weight_bytes(cudnnHandle_t handle, cudnnRNNDescriptor_s& rnn) {
  size_t bytes = 0;
  MIOPEN(GetRNNParamsSize, object(handle).miopen, rnn.counterpart(), rnn.row(), &bytes,
         to_rocm(rnn.type));
  return bytes;
}

// What MIOpen says of a matrix, as cuDNN's descriptor of three dimensions.
void describe(cudnnTensorDescriptor_s& to, cudnnDataType_t type, miopenTensorDescriptor_t from,
              bool column) {
  int rank = 0;
  MIOPEN(GetTensorDescriptorSize, from, &rank);
  require(rank >= 1 && rank <= kMostDims, "a shape of weights that is not known",
          CUDNN_STATUS_INTERNAL_ERROR);
  int dims[kMostDims], strides[kMostDims];
  miopenDataType_t unused{};
  MIOPEN(GetTensorDescriptor, from, &unused, dims, strides);
  const int rows = dims[0], columns = column || rank < 2 ? 1 : dims[1];
  const int shape[] = {1, rows, columns}, steps[] = {rows * columns, columns, 1};
  to.set(type, 3, shape, steps);
}

// MIOpen reads lengths of sequences on the host, where the descriptor has them.
void require_supported(const cudnnRNNDescriptor_s& rnn) {
  if (rnn.projection && rnn.projection != rnn.hidden)
    unsupported("recurrent networks with a projection");
}

}  // namespace

AW_CUDNN(cudnnCreateRNNDescriptor, cudnnRNNDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyRNNDescriptor, cudnnRNNDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetRNNDescriptor_v8, cudnnRNNDescriptor_t desc, cudnnRNNAlgo_t algo,
         cudnnRNNMode_t cell, cudnnRNNBiasMode_t bias, cudnnDirectionMode_t direction,
         cudnnRNNInputMode_t input, cudnnDataType_t type, cudnnDataType_t precision,
         cudnnMathType_t math, int32_t input_size, int32_t hidden, int32_t projection,
         int32_t layers, cudnnDropoutDescriptor_t dropout, uint32_t flags) {
  auto& to = object(desc);
  require(input_size > 0 && hidden > 0 && layers > 0 && projection >= 0,
          "a size that is not positive");
  to.algo = algo, to.cell = cell, to.bias = bias, to.direction = direction, to.input = input,
  to.type = type;
  to.precision = precision, to.math = math, to.input_size = input_size, to.hidden = hidden,
  to.projection = projection;
  to.layers = layers, to.dropout = dropout, to.flags = flags;
  to.one_input.dims.clear();
  require_supported(to);
  auto counterpart = to.kept.get(miopen().miopenCreateRNNDescriptor,
                                 miopen().miopenDestroyRNNDescriptor, "miopenCreateRNNDescriptor");
  if (dropout && object(dropout).rate > 0 && dropout->states)
    MIOPEN(SetRNNDescriptor_V2, counterpart, hidden, layers, dropout->object(), to_rocm(input),
           to_rocm(direction), to_rocm(cell), to_rocm(bias), to_rocm(algo), to_rocm(type));
  else
    MIOPEN(SetRNNDescriptor, counterpart, hidden, layers, to_rocm(input), to_rocm(direction),
           to_rocm(cell), to_rocm(bias), to_rocm(algo), to_rocm(type));
  // CUDNN_RNN_PADDED_IO_ENABLED: packed data are described by their layout.
  constexpr uint32_t kPadded = 1;
  MIOPEN(SetRNNPaddingMode, counterpart,
         flags & kPadded ? miopenRNNIOWithPadding : miopenRNNIONotPadded);
}
AW_CUDNN(cudnnGetRNNDescriptor_v8, cudnnRNNDescriptor_t desc, cudnnRNNAlgo_t* algo,
         cudnnRNNMode_t* cell, cudnnRNNBiasMode_t* bias, cudnnDirectionMode_t* direction,
         cudnnRNNInputMode_t* input, cudnnDataType_t* type, cudnnDataType_t* precision,
         cudnnMathType_t* math, int32_t* input_size, int32_t* hidden, int32_t* projection,
         int32_t* layers, cudnnDropoutDescriptor_t* dropout, uint32_t* flags) {
  auto& from = object(desc);
  auto give = [](auto* to, auto value) {
    if (to) *to = value;
  };
  give(algo, from.algo), give(cell, from.cell), give(bias, from.bias),
      give(direction, from.direction), give(input, from.input);
  give(type, from.type), give(precision, from.precision), give(math, from.math),
      give(input_size, from.input_size);
  give(hidden, from.hidden), give(projection, from.projection), give(layers, from.layers),
      give(dropout, from.dropout);
  give(flags, from.flags);
}

AW_CUDNN(cudnnCreateRNNDataDescriptor, cudnnRNNDataDescriptor_t* desc) { create(desc); }
AW_CUDNN(cudnnDestroyRNNDataDescriptor, cudnnRNNDataDescriptor_t desc) { destroy(desc); }
AW_CUDNN(cudnnSetRNNDataDescriptor, cudnnRNNDataDescriptor_t desc, cudnnDataType_t type,
         cudnnRNNDataLayout_t layout, int longest, int batch, int vector, const int lengths[],
         void* fill) {
  auto& to = object(desc);
  require(longest > 0 && batch > 0 && vector > 0, "a size that is not positive");
  require_pointer(lengths);
  for (int i = 0; i < batch; ++i)
    require(lengths[i] >= 0 && lengths[i] <= longest, "a length out of range");
  to_rocm(type), to_rocm(layout);
  to.type = type, to.layout = layout, to.longest = longest, to.batch = batch, to.vector = vector;
  to.lengths.assign(lengths, lengths + batch);
  auto* bytes = static_cast<unsigned char*>(fill);
  to.fill.assign(bytes, bytes + (fill ? element_bytes(type) : 0));
}
AW_CUDNN(cudnnGetRNNDataDescriptor, cudnnRNNDataDescriptor_t desc, cudnnDataType_t* type,
         cudnnRNNDataLayout_t* layout, int* longest, int* batch, int* vector, int requested,
         int lengths[], void* fill) {
  auto& from = object(desc);
  if (type) *type = from.type;
  if (layout) *layout = from.layout;
  if (longest) *longest = from.longest;
  if (batch) *batch = from.batch;
  if (vector) *vector = from.vector;
  for (size_t i = 0; lengths && i < std::min<size_t>(static_cast<size_t>(std::max(requested, 0)),
                                                     from.lengths.size());
       ++i)
    lengths[i] = from.lengths[i];
  if (fill && !from.fill.empty()) memcpy(fill, from.fill.data(), from.fill.size());
}

AW_CUDNN(cudnnGetRNNTempSpaceSizes, cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
         cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x, size_t* work, size_t* reserve) {
  size_t own_work = 0, own_reserve = 0;
  MIOPEN(GetRNNTempSpaceSizes, object(handle).miopen, object(rnn).counterpart(),
         object(x).counterpart(), to_rocm(mode), &own_work, &own_reserve);
  if (work) *work = own_work;
  if (reserve) *reserve = mode == CUDNN_FWD_MODE_TRAINING ? own_reserve : 0;
}
AW_CUDNN(cudnnGetRNNWeightSpaceSize, cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
         size_t* bytes) {
  require_pointer(bytes);
  *bytes = weight_bytes(handle, object(rnn));
}
// Offsets of MIOpen's are counted in elements.
AW_CUDNN(cudnnGetRNNWeightParams, cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, int32_t layer,
         size_t, const void* weights, int32_t number, cudnnTensorDescriptor_t matrix,
         void** matrix_address, cudnnTensorDescriptor_t bias, void** bias_address) {
  auto& from = object(rnn);
  object(handle);
  const int count = from.layers * (from.direction == CUDNN_BIDIRECTIONAL ? 2 : 1);
  require(layer >= 0 && layer < count, "no such layer");
  const int gate = gate_of(from, number);
  const size_t element = element_bytes(from.type);
  auto* base = static_cast<const unsigned char*>(weights);
  Counterpart<miopenTensorDescriptor_t> shape;
  auto found = shape.get(miopen().miopenCreateTensorDescriptor,
                         miopen().miopenDestroyTensorDescriptor, "miopenCreateTensorDescriptor");
  // With the inputs as they are, the first layer has no matrices for them.
  const bool skipped =
      from.input == CUDNN_SKIP_INPUT && layer < count / from.layers && gate < from.gates();
  if (matrix_address) *matrix_address = nullptr;
  if (!skipped) {
    size_t offset = 0;
    MIOPEN(GetRNNLayerParamOffset, from.counterpart(), layer, from.row(), gate, found, &offset);
    if (matrix) describe(object(matrix), from.type, found, false);
    if (matrix_address)
      *matrix_address = base ? const_cast<unsigned char*>(base) + offset * element : nullptr;
  }
  if (bias_address) *bias_address = nullptr;
  if (from.bias == CUDNN_RNN_NO_BIAS) return;
  size_t offset = 0;
  MIOPEN(GetRNNLayerBiasOffset, from.counterpart(), layer, from.row(), gate, found, &offset);
  if (bias) describe(object(bias), from.type, found, true);
  if (bias_address)
    *bias_address = base ? const_cast<unsigned char*>(base) + offset * element : nullptr;
}

AW_CUDNN(cudnnRNNForward, cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t mode,
         const int32_t[], cudnnRNNDataDescriptor_t x_desc, const void* x,
         cudnnRNNDataDescriptor_t y_desc, void* y, cudnnTensorDescriptor_t h_desc, const void* hx,
         void* hy, cudnnTensorDescriptor_t c_desc, const void* cx, void* cy, size_t weight_bytes,
         const void* weights, size_t work_bytes, void* work, size_t reserve_bytes, void* reserve) {
  auto cells = c_desc ? object(c_desc).counterpart() : object(h_desc).counterpart();
  MIOPEN(RNNForward, object(handle).miopen, object(rnn).counterpart(), to_rocm(mode),
         object(x_desc).counterpart(), x, object(h_desc).counterpart(), hx, hy, cells, cx, cy,
         object(y_desc).counterpart(), y, weights, weight_bytes, work, work_bytes, reserve,
         reserve_bytes);
}
AW_CUDNN(cudnnRNNBackwardData_v8, cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, const int32_t[],
         cudnnRNNDataDescriptor_t y_desc, const void* y, const void* dy,
         cudnnRNNDataDescriptor_t x_desc, void* dx, cudnnTensorDescriptor_t h_desc, const void* hx,
         const void* dhy, void* dhx, cudnnTensorDescriptor_t c_desc, const void* cx,
         const void* dcy, void* dcx, size_t weight_bytes, const void* weights, size_t work_bytes,
         void* work, size_t reserve_bytes, void* reserve) {
  auto cells = c_desc ? object(c_desc).counterpart() : object(h_desc).counterpart();
  MIOPEN(RNNBackwardSeqData, object(handle).miopen, object(rnn).counterpart(),
         object(y_desc).counterpart(), y, dy, object(h_desc).counterpart(), hx, dhy, dhx, cells, cx,
         dcy, dcx, object(x_desc).counterpart(), dx, weights, weight_bytes, work, work_bytes,
         reserve, reserve_bytes);
}
AW_CUDNN(cudnnRNNBackwardWeights_v8, cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
         cudnnWgradMode_t mode, const int32_t[], cudnnRNNDataDescriptor_t x_desc, const void* x,
         cudnnTensorDescriptor_t h_desc, const void* hx, cudnnRNNDataDescriptor_t y_desc,
         const void* y, size_t weight_bytes, void* gradients, size_t work_bytes, void* work,
         size_t reserve_bytes, void* reserve) {
  // MIOpen adds to what is there, as CUDNN_WGRAD_MODE_ADD does.
  if (mode != CUDNN_WGRAD_MODE_ADD)
    unsupported("CUDNN_WGRAD_MODE_SET: gradients of weights are added to what is there");
  MIOPEN(RNNBackwardWeightsSeqTensor, object(handle).miopen, object(rnn).counterpart(),
         object(x_desc).counterpart(), x, object(h_desc).counterpart(), hx,
         object(y_desc).counterpart(), y, gradients, weight_bytes, work, work_bytes, reserve,
         reserve_bytes);
}
