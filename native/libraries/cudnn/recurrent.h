// Recurrent networks: what descriptors say, how weights and the reserve lie, and the layers
// themselves.
#pragma once

#include "libraries/cudnn/dropout.h"

struct cudnnRNNDescriptorStruct : aw::dnn::Object<11> {
  cudnnRNNAlgo_t algo = CUDNN_RNN_ALGO_STANDARD;
  cudnnRNNMode_t cell = CUDNN_LSTM;
  cudnnRNNBiasMode_t bias = CUDNN_RNN_DOUBLE_BIAS;
  cudnnDirectionMode_t direction = CUDNN_UNIDIRECTIONAL;
  cudnnRNNInputMode_t input = CUDNN_LINEAR_INPUT;
  cudnnDataType_t type = CUDNN_DATA_FLOAT, precision = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  int32_t input_size = 0, hidden = 0, projection = 0, layers = 0;  // layers 0: never set
  cudnnDropoutDescriptor_t dropout = nullptr;
  uint32_t flags = 0;
  cudnnRNNClipMode_t clip = CUDNN_RNN_CLIP_NONE;
  cudnnNanPropagation_t clip_nan = CUDNN_NOT_PROPAGATE_NAN;
  double least = 0, most = 0;
};
struct cudnnRNNDataDescriptorStruct : aw::dnn::Object<12> {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnRNNDataLayout_t layout{};
  int longest = 0, batch = 0, vector = 0;
  std::vector<int> lengths;
  double fill = 0;
  bool fills = false;
};

namespace aw::dnn {

// A network's sizes.
struct Network {
  cudnnRNNMode_t cell;
  cudnnRNNBiasMode_t bias;
  cudnnDataType_t type;
  int64_t gates, directions, layers, input, hidden, out;  // out: of a direction, after a projection
  bool skips;  // the first layer takes its input as it is
  bool projects, clips;
  double least, most;

  explicit Network(const cudnnRNNDescriptorStruct& from);
  int64_t inputs(int64_t layer) const { return layer ? out * directions : input; }
  bool has_input_weights(int64_t layer) const { return !(skips && layer == 0); }
  bool input_bias() const {
    return bias == CUDNN_RNN_SINGLE_INP_BIAS || bias == CUDNN_RNN_DOUBLE_BIAS;
  }
  bool hidden_bias() const {
    return bias == CUDNN_RNN_SINGLE_REC_BIAS || bias == CUDNN_RNN_DOUBLE_BIAS;
  }
  // Elements. First come the matrices of all layers and directions: of the input, of the state, of
  // the projection. Biases follow in the same order.
  int64_t matrices(int64_t layer) const;
  int64_t biases() const { return gates * hidden * (input_bias() + hidden_bias()); }
  int64_t matrix_offset(int64_t layer, int64_t direction) const;
  int64_t bias_offset(int64_t layer, int64_t direction) const;
  int64_t weights() const;
  // What training keeps, in elements of T, for sequences of `rows` steps in all.
  int64_t reserve(int64_t rows) const;
};

// One run of a network over sequences, all by steps of the whole batch: [step][sequence][element].
struct Sequences {
  int64_t steps, batch;
  std::vector<int> lengths;
  int64_t rows() const { return steps * batch; }
};

template <class T>
struct Recurrence {
  const T *x = nullptr, *weights = nullptr, *hx = nullptr, *cx = nullptr;
  T *y = nullptr, *hy = nullptr, *cy = nullptr, *reserve = nullptr;
  float rate = 0;  // of dropout between layers
  DropoutState* state = nullptr;
};
template <class T>
void recur(const Network& net, const Sequences& seq, const Recurrence<T>& run);

template <class T>
struct RecurrenceGradients {
  const T *weights = nullptr, *hx = nullptr, *cx = nullptr, *dy = nullptr, *dhy = nullptr,
          *dcy = nullptr;
  T *dx = nullptr, *dhx = nullptr, *dcx = nullptr, *reserve = nullptr;
  float rate = 0;
};
template <class T>
void recur_backward(const Network& net, const Sequences& seq, const RecurrenceGradients<T>& run);
// Adds to `dw`. Needs what recur_backward left in the reserve.
template <class T>
void recur_weights(const Network& net, const Sequences& seq, const T* x, const T* hx,
                   const T* reserve, float rate, T* dw);

}  // namespace aw::dnn
