// How the reserve and the weights of recurrent networks lie, for both ways through their layers.
#pragma once

#include "libraries/cudnn/gemm.h"
#include "libraries/cudnn/recurrent.h"

namespace aw::dnn {

// Pieces of the reserve that belong to one layer and direction, and to one layer.
template <class T>
struct Kept {
  T* gates;                  // after their curves; [row][gate][hidden]
  T* cells;                  // of LSTM
  T* thrown;                 // of GRU: what the reset gate multiplies
  T* raw;                    // of a projection: its input
  T *slopes, *state_slopes;  // gradients before the curves: of what the input's matrices and the
                             // state's make
};
template <class T>
Kept<T> kept_of(const Network& net, int64_t rows, int64_t layer, int64_t direction, T* reserve) {
  const int64_t wide_row = net.gates * net.hidden;
  const int64_t each = rows * (3 * wide_row + 3 * net.hidden);
  T* at = reserve + (layer * net.directions + direction) * each;
  Kept<T> out{};
  out.gates = at, out.slopes = at + rows * wide_row,
  out.state_slopes = out.slopes + rows * wide_row;
  out.cells = out.state_slopes + rows * wide_row, out.thrown = out.cells + rows * net.hidden;
  out.raw = out.thrown + rows * net.hidden;
  return out;
}
// The outputs of a layer, both directions side by side, and the factors of dropout behind it.
template <class T>
T* outputs_of(const Network& net, int64_t rows, int64_t layer, T* reserve) {
  const int64_t each = rows * (3 * net.gates * net.hidden + 3 * net.hidden);
  return reserve + net.layers * net.directions * each + layer * rows * net.out * net.directions * 2;
}
template <class T>
T* factors_of(const Network& net, int64_t rows, int64_t layer, T* reserve) {
  return outputs_of(net, rows, layer, reserve) + rows * net.out * net.directions;
}

// The input of a layer: the network's, or what the layer before hands on.
template <class T>
const T* input_of(const Network& net, int64_t rows, int64_t layer, const T* x, const T* reserve,
                  bool drops, Scratch<T>& room) {
  if (layer == 0) return x;
  auto* all = const_cast<T*>(reserve);
  const T *from = outputs_of(net, rows, layer - 1, all),
          *factors = factors_of(net, rows, layer - 1, all);
  if (!drops) return from;
  const int64_t count = rows * net.out * net.directions;
  room.reset(count);
  for (int64_t i = 0; i < count; ++i) room[i] = from[i] * factors[i];
  return room.get();
}

template <class T>
struct Weights {
  const T *input, *state, *projection, *input_bias, *state_bias;
};
template <class T>
Weights<T> weights_of(const Network& net, int64_t layer, int64_t direction, const T* all) {
  const int64_t rows = net.gates * net.hidden;
  Weights<T> out{};
  const T* at = all + net.matrix_offset(layer, direction);
  if (net.has_input_weights(layer)) out.input = at, at += rows * net.inputs(layer);
  out.state = at, at += rows * net.out;
  if (net.projects) out.projection = at;
  at = all + net.bias_offset(layer, direction);
  if (net.input_bias()) out.input_bias = at, at += rows;
  if (net.hidden_bias()) out.state_bias = at;
  return out;
}

// Steps in the order of a direction.
template <class Body>
void each_step(int64_t steps, bool backwards, const Body& body) {
  for (int64_t i = 0; i < steps; ++i) body(backwards ? steps - 1 - i : i);
}

}  // namespace aw::dnn
